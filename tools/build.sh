#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Configures a preset (again, if packages were installed since) and builds targets of it; quiet unless something fails.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

if [ "${1:-}" = --help ] || [ $# -lt 1 ]; then
  echo "usage: tools/build.sh PRESET [TARGET...] [-DNAME=VALUE...]"
  echo "example: tools/build.sh dev rnic-suite"
  exit $([ $# -lt 1 ] && echo 2 || echo 0)
fi
preset=$1; shift
case "$preset" in
  dev | release | asan | tsan) ;;
  *) echo "build.sh: there is no preset '$preset'; give dev, release, asan or tsan" >&2; exit 2 ;;
esac
targets=() definitions=()
for argument in "$@"; do
  case "$argument" in
    -D*) definitions+=("$argument") ;;
    *) targets+=("$argument") ;;
  esac
done

mkdir -p "build/$preset"
log=build/$preset/build.log
generator=Ninja
command -v ninja >/dev/null || generator='Unix Makefiles'
cache=build/$preset/CMakeCache.txt
# A part that was left out because a package is missing may be built after that package is installed.
if [ ! -f "$cache" ] || [ /var/lib/dpkg/status -nt "$cache" ] || [ ${#definitions[@]} -gt 0 ]; then
  cmake --preset "$preset" -G "$generator" "${definitions[@]}" >"$log" 2>&1 || {
    cat "$log" >&2
    echo "build.sh: cmake could not configure preset '$preset' (see above)" >&2
    exit 1
  }
  grep -A2 'CMake Warning' "$log" >&2 || true
  if [ -s "build/$preset/left_out.txt" ]; then
    echo "build.sh: these parts are left out, since packages are missing:" >&2
    sed 's/^/  /' "build/$preset/left_out.txt" >&2
  fi
  touch -c "$cache"
fi
parallel=(--parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}")
if [ -t 1 ]; then
  cmake --build "build/$preset" "${parallel[@]}" ${targets:+--target "${targets[@]}"}
else
  cmake --build "build/$preset" "${parallel[@]}" ${targets:+--target "${targets[@]}"} >"$log" 2>&1 &
  build=$!
  trap 'kill "$build"' INT TERM
  # A line every half minute shows that it is alive.
  while ! timeout 30 tail -s 0.2 --pid="$build" -f /dev/null; do echo "build.sh: $(tail -n 1 "$log" | cut -c1-100)" >&2; done
  wait "$build" || {
    tail -n 60 "$log" >&2
    echo "build.sh: the build failed; the whole log is $log" >&2
    exit 1
  }
fi
