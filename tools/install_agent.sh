#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Builds the agent alone, with its verbs driver, and installs it, on this host or on another one.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: tools/install_agent.sh [--host [USER@]HOST] [--build-here] [--prefix DIR]

Builds rnic-agent from these sources and installs it as DIR/bin/rnic-agent. It needs a C++17 compiler, CMake 3.13, rdma-core's
development files and the header nlohmann/json.hpp (Debian: g++ cmake libibverbs-dev librdmacm-dev nlohmann-json3-dev); with OpenSSL's
development files (libssl-dev) the agent can also connect to the tester over TLS.

  --host HOST    on that host, which ssh reaches without a password: the sources are sent there and built there
  --build-here   with --host: builds on this host and sends the program, to a host with the same system that has no compiler
  --prefix DIR   default: /usr/local

examples:
  tools/install_agent.sh
  tools/install_agent.sh --host root@dut
  tools/install_agent.sh --host root@dut --build-here --prefix /opt/rnic
exit: 0 done, 1 it cannot be built, sent or started, 2 usage
USAGE
}

host= here= prefix=/usr/local
while [ $# -gt 0 ]; do
  case "$1" in
    --host) host=${2:-}; shift $(($# > 1)) ;;
    --prefix) prefix=${2:-}; shift $(($# > 1)) ;;
    --build-here) here=yes ;;
    --help | -h) usage; exit 0 ;;
    *) echo "install_agent.sh: unknown option '$1'; see --help" >&2; exit 2 ;;
  esac
  shift
done
wrong() { echo "install_agent.sh: $*; see --help" >&2; exit 2; }
[[ $prefix =~ ^/[A-Za-z0-9_./-]*$ ]] || wrong "--prefix: '$prefix' is no absolute path of plain letters"
[[ -z $host || $host =~ ^[A-Za-z0-9_][A-Za-z0-9_.:@-]*$ ]] || wrong "--host: '$host' is no ssh target"
[ -z "$here" ] || [ -n "$host" ] || wrong "--build-here goes with --host"

root=$(dirname "$(dirname "$(readlink -f "$0")")")
fail() { echo "install_agent.sh: $*" >&2; exit 1; }
commit=$(git -C "$root" describe --always --dirty --abbrev=40 --exclude='*' 2>/dev/null || echo unknown)

# build SOURCES FOLDER PREFIX COMMIT: builds in FOLDER, and installs below PREFIX. It is run by the shell of either host.
build='build() {
  command -v cmake >/dev/null || { echo "cmake is missing: apt-get install cmake g++" >&2; return 1; }
  cmake -S "$1/suite/upper_tester/standalone" -B "$2" -DRNIC_COMMIT="$4" -DCMAKE_INSTALL_PREFIX="$3" &&
    cmake --build "$2" && cmake --install "$2"
}'

if [ -z "$host" ] || [ -n "$here" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  place=$prefix
  [ -z "$here" ] || place=$work/installed
  eval "$build"
  build "$root" "$work/build" "$place" "$commit" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; fail "the agent cannot be built here"; }
fi
if [ -n "$here" ]; then
  # Its old program may be running.
  ssh -o BatchMode=yes -- "$host" "mkdir -p '$prefix/bin' && cat >'$prefix/bin/rnic-agent.new' &&
    chmod 755 '$prefix/bin/rnic-agent.new' && mv '$prefix/bin/rnic-agent.new' '$prefix/bin/rnic-agent'" \
    <"$work/installed/bin/rnic-agent" || fail "the agent cannot be sent to $host"
elif [ -n "$host" ]; then
  tar -C "$root" -c CMakeLists.txt base suite/iut suite/upper_tester | ssh -o BatchMode=yes -- "$host" "$build
    work=\$(mktemp -d) && trap 'rm -rf \"\$work\"' EXIT && tar -C \"\$work\" -x &&
    { build \"\$work\" \"\$work/build\" '$prefix' '$commit' >\"\$work/log\" 2>&1 || { tail -n 20 \"\$work/log\" >&2; exit 1; }; }" ||
    fail "the agent cannot be built on $host"
fi

if [ -z "$host" ]; then
  "$prefix/bin/rnic-agent" --version || fail "$prefix/bin/rnic-agent does not start"
  exit
fi
ssh -o BatchMode=yes -- "$host" "'$prefix/bin/rnic-agent' --version" || fail "$prefix/bin/rnic-agent does not start on $host"
ssh -o BatchMode=yes -- "$host" "command -v rnic-agent" >/dev/null ||
  echo "install_agent.sh: $prefix/bin is not in the PATH of a command that ssh runs there: give rnic-suite --agent-path $prefix/bin/rnic-agent" >&2
