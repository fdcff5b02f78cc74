#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Runs each fuzz target for a given processor time and prints the results in a table.
set -uo pipefail
cd "$(dirname "$(readlink -f "$0")")/.." || exit 1

build=build/fuzz
found=$build/fuzz

usage() {
  cat <<'USAGE'
usage: tools/fuzz.sh [--minutes N] [--jobs N] [--merge] [TARGET...] [-- LIBFUZZER-OPTION...]

Builds the named fuzz targets (all, if none is named) in build/fuzz and runs each until it has used N minutes of
processor time (default 1; user time, so that on a busy machine the run takes longer but tries as much). Inputs that reach
new edges are kept in build/fuzz/fuzz/TARGET, and the next run begins with them. The table shows how many of all edges were reached.
  --minutes N  of processor time for each target
  --jobs N     targets that run at once (default 1)
  --merge      afterwards, add to the committed corpus the inputs that reach edges which it does not
Logs: build/fuzz/fuzz/TARGET.log. Inputs on which a target fails: build/fuzz/fuzz/finds.

examples:
  tools/fuzz.sh --minutes 10 --jobs 2
  tools/fuzz.sh --minutes 5 fuzz_pics -- -use_value_profile=1
exit: 0 no finds, 1 a find or a target that does not run, 2 usage
USAGE
}

refuse() { echo "fuzz.sh: $1; see tools/fuzz.sh --help" >&2; exit 2; }

minutes=1 jobs=1 merge=no targets=() options=()
while [ $# -gt 0 ]; do
  case "$1" in
    --help | -h) usage; exit 0 ;;
    --minutes | --jobs)
      [[ "${2:-}" =~ ^[1-9][0-9]{0,3}$ ]] || refuse "$1 needs a number from 1 to 9999"
      printf -v "${1#--}" %s "$2"
      shift ;;
    --merge) merge=yes ;;
    --) shift; options=("$@"); break ;;
    -*) refuse "there is no option '$1'" ;;
    *) targets+=("$1") ;;
  esac
  shift
done

# The .run file of a target, which cmake writes, sets `program` and `corpus`; for the plugin, whose fuzzer
# is not libFuzzer, `corpus` is empty.
mkdir -p "$found/finds"
cmake --preset asan -B "$build" -DCMAKE_CXX_COMPILER=clang++-19 -DRNIC_FUZZ=ON >"$build.log" 2>&1 || {
  cat "$build.log" >&2
  exit 1
}
mapfile -t all < <(cd "$found" && ls -- *.run | sed 's/\.run$//')
[ ${#targets[@]} -gt 0 ] || targets=("${all[@]}")
for target in "${targets[@]}"; do
  [ -f "$found/$target.run" ] || refuse "there is no target '$target'; the targets are ${all[*]}"
done
built=("${targets[@]/#fuzz_plugin/rnic_iwarp}")
cmake --build "$build" --target "${built[@]}" >"$build.log" 2>&1 || { tail -40 "$build.log" >&2; exit 1; }

# slice TARGET SECONDS NUMBER: one run; its output is added to the log, its user time to `used`.
slice() {
  local log=$found/$1.log words
  mkdir -p "$found/$1"
  if [ -n "$corpus" ]; then
    words=(-max_total_time="$2" -max_len=4096 -timeout=120 -print_final_stats=1 "-artifact_prefix=$found/finds/$1-"
           "${options[@]}" "$found/$1" "$corpus")
  else
    words=(--seconds "$2" --seed "$3" --keep "$found/$1" --finds "$found/finds")
  fi
  local TIMEFORMAT=%U status
  { time "${program[@]}" "${words[@]}" >>"$log" 2>&1; } 2>"$found/$1.time"
  status=$?
  used=$(awk -v used="$used" '{ print used + $1 }' "$found/$1.time")
  return $status
}

# The sum, or the last, of what a pattern with one group finds in a log.
numbers() { sed -nE "s/.*$1.*/\1/p" "$2"; }
sum_of() { numbers "$@" | awk '{ sum += $1 } END { print sum + 0 }'; }
last_of() { numbers "$@" | tail -1; }

figures() {
  local log=$found/$1.log runs edges of
  if [ -n "$corpus" ]; then
    runs=$(sum_of 'stat::number_of_executed_units: +([0-9]+)' "$log")
    edges=$(last_of ' cov: ([0-9]+) ' "$log")
    of=$(last_of 'Loaded 1 modules +\(([0-9]+) inline' "$log")
  else
    runs=$(sum_of '^([0-9]+) runs, ' "$log")
    edges=$(last_of ' ([0-9]+) of [0-9]+ edges' "$log")
    of=$(last_of ' of ([0-9]+) edges' "$log")
  fi
  printf '| %s | %.0f | %s | %s of %s | %s |\n' "$1" "$used" "$runs" "${edges:-?}" "${of:-?}" "$2" >"$found/$1.figures"
}

# libFuzzer counts wall time, of which at most all is processor time: further slices run until the total is reached.
fuzz() {
  local program corpus used=0 number=0 finds=none left
  . "$found/$1.run"
  : >"$found/$1.log"
  while left=$(awk -v used="$used" -v all=$((minutes * 60)) 'BEGIN { print int(all - used + 0.999) }'); [ "$left" -gt 0 ]; do
    figures "$1" "$finds, not at its end"
    slice "$1" "$((left < 5 ? 5 : left))" "$((++number))" || { finds="**see its log**"; break; }
  done
  figures "$1" "$finds"
  [ "$finds" = none ]
}

# Only edges count, and the fewest files that reach them are taken: every run of the tests replays all committed files.
merge_found() {
  local program corpus
  . "$found/$1.run"
  [ -n "$corpus" ] || return 0
  "${program[@]}" -set_cover_merge=1 -use_counters=0 -max_len=4096 "$corpus" "$found/$1" >"$found/$1.merge.log" 2>&1 &&
    echo "$1: $(last_of ' ([0-9]+) new files with' "$found/$1.merge.log") new files in ${corpus#"$PWD"/}"
}

failed=0
for target in "${targets[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || failed=1; done
  fuzz "$target" &
done
while [ -n "$(jobs -rp)" ]; do wait -n || failed=1; done

echo "$(date +%F), $(git describe --always --dirty):"
echo "| target | CPU s | executions | edges | finds |"
echo "|---|---|---|---|---|"
for target in "${targets[@]}"; do
  cat "$found/$target.figures"
  grep -q '| none |$' "$found/$target.figures" || failed=1
done
if [ $merge = yes ]; then
  for target in "${targets[@]}"; do merge_found "$target" || failed=1; done
fi
exit $failed
