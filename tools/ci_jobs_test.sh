#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# The jobs of docs/ci/, line by line, in the Debian that they name: green for a clean driver, red with the rule named for one with a fault.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
. tools/clean_debian.sh

usage() {
  cat <<'USAGE'
usage: tools/ci_jobs_test.sh [--mirror URL] [FOLDER]

Plays the script lines of the jobs of docs/ci/ for the last commit, in a new Debian 12 in FOLDER (default /var/tmp/rnic-ci-jobs,
about 6 GB; the bare Debian and its packages are kept for the next time), with two changes: fewer cases are selected, and what the CI
system does itself (checkout, variables) is done by the test.
  siw      as root in the container: the siw of Debian's kernel, and the same with a fault planted. As a plain user where the kernel
           gives no namespaces the gate says so; with sudo it judges
  driver   as a plain user with sudo on a tester host, with the lab's DUT: its driver as it is, and with the fault
Needs root and debootstrap. If CCACHE_DIR is set, the builds have that folder and all CCACHE_* variables.

example: sudo tools/ci_jobs_test.sh
exit: 0 all passed, 1 something failed, 2 usage, 3 something that it needs is missing
USAGE
}

mirror=http://deb.debian.org/debian folder=/var/tmp/rnic-ci-jobs
while [ $# -gt 0 ]; do
  case "$1" in
    --mirror) mirror=${2:-}; shift $(($# > 1)) ;;
    --help | -h) usage; exit 0 ;;
    -*) echo "ci_jobs_test.sh: unknown option '$1'; see --help" >&2; exit 2 ;;
    *) folder=$1 ;;
  esac
  shift
done
fail() { echo "ci_jobs_test.sh: $2" >&2; exit "$1"; }
say() { echo "ci_jobs_test.sh: $*"; }
claim_folder ci-jobs-test
make_debian bookworm "$mirror" "$folder" || fail 3 "no Debian can be had from $mirror"

root=$folder/root rule=ddp.untagged.check-msn-in-range
renew_debian "$folder" || fail 3 "the lists of packages cannot be had from $mirror"
mkdir "$root/builds" "$root/jobs"
tools/tests/ci_jobs.py --more "--select 'ddp.*'" "$root/jobs"
git init --quiet --bare "$root/origin.git"
git push --quiet "$root/origin.git" HEAD:refs/heads/main
# What a job finds: the cache of earlier jobs, and the variables of its project.
inside() {
  enter_debian "$root" host /builds env XDG_CACHE_HOME=/builds/cache SUITE=file:///origin.git RNIC_DUT=root@dut RNIC_IUT=verbs:siw0 \
    RNIC_ADDRESS=10.77.0.2 ${CCACHE_DIR:+CCACHE_BASEDIR=/builds CCACHE_NOHASHDIR=1} "$@"
}
inside apt-get install -q -y --no-install-recommends git ca-certificates sudo >"$folder/apt.log" 2>&1 || fail 3 "sudo cannot be installed: see $folder/apt.log"
inside useradd --create-home plain
# The compiler cache and the lab's ssh are found by variables.
printf 'plain ALL=(ALL) NOPASSWD:SETENV: ALL\nDefaults !env_reset, !secure_path\n' >"$root/etc/sudoers.d/plain"
as_plain=(setpriv --reuid=plain --regid=plain --init-groups env HOME=/home/plain)

# play STATUS WHAT FOLDER COMMAND...: what it says is in $folder/said.
play() {
  local status=0 begun=$SECONDS
  say "$2"
  inside env --chdir="/builds/$3" "${@:4}" >"$folder/said" 2>&1 </dev/null || status=$?
  tail -n 20 "$folder/said"
  [ "$status" = "$1" ] || fail 1 "$2: ends with $status, not $1; all that it says is in $folder/said"
  say "$2: ended with $status after $((SECONDS - begun)) s"
}
# The fault's rule is in what a reader sees first.
named() { grep -F "$rule" "$root/builds/$1/out/summary.md" >/dev/null || fail 1 "$1: the summary does not name $rule"; }

