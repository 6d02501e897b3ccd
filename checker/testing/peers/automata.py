"""Locks as timed automata in the language of TChecker, written down by hand from what the locks do.

Every function gives the text of one model; a location labelled `bad` is reachable if and only if two clients can believe at
the same moment, for longer than no time at all. All times are whole numbers of some unit.
"""


class Model:
    """The text of a model. Locations are named by tuples, and come to be when an edge leads to them."""

    def __init__(self, name):
        self.lines = [f'system:{name}', 'event:t']
        self.events = {'t'}

    def clock(self, name):
        self.lines.append(f'clock:1:{name}')

    def number(self, name, low, high, first):
        self.lines.append(f'int:1:{low}:{high}:{first}:{name}')

    def process(self, name):
        self.lines.append(f'process:{name}')

    def location(self, process, place, invariant='', initial=False, label=''):
        said = ['initial:'] if initial else []
        said += [f'invariant: {invariant}'] if invariant else []
        said += [f'labels: {label}'] if label else []
        self.lines.append(f'location:{process}:{name_of(place)}{{{":".join(said)}}}')

    def edge(self, process, start, end, event='t', when=(), do=()):
        if event not in self.events:
            self.events.add(event)
            self.lines.append(f'event:{event}')
        said = [f'provided: {" && ".join(when)}'] if when else []
        said += [f'do: {"; ".join(do)}'] if do else []
        self.lines.append(f'edge:{process}:{name_of(start)}:{name_of(end)}:{event}{{{" : ".join(said)}}}')

    def meet(self, *who):
        self.lines.append('sync:' + ':'.join(f'{process}@{event}' for process, event in who))

    def text(self):
        order = ['system', 'event', 'int', 'clock', 'process', 'location', 'edge', 'sync']
        return '\n'.join(sorted(self.lines, key=lambda line: order.index(line.split(':')[0]))) + '\n'


def name_of(place):
    return '_'.join(str(part) for part in place)


def at_least(clock, value):
    return [f'{clock}>={value}'] if value > 0 else []


# --- set-nx-px-lua and redlock-seq, with pauses.


