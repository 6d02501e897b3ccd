"""Compares what collect.py has kept with the zone checker of `checker/testing`.

usage: compare_zones.py ZONE_MARGIN KEPT...

Takes the worlds with pauses; exit status 0 if none differs.
"""

import json
import subprocess
import sys

import collect
import worlds


def numbers_of(world):
    """As zone_margin_tool.cpp reads them."""
    out = [world[key] for key in ('clients', 'rounds', 'servers', 'quorum')]
    out += [int(world['gives_back']), world['ttl'], world.get('validity', -1)]
    for key in ('latency', 'start', 'hold', 'between'):
        out += world[key]
    return out + [world['pauses'], world['work_pauses'], worlds.MOST * collect.UNIT]


def main():
    lines = [json.loads(text) for path in sys.argv[2:] for text in open(path, encoding='utf-8')]
    lines = [line for line in lines if line['world']['kind'] in ('pauses', 'redlock') and not line.get('too_long')]
    asked = '\n'.join(' '.join(str(n) for n in numbers_of(collect.scaled(line['world']))) for line in lines) + '\n'
    done = subprocess.run([sys.argv[1]], input=asked, text=True, capture_output=True, check=True)
    said = done.stdout.splitlines()
    if len(said) != len(lines):
        raise RuntimeError(f'{len(lines)} worlds, {len(said)} answers')
    differ = 0
    for line, answer in zip(lines, said):
        got = None
        if answer != 'none':
            ticks, attained = map(int, answer.split())
            got = [ticks / collect.UNIT, attained == 1]
        if got != line['margin']:
            differ += 1
            print(f'DIFFERS: tchecker {line["margin"]}, zones {got}  {json.dumps(line["world"])}')
    broken = sum(line['breaks'] for line in lines)
    print(f'{len(lines)} worlds compared, {broken} of them can be broken, {differ} differ')
    return 1 if differ else 0


if __name__ == '__main__':
    sys.exit(main())
