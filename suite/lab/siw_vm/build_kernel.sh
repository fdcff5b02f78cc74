#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Builds a small kernel for the siw guest from a source tree of one's own, and keeps it in the cache.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: build_kernel.sh [--checks] [--drivers] SOURCE CACHE

SOURCE is a Linux source tree in which nothing was built (a `git worktree` of yours will do); it is not written to. The kernel has
what the guest needs and no more. Makes CACHE/built/KEY, of the same form as what fetch_kernel.sh makes, and prints that folder. KEY stands
for the state of the tree, the configuration and the compiler: a kernel that is there already is used again. After a change
only what it touches is compiled.
  --checks   with KASAN, lockdep, kmemleak and more that finds errors of memory and locking: about half as fast
  --drivers  compiles the drivers of iWARP hardware too (cxgb4, irdma), as far as the tree has them, and names their modules
             in CACHE/built/KEY/complete; the guest does not load them

The first time takes about 5 minutes on four processors.

example: build_kernel.sh ~/linux ~/.cache/rnic-suite/siw-vm
exit: 0 done, 1 something failed (the last line says what), 2 usage
USAGE
}

fail() { echo "build_kernel.sh: $*" >&2; exit 1; }
say() { echo "siw-vm: $*" >&2; }

checks=no drivers=no positional=()
while [ $# -gt 0 ]; do
  case "$1" in
    --checks) checks=yes ;;
    --drivers) drivers=yes ;;
    --help | -h) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) positional+=("$1") ;;
  esac
  shift
done
[ ${#positional[@]} = 2 ] || { usage >&2; exit 2; }
source=${positional[0]} cache=${positional[1]}
[ -f "$source/Kconfig" ] && [ -f "$source/drivers/infiniband/sw/siw/siw_main.c" ] || fail "'$source' is no Linux source tree with siw"
source=$(cd "$source" && pwd)
[ ! -f "$source/.config" ] && [ ! -d "$source/include/config" ] ||
  fail "something was built in $source: run 'make mrproper' there, or give a clean tree (git -C $source worktree add ../clean)"
for tool in make gcc-12 ld flex bison bc xz gzip; do
  command -v "$tool" >/dev/null || fail "'$tool' is missing: tools/install_packages.sh siw installs it"
done
here=$(dirname "$(readlink -f "$0")")
mkdir -p "$cache/built"
cache=$(cd "$cache" && pwd)

# ---- the key ----
# Of a git tree the commit and all that differs from it, else size and time of each file.
state_of_tree() {
  if git -C "$source" rev-parse --verify HEAD 2>/dev/null; then
    git -C "$source" diff HEAD
    git -C "$source" ls-files --others --exclude-standard -z | (cd "$source" && xargs -0 -r sha256sum)
  else
    find "$source" -type f -printf '%P %s %T@\n' | sort
  fi
}
configs=("$here/kernel.config")
[ "$checks" = no ] || configs+=("$here/kernel_checks.config")
[ "$drivers" = no ] || configs+=("$here/kernel_drivers.config")
key=$({ state_of_tree; cat "${configs[@]}" "$(readlink -f "$0")"; gcc-12 --version; } | sha256sum | cut -c1-16)
folder=$cache/built/$key
if [ -f "$folder/complete" ]; then
  touch "$folder"
  echo "$folder"
  exit 0
fi

# ---- the build ----
# One folder for objects per tree and configuration, so that make compiles only what has changed.
objects=$cache/objects/$(printf '%s %s %s' "$source" "$checks" "$drivers" | sha256sum | cut -c1-16)
mkdir -p "$objects"
log=$objects/build.log
kbuild() { make -C "$source" O="$objects" CC=gcc-12 HOSTCC=gcc-12 KBUILD_BUILD_USER=rnic KBUILD_BUILD_HOST=suite "$@"; }
configure() {
  kbuild tinyconfig && cat "${configs[@]}" >>"$objects/.config" && kbuild olddefconfig
}
configure >"$log" 2>&1 || { tail -n 5 "$log" >&2; fail "the kernel cannot be configured; the whole log is $log"; }
for option in $(sed -n 's/^\(CONFIG_[A-Z0-9_]*\)=y$/\1/p' "${configs[@]}"); do
  grep -qx "$option=y" "$objects/.config" || echo "not in this kernel: $option" >>"$log"
done
if [ "$drivers" = yes ]; then
  for option in $(sed -n 's/^\(CONFIG_[A-Z0-9_]*\)=m$/\1/p' "$here/kernel_drivers.config"); do
    grep -qx "$option=m" "$objects/.config" || say "this tree has no $option"
  done
fi
for option in CONFIG_KASAN CONFIG_PROVE_LOCKING CONFIG_DEBUG_KMEMLEAK; do
  [ "$checks" = no ] || grep -qx "$option=y" "$objects/.config" || fail "this tree has no $option for this machine; leave out --checks"
done
say "building a kernel of $source"
# make names each file; a line for every hundred shows that it lives.
if ! kbuild -j"$(nproc)" bzImage modules 2>&1 | tee -a "$log" |
  awk '/^  (CC|LD|AR)/ && ++files % 100 == 0 { print "siw-vm: " files " files compiled" > "/dev/stderr" }'; then
  grep -m 5 -E 'error:|Error ' "$log" >&2 || tail -n 5 "$log" >&2
  fail "the kernel does not compile; the whole log is $log"
fi

# ---- what the guest takes ----
work=$cache/built/.partial.$$
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/modules" "$work/headers/arch/x86" "$work/headers/tools"
cp "$objects/.config" "$work/config"
cp "$objects/arch/x86/boot/bzImage" "$work/vmlinuz"
# With KASAN a kernel does not survive the start without its own loader.
[ "$checks" = yes ] || "$here/unpack_vmlinux.sh" "$work/vmlinuz" "$work/vmlinux" || rm -f "$work/vmlinux"
cp -r "$source/drivers/infiniband/sw/siw" "$work/siw"
: >"$work/load_order"  # all is built in
# What modules are compiled against: the rest is in the source tree.
cp -r "$objects"/{Makefile,.config,Module.symvers,include,scripts,source} "$work/headers/"
cp -r "$objects/arch/x86/include" "$work/headers/arch/x86/"
[ ! -d "$objects/tools/objtool" ] || cp -r "$objects/tools/objtool" "$work/headers/tools/"
release=$(cat "$objects/include/config/kernel.release")
version=$(git -C "$source" describe --always --dirty 2>/dev/null || echo "$key")
made=
[ "$drivers" = no ] || made=$(find "$objects/drivers" -name '*.ko' -printf '%f\n' | sort | sed 's/\.ko$//' | paste -sd' ')
printf 'release=%s\nversion=%s\nheaders=%s\ndrivers=%s\n' "$release" "$version" "$folder/headers" "$made" >"$work/complete"
mv "$work" "$folder"
trap - EXIT
"$here/keep_newest.sh" 8 "$cache"/built/*/
echo "$folder"
