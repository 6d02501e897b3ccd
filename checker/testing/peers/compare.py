"""Compares what collect.py has kept with what `lockstep check` says of the same worlds.

usage: compare.py LOCKSTEP KEPT...

Exit status 0 if none differs and Lockstep finished with all of them.
"""

import collections
import json
import os
import re
import subprocess
import sys
import tempfile

import worlds

SECONDS = 60
NANOSECONDS = {'ns': 1, 'us': 10**3, 'ms': 10**6, 's': 10**9, 'min': 6 * 10**10}


def in_ms(text):
    number, unit = re.match(r'(-?[\d.]+)(ns|us|ms|s|min)$', text).groups()
    return round(float(number) * NANOSECONDS[unit]) / 10**6


def exclusion(lockstep, story):
    """The property, and whether all was explored."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'world.toml')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(story)
        done = subprocess.run([lockstep, 'check', path, '--json', '--jobs', '1', '--max-seconds', str(SECONDS)],
                              capture_output=True, text=True)
    if not done.stdout:
        raise RuntimeError(done.stderr)
    result = json.loads(done.stdout)['results'][0]
    return next(p for p in result['properties'] if p['property'] == 'mutual-exclusion'), result['complete']


def margin_of(found):
    """(breaks, [limit, attained] or None) by the least size; of ranges to both sides the nearer end."""
    if found['verdict'] == 'holds':
        return False, None
    if found['verdict'] != 'violated' or not found['thresholds']:
        return found['verdict'], found['why']
    ends = [(abs(in_ms(t['infimum'])), not t['attained']) for t in found['thresholds']]
    size, open_ = min(ends)
    return True, [size, not open_]


def differences(lockstep, line):
    """What is said of it that is not the same; None: Lockstep did not finish."""
    world, margin = line['world'], line['margin']
    exact = world['kind'] in ('jump-exact', 'restart', 'redlock-restart')
    if not exact:
        found, complete = exclusion(lockstep, worlds.story_of(world))
        got = margin_of(found)
        want = (line['breaks'], margin)
        if got == want:
            return []
        return [f'tchecker {want}, lockstep {got}'] if complete else None
    # At the limit and half a millisecond to both sides of it.
    falls = world['kind'] != 'jump-exact'
    if margin is None:
        wanted = {20.0: line['breaks'], float(worlds.MOST): line['breaks']}
    else:
        limit, attained = margin
        wanted = {limit: attained, limit + 0.5: not falls}
        if limit >= 0.5:
            wanted[limit - 0.5] = falls
    said = []
    for size, breaks in wanted.items():
        found, complete = exclusion(lockstep, worlds.story_of(world, exact=size))
        verdict = 'violated' if breaks else 'holds'
        if found['verdict'] == verdict:
            continue
        if not complete:
            return None
        said.append(f'at {size}ms tchecker {verdict}, lockstep {found["verdict"]} ({found["why"]})')
    return said


def main():
    lockstep, kept = sys.argv[1], sys.argv[2:]
    counts = collections.defaultdict(collections.Counter)
    for path in kept:
        for text in open(path, encoding='utf-8'):
            line = json.loads(text)
            world, count = line['world'], counts[line['world']['kind']]
            if line.get('too_long'):
                count['redrawn'] += 1
                continue
            said = differences(lockstep, line)
            count['worlds' if said is not None else 'unfinished'] += 1
            if said is None:
                print(f'UNFINISHED {world["kind"]} {world["seed"]}', flush=True)
            elif said:
                count['differ'] += 1
                print(f'DIFFERS {world["kind"]} {world["seed"]}: {"; ".join(said)}  {json.dumps(world)}', flush=True)
            elif line['breaks']:
                count['broken'] += 1
    total = collections.Counter()
    for kind, count in counts.items():
        total.update(count)
        print(kind, dict(count))
    print(f'{total["worlds"]} worlds compared, {total["differ"]} differ; {total["unfinished"]} unfinished; '
          f'{total["redrawn"]} redrawn')
    return 1 if total['differ'] or total['unfinished'] else 0


if __name__ == '__main__':
    sys.exit(main())
