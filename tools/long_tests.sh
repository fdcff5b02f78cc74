#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# What takes minutes: sanitizers, clang-tidy, fuzzing, the whole deviation matrix, mutants. Called by run_tests.sh --long.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

if [ "${1:-}" = --help ]; then
  echo "usage: tools/long_tests.sh"
  echo "Runs, after ./run_tests.sh has built the preset 'dev': the deviation matrix, both sanitizer presets, clang-tidy,"
  echo "the fuzzers for a while, the Wireshark plugin in the next Debian (as root only), and 100 mutants. Results land in out/."
  echo "example: ./run_tests.sh --long"
  exit 0
fi

step() { printf '\n== %s\n' "$*"; "$@"; }
mkdir -p out
step ctest --test-dir build/dev --output-on-failure --no-tests=error -L long
step build/dev/suite/self_test/rnic-self-test --matrix --out out/self_test.json
for preset in asan tsan; do
  step tools/build.sh "$preset"
  step ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$(nproc)"
done
step find reference_rnic suite dissectors rules -name '*.cpp' -not -path '*/tests/*' -exec clang-tidy-19 -p build/dev --quiet {} +
step cmake --preset asan -B build/fuzz -DCMAKE_CXX_COMPILER=clang++-19 -DRNIC_FUZZ=ON
step cmake --build build/fuzz --target fuzz_run_all
step tools/big_endian_test.sh
[ "$(id -u)" != 0 ] || step tools/next_debian_test.sh
step tools/mutation/mutate.py --seed 1 --count 100 --out out/mutants.json
