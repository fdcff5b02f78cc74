#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Builds rnic_kagent.ko for a kernel of the siw guest, in its cache.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: build.sh [--check] KERNEL_FOLDER

KERNEL_FOLDER is what suite/lab/siw_vm/fetch_kernel.sh printed. Prints the module's path there. With --check, sparse and checkpatch.pl read the sources
too, and what they say is a failure. For the kernel of a DUT: `make -C suite/upper_tester/kernel`, see docs/kernel.md.

example: build.sh ~/.cache/rnic-suite/siw-vm/kernel/6.1.192-2
exit: 0 done, 1 the build failed (its log is named), 2 usage
USAGE
}

check=()
[ "${1:-}" != --check ] || { check=(--check); shift; }
case "${1:---help}" in
  --help | -h) usage; [ $# -gt 0 ] && exit 0 || exit 2 ;;
  -*) usage >&2; exit 2 ;;
esac
here=$(dirname "$(readlink -f "$0")")
exec "$here/../../lab/siw_vm/build_module.sh" "${check[@]}" "$1" "$here" rnic_kagent