class LeaseClient:
    """SET NX PX at one server after the other; held with enough votes; given back at one server after the other.

    x: since the client began what it is at. v: since its attempt began. z: since somebody began to believe.
    pa, pw: pauses that are left, of anything and of the work alone.
    """

    def __init__(self, model, world, number, paused):
        self.m, self.w, self.i, self.paused = model, world, number, paused
        self.name, self.x, self.v = f'C{number}', f'x{number}', f'v{number}'
        self.validity = world.get('validity')
        self.seen, self.todo = set(), []

    def write(self):
        self.m.process(self.name)
        self.m.clock(self.x)
        if self.validity is not None:
            self.m.clock(self.v)
        if self.w.get('crash'):
            self.m.number(f'e{self.i}', 0, 1, 0)
        self.go_to(('wait', 0))
        while self.todo:
            place = self.todo.pop()
            getattr(self, 'at_' + place[0])(place)

    def go_to(self, place):
        if place not in self.seen:
            self.seen.add(place)
            self.todo.append(place)
        return place

    def located(self, place, invariant, initial=False):
        self.m.location(self.name, place, invariant, initial)

    def edge(self, start, end, when=(), do=(), event='t'):
        self.m.edge(self.name, start, self.go_to(end), event, list(when), list(do))

    def pause(self, start, end, when, of_work, do=()):
        """One pause less; what is for the work alone is spent first there."""
        if self.paused <= 0:
            return
        spend = [('pw>0', 'pw=pw-1'), ('pw==0 && pa>0', 'pa=pa-1')] if of_work else [('pa>0', 'pa=pa-1')]
        for guard, cost in spend:
            self.edge(start, end, list(when) + [guard], [f'{self.x}=0', cost] + list(do))

    def in_pause(self, place, of_work):
        """How long, and that the next one may adjoin."""
        self.located(place, f'{self.x}<={self.paused}')
        self.pause(place, place, [], of_work)

    def send(self, start, request, when, do=()):
        """Now, or at the end of a pause."""
        self.pause(start, ('held',) + request, when, False, do)
        self.leave(start, request, when, do)

    def leave(self, start, request, when, do=()):
        more = [f'e{self.i}=ep{request[2]}'] if self.w.get('crash') else []
        self.edge(start, ('request',) + request, when, [f'{self.x}=0'] + more + list(do))

    def attempt(self, start, round_, when):
        self.send(start, (round_, 'set', 0, 0), when, [f'{self.v}=0'] if self.validity is not None else [])

    def at_wait(self, place):
        low, high = self.w['start'] if place[1] == 0 else self.w['between']
        self.located(place, f'{self.x}<={high}', initial=place[1] == 0)
        due = at_least(self.x, low)
        self.pause(place, ('latewait', place[1]), due, False)
        self.attempt(place, place[1], due)

    def at_latewait(self, place):
        self.in_pause(place, False)
        self.attempt(place, place[1], [])

    def at_held(self, place):
        self.in_pause(place, False)
        self.leave(place, place[1:], [])

    def at_request(self, place):
        _, round_, what, server, votes = place
        low, high = self.w['latency']
        self.located(place, f'{self.x}<={high}')
        came = at_least(self.x, low)
        for event, yes in (('grab', 1), ('busy', 0)) if what == 'set' else (('del', 0), ('miss', 0)):
            self.edge(place, ('reply', round_, what, server, votes + yes), came, [f'{self.x}=0'],
                      f'{event}{self.i}_{server}')
        if self.w.get('crash'):
            self.edge(place, ('reply', round_, what, server, votes), came, [f'{self.x}=0'], f'lost{self.i}_{server}')

    def at_reply(self, place):
        low, high = self.w['latency']
        self.located(place, f'{self.x}<={high}')
        came = at_least(self.x, low)
        self.pause(place, ('latereply',) + place[1:], came, False)
        self.handle(place, came)

    def at_latereply(self, place):
        self.in_pause(place, False)
        self.handle(place, [])

    def handle(self, place, when):
        _, round_, what, server, votes = place
        if server + 1 < self.w['servers']:
            self.send(place, (round_, what, server + 1, votes), when)
        elif what == 'del':
            self.end_round(place, round_, when)
        else:
            late = []
            if votes >= self.w['quorum']:
                early = [f'{self.v}<{self.validity}'] if self.validity is not None else []
                self.edge(place, ('work', round_), list(when) + early, [f'{self.x}=0', 'z=0', 'n=n+1'])
                if self.validity is None:
                    return
                late = [f'{self.v}>={self.validity}']
            if self.w['gives_back']:
                self.send(place, (round_, 'del', 0, 0), list(when) + late)
            else:
                self.end_round(place, round_, list(when) + late)

    def end_round(self, place, round_, when):
        self.edge(place, ('wait', round_ + 1) if round_ + 1 < self.w['rounds'] else ('done',), when, [f'{self.x}=0'])

    def at_done(self, place):
        self.located(place, '')

    # A pause of the work that holds no deadline is as good at its end. At the deadline either it is noticed, or a pause
    # begins with it, after which nothing is left to be judged: see zone_checker.hpp.

    def at_work(self, place):
        low, high = self.w['hold']
        valid = f' && {self.v}<={self.validity}' if self.validity is not None else ''
        self.located(place, f'{self.x}<={high}{valid}')
        over = at_least(self.x, low)
        self.send(place, (place[1], 'del', 0, 0), over, ['n=n-1'])
        self.pause(place, ('overwork', place[1]), over, True)
        if self.validity is not None:
            now = [f'{self.v}>={self.validity}']
            self.edge(place, ('stale', place[1]), now, ['n=n-1'])
            self.pause(place, ('unaware', place[1]), now, True)
        self.may_be_bad(place)

    def at_overwork(self, place):
        self.in_pause(place, True)
        self.send(place, (place[1], 'del', 0, 0), [], ['n=n-1'])
        self.may_be_bad(place)

    def at_unaware(self, place):
        self.in_pause(place, True)
        self.may_be_bad(place)

    def at_stale(self, place):
        low, high = self.w['hold']
        self.located(place, f'{self.x}<={high}')
        over = at_least(self.x, low)
        self.send(place, (place[1], 'del', 0, 0), over)
        self.pause(place, ('latestale', place[1]), over, True)

    def at_latestale(self, place):
        self.in_pause(place, True)
        self.send(place, (place[1], 'del', 0, 0), [])

    def may_be_bad(self, place):
        self.edge(place, ('bad',), ['n>=2', 'z>0'])

    def at_bad(self, place):
        self.m.location(self.name, place, label='bad')


