// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissectors/wireshark/upper_layers.hpp"

#include <epan/conversation.h>
#include <epan/decode_as.h>
#include <epan/exceptions.h>
#include <epan/prefs.h>
#include <epan/proto_data.h>
#include <fmt/format.h>
#include <ws_version.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <string>
#include <utility>

extern "C" {
#include <epan/dissectors/packet-infiniband.h>
#include <epan/dissectors/packet-iwarp-ddp-rdmap.h>
#include <epan/show_exception.h>
}

#include "reference_rnic/wire/rdmap.hpp"

namespace dissectors::wireshark {

namespace wire = rnic::wire;
using wire::Opcode;

namespace {

// SMB Direct and RPC over RDMA register with Wireshark's own iWARP dissector.
heur_dissector_list_t iwarp_list = nullptr;

struct UpperLayer {
  const char* protocol;
  const char* recogniser;  ///< the name of its heuristic dissector
  /// iSER and NVMe support InfiniBand only: they need its opcodes, and its queue pairs as
  /// conversations.
  bool of_infiniband;
  const char* ports = nullptr;  ///< its preference, by which it recognises its connections
  heur_dtbl_entry_t* entry = nullptr;
};
std::array<UpperLayer, 4> upper_layers{{{"nvme-rdma", "nvme_rdma", true, "subsystem_ports"},
                                        {"iser", "iser_infiniband", true, "target_ports"},
                                        {"smb_direct", "smb_direct_iwarp", false},
                                        {"rpcordma", "rpcrdma_iwarp", false}}};
int infiniband = -1;

// Decode As: the dissector that the user chose for the responder's port.
constexpr const char* table_name = "rnic_iwarp.port";
dissector_table_t by_port = nullptr;

// No message above RDMAP has fewer octets, except for NVMe's completions; some dissectors check no
// more than this.
constexpr int smallest_send = 20;

// The octets that an InfiniBand channel adapter would have sent, in one packet of any length.
std::uint8_t infiniband_opcode(Opcode opcode) {
  switch (opcode) {
    case Opcode::rdma_write:
      return RC_RDMA_WRITE_ONLY;
    case Opcode::read_request:
      return RC_RDMA_READ_REQUEST;
    case Opcode::read_response:
      return RC_RDMA_READ_RESPONSE_ONLY;
    default:
      return wire::carries_invalidate(opcode) ? RC_SEND_ONLY_INVAL : RC_SEND_ONLY;
  }
}

// Service ID of a TCP port (InfiniBand annex A11), by which these dissectors recognise their ports.
std::uint64_t service_of(std::uint32_t port) { return std::uint64_t{0x01060000} | port; }

// The code that dissectors in C may leave by longjmp: nothing in it needs cleaning up.
struct Call {
  tvbuff_t* payload;
  packet_info* packet;
  proto_tree* tree;
};

/// Calls the given dissector or, without one, all that are registered for iWARP.
bool guarded(const Call& call, heur_dtbl_entry_t* entry, dissector_handle_t handle, void* info) {
  volatile bool taken = false;
  TRY {
    heur_dtbl_entry_t* by = nullptr;
    if (handle != nullptr)
      taken = call_dissector_only(handle, call.payload, call.packet, call.tree, info) != 0;
    else if (entry != nullptr)
      taken = entry->dissector(call.payload, call.packet, call.tree, info) != 0;
    else
      taken =
          dissector_try_heuristic(iwarp_list, call.payload, call.packet, call.tree, &by, info) != 0;
  }
  CATCH_BOUNDS_AND_DISSECTOR_ERRORS {
    taken = true;
    show_exception(call.payload, call.packet, call.tree, EXCEPT_CODE, GET_MESSAGE);
  }
  ENDTRY;
  return taken;
}

// A queue pair for each end: numbers that no port can have, so that what is stored under them is
// not taken for that of another connection.
struct QueuePairs {
  std::uint32_t initiator, responder;
};
QueuePairs queue_pairs(const ConnectionFacts& connection) {
  const std::uint32_t first = (1U << 24) + 2 * connection.ordinal;
  return {first, first + 1};
}

// In mid-connection the roles are not known: services have the lower ports.
bool first_is_initiator(const analyzer::Connection& connection) {
  if (connection.role_of_first != analyzer::Role::unknown)
    return connection.role_of_first == analyzer::Role::initiator;
  return connection.first.port >= connection.second.port;
}

class InfinibandView {
 public:
  /// `service`: the responder's port, as the dissectors are to see it.
  InfinibandView(packet_info* packet, const FrameFacts& facts, std::uint32_t service)
      : packet_(packet),
        type_(packet->ptype),
        source_port_(packet->srcport),
        destination_port_(packet->destport) {
    const ConnectionFacts& connection = *facts.connection;
    const QueuePairs pairs = queue_pairs(connection);
    const bool from_first = facts.direction == analyzer::Direction::from_first;
    const bool to_responder = from_first == first_is_initiator(connection.connection);
    packet->ptype = PT_IBQP;
    packet->srcport = to_responder ? pairs.initiator : pairs.responder;
    packet->destport = to_responder ? pairs.responder : pairs.initiator;
    if (find_conversation(packet->num, &packet->src, &packet->dst, CONVERSATION_IBQP,
                          packet->srcport, packet->destport, 0) == nullptr)
      introduce(connection, pairs, to_responder, service);
  }
  InfinibandView(const InfinibandView&) = delete;
  InfinibandView& operator=(const InfinibandView&) = delete;
  ~InfinibandView() {
    packet_->ptype = type_;
    packet_->srcport = source_port_;
    packet_->destport = destination_port_;
  }

