#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Builds the Wireshark plugin for the Wireshark of the next Debian, in a folder of its own, and runs the plugin's tests with it.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

usage() {
  cat <<'USAGE'
usage: tools/next_debian_test.sh [--release NAME] [--mirror URL] [FOLDER]

Makes a Debian (default trixie, whose Wireshark is 4.4) in FOLDER (default /var/tmp/rnic-next-debian, about 2 GB, kept
for the next time), builds the target rnic_iwarp there, and runs the plugin's tests with its tshark. The tests compare
with rnic-suite, rnic-self-test and rnic-lint of build/dev. Needs root and debootstrap.

examples:
  sudo tools/next_debian_test.sh
  sudo tools/next_debian_test.sh --release forky /var/tmp/forky
exit: 0 all passed, 1 a test or the build failed, 2 usage, 3 something that it needs is missing
USAGE
}

release=trixie mirror=http://deb.debian.org/debian folder=/var/tmp/rnic-next-debian
while [ $# -gt 0 ]; do
  case "$1" in
    --release) release=${2:-}; shift $(($# > 1)) ;;
    --mirror) mirror=${2:-}; shift $(($# > 1)) ;;
    --help | -h) usage; exit 0 ;;
    -*) echo "next_debian_test.sh: unknown option '$1'; see --help" >&2; exit 2 ;;
    *) folder=$1 ;;
  esac
  shift
done

fail() { echo "next_debian_test.sh: $2" >&2; exit "$1"; }
[ "$(id -u)" = 0 ] || fail 3 "only root can make and enter another Debian; run it with sudo"
programs=(build/dev/suite/runner/rnic-suite build/dev/suite/self_test/rnic-self-test build/dev/dissectors/lint/rnic-lint)
for program in "${programs[@]}"; do [ -x "$program" ] || fail 3 "$program is missing; build it with: tools/build.sh dev"; done

within() { chroot "$folder" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
  ${http_proxy:+http_proxy="$http_proxy"} "$@"; }

# A folder that was not completed has no mark, and is made again.
if [ ! -e "$folder/.made-of-$release" ]; then
  command -v debootstrap >/dev/null || fail 3 "debootstrap is missing; install it with: apt-get install debootstrap"
  [ ! -e "$folder/debootstrap" ] || rm -rf --one-file-system "$folder"
  debootstrap --variant=minbase "$release" "$folder" "$mirror" || fail 3 "no Debian '$release' can be had from $mirror"
  touch "$folder/.made-of-$release"
fi
mapfile -t packages < <(tools/install_packages.sh --print core)
within apt-get update -q || fail 3 "the packages of '$release' cannot be had"
within apt-get install -q -y --no-install-recommends "${packages[@]}" libwireshark-dev wireshark-dev tshark ||
  fail 3 "not all packages that the build needs are in '$release'"
rm -rf "$folder/src" && mkdir "$folder/src"
git ls-files -z | tar --create --null --files-from=- | tar --extract --directory="$folder/src"

within cmake -S /src -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release || exit 1
within cmake --build /build --target rnic_iwarp || exit 1
within tshark --version | head -n 1
modules=("$folder"/build/dissectors/wireshark/plugins/*/epan/rnic_iwarp.so)
python3 dissectors/wireshark/tests/plugin_test.py --root "$folder" --module "${modules[0]}" --suite "${programs[0]}" \
  --self-test "${programs[1]}" --lint "${programs[2]}" --tshark /usr/bin/tshark || exit 1
