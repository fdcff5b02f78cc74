#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Carries out the Dockerfile without docker: makes the Debian packages in one Debian, and installs, uses and purges them in another.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
. tools/clean_debian.sh

usage() {
  cat <<'USAGE'
usage: tools/package_test.sh [--release NAME] [--mirror URL] [--packages DIR] [FOLDER]

Carries out the steps of the Dockerfile for the last commit, each image in a Debian of its own, in FOLDER (default
/var/tmp/rnic-packages-NAME, about 4 GB; the bare Debian is kept for the next time). Then, in the image that has the packages
and no compiler, sources or network: runs cases as root and as a plain user, judges a capture, and purges the packages,
which must leave nothing. lintian must have no error and no warning. Needs root, debootstrap and lintian.
  --release NAME   of Debian: bookworm (the default), trixie, ...
  --packages DIR   do not make packages, but take these; they are of this Debian
If CCACHE_DIR is set, the build has that folder and all CCACHE_* variables.

examples:
  sudo tools/package_test.sh
  sudo tools/package_test.sh --release trixie
  sudo tools/package_test.sh --packages packages /var/tmp/clean
exit: 0 all passed, 1 something failed, 2 usage, 3 something that it needs is missing
USAGE
}

release=bookworm mirror=http://deb.debian.org/debian packages='' folder=''
while [ $# -gt 0 ]; do
  case "$1" in
    --release) release=${2:-}; shift $(($# > 1)) ;;
    --mirror) mirror=${2:-}; shift $(($# > 1)) ;;
    --packages) packages=${2:-}; shift $(($# > 1)) ;;
    --help | -h) usage; exit 0 ;;
    -*) echo "package_test.sh: unknown option '$1'; see --help" >&2; exit 2 ;;
    *) folder=$1 ;;
  esac
  shift
done

fail() { echo "package_test.sh: $2" >&2; exit "$1"; }
folder=${folder:-/var/tmp/rnic-packages-$release}
[ -z "$packages" ] || ls "$packages"/*.deb >/dev/null 2>&1 || fail 2 "--packages: there is no package in '$packages'"
claim_folder package-test lintian
make_debian "$release" "$mirror" "$folder" || fail 3 "no Debian '$release' can be had from $mirror"
within() { enter_debian "$folder/$1" "${@:2}"; } # within STAGE NETWORK FOLDER COMMAND...

# The instructions of the Dockerfile, one a line.
instructions() { sed -e '/^#/d' -e '/^$/d' Dockerfile | sed -e ':more' -e '/\\$/N' -e 's/\\\n//' -e 't more'; }

stage='' place=/ begin=()
copy() { # copy [--from=STAGE] SOURCE... DESTINATION
  local from=$folder/context words=("$@") destination
  case "$1" in --from=*) from=$folder/${1#--from=} words=("${@:2}") ;; esac
  destination=${words[-1]}
  [[ $destination == /* ]] || destination=$place/$destination
  if [[ $destination == */ ]] || [ ${#words[@]} -gt 2 ]; then mkdir -p "$folder/$stage$destination"; fi
  mkdir -p "$(dirname "$folder/$stage$destination")"
  for source in "${words[@]:0:${#words[@]}-1}"; do
    # A pattern, which docker matches as the shell does.
    # shellcheck disable=SC2086
    if [ -d "$from/$source" ]; then cp -a "$from/$source/." "$folder/$stage$destination"; else cp -a "$from"/$source "$folder/$stage$destination"; fi
  done
}
carry_out() { # carry_out INSTRUCTION ARGUMENTS
  echo "package_test.sh: $release: $1 $2"
  local words
  read -ra words <<<"${2//'${DEBIAN}'/$release}"
  case "$1" in
    ARG) [[ $2 == DEBIAN=* ]] || fail 1 "Dockerfile: ARG $2 is not known here" ;;
    FROM)
      [ "${words[0]}" = "debian:$release-slim" ] && [ "${words[1]}" = AS ] || fail 1 "Dockerfile: FROM $2 is not known here"
      stage=${words[2]} place=/
      rm -rf --one-file-system "${folder:?}/$stage"
      cp -a "$folder/debian" "$folder/$stage" ;;
    WORKDIR) place=${words[0]}; mkdir -p "$folder/$stage$place" ;;
    COPY) copy "${words[@]}" ;;
    RUN) within "$stage" host "$place" sh -c "$2" || fail 1 "ends with $?: RUN $2" ;;
    ENTRYPOINT | CMD) mapfile -t words < <(python3 -c 'import json, sys; print(*json.loads(sys.argv[1]), sep="\n")' "$2"); begin+=("${words[@]}") ;;
    *) fail 1 "Dockerfile: the instruction $1 is not known here" ;;
  esac
}