 private:
  // Wireshark's conversations of an InfiniBand connection: one for both directions, one to each
  // end.
  void introduce(const ConnectionFacts& connection, const QueuePairs& pairs, bool to_responder,
                 std::uint32_t service) {
    const address* initiator = to_responder ? &packet_->src : &packet_->dst;
    const address* responder = to_responder ? &packet_->dst : &packet_->src;
    const auto make = [&](const address* from, std::uint32_t from_pair, const address* to,
                          std::uint32_t to_pair, unsigned options, bool to_server) {
      auto* data = wmem_new0(wmem_file_scope(), conversation_infiniband_data);
      data->service_id = service_of(service);
      data->client_to_server = to_server;
      data->src_qp = pairs.initiator;
      // The place of the ULP's private data in a request with IP addresses.
      constexpr std::size_t of_ulp = 140 + 36;
      std::ranges::copy(connection.private_data | std::views::take(MAD_DATA_SIZE - of_ulp),
                        reinterpret_cast<std::byte*>(data->mad_private_data) + of_ulp);
      conversation_t* made =
          conversation_new(packet_->num, from, to, CONVERSATION_IBQP, from_pair, to_pair, options);
      conversation_add_proto_data(made, infiniband, data);
    };
    make(initiator, pairs.initiator, responder, pairs.responder, 0, true);
    make(responder, pairs.responder, responder, pairs.responder, NO_ADDR2 | NO_PORT2, true);
    make(initiator, pairs.initiator, initiator, pairs.initiator, NO_ADDR2 | NO_PORT2, false);
  }

