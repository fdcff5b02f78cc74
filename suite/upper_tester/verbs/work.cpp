// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Work requests and their completions.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include "suite/upper_tester/verbs/names.hpp"
#include "suite/upper_tester/verbs/verbs_driver.hpp"

namespace suite::upper_tester::verbs {
namespace {

constexpr int completions_at_once = 16;

bool is_solicited(const std::string& operation) {
  return operation == iut::operation::send_solicited ||
         operation == iut::operation::send_solicited_invalidate;
}

unsigned flags_of(const iut::PostWork& command) {
  unsigned flags = 0;
  if (command.signaled) flags |= IBV_SEND_SIGNALED;
  if (command.fence) flags |= IBV_SEND_FENCE;
  if (command.inline_data) flags |= IBV_SEND_INLINE;
  if (is_solicited(command.operation)) flags |= IBV_SEND_SOLICITED;
  return flags;
}

}  // namespace

/// The addresses of work requests; those of inline data are the process's own.
VerbsDriver::Answer VerbsDriver::pieces(const std::vector<iut::Piece>& pieces,
                                        std::vector<ibv_sge>& list, bool inline_data) const {
  for (const iut::Piece& piece : pieces) {
    const auto region = regions_.find(piece.region);
    if (region == regions_.end()) return no_such("region", piece.region);
    ibv_sge entry{};
    entry.addr =
        piece.offset + (inline_data ? reinterpret_cast<std::uint64_t>(region->second.buffer->data())
                                    : region->second.base);
    entry.length = piece.length;
    entry.lkey = inline_data ? 0 : region->second.local_key;
    list.push_back(entry);
  }
  return std::nullopt;
}

VerbsDriver::Answer VerbsDriver::prepare(const iut::PostReceive& command,
                                         std::vector<ibv_sge>& list, ibv_recv_wr& request) {
  if (auto reply = pieces(command.pieces, list)) return reply;
  request.wr_id = next_token_++;
  request.sg_list = list.data();
  request.num_sge = static_cast<int>(list.size());
  return std::nullopt;
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::PostReceive& command) {
  std::vector<ibv_sge> list;
  ibv_recv_wr request{}, *bad = nullptr;
  if (auto reply = prepare(command, list, request)) return reply;
  int error = 0;
  const char* call = "ibv_post_recv";
  if (command.shared_queue != 0) {
    const auto queue = shared_queues_.find(command.shared_queue);
    if (queue == shared_queues_.end()) return no_such("shared queue", command.shared_queue);
    call = "ibv_post_srq_recv";
    error = ibv_post_srq_recv(queue->second.get(), &request, &bad);
  } else {
    const auto endpoint = endpoints_.find(command.endpoint);
    if (endpoint == endpoints_.end()) return no_such("endpoint", command.endpoint);
    error = ibv_post_recv(endpoint->second.queue_pair.get(), &request, &bad);
  }
  if (error != 0) return failed(call, error);
  receives_[request.wr_id] = command.work;
  return iut::Reply{};
}

VerbsDriver::Answer VerbsDriver::prepare(const iut::PostWork& command, std::vector<ibv_sge>& list,
                                         ibv_send_wr& request) {
  if (auto reply = pieces(command.pieces, list, command.inline_data)) return reply;
  request.wr_id = next_token_++;
  request.sg_list = list.data();
  request.num_sge = static_cast<int>(list.size());
  return fill(command, request);
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::PostWork& command) {
  const auto endpoint = endpoints_.find(command.endpoint);
  if (endpoint == endpoints_.end()) return no_such("endpoint", command.endpoint);
  if (command.operation == iut::operation::bind_window)
    return bind(endpoint->second, command, next_token_++);
  std::vector<ibv_sge> list;
  ibv_send_wr request{};
  if (auto reply = prepare(command, list, request)) return reply;
  return post(endpoint->second, command, request);
}

// ---------------------------------------------------------------- several at once

namespace {

template <class Request>
void link(std::vector<Request>& requests) {
  for (std::size_t i = 0; i + 1 < requests.size(); ++i) requests[i].next = &requests[i + 1];
}

/// How many requests were posted, as the API says with its pointer to the bad one.
template <class Request>
std::size_t posted_of(const std::vector<Request>& requests, int error, const Request* bad) {
  if (error == 0) return requests.size();
  const auto is_bad = [bad](const Request& request) { return &request == bad; };
  const auto found = std::find_if(requests.begin(), requests.end(), is_bad);
  return static_cast<std::size_t>(found - requests.begin());
}

/// `posted` is less than all only if there was an error. Where the pointer is to none of the chain,
/// there is no bad request to name.
template <class Command>
iut::Reply chain_reply(const char* call, int error, std::size_t posted,
                       const std::vector<Command>& commands) {
  if (error == 0) return {};
  iut::Reply reply = failed(call, error);
  if (posted < commands.size()) reply.bad_work = commands[posted].work;
  return reply;
}

}  // namespace

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::PostReceiveChain& command) {
  const Handle name = command.requests.empty() ? 0 : command.requests.front().endpoint;
  const auto endpoint = endpoints_.find(name);
  if (endpoint == endpoints_.end()) return no_such("endpoint", name);
  std::vector<std::vector<ibv_sge>> lists(command.requests.size());
  std::vector<ibv_recv_wr> requests(command.requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i)
    if (auto reply = prepare(command.requests[i], lists[i], requests[i])) return reply;
  link(requests);
  ibv_recv_wr* bad = nullptr;
  const int error = ibv_post_recv(endpoint->second.queue_pair.get(), requests.data(), &bad);
  // A request after the bad one may have been posted all the same: its completion shows that.
  for (std::size_t i = 0; i < requests.size(); ++i)
    receives_[requests[i].wr_id] = command.requests[i].work;
  return chain_reply("ibv_post_recv", error, posted_of(requests, error, bad), command.requests);
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::PostWorkChain& command) {
  const Handle name = command.requests.empty() ? 0 : command.requests.front().endpoint;
  const auto endpoint = endpoints_.find(name);
  if (endpoint == endpoints_.end()) return no_such("endpoint", name);
  std::vector<std::vector<ibv_sge>> lists(command.requests.size());
  std::vector<ibv_send_wr> requests(command.requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i)
    if (auto reply = prepare(command.requests[i], lists[i], requests[i])) return reply;
  link(requests);
  ibv_send_wr* bad = nullptr;
  const int error = ibv_post_send(endpoint->second.queue_pair.get(), requests.data(), &bad);
  const std::size_t posted = posted_of(requests, error, bad);
  for (std::size_t i = 0; i < posted; ++i) {
    const iut::PostWork& each = command.requests[i];
    endpoint->second.link.posted({requests[i].wr_id, each.work, each.operation, each.signaled});
  }
  return chain_reply("ibv_post_send", error, posted, command.requests);
}

