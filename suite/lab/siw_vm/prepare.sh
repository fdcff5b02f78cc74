#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# All that a boot of the siw guest needs: kernel, siw and file system, made or found in the cache.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: prepare.sh --daemon PROGRAM [--program PROGRAM]... [--file PATH]... [--root FOLDER] [--module-script SCRIPT]...
                  [--cache DIR] [--series 6.1] [--kernel-source TREE [--kernel-checks] [--kernel-drivers] |
                  --kernel BZIMAGE --modules DIR]

Prints where the guest's parts are, as release=, version=, drivers=, kernel= and initramfs= lines. The first time it downloads
about 225 MB of Debian packages (nothing is installed) and compiles siw, half a minute altogether; later it takes
well under a second. SCRIPT builds modules for a kernel folder and prints their paths; the guest loads them at boot.
TREE is a Linux source tree, of which the kernel is built instead of downloaded: see build_kernel.sh. BZIMAGE is a kernel that
is built already, and DIR has its modules: see adopt_kernel.sh.
The cache is ${XDG_CACHE_HOME:-~/.cache}/rnic-suite/siw-vm unless --cache says otherwise.

example: prepare.sh --daemon build/dev/suite/lab/rnic-guestd --program build/dev/suite/upper_tester/rnic-agent
exit: 0 done, 1 something failed (the last line says what), 2 usage
USAGE
}

cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/rnic-suite/siw-vm pack=() series=6.1 scripts=() tree= built=() image= modules=
while [ $# -gt 0 ]; do
  case "$1" in
    --cache) cache=${2:?--cache needs a folder}; shift ;;
    --series) series=${2:?--series needs a number such as 6.1}; shift ;;
    --kernel-source) tree=${2:?--kernel-source needs a folder}; shift ;;
    --kernel) image=${2:?--kernel needs a bzImage}; shift ;;
    --modules) modules=${2:?--modules needs a folder}; shift ;;
    --kernel-checks) built+=(--checks) ;;
    --kernel-drivers) built+=(--drivers) ;;
    --module-script) scripts+=("${2:?--module-script needs a script}"); shift ;;
    --daemon | --program | --file | --root) pack+=("$1" "${2:?$1 needs a path}"); shift ;;
    --help | -h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done
here=$(dirname "$(readlink -f "$0")")
mkdir -p "$cache"
# One at a time per cache: two runs that start together shall not both download.
exec 9>"$cache/lock"
flock 9
if [ -n "$image" ]; then
  kernel=$("$here/adopt_kernel.sh" "$image" "$modules" "$cache")
  [ ${#scripts[@]} -eq 0 ] || grep -q '^headers=.' "$kernel/complete" ||
    { echo "prepare.sh: the suite's own modules are compiled for the kernel: $modules has no 'build' to do that with" >&2; exit 1; }
else
  if [ -n "$tree" ]; then
    kernel=$("$here/build_kernel.sh" "${built[@]}" "$tree" "$cache")
  else
    kernel=$("$here/fetch_kernel.sh" --series "$series" "$cache")
  fi
  "$here/build_siw.sh" "$kernel"
fi
for script in "${scripts[@]}"; do
  made=$("$script" "$kernel")
  while read -r module; do pack+=(--module "$module"); done <<<"$made"
done
initramfs=$("$here/make_initramfs.sh" "${pack[@]}" "$kernel" "$cache")
grep -E '^(release|version|drivers)=' "$kernel/complete"
if [ -f "$kernel/vmlinux" ]; then echo "kernel=$kernel/vmlinux"; else echo "kernel=$kernel/vmlinuz"; fi
echo "initramfs=$initramfs"
