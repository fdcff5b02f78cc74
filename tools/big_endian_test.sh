#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Builds the tests of reference_rnic/wire for a big-endian machine (s390x) and runs them under qemu's user emulation.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

usage() {
  cat <<'USAGE'
usage: tools/big_endian_test.sh [--build-only] [FOLDER]

Cross-compiles the codecs and their tests into FOLDER (default build/big_endian) and runs them under
qemu-s390x. Boost.Test and fmt come from their headers, CRC32c from a bitwise stand-in for ISA-L.

examples:
  tools/big_endian_test.sh
  tools/big_endian_test.sh --build-only /tmp/s390x
exit: 0 all passed, 1 a test or the build failed, 2 usage, 3 a package is missing
USAGE
}

run=yes folder=build/big_endian
while [ $# -gt 0 ]; do
  case "$1" in
    --build-only) run=no ;;
    --help | -h) usage; exit 0 ;;
    -*) echo "big_endian_test.sh: unknown option '$1'; see --help" >&2; exit 2 ;;
    *) folder=$1 ;;
  esac
  shift
done

packages=(g++-s390x-linux-gnu libc6-dev-s390x-cross qemu-user)
for program in s390x-linux-gnu-g++ qemu-s390x; do
  if ! command -v "$program" >/dev/null; then
    echo "big_endian_test.sh: $program is missing; install it with: sudo apt-get install ${packages[*]}" >&2
    exit 3
  fi
done

# Headers that suit any machine, linked one by one: the whole of /usr/include is this machine's.
mkdir -p "$folder/include" "$folder/objects"
for headers in boost fmt isa-l; do ln -sfn "/usr/include/$headers" "$folder/include/$headers"; done

# wire_test.cpp asks for Boost.Test's library; big_endian/main.cpp takes its place.
sources=(base/hex.cpp reference_rnic/wire/*.cpp reference_rnic/wire/tests/*_test.cpp reference_rnic/wire/tests/big_endian/main.cpp)
sources=("${sources[@]/*\/wire_test.cpp/}")
compile() {
  s390x-linux-gnu-g++ -std=c++23 -O1 -Wall -Wextra -DFMT_HEADER_ONLY -I. -isystem "$2/include" -c "$1" \
    -o "$2/objects/${1//\//_}.o"
}
export -f compile
rm -f "$folder"/objects/*.o
printf '%s\n' "${sources[@]}" | sed '/^$/d' | xargs -P "$(nproc)" -I{} bash -c 'compile "$@"' _ {} "$folder" || exit 1
s390x-linux-gnu-g++ -static "$folder"/objects/*.o -o "$folder/wire_test" || exit 1
[ "$run" = yes ] || exit 0
qemu-s390x "$folder/wire_test" --catch_system_errors=no --color_output=no || exit 1
