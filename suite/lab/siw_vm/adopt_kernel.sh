#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Takes a kernel that somebody has built, with its modules, into the cache for the siw guest.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: adopt_kernel.sh BZIMAGE MODULES CACHE

MODULES is what `make modules_install INSTALL_MOD_PATH=MODULES` has made, or lib/modules/RELEASE in it. Neither is written to.
siw must be a module of it; virtio (PCI, net, console), the InfiniBand core and all else that the guest needs may be modules or
built in. Makes CACHE/adopted/KEY, of the same form as what fetch_kernel.sh makes, and prints that folder. KEY stands for both
parts.
If MODULES has `build`, with which modules can be compiled, and the sources of siw are there or in `source`, siw is also made
tunable. Otherwise it is used as it is, and what has to configure it is not applicable.

example: adopt_kernel.sh ~/linux/arch/x86/boot/bzImage ~/installed ~/.cache/rnic-suite/siw-vm
exit: 0 done, 1 something is missing (the last line says what), 2 usage
USAGE
}

fail() { echo "adopt_kernel.sh: $*" >&2; exit 1; }
case "${1:-}" in --help | -h) usage; exit 0 ;; esac
[ $# = 3 ] || { usage >&2; exit 2; }
image=$1 modules=$2 cache=$3
PATH=$PATH:/usr/sbin:/sbin
here=$(dirname "$(readlink -f "$0")")
for tool in depmod modprobe od xz zstd gzip; do
  command -v "$tool" >/dev/null || fail "'$tool' is missing: tools/install_packages.sh siw installs it"
done

# ---- are they a pair? ----
# The boot protocol's header has a mark, and says where the release stands (Documentation/arch/x86/boot.rst).
[ -f "$image" ] || fail "there is no file '$image'"
[ "$(od -An -c -j 514 -N 4 "$image" 2>/dev/null | tr -d ' ')" = HdrS ] || fail "'$image' is no bzImage of x86: arch/x86/boot/bzImage of a build is one"
at=$(($(od -An -tu2 -j 526 -N 2 "$image") + 512))
release=$(dd if="$image" bs=1 skip="$at" count=200 2>/dev/null | tr '\0' '\n' | sed -n '1s/ .*//p')
[ -n "$release" ] || fail "'$image' does not say its release"
for folder in "$modules" "$modules/lib/modules/$release"; do
  [ ! -f "$folder/modules.builtin" ] || [ ! -d "$folder/kernel" ] || break
done
[ -f "$folder/modules.builtin" ] && [ -d "$folder/kernel" ] ||
  fail "'$modules' has no modules of $release, the release of the kernel: make modules_install INSTALL_MOD_PATH=$modules"
[ "$(basename "$(readlink -f "$folder")")" = "$release" ] ||
  fail "the kernel is $release, and the modules are those of $(basename "$(readlink -f "$folder")"): give the folder lib/modules/$release"
mkdir -p "$cache/adopted"
cache=$(cd "$cache" && pwd)

key=$({ sha256sum <"$image"; find "$folder" -name '*.ko*' -printf '%P %s %T@\n' | sort; readlink -f "$folder/build"; cat "$here/build_siw.sh" \
  "$(readlink -f "$0")"; } | sha256sum | cut -c1-16)
made=$cache/adopted/$key
if [ -f "$made/complete" ]; then
  touch "$made"
  echo "$made"
  exit 0
fi

# ---- what the guest takes ----
work=$cache/adopted/.partial.$$
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/modules" "$work/tree/lib/modules"
# depmod writes beside the modules: links to these serve.
cp -rs "$(readlink -f "$folder")" "$work/tree/lib/modules/$release"
rm -f "$work/tree/lib/modules/$release"/{build,source,modules.dep*,modules.alias*,modules.symbols*,modules.builtin.bin,modules.builtin.alias.bin,modules.softdep,modules.devname}
depmod -b "$work/tree" "$release" 2>"$work/depmod.log" || fail "depmod: $(tail -n 1 "$work/depmod.log")"

# Lines "insmod PATH" or "builtin NAME"; a failure if there is no such module.
needs() { modprobe -d "$work/tree" -S "$release" --show-depends "$1" 2>/dev/null; }
missing=()
while read -r module option; do
  needs "$module" >>"$work/needed" || missing+=("$module ($option)")
done <<'LIST'
virtio_pci CONFIG_VIRTIO_PCI
virtio_net CONFIG_VIRTIO_NET
virtio_console CONFIG_VIRTIO_CONSOLE
ib_core CONFIG_INFINIBAND
iw_cm CONFIG_INFINIBAND_ADDR_TRANS
rdma_cm CONFIG_INFINIBAND_ADDR_TRANS
ib_uverbs CONFIG_INFINIBAND_USER_ACCESS
rdma_ucm CONFIG_INFINIBAND_USER_ACCESS
siw CONFIG_RDMA_SIW
LIST
[ ${#missing[@]} = 0 ] || fail "this kernel has no $(printf '%s, ' "${missing[@]}" | sed 's/, $//'): configure it (siw as a module) and build again"
grep -qx 'builtin siw' "$work/needed" && fail "siw is built in, and is loaded anew in the guest: set CONFIG_RDMA_SIW=m and build again"
for optional in sctp crc32c_generic crc32_generic rdma_rxe; do needs "$optional" >>"$work/needed" || true; done

# siw itself is loaded after all others, by guest/siw-variant.
unpacked() {
  case "$1" in
    *.xz) xz -dc "$1" ;;
    *.zst) zstd -qdc "$1" ;;
    *.gz) gzip -dc "$1" ;;
    *) cat "$1" ;;
  esac
}
: >"$work/load_order"
while read -r path; do
  name=$(basename "$path") name=${name%%.ko*}.ko
  place=modules/$name
  [ "$name" != siw.ko ] || place=siw-plain.ko
  unpacked "$path" >"$work/$place"
  [ "$name" = siw.ko ] || echo "$name" >>"$work/load_order"
