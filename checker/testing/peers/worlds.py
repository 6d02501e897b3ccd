"""Random worlds, in milliseconds: what they are, and as scenario files of Lockstep."""

import random

KINDS = ['pauses', 'redlock', 'jump', 'jump-exact', 'restart', 'redlock-restart', 'skew', 'two-skews']
MOST = 400  # ms: the end of the range that is asked about


def stretch(rnd, low, high, longer):
    first = rnd.randint(low, high)
    return [first, first if rnd.random() < 0.3 else first + rnd.randint(0, longer)]


def random_world(kind, seed):
    rnd = random.Random(f'{kind} {seed}')
    world = dict(kind=kind, seed=seed, clients=2, rounds=1, servers=1, quorum=1, gives_back=False, pauses=0, work_pauses=0,
                 latency=stretch(rnd, 1, 5, 10), hold=stretch(rnd, 5, 30, 15), ttl=rnd.randint(40, 150))
    start = rnd.randint(0, 10)
    world['start'] = [start, start + rnd.choice([rnd.randint(0, 60), 150, 300, 1000])]
    world['between'] = [rnd.randint(1, 20)] * 2
    if kind == 'pauses':
        world['pauses'], world['work_pauses'] = rnd.choice([(2, 0), (2, 0), (0, 1), (0, 2), (0, 2), (1, 1)])
        sizes = [(2, 1), (2, 2), (3, 1), (2, 3)] if world['pauses'] < 2 else [(2, 1), (2, 1), (2, 2), (3, 1)]
        world['clients'], world['rounds'] = rnd.choice(sizes)
    elif kind in ('redlock', 'redlock-restart'):
        world['servers'] = rnd.choice([1, 2, 3, 3]) if kind == 'redlock' else rnd.choice([2, 3])
        world['quorum'] = rnd.randint(1, world['servers']) if rnd.random() < 0.15 else world['servers'] // 2 + 1
        world['gives_back'] = True
        world['latency'] = stretch(rnd, 1, 5, 4)
        world['ttl'] = 50 * rnd.randint(1, 3)
        world['drift_percent'], world['drift_extra'] = rnd.randint(0, 5), rnd.randint(0, 4)
        if rnd.random() < 0.5:
            world['hold'] = [world['ttl'] + rnd.randint(0, 20)] * 2
        if kind == 'redlock':
            few = world['servers'] > 2
            world['pauses'], world['work_pauses'] = rnd.choice([(1, 0), (0, 1), (0, 2)] + ([] if few else [(1, 1), (2, 0)]))
    elif kind in ('jump', 'jump-exact', 'restart'):
        world['clients'], world['rounds'] = rnd.choice([(2, 1), (2, 2), (3, 1), (2, 3)])
    elif kind == 'skew':
        world['clients'] = rnd.choice([2, 2, 3])
        world['side'] = rnd.choice([-1, 1])
    elif kind == 'two-skews':
        world['clients'] = rnd.choice([2, 2, 3])
        world['both_sides'] = rnd.random() < 0.8
    return world


def faults_of(world, exact=None):
    """The [[may]] tables. `exact`: in milliseconds, instead of a range."""
    kind = world['kind']
    span = f'["0ms", "{MOST}ms"]' if exact is None else f'"{exact:g}ms"'
    if kind in ('pauses', 'redlock'):
        both = [('pauses', 'anything'), ('work_pauses', 'work')]
        return ''.join(f'[[may]]\nkind = "pause"\nlength = {span}\nduring = "{during}"\ntimes = {world[key]}\n'
                       for key, during in both if world[key])
    if kind in ('jump', 'jump-exact'):
        return f'[[may]]\nkind = "jump"\nby = {span}\n'
    if kind in ('restart', 'redlock-restart'):
        many = world['servers'] > 1
        names = ', '.join(f'"redis{s + 1 if many else ""}"' for s in range(world['servers']))
        return f'[[may]]\nkind = "crash"\nserver = [{names}]\nrestart_after = {span}\n'
    if kind == 'skew':
        return f'[[may]]\nkind = "skew"\nby = ["{min(0, MOST * world["side"])}ms", "{max(0, MOST * world["side"])}ms"]\n'
    low = -MOST if world['both_sides'] else 0
    return f'[[may]]\nkind = "skew"\nby = ["{low}ms", "{MOST}ms"]\ntimes = 2\n'


def algorithm_of(world):
    if world['kind'] in ('skew', 'two-skews'):
        return 'setnx-ts-del-setnx'
    return 'redlock-seq' if world['gives_back'] else 'set-nx-px-lua'


def story_of(world, exact=None):
    def span(key):
        return f'["{world[key][0]}ms", "{world[key][1]}ms"]'
    said = [f'{text} = {{ en = "peer", zh = "peer" }}' for text in ('title', 'story', 'lesson')]
    said += ['[lock]', f'algorithm = "{algorithm_of(world)}"', f'ttl = "{world["ttl"]}ms"']
    if world['gives_back']:
        said += [f'quorum = {world["quorum"]}', f'drift_percent = {world["drift_percent"]}',
                 f'drift_extra = "{world["drift_extra"]}ms"']
    said += ['[network]', f'latency = {span("latency")}', '[servers]', f'count = {world["servers"]}', '[[client]]',
             'name = [' + ', '.join(f'"{name}"' for name in 'ABC'[:world['clients']]) + ']',
             f'acquire_at = {span("start")}', f'hold = {span("hold")}', f'rounds = {world["rounds"]}',
             f'between = {span("between")}', 'attempts = 1']
    return '\n'.join(said) + '\n' + faults_of(world, exact)