  packet_info* packet_;
  decltype(packet_info::ptype) type_;
  std::uint32_t source_port_, destination_port_;
};

bool enabled(const UpperLayer& each) {
  return each.entry != nullptr && each.entry->enabled &&
         (each.entry->protocol == nullptr || proto_is_protocol_enabled(each.entry->protocol));
}

/// A whole message on its way up.
struct Handing {
  const FrameFacts& facts;
  const MessageFact& message;
  const Sketch& payload;
};

struct infinibandinfo as_infiniband(const Call& call, const Handing& handing) {
  const MessageHead& head = handing.message.head;
  struct infinibandinfo info{};
  info.payload_tree = call.tree;
  info.opCode = infiniband_opcode(head.opcode);
  info.packet_seq_num = handing.message.exchange;
  info.reth_remote_key = head.stag;
  info.reth_remote_address = head.tagged_offset;
  info.reth_dma_length = static_cast<std::uint32_t>(handing.payload.length());
  if (const auto read = read_request_in(head, handing.payload.bytes())) {
    info.reth_remote_key = read->source_stag.value();
    info.reth_remote_address = read->source_offset.value();
    info.reth_dma_length = read->length.value();
  }
  return info;
}

/// As Wireshark's own iWARP dissector describes a message. `read` belongs to it.
rdmap_info_t as_iwarp(const Handing& handing, rdmap_request_t& read) {
  const MessageHead& head = handing.message.head;
  rdmap_info_t info{};
  info.opcode = static_cast<std::uint8_t>(head.opcode);
  info.last_flag = TRUE;
  info.is_tagged = head.tagged;
  if (head.tagged) {
    info.steering_tag = head.stag;
    info.tagged_offset = head.tagged_offset;
  } else {
    info.queue_number = head.queue;
    info.message_seq_num = head.msn;
  }
  if (const auto asked = read_request_in(head, handing.payload.bytes())) {
    read.sink_stag = asked->sink_stag.value();
    read.sink_toffset = asked->sink_offset.value();
    read.source_stag = asked->source_stag.value();
    read.source_toffset = asked->source_offset.value();
    read.message_size = asked->length.value();
    info.read_request = &read;
  }
  return info;
}

bool to_infiniband(const Call& call, const Handing& handing) {
  const auto wanted = [](const UpperLayer& each) { return each.of_infiniband && enabled(each); };
  if (infiniband < 0 || std::ranges::none_of(upper_layers, wanted)) return false;
  auto info = as_infiniband(call, handing);
  const InfinibandView view(call.packet, handing.facts,
                            service_port(handing.facts.connection->connection));
  return std::ranges::any_of(upper_layers, [&](const UpperLayer& each) {
    return wanted(each) && guarded(call, each.entry, nullptr, &info);
  });
}

bool to_iwarp(const Call& call, const Handing& handing) {
  if (iwarp_list == nullptr ||
      (is_send(handing.message.head.opcode) && handing.payload.length() < smallest_send))
    return false;
  rdmap_request_t read{};
  rdmap_info_t info = as_iwarp(handing, read);
  return guarded(call, nullptr, nullptr, &info);
}

// ---- Decode As

/// The message that the chosen dissector is called for: Wireshark passes on no more than octets and
/// one pointer, which is for dissectors of others.
const Handing* chosen_for = nullptr;

/// A port by which a dissector recognises its connections, whatever port they really have.
std::uint32_t own_port(const UpperLayer& layer) {
  const range_t* ports = prefs_get_range_value(layer.protocol, layer.ports);
  return ports != nullptr && ports->nranges > 0 ? ports->ranges[0].low : 0;
}

template <std::size_t Index>
int dissect_chosen(tvbuff_t* payload, packet_info* packet, proto_tree* tree, void*) {
  const UpperLayer& layer = upper_layers[Index];
  if (chosen_for == nullptr || layer.entry == nullptr) return 0;
  const Call call{payload, packet, tree};
  bool taken = false;
  if (layer.of_infiniband) {
    auto info = as_infiniband(call, *chosen_for);
    const InfinibandView view(packet, chosen_for->facts, own_port(layer));
    taken = guarded(call, layer.entry, nullptr, &info);
  } else {
    rdmap_request_t read{};
    rdmap_info_t info = as_iwarp(*chosen_for, read);
    taken = guarded(call, layer.entry, nullptr, &info);
  }
  return taken ? static_cast<int>(tvb_captured_length(payload)) : 0;
}

/// Whether the user chose a dissector for the port: no other is asked then.
bool to_chosen(const Call& call, const Handing& handing) {
  dissector_handle_t handle =
      dissector_get_uint_handle(by_port, service_port(handing.facts.connection->connection));
  if (handle == nullptr) return false;
  rdmap_request_t read{};
  rdmap_info_t info = as_iwarp(handing, read);
  chosen_for = &handing;
  guarded(call, nullptr, handle, &info);
  chosen_for = nullptr;
  return true;
}

int protocol = -1;

gpointer shown_port(packet_info* packet) {
  return p_get_proto_data(packet->pool, packet, protocol, service_port_key);
}
void prompt(packet_info* packet, char* text) {
  const std::string line =
      fmt::format("messages to and from port {} as", GPOINTER_TO_UINT(shown_port(packet)));
  g_strlcpy(text, line.c_str(), MAX_DECODE_AS_PROMPT_LEN);
}

void register_choice() {
  by_port = register_dissector_table(table_name, "iWARP: messages, by the responder's port",
                                     protocol, FT_UINT16, BASE_DEC);
  static build_valid_func port = shown_port;
  static decode_as_value_t values{prompt, 1, &port};
  static decode_as_t choice{"rnic_iwarp",
                            table_name,
                            1,
                            0,
                            &values,
                            "port",
                            nullptr,
                            decode_as_default_populate_list,
                            decode_as_default_reset,
                            decode_as_default_change,
                            nullptr};
  register_decode_as(&choice);
}

template <std::size_t... Indices>
void offer_choice(std::index_sequence<Indices...>) {
  const auto offer = [](const UpperLayer& layer, dissector_t dissector) {
    const int id = proto_get_id_by_filter_name(layer.protocol);
    if (id >= 0 && layer.entry != nullptr)
      dissector_add_for_decode_as(table_name, create_dissector_handle(dissector, id));
  };
  (offer(upper_layers[Indices], dissect_chosen<Indices>), ...);
}

// The info column of the packet list: our line, then theirs.
class InfoColumn {
 public:
  explicit InfoColumn(packet_info* packet) : packet_(packet) {
    column_info* columns = packet->cinfo;
    if (columns == nullptr || !col_get_writable(columns, COL_INFO)) return;
    const char* text = col_get_text(columns, COL_INFO);
    if (text == nullptr) return;
    ours_ = wmem_strdup(packet->pool, text);
    col_clear(columns, COL_INFO);
  }
  InfoColumn(const InfoColumn&) = delete;
  InfoColumn& operator=(const InfoColumn&) = delete;
  ~InfoColumn() {
    if (ours_ == nullptr) return;
    const char* theirs = wmem_strdup(packet_->pool, col_get_text(packet_->cinfo, COL_INFO));
    // A dissector may protect its text in the column, which would then be there twice.
    col_clear_fence(packet_->cinfo, COL_INFO);
    col_clear(packet_->cinfo, COL_INFO);
    col_add_fstr(packet_->cinfo, COL_INFO, *theirs == '\0' ? "%s%s" : "%s | %s", ours_, theirs);
  }

