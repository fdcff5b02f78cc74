// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// DTOs of an Endpoint: posted, completed, reported to the consumer.
#include <algorithm>

#include "reference_rnic/dat/calls.hpp"
#include "reference_rnic/dat/ep.hpp"
#include "reference_rnic/dat/rmr.hpp"
#include "reference_rnic/dat/rnic_dat_extensions.h"

namespace rnic::dat {

// ---- receives ----

DAT_RETURN Ep::post_receive(verbs::ReceiveRequest request, const Posted& posted) {
  if (receives >= attr.max_recv_dtos)
    return failure(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
  request.id = ia->next_work_id();
  const std::uint64_t id = request.id;
  if (pair) {
    const auto done = ia->rnic().post_receive(pair, std::span(&request, 1));
    if (!done) return post_return(done.error().error);
  } else {
    preposted_.push_back(std::move(request));
  }
  posted_receives_.add(id, posted);
  ++receives;
  check_watermarks();
  return DAT_SUCCESS;
}

DAT_COUNT Ep::buffers_held() const {
  if (!srq) return receives;
  const auto info = ia->rnic().query_queue_pair(pair);
  return info ? static_cast<DAT_COUNT>(info->receives_outstanding) : 0;
}

/// The soft limit is reported once per setting; the hard one breaks the connection.
void Ep::check_watermarks() {
  const DAT_COUNT held = buffers_held();
  if (soft_watermark != DAT_WATERMARK_INFINITE && held > soft_watermark && !soft_reported_) {
    soft_reported_ = true;
    ia->report(static_cast<DAT_EVENT_NUMBER>(DAT_IW_ASYNC_WATERMARK), *this,
               DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT);
  }
  if (hard_watermark != DAT_WATERMARK_INFINITE && held > hard_watermark &&
      state == DAT_EP_STATE_CONNECTED)
    static_cast<void>(ia->manager().disconnect(pair, true));
}

void Ep::set_watermarks(DAT_COUNT soft, DAT_COUNT hard) {
  attr.srq_soft_hw = soft_watermark = soft;
  hard_watermark = hard;
  soft_reported_ = false;
  check_watermarks();
}

// ---- requests ----

DAT_RETURN Ep::post(std::span<const Part> parts, const Posted& posted) {
  const bool full = requests >= attr.max_request_dtos;
  if (state != DAT_EP_STATE_CONNECTED && state != DAT_EP_STATE_DISCONNECTED) {
    give_back(parts);
    return invalid_state(shown());
  }
  const bool starves = posted.operation == DAT_DTO_RDMA_READ && read_credits == 0 &&
                       state == DAT_EP_STATE_CONNECTED;  // it would wait for ever
  if (full || starves) {
    give_back(parts);
    return failure(DAT_INSUFFICIENT_RESOURCES,
                   starves ? DAT_RESOURCE_CREDITS : DAT_RESOURCE_MEMORY);
  }
  const auto told = parts.size() > 1 ? std::make_shared<bool>(false) : nullptr;
  std::vector<verbs::SendRequest>& asked = ia->asked;
  asked.clear();
  for (const Part& part : parts) {
    verbs::SendRequest& request = asked.emplace_back(part.request);
    request.id = ia->next_work_id();
    request.fence = asked.size() == 1 && has(posted.flags, DAT_COMPLETION_BARRIER_FENCE_FLAG);
    Posted& entry = posted_.add(request.id, posted);
    entry.sink = part.sink;
    entry.last = asked.size() == parts.size();
    entry.told = told;
  }
  ++requests;
  const auto done = ia->rnic().post_send(pair, asked);
  if (done) return DAT_SUCCESS;
  if (done.error().error == verbs::Error::invalid_state || !pair) {
    // The stream has ended, and the consumer will be notified.
    for (std::size_t i = done.error().index; i < asked.size(); ++i)
      completed({.id = asked[i].id, .queue_pair = pair, .status = verbs::Status::flushed});
    return DAT_SUCCESS;
  }
  for (const verbs::SendRequest& request : asked) posted_.take(request.id);
  --requests;
  give_back(parts);
  return post_return(done.error().error);
}

void Ep::give_back(std::span<const Part> parts) const {
  for (const Part& part : parts)
    if (part.sink) static_cast<void>(ia->rnic().deregister(part.sink));
}

/// An RDMA Read has one sink (RFC 5040 section 5.2): several segments are several Reads.
DAT_RETURN Ep::post_read(const verbs::Pieces& sinks, const DAT_RMR_TRIPLET& source,
                         const Posted& posted) {
  std::vector<Part> parts;
  DAT_SEG_LENGTH read = 0;
  for (verbs::Piece sink : sinks) {
    sink.length = std::min(sink.length, source.segment_length - read);
    if (sink.length == 0) break;
    auto part = read_into(sink);
    if (!part) {
      give_back(parts);
      return part.error();
    }
    part->request.remote_stag = source.rmr_context;
    part->request.remote_offset = source.virtual_address + read;
    read += sink.length;
    parts.push_back(std::move(*part));
  }
  if (parts.empty())
    parts.push_back({.request = {.operation = verbs::Operation::read,
                                 .remote_stag = source.rmr_context,
                                 .remote_offset = source.virtual_address}});
  return post(parts, posted);
}

/// The sink's STag has to let the peer write, which an LMR need not: then the Read gets a region of
/// its own that lasts as long as the Read.
auto Ep::read_into(const verbs::Piece& sink) -> std::expected<Part, DAT_RETURN> {
  Part part{.request = {.operation = verbs::Operation::read, .pieces = {sink}}};
  const Lmr& lmr = *ia->by_context.at(sink.stag);
  if (lmr.region.access.remote_write) return part;
  const auto region = ia->rnic().register_memory(
      pz->domain, {.memory = lmr.at(sink.offset, sink.length),
                   .access = {.local_write = true, .remote_write = true}});
  if (!region)
    return std::unexpected(failure(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY_REGION));
  part.sink = region->region;
  part.request.pieces.front() = {
      .stag = region->stag, .offset = region->base, .length = sink.length};
  return part;
}

// ---- completions ----

void Ep::completed(const verbs::Completion& completion) {
  const bool unannounced =
      state == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING || state == DAT_EP_STATE_COMPLETION_PENDING;
  if (unannounced) return held_.push_back(completion);
  const bool received = completion.operation == verbs::Operation::receive;
  const bool shared = srq && received;
  PostedTable& table = shared ? srq->posted : received ? posted_receives_ : posted_;
  const std::optional<Posted> taken = table.take(completion.id);
  if (!taken) return;
  const Posted& posted = *taken;
  if (posted.sink) static_cast<void>(ia->rnic().deregister(posted.sink));
  if (posted.last && !shared) --(posted.operation == DAT_DTO_RECEIVE ? receives : requests);
  if (posted.told &&
      std::exchange(*posted.told,
                    *posted.told || completion.status != verbs::Status::success || posted.last))
    return;
  if (posted.last || completion.status != verbs::Status::success) show(completion, posted);
  if (shared) check_watermarks();
}

void Ep::release_held() {
  for (const verbs::Completion& completion : std::exchange(held_, {})) completed(completion);
}

void Ep::show(const verbs::Completion& completion, const Posted& posted) {
  const bool success = completion.status == verbs::Status::success;
  const bool receive = posted.operation == DAT_DTO_RECEIVE;
  const DAT_DTO_COMPLETION_STATUS status = dto_status(completion.status);
  Rmr* rmr = find<Rmr>(posted.rmr);
  if (rmr != nullptr && !success) rmr->forget();
  Evd* evd = (receive ? recv_evd : request_evd).get();
  if (evd == nullptr || (success && has(posted.flags, DAT_COMPLETION_SUPPRESS_FLAG))) {
    if (receive && srq) --srq->outstanding;  // there is nothing to dequeue
    return;
  }
  DAT_EVENT event{};
  if (posted.operation == DAT_DTO_BIND_MW) {
    event.event_number = DAT_RMR_BIND_COMPLETION_EVENT;
    event.event_data.rmr_completion_event_data = {
        .rmr_handle = posted.rmr, .user_cookie = posted.cookie, .status = status};
  } else {
    event.event_number = DAT_DTO_COMPLETION_EVENT;
    const auto length = receive ? completion.length : posted.length;
    const DAT_DTOS operation =
        completion.invalidated ? DAT_DTO_RECEIVE_WITH_INVALIDATE : posted.operation;
    event.event_data.dto_completion_event_data = {
        .ep_handle = handle,
        .user_cookie = posted.cookie,
        .status = status,
        .transfered_length = success ? length : 0,
        .operation = operation,
        .rmr_context = completion.invalidated.value_or(0)};
  }
  evd->post(event, notice_of(completion, posted), receive && srq ? srq.handle() : DAT_HANDLE_NULL);
}

Notice Ep::notice_of(const verbs::Completion& completion, const Posted& posted) const {
  const bool receive = posted.operation == DAT_DTO_RECEIVE;
  const bool by_sender =
      receive && has(attr.recv_completion_flags, DAT_COMPLETION_SOLICITED_WAIT_FLAG);
  const bool failed = completion.status != verbs::Status::success;
  const bool silent =
      has(posted.flags, DAT_COMPLETION_UNSIGNALLED_FLAG) || (by_sender && !completion.solicited);
  return silent && !failed ? Notice::silent : Notice::notify;
}

// ---- calls ----

namespace calls {

namespace {

constexpr unsigned request_flags =
    DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_SOLICITED_WAIT_FLAG |
    DAT_COMPLETION_UNSIGNALLED_FLAG | DAT_COMPLETION_BARRIER_FENCE_FLAG;

bool admits_flags(DAT_COMPLETION_FLAGS flags, unsigned known, DAT_COMPLETION_FLAGS of_ep) {
  if (exceeds(flags, known)) return false;
  return !has(flags, DAT_COMPLETION_UNSIGNALLED_FLAG) ||
         has(of_ep, DAT_COMPLETION_UNSIGNALLED_FLAG);
}

/// The local side of a DTO as the consumer gives it.
struct LocalIov {
  DAT_COUNT count = 0;
  const DAT_LMR_TRIPLET* segments = nullptr;
  DAT_COUNT limit = 0;
  LocalUse use = LocalUse::source;
};

/// The checks that all DTOs share, in the order of the parameters.
std::expected<LocalSegments, DAT_RETURN> read_iov(const Ep& ep, const LocalIov& iov) {
  if (iov.count < 0 || iov.count > iov.limit) return std::unexpected(invalid_parameter(2));
  if (iov.segments == nullptr && iov.count > 0) return std::unexpected(invalid_parameter(3));
  if (iov.count == 0) return LocalSegments{};
  if (!ep.pz) return std::unexpected(failure(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_PZ));
  return read_segments(*ep.ia, *ep.pz.get(),
                       std::span(iov.segments, static_cast<std::size_t>(iov.count)), iov.use);
}

struct SendCall {
  DAT_EP_HANDLE ep;
  LocalIov iov;
  DAT_DTO_COOKIE cookie;
  DAT_COMPLETION_FLAGS flags;
  std::optional<DAT_RMR_CONTEXT> invalidate{};
};

DAT_RETURN send(const SendCall& asked) {
  return call_on<Ep>(asked.ep, [&](Ep& ep) -> DAT_RETURN {
    LocalIov iov = asked.iov;
    iov.limit = ep.attr.max_request_iov;
    const auto local = read_iov(ep, iov);
    if (!local) return local.error();
    if (local->total > limits::message) return failure(DAT_LENGTH_ERROR);
    if (!admits_flags(asked.flags, request_flags, ep.attr.request_completion_flags))
      return invalid_parameter(5);
    const bool solicited = has(asked.flags, DAT_COMPLETION_SOLICITED_WAIT_FLAG);
    using enum verbs::Operation;
    Ep::Part part{.request = {.pieces = local->pieces}};
    verbs::SendRequest& request = part.request;
    request.invalidate_stag = asked.invalidate.value_or(0);
    if (asked.invalidate)
      request.operation = solicited ? send_solicited_invalidate : send_invalidate;
    else
      request.operation = solicited ? send_solicited : verbs::Operation::send;
    return ep.post(part, {.operation = DAT_DTO_SEND,
                          .cookie = asked.cookie,
                          .flags = asked.flags,
                          .length = static_cast<DAT_SEG_LENGTH>(local->total)});
  });
}

}  // namespace

DAT_RETURN ep_post_send(DAT_EP_HANDLE ep, DAT_COUNT count, DAT_LMR_TRIPLET* segments,
                        DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags) {
  return send({ep, {.count = count, .segments = segments}, cookie, flags});
}

DAT_RETURN ep_post_send_with_invalidate(DAT_EP_HANDLE ep, DAT_COUNT count,
                                        DAT_LMR_TRIPLET* segments, DAT_DTO_COOKIE cookie,
                                        DAT_COMPLETION_FLAGS flags, DAT_BOOLEAN invalidate,
                                        DAT_RMR_CONTEXT rmr_context) {
  const std::optional<DAT_RMR_CONTEXT> invalidated =
      invalidate == DAT_FALSE ? std::nullopt : std::optional(rmr_context);
  return send({ep, {.count = count, .segments = segments}, cookie, flags, invalidated});
}

DAT_RETURN ep_post_recv(DAT_EP_HANDLE ep_handle, DAT_COUNT count, DAT_LMR_TRIPLET* segments,
                        DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags) {
  return call_on<Ep>(ep_handle, [&](Ep& ep) -> DAT_RETURN {
    if (ep.srq) return invalid_parameter(1);
    const auto local = read_iov(ep, {count, segments, ep.attr.max_recv_iov, LocalUse::sink});
    if (!local) return local.error();
    if (!admits_flags(flags, DAT_COMPLETION_UNSIGNALLED_FLAG, ep.attr.recv_completion_flags))
      return invalid_parameter(5);
    return ep.post_receive({.pieces = local->pieces},
                           {.operation = DAT_DTO_RECEIVE, .cookie = cookie, .flags = flags});
  });
}

DAT_RETURN ep_post_rdma_write(DAT_EP_HANDLE ep_handle, DAT_COUNT count, DAT_LMR_TRIPLET* segments,
                              DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET* remote,
                              DAT_COMPLETION_FLAGS flags) {
  return call_on<Ep>(ep_handle, [&](Ep& ep) -> DAT_RETURN {
    const auto local =
        read_iov(ep, {count, segments, ep.attr.max_rdma_write_iov, LocalUse::source});
    if (!local) return local.error();
    if (remote == nullptr) return invalid_parameter(5);
    if (local->total > remote->segment_length || local->total > limits::message)
      return failure(DAT_LENGTH_ERROR);
    constexpr unsigned known = request_flags & ~unsigned{DAT_COMPLETION_SOLICITED_WAIT_FLAG};
    if (!admits_flags(flags, known, ep.attr.request_completion_flags)) return invalid_parameter(6);
    const Ep::Part part{.request = {.operation = verbs::Operation::write,
                                    .pieces = local->pieces,
                                    .remote_stag = remote->rmr_context,
                                    .remote_offset = remote->virtual_address}};
    return ep.post(part, {.operation = DAT_DTO_RDMA_WRITE,
                          .cookie = cookie,
                          .flags = flags,
                          .length = static_cast<DAT_SEG_LENGTH>(local->total)});
  });
}

DAT_RETURN ep_post_rdma_read(DAT_EP_HANDLE ep_handle, DAT_COUNT count, DAT_LMR_TRIPLET* segments,
                             DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET* remote,
                             DAT_COMPLETION_FLAGS flags) {
  return call_on<Ep>(ep_handle, [&](Ep& ep) -> DAT_RETURN {
    const auto local = read_iov(ep, {count, segments, ep.attr.max_rdma_read_iov, LocalUse::sink});
    if (!local) return local.error();
    if (remote == nullptr) return invalid_parameter(5);
    if (local->total < remote->segment_length || remote->segment_length > limits::message)
      return failure(DAT_LENGTH_ERROR);
    constexpr unsigned known = request_flags & ~unsigned{DAT_COMPLETION_SOLICITED_WAIT_FLAG};
    if (!admits_flags(flags, known, ep.attr.request_completion_flags)) return invalid_parameter(6);
    return ep.post_read(local->pieces, *remote,
                        {.operation = DAT_DTO_RDMA_READ,
                         .cookie = cookie,
                         .flags = flags,
                         .length = remote->segment_length});
  });
}

DAT_RETURN ep_post_rdma_read_to_rmr(DAT_EP_HANDLE ep_handle, const DAT_RMR_TRIPLET* sink,
                                    DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET* remote,
                                    DAT_COMPLETION_FLAGS flags) {
  return call_on<Ep>(ep_handle, [&](Ep& ep) -> DAT_RETURN {
    if (sink == nullptr) return invalid_parameter(2);
    if (remote == nullptr) return invalid_parameter(4);
    if (sink->segment_length < remote->segment_length || remote->segment_length > limits::message)
      return failure(DAT_LENGTH_ERROR);
    constexpr unsigned known = request_flags & ~unsigned{DAT_COMPLETION_SOLICITED_WAIT_FLAG};
    if (!admits_flags(flags, known, ep.attr.request_completion_flags)) return invalid_parameter(5);
    const Ep::Part part{.request = {.operation = verbs::Operation::read,
                                    .pieces = {{.stag = sink->rmr_context,
                                                .offset = sink->virtual_address,
                                                .length = remote->segment_length}},
                                    .remote_stag = remote->rmr_context,
                                    .remote_offset = remote->virtual_address}};
    return ep.post(part, {.operation = DAT_DTO_RDMA_READ,
                          .cookie = cookie,
                          .flags = flags,
                          .length = remote->segment_length});
  });
}

}  // namespace calls

}  // namespace rnic::dat
