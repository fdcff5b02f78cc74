#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Builds modules of ours for a kernel of the siw guest, in its cache.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: build_module.sh [--check] KERNEL_FOLDER FOLDER MODULE...

KERNEL_FOLDER is what fetch_kernel.sh printed. FOLDER has the sources and a Kbuild that makes each MODULE.ko, the first by its place there.
Prints the path of each in KERNEL_FOLDER, named by the hash of all sources; what exists is used again. With --check, sparse and that
kernel's checkpatch.pl read the sources too, and what they say is a failure.

example: build_module.sh ~/.cache/rnic-suite/siw-vm/kernel/6.1.192-2 suite/upper_tester/kernel rnic_kagent
exit: 0 done, 1 the build failed (its log is named), 2 usage
USAGE
}

fail() { echo "build_module.sh: $*" >&2; exit 1; }
check=
[ "${1:-}" != --check ] || { check=yes; shift; }
case "${1:---help}" in
  --help | -h) usage; [ $# -gt 0 ] && exit 0 || exit 2 ;;
  -*) usage >&2; exit 2 ;;
esac
[ $# -ge 3 ] || { usage >&2; exit 2; }
[ -f "$1/complete" ] || fail "$1 is not a complete kernel folder; run suite/lab/siw_vm/fetch_kernel.sh"
folder=$(cd "$1" && pwd) sources=$2
shift 2
headers=$(sed -n 's/^headers=//p' "$folder/complete")
for tool in make gcc-12 ld strip ${check:+sparse perl}; do
  command -v "$tool" >/dev/null || fail "'$tool' is missing: install make, gcc-12, binutils and, for --check, sparse and perl"
done

# DAT has typedefs, which checkpatch.pl has to be told of: the longer first, of two that begin alike.
check_style() {
  local types=$1
  find "$sources" -name '*.h' -exec sed -nE 's/^(typedef .*[ *]|\} )(DAT_[A-Z0-9_]+).*/\2/p' {} + | sort -ru >"$types"
  find "$sources" -name '*.[ch]' -exec perl "$folder/scripts/checkpatch.pl" --no-tree --quiet --terse --ignore NEW_TYPEDEFS \
    --typedefsfile "$types" --file {} + >&2 || fail "checkpatch.pl complains"
}

hash=$(cd "$sources" && find . -name '*.[ch]' -o -name Kbuild | LC_ALL=C sort | xargs cat | sha256sum | cut -c1-16)
complete=yes
for module in "$@"; do [ -f "$folder/$(basename "$module")-$hash.ko" ] || complete=; done
if [ -z "$complete" ] || [ -n "$check" ]; then
  name=$(basename "${!#}")
  echo "siw-vm: compiling $name" >&2
  work=$folder/.$name.$$
  log=$folder/$name.log
  trap 'rm -rf "$work"' EXIT
  cp -r "$sources" "$work"
  [ -z "$check" ] || check_style "$work/types"
  # Without the type information for BPF, as siw is built. C=2 reads every source by sparse.
  make -C "$headers" M="$work" CONFIG_DEBUG_INFO_BTF_MODULES= ${check:+C=2 CHECK=sparse} -j"$(nproc)" modules >"$log" 2>&1 ||
    { tail -n 5 "$log" >&2; fail "compiling $name failed; the whole log is $log"; }
  if grep -E "^$work/.*: (warning|error|note)" "$log" >&2; then fail "the compiler or sparse complains; the whole log is $log"; fi
  for module in "$@"; do
    strip --strip-debug "$work/$module.ko"
    mv "$work/$module.ko" "$folder/$(basename "$module")-$hash.ko"
  done
fi
for module in "$@"; do echo "$folder/$(basename "$module")-$hash.ko"; done
