#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Installs the Debian packages of one set, or prints the command that would. Called by run_suite.sh, run_tests.sh and CI.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: tools/install_packages.sh [--no-install] [--print] core|deb|siw|full|long

Makes sure that the Debian packages of a set are installed.
  core   build the suite and run it against the reference RNIC
  deb    core, and what `cpack` needs to make all Debian packages of the suite
  siw    core, and what the QEMU guest with the kernel's soft-iWARP and OpenFabrics' DAT provider needs
  full   siw, and what the project's own tests need
  long   full, and what the long tests need: sanitizers, clang-tidy, fuzzers, a big-endian compiler, a browser, a Slurm cluster,
         debootstrap, lintian
As root it installs what is missing and says so. Otherwise, and with --no-install, it prints the
command that would install it and stops.

examples:
  tools/install_packages.sh core
  tools/install_packages.sh --print full
exit: 0 everything is there, 1 packages are missing, 2 usage
USAGE
}

core=(g++ cmake ninja-build ccache pkg-config git ca-certificates
  libboost-test-dev libfmt-dev nlohmann-json3-dev libyaml-cpp-dev libcli11-dev libisal-dev libpcap-dev libssl-dev zlib1g-dev libzstd-dev liblzma-dev
  libibverbs-dev librdmacm-dev libnl-3-dev libnl-route-3-dev
  python3 python3-yaml python3-jinja2 python3-jsonschema iproute2 ethtool util-linux)
deb=("${core[@]}" libdapl-dev libwireshark-dev wireshark-dev file dpkg-dev help2man)
siw=("${core[@]}" qemu-system-x86 busybox-static kmod cpio zstd xz-utils make flex bison bc libelf-dev
  ibverbs-providers rdma-core rdmacm-utils libdapl-dev iputils-ping openssh-client)
full=("${siw[@]}" clang-format-19 libbenchmark-dev tshark libwireshark-dev wireshark-dev dapl2-utils
  perftest ibverbs-utils qperf libfabric-bin netcat-traditional)
long=("${full[@]}" clang-19 clang-tidy-19 libclang-rt-19-dev g++-s390x-linux-gnu libc6-dev-s390x-cross qemu-user
  chromium fonts-dejavu-core openmpi-bin python3-mpi4py slurmctld slurmd slurm-client munge debootstrap file dpkg-dev help2man lintian sparse)

install=yes print=no set=
for argument in "$@"; do
  case "$argument" in
    --no-install) install=no ;;
    --print) print=yes ;;
    --help | -h) usage; exit 0 ;;
    core | deb | siw | full | long) set=$argument ;;
    *) echo "install_packages.sh: unknown argument '$argument'; see --help" >&2; exit 2 ;;
  esac
done
[ -n "$set" ] || { echo "install_packages.sh: which set? core, deb, siw, full or long; see --help" >&2; exit 2; }
declare -n packages=$set
[ "$print" = no ] || { printf '%s\n' "${packages[@]}"; exit 0; }

missing=()
for package in "${packages[@]}"; do
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

command="apt-get install -y --no-install-recommends"
if [ "$install" = no ] || [ "$(id -u)" -ne 0 ]; then
  echo "install_packages.sh: ${#missing[@]} packages of the set '$set' are missing. Install them with:" >&2
  echo "  sudo $command ${missing[*]}" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed() {
  tail -n 20 "$log" >&2
  echo "install_packages.sh: apt-get failed (its last lines are above); correct that and run this again" >&2
  exit 1
}
apt-get update >"$log" 2>&1 || failed
# A later Debian may have dropped a package; CMake leaves out, or refuses, what needs it.
available=() dropped=()
for package in "${missing[@]}"; do
  if [ -n "$(apt-cache madison "$package" 2>/dev/null)" ]; then available+=("$package"); else dropped+=("$package"); fi
done
[ ${#dropped[@]} = 0 ] || echo "These packages are not in this Debian, so what needs them is left out: ${dropped[*]}"
[ ${#available[@]} -gt 0 ] || exit 0
echo "Installing ${#available[@]} Debian packages (set '$set'): ${available[*]}"
$command "${available[@]}" >"$log" 2>&1 || failed
