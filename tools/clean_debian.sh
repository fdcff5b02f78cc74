# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# shellcheck shell=bash
# Functions for the tests that need another Debian: package_test.sh, readme_test.sh, ci_jobs_test.sh. To be sourced.

# claim_folder TEST PROGRAM...: $folder, new, empty or made by this test before, becomes an absolute path. Ends by the test's own
# fail() if it has files of somebody else, or if root, debootstrap or a program is missing.
claim_folder() {
  local marker=$folder/.made-by-$1 program
  [ -e "$marker" ] || [ -z "$(ls -A "$folder" 2>/dev/null)" ] || fail 2 "'$folder' has files of somebody else; give a new or an empty folder"
  [ "$(id -u)" = 0 ] || fail 3 "only root can make and enter another Debian; run it with sudo"
  for program in debootstrap "${@:2}"; do
    command -v "$program" >/dev/null || fail 3 "$program is missing; install it with: apt-get install $program"
  done
  mkdir -p "$folder"
  touch "$marker"
  folder=$(cd "$folder" && pwd)
}

# make_debian RELEASE MIRROR FOLDER: a bare one in FOLDER/debian, unless it is there; fails if there is none to be had.
make_debian() {
  [ ! -e "$3/made-of-$1" ] || return 0
  rm -rf --one-file-system "$3/debian"
  debootstrap --variant=minbase "$1" "$3/debian" "$2" || return 1
  touch "$3/made-of-$1"
}

# drop_debian FOLDER: removes FOLDER/root; the packages that it has downloaded stay.
drop_debian() {
  [ -d "$1/root" ] || return 0
  mkdir -p "$1/archives"
  find "$1/root/archives" -maxdepth 1 -name '*.deb' -exec cp --no-clobber --link -t "$1/archives" {} +
  rm -rf --one-file-system "$1/root"
}

# renew_debian FOLDER: FOLDER/root is a new copy of the bare one, with the lists of packages. Fails if these are not to be had.
renew_debian() {
  drop_debian "$1"
  cp -a "$1/debian" "$1/root"
  mkdir -p "$1/archives" "$1/root/archives"
  find "$1/archives" -name '*.deb' -exec cp -l -t "$1/root/archives" {} +
  echo 'Dir::Cache::archives "/archives";' >"$1/root/etc/apt/apt.conf.d/archives"
  enter_debian "$1/root" host / apt-get update -q >/dev/null
}

# enter_debian ROOT NETWORK FOLDER COMMAND...: in the Debian at ROOT, with the host's network or with none. ROOT becomes the root of a mount
# namespace, since the kernel gives no namespaces to a plain user in a mere chroot; what runs there needs /proc, /dev and /sys. $CCACHE_DIR
# of the host, if it is set, is there too, with all CCACHE_* variables.
enter_debian() {
  local network=() kept=()
  [ "$2" = host ] || network=(--net)
  if [ -n "${CCACHE_DIR:-}" ]; then mapfile -t kept < <(env | grep '^CCACHE_'); fi
  unshare --mount --pid --fork "${network[@]}" sh -c '
    root=$1 place=$2 cache=$3
    shift 3
    mount --bind "$root" "$root" && mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" && mount -t sysfs sysfs "$root/sys" || exit 99
    [ -z "$cache" ] || { mkdir -p "$root$cache" && mount --bind "$cache" "$root$cache"; } || exit 99
    ip link set lo up && cd "$root" && pivot_root . . && umount -l . || exit 99
    exec /usr/bin/env -i --chdir="$place" "$@"
  ' sh "$1" "$3" "${CCACHE_DIR:-}" PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    ${http_proxy:+http_proxy="$http_proxy"} "${kept[@]}" "${@:4}"
}
