// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Data transfer operations, binds, and their completions.
#include <cerrno>
#include <utility>

#include "suite/upper_tester/dat/names.hpp"
#include "suite/upper_tester/kdat/kdat_driver.hpp"

namespace suite::upper_tester::kdat {
namespace {

namespace op = iut::operation;

Word flags_of(const iut::PostWork& command) {
  unsigned flags = DAT_COMPLETION_DEFAULT_FLAG;
  if (!command.signaled) flags |= DAT_COMPLETION_SUPPRESS_FLAG;
  if (command.fence) flags |= DAT_COMPLETION_BARRIER_FENCE_FLAG;
  if (command.operation == op::send_solicited || command.operation == op::send_solicited_invalidate)
    flags |= DAT_COMPLETION_SOLICITED_WAIT_FLAG;
  return flags;
}

}  // namespace

bool KdatDriver::segments(const std::vector<iut::Piece>& pieces,
                          std::vector<rnic_kdat_segment>& list, iut::Reply& why) const {
  for (const iut::Piece& piece : pieces) {
    const auto region = regions_.find(piece.region);
    if (region == regions_.end()) {
      why = no_such("region", piece.region);
      return false;
    }
    rnic_kdat_segment segment{};
    segment.address = region->second.base + piece.offset;
    segment.length = piece.length;
    segment.context = region->second.context;
    list.push_back(segment);
  }
  return true;
}

iut::Reply KdatDriver::run(const iut::PostReceive& command) {
  if (command.shared_queue != 0) return no_such("shared queue", command.shared_queue);
  const auto endpoint = endpoints_.find(command.endpoint);
  if (endpoint == endpoints_.end()) return no_such("endpoint", command.endpoint);
  std::vector<rnic_kdat_segment> list;
  iut::Reply why;
  if (!segments(command.pieces, list, why)) return why;
  const Word token = next_token_++;
  const Result result = kernel_.call(
      RNIC_KDAT_EP_POST_RECV,
      {endpoint->second.object, list.size(), token, DAT_COMPLETION_DEFAULT_FLAG}, {}, list);
  if (!result.good()) return failed("dat_ep_post_recv", result);
  posted_[token] = {command.endpoint, command.work, op::receive};
  return {};
}

iut::Reply KdatDriver::run(const iut::PostWork& command) {
  const auto endpoint = endpoints_.find(command.endpoint);
  if (endpoint == endpoints_.end()) return no_such("endpoint", command.endpoint);
  const Word token = next_token_++;
  if (command.operation == op::bind_window) return bind(endpoint->second, command, token);
  std::vector<rnic_kdat_segment> list;
  iut::Reply why;
  if (!segments(command.pieces, list, why)) return why;
  const Word ep = endpoint->second.object, flags = flags_of(command), count = list.size();
  Result result;
  const char* call = nullptr;
  if (command.operation == op::send || command.operation == op::send_solicited) {
    call = "dat_ep_post_send";
    result = kernel_.call(RNIC_KDAT_EP_POST_SEND, {ep, count, token, flags}, {}, list);
  } else if (command.operation == op::send_invalidate ||
             command.operation == op::send_solicited_invalidate) {
    call = "dat_ep_post_send_with_invalidate";
    result = kernel_.call(RNIC_KDAT_EP_POST_SEND_WITH_INVALIDATE,
                          {ep, count, token, flags, 1, command.invalidate_stag}, {}, list);
  } else if (command.operation == op::write || command.operation == op::read) {
    const bool writes = command.operation == op::write;
    call = writes ? "dat_ep_post_rdma_write" : "dat_ep_post_rdma_read";
    Word length = 0;
    for (const rnic_kdat_segment& each : list) length += each.length;
    result = kernel_.call(
        writes ? RNIC_KDAT_EP_POST_RDMA_WRITE : RNIC_KDAT_EP_POST_RDMA_READ,
        {ep, count, token, flags, command.remote_offset, length, command.remote_stag}, {}, list);
  } else {
    return unsupported("DAT has no call for " + command.operation);
  }
  if (!result.good()) return failed(call, result);
  posted_[token] = {command.endpoint, command.work, command.operation};
  return {};
}

iut::Reply KdatDriver::bind(const Endpoint& endpoint, const iut::PostWork& command, Word token) {
  const auto window = windows_.find(command.window);
  if (window == windows_.end()) return no_such("window", command.window);
  if (command.pieces.empty()) return refused("a bind names the piece that it is of", EINVAL);
  const iut::Piece& piece = command.pieces.front();
  std::vector<rnic_kdat_segment> list;
  iut::Reply why;
  if (!segments({piece}, list, why)) return why;
  const Result result = kernel_.call(RNIC_KDAT_RMR_BIND,
                                     {window->second, regions_.at(piece.region).lmr,
                                      static_cast<Word>(dat::privileges(command.window_access)),
                                      DAT_VA_TYPE_VA, endpoint.object, token, flags_of(command)},
                                     {}, list);
  if (!result.good()) return failed("dat_rmr_bind", result);
  posted_[token] = {command.endpoint, command.work, command.operation};
  iut::Reply reply;
  reply.stag = static_cast<std::uint32_t>(result.out(0));
  return reply;
}

// ---------------------------------------------------------------- work before the connection

/// An endpoint takes requests once it is connected; that of a Responder is when the driver says so.
bool KdatDriver::must_wait(const iut::PostWork& command) const {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return false;
  if (!found->second.waiting.empty()) return true;
  const Result status = kernel_.call(RNIC_KDAT_EP_GET_STATUS, {found->second.object});
  return status.good() && status.out(0) == DAT_EP_STATE_PASSIVE_CONNECTION_PENDING;
}

void KdatDriver::post_waiting(Endpoint& endpoint) {
  endpoint.waiting.post([this](const iut::PostWork& command) { return run(command); },
                        [this](iut::Event event) { emit(std::move(event)); });
}

void KdatDriver::give_up_waiting(Endpoint& endpoint) {
  endpoint.waiting.give_up([this](iut::Event event) { emit(std::move(event)); });
}

// ---------------------------------------------------------------- completions

void KdatDriver::take_completion(const rnic_kdat_event& event) {
  const auto found = posted_.find(event.cookie);
  if (found == posted_.end()) {
    iut::AsynchronousEvent odd;
    odd.kind = "other";
    odd.detail = "a completion of work that was completed before or never posted";
    return emit(odd);
  }
  iut::CompletionEvent reported;
  reported.endpoint = found->second.endpoint;
  reported.work = found->second.work;
  reported.operation = found->second.operation;
  reported.status = dat::status_name(static_cast<DAT_DTO_COMPLETION_STATUS>(event.status));
  posted_.erase(found);
  const bool transfer = event.status == DAT_DTO_SUCCESS && event.number == DAT_DTO_COMPLETION_EVENT;
  if (transfer && (reported.operation == op::receive || reported.operation == op::read))
    reported.length = event.length;
  if (transfer && event.operation == DAT_DTO_RECEIVE_WITH_INVALIDATE)
    reported.invalidated_stag = event.rmr_context;
  emit(reported);
}

}  // namespace suite::upper_tester::kdat
