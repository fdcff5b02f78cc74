// SPDX-License-Identifier: GPL-2.0-or-later
// The Wireshark plugin: the functions that Wireshark calls, and the preferences.
//
// A postdissector gives every TCP frame to the analyzer once, also those that Wireshark does not
// give to dissectors (out of order, retransmitted) or gives to others (ports 445, 5445, 4420). A
// frame is always shown from the facts that are kept of it.
#include <epan/conversation.h>
#include <epan/packet.h>
#include <epan/prefs.h>
#include <epan/proto_data.h>
#include <wiretap/wtap.h>
#include <ws_version.h>

#include <memory>
#include <optional>
#include <set>
#include <span>

#include "dissectors/wireshark/columns.hpp"
#include "dissectors/wireshark/expert.hpp"
#include "dissectors/wireshark/fields.hpp"
#include "dissectors/wireshark/file_analysis.hpp"
#include "dissectors/wireshark/taps.hpp"
#include "dissectors/wireshark/tree.hpp"
#include "dissectors/wireshark/upper_layers.hpp"
#include "reference_rnic/wire/ddp.hpp"
#include "reference_rnic/wire/mpa_frame.hpp"

using namespace dissectors;
using namespace dissectors::wireshark;

namespace {

// Wireshark's interface has no place for an object of ours, so the state of the open file is
// global.
std::unique_ptr<FileAnalysis> analysis;
int protocol = -1;
dissector_handle_t payload_handle, startup_handle;
std::uint32_t claimed_already = 0;  // the frame whose payload we were given last
range_t* iwarp_ports = nullptr;
heur_dtbl_entry_t* builtin = nullptr;  // Wireshark's own dissector of MPA
#if WIRESHARK_VERSION_MAJOR > 4 || WIRESHARK_VERSION_MINOR >= 4
using Choice = bool;
#else
using Choice = gboolean;
#endif
Choice replace_builtin = 1, hands_on = 1;

std::optional<capture::LinkType> link_of(const packet_info& packet) {
  if (packet.rec == nullptr || packet.rec->rec_type != REC_TYPE_PACKET) return std::nullopt;
  switch (packet.rec->rec_header.packet_header.pkt_encap) {
    case WTAP_ENCAP_ETHERNET:
      return capture::LinkType::ethernet;
    case WTAP_ENCAP_NULL:
      return capture::LinkType::null_loopback;
    case WTAP_ENCAP_LOOP:
      return capture::LinkType::loop;
    case WTAP_ENCAP_RAW_IP:
      return capture::LinkType::raw_ip;
    case WTAP_ENCAP_RAW_IP4:
      return capture::LinkType::raw_ipv4;
    case WTAP_ENCAP_RAW_IP6:
      return capture::LinkType::raw_ipv6;
    case WTAP_ENCAP_SLL:
      return capture::LinkType::linux_sll;
    case WTAP_ENCAP_SLL2:
      return capture::LinkType::linux_sll2;
    default:
      return std::nullopt;
  }
}

std::uint64_t time_of(const packet_info& packet) {
  return static_cast<std::uint64_t>(packet.abs_ts.secs) * 1'000'000'000 +
         static_cast<std::uint64_t>(packet.abs_ts.nsecs);
}

base::Bytes octets_of(tvbuff_t* buffer) {
  const std::size_t length = tvb_captured_length(buffer);
  return std::as_bytes(std::span(tvb_get_ptr(buffer, 0, static_cast<int>(length)), length));
}

// When a frame is seen for the first time, its effects are shown, also those on earlier frames,
// since one pass does not return to them; later, what is known about the frame is shown.
const FrameFacts* facts_of(tvbuff_t* frame, const packet_info& packet) {
  if (packet.fd->visited) {
    // A return to the first frame shows that the last one has been seen.
    if (packet.num == 1) analysis->conclude();
    return analysis->facts(packet.num, octets_of(frame));
  }
  const auto link = link_of(packet);
  if (!link) return nullptr;
  return analysis->take(*link, octets_of(frame), packet.num, time_of(packet));
}

// We see the first payload of a connection first: an MPA Request is recognised before the dissector
// of its port takes the key for a length and collects everything after it as one message.
void watch(packet_info* packet) {
  if (packet->ptype != PT_TCP || !replace_builtin) return;
  conversation_t* conversation = find_conversation_pinfo(packet, 0);
  if (conversation != nullptr && conversation_get_dissector(conversation, packet->num) == nullptr)
    conversation_set_dissector(conversation, startup_handle);
}

// From here on the payload is ours, so that no other dissector misinterprets it.
void claim(packet_info* packet) {
  if (packet->ptype != PT_TCP || packet->num == claimed_already) return;
  conversation_t* conversation = find_conversation_pinfo(packet, 0);
  if (conversation == nullptr ||
      conversation_get_dissector(conversation, packet->num) == payload_handle)
    return;
  conversation_set_dissector_from_frame_number(conversation, conversation->setup_frame,
                                               payload_handle);
}

// Fields are not needed if they are neither displayed nor used by a filter, a tap or a column;
// expert items are counted in any case.
bool fields_are_wanted(proto_tree* tree) {
  return tree != nullptr && proto_field_is_referenced(tree, protocol);
}

void show_joined_message(const Canvas& frame, const Canvas& ours, const FrameFacts& facts,
                         const MessageFact& fact, bool wanted) {
  const Sketch payload = Sketch::of(frame, ours.tree, fact.payload, "Message");
  if (wanted && fact.frames.size() > 1) show_joined(payload, fact);
  if (!hands_on || fact.payload.length == 0) return;
  if (hand_on(frame, facts, fact, payload) && !frame.packet->fd->visited)
    analysis->decoded_above(fact);
}

// A message that is one FPDU.
void show_message(const Canvas& frame, const Canvas& ours, const FrameFacts& facts,
                  const FpduFact& fact) {
  const Sketch ulpdu = Sketch::of(frame, ours.tree, fact.ulpdu, "Message");
  const auto segment = rnic::wire::parse_segment(ulpdu.bytes());
  if (!segment) return;
  hand_on(frame, facts,
          {.head = head_of(*segment, fact.message),
           .direction = fact.place.direction,
           .frames = {},
           .payload = {},
           .exchange = fact.exchange},
          ulpdu.from(static_cast<int>(segment->header().size())));
}

// In the order in which they became complete.
void show_messages(const Canvas& frame, const Canvas& ours, const FrameFacts& facts, bool wanted) {
  auto joined = std::span(facts.events->joined);
  const auto ends_with = [&](const FpduFact& fact) {
    return !joined.empty() && fact.last_segment && fact.message == joined.front().head.number &&
           fact.place.direction == joined.front().direction;
  };
  const auto show_next_joined = [&] {
    show_joined_message(frame, ours, facts, joined.front(), wanted);
    joined = joined.subspan(1);
  };
  for (const FpduFact& fact : facts.fpdus) {
    if (fact.exchange != 0 && hands_on) show_message(frame, ours, facts, fact);
    if (ends_with(fact)) show_next_joined();
  }
  while (!joined.empty()) show_next_joined();  // FPDUs of this frame completed by others
}

// For the menus of the packet that is shown: Follow, Decode As.
void remember(packet_info* packet, const analyzer::Connection& connection) {
  const auto add = [packet](std::uint32_t key, std::uint64_t value) {
    p_add_proto_data(packet->pool, packet, protocol, key,
                     GUINT_TO_POINTER(static_cast<guint>(value)));
  };
  add(connection_key, connection.number);
  add(service_port_key, service_port(connection));
}

void show(const Canvas& frame, const FrameFacts& facts) {
  proto_item* item = proto_tree_add_item(frame.tree, protocol, frame.frame, 0, 0, ENC_NA);
  const Canvas canvas{frame.frame, frame.packet, proto_item_add_subtree(item, trees.frame)};
  const bool wanted = fields_are_wanted(canvas.tree);
  remember(frame.packet, facts.connection->connection);
  if (wanted) show_connection(canvas, facts);
  if (facts.without_effects()) return;
  show_findings(canvas, *facts.events);
  show_notes(canvas, *facts.events);
  if (wanted) {
    for (const MpaFrameFact& fact : facts.events->mpa_frames) show_mpa_frame(canvas, fact);
    for (const FpduFact& fact : facts.fpdus) show_fpdu(canvas, fact);
    for (const std::uint32_t response : facts.responses)
      state(canvas.tree, fields.response_in, response);
    for (const std::uint32_t terminate : facts.blamed_by)
      state(canvas.tree, fields.blamed_in, terminate);
  }
  show_columns(canvas, facts);
  show_messages(frame, canvas, facts, wanted);
  count(canvas, facts);
}

int dissect_frame(tvbuff_t* frame, packet_info* packet, proto_tree* tree, void*) {
  if (!analysis) return 0;
  const FrameFacts* facts = facts_of(frame, *packet);
  if (facts == nullptr || facts->connection == nullptr) return 0;
  if (facts->opens) watch(packet);
  const bool broken = !facts->events->findings.empty();
  if (!facts->connection->iwarp && !broken) return 0;
  // A frame without effects, such as a bare acknowledgement, is not for other dissectors either.
  if (!packet->fd->visited && facts->connection->iwarp && !facts->without_effects()) claim(packet);
  show({frame, packet, tree}, *facts);
  return static_cast<int>(tvb_captured_length(frame));
}

int take(tvbuff_t* payload, packet_info* packet) {
  col_set_str(packet->cinfo, COL_PROTOCOL, "iWARP");
  return static_cast<int>(tvb_captured_length(payload));
}

// Payload of connections that are known to be iWARP: the postdissector shows it.
int dissect_payload(tvbuff_t* payload, packet_info* packet, proto_tree*, void*) {
  claimed_already = packet->num;
  return take(payload, packet);
}

// Payload of a connection of which only the beginning was seen. If it is no startup, it is left to
// other dissectors, and we keep nothing about their connection.
int dissect_startup(tvbuff_t* payload, packet_info* packet, proto_tree*, void*) {
  const auto begins_with = [&](rnic::wire::MpaFrameKind kind) {
    const rnic::wire::MpaKey& key = rnic::wire::mpa_key(kind);
    return tvb_memeql(payload, 0, reinterpret_cast<const guint8*>(key.data()), key.size()) == 0;
  };
  if (begins_with(rnic::wire::MpaFrameKind::request) ||
      begins_with(rnic::wire::MpaFrameKind::reply))
    return take(payload, packet);
  conversation_t* conversation = find_conversation_pinfo(packet, 0);
  if (conversation != nullptr &&
      conversation_get_dissector(conversation, packet->num) == startup_handle)
    conversation_set_dissector(conversation, nullptr);
  return 0;
}

// What the analyzer does not read (a link type, a tunnel, a fragmented IP packet) is left to
// Wireshark's own dissectors, which get the payload as Wireshark found it.
Choice dissect_unread(tvbuff_t* payload, packet_info* packet, proto_tree* tree, void* data) {
  if (builtin == nullptr || !replace_builtin) return 0;
  const auto link = link_of(*packet);
  if (link && capture::parse_segment(*link, octets_of(tvb_get_ds_tvb(payload)))) return 0;
  return builtin->dissector(payload, packet, tree, data);
}

// Decode As: the port that the user named.
int dissect_as(tvbuff_t* payload, packet_info* packet, proto_tree* tree, void* data) {
  if (analysis && !packet->fd->visited)
    analysis->treat_as_iwarp(static_cast<std::uint16_t>(packet->match_uint));
  return dissect_payload(payload, packet, tree, data);
}

void open_file() {
  std::set<std::uint16_t> ports;
  if (iwarp_ports != nullptr)
    range_foreach(
        iwarp_ports,
        [](guint32 port, void* to) {
          static_cast<std::set<std::uint16_t>*>(to)->insert(static_cast<std::uint16_t>(port));
        },
        &ports);
  analysis = std::make_unique<FileAnalysis>(ports);
  claimed_already = 0;
}

void close_file() { analysis.reset(); }

void apply_preferences() {
  if (builtin != nullptr) builtin->enabled = !replace_builtin;
}

void register_preferences() {
  module_t* module = prefs_register_protocol(protocol, apply_preferences);
  prefs_register_bool_preference(
      module, "replace_builtin", "Leave out Wireshark's own iWARP dissectors",
      "Otherwise frames that both understand show the same fields twice.", &replace_builtin);
  prefs_register_bool_preference(
      module, "hand_on", "Hand messages on to SMB Direct, RPC over RDMA, iSER and NVMe",
      "Whole messages are shown by the dissectors of these protocols where they know them.",
      &hands_on);
  prefs_register_range_preference(
      module, "ports", "TCP ports that carry iWARP",
      "Connections with one of these ports are taken for iWARP even if their startup was not seen "
      "and nothing fits yet.",
      &iwarp_ports, 65535);
}

void register_protocol() {
  protocol = proto_register_protocol("iWARP, judged by the RFCs (MPA, DDP, RDMAP)", "RNIC iWARP",
                                     "rnic_iwarp");
  register_fields(protocol);
  register_expert_fields(protocol);
  register_preferences();
  register_taps(protocol);
  register_upper_layers(protocol);
  register_init_routine(open_file);
  register_cleanup_routine(close_file);
  payload_handle = create_dissector_handle(dissect_payload, protocol);
  startup_handle = create_dissector_handle(dissect_startup, protocol);
  register_postdissector(create_dissector_handle(dissect_frame, protocol));
}

void hand_off() {
  heur_dissector_add("tcp", dissect_unread, "iWARP in frames that rnic_iwarp does not read",
                     "rnic_iwarp_unread", protocol, HEURISTIC_ENABLE);
  dissector_add_for_decode_as("tcp.port", create_dissector_handle(dissect_as, protocol));
  find_upper_layers();
  builtin = find_heur_dissector_by_unique_short_name("iwarp_mpa_tcp");
  apply_preferences();
}

}  // namespace

extern "C" WS_DLL_PUBLIC_DEF const char plugin_version[] = RNIC_PLUGIN_VERSION;
extern "C" WS_DLL_PUBLIC_DEF const int plugin_want_major = WIRESHARK_VERSION_MAJOR;
extern "C" WS_DLL_PUBLIC_DEF const int plugin_want_minor = WIRESHARK_VERSION_MINOR;

extern "C" {
WS_DLL_PUBLIC void plugin_register(void);
WS_DLL_PUBLIC std::uint32_t plugin_describe(void);
}

void plugin_register() {
  static const proto_plugin plugin{register_protocol, hand_off};
  proto_register_plugin(&plugin);
}

/// Required from 4.4 on: states that the plugin contains a dissector.
std::uint32_t plugin_describe() { return 1; }
