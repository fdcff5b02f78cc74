#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# The newest of a cache's files and folders stay, and those that a guest runs from.
set -euo pipefail
tidy=$(dirname "$(readlink -f "$0")")/../siw_vm/keep_newest.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
touch -d '4 hours ago' in_use.cpio
touch -d '3 hours ago' old.cpio
touch -d '2 hours ago' newer.cpio
touch newest.cpio
mkdir old in_use new
touch -d '4 hours ago' in_use old
exec 8<in_use.cpio 9<in_use
flock --shared 8
flock --shared 9

"$tidy" 2 ./*.cpio
[ "$(ls ./*.cpio | tr '\n' ' ')" = "./in_use.cpio ./newer.cpio ./newest.cpio " ] || { ls; echo "the wrong files are left" >&2; exit 1; }
"$tidy" 1 ./*/
[ "$(ls -d ./*/ | tr '\n' ' ')" = "./in_use/ ./new/ " ] || { ls; echo "the wrong folders are left" >&2; exit 1; }
exec 8<&-
"$tidy" 2 ./*.cpio
[ ! -e in_use.cpio ] || { echo "a file that nobody uses any more is left" >&2; exit 1; }
for wrong in "two ./newest.cpio" "0"; do
  # shellcheck disable=SC2086
  if "$tidy" $wrong 2>/dev/null; then echo "'$wrong' is taken" >&2; exit 1; fi
done
[ -e newest.cpio ]
