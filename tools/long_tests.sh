#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# What takes minutes: the release build, sanitizers, clang-tidy, fuzzing, the whole deviation matrix, mutants. Called by run_tests.sh --long.
set -uo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

usage() {
  cat <<'USAGE'
usage: tools/long_tests.sh [STEP...]

Runs the named steps (all, if none is named) after ./run_tests.sh has built the preset 'dev'.
A step that fails does not stop the next one; the summary at the end lists which failed.
  guest       the tests with the siw guest
  event       the plugfest on one machine, with guests of two kernels
  release     the build that users get, and runs of it
  matrix      every deviation against every case, in simulated time
  asan        builds with AddressSanitizer and UndefinedBehaviorSanitizer and runs the tests
  tsan        the same with ThreadSanitizer
  tidy        clang-tidy over everything but the tests
  protocol    the protocol libraries and their tests, with the folders of deviants and lawful variants deleted
  fuzz        each fuzz target for a minute
  captures    10,000 perturbations of each capture of the corpus
  big-endian  the codecs on a big-endian machine
  kernel      a gate for a kernel tree: siw judged in kernels built from source, with a planted fault, and with KASAN
  ci          the jobs of docs/ci/, line by line, on a driver without and with a fault (as root)
  debian      the Wireshark plugin in the next Debian (as root)
  packages    the Debian packages, made in this and the next Debian, installed and used in one that has no compiler (as root)
  readme      the commands of README.md on one checkout in clean Debians, as root and as a plain user (as root)
  reproducible  the agent's package made twice, octet by octet the same
  mutants     100 mutants of stream and verbs
A finding of a sanitizer ends the program in which it occurs. All findings are in out/sanitizers/PRESET, including
those of programs that a test starts and expects to fail.

examples:
  ./run_tests.sh --long
  tools/long_tests.sh asan tsan
exit: 0 all passed, 1 a step failed, 2 usage
USAGE
}

# A finding is a file, and a file is a failure, whatever a test concludes from the exit code of a program that it started.
sanitized() {
  local preset=$1 failed=0
  local findings=$PWD/out/sanitizers/$preset
  rm -rf "$findings"
  mkdir -p "$findings"
  local -x ASAN_OPTIONS=log_path=$findings/finding TSAN_OPTIONS=log_path=$findings/finding UBSAN_OPTIONS=print_stacktrace=1
  # The build runs programs to derive what the reports need.
  tools/build.sh "$preset" || return 1
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$(($(nproc) + 1))" -LE long || failed=1
  local files=("$findings"/finding.*)
  if [ -e "${files[0]}" ]; then
    grep -hE 'ERROR: |WARNING: ThreadSanitizer|SUMMARY: |runtime error: ' "${files[@]}" | sed 's/^==[0-9]*==//' | sort | uniq -c >&2
    echo "long_tests.sh: ${#files[@]} programs had findings of the sanitizers; they are in $findings" >&2
    failed=1
  fi
  return "$failed"
}

tidy() {
  find base reference_rnic suite dissectors rules -name '*.cpp' -not -path '*/tests/*' -print0 |
    xargs -0 -n 4 -P "$(nproc)" clang-tidy-19 -p build/dev --quiet
}

run() {
  case "$1" in
    guest) ctest --test-dir build/dev --output-on-failure --no-tests=error -L long ;;
    # Results of another run would be continued.
    event) rm -rf out/event && build/dev/plugfest/rnic-plugfest run plugfest/events/virtual.yaml --out out/event ;;
    release) ./run_suite.sh --no-install --fresh --out out/release && ./run_suite.sh --no-install --fresh --iut dat:reference --out out/release-dat ;;
    matrix) build/dev/suite/self_test/rnic-self-test --matrix --out out/self_test.json ;;
    asan | tsan) sanitized "$1" ;;
    tidy) tidy ;;
    protocol) tools/protocol_alone_test.sh ;;
    fuzz) tools/fuzz.sh ;;
    captures) build/dev/dissectors/analyzer/dissectors_perturbed_captures_test -- 10000 ;;
    big-endian) tools/big_endian_test.sh ;;
    kernel) tools/kernel_gate_test.sh ;;
    ci) tools/ci_jobs_test.sh ;;
    debian) tools/next_debian_test.sh ;;
    packages) tools/package_test.sh && tools/package_test.sh --release trixie ;;
    readme) tools/readme_test.sh --guests ;;
    reproducible) tools/reproducible_test.sh ;;
    mutants) tools/mutation/mutate.py --seed 1 --count 100 --out out/mutants.json ;;
  esac
}

all=(guest event release matrix asan tsan tidy protocol fuzz captures big-endian kernel ci debian packages readme reproducible mutants)
for argument in "$@"; do
  case "$argument" in
    --help | -h) usage; exit 0 ;;
  esac
  case " ${all[*]} " in
    *" $argument "*) ;;
    *) echo "long_tests.sh: there is no step '$argument'; the steps are ${all[*]}" >&2; exit 2 ;;
  esac
done
[ $# -gt 0 ] || set -- "${all[@]}"
if [ ! -x build/dev/suite/self_test/rnic-self-test ]; then
  echo "long_tests.sh: the preset 'dev' is not built; run ./run_tests.sh first" >&2
  exit 2
fi

mkdir -p out
summary=() failures=0
for step in "$@"; do
  printf '\n== %s\n' "$step"
  begun=$SECONDS
  if run "$step"; then verdict=passed; else verdict=FAILED; failures=$((failures + 1)); fi
  summary+=("$(printf '%-12s %s in %d s' "$step" "$verdict" $((SECONDS - begun)))")
done
printf '\n== summary\n'
printf '%s\n' "${summary[@]}"
[ "$failures" -eq 0 ] || { echo "long_tests.sh: $failures of $# steps failed (see their output above)" >&2; exit 1; }
