#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# What the lab's DUT needs in addition to the siw guest's file system: sshd, its keys, and the tester's ssh configuration.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: make_root.sh --address ADDRESS [--debian FOLDER] CACHE

Makes two folders in CACHE/dut, or finds them there, and prints them as root= and ssh= lines:
  root   is laid over the guest's file system: sshd (dropbear, downloaded as a package and unpacked), a host key, the
         tester's key, kernel modules that make faults: oops.ko, hang.ko; with --debian, the Debian of make_debian.sh,
         in which its own sshd is started in place of dropbear
  ssh    has programs ssh and scp that know the host `dut`, at ADDRESS, and the keys; for the front of PATH

example: make_root.sh --address 10.78.0.2 ~/.cache/rnic-suite/siw-vm
exit: 0 done, 1 something is missing (the last line says what), 2 usage
USAGE
}

fail() { echo "make_root.sh: $*" >&2; exit 1; }
address= cache= debian=
while [ $# -gt 0 ]; do
  case "$1" in
    --address) address=${2:?--address needs an address}; shift ;;
    --debian) debian=${2:?--debian needs a folder}; shift ;;
    --help | -h) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) cache=$1 ;;
  esac
  shift
done
[ -n "$address" ] && [ -n "$cache" ] || { usage >&2; exit 2; }
here=$(dirname "$(readlink -f "$0")")
for tool in ssh scp ssh-keygen; do
  command -v "$tool" >/dev/null || fail "'$tool' is missing: install the package openssh-client"
done
mkdir -p "$cache/dut"
cache=$(cd "$cache/dut" && pwd)
exec 9>"$cache/lock"
flock 9

# sshd, with what it needs that may not be installed here.
packages=$cache/packages
if [ ! -d "$packages" ]; then
  work=$cache/.partial.$$
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work/debs" "$work/root"
  (cd "$work/debs" && apt-get -q -o "APT::Sandbox::User=$(id -un)" download dropbear-bin libtomcrypt1 libtommath1) >"$work/log" 2>&1 ||
    fail "apt-get download dropbear-bin failed: $(grep -m 1 '^E:' "$work/log" || tail -n 1 "$work/log")"
  for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$work/root"; done
  mv "$work/root" "$packages"
  rm -rf "$work"
fi
libraries=$(dirname "$(ls "$packages"/usr/lib/*/libtomcrypt.so.1 | sed -n 1p)")

ssh=$cache/ssh
if [ ! -f "$ssh/config" ]; then
  mkdir -p "$ssh"
  rm -f "$ssh"/key "$ssh"/key.pub "$ssh"/host_key
  ssh-keygen -q -t ed25519 -N '' -C tester -f "$ssh/key"
  LD_LIBRARY_PATH=$libraries "$packages/usr/bin/dropbearkey" -t ed25519 -f "$ssh/host_key" >"$ssh/host_key.log" 2>&1 ||
    fail "dropbearkey: $(tail -n 1 "$ssh/host_key.log")"
  printf 'dut %s\n' "$(awk '/^ssh-ed25519/ { print $1, $2 }' "$ssh/host_key.log")" >"$ssh/known_hosts"
  cat >"$ssh/config" <<CONFIG
Host dut
  HostName $address
  HostKeyAlias dut
  IdentityFile "$ssh/key"
  IdentitiesOnly yes
  UserKnownHostsFile "$ssh/known_hosts"
  StrictHostKeyChecking yes
CONFIG
fi
for tool in ssh scp; do
  [ ! -x "$ssh/$tool" ] || continue
  printf '#!/bin/sh\nexec %q -F %q "$@"\n' "$(command -v $tool)" "$ssh/config" >"$ssh/$tool.new"
  chmod 755 "$ssh/$tool.new"
  mv "$ssh/$tool.new" "$ssh/$tool"
done

kernel=$("$here/../siw_vm/fetch_kernel.sh" "$(dirname "$cache")")
root=$cache/root-$(sha256sum "$(readlink -f "$0")" "$here"/start "$here"/kernel_faults/* "$ssh/host_key" "$kernel/complete" |
  cat - <(echo "$debian") | sha256sum | cut -c1-16)
if [ ! -d "$root" ]; then
  work=$cache/.root.$$
  trap 'rm -rf "$work" "$work.modules"' EXIT
  mkdir -p "$work"/{etc/rnic,etc/dropbear,root/.ssh,sbin,lib}
  cp -r "$here/kernel_faults" "$work.modules"
  headers=$(sed -n 's/^headers=//p' "$kernel/complete")
  make -C "$headers" M="$work.modules" CONFIG_DEBUG_INFO_BTF_MODULES= modules >"$work.modules/log" 2>&1 ||
    fail "the modules of kernel_faults do not compile: $(tail -n 1 "$work.modules/log")"
  for module in oops hang; do
    strip --strip-debug "$work.modules/$module.ko"
    cp "$work.modules/$module.ko" "$work/lib/$module.ko"
  done
  cp "$packages/usr/sbin/dropbear" "$work/sbin/dropbear"
  LD_LIBRARY_PATH=$libraries ldd "$work/sbin/dropbear" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | while read -r file; do
    place=$work/lib/$(basename "$libraries")
    mkdir -p "$place"
    cp -L "$file" "$place/"
  done
  cp "$here/start" "$work/etc/rnic/start"
  cp "$ssh/host_key" "$work/etc/dropbear/host_key"
  cp "$ssh/key.pub" "$work/root/.ssh/authorized_keys"
  # busybox's sh takes its own ip for iproute2's.
  echo 'root:x:0:0:root:/root:/bin/dash' >"$work/etc/passwd"
  echo 'root:x:0:' >"$work/etc/group"
  echo '/bin/dash' >"$work/etc/shells"
  chmod 700 "$work/root" "$work/root/.ssh"
  chmod 600 "$work/root/.ssh/authorized_keys" "$work/etc/dropbear/host_key"
  if [ -n "$debian" ]; then
    cp -a "$debian" "$work/debian"
    LD_LIBRARY_PATH=$libraries "$packages/usr/bin/dropbearconvert" dropbear openssh "$ssh/host_key" "$work/debian/etc/ssh/ssh_host_ed25519_key" \
      >"$work.modules/log" 2>&1 || fail "dropbearconvert: $(tail -n 1 "$work.modules/log")"
    cp -a "$work/root/.ssh" "$work/debian/root/"
  fi
  mv "$work" "$root"
  ls -dt "$cache"/root-* | tail -n +5 | xargs -r rm -rf
fi
touch "$root"
echo "root=$root"
echo "ssh=$ssh"
