#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Builds Debian packages of the last commit twice, in two folders and settings, and compares them octet by octet.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

usage() {
  cat <<'USAGE'
usage: tools/reproducible_test.sh [--component NAME]... [-DNAME=VALUE...] [FOLDER]

Clones the last commit into two folders below FOLDER (default /var/tmp/rnic-reproducible; removed afterwards if they are equal) with paths of
different lengths, builds the components (default: agent; there are suite, agent, doc, dat, dev, wireshark, see
tools/cmake/RnicPackages.cmake) in each as a release with another time zone, language, file mode mask and number of jobs,
without a compiler cache, and compares the packages. -D is passed to cmake.

examples:
  tools/reproducible_test.sh
  tools/reproducible_test.sh --component suite --component wireshark
exit: 0 they are equal, 1 they differ or cannot be built, 2 usage, 3 something that it needs is missing
USAGE
}

components=() definitions=() folder=/var/tmp/rnic-reproducible
while [ $# -gt 0 ]; do
  case "$1" in
    --component) components+=("${2:-}"); shift $(($# > 1)) ;;
    --help | -h) usage; exit 0 ;;
    -D*) definitions+=("$1") ;;
    -*) echo "reproducible_test.sh: unknown option '$1'; see --help" >&2; exit 2 ;;
    *) folder=$1 ;;
  esac
  shift
done
[ ${#components[@]} -gt 0 ] || components=(agent)
fail() { echo "reproducible_test.sh: $2" >&2; exit "$1"; }
# What is emptied was made here.
marker=$folder/.made-by-reproducible-test
[ -e "$marker" ] || [ -z "$(ls -A "$folder" 2>/dev/null)" ] || fail 2 "'$folder' has files of somebody else; give a new or an empty folder"
for program in dpkg-shlibdeps file help2man; do
  command -v "$program" >/dev/null || fail 3 "$program is missing; install what cpack needs with: tools/install_packages.sh deb"
done

# What a component is made of; `cmake --install` takes no more of it.
targets=()
for component in "${components[@]}"; do
  case "$component" in
    suite) targets+=(rnic_installed) ;;
    agent) targets+=(rnic-agent_manual rnic-dat-cases_manual) ;;
    dat | dev) targets+=(rnic_dat) ;;
    wireshark) targets+=(rnic_iwarp) ;;
    doc) targets+=(base_commit) ;;
    *) fail 2 "--component: there is no component '$component'; see --help" ;;
  esac
done

build() { # build PLACE UMASK JOBS NAME=VALUE...
  local place=$1 mask=$2 jobs=$3
  shift 3
  git clone --quiet --no-hardlinks . "$place"
  (cd "$place" && umask "$mask" && export CCACHE_DISABLE=1 CMAKE_BUILD_PARALLEL_LEVEL="$jobs" "$@" &&
    tools/build.sh release "${targets[@]}" "${definitions[@]}" &&
    cpack --config build/release/CPackConfig.cmake -D "CPACK_COMPONENTS_ALL=$(IFS=';'; echo "${components[*]}")" -B packages >cpack.log) ||
    fail 1 "the packages cannot be built in $place"
}
rm -rf "$folder"
mkdir -p "$folder"
touch "$marker"
build "$folder/a" 022 1 TZ=UTC LC_ALL=C.UTF-8
build "$folder/another/longer/path" 077 3 TZ=Asia/Tokyo LC_ALL=C
differing=()
for first in "$folder"/a/packages/*.deb; do
  second=$folder/another/longer/path/packages/${first##*/}
  if cmp "$first" "$second"; then sha256sum "$first"; else differing+=("${first##*/}"); fi
done
[ ${#differing[@]} = 0 ] || fail 1 "these differ (diffoscope shows in what): ${differing[*]}, in $folder"
rm -rf "$folder"
echo "reproducible_test.sh: both builds made the same packages: ${components[*]}"
