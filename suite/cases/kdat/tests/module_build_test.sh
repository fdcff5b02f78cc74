#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Compiles kdat and rnic_kdat_agent for the kernels of the siw guest, with sparse: neither may complain.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/rnic-suite/siw-vm
mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
for series in 6.1 6.12; do
  kernel=$("$here/../../../lab/siw_vm/fetch_kernel.sh" --series "$series" "$cache")
  "$here/../kernel/build.sh" --check "$kernel"
done
