#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# The project's own tests: from a fresh clone to "passed" with one command.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"

usage() {
  cat <<'USAGE'
usage: ./run_tests.sh [--no-install] [--require-all] [--long] [--preset NAME] [-- CTEST OPTIONS]

Builds everything and runs the tests of the project: habits (formatting, include directions, rule
files), unit tests, the self-test of the suite over TCP, and runs against the reference RNIC.
As root it installs all Debian packages that any part needs (not with --no-install). Otherwise a part whose
packages are missing is neither built nor tested; the parts left out are listed at the end.
  --require-all   fail if a part would be left out because a package is missing (CI does this)
  --long          also what takes minutes: the siw guest, sanitizers, clang-tidy, fuzzing, the whole deviation matrix, mutants
CONTRIBUTING.md has the table of what runs where.

examples:
  ./run_tests.sh
  ./run_tests.sh -- -R wire          only the tests whose name contains 'wire'
exit: 0 all passed, 2 usage, 3 packages are missing or the build failed, else a test failed
USAGE
}

install=() preset=dev definitions=() long=no require_all=no ctest_arguments=()
while [ $# -gt 0 ]; do
  case "$1" in
    --no-install) install=(--no-install) ;;
    --require-all) definitions+=(-DRNIC_REQUIRE_ALL=ON); require_all=yes ;;
    --long) long=yes ;;
    --preset) preset=${2:-}; shift $(($# > 1)) ;;
    --help | -h) usage; exit 0 ;;
    --version) exec ./run_suite.sh --version ;;
    --) shift; ctest_arguments=("$@"); break ;;
    *) echo "run_tests.sh: unknown option '$1'; see --help" >&2; exit 2 ;;
  esac
  shift
done

case "$preset" in
  dev | release | asan | tsan) ;;
  *) echo "run_tests.sh: --preset: '$preset' is none of dev, release, asan, tsan" >&2; exit 2 ;;
esac

set=core
if [ "$require_all" = yes ] || { [ "$(id -u)" = 0 ] && [ ${#install[@]} = 0 ]; }; then set=full; fi
if [ "$long" = yes ]; then set=long; fi
tools/install_packages.sh "${install[@]}" "$set" || exit 3
tools/build.sh "$preset" "${definitions[@]}" || exit 3
# Most tests wait more than they compute.
status=0
ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$((3 * $(nproc)))" -LE long "${ctest_arguments[@]}" || status=$?
if [ -s "build/$preset/left_out.txt" ]; then
  echo "not built and not tested, since packages are missing ('tools/install_packages.sh full' as root installs all of them):"
  sed 's/^/  /' "build/$preset/left_out.txt"
fi
[ "$status" = 0 ] || exit "$status"
if [ "$long" = yes ]; then tools/long_tests.sh; fi
