#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Fetches a Debian kernel, its headers and the source of siw into a cache folder. Installs nothing, never touches /boot.
set -euo pipefail
# No reader here stops before its writer (head, grep -q): with pipefail that would be a failure now and then.

usage() {
  cat <<'USAGE'
usage: fetch_kernel.sh [--series 6.1] CACHE

Downloads the newest Debian kernel whose image, headers and source packages have one version, unpacks what the
guest needs into CACHE/kernel/VERSION and prints that folder. Needs no root. A kernel that is there already is
used without asking the archive; remove its folder to fetch a newer one.

example: fetch_kernel.sh ~/.cache/rnic-suite/siw-vm
exit: 0 done, 1 something failed (the last line says what), 2 usage
USAGE
}

fail() { echo "fetch_kernel.sh: $*" >&2; exit 1; }
say() { echo "siw-vm: $*" >&2; }

series=6.1 cache=
while [ $# -gt 0 ]; do
  case "$1" in
    --series) series=${2:?--series needs a number such as 6.1}; shift ;;
    --help | -h) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) cache=$1 ;;
  esac
  shift
done
[ -n "$cache" ] || { usage >&2; exit 2; }
PATH=$PATH:/usr/sbin:/sbin
mkdir -p "$cache/kernel"
cache=$(cd "$cache" && pwd)

for ready in $(ls -d "$cache/kernel/$series."*/complete 2>/dev/null | sort -rV); do
  # One that an earlier version of this script has fetched may lack them.
  [ -f "$(dirname "$ready")/modules/rdma_rxe.ko" ] && [ -f "$(dirname "$ready")/scripts/checkpatch.pl" ] || continue
  dirname "$ready"
  exit 0
done
for tool in apt-get apt-cache dpkg-deb tar xz depmod modprobe; do
  command -v "$tool" >/dev/null || fail "'$tool' is missing: install apt, dpkg, tar, xz-utils and kmod"
done

# The system's package lists if they have the kernel, else lists of our own in the cache (a plain user may not update the system's).
apt_options=(-q -o "APT::Sandbox::User=$(id -un)")
versions_of() { apt-cache "${apt_options[@]}" madison "$1" 2>/dev/null | awk '$NF == "Packages" { print $3 }' | sort -rVu; }
source_versions() { versions_of "linux-source-$series"; }
has_version() { versions_of "$1" | grep -xF "$2" >/dev/null; }
if [ -z "$(source_versions)" ]; then
  say "asking the package archive"
  state=$cache/apt
  mkdir -p "$state/lists/partial" "$state/archives/partial"
  apt_options+=(-o "Dir::State=$state" -o "Dir::State::status=/var/lib/dpkg/status" -o "Dir::Cache=$state")
  apt-get "${apt_options[@]}" update >"$cache/apt.log" 2>&1 || fail "apt-get update failed: $(tail -n 1 "$cache/apt.log")"
fi

# One version for which the archive has all of it; image and headers carry the ABI name, e.g. 6.1.0-56-amd64.
version=$(source_versions | sed -n 1p)
[ -n "$version" ] || fail "the package archive has no linux-source-$series: add the Debian archive to apt's sources"
release=
for version in $(source_versions); do
  for package in $(apt-cache "${apt_options[@]}" search --names-only "^linux-headers-${series//./\\.}\.[^ ]*-amd64\$" | cut -d' ' -f1 | sort -rV); do
    name=${package#linux-headers-}
    [[ $name == *-cloud-amd64 || $name == *-rt-amd64 ]] && continue
    has_version "$package" "$version" && has_version "linux-image-$name" "$version" || continue
    release=$name
    break 2
  done
done
[ -n "$release" ] || fail "no kernel image of the version of linux-source-$series is in the package archive"

work=$cache/kernel/.partial.$$
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/debs" "$work/image" "$work/modules"
depends=$(apt-cache "${apt_options[@]}" show "linux-headers-$release=$version" | sed -n 's/^Depends: //p' | sed -n 1p)
companions=$(tr ',' '\n' <<<"$depends" | awk '/linux-headers-.*common|linux-kbuild/ { print $1 }')
wanted=("linux-image-$release=$version" "linux-headers-$release=$version" "linux-source-$series=$version")
for package in $companions; do wanted+=("$package=$version"); done
say "downloading the kernel $release ($version)"
(cd "$work/debs" && apt-get "${apt_options[@]}" download "${wanted[@]}") >"$work/apt.log" 2>&1 ||
  fail "apt-get download failed: $(grep -m 1 '^E:' "$work/apt.log" || tail -n 1 "$work/apt.log")"

say "unpacking"
dpkg-deb -x "$work"/debs/linux-image-*.deb "$work/image"
for deb in "$work"/debs/linux-headers-*.deb "$work"/debs/linux-kbuild-*.deb; do dpkg-deb -x "$deb" "$work/headers"; done
# checkpatch.pl is for modules of our own; no package of headers has it.
tree=linux-source-$series siw=drivers/infiniband/sw/siw
dpkg-deb --fsys-tarfile "$work"/debs/linux-source-*.deb | tar -xO "./usr/src/$tree.tar.xz" | xz -dc -T0 |
  tar -x -C "$work" --strip-components=1 "$tree/$siw" "$tree"/scripts/{checkpatch.pl,spelling.txt,const_structs.checkpatch}
[ -f "$work/$siw/siw_main.c" ] || fail "$tree has no $siw"
mv "$work/$siw" "$work/siw"
rm -r "$work/drivers"

cp "$work/image/boot/vmlinuz-$release" "$work/vmlinuz"
cp "$work/image/boot/config-$release" "$work/config"
"$(dirname "$(readlink -f "$0")")/unpack_vmlinux.sh" "$work/vmlinuz" "$work/vmlinux" || rm -f "$work/vmlinux"

# The modules that the guest loads, flattened, and the order in which they must be loaded.
[ -d "$work/image/lib" ] && base=$work/image || base=$work/image/usr
depmod -b "$base" "$release"
for module in virtio_pci virtio_net virtio_console crc32c_generic libcrc32c configfs ib_core iw_cm ib_cm rdma_cm ib_uverbs rdma_ucm sctp crc32_generic rdma_rxe; do
  modprobe -d "$base" -S "$release" --show-depends "$module" 2>/dev/null | awk '$1 == "insmod" { print $2 }'
done | awk '!seen[$0]++' >"$work/load_order"
for module in $(cat "$work/load_order"); do
  case "$module" in
    *.xz) xz -dc "$module" >"$work/modules/$(basename "$module" .xz)" ;;
    *) cp "$module" "$work/modules/" ;;
  esac
done
[ -f "$work/modules/ib_core.ko" ] || fail "linux-image-$release has no InfiniBand core modules"
sed -i 's|.*/||; s|\.xz$||' "$work/load_order"

# The headers' Makefile names /usr/src, where nothing is installed.
headers=$cache/kernel/$version/headers/usr/src/linux-headers-$release
sed -i "s|/usr/src/|$cache/kernel/$version/headers/usr/src/|" "$work/headers/usr/src/linux-headers-$release/Makefile"
printf 'release=%s\nversion=%s\nheaders=%s\n' "$release" "$version" "$headers" >"$work/complete"
rm -rf "$work/debs" "$work/image"
rm -rf "$cache/kernel/$version"
mv "$work" "$cache/kernel/$version"
trap - EXIT
echo "$cache/kernel/$version"
