#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# The gate of a CI job: runs the suite, and leaves what the CI system shows. The jobs in docs/ci/ call it.
set -euo pipefail
suite=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)

usage() {
  cat <<'USAGE'
usage: tools/gate.sh [--siw-source DIR] [--baseline DIR] [--location PATH] [--run PROGRAM] --out DIR [OPTIONS OF rnic-suite run]

Begins a new run in DIR and makes its reports: report.html, junit.xml, summary.md and rnic.sarif. In a GitHub workflow it
also prints annotations and adds the summary to that of the job.
  --siw-source DIR  drivers/infiniband/sw/siw of a kernel tree, for --iut siw-vm: the guest's siw is compiled from it, in a
                    cache of its own (${XDG_CACHE_HOME:-./cache})
  --baseline DIR    the results of an earlier run: only what got worse since then fails
  --location PATH   file of the repository that the annotations point at
  --run PROGRAM     default: run_suite.sh of this tree, which builds what is missing; where it is installed, "rnic-suite run"

examples:
  tools/gate.sh --out out --iut siw-vm --siw-source linux/drivers/infiniband/sw/siw
  tools/gate.sh --out out --iut siw-vm --kernel-source linux      the guest's whole kernel from that tree
  tools/gate.sh --out out --baseline base --iut verbs:cxgb4_0 --host ssh:root@dut --address 192.0.2.7
exit: 0 nothing new fails, 1 a new failure, 2 usage, 3 the harness or the IUT could not be used, 4 a known issue no longer shows
USAGE
}

fail() { echo "gate.sh: $*" >&2; exit "${code:-2}"; }
out='' siw='' baseline='' location='' run="$suite/run_suite.sh" options=()
[ -x "$run" ] || run="rnic-suite run"
while [ $# -gt 0 ]; do
  case "$1" in
    --out | --siw-source | --baseline | --location | --run)
      [ $# -gt 1 ] || fail "$1 needs a value; see --help"
      case "$1" in
        --out) out=$2 ;; --siw-source) siw=$2 ;; --baseline) baseline=$2 ;; --location) location=$2 ;; --run) run=$2 ;;
      esac
      shift ;;
    --help | -h) usage; exit 0 ;;
    --version) exec ${run%" run"} --version ;;
    *) options+=("$1") ;;
  esac
  shift
done
[ -n "$out" ] || fail "--out: say which folder; see --help"
[ -z "$(ls -A "$out" 2>/dev/null)" ] || fail "--out: there is something in $out already; a gate begins in an empty folder"
[ -z "$baseline" ] || [ -e "$baseline/results.json" ] || fail "--baseline: there is no $baseline/results.json"
code=3
if [ "$(id -u)" != 0 ] && ! unshare -Urnm true 2>/dev/null; then
  fail "this host lets a plain user have no network of his own: run as root (sudo), or allow user namespaces (sysctl kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)"
fi

# The guest's siw from another tree. Compiled against the headers of the guest's kernel, so the tree has to be near it.
use_siw() {
  [ -e "$siw/siw_main.c" ] || { code=2; fail "--siw-source: there is no siw_main.c in $siw"; }
  [ ! -x "$suite/tools/install_packages.sh" ] || "$suite/tools/install_packages.sh" siw >&2
  export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$PWD/cache}
  local kernel
  kernel=$("$suite/suite/lab/siw_vm/fetch_kernel.sh" "$XDG_CACHE_HOME/rnic-suite/siw-vm")
  rm -rf "$kernel/siw" "$kernel"/siw-*.ko
  cp -r "$siw" "$kernel/siw"
}
[ -z "$siw" ] || use_siw

verdict=0
# PROGRAM may be several words.
# shellcheck disable=SC2086
$run --fresh --out "$out" "${options[@]}" || verdict=$?
[ -e "$out/results.json" ] || { code=$((verdict ? verdict : 3)); fail "the run left no results in $out"; }

"$suite/reports/render.py" "$out" --sarif "$out/rnic.sarif" --location "$location" ${GITHUB_ACTIONS:+--github}
if [ -n "$baseline" ]; then
  verdict=0
  "$suite/reports/compare_runs.py" "$baseline" "$out" >"$out/changes.md" || verdict=$?
  cat "$out/changes.md"
fi
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  [ -z "$baseline" ] || cat "$out/changes.md" >>"$GITHUB_STEP_SUMMARY"
  cat "$out/summary.md" >>"$GITHUB_STEP_SUMMARY"
fi
exit "$verdict"
