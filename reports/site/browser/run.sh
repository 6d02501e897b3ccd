#!/bin/sh
# The pages of a report in a real browser, and their scripts through a type checker: run.sh PROGRAM [SCREENSHOTS]
#
# With LOCKSTEP_PAGES=few the report has the pages of a dozen stories, else those of all.
# Works in build/browser. Needs node, npm with a registry that answers, and Debian's chromium; without them it says so and exits with 77.
set -u
here=$(CDPATH='' cd -P -- "$(dirname "$0")" && pwd -P)
root=$(CDPATH='' cd -P -- "$here/../../.." && pwd -P)
program=$(realpath "${1:-$root/build/release/lockstep}")
screenshots=${2:+$(realpath -m "$2")}
work=$root/build/browser

for needed in node npm chromium; do
  command -v $needed >/dev/null || { echo "SKIPPED: there is no $needed"; exit 77; }
done
rm -rf "$work/pages"
mkdir -p "$work/pages/site/frame" "$work/pages/site/story" "$work/pages/play/stepping"
cp "$here"/package.json "$here"/package-lock.json "$here"/tsconfig.json "$here"/*.mjs "$work"
cp "$here"/../frame/*.js "$work/pages/site/frame"
cp "$here"/../story/*.js "$work/pages/site/story"
cp "$here"/../../play/*.js "$work/pages/play"
cp "$here"/../../play/stepping/*.js "$work/pages/play/stepping"
cd "$work" || exit 1
npm ci --no-audit --no-fund --silent || { echo "SKIPPED: npm could not install what the tests need"; exit 77; }
npx --no-install tsc --noEmit -p . || exit 1
# A run of more steps than a page shows.
cat >"$work/long.toml" <<'END'
title = { en = "One client, again and again", zh = "一个客户端，一次又一次" }
[lock]
algorithm = "set-nx-px-lua"
[[client]]
name = "A"
hold = "1ms"
rounds = 600
END
cd "$root" || exit 1
begin=$(date +%s)
stories=scenarios
if [ "${LOCKSTEP_PAGES:-all}" = few ]; then
  stories='scenarios/stories/redis-lock-java/f000-2-both-delete-expired.toml scenarios/stories/redisson-source/f003-2-pause-outlives-lease.toml'
  stories="$stories $(find scenarios/stories -name f000-5-pause-and-skew.toml) $(find scenarios/stories/own-lock scenarios/stories/etcd scenarios/stories/market -name '*.toml' 2>/dev/null | sort | head -n 9)"
fi
# shellcheck disable=SC2086 # a list of paths without blanks
"$program" report "$work/site" --stories $stories || exit 1
echo "the report took $(($(date +%s) - begin)) s with $(nproc) processors, of which others may have used some: $(cut -d ' ' -f 1 /proc/loadavg)"
"$program" report --single "$work/long.html" --stories "$work/long.toml" || exit 1
cd "$work" || exit 1
status=0
node site.mjs "$work/site" "$work/long.html" ${screenshots:+"$screenshots"} || status=1
node play.mjs "$program" "$root/scenarios/stories/redis-lock-java/f000-2-both-delete-expired.toml" ${screenshots:+"$screenshots"} || status=1
node history.mjs "$program" ${screenshots:+"$screenshots"} || status=1
exit $status
