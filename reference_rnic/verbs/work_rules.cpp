// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The rules of work requests.
#include "reference_rnic/verbs/work_rules.hpp"

#include <limits>

namespace rnic::verbs {

stream::WorkKind work_kind(Operation operation) {
  switch (operation) {
    case Operation::write:
      return stream::WorkKind::write;
    case Operation::read:
    case Operation::read_invalidate:
      return stream::WorkKind::read;
    case Operation::fetch_add:
    case Operation::compare_swap:
      return stream::WorkKind::atomic;
    case Operation::immediate:
    case Operation::immediate_solicited:
      return stream::WorkKind::immediate;
    case Operation::local_invalidate:
    case Operation::bind_window:
    case Operation::register_region:
      return stream::WorkKind::local;
    case Operation::send:
    case Operation::send_solicited:
    case Operation::send_invalidate:
    case Operation::send_solicited_invalidate:
    case Operation::receive:
      break;
  }
  return stream::WorkKind::send;
}

bool is_send(Operation operation) {
  return operation != Operation::receive && work_kind(operation) == stream::WorkKind::send;
}

bool is_solicited(Operation operation) {
  return operation == Operation::send_solicited ||
         operation == Operation::send_solicited_invalidate ||
         operation == Operation::immediate_solicited;
}

bool is_solicited(wire::Opcode opcode) {
  return opcode == wire::Opcode::send_solicited ||
         opcode == wire::Opcode::send_solicited_invalidate ||
         opcode == wire::Opcode::immediate_solicited;
}

bool carries_invalidate(Operation operation) {
  return operation == Operation::send_invalidate ||
         operation == Operation::send_solicited_invalidate;
}

std::uint64_t total_length(const Pieces& pieces) {
  std::uint64_t total = 0;
  for (const Piece& piece : pieces) total += piece.length;
  return total;
}

std::uint64_t total_length(const stream::GatherList& octets) {
  std::uint64_t total = 0;
  for (const wire::Bytes piece : octets) total += piece.size();
  return total;
}

std::optional<Error> fault_in(const SendRequest& request, std::uint32_t max_pieces,
                              std::uint32_t max_inline) {
  if (request.operation >= Operation::receive) return Error::invalid_parameter;
  const stream::WorkKind kind = work_kind(request.operation);
  const std::size_t pieces = request.pieces.size();
  // A message is shorter than 2^32 octets (RFC 5041 section 5.1).
  if (pieces > max_pieces ||
      total_length(request.pieces) > std::numeric_limits<std::uint32_t>::max())
    return Error::invalid_parameter;
  if (!request.inline_data.empty()) {
    const bool takes = kind == stream::WorkKind::send || kind == stream::WorkKind::write;
    if (!takes || pieces != 0 || request.inline_data.size() > max_pieces)
      return Error::invalid_parameter;
    if (total_length(request.inline_data) > max_inline) return Error::no_resources;
  }
  const bool fits =
      kind == stream::WorkKind::read
          ? pieces <= 1  // a Read has one sink buffer (RFC 5040 section 5.2)
      : kind == stream::WorkKind::atomic ? pieces == 1 && request.pieces.front().length == 8
      : kind == stream::WorkKind::local || kind == stream::WorkKind::immediate ? pieces == 0
                                                                               : true;
  if (!fits) return Error::invalid_parameter;
  if (request.operation == Operation::read_invalidate && pieces == 0)
    return Error::invalid_parameter;
  return std::nullopt;
}

std::optional<Error> fault_in(const ReceiveRequest& request, std::uint32_t max_pieces) {
  const bool fits = request.pieces.size() <= max_pieces &&
                    total_length(request.pieces) <= std::numeric_limits<std::uint32_t>::max();
  return fits ? std::nullopt : std::optional(Error::invalid_parameter);
}

Status status_of(stream::WorkStatus status) {
  switch (status) {
    case stream::WorkStatus::success:
      return Status::success;
    case stream::WorkStatus::flushed:
      return Status::flushed;
    case stream::WorkStatus::local_protection:
      return Status::local_protection;
    case stream::WorkStatus::local_length:
      return Status::local_length;
    case stream::WorkStatus::local_operation:
      return Status::local_operation;
    case stream::WorkStatus::remote_access:
      return Status::remote_access;
    case stream::WorkStatus::remote_operation:
      return Status::remote_operation;
    case stream::WorkStatus::bad_response:
      return Status::bad_response;
  }
  return Status::local_operation;
}

AsyncKind fault_kind(wire::TerminateCause cause) {
  namespace layer = wire::layer;
  namespace type = wire::error_type;
  const bool protection = (cause.layer == layer::rdmap && cause.type == type::rdmap_protection) ||
                          (cause.layer == layer::ddp && cause.type == type::ddp_tagged);
  const bool request = (cause.layer == layer::rdmap && cause.type == type::rdmap_operation) ||
                       (cause.layer == layer::ddp && cause.type == type::ddp_untagged);
  if (protection) return AsyncKind::queue_pair_access_error;
  return request ? AsyncKind::queue_pair_request_error : AsyncKind::queue_pair_fatal;
}

}  // namespace rnic::verbs
