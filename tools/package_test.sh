#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Makes the Debian packages of a build, and installs, uses and purges them in a Debian that has no compiler.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

usage() {
  cat <<'USAGE'
usage: tools/package_test.sh [--build DIR] [--mirror URL] [FOLDER]

Makes packages of a build (default build/dev) and a Debian 12 in FOLDER (default /var/tmp/rnic-clean-debian, about 500 MB, kept for
the next time); installs the packages there with apt-get, runs cases as root and as a plain user, judges a capture,
and purges the packages, which must leave nothing. Needs root and debootstrap.

examples:
  sudo tools/package_test.sh
  sudo tools/package_test.sh --build build/release /var/tmp/clean
exit: 0 all passed, 1 something failed, 2 usage, 3 something that it needs is missing
USAGE
}

build=build/dev mirror=http://deb.debian.org/debian folder=/var/tmp/rnic-clean-debian
while [ $# -gt 0 ]; do
  case "$1" in
    --build) build=${2:-}; shift $(($# > 1)) ;;
    --mirror) mirror=${2:-}; shift $(($# > 1)) ;;
    --help | -h) usage; exit 0 ;;
    -*) echo "package_test.sh: unknown option '$1'; see --help" >&2; exit 2 ;;
    *) folder=$1 ;;
  esac
  shift
done

fail() { echo "package_test.sh: $2" >&2; exit "$1"; }
[ "$(id -u)" = 0 ] || fail 3 "only root can make and enter another Debian; run it with sudo"
[ -f "$build/CPackConfig.cmake" ] || fail 3 "$build is not configured; build it with: tools/build.sh dev"
for program in file dpkg-shlibdeps; do
  command -v "$program" >/dev/null || fail 3 "$program is missing; install what cpack needs with: apt-get install file dpkg-dev"
done
if [ ! -e "$folder/.made" ]; then
  command -v debootstrap >/dev/null || fail 3 "debootstrap is missing; install it with: apt-get install debootstrap"
  [ ! -e "$folder/debootstrap" ] || rm -rf --one-file-system "$folder"
  debootstrap --variant=minbase bookworm "$folder" "$mirror" || fail 3 "no Debian 12 can be had from $mirror"
  chroot "$folder" useradd --create-home plain
  touch "$folder/.made"
fi

# The run makes namespaces: / has to be a mount point there, and it needs /proc and /dev.
within() {
  unshare --mount --pid --fork sh -c '
    mount --bind "$1" "$1" && mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" && mount -t sysfs sysfs "$1/sys" || exit 99
    folder=$1; shift
    exec chroot "$folder" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
  ' sh "$folder" "$@"
}
check() { # check STATUS COMMAND...: the command ends with that status
  local wanted=$1 status=0
  shift
  echo "package_test.sh: $*"
  within "$@" || status=$?
  [ "$status" = "$wanted" ] || fail 1 "ends with $status, not $wanted: $*"
}

rm -rf "$folder/packages" "$folder/tmp/out"*
cpack --config "$build/CPackConfig.cmake" -B "$folder/packages" || fail 1 "no packages can be made of $build"
rm -rf "$folder/packages/_CPack_Packages"
cp dissectors/corpus/samples/wrong_crc.pcap.gz "$folder/tmp/trace.pcap.gz"
names=(rnic-suite rnic-agent rnic-suite-doc librnic-dat2)
files=("${names[@]/#//packages/}")
files=("${files[@]/%/_*.deb}")

within apt-get update -q || fail 3 "the packages of Debian 12 cannot be had"
check 0 sh -c "apt-get install -q -y --no-install-recommends ${files[*]}"
if within sh -c 'command -v cc || command -v g++'; then fail 1 "there is a compiler: this shows less than it should"; fi
within sh -c "dpkg -L ${names[*]} | sort -u | while read -r path; do [ -d \"\$path\" ] || echo \"\$path\"; done" >"$folder/tmp/installed"

for program in rnic-suite rnic-plugfest rnic-lint rnic-scrub rnic-self-test rnic-lab rnic-agent; do check 0 "$program" --version; done
check 0 rnic-suite doctor
check 0 rnic-suite run --select 'mpa.crc.*' --out /tmp/out
check 0 rnic-suite run --iut dat:reference --select 'dat.pz.*' --out /tmp/out-dat
check 0 test -s /tmp/out/report.html
check 1 rnic-suite run --select 'mpa.crc.*' --deviation accepts_bad_crc --out /tmp/out-bad
check 0 rnic-suite explain mpa.crc.crc32c-as-in-iscsi
check 1 rnic-lint /tmp/trace.pcap.gz
check 0 su plain -c "rnic-suite run --select 'mpa.crc.*' --out /tmp/out-plain && test -s /tmp/out-plain/report.html"

check 0 apt-get purge -q -y "${names[@]}"
left=$(within sh -c 'while read -r path; do [ ! -e "$path" ] || echo "$path"; done </tmp/installed')
[ -z "$left" ] || fail 1 "purging leaves: $left"
[ ! -e "$folder/usr/share/rnic-suite" ] || fail 1 "purging leaves /usr/share/rnic-suite"
echo "package_test.sh: passed"
