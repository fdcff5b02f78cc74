// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Work requests and their completions.
#include <infiniband/verbs.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "suite/upper_tester/common_replies.hpp"
#include "suite/upper_tester/kverbs/kverbs_driver.hpp"
#include "suite/upper_tester/verbs/names.hpp"

namespace suite::upper_tester::kverbs {

using verbs::failed;

namespace {

/// The module's opcode for an operation; nothing if the kernel's verbs have none.
std::optional<std::uint32_t> opcode(const std::string& operation) {
  struct Entry {
    const char* name;
    rnic_kagent_opcode opcode;
  };
  namespace op = iut::operation;
  static constexpr std::array entries{
      Entry{op::send, RNIC_KAGENT_WR_SEND},
      Entry{op::send_solicited, RNIC_KAGENT_WR_SEND},
      Entry{op::send_invalidate, RNIC_KAGENT_WR_SEND_WITH_INV},
      Entry{op::send_solicited_invalidate, RNIC_KAGENT_WR_SEND_WITH_INV},
      Entry{op::write, RNIC_KAGENT_WR_RDMA_WRITE},
      Entry{op::read, RNIC_KAGENT_WR_RDMA_READ},
      Entry{op::read_invalidate, RNIC_KAGENT_WR_RDMA_READ_WITH_INV},
      Entry{op::fetch_add, RNIC_KAGENT_WR_ATOMIC_FETCH_AND_ADD},
      Entry{op::compare_swap, RNIC_KAGENT_WR_ATOMIC_CMP_AND_SWP},
      Entry{op::local_invalidate, RNIC_KAGENT_WR_LOCAL_INV},
      Entry{op::register_region, RNIC_KAGENT_WR_REG_MR},
  };
  for (const Entry& entry : entries)
    if (operation == entry.name) return entry.opcode;
  return std::nullopt;
}

std::uint32_t flags_of(const iut::PostWork& command) {
  std::uint32_t flags = 0;
  if (command.signaled) flags |= RNIC_KAGENT_SEND_SIGNALED;
  if (command.fence) flags |= RNIC_KAGENT_SEND_FENCE;
  if (command.operation == iut::operation::send_solicited ||
      command.operation == iut::operation::send_solicited_invalidate)
    flags |= RNIC_KAGENT_SEND_SOLICITED;
  return flags;
}

}  // namespace

KverbsDriver::Answer KverbsDriver::pieces(const std::vector<iut::Piece>& pieces,
                                          rnic_kagent_piece* list, std::uint32_t& count) const {
  if (pieces.size() > RNIC_KAGENT_MAX_PIECES)
    return refused(
        "a work request has at most " + std::to_string(RNIC_KAGENT_MAX_PIECES) + " pieces here",
        EINVAL);
  for (const iut::Piece& piece : pieces) {
    const auto region = regions_.find(piece.region);
    if (region == regions_.end()) return no_such("region", piece.region);
    rnic_kagent_piece& entry = list[count++];
    entry.address = region->second.base + piece.offset;
    entry.length = piece.length;
    entry.lkey = region->second.local_key;
  }
  return std::nullopt;
}

/// Fills in everything but the queue.
KverbsDriver::Answer KverbsDriver::prepare(const iut::PostReceive& command,
                                           rnic_kagent_recv& request) {
  if (auto reply = pieces(command.pieces, request.piece, request.pieces)) return reply;
  request.wr_id = next_number_++;
  return std::nullopt;
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::PostReceive& command) {
  rnic_kagent_recv request{};
  if (auto reply = prepare(command, request)) return reply;
  if (command.shared_queue != 0) {
    const auto queue = shared_queues_.find(command.shared_queue);
    if (queue == shared_queues_.end()) return no_such("shared queue", command.shared_queue);
    request.srq = queue->second;
  } else {
    const auto endpoint = endpoints_.find(command.endpoint);
    if (endpoint == endpoints_.end()) return no_such("endpoint", command.endpoint);
    request.qp = endpoint->second.queue_pair;
  }
  if (const int error = file_.call(RNIC_KAGENT_POST_RECV, request); error != 0)
    return failed(request.srq != 0 ? "ib_post_srq_recv" : "ib_post_recv", error);
  receives_[request.wr_id] = command.work;
  return iut::Reply{};
}

/// Fills in everything but the pieces. A reply says why the kernel's verbs cannot do it.
KverbsDriver::Answer KverbsDriver::fill(const iut::PostWork& command,
                                        rnic_kagent_send& request) const {
  const auto code = opcode(command.operation);
  if (!code) return unsupported("the kernel's verbs have no work request for " + command.operation);
  if (command.add_or_swap_mask || command.compare_mask)
    return unsupported("the kernel's verbs have no masks for atomic operations here");
  request.opcode = *code;
  request.flags = flags_of(command);
  request.remote_addr = command.remote_offset;
  request.rkey = command.remote_stag;
  request.invalidate_rkey = command.invalidate_stag;
  // The sink's own STag is what the device invalidates when the Read is done.
  if (*code == RNIC_KAGENT_WR_RDMA_READ_WITH_INV && request.pieces > 0)
    request.invalidate_rkey = request.piece[0].lkey;
  request.compare_add =
      *code == RNIC_KAGENT_WR_ATOMIC_FETCH_AND_ADD ? command.add_or_swap : command.compare;
  request.swap = command.add_or_swap;
  return std::nullopt;
}

/// Maps the region onto the octets to be registered, which gives it its key and base.
KverbsDriver::Answer KverbsDriver::map(const iut::PostWork& command, rnic_kagent_send& request,
                                       iut::Reply& done) {
  if (!command.registration || command.pieces.size() != 1)
    return refused("a registration has one piece, a key and an access", EINVAL);
  const iut::Piece& piece = command.pieces.front();
  const auto found = regions_.find(piece.region);
  if (found == regions_.end() || !found->second.by_work)
    return no_such("allocated region", piece.region);
  Region& region = found->second;
  rnic_kagent_map map{};
  map.mr = region.object;
  map.memory = region.memory.handle();
  map.offset = piece.offset;
  map.length = piece.length;
  map.key = command.registration->key;
  if (const int error = file_.call(RNIC_KAGENT_MAP_MR, map); error != 0)
    return failed("ib_map_mr_sg", error);
  region.local_key = map.lkey;
  region.base = map.iova - piece.offset;
  request.mr = region.object;
  request.key = map.rkey;
  request.access = static_cast<std::uint32_t>(verbs::access_flags(command.registration->access));
  done.stag = map.rkey;
  done.base = map.iova;
  return std::nullopt;
}

/// Fills in everything but the queue; `done` is the reply if it is posted.
KverbsDriver::Answer KverbsDriver::prepare(const iut::PostWork& command, rnic_kagent_send& request,
                                           iut::Reply& done) {
  if (command.operation == iut::operation::register_region) {
    if (auto reply = map(command, request, done)) return reply;
  } else if (auto reply = pieces(command.pieces, request.piece, request.pieces)) {
    return reply;
  }
  request.wr_id = next_number_++;
  return fill(command, request);
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::PostWork& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.endpoint);
  rnic_kagent_send request{};
  iut::Reply done;
  if (auto reply = prepare(command, request, done)) return reply;
  request.qp = found->second.queue_pair;
  if (const int error = file_.call(RNIC_KAGENT_POST_SEND, request); error != 0)
    return failed("ib_post_send " + command.operation, error);
  found->second.link.posted({request.wr_id, command.work, command.operation, command.signaled});
  return done;
}

