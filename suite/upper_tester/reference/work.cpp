// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Commands that post work.
#include <array>
#include <cerrno>
#include <cstring>

#include "suite/upper_tester/reference/reference_driver.hpp"
#include "suite/upper_tester/reference/replies.hpp"
#include "suite/upper_tester/reference/translation.hpp"

namespace suite::upper_tester::reference {

namespace verbs = rnic::verbs;

bool ReferenceDriver::add_pieces(const std::vector<iut::Piece>& pieces, verbs::Pieces& to) const {
  for (const iut::Piece& piece : pieces) {
    const auto found = regions_.find(piece.region);
    if (found == regions_.end()) return false;
    const verbs::RegionInfo& info = found->second.info;
    to.push_back({.stag = info.stag, .offset = info.base + piece.offset, .length = piece.length});
  }
  return true;
}

iut::Reply ReferenceDriver::perform(const iut::PostReceive& command) {
  std::array<verbs::ReceiveRequest, 1> requests{verbs::ReceiveRequest{.id = command.work}};
  if (!add_pieces(command.pieces, requests.front().pieces))
    return failed(EBADF, "a piece names an unknown region");
  std::expected<void, verbs::PostError> posted;
  if (command.shared_queue != 0) {
    const auto queue = shared_queues_.find(command.shared_queue);
    if (queue == shared_queues_.end()) return bad_handle("shared queue", command.shared_queue);
    posted = rnic_->post_receive(queue->second.object, requests);
  } else {
    const auto endpoint = endpoints_.find(command.endpoint);
    if (endpoint == endpoints_.end()) return bad_handle("endpoint", command.endpoint);
    posted = rnic_->post_receive(endpoint->second.queue_pair, requests);
  }
  return posted ? iut::Reply{} : failed(posted.error().error, "post receive");
}

std::optional<iut::Reply> ReferenceDriver::fill_bind(verbs::SendRequest& request,
                                                     const iut::PostWork& command) const {
  const auto window = windows_.find(command.window);
  if (window == windows_.end()) return bad_handle("window", command.window);
  request.bind.window = window->second.object;
  request.bind.access = access_of(command.window_access);
  if (command.pieces.size() > 1) return failed(EINVAL, "a window is bound to one piece");
  if (command.pieces.empty() || command.pieces.front().length == 0) return std::nullopt;  // unbinds
  const auto region = regions_.find(command.pieces.front().region);
  if (region == regions_.end()) return bad_handle("region", command.pieces.front().region);
  request.bind.region = region->second.info.region;
  request.bind.offset = region->second.info.base + command.pieces.front().offset;
  request.bind.length = command.pieces.front().length;
  return std::nullopt;
}

std::optional<iut::Reply> ReferenceDriver::fill_registration(verbs::SendRequest& request,
                                                             const iut::PostWork& command) {
  if (!command.registration || command.pieces.size() != 1)
    return failed(EINVAL, "a registration has one piece, a key and an access");
  const iut::Piece& piece = command.pieces.front();
  const auto found = regions_.find(piece.region);
  if (found == regions_.end()) return bad_handle("region", piece.region);
  verbs::RegionInfo& info = found->second.info;
  const rnic::wire::MutableBytes octets = found->second.memory();
  if (piece.offset > octets.size() || piece.length > octets.size() - piece.offset)
    return failed(EINVAL, "outside of the region");
  request.registration = {.region = info.region,
                          .memory = octets.subspan(piece.offset, piece.length),
                          .access = access_of(command.registration->access),
                          .base = info.base + piece.offset,
                          .key = command.registration->key};
  info.stag = (info.stag & ~0xFFU) | command.registration->key;
  return std::nullopt;
}

std::expected<verbs::SendRequest, iut::Reply> ReferenceDriver::request_of(
    const iut::PostWork& command) {
  const auto operation = operation_of(command.operation);
  if (!operation)
    return std::unexpected(failed(EINVAL, "no operation is called " + command.operation));
  verbs::SendRequest request{.id = command.work,
                             .operation = *operation,
                             .remote_stag = command.remote_stag,
                             .remote_offset = command.remote_offset,
                             .invalidate_stag = command.invalidate_stag,
                             .signaled = command.signaled,
                             .fence = command.fence,
                             .add_or_swap = command.add_or_swap,
                             .compare = command.compare,
                             .add_or_swap_mask = command.add_or_swap_mask};
  if (command.compare_mask) request.compare_mask = *command.compare_mask;
  request.immediate = command.immediate;
  if (*operation == verbs::Operation::bind_window) {
    if (auto reply = fill_bind(request, command)) return std::unexpected(*reply);
    return request;
  }
  if (*operation == verbs::Operation::register_region) {
    if (auto reply = fill_registration(request, command)) return std::unexpected(*reply);
    return request;
  }
  verbs::Pieces pieces;
  if (!add_pieces(command.pieces, command.inline_data ? pieces : request.pieces))
    return std::unexpected(failed(EBADF, "a piece names an unknown region"));
  if (!command.inline_data) return request;
  for (const iut::Piece& piece : command.pieces) {
    const rnic::wire::Bytes octets = regions_.at(piece.region).memory();
    if (piece.offset > octets.size() || piece.length > octets.size() - piece.offset)
      return std::unexpected(failed(EINVAL, "outside of the region"));
    request.inline_data.push_back(octets.subspan(piece.offset, piece.length));
  }
  return request;
}

iut::Reply ReferenceDriver::perform(const iut::PostWork& command) {
  const auto endpoint = endpoints_.find(command.endpoint);
  if (endpoint == endpoints_.end()) return bad_handle("endpoint", command.endpoint);
  const auto request = request_of(command);
  if (!request) return request.error();
  const auto posted = rnic_->post_send(endpoint->second.queue_pair, std::span(&*request, 1));
  if (!posted) return failed(posted.error().error, "post work");
  iut::Reply reply;
  if (request->operation == verbs::Operation::register_region) {
    reply.stag = regions_.at(command.pieces.front().region).info.stag;
    reply.base = request->registration.base;
  }
  return reply;
}

// ---- several at once ----

namespace {

template <typename Request>
iut::Reply reply_to(const std::expected<void, verbs::PostError>& posted,
                    const std::vector<Request>& requests) {
  if (posted) return {};
  iut::Reply reply = failed(posted.error().error, "post a chain");
  if (posted.error().index < requests.size()) reply.bad_work = requests[posted.error().index].work;
  return reply;
}

}  // namespace

iut::Reply ReferenceDriver::perform(const iut::PostReceiveChain& command) {
  const iut::Handle name = command.requests.empty() ? 0 : command.requests.front().endpoint;
  const auto endpoint = endpoints_.find(name);
  if (endpoint == endpoints_.end()) return bad_handle("endpoint", name);
  std::vector<verbs::ReceiveRequest> requests;
  for (const iut::PostReceive& each : command.requests) {
    verbs::ReceiveRequest& request = requests.emplace_back();
    request.id = each.work;
    if (!add_pieces(each.pieces, request.pieces))
      return failed(EBADF, "a piece names an unknown region");
  }
  return reply_to(rnic_->post_receive(endpoint->second.queue_pair, requests), command.requests);
}

iut::Reply ReferenceDriver::perform(const iut::PostWorkChain& command) {
  const iut::Handle name = command.requests.empty() ? 0 : command.requests.front().endpoint;
  const auto endpoint = endpoints_.find(name);
  if (endpoint == endpoints_.end()) return bad_handle("endpoint", name);
  std::vector<verbs::SendRequest> requests;
  for (const iut::PostWork& each : command.requests) {
    auto request = request_of(each);
    if (!request) return request.error();
    requests.push_back(std::move(*request));
  }
  return reply_to(rnic_->post_send(endpoint->second.queue_pair, requests), command.requests);
}

}  // namespace suite::upper_tester::reference
