#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Compiles modules of ours for the kernels of the siw guest, with sparse and checkpatch.pl: none may complain.
# module_build_test.sh SCRIPT: their build.sh
set -euo pipefail

fetch=$(dirname "$(readlink -f "$0")")/../siw_vm/fetch_kernel.sh
cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/rnic-suite/siw-vm
mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
for series in 6.1 6.12; do
  kernel=$("$fetch" --series "$series" "$cache")
  "$1" --check "$kernel"
done
