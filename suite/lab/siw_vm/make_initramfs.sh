#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Packs the guest's whole file system: busybox, the kernel modules, siw, rdma-core, and the programs to run there.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: make_initramfs.sh --daemon PROGRAM [--program PROGRAM]... [--file PATH]... [--module FILE]... [--root FOLDER]
                         KERNEL_FOLDER CACHE

KERNEL_FOLDER is what fetch_kernel.sh printed and build_siw.sh has worked on, or what adopt_kernel.sh printed. PROGRAM is what init starts as process 1
(rnic-guestd). Each further program goes to /bin with the libraries it is linked with, each --file to its own path. init loads
each --module. What is in the --root folder is laid over all that; init then starts its /etc/rnic/start.
Prints the path of the archive in CACHE, named by the hash of all that is in it; what exists is used again.

example: make_initramfs.sh --daemon build/dev/suite/lab/rnic-guestd --program build/dev/suite/upper_tester/rnic-agent \
           ~/.cache/rnic-suite/siw-vm/kernel/6.1.192-2 ~/.cache/rnic-suite/siw-vm
exit: 0 done, 1 something is missing (the last line says what), 2 usage
USAGE
}

fail() { echo "make_initramfs.sh: $*" >&2; exit 1; }
daemon= programs=() plain_files=() more_modules=() root= positional=()
while [ $# -gt 0 ]; do
  case "$1" in
    --daemon) daemon=${2:?--daemon needs a program}; shift ;;
    --program) programs+=("${2:?--program needs a program}"); shift ;;
    --file) plain_files+=("${2:?--file needs a path}"); shift ;;
    --module) more_modules+=("${2:?--module needs a file}"); shift ;;
    --root) root=${2:?--root needs a folder}; shift ;;
    --help | -h) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) positional+=("$1") ;;
  esac
  shift
done
[ -n "$daemon" ] && [ ${#positional[@]} = 2 ] || { usage >&2; exit 2; }
kernel=${positional[0]} cache=${positional[1]}
here=$(dirname "$(readlink -f "$0")")
PATH=$PATH:/usr/sbin:/sbin
[ -f "$kernel/siw-plain.ko" ] || fail "$kernel has no siw-plain.ko; run build_siw.sh first"

# What of the host's own programs the guest uses. The optional ones serve people who look around in it.
host_program() { command -v "$1" || fail "'$1' is missing: install the package $2"; }
busybox=$(host_program busybox busybox-static)
[ -z "$(ldd "$busybox" 2>/dev/null | grep '=>')" ] || fail "$busybox is not static: install the package busybox-static"
own=("$(host_program rdma iproute2)" "$(host_program ip iproute2)" "$(host_program ethtool ethtool)")
for optional in rping ibv_devices ibv_devinfo ucmatose strace; do
  found=$(command -v "$optional") && own+=("$found")
done
provider=$(ls /usr/lib/*/libibverbs/libsiw-rdmav*.so 2>/dev/null | sed -n 1p)
[ -n "$provider" ] || fail "rdma-core's siw provider is missing: install the package ibverbs-providers"
libraries=("$provider")
# Of the other device, for those that want it.
other=$(ls /usr/lib/*/libibverbs/librxe-rdmav*.so 2>/dev/null | sed -n 1p)
[ -z "$other" ] || libraries+=("$other")
for pattern in libibverbs.so.1 librdmacm.so.1 libgcc_s.so.1 libdat2.so.2 libdaplofa.so.2; do
  found=$(ldconfig -p | awk -v name="$pattern" '$1 == name && /x86-64/ && !found++ { print $NF }')
  [ -z "$found" ] || libraries+=("$found")
done

# ldd prints "NAME => PATH (ADDRESS)" or, for the dynamic linker, "PATH (ADDRESS)".
closure() { { ldd "$@" 2>/dev/null || true; } | awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\// && $2 ~ /^\(/ { print $1 }'; }
for program in "$daemon" "${programs[@]}"; do [ -x "$program" ] || fail "'$program' is no program"; done
missing=$({ ldd "$daemon" "${programs[@]}" 2>/dev/null || true; } | awk '/not found/ { print $1 }' | sort -u | tr '\n' ' ')
[ -z "$missing" ] || fail "these libraries of the programs are not found: $missing"
mapfile -t needed < <(closure "${own[@]}" "$daemon" "${programs[@]}" "${libraries[@]}" | sort -u)

# name in the guest <tab> file on the host
list() {
  printf 'init\t%s\n' "$here/guest/init"
  printf 'bin/%s\t%s\n' siw-variant "$here/guest/siw-variant" siw-configure "$here/guest/siw-configure" siw-leaks "$here/guest/siw-leaks" busybox "$busybox"
  printf 'sbin/rnic-guestd\t%s\n' "$daemon"
  printf 'lib/siw/plain/siw.ko\t%s\n' "$kernel/siw-plain.ko"
  # A kernel that was built elsewhere may have only the other one.
  [ ! -f "$kernel/siw-tunable.ko" ] || printf 'lib/siw/tunable/siw.ko\t%s\n' "$kernel/siw-tunable.ko"
  printf 'lib/siw/load_order\t%s\n' "$kernel/load_order"
  # A kernel of a source tree has all of them built in.
  find "$kernel/modules" -name '*.ko' -printf 'lib/siw/modules/%f\t%p\n'
  for module in "${more_modules[@]}"; do printf 'lib/siw/more/%s\t%s\n' "${module##*/}" "$module"; done
  for program in "${own[@]}" "${programs[@]}"; do printf 'bin/%s\t%s\n' "${program##*/}" "$program"; done
  for file in "${needed[@]}" "${libraries[@]}" "${plain_files[@]}"; do printf '%s\t%s\n' "${file#/}" "$file"; done
}
inventory=$(list | sort -u)
everything=$(echo "$inventory"; [ -z "$root" ] || find "$root" -type f -printf '%P\t%p\n' | sort)
hash=$(cut -f2 <<<"$everything" | tr '\n' '\0' | xargs -0 sha256sum | cut -d' ' -f1 | paste - <(cut -f1 <<<"$everything") |
  cat - "$(readlink -f "$0")" | sha256sum | cut -c1-16)
mkdir -p "$cache/initramfs"
archive=$cache/initramfs/$hash.cpio
if [ ! -f "$archive" ]; then
  echo "siw-vm: packing the guest's file system" >&2
  work=$cache/initramfs/.partial.$$
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work"/root/{bin,sbin,dev,proc,sys,run,tmp,etc/libibverbs.d,lib,lib64,usr}
  ln -s ../lib "$work/root/usr/lib"
  ln -s ../bin "$work/root/usr/bin"
  while IFS=$'\t' read -r name file; do
    name=${name#usr/}
    mkdir -p "$work/root/$(dirname "$name")"
    cp -L "$file" "$work/root/$name"
  done <<<"$inventory"
  for device in siw rxe; do
    echo "driver $device" >"$work/root/etc/libibverbs.d/$device.driver"
    echo "ofa-v2-$device"' u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "eth0 0" ""' >>"$work/root/etc/dat.conf"
  done
  [ -z "$root" ] || cp -a "$root/." "$work/root/"
  chmod 755 "$work"/root/init "$work"/root/bin/*
  (cd "$work/root" && find . -print0 | cpio --null --quiet -o -H newc -R 0:0) >"$work/archive"
  mv "$work/archive" "$archive"
  # The archives of earlier builds are of no use.
  "$(dirname "$(readlink -f "$0")")/keep_newest.sh" 6 "$cache"/initramfs/*.cpio
fi
touch "$archive"
echo "$archive"