done < <(awk '$1 == "insmod" && !seen[$2]++ { print $2 }' "$work/needed")
cp "$image" "$work/vmlinuz"
# Unpacked it starts faster; KASAN does not survive the start without the kernel's own loader.
grep -qs kasan_init "$folder/build/System.map" || "$here/unpack_vmlinux.sh" "$work/vmlinuz" "$work/vmlinux" || rm -f "$work/vmlinux"
headers=
[ ! -f "$folder/build/Makefile" ] || headers=$(readlink -f "$folder/build")
built=$headers/arch/x86/boot/bzImage
if [ -n "$headers" ] && [ -f "$built" ] && ! cmp -s "$built" "$image"; then
  echo "siw-vm: another kernel has been built in $headers since: no module is compiled there" >&2
  headers=
fi
printf 'release=%s\nversion=%s\nheaders=%s\n' "$release" "$key" "$headers" >"$work/complete"
rm -rf "$work/tree" "$work/needed" "$work/depmod.log"

# ---- siw, tunable ----
for source in "$folder/build" "$folder/build/source" "$folder/source"; do
  [ ! -f "$source/drivers/infiniband/sw/siw/siw_main.c" ] || break
done
if [ -n "$headers" ] && [ -f "$source/drivers/infiniband/sw/siw/siw_main.c" ]; then
  mkdir "$work/siw"
  cp "$source"/drivers/infiniband/sw/siw/{*.[ch],Makefile} "$work/siw/"
  "$here/build_siw.sh" "$work" || echo "siw-vm: siw cannot be made tunable: what has to configure it is not applicable" >&2
else
  echo "siw-vm: $folder has no 'build' with the sources of siw: what has to configure it is not applicable" >&2
fi
rm -rf "$made"
mv "$work" "$made"
trap - EXIT
"$here/keep_newest.sh" 8 "$cache"/adopted/*/
echo "$made"
