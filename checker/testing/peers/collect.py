"""Asks TChecker for the margins of random worlds, and keeps the answers: one JSON object a line.

usage: collect.py TCK_REACH KIND FIRST_SEED COUNT OUT [SECONDS_A_QUERY]

Worlds are those of the seeds from FIRST_SEED on, until COUNT have an answer. Of a world one of whose queries takes too long
only that is kept, and the next seed is taken.
"""

import json
import resource
import subprocess
import sys
import time

import automata
import worlds

UNIT = 8  # of a millisecond: margins are quarters of one at the finest, and what is not attained needs as much again


def scaled(world):
    """All times in units; the validity of Redlock as its third step computes it, from whole percents and milliseconds."""
    out = dict(world)
    for key in ('latency', 'start', 'hold', 'between'):
        out[key] = [UNIT * value for value in world[key]]
    out['ttl'] = UNIT * world['ttl']
    if 'drift_percent' in world:
        out['validity'] = UNIT * (world['ttl'] * (100 - world['drift_percent']) - 100 * world['drift_extra']) // 100
    return out


def models(world, size):
    """What has to be asked for a fault of that size: it breaks the lock if one of these models can."""
    kind = world['kind']
    if kind in ('pauses', 'redlock'):
        return [automata.leases(world, size)]
    if kind == 'jump':
        return [automata.leases(dict(world, jump=[0, size]))]
    if kind == 'jump-exact':
        return [automata.leases(dict(world, jump=[size, size]))]
    if kind in ('restart', 'redlock-restart'):
        return [automata.leases(dict(world, crash=[size, size]))]
    # Clients are alike, so the first ones are those whose clocks are off; what is off by less breaks less.
    rest = [0] * (world['clients'] - 2)
    if kind == 'skew':
        return [automata.timestamps(world, [world['side'] * size, 0] + rest)]
    pairs = [(size, 0), (size, size)] + ([(size, -size), (-size, 0), (-size, -size)] if world['both_sides'] else [])
    return [automata.timestamps(world, list(pair) + rest) for pair in pairs]


class TooLong(Exception):
    pass


class Peer:
    def __init__(self, program, seconds):
        self.program, self.seconds, self.queries = program, seconds, 0

    def reaches(self, model):
        self.queries += 1
        try:
            done = subprocess.run([self.program, '-a', 'aLU-covreach', '-l', 'bad'], input=model, text=True,
                                  capture_output=True, timeout=self.seconds,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)))
        except subprocess.TimeoutExpired:
            raise TooLong from None
        if 'REACHABLE true' in done.stdout:
            return True
        if 'REACHABLE false' not in done.stdout:
            raise TooLong if 'bad_alloc' in done.stderr else RuntimeError(done.stdout + done.stderr)
        return False

    def breaks(self, world, size, known):
        if size not in known:
            known[size] = any(self.reaches(model) for model in models(world, size))
        return known[size]


def answer(peer, plain):
    """The least size that breaks the lock, or of restarts the greatest: (limit, attained) in milliseconds, or None."""
    world, known = scaled(plain), {}
    falls = plain['kind'] in ('restart', 'redlock-restart')  # a long absence is harmless, a short one is not
    most = worlds.MOST * UNIT

    def at_end(size):
        return peer.breaks(world, size, known) != falls
    if not at_end(most):
        return dict(breaks=falls, margin=None)  # the same for every size
    low, high = -1, most
    # A guess costs two questions if it is right, and nothing but these if it is not.
    hint = {'pauses': plain['ttl'] + plain['latency'][0] - plain['latency'][1] - plain['hold'][1],
            'jump': plain['ttl'] + plain['latency'][0] - plain['latency'][1] - plain['hold'][1],
            'restart': plain['latency'][1] + plain['hold'][1] - plain['latency'][0]}.get(plain['kind'].split('-')[0])
    if hint is not None and 0 < hint < worlds.MOST:
        pauses = max(plain['pauses'] + plain['work_pauses'], 1)
        for guess in (hint * UNIT // pauses, hint * UNIT // pauses + 1, hint * UNIT // pauses - 1):
            if low < guess < high:
                low, high = (low, guess) if at_end(guess) else (guess, high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if at_end(middle) else (middle, high)
    # Everything is a whole number of pairs of units, so an odd one is only beside the limit.
    if falls:
        return dict(breaks=low >= 0, margin=[(low + low % 2) / UNIT, low % 2 == 0] if low >= 0 else None)
    return dict(breaks=True, margin=[(high - high % 2) / UNIT, high % 2 == 0])


def main():
    program, kind, seed, count, out = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
    peer = Peer(program, float(sys.argv[6]) if len(sys.argv) > 6 else 10)
    answered = redrawn = 0
    with open(out, 'a', encoding='utf-8') as kept:
        while answered < count:
            world, began, before = worlds.random_world(kind, seed), time.monotonic(), peer.queries
            try:
                result = answer(peer, world)
                answered += 1
            except TooLong:
                result = dict(too_long=True)
                redrawn += 1
            line = dict(world=world, **result, queries=peer.queries - before, seconds=round(time.monotonic() - began, 2))
            kept.write(json.dumps(line) + '\n')
            kept.flush()
            seed += 1
    print(f'{kind}: {answered} worlds answered, {redrawn} redrawn, next seed {seed}')


if __name__ == '__main__':
    main()