class LeaseServer:
    """A key with a lease. Its clock may jump forward once, and it may crash once and come back empty.

    k: age of the key. Epoch 0: as before; 1: it has jumped, or has crashed and is back.
    """

    def __init__(self, model, world, number):
        self.m, self.w, self.s = model, world, number
        self.name, self.k = f'K{number}', f'k{number}'

    def write(self):
        m, w, clients = self.m, self.w, range(1, self.w['clients'] + 1)
        m.process(self.name)
        m.clock(self.k)
        jump, crash = w.get('jump'), w.get('crash')
        for epoch in (0, 1) if crash else (0,):
            self.write_epoch(epoch, w['ttl'], w['ttl'])
        if jump:
            # Its clock says so much more. Keys that are set later live by the same clock, and as long as ever.
            for j in clients:
                self.write_held(('jumped', j), ('free', 0), j, 0, max(w['ttl'] - jump[1], 0), max(w['ttl'] - jump[0], 0))
                soon = [f'{self.k}<={w["ttl"] - jump[0]}'] if w['ttl'] >= jump[0] else None
                if soon:
                    m.edge(self.name, ('held', 0, j), ('jumped', j), when=['jumps>0'] + soon, do=['jumps=0'])
                # It jumps beyond the end of the lease.
                m.edge(self.name, ('held', 0, j), ('free', 0), do=['jumps=0'],
                       when=['jumps>0'] + at_least(self.k, w['ttl'] - jump[1]))
        if crash:
            down = ('down',)
            m.location(self.name, down, f'y<={crash[1]}')
            for place in [('free', 0)] + [('held', 0, j) for j in clients]:
                m.edge(self.name, place, down, when=['crashes>0'], do=['crashes=0', f'ep{self.s}=1', 'y=0'])
            m.edge(self.name, down, ('free', 1), when=at_least('y', crash[0]))
            for i in clients:
                self.lose(down, i, [])
                for place in [('free', 1)] + [('held', 1, j) for j in clients]:
                    self.lose(place, i, [f'e{i}==0'])

    def write_epoch(self, epoch, earliest, latest):
        clients = range(1, self.w['clients'] + 1)
        free = ('free', epoch)
        self.m.location(self.name, free, initial=epoch == 0)
        for i in clients:
            # After a restart only what was sent since the crash is heard.
            heard = [f'e{i}==1'] if epoch == 1 else []
            self.m.edge(self.name, free, ('held', epoch, i), f'grab{i}_{self.s}', heard, [f'{self.k}=0'])
            self.m.edge(self.name, free, free, f'miss{i}_{self.s}', heard)
            self.write_held(('held', epoch, i), free, i, epoch, earliest, latest)

    def write_held(self, held, free, owner, epoch, earliest, latest):
        """A key that is gone at some age from `earliest` to `latest`, and before that is there."""
        self.m.location(self.name, held, f'{self.k}<={latest}')
        self.m.edge(self.name, held, free, when=at_least(self.k, earliest))
        for i in range(1, self.w['clients'] + 1):
            there = [f'{self.k}<{latest}'] + ([f'e{i}==1'] if epoch == 1 else [])
            self.m.edge(self.name, held, held, f'busy{i}_{self.s}', there)
            if i == owner:
                self.m.edge(self.name, held, free, f'del{i}_{self.s}', there)
            else:
                self.m.edge(self.name, held, held, f'miss{i}_{self.s}', there)

    def lose(self, place, i, when):
        self.m.edge(self.name, place, place, f'lost{i}_{self.s}', when)


def leases(world, pause=-1):
    """set-nx-px-lua or redlock-seq. `pause`: the longest; world['jump'], world['crash']: ranges, or None."""
    m = Model('leases')
    clients = world['clients']
    for name in ('pa', 'pw'):
        key = {'pa': 'pauses', 'pw': 'work_pauses'}[name]
        m.number(name, 0, max(world[key], 1), world[key])
    m.number('n', 0, clients, 0)
    m.clock('z')
    if world.get('jump'):
        m.number('jumps', 0, 1, 1)
    if world.get('crash'):
        m.number('crashes', 0, 1, 1)
        m.clock('y')
        for s in range(world['servers']):
            m.number(f'ep{s}', 0, 1, 0)
    for i in range(1, clients + 1):
        LeaseClient(m, world, i, pause).write()
    for s in range(world['servers']):
        LeaseServer(m, world, s).write()
    events = ['grab', 'busy', 'del', 'miss'] + (['lost'] if world.get('crash') else [])
    for s in range(world['servers']):
        for i in range(1, clients + 1):
            for event in events:
                m.meet((f'C{i}', f'{event}{i}_{s}'), (f'K{s}', f'{event}{i}_{s}'))
    return m.text()


