#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Takes the kernel out of a bzImage: an emulated CPU needs seconds for the decompression that the host does in a moment.
set -euo pipefail
[ $# = 2 ] || { echo "usage: unpack_vmlinux.sh VMLINUZ VMLINUX  (exit: 0 done, 1 the image is of another kind)" >&2; exit 2; }

# x86 boot protocol: setup_sects at 0x1f1, "HdrS" at 0x202, payload offset and length (from the end of the setup) at 0x248.
number() { od -An -v -tu"$3" -j"$2" -N"$3" "$1" | tr -d ' '; }
[ "$(dd if="$1" bs=1 skip=$((0x202)) count=4 status=none)" = HdrS ] || { echo "unpack_vmlinux.sh: $1 is no bzImage" >&2; exit 1; }
sectors=$(number "$1" $((0x1f1)) 1)
start=$(((sectors + 1) * 512 + $(number "$1" $((0x248)) 4)))
length=$(number "$1" $((0x24c)) 4)
# The payload ends with the unpacked size in four octets, which is not part of the stream but of gzip's.
payload() { dd if="$1" bs=1M skip="$start" count="$2" iflag=skip_bytes,count_bytes status=none; }
case "$(payload "$1" 4 | od -An -v -tx1 | tr -d ' \n')" in
  fd377a58) payload "$1" $((length - 4)) | xz -dc >"$2" ;;
  28b52ffd) payload "$1" $((length - 4)) | zstd -qdc >"$2" ;;
  1f8b*) payload "$1" "$length" | gzip -dc >"$2" ;;  # whose own trailer is that size
  *) echo "unpack_vmlinux.sh: unknown compression in $1" >&2; exit 1 ;;
esac