// ---------------------------------------------------------------- lists of requests

namespace {

/// The reply to a list of which `posted` requests were posted.
template <class Request>
iut::Reply reply_to(const char* call, int error, const std::vector<Request>& requests,
                    std::uint32_t posted) {
  if (error == 0) return {};
  iut::Reply reply = failed(call, error);
  if (posted < requests.size()) reply.bad_work = requests[posted].work;
  return reply;
}

template <class Requests>
bool fits(const Requests& requests) {
  return !requests.empty() && requests.size() <= RNIC_KAGENT_MAX_CHAIN;
}

iut::Reply too_long() {
  return refused("a list has 1 to " + std::to_string(RNIC_KAGENT_MAX_CHAIN) + " requests here",
                 EINVAL);
}

}  // namespace

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::PostReceiveChain& command) {
  if (!fits(command.requests)) return too_long();
  const auto found = endpoints_.find(command.requests.front().endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.requests.front().endpoint);
  const auto chain = std::make_unique<rnic_kagent_recv_chain>();
  for (const iut::PostReceive& each : command.requests) {
    rnic_kagent_recv& request = chain->request[chain->count++];
    if (auto reply = prepare(each, request)) return reply;
    request.qp = found->second.queue_pair;
  }
  const int error = file_.call(RNIC_KAGENT_POST_RECV_CHAIN, *chain);
  for (std::uint32_t i = 0; i < chain->posted; ++i)
    receives_[chain->request[i].wr_id] = command.requests[i].work;
  return reply_to("ib_post_recv", error, command.requests, chain->posted);
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::PostWorkChain& command) {
  if (!fits(command.requests)) return too_long();
  const auto found = endpoints_.find(command.requests.front().endpoint);
  if (found == endpoints_.end()) return no_such("endpoint", command.requests.front().endpoint);
  const auto chain = std::make_unique<rnic_kagent_send_chain>();
  for (const iut::PostWork& each : command.requests) {
    rnic_kagent_send& request = chain->request[chain->count++];
    iut::Reply done;
    if (auto reply = prepare(each, request, done)) return reply;
    request.qp = found->second.queue_pair;
  }
  const int error = file_.call(RNIC_KAGENT_POST_SEND_CHAIN, *chain);
  for (std::uint32_t i = 0; i < chain->posted; ++i) {
    const iut::PostWork& each = command.requests[i];
    found->second.link.posted({chain->request[i].wr_id, each.work, each.operation, each.signaled});
  }
  return reply_to("ib_post_send", error, command.requests, chain->posted);
}

// ---------------------------------------------------------------- completions

void KverbsDriver::take_completion(const rnic_kagent_event& completion) {
  Endpoint* endpoint = endpoint_of(completion.handle);
  if (endpoint == nullptr) return;  // destroyed in the meantime
  verbs::WorkCompletion done{completion.wr_id, static_cast<ibv_wc_status>(completion.status),
                             static_cast<int>(completion.code), completion.byte_len, std::nullopt};
  if ((completion.flags & RNIC_KAGENT_EVENT_INVALIDATED) != 0)
    done.invalidated_stag = completion.invalidate_rkey;
  emit(endpoint->link.completed(done, receives_));
  if (!endpoint->link.end_is_due()) return;
  if (const int error = disconnect_now(*endpoint); error != 0)
    std::fprintf(stderr, "rnic-agent: %s\n", failed("rdma_disconnect", error).error.c_str());
}

}  // namespace suite::upper_tester::kverbs
