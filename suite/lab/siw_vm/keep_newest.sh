#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Tidies a folder of the cache up, for other work trees of the same user.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: suite/lab/siw_vm/keep_newest.sh COUNT PATH...

Removes all of these files or folders but the COUNT newest. What a guest runs from stays as well: its lab holds a lock on it, since it may
have to boot again.

examples:
  suite/lab/siw_vm/keep_newest.sh 6 ~/.cache/rnic-suite/siw-vm/initramfs/*.cpio
exit: 0 done, 2 usage
USAGE
}

case "${1:-}" in
  --help | -h) usage; exit 0 ;;
  '' | *[!0-9]*) usage >&2; exit 2 ;;
esac
count=$1
shift
[ $# -gt 0 ] || { usage >&2; exit 2; }
ls -dt -- "$@" | tail -n +$((count + 1)) | while IFS= read -r path; do
  flock --nonblock "$path" rm -rf -- "$path" || true
done
