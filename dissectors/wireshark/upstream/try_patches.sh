#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Shows what the patches for Wireshark's own MPA dissector change, without building Wireshark.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")

usage() {
  cat <<'USAGE'
usage: try_patches.sh WIRESHARK-SOURCES [CAPTURE...]

Applies the patches of this folder to a copy of epan/dissectors/packet-iwarp-mpa.c, compiles the dissector before and after
them as a plugin of the installed tshark, under another name, and prints how many FPDUs each reads in the captures (default:
those of the corpus with Markers, or with several FPDUs in a segment). Needs tshark, libwireshark-dev and wireshark-dev.

example: apt-get source wireshark && dissectors/wireshark/upstream/try_patches.sh wireshark-4.0.17
exit: 0 done, 1 a patch does not apply or does not compile, 2 usage
USAGE
}

case "${1:---help}" in --help | -h) usage; exit 0 ;; esac
source=$1/epan/dissectors/packet-iwarp-mpa.c
shift
[ -f "$source" ] || { echo "try_patches.sh: $source is missing; name the folder of Wireshark's sources" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/epan/dissectors"
: >"$work/config.h"
cat >"$work/plugin.c" <<'PLUGIN'
#include <epan/packet.h>
#include <epan/proto.h>
#include <ws_version.h>
WS_DLL_PUBLIC_DEF const char plugin_version[] = "0";
WS_DLL_PUBLIC_DEF const int plugin_want_major = WIRESHARK_VERSION_MAJOR, plugin_want_minor = WIRESHARK_VERSION_MINOR;
void proto_register_mpa(void);
void proto_reg_handoff_mpa(void);
WS_DLL_PUBLIC void plugin_register(void);
WS_DLL_PUBLIC unsigned plugin_describe(void);
void plugin_register(void) {
  static proto_plugin plugin;
  plugin.register_protoinfo = proto_register_mpa;
  plugin.register_handoff = proto_reg_handoff_mpa;
  proto_register_plugin(&plugin);
}
unsigned plugin_describe(void) { return 1; }
PLUGIN
read -ra flags <<<"$(pkg-config --cflags wireshark)"
read -ra libraries <<<"$(pkg-config --libs wireshark)"
version=$(basename "$(pkg-config --variable=plugindir wireshark)")

# build NAME: the dissector as it is now; Wireshark has no two protocols of one name.
build() {
  local folder=$work/$1/$version/epan include
  mkdir -p "$folder"
  include=$(pkg-config --variable=includedir wireshark)/wireshark
  sed 's/iwarp_mpa\([._"]\)/iwarp_mpb\1/g; s/"IWARP_MPA"/"IWARP_MPB"/; s/iWARP Marker Protocol data unit/iWARP Marker PDU/' \
    "$work/epan/dissectors/packet-iwarp-mpa.c" | sed 's/dissect_iwarp_mpb/dissect_iwarp_mpa/g' >"$work/dissector.c"
  gcc -shared -fPIC -O1 -Wall -Wextra -Werror -Wno-unused-parameter -I"$work" -I"$include/epan/dissectors" "${flags[@]}" \
    "$work/dissector.c" "$work/plugin.c" -o "$folder/mpb.so" "${libraries[@]}"
}

cp "$source" "$work/epan/dissectors"
build before
for patch in "$here"/*.patch; do
  patch --quiet --fuzz=0 -p1 -d "$work" <"$patch" || { echo "try_patches.sh: $(basename "$patch") does not apply" >&2; exit 1; }
  build after
done
echo "$(basename "$(pkg-config --variable=plugindir wireshark)"): all patches apply, and compile without a warning"

if [ $# = 0 ]; then
  for name in markers_both_ways markers_to_initiator markers_to_responder markers_without_crc packed wrong_crc wrong_marker; do
    zcat "$here/../../corpus/samples/$name.pcap.gz" >"$work/$name.pcap"
    set -- "$@" "$work/$name.pcap"
  done
fi
chmod -R a+rX "$work"
plain=()
[ "$(id -u)" != 0 ] || plain=(setpriv --reuid=65534 --regid=65534 --clear-groups)
printf '%-28s %8s %8s %10s %10s\n' capture patches FPDUs 'right CRC' 'wrong CRC'
for capture; do
  for state in before after; do
    # The heuristics above RDMAP take the samples' payloads for theirs.
    "${plain[@]}" env HOME="$work" WIRESHARK_PLUGIN_DIR="$work/$state" tshark --disable-heuristic iwarp_mpa_tcp \
      --disable-heuristic rpcrdma_iwarp --disable-heuristic smb_direct_iwarp -o tcp.try_heuristic_first:TRUE -r "$capture" -V >"$work/shown"
    count() { grep -c -- "$1" "$work/shown" || true; }
    printf '%-28s %8s %8s %10s %10s\n' "$(basename "$capture" .pcap)" "$state" "$(count 'ULPDU length')" "$(count 'Good CRC32')" \
      "$(count '(Bad CRC32')"
  done
done