# --- setnx-ts-del-setnx, whose clients compare each other's clocks.


def timestamps(world, skews):
    """One attempt each. `skews`: by client, how far its clock is ahead. u: since its owner computed the value."""
    m = Model('timestamps')
    clients = range(1, world['clients'] + 1)
    m.number('n', 0, world['clients'], 0)
    m.clock('z')
    (low, high), (short, long) = world['latency'], world['hold']
    for i in clients:
        name, x, u = f'C{i}', f'x{i}', f'u{i}'
        m.process(name)
        m.clock(x)
        m.clock(u)

        def step(start, end, event='t', when=(), do=()):
            m.edge(name, start, end, event, list(when), [f'{x}=0'] + list(do))

        came = at_least(x, low)
        m.location(name, ('wait',), f'{x}<={world["start"][1]}', initial=True)
        step(('wait',), ('setnx', 1), when=at_least(x, world['start'][0]), do=[f'{u}=0'])
        for nth in (1, 2):
            m.location(name, ('setnx', nth), f'{x}<={high}')
            m.location(name, ('got', nth), f'{x}<={high}')
            m.location(name, ('taken', nth), f'{x}<={high}')
            step(('setnx', nth), ('got', nth), f'grab{i}', came)
            step(('setnx', nth), ('taken', nth), f'busy{i}', came)
            step(('got', nth), ('work',), when=came, do=['z=0', 'n=n+1'])
        m.location(name, ('get',), f'{x}<={high}')
        step(('taken', 1), ('get',), when=came)
        step(('taken', 2), ('done',), when=came)
        m.location(name, ('saw', 0), f'{x}<={high}')
        step(('get',), ('saw', 0), f'none{i}', came)
        step(('saw', 0), ('done',), when=came)
        for j in clients:
            if j == i:
                continue
            m.location(name, ('saw', j), f'{x}<={high}')
            step(('get',), ('saw', j), f'see{i}_{j}', came)
            # My clock is past the value: now + mine > then + his + ttl.
            limit = world['ttl'] + skews[j - 1] - skews[i - 1]
            step(('saw', j), ('clear',), when=came + ([f'u{j}>{limit}'] if limit >= 0 else []))
            if limit >= 0:
                step(('saw', j), ('done',), when=came + [f'u{j}<={limit}'])
        m.location(name, ('clear',), f'{x}<={high}')
        m.location(name, ('cleared',), f'{x}<={high}')
        step(('clear',), ('cleared',), f'del{i}', came)
        step(('cleared',), ('setnx', 2), when=came, do=[f'{u}=0'])
        m.location(name, ('work',), f'{x}<={long}')
        step(('work',), ('unlock',), when=at_least(x, short), do=['n=n-1'])
        m.location(name, ('unlock',), f'{x}<={high}')
        m.location(name, ('unlocked',), f'{x}<={high}')
        step(('unlock',), ('unlocked',), f'del{i}', came)
        step(('unlocked',), ('done',), when=came)
        m.location(name, ('done',))
        m.location(name, ('bad',), label='bad')
        step(('work',), ('bad',), when=['n>=2', 'z>0'])
    m.process('K')
    m.location('K', ('free',), initial=True)
    for i in clients:
        m.location('K', ('held', i))
        m.edge('K', ('free',), ('held', i), f'grab{i}')
        m.edge('K', ('free',), ('free',), f'none{i}')
        m.edge('K', ('free',), ('free',), f'del{i}')
        for j in clients:
            m.edge('K', ('held', j), ('held', j), f'busy{i}')
            m.edge('K', ('held', j), ('free',), f'del{i}')
            if i != j:
                m.edge('K', ('held', j), ('held', j), f'see{i}_{j}')
    for i in clients:
        for event in [f'grab{i}', f'busy{i}', f'none{i}', f'del{i}'] + [f'see{i}_{j}' for j in clients if j != i]:
            m.meet((f'C{i}', event), ('K', event))
    return m.text()
