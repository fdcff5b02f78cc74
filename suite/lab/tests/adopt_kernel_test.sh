#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# adopt_kernel.sh on kernels that are none: files of the same form, whose modules have nothing but their names and dependencies.
# adopt_kernel_test.sh COMPILER
set -euo pipefail

adopt=$(dirname "$(readlink -f "$0")")/../siw_vm/adopt_kernel.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "adopt_kernel_test: $*" >&2; exit 1; }

release=6.99.0-test
{
  head -c 514 /dev/zero
  printf 'HdrS\0\0\0\0\0\0\0\0\0\1'  # the release is 256 octets after the first 512
  head -c 240 /dev/zero
  printf '%s (me@here) #1\0' "$release"
  head -c 4096 /dev/zero
} >bzImage

# module NAME [DEPENDENCY]: a dependency is a symbol that it uses.
folder=installed/lib/modules/$release
mkdir -p "$folder/kernel"
module() {
  {
    printf 'static const char name[] __attribute__((section(".modinfo"), used)) = "name=%s";\n' "$1"
    printf 'int %s_symbol(void) { return 0; }\nint __ksymtab_%s_symbol __attribute__((section("__ksymtab_strings")));\n' "$1" "$1"
    [ $# = 1 ] || printf 'int %s_symbol(void);\nint use_of_%s(void) { return %s_symbol(); }\n' "$2" "$2" "$2"
  } | "$compiler" -x c -c -o "$folder/kernel/$1.ko" -
}
compiler=${1:-gcc}
for name in virtio_pci virtio_console ib_core rdma_ucm; do module "$name"; done
module iw_cm ib_core
module rdma_cm iw_cm
module ib_uverbs ib_core
module siw ib_core
xz "$folder/kernel/ib_core.ko"
printf 'kernel/drivers/net/virtio_net.ko\n' >"$folder/modules.builtin"
touch "$folder/modules.order"

refused() {
  local text=$1 said
  shift
  if said=$("$adopt" "$@" 2>&1 >/dev/null); then fail "it does not refuse: $text"; fi
  [ "$(wc -l <<<"$said")" = 1 ] && grep -qF -- "$text" <<<"$said" || fail "it says '$said', not '$text'"
}

made=$("$adopt" bzImage installed cache 2>said)
grep -qF "what has to configure it is not applicable" said || fail "it does not say that siw is not tunable"
grep -qx "release=$release" "$made/complete" || fail "another release: $(cat "$made/complete")"
cmp -s "$made/siw-plain.ko" "$folder/kernel/siw.ko" || fail "siw is not what was built"
[ ! -e "$made/siw-tunable.ko" ] || fail "it has made a tunable siw of nothing"
order=$(tr '\n' ' ' <"$made/load_order")
[ "$order" = "virtio_pci.ko virtio_console.ko ib_core.ko iw_cm.ko rdma_cm.ko ib_uverbs.ko rdma_ucm.ko " ] || fail "it loads $order"
[ "$(head -c 4 "$made/modules/ib_core.ko" | tail -c 3)" = ELF ] || fail "a compressed module is not unpacked"
[ "$("$adopt" bzImage "$folder" cache)" = "$made" ] || fail "it is made again, though it is there"

refused "no bzImage of x86" said installed cache
refused "there is no file" absent installed cache
refused "has no modules of $release" bzImage cache cache
mv "$folder" installed/lib/modules/6.98.0
refused "the modules are those of 6.98.0" bzImage installed/lib/modules/6.98.0 cache
mv installed/lib/modules/6.98.0 "$folder"
mv "$folder/kernel/siw.ko" .
rm "$folder/kernel/virtio_console.ko"
refused "no virtio_console (CONFIG_VIRTIO_CONSOLE), siw (CONFIG_RDMA_SIW)" bzImage installed cache
module virtio_console
printf 'kernel/drivers/infiniband/sw/siw/siw.ko\n' >>"$folder/modules.builtin"
refused "siw is built in" bzImage installed cache
echo "adopt_kernel_test: passed"
