// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Data transfer operations, binds, and their completions.
#include <utility>

#include "suite/upper_tester/dat/dat_driver.hpp"
#include "suite/upper_tester/dat/names.hpp"

namespace suite::upper_tester::dat {
namespace {

namespace op = iut::operation;

DAT_DTO_COOKIE cookie_of(std::uint64_t token) {
  DAT_DTO_COOKIE cookie{};
  cookie.as_64 = token;
  return cookie;
}

DAT_COMPLETION_FLAGS flags_of(const iut::PostWork& command) {
  unsigned flags = DAT_COMPLETION_DEFAULT_FLAG;
  if (!command.signaled) flags |= DAT_COMPLETION_SUPPRESS_FLAG;
  if (command.fence) flags |= DAT_COMPLETION_BARRIER_FENCE_FLAG;
  if (command.operation == op::send_solicited || command.operation == op::send_solicited_invalidate)
    flags |= DAT_COMPLETION_SOLICITED_WAIT_FLAG;
  return static_cast<DAT_COMPLETION_FLAGS>(flags);
}

bool has_call(const std::string& operation) {
  for (const char* each : {op::send, op::send_solicited, op::send_invalidate,
                           op::send_solicited_invalidate, op::write, op::read})
    if (operation == each) return true;
  return false;
}

}  // namespace

std::optional<iut::Reply> DatDriver::segments(const std::vector<iut::Piece>& pieces,
                                              std::vector<DAT_LMR_TRIPLET>& list) const {
  for (const iut::Piece& piece : pieces) {
    const auto region = regions_.find(piece.region);
    if (region == regions_.end()) return no_such("region", piece.region);
    DAT_LMR_TRIPLET triplet{};
    triplet.virtual_address = region->second.base + piece.offset;
    triplet.segment_length = piece.length;
    triplet.lmr_context = region->second.context;
    list.push_back(triplet);
  }
  return std::nullopt;
}

iut::Reply DatDriver::run(const iut::PostReceive& command) {
  std::vector<DAT_LMR_TRIPLET> list;
  if (auto reply = segments(command.pieces, list)) return *reply;
  const Token token = next_token_++;
  const auto count = static_cast<DAT_COUNT>(list.size());
  DAT_RETURN code = DAT_SUCCESS;
  if (command.shared_queue != 0) {
    const auto queue = shared_queues_.find(command.shared_queue);
    if (queue == shared_queues_.end()) return no_such("shared queue", command.shared_queue);
    code = dat_srq_post_recv(queue->second.queue.get(), count, list.data(), cookie_of(token));
    if (code != DAT_SUCCESS) return failed("dat_srq_post_recv", code);
  } else {
    const auto endpoint = endpoints_.find(command.endpoint);
    if (endpoint == endpoints_.end()) return no_such("endpoint", command.endpoint);
    code = dat_ep_post_recv(endpoint->second.object.get(), count, list.data(), cookie_of(token),
                            DAT_COMPLETION_DEFAULT_FLAG);
    if (code != DAT_SUCCESS) return failed("dat_ep_post_recv", code);
  }
  posted_[token] = {command.endpoint, command.work, op::receive};
  return {};
}

iut::Reply DatDriver::run(const iut::PostWork& command) {
  const auto endpoint = endpoints_.find(command.endpoint);
  if (endpoint == endpoints_.end()) return no_such("endpoint", command.endpoint);
  const Token token = next_token_++;
  if (command.operation == op::bind_window) return bind(endpoint->second, command, token);
  if (!has_call(command.operation)) return unsupported("DAT has no call for " + command.operation);
  std::vector<DAT_LMR_TRIPLET> list;
  if (auto reply = segments(command.pieces, list)) return *reply;
  if (const DAT_RETURN code = post(endpoint->second, command, list, token); code != DAT_SUCCESS)
    return failed("dat_ep_post (" + command.operation + ")", code);
  posted_[token] = {command.endpoint, command.work, command.operation};
  return {};
}

DAT_RETURN DatDriver::post(const Endpoint& endpoint, const iut::PostWork& command,
                           std::vector<DAT_LMR_TRIPLET>& list, Token token) const {
  DAT_EP_HANDLE ep = endpoint.object.get();
  const auto count = static_cast<DAT_COUNT>(list.size());
  const DAT_COMPLETION_FLAGS flags = flags_of(command);
  if (command.operation == op::send || command.operation == op::send_solicited)
    return dat_ep_post_send(ep, count, list.data(), cookie_of(token), flags);
  if (command.operation == op::write || command.operation == op::read) {
    std::uint64_t length = 0;
    for (const DAT_LMR_TRIPLET& each : list) length += each.segment_length;
    DAT_RMR_TRIPLET remote{};
    remote.virtual_address = command.remote_offset;
    remote.segment_length = static_cast<DAT_SEG_LENGTH>(length);
    remote.rmr_context = command.remote_stag;
    const auto call =
        command.operation == op::write ? dat_ep_post_rdma_write : dat_ep_post_rdma_read;
    return call(ep, count, list.data(), cookie_of(token), &remote, flags);
  }
  return DAT_EP_POST_SEND_WITH_INVALIDATE(ep, count, list.data(), cookie_of(token), flags, DAT_TRUE,
                                          command.invalidate_stag);
}

iut::Reply DatDriver::bind(const Endpoint& endpoint, const iut::PostWork& command, Token token) {
  const auto window = windows_.find(command.window);
  if (window == windows_.end()) return no_such("window", command.window);
  DAT_LMR_TRIPLET triplet{};
  DAT_LMR_HANDLE region = nullptr;
  if (!command.pieces.empty()) {
    std::vector<DAT_LMR_TRIPLET> list;
    if (auto reply = segments({command.pieces.front()}, list)) return *reply;
    triplet = list.front();
    region = regions_.at(command.pieces.front().region).registration.get();
  }
  DAT_RMR_COOKIE cookie{};
  cookie.as_64 = token;
  DAT_RMR_CONTEXT context = 0;
  const DAT_RETURN code =
      dat_rmr_bind(window->second.get(), region, &triplet, privileges(command.window_access),
                   DAT_VA_TYPE_VA, endpoint.object.get(), cookie, flags_of(command), &context);
  if (code != DAT_SUCCESS) return failed("dat_rmr_bind", code);
  posted_[token] = {command.endpoint, command.work, command.operation};
  iut::Reply reply;
  reply.stag = context;
  return reply;
}

// ---------------------------------------------------------------- work before the connection

/// An endpoint takes requests once it is connected; a Responder is connected when the Initiator's
/// first FPDU has come. A consumer waits for this, and so does this driver.
bool DatDriver::must_wait(const iut::PostWork& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return false;
  DAT_EP_STATE state = DAT_EP_STATE_UNCONNECTED;
  DAT_BOOLEAN receives_idle = DAT_FALSE, requests_idle = DAT_FALSE;
  if (dat_ep_get_status(found->second.object.get(), &state, &receives_idle, &requests_idle) !=
      DAT_SUCCESS)
    return false;
  if (state == DAT_EP_STATE_COMPLETION_PENDING) return true;
  post_waiting(found->second);
  return false;
}

void DatDriver::post_waiting(Endpoint& endpoint) {
  endpoint.waiting.post([this](const iut::PostWork& command) { return run(command); },
                        [this](iut::Event event) { emit(std::move(event)); });
}

void DatDriver::give_up_waiting(Endpoint& endpoint) {
  endpoint.waiting.give_up([this](iut::Event event) { emit(std::move(event)); });
}

// ---------------------------------------------------------------- completions

void DatDriver::take_completion(const DAT_EVENT& event) {
  const bool bound = event.event_number == DAT_RMR_BIND_COMPLETION_EVENT;
  if (!bound && event.event_number != DAT_DTO_COMPLETION_EVENT) return;
  const DAT_DTO_COMPLETION_EVENT_DATA& data = event.event_data.dto_completion_event_data;
  const DAT_RMR_BIND_COMPLETION_EVENT_DATA& bind_data = event.event_data.rmr_completion_event_data;
  const Token token = bound ? bind_data.user_cookie.as_64 : data.user_cookie.as_64;
  const auto status = bound ? bind_data.status : data.status;
  const auto found = posted_.find(token);
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
  reported.status = status_name(status);
  posted_.erase(found);
  // A receive of a shared queue was posted for no endpoint.
  for (const auto& [handle, endpoint] : endpoints_)
    if (!bound && endpoint.object.get() == data.ep_handle) reported.endpoint = handle;
  if (status == DAT_DTO_SUCCESS && !bound) {
    if (reported.operation == op::receive || reported.operation == op::read)
      reported.length = data.transfered_length;
    if (data.operation == DAT_DTO_RECEIVE_WITH_INVALIDATE)
      reported.invalidated_stag = data.rmr_context;
  }
  emit(reported);
}

}  // namespace suite::upper_tester::dat
