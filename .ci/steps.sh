# What .ci/run and .ci/deep share: steps, their table, and how things are built. To be sourced by bash; needs `logs`, a folder for the logs of all steps.
# shellcheck shell=bash

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
root=$PWD
rm -rf "${logs:?}"
mkdir -p "$logs"

only=${LOCKSTEP_CI_STEPS:-}
export UBSAN_OPTIONS=print_stacktrace=1
export CTEST_OUTPUT_ON_FAILURE=1
# To remember 30 frames of each allocation is an eighth of the time of tests with sanitizers; 8 show where a block is from.
export ASAN_OPTIONS=malloc_context_size=8
# Names and lines in sanitizer reports. addr2line comes with any compiler, the better ones may not be there.
for symbolizer in llvm-symbolizer-19 llvm-symbolizer addr2line; do
  if ASAN_SYMBOLIZER_PATH=$(command -v "$symbolizer"); then
    export ASAN_SYMBOLIZER_PATH ASAN_OPTIONS=$ASAN_OPTIONS:allow_addr2line=1
    break
  fi
done

# Results are lines of a file, so that a step can run beside others: NAME, tab, ok or FAILED or -, tab, seconds.
results=$logs/results
: >"$results"

step() { # NAME COMMAND...
  local name=$1 log begin status result=ok
  shift
  [ -z "$only" ] || [[ ",$only," == *",$name,"* ]] || return 0
  log=$logs/${name//[^a-zA-Z0-9]/-}.log
  begin=$SECONDS
  printf '== %s\n' "$name"
  "$@" >"$log" 2>&1 </dev/null
  status=$?
  # A line that begins so is for the reader of the whole run.
  grep -h '^:: ' "$log"
  if [ $status -ne 0 ]; then
    result=FAILED
    printf -- '-- %s: exit %s; the end of %s:\n' "$name" $status "${log#"$root"/}"
    tail -n 200 "$log"
  fi
  printf '%s\t%s\t%s\n' "$name" $result $((SECONDS - begin)) >>"$results"
  return $status
}

after() { # STATUS_OF_ITS_BUILD NAME COMMAND...
  local built=$1
  shift
  if [ "$built" -eq 0 ]; then step "$@"; else skip "$1" 'it was not built'; fi
}

skip() { # NAME REASON
  printf '%s (skipped: %s)\t-\t0\n' "$1" "$2" >>"$results"
}

# --- what both do -----------------------------------------------------------------------------------------------

build() { # PRESET [TARGETS...]
  local preset=$1
  shift
  cmake --preset "$preset" && cmake --build --preset "$preset" ${1:+--target "$@"}
}

run_tests() { # PRESET CASES [ARGUMENTS OF ctest...]
  local preset=$1 cases=$2
  shift 2
  LOCKSTEP_CASES=$cases ctest --preset "$preset" -j "$(($(nproc) + 1))" "$@"
}

fuzz_one() { # FOLDER PROGRAM EFFORT
  local name work seeds fixed_addresses=()
  name=$(basename "$2")
  work=$(mktemp -d)
  mkdir "$work/corpus"
  for seeds in "$1/corpus/$name" "$1/corpus/${name%_fuzz}"; do
    [ -d "$seeds" ] && cp -R "$seeds/." "$work/corpus"
  done
  echo "$name: $3"
  # Findings are kept: the input that broke it is the bug report. The same inputs each time, so that a failure speaks of the
  # change and not of luck: a seed alone does not fix them, since libFuzzer counts in seconds, reads its own corpus again each
  # second, and remembers comparisons by address.
  setarch -R true 2>/dev/null && fixed_addresses=(setarch -R)
  "${fixed_addresses[@]}" "$2" -seed="${LOCKSTEP_FUZZ_SEED:-1}" "$3" -reload=0 -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="$logs/$name-" "$work/corpus"
  local status=$?
  rm -rf "$work"
  return $status
}

fuzz_all() { # EFFORT
  local sources built status=0 pids=() folder program
  sources=$(git ls-files '*_fuzz.cpp' | wc -l)
  built=$(grep -c . build/dev/fuzzers.txt)
  if [ "$sources" -ne "$built" ]; then
    echo "$sources files *_fuzz.cpp, but $built fuzzers in build/dev/fuzzers.txt"
    return 1
  fi
  while read -r folder program; do
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do sleep 0.2; done
    fuzz_one "$folder" "$program" "$1" >"$logs/$(basename "$program").log" 2>&1 &
    pids+=("$! $program")
  done < <(grep . build/dev/fuzzers.txt)
  for entry in "${pids[@]}"; do
    if wait "${entry%% *}"; then
      echo "${entry#* }: $(grep -h 'number_of_executed_units' "$logs/$(basename "${entry#* }").log")"
    else
      status=1
      tail -n 60 "$logs/$(basename "${entry#* }").log"
    fi
  done
  return $status
}

browser() { # FEW OR ALL
  if command -v node >/dev/null && command -v npm >/dev/null && npm ping >/dev/null 2>&1; then
    step "pages in a browser" env LOCKSTEP_PAGES="$1" sh reports/site/browser/run.sh build/release/lockstep "$logs/screenshots"
  else
    skip "pages in a browser" "no node, or no npm registry that answers"
  fi
}

# --- what came of it --------------------------------------------------------------------------------------------

slowest() {
  local log
  for log in "$logs"/*-tests.log; do
    [ -e "$log" ] || continue
    sed -nE "s|^ *[0-9]+/[0-9]+ Test +#[0-9]+: ([^ ]+) \.*[ *]*[A-Za-z]+ +([0-9.]+) sec\$|\2 $(basename "$log" --tests.log): \1|p" "$log"
  done | sort -rn | head -n 10 | while read -r seconds name; do printf '  %-52s %7.1f s\n' "$name" "$seconds"; done
}

finish() {
  printf '\n'
  while IFS=$'\t' read -r name result seconds; do printf '  %-52s %-6s %4s s\n' "$name" "$result" "$seconds"; done <"$results"
  printf '  %-52s        %4s s\n' 'all of it' $SECONDS
  [ -z "$(slowest)" ] || printf '\nthe slowest tests:\n%s\n' "$(slowest)"
  if [ -n "$only" ]; then printf '\nonly these steps, as LOCKSTEP_CI_STEPS says: %s\n' "$only"; fi

  local passed failed named name
  passed=$(grep -c $'\tok\t' "$results")
  failed=$(grep -c $'\tFAILED\t' "$results")
  # A name that is none of a step's would pass for a run in which everything is well.
  IFS=, read -ra named <<<"$only"
  for name in "${named[@]}"; do
    cut -f 1 "$results" | sed "s| (skipped: .*||" | grep -qxF "$name" || { printf 'no step was run that is called "%s"\n' "$name" && failed=$((failed + 1)); }
  done
  printf '\nlogs: %s/\n%s passed, %s failed\n' "${logs#"$root"/}" "$passed" "$failed"
  [ "$failed" -eq 0 ]
}