/// Fills in everything but the pieces. A reply says why verbs cannot do it.
VerbsDriver::Answer VerbsDriver::fill(const iut::PostWork& command, ibv_send_wr& request) {
  const auto code = opcode(command.operation);
  if (!code) return unsupported("verbs have no work request for " + command.operation);
  request.opcode = *code;
  request.send_flags = flags_of(command);
  switch (*code) {
    case IBV_WR_SEND_WITH_INV:
    case IBV_WR_LOCAL_INV:
      request.invalidate_rkey = command.invalidate_stag;
      break;
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_READ:
      request.wr.rdma.remote_addr = command.remote_offset;
      request.wr.rdma.rkey = command.remote_stag;
      break;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      if (command.add_or_swap_mask || command.compare_mask)
        return unsupported("verbs have no masks for atomic operations");
      request.wr.atomic.remote_addr = command.remote_offset;
      request.wr.atomic.rkey = command.remote_stag;
      request.wr.atomic.compare_add =
          *code == IBV_WR_ATOMIC_FETCH_AND_ADD ? command.add_or_swap : command.compare;
      request.wr.atomic.swap = command.add_or_swap;
      break;
    default:
      break;
  }
  return std::nullopt;
}

VerbsDriver::Answer VerbsDriver::post(Endpoint& endpoint, const iut::PostWork& command,
                                      ibv_send_wr& request) {
  ibv_send_wr* bad = nullptr;
  if (const int error = ibv_post_send(endpoint.queue_pair.get(), &request, &bad); error != 0)
    return failed("ibv_post_send " + command.operation, error);
  endpoint.link.posted({request.wr_id, command.work, command.operation, command.signaled});
  return iut::Reply{};
}