rm -rf "$folder/context"
git clone --quiet --no-hardlinks . "$folder/context"
while read -r instruction arguments <&3; do
  if [ "$instruction" = FROM ]; then made=${arguments##* }; fi
  # Packages that are there already stand for the stage that makes them.
  if [ -n "$packages" ] && [ "${made:-}" = packages ]; then
    rm -rf --one-file-system "$folder/packages"
    mkdir -p "$folder/packages/packages"
    cp "$packages"/*.deb "$folder/packages/packages/"
    continue
  fi
  carry_out "$instruction" "$arguments"
done 3< <(instructions)

lintian --allow-root --fail-on error,warning "$folder"/packages/packages/*.deb || fail 1 "lintian objects (see above)"
cp "$folder"/packages/packages/*.deb "$folder/suite/root/"
cp dissectors/corpus/samples/wrong_crc.pcap.gz "$folder/suite/tmp/trace.pcap.gz"
inside() { within suite none /tmp "$@"; }
check() { # check STATUS COMMAND...: the command ends with that status
  local wanted=$1 status=0
  shift
  echo "package_test.sh: $release: $*"
  inside "$@" || status=$?
  [ "$status" = "$wanted" ] || fail 1 "ends with $status, not $wanted: $*"
}

if inside sh -c 'command -v cc || command -v g++'; then fail 1 "there is a compiler: this shows less than it should"; fi
check 0 "${begin[@]}"
# What the image leaves out: documentation, the plugin, and the headers.
more='apt-get update -q && apt-get install -q -y --no-install-recommends tshark man-db /root/*.deb'
within suite host / sh -c "$more" || fail 1 "the other packages cannot be installed"
mapfile -t names < <(for deb in "$folder"/packages/packages/*.deb; do dpkg-deb --field "$deb" Package; done)
inside sh -c "dpkg -L ${names[*]} | sort -u | while read -r path; do [ -d \"\$path\" ] || echo \"\$path\"; done" >"$folder/suite/tmp/installed"
check 0 useradd --create-home plain

for program in $(sed -n 's|^/usr/bin/||p' "$folder/suite/tmp/installed"); do
  check 0 sh -c "$program --version | grep -E '^$program [0-9.]+ \(commit [0-9a-f]{40}(-dirty)?\)$'"
  check 0 sh -c "man --where $program"
done
check 0 rnic-suite doctor
check 0 rnic-suite run --select 'mpa.crc.*' --out /tmp/out
check 0 test -s /tmp/out/report.html
check 1 rnic-suite run --select 'mpa.crc.*' --deviation accepts_bad_crc --out /tmp/out-bad
check 0 rnic-suite explain mpa.crc.crc32c-as-in-iscsi
check 1 rnic-lint /tmp/trace.pcap.gz
as_plain() { check 0 su plain -c "cd && $1"; }
as_plain "rnic-suite run --select 'mpa.crc.*' --out out && test -s out/report.html"
as_plain 'tshark -G plugins | grep rnic_iwarp'
if [ -e "$folder/suite/usr/share/rnic-suite/examples/dat.conf" ]; then
  check 0 rnic-suite run --iut dat:reference --select 'dat.pz.*' --out /tmp/out-dat
  check 0 sh -c "awk '/^rnic0/ { print \$5 }' /usr/share/rnic-suite/examples/dat.conf | xargs ls"
else
  echo "package_test.sh: $release: no DAT provider, since this Debian has no libdapl-dev"
fi

check 0 apt-get purge -q -y "${names[@]}"
left=$(inside sh -c 'while read -r path; do [ ! -e "$path" ] || echo "$path"; done </tmp/installed
  find / -xdev \( -path /tmp -o -path /root -o -path /home -o -path /proc -o -path /sys -o -path /dev \) -prune -o -iname "*rnic*" -print')
[ -z "$left" ] || fail 1 "purging leaves: $left"
echo "package_test.sh: passed in Debian $release"
