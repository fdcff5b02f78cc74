#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Builds siw.ko twice from the kernel's own source: untouched, and with its constants of connection set-up turned into parameters.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: build_siw.sh KERNEL_FOLDER

KERNEL_FOLDER is what fetch_kernel.sh printed. Makes KERNEL_FOLDER/siw-plain.ko and KERNEL_FOLDER/siw-tunable.ko.
siw decides MPA revision, CRC and peer-to-peer mode by constants; in the tunable module these few are module
parameters of the same default value, and nothing else differs. README.md lists what can be asked for.

example: build_siw.sh "$(./fetch_kernel.sh ~/.cache/rnic-suite/siw-vm)"
exit: 0 done, 1 the build failed (its log is named), 2 usage
USAGE
}

fail() { echo "build_siw.sh: $*" >&2; exit 1; }
case "${1:---help}" in
  --help | -h) usage; [ $# -gt 0 ] && exit 0 || exit 2 ;;
  -*) usage >&2; exit 2 ;;
esac
folder=$(cd "$1" && pwd)
[ -f "$folder/complete" ] || fail "$folder is not a complete kernel folder; run fetch_kernel.sh"
headers=$(sed -n 's/^headers=//p' "$folder/complete")
for tool in make gcc-12 ld strip; do
  command -v "$tool" >/dev/null || fail "'$tool' is missing: install make, gcc-12 and binutils"
done

# Replaces the one line that matches $2 by $3 in file $1; a source without this line is not one that we support.
replace_line() {
  [ "$(grep -cE "^$2\$" "$1")" = 1 ] || fail "this kernel's siw has no line '$2' in $(basename "$1"); its tunable module cannot be made"
  sed -i -E "s~^$2\$~$3~" "$1"
}

make_tunable() {
  for name in mpa_crc_required mpa_crc_strict peer_to_peer; do
    replace_line "$1/siw_main.c" "const bool $name;" "bool $name; module_param($name, bool, 0644);"
    replace_line "$1/siw.h" "extern const bool $name;" "extern bool $name;"
  done
  replace_line "$1/siw_main.c" "u_char mpa_version = MPA_REVISION_2;" \
    "u_char mpa_version = MPA_REVISION_2; module_param(mpa_version, byte, 0644);"
  # In host order for the user: 0x4000 read, 0x8000 write.
  replace_line "$1/siw_cm.c" "static __be16 rtr_type = MPA_V2_RDMA_READ_RTR \\| MPA_V2_RDMA_WRITE_RTR;" \
    "static ushort rtr_offer = 0xc000; module_param(rtr_offer, ushort, 0644);"
  replace_line "$1/siw_cm.c" "[[:space:]]*cep->mpa.v2_ctrl.ord \\|= rtr_type;" "cep->mpa.v2_ctrl.ord |= htons(rtr_offer);"
}

work=$folder/.build.$$
trap 'rm -rf "$work"' EXIT
mkdir "$work"
for kind in plain tunable; do
  [ -f "$folder/siw-$kind.ko" ] && continue
  echo "siw-vm: compiling siw ($kind)" >&2
  cp -r "$folder/siw" "$work/$kind"
  [ "$kind" = plain ] || make_tunable "$work/$kind"
  # Without the type information for BPF, which newer kernels add to a module by a program of the package dwarves.
  if ! make -C "$headers" M="$work/$kind" CONFIG_RDMA_SIW=m CONFIG_DEBUG_INFO_BTF_MODULES= -j"$(nproc)" modules >"$folder/siw-$kind.log" 2>&1; then
    tail -n 5 "$folder/siw-$kind.log" >&2
    fail "compiling siw failed; the whole log is $folder/siw-$kind.log"
  fi
  strip --strip-debug "$work/$kind/siw.ko"
  mv "$work/$kind/siw.ko" "$folder/siw-$kind.ko"
done
