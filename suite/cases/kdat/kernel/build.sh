#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Builds kdat.ko and rnic_kdat_agent.ko for a kernel of the siw guest, in its cache.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: build.sh [--check] KERNEL_FOLDER
       build.sh --sources FOLDER

KERNEL_FOLDER is what suite/lab/siw_vm/fetch_kernel.sh printed. Prints the modules' paths there, in the order in which they are
loaded. With --check, sparse and checkpatch.pl read the sources too, and what they say is a failure.
With --sources, only puts the sources of both into FOLDER, a new one: `make -C FOLDER` builds them for the running kernel of a DUT.

example: build.sh ~/.cache/rnic-suite/siw-vm/kernel/6.1.192-2
exit: 0 done, 1 the build failed (its log is named), 2 usage
USAGE
}

here=$(dirname "$(readlink -f "$0")")
# Both in one build, so that the second knows the symbols of the first.
gather() {
  mkdir -p "$1/kdat"
  cp "$here"/*.[ch] "$here/Kbuild" "$here/Makefile" "$1"
  cp "$here"/../../../../reference_rnic/kdat/{*.[ch],Kbuild} "$1/kdat"
}
check=()
case "${1:---help}" in
  --help | -h) usage; [ $# -gt 0 ] && exit 0 || exit 2 ;;
  --sources) [ $# -eq 2 ] && [ ! -e "$2" ] || { usage >&2; exit 2; }; gather "$2"; exit 0 ;;
  --check) check=(--check); shift ;;
  -*) usage >&2; exit 2 ;;
esac
[ $# -eq 1 ] || { usage >&2; exit 2; }
sources=$(mktemp -d)
trap 'rm -rf "$sources"' EXIT
gather "$sources"
"$here/../../../lab/siw_vm/build_module.sh" "${check[@]}" "$1" "$sources" kdat/kdat rnic_kdat_agent
