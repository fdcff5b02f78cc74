#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Does what README.md says in a Debian that has nothing: its own commands, in their order, on one checkout.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
. tools/clean_debian.sh

usage() {
  cat <<'USAGE'
usage: tools/readme_test.sh [--user root|plain]... [--preset release|dev]... [--guests] [--release NAME] [--mirror URL] [FOLDER]

Carries out the commands of README.md that need no hardware, in their order, on one checkout of the last commit: as root and
as a plain user, with the preset release and with dev (or as the options say). Each time in a new Debian, in FOLDER (default
/var/tmp/rnic-readme, about 6 GB; the bare Debian and its packages are kept for the next time). A plain user has no network; of what a
command asks him to have installed, the test installs it as root. Needs root and debootstrap.
  --guests         also the commands that boot the siw guest, which downloads its kernel
  --release NAME   of Debian: bookworm (the default), trixie, ...
If CCACHE_DIR is set, the builds have that folder and all CCACHE_* variables; a plain user may only read it.

examples:
  sudo tools/readme_test.sh
  sudo tools/readme_test.sh --user plain --preset release --guests
exit: 0 all passed, 1 something failed, 2 usage, 3 something that it needs is missing
USAGE
}

users=() presets=() guests=no release=bookworm mirror=http://deb.debian.org/debian folder=/var/tmp/rnic-readme
while [ $# -gt 0 ]; do
  case "$1" in
    --user) users+=("${2:-}"); shift $(($# > 1)) ;;
    --preset) presets+=("${2:-}"); shift $(($# > 1)) ;;
    --guests) guests=yes ;;
    --release) release=${2:-}; shift $(($# > 1)) ;;
    --mirror) mirror=${2:-}; shift $(($# > 1)) ;;
    --help | -h) usage; exit 0 ;;
    -*) echo "readme_test.sh: unknown option '$1'; see --help" >&2; exit 2 ;;
    *) folder=$1 ;;
  esac
  shift
done
[ ${#users[@]} -gt 0 ] || users=(root plain)
[ ${#presets[@]} -gt 0 ] || presets=(release dev)
fail() { echo "readme_test.sh: $2" >&2; exit "$1"; }
for user in "${users[@]}"; do [[ $user =~ ^(root|plain)$ ]] || fail 2 "--user: '$user' is none of root, plain"; done
for preset in "${presets[@]}"; do [[ $preset =~ ^(release|dev)$ ]] || fail 2 "--preset: '$preset' is none of release, dev"; done
claim_folder readme-test
make_debian "$release" "$mirror" "$folder" || fail 3 "no Debian '$release' can be had from $mirror"
root=$folder/root steps=$folder/steps

# A file for each step, and in list its name, the exit code, what it needs, and its line in README.md.
rm -rf "$steps"
mkdir "$steps"
python3 -B - "$steps" <<'STEPS'
import pathlib, sys
sys.path.insert(0, "tools")
import check_docs

page, steps = check_docs.read_page(pathlib.Path("."), pathlib.Path("README.md")), []
for block in page.blocks:
    if block.language == "sh" and "hardware" not in block.tags:
        steps.append((block.line, block.status, "root" if "root" in block.tags else "nothing", "\n".join([*block.first, block.text])))
for line, text in page.inline:
    # An implementation that has an address is hardware.
    if text.split()[0] == "./run_suite.sh" and not {"--address", "--host"} & set(text.split()):
        steps.append((line, 0, "guest" if "siw-vm" in text or text.endswith(" virtual") else "nothing", text + "\n"))
folder = pathlib.Path(sys.argv[1])
with open(folder / "list", "w") as names:
    for line, status, needs, text in sorted(steps):
        (folder / f"{line}.sh").write_text(text)
        print(f"{line}.sh", status, needs, line, file=names)
STEPS
[ "$(wc -l <"$steps/list")" -ge 6 ] || fail 1 "README.md has hardly any commands; are they still marked sh?"

inside() { enter_debian "$root" "$1" /src "${@:2}"; } # inside NETWORK COMMAND...
as_user() { # as_user NETWORK COMMAND...
  local whose=(env HOME=/root)
  [ "$user" = root ] || whose=(setpriv --reuid=plain --regid=plain --init-groups env HOME=/home/plain
    ${CCACHE_DIR:+CCACHE_READONLY=1 CCACHE_TEMPDIR=/home/plain/ccache})
  # What was compiled in another folder serves here too.
  if [ -n "${CCACHE_DIR:-}" ]; then whose+=(CCACHE_BASEDIR=/src CCACHE_NOHASHDIR=1); fi
  inside "$1" "${whose[@]}" "${@:2}"
}
say() { echo "readme_test.sh: $user, $preset: $*"; }

new_debian() {
  renew_debian "$folder" || fail 3 "the lists of packages cannot be had from $mirror"
  git clone --quiet --no-hardlinks . "$root/src"
  cp -a "$steps" "$root/steps"
  sed -i "s,\./run_suite\.sh,& --preset $preset," "$root"/steps/*.sh
  inside none useradd --create-home plain
  inside none chown -R "$user:" /src
}

# run_step NAME NETWORK: its exit code; what it says is in $folder/said.
run_step() {
  local status=0
  as_user "$2" bash -e "/steps/$1" >"$folder/said" 2>&1 </dev/null || status=$?
  cat "$folder/said"
  return "$status"
}

installed=0
# What a plain user is told to have installed. Fails if he is told nothing.
install_as_told() {
  local command
  command=$(sed -n 's/^  sudo apt-get/apt-get/p' "$folder/said")
  [ -n "$command" ] || return 1
  say "as root: $command"
  inside host sh -c "$command" >"$folder/apt.log" 2>&1 || { tail "$folder/apt.log" >&2; fail 1 "what a plain user is told to install cannot be installed"; }
  installed=$((installed + 1))
}

play() { # play NAME STATUS NEEDS LINE
  local status=0 reach=host
  case "$3" in
    guest) [ "$guests" = yes ] || { say "README.md:$4: left out: it boots a guest (--guests)"; return 0; } ;;
    root) [ "$user-$preset" = root-release ] || return 0 ;;
    *) [ "$user" = root ] || reach=none ;;
  esac
  say "README.md:$4: $(grep -v '^#' "$root/steps/$1" | head -n 1)"
  local begun=$SECONDS
  run_step "$1" "$reach" || status=$?
  if [ "$status" = 3 ] && [ "$user" = plain ] && install_as_told; then
    status=0
    run_step "$1" "$reach" || status=$?
  fi
  [ "$status" = "$2" ] || fail 1 "$user, $preset: README.md:$4 ends with $status, not $2; it is all in $root"
  [ "$user" = plain ] || installed=$((installed + $(grep -c '^Installing ' "$folder/said" || true)))
  say "README.md:$4: ended with $status after $((SECONDS - begun)) s"
}

for user in "${users[@]}"; do
  for preset in "${presets[@]}"; do
    new_debian
    installed=0
    while read -r -u 3 name status needs line; do play "$name" "$status" "$needs" "$line"; done 3<"$steps/list"
    [ "$installed" -gt 0 ] || fail 1 "$user, $preset: nothing had to be installed, or nobody said so: this Debian was not clean"
    as_user none sh -e -c 'for program in bin/*; do $program --help >/dev/null || { echo "$program --help fails"; exit 1; }; done' ||
      fail 1 "$user, $preset: not each program in bin/ has a --help"
    as_user none sh -e -c 'for name in report.html results.json junit.xml summary.md pcap; do ls -d out/$name; done' >/dev/null ||
      fail 1 "$user, $preset: out/ has not what README.md says"
    [ "$user-$preset" != root-release ] || inside none sh -e -c '/opt/rnic-suite/bin/rnic-suite --version; ls packages/rnic-suite_*.deb' ||
      fail 1 "the section Install leaves no suite, or no packages"
    say passed
  done
done
drop_debian "$folder"
echo "readme_test.sh: passed in $SECONDS s"
