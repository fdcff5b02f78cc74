// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>

#include "dissectors/wireshark/fields.hpp"
#include "dissectors/wireshark/tree.hpp"
#include "reference_rnic/wire/ddp.hpp"
#include "reference_rnic/wire/rdmap.hpp"
#include "reference_rnic/wire/terminate.hpp"

namespace dissectors::wireshark {

namespace wire = rnic::wire;
using wire::Opcode;

namespace {

constexpr int tagged_size = wire::tagged_header_size, untagged_size = wire::untagged_header_size;

void show_ddp(const Sketch& ulpdu, bool tagged) {
  const int size = tagged ? tagged_size : untagged_size;
  const Sketch header = ulpdu.branch(fields.ddp, trees.ddp, 0, size);
  const Sketch control = header.branch(fields.ddp_control, trees.header, 0, 1);
  for (const int id :
       {fields.tagged_flag, fields.last_flag, fields.ddp_reserved, fields.ddp_version})
    control.field(id, 0, 1);
  // The octets that DDP reserves for its ULP are RDMAP's header, which is shown as such.
  if (proto_item* ulp = header.field(fields.ddp_for_ulp, 1, tagged ? 1 : 5))
    proto_item_set_hidden(ulp);
  if (tagged) {
    const Sketch model = header.branch(fields.tagged, trees.header, 2, 12).as_of(header);
    model.field(fields.stag, 2, 4);
    model.field(fields.tagged_offset, 6, 8);
  } else {
    const Sketch model = header.branch(fields.untagged, trees.header, 6, 12).as_of(header);
    model.field(fields.queue_number, 6, 4);
    model.field(fields.msn, 10, 4);
    model.field(fields.mo, 14, 4);
  }
}

void show_rdmap(const Sketch& ulpdu, const wire::Segment& segment) {
  const bool tagged = segment.tagged;
  const Sketch header = ulpdu.branch(fields.rdmap, trees.rdmap, 1, tagged ? 1 : 5);
  const Sketch control = header.branch(fields.rdmap_control, trees.header, 0, 1);
  for (const int id : {fields.rdmap_version, fields.rdmap_reserved, fields.opcode})
    control.field(id, 0, 1);
  if (tagged) return;
  const bool invalidates = wire::carries_invalidate(segment.rdmap().opcode());
  header.field(invalidates ? fields.invalidate_stag : fields.rdmap_reserved_word, 1, 4);
}

void show_headers(const Sketch& ulpdu, const wire::Segment& segment) {
  show_ddp(ulpdu, segment.tagged);
  show_rdmap(ulpdu, segment);
}

// Read Request, RFC 5040 section 4.4.
void show_read_request(const Sketch& payload) {
  const Sketch header =
      payload.branch(fields.read_request, trees.header, 0, std::min(payload.length(), 28));
  header.field(fields.sink_stag, 0, 4);
  header.field(fields.sink_offset, 4, 8);
  header.field(fields.read_size, 12, 4);
  header.field(fields.source_stag, 16, 4);
  header.field(fields.source_offset, 20, 8);
}

// RFC 7306 section 5.2.1: one pair of fields adds or swaps, depending on the operation.
void show_atomic_request(const Sketch& payload) {
  const Sketch header =
      payload.branch(fields.atomic_request, trees.header, 0, std::min(payload.length(), 52));
  header.field(fields.atomic_reserved, 0, 4);
  header.field(fields.atomic_opcode, 0, 4);
  header.field(fields.atomic_id, 4, 4);
  header.field(fields.atomic_stag, 8, 4);
  header.field(fields.atomic_offset, 12, 8);
  const bool adds = (header.octet(3) & 0x0F) == 0;
  header.field(adds ? fields.add_data : fields.swap_data, 20, 8);
  header.field(adds ? fields.add_mask : fields.swap_mask, 28, 8);
  header.field(fields.compare_data, 36, 8);
  header.field(fields.compare_mask, 44, 8);
}

void show_atomic_response(const Sketch& payload) {
  const Sketch header =
      payload.branch(fields.atomic_response, trees.header, 0, std::min(payload.length(), 12));
  header.field(fields.original_id, 0, 4);
  header.field(fields.original_data, 4, 8);
}

/// For a layer and type, the field of its error codes.
int code_field(const wire::TerminateCause& cause) {
  if (cause.layer == wire::layer::rdmap) return fields.code_rdma;
  if (cause.layer == wire::layer::mpa) return fields.code_llp;
  return cause.type == wire::error_type::ddp_tagged     ? fields.code_ddp_tagged
         : cause.type == wire::error_type::ddp_untagged ? fields.code_ddp_untagged
                                                        : fields.terminate_code;
}

int type_field(const wire::TerminateCause& cause) {
  return cause.layer == wire::layer::rdmap ? fields.type_rdma
         : cause.layer == wire::layer::ddp ? fields.type_ddp
                                           : fields.type_llp;
}

// Layer, type and code (RFC 5040 section 4.8), each also under the name that it has for its layer.
void show_cause(const Sketch& control) {
  const auto cause = wire::parse_terminate_cause(control.bytes());
  if (!cause) return;
  const auto hidden = [&](int id, int offset) {
    if (proto_item* item = control.field(id, offset, 1)) proto_item_set_hidden(item);
  };
  state(control.tree(), fields.terminate_cause, wire::describe(*cause));
  control.field(fields.terminate_layer, 0, 1);
  control.field(fields.terminate_type, 0, 1);
  if (cause->layer <= wire::layer::mpa) hidden(type_field(*cause), 0);
  control.field(fields.terminate_code, 1, 1);
  if (const int id = code_field(*cause); id != fields.terminate_code) hidden(id, 1);
}

void show_control(const Sketch& message) {
  const Sketch control =
      message.branch(fields.terminate_control, trees.header, 0,
                     std::min<int>(message.length(), sizeof(wire::TerminateControl)));
  show_cause(control);
  if (!control.has(0, sizeof(wire::TerminateControl))) return;
  const Sketch bits = control.branch(fields.header_control, trees.header, 2, 1).as_of(control);
  for (const int id : {fields.terminate_m, fields.terminate_d, fields.terminate_r})
    bits.field(id, 2, 1);
  control.field(fields.terminate_reserved, 2, 2);
}

void show_copied_headers(const Sketch& ddp, const Sketch& rdmap) {
  const auto segment = wire::parse_segment(ddp.bytes());
  if (!segment) return;
  show_headers(ddp, *segment);
  if (rdmap.length() == 0) return;
  if (segment->rdmap().opcode() == Opcode::atomic_request)
    show_atomic_request(rdmap);
  else
    show_read_request(rdmap);
}

// RFC 5040 section 4.8; the length is there if M or D is set.
void show_terminate(const Sketch& payload) {
  const Sketch message = payload.branch(fields.terminate, trees.header, 0, payload.length());
  show_control(message);
  const auto terminate = wire::parse_terminate(payload.bytes());
  if (!terminate) return;
  int offset = sizeof(wire::TerminateControl);
  if (terminate->segment_length) {
    message.field(fields.terminate_length, offset, 2);
    offset += 2;
  }
  const int ddp = static_cast<int>(terminate->ddp_header.size());
  if (ddp == 0) return;
  const int rdmap = static_cast<int>(terminate->rdmap_header.size());
  const Sketch copied = message.branch(fields.terminate_ddp, trees.header, offset, ddp);
  const Sketch request =
      rdmap > 0 ? message.branch(fields.terminate_rdmap, trees.header, offset + ddp, rdmap)
                : message.from(message.length());
  show_copied_headers(copied, request);
}

void show_payload(const Sketch& payload, Opcode opcode, bool first) {
  state(payload.tree(), fields.payload_octets, static_cast<std::uint64_t>(payload.length()));
  if (payload.length() == 0) return;
  // Only the first segment of a message has its header.
  if (first && opcode == Opcode::read_request) return show_read_request(payload);
  if (first && opcode == Opcode::atomic_request) return show_atomic_request(payload);
  if (first && opcode == Opcode::atomic_response) return show_atomic_response(payload);
  if (first && opcode == Opcode::terminate) return show_terminate(payload);
  if (first && wire::is_immediate(opcode)) payload.field(fields.immediate, 0, 8);
  payload.field(fields.payload, 0, payload.length());
}

}  // namespace

void show_ulpdu(const Sketch& ulpdu) {
  const auto segment = wire::parse_segment(ulpdu.bytes());
  if (!segment) return;
  show_headers(ulpdu, *segment);
  const bool first = !segment->tagged && segment->untagged_header.message_offset.value() == 0;
  show_payload(ulpdu.from(segment->tagged ? tagged_size : untagged_size), segment->rdmap().opcode(),
               first);
}

}  // namespace dissectors::wireshark
