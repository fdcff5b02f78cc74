// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissectors/wireshark/tables.hpp"

#include <epan/conversation_table.h>
#include <epan/srt_table.h>

#include <algorithm>
#include <limits>

namespace dissectors::wireshark {

namespace {

using rnic::wire::Opcode;

/// The display filter's name for an address of this type.
const char* address_field(const address& of, const char* ipv4, const char* ipv6) {
  if (of.type == AT_IPv4) return ipv4;
  return of.type == AT_IPv6 ? ipv6 : CONV_FILTER_INVALID;
}

const char* field_of(const address& of, conv_filter_type_e what) {
  switch (what) {
    case CONV_FT_SRC_ADDRESS:
      return address_field(of, "ip.src", "ipv6.src");
    case CONV_FT_DST_ADDRESS:
      return address_field(of, "ip.dst", "ipv6.dst");
    case CONV_FT_ANY_ADDRESS:
      return address_field(of, "ip.addr", "ipv6.addr");
    case CONV_FT_SRC_PORT:
      return "tcp.srcport";
    case CONV_FT_DST_PORT:
      return "tcp.dstport";
    case CONV_FT_ANY_PORT:
      return "tcp.port";
  }
  return CONV_FILTER_INVALID;
}

const char* field_of_conversation(conv_item_t* item, conv_filter_type_e what) {
  return field_of(item->src_address, what);
}
const char* field_of_endpoint(endpoint_item_t* item, conv_filter_type_e what) {
  return field_of(item->myaddress, what);
}
ct_dissector_info_t conversation_info{field_of_conversation};
et_dissector_info_t endpoint_info{field_of_endpoint};

/// DDP segments, and the octets that they carry for RDMAP.
struct Amount {
  int segments = 0, octets = 0;
};

Amount sent(const FrameFacts& facts, analyzer::Direction direction) {
  Amount sum;
  std::uint64_t octets = 0;
  for (const FpduFact& fact : facts.fpdus) {
    if (!fact.has_segment || fact.place.direction != direction) continue;
    ++sum.segments;
    octets += fact.payload_octets;
  }
  sum.octets = static_cast<int>(std::min<std::uint64_t>(octets, std::numeric_limits<int>::max()));
  return sum;
}

struct End {
  const address* host;
  std::uint32_t port;
};

/// Calls `each(sender, receiver, amount)` for what became known of either direction.
void for_each_direction(const packet_info* packet, const FrameFacts& facts, const auto& each) {
  const End source{&packet->src, packet->srcport}, destination{&packet->dst, packet->destport};
  if (const Amount amount = sent(facts, facts.direction); amount.segments > 0)
    each(source, destination, amount);
  // A frame may complete what the other end sent before.
  if (const Amount amount = sent(facts, analyzer::opposite(facts.direction)); amount.segments > 0)
    each(destination, source, amount);
}

conv_hash_t& table_of(void* tapped, tap_flags_t flags) {
  auto& table = *static_cast<conv_hash_t*>(tapped);
  table.flags = flags;
  return table;
}

tap_packet_status count_conversation(void* tapped, packet_info* packet, epan_dissect_t*,
                                     const void* data, tap_flags_t flags) {
  const auto& facts = *static_cast<const FrameFacts*>(data);
  for_each_direction(packet, facts, [&](End from, End to, Amount amount) {
    // The number keeps apart connections that use the same ports one after the other.
    add_conversation_table_data_with_conv_id(
        &table_of(tapped, flags), from.host, to.host, from.port, to.port,
        static_cast<conv_id_t>(facts.connection->ordinal), amount.segments, amount.octets,
        &packet->rel_ts, &packet->abs_ts, &conversation_info, CONVERSATION_TCP);
  });
  return TAP_PACKET_REDRAW;
}

tap_packet_status count_endpoint(void* tapped, packet_info* packet, epan_dissect_t*,
                                 const void* data, tap_flags_t flags) {
  const auto& facts = *static_cast<const FrameFacts*>(data);
  for_each_direction(packet, facts, [&](End from, End to, Amount amount) {
    add_endpoint_table_data(&table_of(tapped, flags), from.host, from.port, 1, amount.segments,
                            amount.octets, &endpoint_info, ENDPOINT_TCP);
    add_endpoint_table_data(&table_of(tapped, flags), to.host, to.port, 0, amount.segments,
                            amount.octets, &endpoint_info, ENDPOINT_TCP);
  });
  return TAP_PACKET_REDRAW;
}

// The operations that are answered.
enum Answered { read, atomic, count };

void begin_response_times(register_srt*, GArray* tables) {
  srt_stat_table* table =
      init_srt_table("RDMAP, from the Request to the end of its Response", "RDMAP", tables,
                     Answered::count, "Operation", "iwarp_rdma.opcode", nullptr);
  init_srt_table_row(table, Answered::read, "RDMA Read");
  init_srt_table_row(table, Answered::atomic, "Atomic Operation");
}

nstime_t before(nstime_t time, std::uint64_t nanoseconds) {
  constexpr std::uint64_t second = 1'000'000'000;
  nstime_t interval{};
  interval.secs = static_cast<decltype(interval.secs)>(nanoseconds / second);
  interval.nsecs = static_cast<int>(nanoseconds % second);
  nstime_subtract(&time, &interval);
  return time;
}

tap_packet_status count_response_times(void* tapped, packet_info* packet, epan_dissect_t*,
                                       const void* data, tap_flags_t) {
  const GArray* tables = static_cast<srt_data_t*>(tapped)->srt_array;
  srt_stat_table* table = g_array_index(tables, srt_stat_table*, 0);
  for (const FpduFact& fact : static_cast<const FrameFacts*>(data)->fpdus) {
    if (fact.request_frame == 0 || !fact.last_segment) continue;
    const nstime_t asked = before(packet->abs_ts, fact.response_time);
    add_srt_table_data(table,
                       fact.opcode == Opcode::read_response ? Answered::read : Answered::atomic,
                       &asked, packet);
  }
  return TAP_PACKET_REDRAW;
}

}  // namespace

void register_tables(int protocol) {
  register_conversation_table(protocol, 0, count_conversation, count_endpoint);
  register_srt_table(protocol, nullptr, 1, count_response_times, begin_response_times, nullptr);
}

}  // namespace dissectors::wireshark
