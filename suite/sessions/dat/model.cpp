// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The model's objects: their memory, their references, and what happens to connections.
#include "suite/sessions/dat/model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "suite/cases/dat/framework/dat_names.hpp"

namespace suite::sessions::dat {

std::string text_of(Statuses statuses) {
  if (statuses.bits == any_failure.bits) return "a failure";
  if (statuses.bits == (success | any_failure).bits) return "any status";
  std::string text;
  for (int i = 0; i < 32; ++i) {
    const auto status = static_cast<DAT_DTO_COMPLETION_STATUS>(i);
    if (statuses.has(status))
      text += (text.empty() ? "" : " or ") + suite::cases::dat::status_text(status);
  }
  return text;
}

bool Abilities::may_merge(unsigned flags) const {
  constexpr std::array<unsigned, 6> kinds{DAT_EVD_SOFTWARE_FLAG, DAT_EVD_CR_FLAG,
                                          DAT_EVD_DTO_FLAG,      DAT_EVD_CONNECTION_FLAG,
                                          DAT_EVD_RMR_BIND_FLAG, DAT_EVD_ASYNC_FLAG};
  for (std::size_t i = 0; i < kinds.size(); ++i)
    for (std::size_t j = 0; j < kinds.size(); ++j)
      if (i != j && (flags & kinds[i]) != 0 && (flags & kinds[j]) != 0 && !merges[i][j])
        return false;
  return true;
}

const char* success_rule(Kind kind) {
  switch (kind) {
    case Kind::send:
      return "dat.ep-post-send.success";
    case Kind::write:
      return "dat.ep-post-rdma-write.success";
    case Kind::read:
      return "dat.ep-post-rdma-read.success";
    case Kind::bind:
      return "dat.rmr-bind.success";
  }
  return "";
}

const char* flush_rule(Kind kind) {
  switch (kind) {
    case Kind::send:
      return "dat.ep-post-send.flushed";
    case Kind::write:
      return "dat.ep-post-rdma-write.flushed";
    case Kind::read:
      return "dat.ep-post-rdma-read.flushed";
    case Kind::bind:
      return "dat.rmr-bind.flushed";
  }
  return "";
}

void Model::advise(std::string rule, std::string admissible, std::string came) {
  advisories.push_back({std::move(rule), std::move(admissible), std::move(came), true});
}

// ---------------------------------------------------------------- memory

std::size_t Model::add_memory(std::size_t length) {
  memories.emplace_back(length, memories.size() + 1);
  return memories.size() - 1;
}

void Model::hold(const std::vector<Range>& ranges, std::uint64_t id, bool changing) {
  for (const Range& range : ranges)
    memories[range.region].used.push_back({id, range.offset, range.length, changing});
}

void Model::release(std::uint64_t hold) {
  for (Memory& memory : memories)
    std::erase_if(memory.used, [hold](const Hold& one) { return one.id == hold; });
}

void Model::starts_to_change(std::uint64_t hold) {
  for (Memory& memory : memories)
    for (Hold& one : memory.used)
      if (one.id == hold) one.changing = true;
}

Octets Model::gather(const std::vector<Range>& ranges) const {
  Octets all;
  for (const Range& range : ranges) {
    const Octets part = memories[range.region].copy(range.offset, range.length);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

void Model::scatter(const std::vector<Range>& ranges, const Octets& octets) {
  auto from = octets.begin();
  for (const Range& range : ranges) {
    const auto count =
        std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(range.length), octets.end() - from);
    memories[range.region].set(range.offset, Octets(from, from + count));
    from += count;
  }
}

void Model::forget(const std::vector<Range>& ranges) {
  for (const Range& range : ranges) memories[range.region].forget(range.offset, range.length);
}

bool Model::is_held(std::uint32_t region) const {
  return !memories[regions[region].memory].used.empty();
}

void Model::places(Placement placement) {
  placement.number = ++last_write_;
  const auto& memory = memories[placement.range.region];
  const Octet& last = placement.octets.back();
  const Octet& before = memory.expected[placement.range.offset + placement.range.length - 1];
  placement.shows = last.value != Octet::any && !last.two && before.value != Octet::any &&
                    !before.two && before.value != last.value;
  hold({placement.range}, placement.hold, true);
  placements.push_back(std::move(placement));
}

void Model::conclude_writes(std::uint32_t writer, std::uint64_t last) {
  std::erase_if(placements, [&](const Placement& one) {
    if (one.writer != writer || one.number > last) return false;
    Memory& memory = memories[one.range.region];
    if (one.certain)
      memory.set(one.range.offset, one.octets);
    else
      memory.may_become(one.range.offset, one.octets);
    release(one.hold);
    return true;
  });
}

void Model::doubt_end(Endpoint& endpoint) {
  for (OwedConnectionEvent& owed : endpoint.connection) {
    owed.numbers = {DAT_CONNECTION_EVENT_DISCONNECTED, DAT_CONNECTION_EVENT_BROKEN};
    owed.tolerated.clear();
  }
}

void Model::doubt_writes(std::uint32_t writer) {
  for (Placement& one : placements)
    if (one.writer == writer) one.certain = false;
}

// ---------------------------------------------------------------- references

bool Model::zone_is_used(std::uint32_t zone) const {
  const auto uses = [zone](const auto& object) {
    return object.handle != DAT_HANDLE_NULL && object.zone == zone;
  };
  return std::ranges::any_of(regions, uses) || std::ranges::any_of(windows, uses) ||
         std::ranges::any_of(queues, uses) || std::ranges::any_of(endpoints, uses);
}

bool Model::dispatcher_is_fed(std::uint32_t dispatcher) const {
  return std::ranges::any_of(endpoints, [dispatcher](const Endpoint& endpoint) {
    return endpoint.handle != DAT_HANDLE_NULL &&
           (endpoint.receives_to == dispatcher || endpoint.requests_to == dispatcher ||
            endpoint.connection_to == dispatcher);
  });
}

void Model::is_fed(std::uint32_t dispatcher) {
  dispatchers[dispatcher].was_fed = true;
  if (const auto& notifier = dispatchers[dispatcher].notifier) notifiers[*notifier].doubtful = true;
}

bool Model::queue_is_used(std::uint32_t queue) const {
  return std::ranges::any_of(endpoints, [queue](const Endpoint& endpoint) {
    return endpoint.handle != DAT_HANDLE_NULL && endpoint.queue == queue;
  });
}

bool Model::notifier_is_fed(std::uint32_t notifier) const {
  return std::ranges::any_of(dispatchers, [notifier](const Dispatcher& dispatcher) {
    return dispatcher.handle != DAT_HANDLE_NULL && dispatcher.notifier == notifier;
  });
}

bool Model::is_being_bound(std::uint32_t window) const {
  return std::ranges::any_of(endpoints, [window](const Endpoint& endpoint) {
    return std::ranges::any_of(endpoint.requests, [window](const Request& request) {
      return request.kind == Kind::bind && request.window == window;
    });
  });
}

void Model::end_context_of(std::uint32_t place) {
  const Window& window = windows[place];
  if (!window.region) return;
  former.push_back({.remote = window.context,
                    .address = memory_of(*window.region).base + window.offset,
                    .length = window.length,
                    .of_window = place});
}

std::optional<bool> Model::region_is_bound(std::uint32_t region) const {
  bool known = true;
  for (std::uint32_t i = 0; i < window_places; ++i) {
    if (windows[i].handle == DAT_HANDLE_NULL) continue;
    if (windows[i].unknown || is_being_bound(i))
      known = false;
    else if (windows[i].region == region)
      return true;
  }
  if (!known) return std::nullopt;
  return false;
}

// ---------------------------------------------------------------- receives and their marks

DAT_COUNT Model::receives_at_least(const Endpoint& endpoint) const {
  if (endpoint.phase == Phase::ending || endpoint.phase == Phase::disconnected) return 0;
  return static_cast<DAT_COUNT>(endpoint.receives.size()) -
         static_cast<DAT_COUNT>(endpoint.incoming.size());
}

DAT_COUNT Model::receives_at_most(const Endpoint& endpoint) const {
  if (!endpoint.queue) return static_cast<DAT_COUNT>(endpoint.receives.size());
  return static_cast<DAT_COUNT>(endpoint.strays ? queues[*endpoint.queue].receives.size()
                                                : endpoint.incoming.size());
}

std::int64_t Model::longest_message_for(std::uint32_t queue) const {
  std::size_t longest = 0;
  for (const Endpoint& endpoint : endpoints)
    if (endpoint.queue == queue)
      for (const Message& message : endpoint.incoming)
        longest = std::max(longest, message.octets.size());
  return static_cast<std::int64_t>(longest);
}

void Model::check_watermark(Endpoint& endpoint) {
  if (endpoint.soft_watermark == DAT_WATERMARK_INFINITE || endpoint.queue) return;
  if (receives_at_most(endpoint) <= endpoint.soft_watermark) return;
  async.push_back({.handle = endpoint.handle,
                   .reason = DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT,
                   .number = {},
                   .certain = receives_at_least(endpoint) > endpoint.soft_watermark,
                   .rule = "dat.ep-set-watermark.soft"});
  endpoint.soft_watermark = DAT_WATERMARK_INFINITE;
}

void Model::check_watermark(SharedQueue& queue) {
  if (!queue.armed) return;
  const auto most = static_cast<DAT_COUNT>(queue.receives.size()) - queue.taken;
  if (most - queue.maybe_taken >= queue.low_watermark) return;
  async.push_back({.handle = queue.handle,
                   .reason = DAT_SRQ_LOW_WATERMARK_EVENT,
                   .number = {},
                   .certain = most < queue.low_watermark,
                   .rule = "dat.srq-set-lw.success"});
  queue.armed = false;
}

void Model::arrives(std::uint32_t to, Message message) {
  Endpoint& endpoint = endpoints[to];
  message.behind = last_write_;
  if (endpoint.queue) {
    message.rule = "dat.srq-post-recv.success";
    SharedQueue& queue = queues[*endpoint.queue];
    ++(message.statuses.bits == success.bits ? queue.taken : queue.maybe_taken);
    for (const Receive& receive : queue.receives) starts_to_change(receive.hold);
    check_watermark(queue);
  } else {
    starts_to_change(endpoint.receives[endpoint.incoming.size()].hold);
  }
  endpoint.incoming.push_back(std::move(message));
}

void Model::retract_message(std::uint32_t to) {
  Endpoint& endpoint = endpoints[to];
  if (endpoint.queue) {
    SharedQueue& queue = queues[*endpoint.queue];
    --(endpoint.incoming.back().statuses.bits == success.bits ? queue.taken : queue.maybe_taken);
    for (OwedAsync& owed : async)
      if (owed.handle == queue.handle) owed.certain = false;
  }
  endpoint.incoming.pop_back();
}

void Model::retract_write(std::uint64_t hold) {
  std::erase_if(placements, [hold](const Placement& one) { return one.hold == hold; });
  release(hold);
}

// ---------------------------------------------------------------- the end of connections

void Model::anything_may_fail(Endpoint& endpoint, bool requests, bool messages) {
  if (requests)
    for (Request& request : endpoint.requests)
      if (request.statuses.has(DAT_DTO_SUCCESS)) request.statuses = success | any_failure;
  if (!messages) return;
  for (Message& message : endpoint.incoming) {
    if (endpoint.queue && message.statuses.bits == success.bits) {
      SharedQueue& queue = queues[*endpoint.queue];
      --queue.taken;
      ++queue.maybe_taken;
    }
    if (message.statuses.has(DAT_DTO_SUCCESS)) message.statuses = success | any_failure;
  }
}

void Model::becomes_ending(Endpoint& endpoint, OwedConnectionEvent event) {
  endpoint.phase = Phase::ending;
  for (const Receive& receive : endpoint.receives) starts_to_change(receive.hold);
  endpoint.connection.push_back(std::move(event));
  if (endpoint.queue)  // D78
    async.push_back({.handle = endpoint.handle,
                     .reason = {},
                     .number = DAT_ASYNC_ERROR_EP_BROKEN,
                     .certain = false,
                     .rule = "dat.ep-create-with-srq.broken-told"});
}

// Which event the peer of an endpoint that ends with work outstanding gets, no text says (D21).
void Model::disconnects(std::uint32_t one, bool abrupt) {
  Endpoint& endpoint = endpoints[one];
  Endpoint& peer = endpoints[*endpoint.peer];
  const bool peer_is_busy = !peer.requests.empty() || !endpoint.incoming.empty();
  const bool busy = peer_is_busy || (abrupt && !endpoint.requests.empty());
  endpoint.ended_it = true;
  OwedConnectionEvent end{.numbers = {DAT_CONNECTION_EVENT_DISCONNECTED},
                          .tolerated = {},
                          .rule = "dat.ep-disconnect.success"};
  if (busy || peer.phase != Phase::connected) end.numbers.push_back(DAT_CONNECTION_EVENT_BROKEN);
  anything_may_fail(endpoint, abrupt || peer_is_busy, true);
  anything_may_fail(peer, true, abrupt || peer_is_busy);
  if (abrupt || peer_is_busy) doubt_writes(one);
  doubt_writes(*endpoint.peer);
  if (endpoint.phase == Phase::connected) becomes_ending(endpoint, end);
  if (peer.phase == Phase::connected) becomes_ending(peer, end);
}

// D47: no text maps the faults that a peer reports to events.
void Model::breaks(std::uint32_t one) {
  Endpoint& endpoint = endpoints[one];
  const OwedConnectionEvent end{.numbers = {DAT_CONNECTION_EVENT_BROKEN},
                                .tolerated = {DAT_CONNECTION_EVENT_DISCONNECTED},
                                .rule = "dat.ep-connect.error-event"};
  for (const std::uint32_t each : {one, *endpoint.peer}) {
    anything_may_fail(endpoints[each], true, true);
    doubt_writes(each);
    if (endpoints[each].phase == Phase::connected) becomes_ending(endpoints[each], end);
  }
}

void Model::abandon(std::uint32_t one) {
  Endpoint& endpoint = endpoints[one];
  anything_may_fail(endpoint, false, true);  // nobody will see which receives they took
  for (const Receive& receive : endpoint.receives) {
    dispatchers[endpoint.receives_to].lost_completions.push_back(receive.cookie);
    forget(receive.segments);
    release(receive.hold);
  }
  for (Request& request : endpoint.requests) {
    dispatchers[endpoint.requests_to].lost_completions.push_back(request.cookie);
    if (request.kind == Kind::bind) windows[request.window].unknown = true;
    forget(request.sink);
    release(request.hold);
  }
  if (endpoint.queue) dispatchers[endpoint.receives_to].lost_shared += receives_at_most(endpoint);
  for (std::size_t i = 0; i < endpoint.connection.size(); ++i)
    dispatchers[endpoint.connection_to].lost_connections.push_back(endpoint.handle);
  doubt_writes(one);
  conclude_writes(one);
  endpoint.receives.clear();
  endpoint.requests.clear();
  endpoint.incoming.clear();
  endpoint.connection.clear();
  endpoint.peer.reset();
  endpoint.ended_it = endpoint.strays = false;
  endpoint.phase = Phase::unconnected;
}

}  // namespace suite::sessions::dat
