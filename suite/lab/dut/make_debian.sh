#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# A Debian host for the lab's DUT, on which a package of the suite is installed as on any other.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: make_debian.sh --package FILE [--mirror URL] CACHE

Makes a folder in CACHE/dut, or finds it there, and prints its path: a minimal Debian of this host's release with openssh-server,
on which apt-get has installed the package FILE, with what it depends on and recommends. To make it needs root, debootstrap,
and the mirror (default http://deb.debian.org/debian).

example: make_debian.sh --package packages/rnic-agent_0.1.0_amd64.deb ~/.cache/rnic-suite/siw-vm
exit: 0 done, 1 something is missing (the last line says what), 2 usage
USAGE
}

fail() { echo "make_debian.sh: $*" >&2; exit 1; }
package= cache= mirror=http://deb.debian.org/debian
while [ $# -gt 0 ]; do
  case "$1" in
    --package) package=${2:?--package needs a file}; shift ;;
    --mirror) mirror=${2:?--mirror needs an URL}; shift ;;
    --help | -h) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) cache=$1 ;;
  esac
  shift
done
[ -n "$package" ] && [ -n "$cache" ] || { usage >&2; exit 2; }
dpkg-deb --info "$package" >/dev/null 2>&1 || fail "'$package' is no Debian package"
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
[ -n "$release" ] || fail "this host is no Debian: its release has no name"

mkdir -p "$cache/dut"
cache=$(cd "$cache/dut" && pwd)
base=$cache/debian-$release
host=$base-$(cat "$(readlink -f "$0")" "$package" | sha256sum | cut -c1-16)
exec 9>"$cache/debian.lock"
flock 9
[ -d "$host" ] || [ "$(id -u)" = 0 ] || fail "only root can make another Debian, once for each package"
work=$cache/.debian.$$
trap 'rm -rf --one-file-system "$work" "$work.log"' EXIT
if [ ! -d "$base" ]; then
  PATH=$PATH:/usr/sbin:/sbin
  command -v debootstrap >/dev/null || fail "'debootstrap' is missing: install the package debootstrap"
  echo "dut: making a Debian $release, which takes a minute or two" >&2
  debootstrap --variant=minbase --include=openssh-server "$release" "$work" "$mirror" >"$work.log" 2>&1 ||
    fail "no Debian '$release' can be had from $mirror: $(tail -n 1 "$work.log")"
  # Services start when the host does.
  printf '#!/bin/sh\nexit 101\n' >"$work/usr/sbin/policy-rc.d"
  chmod 755 "$work/usr/sbin/policy-rc.d"
  # All of it will be in the memory of the guest.
  rm -rf "$work"/var/lib/apt/lists/* "$work"/usr/share/{doc,info,locale,man}/* "$work"/etc/ssh/ssh_host_*
  chroot "$work" apt-get clean
  mv "$work" "$base"
fi
if [ ! -d "$host" ]; then
  cp -a "$base" "$work"
  cp "$package" "$work/root/"
  inside() { chroot "$work" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    ${http_proxy:+http_proxy="$http_proxy"} "$@" >>"$work.log" 2>&1; }
  inside apt-get update && inside apt-get install -y "/root/${package##*/}" ||
    fail "apt-get cannot install $package: $(grep -m 1 '^E:' "$work.log" || tail -n 1 "$work.log")"
  inside apt-get clean
  rm -rf "$work"/var/lib/apt/lists/* "$work/root/${package##*/}"
  mv "$work" "$host"
  # Those of earlier builds are of no use; the newest few stay for other work trees of the same user.
  ls -dt "$base"-* | tail -n +4 | xargs -r rm -rf --one-file-system
fi
echo "$host"
