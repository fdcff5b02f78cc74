// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissectors/wireshark/follow.hpp"

#include <epan/follow.h>
#include <epan/proto_data.h>
#include <epan/tap.h>
#include <epan/to_str.h>
#include <fmt/format.h>
#include <ws_version.h>

#include <string>

#include "dissectors/wireshark/upper_layers.hpp"
#include "reference_rnic/wire/ddp.hpp"

namespace dissectors::wireshark {

namespace {

using rnic::wire::Opcode;

int protocol = -1, tap = -1;
constexpr const char* tap_name = "rnic_iwarp_follow";

/// Data of the tap.
struct Followed {
  tvbuff_t* payload;
  bool from_destination;  ///< of the frame, which completed what came before
};

// What a consumer wrote, sent or read; not what RDMAP itself needs to say.
bool is_of_consumers(const FpduFact& fact) {
  return fact.has_segment && fact.payload_octets > 0 &&
         (is_send(fact.opcode) || fact.opcode == Opcode::rdma_write ||
          fact.opcode == Opcode::read_response || rnic::wire::is_immediate(fact.opcode));
}

char* filter_of(const std::string& text) { return g_strdup(text.c_str()); }

char* filter_of_connection(unsigned number, unsigned) {
  return filter_of(fmt::format("rnic_iwarp.connection == {}", number));
}

char* filter_of_frame(epan_dissect_t*, packet_info* packet, unsigned* number, unsigned* part) {
  const void* known = p_get_proto_data(packet->pool, packet, protocol, connection_key);
  if (known == nullptr) return nullptr;
  *number = GPOINTER_TO_UINT(known);
  *part = 0;
  return filter_of_connection(*number, 0);
}

char* filter_of_ends(address* one, address* other, int one_port, int other_port) {
  const auto end = [](const address* host, int port) {
    char* text = address_to_str(nullptr, host);
    const std::string filter = fmt::format("{}.addr == {} && tcp.port == {}",
                                           host->type == AT_IPv6 ? "ipv6" : "ip", text, port);
    wmem_free(nullptr, text);
    return filter;
  };
  return filter_of(
      fmt::format("rnic_iwarp && {} && {}", end(one, one_port), end(other, other_port)));
}

char* port_shown(wmem_allocator_t* pool, unsigned port) {
  return wmem_strdup(pool, fmt::to_string(port).c_str());
}

tap_packet_status take(void* tapped, packet_info* packet, epan_dissect_t*, const void* data,
                       tap_flags_t) {
  auto* info = static_cast<follow_info_t*>(tapped);
  const auto& followed = *static_cast<const Followed*>(data);
  const address &sender = followed.from_destination ? packet->dst : packet->src,
                &receiver = followed.from_destination ? packet->src : packet->dst;
  const auto from = followed.from_destination ? packet->destport : packet->srcport,
             to = followed.from_destination ? packet->srcport : packet->destport;
  if (info->client_port == 0) {
    info->client_port = from;
    copy_address(&info->client_ip, &sender);
    info->server_port = to;
    copy_address(&info->server_ip, &receiver);
  }
  const auto length = tvb_captured_length(followed.payload);
  auto* record = g_new0(follow_record_t, 1);
  record->is_server = from != info->client_port || addresses_equal(&info->client_ip, &sender) == 0;
  record->packet_num = packet->num;
  record->abs_ts = packet->abs_ts;
  record->data =
      g_byte_array_append(g_byte_array_sized_new(length),
                          tvb_get_ptr(followed.payload, 0, static_cast<int>(length)), length);
  info->bytes_written[record->is_server ? 1 : 0] += length;
  info->payload = g_list_prepend(info->payload, record);
  return TAP_PACKET_DONT_REDRAW;
}

}  // namespace

void register_follow(int of) {
  protocol = of;
  tap = register_tap(tap_name);
#if WIRESHARK_VERSION_MAJOR > 4 || WIRESHARK_VERSION_MINOR >= 2
  const auto highest = [] { return G_MAXUINT32; };
  register_follow_stream(protocol, tap_name, filter_of_frame, filter_of_connection, filter_of_ends,
                         port_shown, take, highest, nullptr);
#else
  register_follow_stream(protocol, tap_name, filter_of_frame, filter_of_connection, filter_of_ends,
                         port_shown, take);
#endif
}

void follow(const Canvas& canvas, const FrameFacts& facts) {
  if (have_tap_listener(tap) == 0) return;
  for (const FpduFact& fact : facts.fpdus) {
    if (!is_of_consumers(fact)) continue;
    const Sketch ulpdu = Sketch::of(canvas, nullptr, fact.ulpdu, "ULPDU");
    const auto segment = rnic::wire::parse_segment(ulpdu.bytes());
    if (!segment || segment->payload.empty()) continue;
    auto* followed = wmem_new0(canvas.packet->pool, Followed);
    followed->payload = ulpdu.from(static_cast<int>(segment->header().size())).buffer();
    followed->from_destination = fact.place.direction != facts.direction;
    tap_queue_packet(tap, canvas.packet, followed);
  }
}

}  // namespace dissectors::wireshark
