// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissectors/wireshark/upper_layers.hpp"

#include <epan/conversation.h>
#include <epan/exceptions.h>
#include <ws_version.h>

#include <algorithm>
#include <array>
#include <ranges>

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
// iSER and NVMe support InfiniBand only: they need its opcodes, and its queue pairs as
// conversations.
struct InfinibandDissector {
  const char* name;
  heur_dtbl_entry_t* entry;
};
std::array<InfinibandDissector, 2> infiniband_dissectors{
    {{"nvme_rdma", nullptr}, {"iser_infiniband", nullptr}}};
int infiniband = -1;

// No message above RDMAP has fewer octets, except for NVMe's completions; some dissectors check no
// more than this.
constexpr std::size_t smallest_send = 20;

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

bool guarded(const Call& call, heur_dtbl_entry_t* entry, void* infiniband_info, void* rdmap_info) {
  volatile bool taken = false;
  TRY {
    heur_dtbl_entry_t* by = nullptr;
    if (entry != nullptr)
      taken = entry->dissector(call.payload, call.packet, call.tree, infiniband_info) != 0;
    else
      taken = dissector_try_heuristic(iwarp_list, call.payload, call.packet, call.tree, &by,
                                      rdmap_info) != 0;
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
  InfinibandView(packet_info* packet, const FrameFacts& facts)
      : packet_(packet),
        type_(packet->ptype),
        source_port_(packet->srcport),
        destination_port_(packet->destport) {
    const ConnectionFacts& connection = *facts.connection;
    const QueuePairs pairs = queue_pairs(connection);
    const bool from_first = facts.direction == analyzer::Direction::from_first;
    const bool to_responder = from_first == first_is_initiator(connection.connection);
    const std::uint32_t service = to_responder ? packet->destport : packet->srcport;
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

bool enabled(const heur_dtbl_entry_t* entry) {
  return entry != nullptr && entry->enabled &&
         (entry->protocol == nullptr || proto_is_protocol_enabled(entry->protocol));
}

bool to_infiniband(const Call& call, const FrameFacts& facts, const MessageFact& message) {
  if (infiniband < 0 ||
      std::ranges::none_of(infiniband_dissectors, enabled, &InfinibandDissector::entry))
    return false;
  struct infinibandinfo info{};
  info.payload_tree = call.tree;
  info.opCode = infiniband_opcode(message.head.opcode);
  info.packet_seq_num = message.exchange;
  info.reth_remote_key = message.head.stag;
  info.reth_remote_address = message.head.tagged_offset;
  info.reth_dma_length = static_cast<std::uint32_t>(message.payload.length);
  if (message.read) {
    info.reth_remote_key = message.read->source_stag.value();
    info.reth_remote_address = message.read->source_offset.value();
    info.reth_dma_length = message.read->length.value();
  }
  const InfinibandView view(call.packet, facts);
  return std::ranges::any_of(infiniband_dissectors, [&](const InfinibandDissector& each) {
    return enabled(each.entry) && guarded(call, each.entry, &info, nullptr);
  });
}

bool to_iwarp(const Call& call, const MessageFact& message) {
  if (iwarp_list == nullptr ||
      (is_send(message.head.opcode) && message.payload.length < smallest_send))
    return false;
  rdmap_request_t read{};
  rdmap_info_t info{};
  info.opcode = static_cast<std::uint8_t>(message.head.opcode);
  info.last_flag = TRUE;
  info.is_tagged = message.head.tagged;
  if (message.head.tagged) {
    info.steering_tag = message.head.stag;
    info.tagged_offset = message.head.tagged_offset;
  } else {
    info.queue_number = message.head.queue;
    info.message_seq_num = message.head.msn;
  }
  if (message.read) {
    read.sink_stag = message.read->sink_stag.value();
    read.sink_toffset = message.read->sink_offset.value();
    read.source_stag = message.read->source_stag.value();
    read.source_toffset = message.read->source_offset.value();
    read.message_size = message.read->length.value();
    info.read_request = &read;
  }
  return guarded(call, nullptr, nullptr, &info);
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

void find_upper_layers() {
  iwarp_list = find_heur_dissector_list("iwarp_ddp_rdmap");
  for (InfinibandDissector& each : infiniband_dissectors)
    each.entry = find_heur_dissector_by_unique_short_name(each.name);
  infiniband = proto_get_id_by_filter_name("infiniband");
}

void hand_on(const Canvas& frame, const FrameFacts& facts, const MessageFact& message,
             const Sketch& payload) {
  // Octets of the other direction that waited for this frame would be taken for those of this
  // sender.
  if (!concerns_upper_layers(message.head.opcode) || message.direction != facts.direction) return;
  packet_info* packet = frame.packet;
  const auto desegment = packet->can_desegment;
  packet->can_desegment = 0;  // a message is complete
  const Call call{payload.buffer(), packet, frame.tree};
  {
    const InfoColumn column(packet);
    if (!to_infiniband(call, facts, message)) to_iwarp(call, message);
  }
  packet->can_desegment = desegment;
}

}  // namespace dissectors::wireshark
