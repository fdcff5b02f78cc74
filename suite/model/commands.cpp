// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/model/commands.hpp"

#include <algorithm>

namespace suite::model {

namespace {

std::optional<std::size_t> stream_of(const State& state, iut::Handle endpoint) {
  for (std::size_t i = 0; i < state.streams.size(); ++i)
    if (state.streams[i].terms.endpoint == endpoint) return i;
  return std::nullopt;
}

bool carries_payload(const Work& work) {
  return work.command.operation.starts_with("send") || work.is(iut::operation::write);
}

void apply(State& state, const iut::RegisterMemory& command, const iut::Reply& reply) {
  Region region;
  region.handle = command.region;
  region.domain = command.domain;
  region.stag = reply.stag.value_or(0);
  region.base = reply.base.value_or(0);
  region.access = command.access;
  region.contents = Contents(Octets(command.length, std::byte{command.fill}));
  state.memory.regions.push_back(std::move(region));
}

void apply(State& state, const iut::DeregisterMemory& command, const iut::Reply&) {
  if (Region* region = state.memory.find(command.region))
    region->valid = region->registered = false;
}

void apply(State& state, const iut::AllocateWindow& command, const iut::Reply& reply) {
  Window window;
  window.handle = command.window;
  window.domain = command.domain;
  window.stag = reply.stag.value_or(0);
  state.memory.windows.push_back(window);
}

/// The window is bound, or with a length of 0 unbound.
void bind(State& state, std::size_t stream, const Work& work) {
  Window* window = state.memory.window(work.command.window);
  if (window == nullptr) return;
  window->bound = work.length() > 0;
  if (!window->bound) return;
  const iut::Piece& piece = work.command.pieces.front();
  window->stag = work.new_stag.value_or(window->stag);
  window->region = piece.region;
  window->base = state.memory.find(piece.region)->base + piece.offset;
  window->length = piece.length;
  window->access = work.command.window_access;
  window->stream = state.memory.stream_windows ? std::optional(stream) : std::nullopt;
}

void apply(State& state, const iut::WriteMemory& command, const iut::Reply&) {
  if (Region* region = state.memory.find(command.region))
    state.write(*region, command.offset, command.octets, Placed::consumer);
}

SharedQueue* shared_queue(State& state, iut::Handle handle) {
  const auto found = std::ranges::find(state.shared_queues, handle, &SharedQueue::handle);
  return found == state.shared_queues.end() ? nullptr : &*found;
}

void apply(State& state, const iut::CreateSharedQueue& command, const iut::Reply&) {
  state.shared_queues.push_back({command.queue, {}});
}

void apply(State& state, const iut::ArmSharedQueueLimit& command, const iut::Reply&) {
  if (SharedQueue* queue = shared_queue(state, command.queue)) queue->limit = command.limit;
}

void apply(State& state, const iut::PostReceive& command, const iut::Reply&) {
  if (SharedQueue* queue = shared_queue(state, command.shared_queue))
    return queue->waiting.push_back({command.work, command.pieces, false, 0, {}, false});
  const auto at = stream_of(state, command.endpoint);
  if (at)
    state.streams[*at].receives.push_back({command.work, command.pieces, false, 0, {}, false});
}

void apply(State& state, const iut::PostWork& command, const iut::Reply& reply) {
  const auto at = stream_of(state, command.endpoint);
  if (!at) return;
  Work work{.command = command, .payload = {}};
  work.new_stag = reply.stag;
  if (work.is_immediate()) {
    work.payload = Contents(command.immediate);
  } else if (carries_payload(work)) {
    work.payload = Contents(state.gather(command.pieces));
    work.indeterminate = std::ranges::any_of(command.pieces, [&](const iut::Piece& piece) {
      const Region* region = state.memory.find(piece.region);
      return region != nullptr && !state.is_known(*region);
    });
  }
  // With an ORD of 0 it may wait forever, be refused, or end the stream as an error of the consumer.
  Stream& stream = state.streams[*at];
  const bool is_up = stream.phase == Phase::running || stream.phase == Phase::holding;
  if (work.asks() && stream.terms.depths.ord == 0 && is_up) state.end_openly(*at);
  stream.work.push_back(std::move(work));
  run_local_work(state, *at);
}

void apply(State& state, const iut::Disconnect& command, const iut::Reply&) {
  const auto at = stream_of(state, command.endpoint);
  if (!at) return;
  Stream& stream = state.streams[*at];
  stream.closing = true;
  const bool goes_on = stream.phase == Phase::running || stream.phase == Phase::holding;
  if (command.abortive && goes_on) stream.phase = Phase::broken;
}

/// Nothing more is told of it, and how its connection ends is open.
void apply(State& state, const iut::DestroyEndpoint& command, const iut::Reply&) {
  const auto at = stream_of(state, command.endpoint);
  if (!at) return;
  state.end_openly(*at);
  state.streams[*at].gone = true;
}

template <typename Other>
void apply(State&, const Other&, const iut::Reply&) {}

/// A Read that has not been sent will not be sent: the peer, which has closed, could not answer it.
bool is_void(const Stream& stream, const Work& work) {
  return stream.peer_closed && work.asks() && !work.sent;
}

bool is_to_leave(const Stream& stream, const Work& work) {
  return !work.sent && !is_void(stream, work);
}

}  // namespace

void perform(State& state, const iut::Command& command, const iut::Reply& reply) {
  if (reply.outcome != iut::Outcome::ok) return;
  std::visit([&](const auto& each) { apply(state, each, reply); }, command);
}

const Work* next_to_leave(const Stream& stream) {
  const auto found = std::ranges::find_if(
      stream.work, [&](const Work& work) { return is_to_leave(stream, work); });
  return found == stream.work.end() ? nullptr : &*found;
}

Work* next_to_leave(Stream& stream) {
  const auto found = std::ranges::find_if(
      stream.work, [&](const Work& work) { return is_to_leave(stream, work); });
  return found == stream.work.end() ? nullptr : &*found;
}

namespace {

/// Its turn has come: everything before it has been sent, and a fence is kept (RFC 5040 section
/// 5.5).
bool is_next(const Stream& stream, const Work& work) {
  for (const Work& each : stream.work) {
    if (&each == &work) break;
    if (is_to_leave(stream, each)) return false;
    // Nobody waits for Responses that can come no more.
    const bool is_open = each.asks() && !each.done && !stream.peer_closed;
    if (work.command.fence && is_open) return false;
  }
  return true;
}

}  // namespace

bool may_leave(const Stream& stream, const Work& work) {
  return stream.may_send && is_next(stream, work) &&
         (!work.asks() || stream.open_like(work) < stream.terms.depths.ord);
}

bool has_to_leave(const Stream& stream, const Work& work) {
  // docs/disputes.md D56: a source may hold everything but Reads back until Reads are answered.
  const auto reads_due = work.asks() ? stream.terms.depths.ord_due : 1;
  return may_leave(stream, work) && stream.open_reads() < reads_due;
}

bool may_be_done(const Stream& stream, const Work& work) {
  // A reset discards what TCP had taken and not sent yet. What is sent before a Terminate is seen before it.
  const bool cut_off =
      stream.phase == Phase::broken || (stream.iut_reset && !stream.terminate_seen);
  return work.done || (cut_off && !work.asks() && stream.open_reads() == 0);
}

void do_local_work(State& state, std::size_t index, Work& work) {
  work.sent = work.done = true;
  if (work.is(iut::operation::bind_window))
    bind(state, index, work);
  else
    state.memory.revoke(work.command.invalidate_stag);
}

void run_local_work(State& state, std::size_t index) {
  // Work that is posted to a stream that has ended is flushed.
  if (state.streams[index].goes_on()) run_late_local_work(state, index);
}

bool run_late_local_work(State& state, std::size_t index) {
  Stream& stream = state.streams[index];
  bool any = false;
  while (Work* work = next_to_leave(stream)) {
    if (!work->is_local() || !is_next(stream, *work)) break;
    any = true;
    do_local_work(state, index, *work);
  }
  return any;
}

}  // namespace suite::model
