#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# A gate for a kernel tree, as docs/driver-ci.md has it: the clean tree is green, and its drivers of iWARP hardware compile; a fault planted in
# its siw is red with its rule named; and with KASAN, lockdep and kmemleak nothing is reported in cases that siw passes, nor of what goes in the
# midst of its work; and kmemleak finds what a module that forgets memory has lost.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

usage() {
  cat <<'USAGE'
usage: tools/kernel_gate_test.sh [TREE]

Builds three kernels of TREE, a clean Linux source tree (default: that of Debian's linux-source package, downloaded into
the cache), and judges the siw of each.

example: tools/kernel_gate_test.sh ~/linux
exit: 0 passed, 1 failed, 2 usage
USAGE
}

case "${1:-}" in
  --help | -h) usage; exit 0 ;;
  -*) usage >&2; exit 2 ;;
esac
fail() { echo "kernel_gate_test.sh: $*" >&2; exit 1; }
build=build/dev
suite=$build/suite/runner/rnic-suite
[ -x "$suite" ] || fail "$suite is not built; run ./run_tests.sh first"
work=${XDG_CACHE_HOME:-$HOME/.cache}/rnic-suite/kernel_gate_test
mkdir -p "$work"

# Debian's source, once.
tree=${1:-$work/linux}
if [ ! -d "$tree" ]; then
  (cd "$work" && apt-get -q download linux-source-6.1) >"$work/apt.log" 2>&1 || fail "apt-get download failed: $(tail -n 1 "$work/apt.log")"
  mkdir "$work/unpacked"
  dpkg-deb --fsys-tarfile "$work"/linux-source-6.1_*.deb | tar -xO ./usr/src/linux-source-6.1.tar.xz | xz -dc -T0 | tar -x -C "$work/unpacked" --strip-components=1
  rm "$work"/linux-source-6.1_*.deb
  mv "$work/unpacked" "$tree"
fi

# judge EXIT_CODE FOLDER OPTION...
judge() {
  local expected=$1 out=out/kernel_gate/$2 code=0
  shift 2
  rm -rf "$out"
  "$suite" run --out "$out" "$@" || code=$?
  [ "$code" = "$expected" ] || fail "the run in $out ended with $code, expected $expected"
}

wire=(--iut siw-vm --select 'ddp.*' --select 'rdmap.send.*' --select 'rdmap.write.*')
judge 0 clean "${wire[@]}" --kernel-source "$tree" --kernel-drivers
python3 - out/kernel_gate/clean/results.json <<'CHECK' || fail "the drivers of iWARP hardware are not in the run's record"
import json, sys
note = json.load(open(sys.argv[1]))["run"]["lab"]["note"]
print(note)
sys.exit(not {"cxgb4", "iw_cxgb4", "irdma"} <= set(note.split()))
CHECK

# The same sources but for one line: links for all files, so that the tree costs no room.
planted=$work/planted
rm -rf "$planted"
cp -al "$tree" "$planted"
file=$planted/drivers/infiniband/sw/siw/siw_qp_rx.c
cp --remove-destination "$tree/drivers/infiniband/sw/siw/siw_qp_rx.c" "$file"
line='if (unlikely(ddp_msn != srx->ddp_msn\[RDMAP_UNTAGGED_QN_SEND\]))'
[ "$(grep -c "$line" "$file")" = 1 ] || fail "this tree's siw checks the MSN of a Send in other words; the fault cannot be planted"
sed -i "s/$line/if (0 \&\& ddp_msn != srx->ddp_msn[RDMAP_UNTAGGED_QN_SEND])/" "$file"
judge 1 planted "${wire[@]}" --kernel-source "$planted"
python3 - out/kernel_gate/planted/results.json <<'CHECK' || fail "the planted fault is not named by its rule"
import json, sys
new = [case for case in json.load(open(sys.argv[1]))["cases"] if case["gate"]["result"] == "new_failure"]
rules = {expectation["rule"] for case in new for expectation in case["expectations"] if expectation["verdict"] == "fail"}
print("new failures:", ", ".join(sorted(case["id"] for case in new)), "by", ", ".join(sorted(rules)))
sys.exit("ddp.untagged.check-msn-in-range" not in rules)
CHECK

checked=(--kernel-source "$tree" --kernel-checks)
judge 0 checked "${wire[@]}" "${checked[@]}"
judge 0 kdat --iut kdat:siw-vm "${checked[@]}"
judge 0 kverbs --iut kverbs:siw-vm --select 'kmem.*' "${wire[@]:2}" "${checked[@]}"

# A process that is killed, a device that goes and a module that is unloaded leave no object, no memory and no warning.
exercise() { "$build/suite/lab/rnic-lab" siw-vm "${checked[@]}" --watch-kernel "$@" || fail "something is left, or the kernel complains"; }
exercise --variant tunable --kernel-agent --program "$build/suite/upper_tester/rnic-agent" --program "$build/suite/upper_tester/rnic-kernel-refusals" -- \
  python3 suite/upper_tester/tests/kernel_module_exercise.py "$build/suite/upper_tester/rnic-agent"
exercise --kdat --program "$build/suite/cases/rnic-dat-cases" --program "$build/suite/cases/librnic_kdat_shim.so" --program "$build/suite/upper_tester/rnic-kdat-memory" \
  --program "$build/suite/upper_tester/rnic-agent" -- \
  python3 suite/cases/kdat/tests/module_exercise.py "$build/suite/upper_tester/rnic-agent"

# kmemleak does find what is lost: a module of ours forgets to free its note of each piece of memory.
leaky=$work/leaky
rm -rf "$leaky"
mkdir "$leaky"
cp suite/upper_tester/kernel/{*.[ch],Kbuild} "$leaky"
forgets='/^void kagent_destroy_memory(/,/^}/ { /kfree(memory);/d }'
sed -i "$forgets" "$leaky/memory.c"
! cmp -s suite/upper_tester/kernel/memory.c "$leaky/memory.c" || fail "kagent_destroy_memory() does not read as expected; the leak cannot be planted"
kernel=$(suite/lab/siw_vm/build_kernel.sh --checks "$tree" "${XDG_CACHE_HOME:-$HOME/.cache}/rnic-suite/siw-vm")
cp "$(suite/lab/siw_vm/build_module.sh "$kernel" "$leaky" rnic_kagent)" "$leaky/leaky.ko"
chmod +x "$leaky/leaky.ko"  # so that it is packed as a program is
if "$build/suite/lab/rnic-lab" siw-vm "${checked[@]}" --watch-kernel --variant tunable --kernel-agent --program "$leaky/leaky.ko" \
  --program "$build/suite/upper_tester/rnic-agent" -- sh -c '
    $RNIC_GUEST_AGENT $RNIC_GUEST_CHANNEL /bin/sh -c "rmmod rnic_kagent && insmod /bin/leaky.ko" &&
    exec python3 suite/upper_tester/tests/kernel_module_exercise.py "$0" Module.test_a_killed_process_leaves_nothing' \
  "$build/suite/upper_tester/rnic-agent" >"$leaky/said" 2>&1; then fail "memory that a module has lost is not found"; fi
grep -q "kmemleak: unreferenced object" "$leaky/said" || fail "kmemleak does not name what the module has lost: see $leaky/said"
