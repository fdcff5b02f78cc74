#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Builds rnic_kagent.ko for a kernel of the siw guest, in its cache.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: build.sh [--check] KERNEL_FOLDER

KERNEL_FOLDER is what suite/lab/siw_vm/fetch_kernel.sh printed. Prints the module's path there, named by the hash of its
sources; what exists is used again. With --check, sparse reads the sources too, and what it says is a failure.
For the kernel of a DUT: `make -C suite/upper_tester/kernel`, see docs/kernel.md.

example: build.sh ~/.cache/rnic-suite/siw-vm/kernel/6.1.192-2
exit: 0 done, 1 the build failed (its log is named), 2 usage
USAGE
}

fail() { echo "build.sh: $*" >&2; exit 1; }
check=
[ "${1:-}" != --check ] || { check=yes; shift; }
case "${1:---help}" in
  --help | -h) usage; [ $# -gt 0 ] && exit 0 || exit 2 ;;
  -*) usage >&2; exit 2 ;;
esac
here=$(dirname "$(readlink -f "$0")")
[ -f "$1/complete" ] || fail "$1 is not a complete kernel folder; run suite/lab/siw_vm/fetch_kernel.sh"
folder=$(cd "$1" && pwd)
headers=$(sed -n 's/^headers=//p' "$folder/complete")
for tool in make gcc-12 ld strip ${check:+sparse}; do
  command -v "$tool" >/dev/null || fail "'$tool' is missing: install make, gcc-12, binutils and, for --check, sparse"
done

sources=("$here"/*.c "$here"/*.h "$here/Kbuild")
hash=$(cat "${sources[@]}" | sha256sum | cut -c1-16)
module=$folder/rnic_kagent-$hash.ko
if [ ! -f "$module" ] || [ -n "$check" ]; then
  echo "siw-vm: compiling rnic_kagent" >&2
  work=$folder/.kagent.$$
  log=$folder/rnic_kagent.log
  trap 'rm -rf "$work"' EXIT
  mkdir "$work"
  cp "${sources[@]}" "$work"
  # Without the type information for BPF, as siw is built. C=2 reads every source by sparse.
  make -C "$headers" M="$work" CONFIG_DEBUG_INFO_BTF_MODULES= ${check:+C=2 CHECK=sparse} -j"$(nproc)" modules >"$log" 2>&1 ||
    { tail -n 5 "$log" >&2; fail "compiling rnic_kagent failed; the whole log is $log"; }
  if grep -E "^$work/.*: (warning|error|note)" "$log" >&2; then fail "the compiler or sparse complains; the whole log is $log"; fi
  strip --strip-debug "$work/rnic_kagent.ko"
  mv "$work/rnic_kagent.ko" "$module"
fi
echo "$module"