 private:
  packet_info* packet_;
  const char* ours_ = nullptr;
};

}  // namespace

std::uint16_t service_port(const analyzer::Connection& connection) {
  return first_is_initiator(connection) ? connection.second.port : connection.first.port;
}

void register_upper_layers(int of) {
  protocol = of;
  register_choice();
}

void find_upper_layers() {
  iwarp_list = find_heur_dissector_list("iwarp_ddp_rdmap");
  for (UpperLayer& each : upper_layers)
    each.entry = find_heur_dissector_by_unique_short_name(each.recogniser);
  infiniband = proto_get_id_by_filter_name("infiniband");
  offer_choice(std::make_index_sequence<upper_layers.size()>());
}

bool hand_on(const Canvas& frame, const FrameFacts& facts, const MessageFact& message,
             const Sketch& payload) {
  // Octets of the other direction that waited for this frame would be taken for those of this
  // sender.
  if (!concerns_upper_layers(message.head.opcode) || message.direction != facts.direction)
    return false;
  packet_info* packet = frame.packet;
  const auto desegment = packet->can_desegment;
  packet->can_desegment = 0;  // a message is complete
  const Call call{payload.buffer(), packet, frame.tree};
  const Handing handing{facts, message, payload};
  bool decoded = false;
  {
    const InfoColumn column(packet);
    decoded = to_chosen(call, handing) || to_infiniband(call, handing) || to_iwarp(call, handing);
  }
  packet->can_desegment = desegment;
  return decoded;
}

}  // namespace dissectors::wireshark