VerbsDriver::Answer VerbsDriver::fill(const iut::PostWork& command, ibv_mw_bind_info& info) const {
  if (command.pieces.empty() || command.pieces.front().length == 0) return std::nullopt;  // unbinds
  const iut::Piece& piece = command.pieces.front();
  const Region& region = regions_.at(piece.region);
  if (region.registration == nullptr) return no_such("registered region", piece.region);
  info.mr = region.registration.get();
  info.addr = region.base + piece.offset;
  info.length = piece.length;
  info.mw_access_flags = static_cast<unsigned>(access_flags(command.window_access));
  return std::nullopt;
}

/// A window of type 2 is bound by an ordinary work request under an STag that we choose, and
/// unbound by invalidating that; one of type 1 has a call of its own for both.
VerbsDriver::Answer VerbsDriver::bind(Endpoint& endpoint, const iut::PostWork& command,
                                      Token token) {
  const auto found = windows_.find(command.window);
  if (found == windows_.end()) return no_such("window", command.window);
  ibv_mw* window = found->second.window.get();
  if (found->second.type == IBV_MW_TYPE_1) {
    ibv_mw_bind request{};
    request.wr_id = token;
    request.send_flags = flags_of(command);
    if (auto reply = fill(command, request.bind_info)) return reply;
    if (const int error = ibv_bind_mw(endpoint.queue_pair.get(), window, &request); error != 0)
      return failed("ibv_bind_mw", error);
    endpoint.link.posted({token, command.work, command.operation, command.signaled});
  } else {
    const bool unbinds = command.pieces.empty() || command.pieces.front().length == 0;
    ibv_send_wr request{};
    request.wr_id = token;
    request.send_flags = flags_of(command);
    if (unbinds) {
      request.opcode = IBV_WR_LOCAL_INV;
      request.invalidate_rkey = window->rkey;
    } else {
      request.opcode = IBV_WR_BIND_MW;
      request.bind_mw.mw = window;
      request.bind_mw.rkey = ibv_inc_rkey(window->rkey);
      if (auto reply = fill(command, request.bind_mw.bind_info)) return reply;
    }
    if (auto reply = post(endpoint, command, request); reply->outcome != iut::Outcome::ok)
      return reply;
    if (!unbinds) window->rkey = request.bind_mw.rkey;
  }
  iut::Reply reply;
  reply.stag = window->rkey;
  return reply;
}

// ---------------------------------------------------------------- completions

void VerbsDriver::take_completions() {
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  while (ibv_get_cq_event(completion_channel_.get(), &queue, &context) == 0) {
    ibv_ack_cq_events(queue, 1);
    drain(queue, reinterpret_cast<Token>(context));
  }
}

void VerbsDriver::drain(ibv_cq* queue, Token token) {
  const Endpoint* owner = endpoint_of(token);
  const SharedCompletions* shared = shared_completions_of(token);
  if (owner == nullptr && shared == nullptr) return;
  // Armed before it is emptied, so that no completion is missed.
  const bool solicited_only = shared != nullptr && shared->solicited_only;
  const bool again = shared == nullptr || !shared->armed_once;
  if (const int error = again ? ibv_req_notify_cq(queue, solicited_only ? 1 : 0) : 0; error != 0) {
    iut::AsynchronousEvent event;
    if (owner != nullptr) event.endpoint = owner->link.endpoint();
    event.kind = "cq_error";
    event.detail = failed("ibv_req_notify_cq", error).error;
    emit(event);
  }
  std::array<ibv_wc, completions_at_once> completions;
  int count = 0;
  while ((count = ibv_poll_cq(queue, completions_at_once, completions.data())) > 0)
    for (int i = 0; i < count; ++i) {
      const ibv_wc& completion = completions[static_cast<std::size_t>(i)];
      Endpoint* endpoint = shared != nullptr ? endpoint_of(completion) : endpoint_of(token);
      if (endpoint != nullptr) take(*endpoint, completion);  // else it has been destroyed since
    }
}

void VerbsDriver::take(Endpoint& endpoint, const ibv_wc& completion) {
  WorkCompletion done{completion.wr_id, completion.status, completion.opcode, completion.byte_len,
                      std::nullopt};
  if ((completion.wc_flags & IBV_WC_WITH_INV) != 0)
    done.invalidated_stag = completion.invalidated_rkey;
  emit(endpoint.link.completed(done, receives_));
  if (endpoint.link.end_is_due() && disconnect_now(endpoint) != 0)
    std::fprintf(stderr, "rnic-agent: %s\n", failed("rdma_disconnect", errno).error.c_str());
}

}  // namespace suite::upper_tester::verbs
