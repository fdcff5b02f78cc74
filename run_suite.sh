#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# One command from a fresh clone to a verdict: installs what is missing, builds, and runs the suite.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"

usage() {
  cat <<'USAGE'
usage: ./run_suite.sh [--no-install] [--preset NAME] [OPTIONS OF rnic-suite run]
       ./run_suite.sh [--no-install] [--preset NAME] --plugfest EVENT [OPTIONS OF rnic-plugfest run]

Builds the suite and runs it; without further options against the reference RNIC. As root it installs
missing Debian packages first (not with --no-install, and never for a run against hardware). The programs
that it has built are linked in bin/: bin/rnic-suite, bin/rnic-lint, bin/rnic-plugfest, ...
  --preset NAME   the build that is used: release (default), dev, asan or tsan
  --plugfest      every participant of an event file against every other: virtual, virtual-reference, or a file

examples:
  ./run_suite.sh                                     the reference RNIC, report in out/report.html
  ./run_suite.sh --iut siw-vm                        the Linux kernel's soft-iWARP in a QEMU guest
  ./run_suite.sh --iut verbs:cxgb4_0 --host ssh:root@dut --address 192.0.2.7
  ./run_suite.sh --iut verbs:reference               our own verbs library, under the agent's driver for verbs
  ./run_suite.sh --iut dat:reference                 our own DAT provider, at its API and on the wire
  ./run_suite.sh --iut kverbs:siw-vm                 the same through the kernel's own verbs
  ./run_suite.sh --iut kdat:siw-vm                   kDAPL in the guest's kernel, at its API
  ./run_suite.sh --iut dat:siw-vm                    OpenFabrics' DAT provider over soft-iWARP, at its API
  ./run_suite.sh --select 'ddp.*' --out /tmp/ddp     some of the cases
  ./run_suite.sh --list                              what there is
  ./run_suite.sh --plugfest virtual                  a plugfest on this machine, with soft-iWARP in guests
  ./run_suite.sh --plugfest virtual-reference        the same without guests
exit: 0 no new failure, 1 new failure, 2 usage, 3 harness or IUT unreachable, 4 a known issue no longer shows

Everything else that rnic-suite run can do:
USAGE
}

install=() preset=release set=core arguments=() plugfest=""
while [ $# -gt 0 ]; do
  case "$1" in
    --no-install) install=(--no-install) ;;
    --preset) preset=${2:-}; shift $(($# > 1)) ;;
    --preset=*) preset=${1#*=} ;;
    --plugfest) plugfest=${2:-}; shift $(($# > 1)); [ -n "$plugfest" ] || { echo "run_suite.sh: --plugfest: say which event" >&2; exit 2; } ;;
    --plugfest=*) plugfest=${1#*=} ;;
    --help | -h) usage; help=yes; arguments+=("$1") ;;
    --version)
      [ ! -x bin/rnic-suite ] || exec bin/rnic-suite --version
      echo "rnic-suite $(sed -n 's/^project(.* VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt) (commit $(git rev-parse HEAD 2>/dev/null || echo unknown)), not built yet"
      exit 0 ;;
    *) arguments+=("$1") ;;
  esac
  shift
done
case "$preset" in
  dev | release | asan | tsan) ;;
  *) echo "run_suite.sh: --preset: '$preset' is none of dev, release, asan, tsan" >&2; exit 2 ;;
esac
iut=reference
for ((i = 0; i < ${#arguments[@]}; ++i)); do
  case "${arguments[i]}" in
    --iut) iut=${arguments[i + 1]:-} ;;
    --iut=*) iut=${arguments[i]#*=} ;;
  esac
done
targets=(rnic_programs)
[ -n "$plugfest" ] || targets+=(seen_to_fail)  # the reports of a run say it
case "$iut" in
  reference | agent:reference | verbs:reference) ;;
  dat:reference | dat:siw-vm | kdat:siw-vm) set=full targets+=(dat_seen_to_fail) ;;
  siw-vm | kverbs:siw-vm) set=siw ;;
  *) install=(--no-install) ;;  # hardware: the host is a vendor's test bed
esac

[ "$plugfest" != virtual ] || set=siw
tools/install_packages.sh "${install[@]}" "$set" || exit 3
tools/build.sh "$preset" "${targets[@]}" || exit 3
mkdir -p bin
while read -r program; do ln -sfn "../build/$preset/$program" "bin/${program##*/}"; done <"build/$preset/programs.txt"
if [ "${help:-no}" = yes ]; then exec bin/rnic-suite run --help; fi
if [ -n "$plugfest" ]; then exec bin/rnic-plugfest run "$plugfest" "${arguments[@]}"; fi
exec bin/rnic-suite run "${arguments[@]}"