tree() { # tree FOLDER clean|planted: the siw that is judged
  local line='if (unlikely(ddp_msn != srx->ddp_msn\[RDMAP_UNTAGGED_QN_SEND\]))'
  rm -rf "$root/builds/$1"
  mkdir -p "$(dirname "$root/builds/$1")"
  cp -r "$folder/siw" "$root/builds/$1"
  [ "$2" = planted ] || return 0
  [ "$(grep -c "$line" "$root/builds/$1/siw_qp_rx.c")" = 1 ] || fail 1 "this siw checks the MSN of a Send in other words; the fault cannot be planted"
  sed -i "s/$line/if (0 \&\& ddp_msn != srx->ddp_msn[RDMAP_UNTAGGED_QN_SEND])/" "$root/builds/$1/siw_qp_rx.c"
}

say "fetching Debian's kernel"
inside git clone --quiet --branch main file:///origin.git github/suite
inside github/suite/tools/install_packages.sh siw
kernel=$(inside github/suite/suite/lab/siw_vm/fetch_kernel.sh /builds/cache/rnic-suite/siw-vm) || fail 3 "Debian's kernel cannot be had"
rm -rf "$folder/siw"
cp -r "$root$kernel/siw" "$folder/siw"

# A container without rights: no namespaces for a plain user. / is not the root of the mount namespace there.
mkdir "$root/jail"
jail='mount --rbind / /jail && exec chroot --userspec=plain:plain /jail env --chdir="$PWD" HOME=/home/plain "$@"'
gate=$(grep 'gate\.sh' "$root/jobs/github-siw.siw.sh")
tree github/linux/drivers/infiniband/sw/siw clean
play 3 "github-siw.yml, as a plain user without namespaces" github sh -c "$jail" sh bash -e -c "$gate"
grep -F 'run as root (sudo)' "$folder/said" >/dev/null || fail 1 "the gate does not say that it needs root"
inside chown plain: github
play 0 "github-siw.yml, the same with sudo, clean" github sh -c "$jail" sh bash -e -c "sudo $gate"
rm -rf "$root/builds/github/out"
tree github/linux/drivers/infiniband/sw/siw planted
play 1 "github-siw.yml, planted" github env GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=/builds/github/step.md bash /jobs/github-siw.siw.sh
named github
grep -E '^::error title=[^,]*,file=drivers/infiniband/sw/siw/siw_main\.c::' "$folder/said" >/dev/null || fail 1 "the fault is not annotated"
grep -F "$rule" "$root/builds/github/step.md" >/dev/null || fail 1 "the summary of the job does not name $rule"

# The tester host has the suite installed; the lab's DUT has the siw that was judged last.
inside sh -e -c 'cd github/suite && tools/build.sh release rnic_installed && cmake --install build/release --prefix /usr --strip' >"$folder/said" 2>&1 ||
  fail 1 "the suite cannot be installed: see $folder/said"
driver() { # driver STATUS STATE
  for job in github-driver.judge gitlab-ci.driver; do
    rm -rf "$root/builds/driver/out"
    play "$1" "$job, $2" driver rnic-lab dut -- "${as_plain[@]}" bash "/jobs/$job.sh"
    [ "$1" = 0 ] || named driver
  done
}

tree gitlab/drivers/infiniband/sw/siw clean
play 0 "gitlab-ci.yml, siw, clean" gitlab bash /jobs/gitlab-ci.siw.sh
mkdir -p "$root/builds/driver/ci"
printf '#!/bin/sh\nexec sudo ssh -o BatchMode=yes "$1" rnic-agent --version\n' >"$root/builds/driver/ci/install-on-dut.sh"
chmod +x "$root/builds/driver/ci/install-on-dut.sh"
inside chown -R plain: driver
# As docs/first-run-on-two-hosts.md has it: its claims, and what is known of it.
dut='--iut verbs:siw0 --host ssh:root@dut --address 10.77.0.2'
play 0 "the driver's claims and known issues" driver rnic-lab dut -- bash -e -c "
  rnic-suite probe $dut ci/acme.pics.yaml
  rnic-suite run $dut --pics ci/acme.pics.yaml --select 'ddp.*' --out /tmp/drafted --write-expectations ci/acme.known.yaml || test \$? = 1
  sed -i 's/reason: \"\"/reason: to be examined/' ci/acme.known.yaml"
driver 0 clean

rm -rf "$root/builds/gitlab"
tree gitlab/drivers/infiniband/sw/siw planted
play 1 "gitlab-ci.yml, siw, planted" gitlab bash /jobs/gitlab-ci.siw.sh
named gitlab
driver 1 planted
drop_debian "$folder"
echo "ci_jobs_test.sh: passed in $SECONDS s"
