#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# The protocol knows no deviant: it is built and tested in a copy of the sources that has no deviants and no lawful variants.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

usage() {
  cat <<'USAGE'
usage: tools/protocol_alone_test.sh [--configure-only]

Copies the sources without reference_rnic/deviants and reference_rnic/lawful, builds the protocol (wire, stream, llp, verbs,
access) and its tests, and runs these.
  --configure-only  only sees that everything is there to build them, which takes seconds

examples:
  tools/protocol_alone_test.sh
exit: 0 all passed, 1 a step failed, 2 usage
USAGE
}

configure_only=
case "${1:-}" in
  --help | -h) usage; exit 0 ;;
  --configure-only) configure_only=1 ;;
  '') ;;
  *) usage >&2; exit 2 ;;
esac

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -a CMakeLists.txt base rules tools "$copy"
mkdir "$copy/reference_rnic"
cp -a reference_rnic/CMakeLists.txt reference_rnic/{wire,stream,llp,verbs,access} "$copy/reference_rnic"
# The objects of the same sources are found by ccache, if there is one.
export CCACHE_BASEDIR=$copy CCACHE_NOHASHDIR=1
cmake -S "$copy" -B "$copy/build/dev" -G Ninja -DRNIC_PROTOCOL_ONLY=ON -DCMAKE_BUILD_TYPE=Debug '-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1' >"$copy/log" ||
  { cat "$copy/log"; exit 1; }
tests=(wire_test stream_test llp_test verbs_test access_test)
if [ -n "$configure_only" ]; then
  # A library of the project that is not there would be looked for in the system.
  ninja -C "$copy/build/dev" -t commands "${tests[@]}" >"$copy/log" && ! grep -oE -e '-lrnic_\w+' "$copy/log"
  exit
fi
ninja -C "$copy/build/dev" "${tests[@]}"
ctest --test-dir "$copy/build/dev" --output-on-failure --no-tests=error -R "^($(IFS='|'; echo "${tests[*]}"))$"
