// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The model's events: which are owed, and whether one that comes may come.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "suite/cases/dat/framework/dat_names.hpp"
#include "suite/sessions/dat/model.hpp"

namespace suite::sessions::dat {

using suite::cases::dat::event_text;
using suite::cases::dat::status_text;

namespace {

bool is_over(const Endpoint& endpoint) {
  return endpoint.phase == Phase::ending || endpoint.phase == Phase::disconnected;
}

bool has_to_come(const Request& request) {
  return !request.suppressed || !request.statuses.has(DAT_DTO_SUCCESS);
}

DAT_COUNT certain_receives(const Endpoint& endpoint) {
  if (endpoint.queue)
    return static_cast<DAT_COUNT>(std::ranges::count_if(
        endpoint.incoming, [](const Message& one) { return one.statuses.bits == success.bits; }));
  return static_cast<DAT_COUNT>(is_over(endpoint) ? endpoint.receives.size()
                                                  : endpoint.incoming.size());
}

std::string completion_text(DAT_UINT64 cookie, const std::string& status) {
  return fmt::format("completion {:#x}: {}", cookie, status);
}

/// A transport may pad private data at its end; on the passive side there are none.
void judge_private_data(const std::vector<std::byte>& sent, const DAT_CONNECTION_EVENT_DATA& got) {
  const auto size = static_cast<DAT_COUNT>(sent.size());
  const bool whole =
      sent.empty() || (got.private_data_size >= size && got.private_data != nullptr &&
                       std::memcmp(got.private_data, sent.data(), sent.size()) == 0);
  demand(whole, "dat.cr-accept.private-data", fmt::format("the {} octets sent", size),
         fmt::format("{} octets", got.private_data_size));
}

template <typename List>
auto find_cookie(List& list, DAT_UINT64 cookie) {
  return std::ranges::find_if(list, [cookie](const auto& one) { return one.cookie == cookie; });
}

DAT_DTOS operation_of(Kind kind) {
  switch (kind) {
    case Kind::write:
      return DAT_DTO_RDMA_WRITE;
    case Kind::read:
      return DAT_DTO_RDMA_READ;
    case Kind::bind:
      return DAT_DTO_BIND_MW;
    case Kind::send:
      break;
  }
  return DAT_DTO_SEND;
}

}  // namespace

// ---------------------------------------------------------------- owed

DAT_COUNT Model::certain(std::uint32_t dispatcher) const {
  auto count = static_cast<DAT_COUNT>(dispatchers[dispatcher].software.size());
  for (const Endpoint& endpoint : endpoints) {
    if (endpoint.handle == DAT_HANDLE_NULL) continue;
    if (endpoint.receives_to == dispatcher) count += certain_receives(endpoint);
    if (endpoint.requests_to == dispatcher)
      count += static_cast<DAT_COUNT>(std::ranges::count_if(endpoint.requests, has_to_come));
    if (endpoint.connection_to == dispatcher)
      count += static_cast<DAT_COUNT>(endpoint.connection.size());
  }
  return count;
}

DAT_COUNT Model::possible(std::uint32_t at) const {
  const Dispatcher& dispatcher = dispatchers[at];
  auto count =
      static_cast<DAT_COUNT>(dispatcher.software.size() + dispatcher.lost_completions.size() +
                             dispatcher.lost_connections.size()) +
      dispatcher.lost_shared;
  for (const Endpoint& endpoint : endpoints) {
    if (endpoint.handle == DAT_HANDLE_NULL) continue;
    if (endpoint.receives_to == at) count += receives_at_most(endpoint);
    if (endpoint.requests_to == at) count += static_cast<DAT_COUNT>(endpoint.requests.size());
    if (endpoint.connection_to == at)
      count += static_cast<DAT_COUNT>(endpoint.connection.size()) +
               (endpoint.phase == Phase::connected ? 1 : 0);
  }
  return count;
}

Found Model::missing(std::uint32_t dispatcher) const {
  for (const Endpoint& endpoint : endpoints) {
    if (endpoint.handle == DAT_HANDLE_NULL) continue;
    if (endpoint.connection_to == dispatcher && !endpoint.connection.empty()) {
      const OwedConnectionEvent& owed = endpoint.connection.front();
      return {owed.rule, event_text(owed.numbers.front()), "no event"};
    }
    if (endpoint.receives_to == dispatcher && certain_receives(endpoint) > 0) {
      if (endpoint.incoming.empty())
        return {
            endpoint.receives.front().late ? "dat.ep-post-recv.flushed" : "dat.ep-disconnect.flush",
            completion_text(endpoint.receives.front().cookie, text_of(flushed)), "no event"};
      return {endpoint.incoming.front().rule, "the completion of a receive", "no event"};
    }
    if (endpoint.requests_to != dispatcher) continue;
    const auto owed = std::ranges::find_if(endpoint.requests, has_to_come);
    if (owed == endpoint.requests.end()) continue;
    const bool is_flush = owed->statuses.bits == flushed.bits;
    return {is_flush            ? flush_rule(owed->kind)
            : is_over(endpoint) ? "dat.ep-disconnect.flush"
                                : success_rule(owed->kind),
            completion_text(owed->cookie, text_of(owed->statuses)), "no event"};
  }
  return {"dat.evd-post-se.success", "a software event", "no event"};
}

// ---------------------------------------------------------------- completions

void Model::judge_status(const char* rule, DAT_UINT64 cookie, Statuses admissible,
                         DAT_DTO_COMPLETION_STATUS status) {
  if (admissible.has(status)) return;
  fail_at(admissible.bits == 0 ? "dat.ep-disconnect.order" : rule,
          completion_text(cookie, admissible.bits == 0 ? "before the end of the connection"
                                                       : text_of(admissible)),
          completion_text(cookie, status_text(status)));
}

void Model::fail_those_behind(Endpoint& endpoint, bool requests) {
  if (requests) {
    for (Request& request : endpoint.requests)
      if (request.statuses.has(DAT_DTO_SUCCESS))
        request.statuses = request.statuses.without(success) | flushed;
    return;
  }
  for (Message& message : endpoint.incoming)
    message.statuses = message.statuses.without(success) | flushed;
}

void Model::completes(Request& request, DAT_DTO_COMPLETION_STATUS status) {
  const bool good = status == DAT_DTO_SUCCESS;
  if (request.kind == Kind::read) {
    if (good)
      scatter(request.sink, request.octets);
    else
      forget(request.sink);
  }
  if (request.kind == Kind::bind) {
    Window& window = windows[request.window];
    if (good && !window.unknown) {
      window = request.bound;
    } else if (!good) {
      window.unknown = true;
    }
  }
  release(request.hold);
}

void Model::observe_request(std::uint32_t at, DAT_UINT64 cookie, DAT_DTO_COMPLETION_STATUS status,
                            const DAT_EVENT& event) {
  Endpoint& endpoint = endpoints[at];
  while (endpoint.requests.front().cookie != cookie) {
    Request& before = endpoint.requests.front();
    demand(!has_to_come(before), "dat.ep-post-send.order",
           completion_text(before.cookie, text_of(before.statuses)),
           completion_text(cookie, status_text(status)));
    completes(before, DAT_DTO_SUCCESS);
    endpoint.requests.pop_front();
  }
  Request request = std::move(endpoint.requests.front());
  endpoint.requests.pop_front();
  const char* rule = request.rule != nullptr                 ? request.rule
                     : request.statuses.bits == flushed.bits ? flush_rule(request.kind)
                     : request.statuses.bits == success.bits ? success_rule(request.kind)
                                                             : "dat.ep-disconnect.flush";
  judge_status(rule, cookie, request.statuses, status);
  const bool good = status == DAT_DTO_SUCCESS;
  if (good && request.suppressed)
    fail_at(request.kind == Kind::bind ? "dat.rmr-bind.suppressed" : "dat.ep-post-send.suppress",
            "no completion", completion_text(cookie, status_text(status)));
  if (request.kind != Kind::bind) {
    const auto& data = event.event_data.dto_completion_event_data;
    demand(data.ep_handle == endpoint.handle, rule, "the endpoint", "another handle");
    if (good) {
      demand(data.transfered_length == request.length, rule,
             fmt::format("{} octets", request.length),
             fmt::format("{} octets", data.transfered_length));
      demand(data.operation == operation_of(request.kind), rule,
             fmt::format("operation {}", static_cast<int>(operation_of(request.kind))),
             fmt::format("operation {}", static_cast<int>(data.operation)));
    }
  }
  completes(request, status);
  if (!good) fail_those_behind(endpoint, true);
}

void Model::receives(Receive& receive, const Message* message,
                     const DAT_DTO_COMPLETION_EVENT_DATA& data) {
  if (data.status == DAT_DTO_SUCCESS) {
    const std::size_t length = message->octets.size();
    demand(data.transfered_length == length, message->rule, fmt::format("{} octets", length),
           fmt::format("{} octets", data.transfered_length));
    demand(data.operation == DAT_DTO_RECEIVE, message->rule, "operation DAT_DTO_RECEIVE",
           fmt::format("operation {}", static_cast<int>(data.operation)));
    scatter(receive.segments, message->octets);
  } else if (message != nullptr) {
    forget(receive.segments);
  }
  release(receive.hold);
}

void Model::observe_receive(std::uint32_t at, const DAT_DTO_COMPLETION_EVENT_DATA& data) {
  Endpoint& endpoint = endpoints[at];
  const DAT_UINT64 cookie = data.user_cookie.as_64;
  demand(endpoint.receives.front().cookie == cookie, "dat.ep-post-send.order",
         completion_text(endpoint.receives.front().cookie, "the oldest"),
         completion_text(cookie, status_text(data.status)));
  demand(data.ep_handle == endpoint.handle, "dat.ep-post-recv.success", "the endpoint",
         "another handle");
  Receive receive = std::move(endpoint.receives.front());
  endpoint.receives.pop_front();
  if (endpoint.incoming.empty()) {
    if (!is_over(endpoint))
      fail_at("dat.ep-post-recv.success", "no completion, since no message has come",
              completion_text(cookie, status_text(data.status)));
    if (endpoint.strays && !receive.late) {
      forget(receive.segments);
      return release(receive.hold);
    }
    judge_status(receive.late ? "dat.ep-post-recv.flushed" : "dat.ep-disconnect.flush", cookie,
                 flushed, data.status);
    return receives(receive, nullptr, data);
  }
  const Message message = std::move(endpoint.incoming.front());
  endpoint.incoming.pop_front();
  judge_status(message.rule, cookie, message.statuses, data.status);
  receives(receive, &message, data);
  if (data.status != DAT_DTO_SUCCESS)
    fail_those_behind(endpoint, false);
  else if (endpoint.peer)
    conclude_writes(*endpoint.peer, message.behind);
}

void Model::observe_shared_receive(std::uint32_t at, const DAT_DTO_COMPLETION_EVENT_DATA& data) {
  Endpoint& endpoint = endpoints[at];
  SharedQueue& queue = queues[*endpoint.queue];
  const DAT_UINT64 cookie = data.user_cookie.as_64;
  const auto found = find_cookie(queue.receives, cookie);
  if (endpoint.incoming.empty() && endpoint.strays) {
    forget(found->segments);
    release(found->hold);
    queue.receives.erase(found);
    return;
  }
  if (endpoint.incoming.empty())
    fail_at("dat.ep-create-with-srq.receive", "no completion, since no message has come",
            completion_text(cookie, status_text(data.status)));
  const Message message = std::move(endpoint.incoming.front());
  endpoint.incoming.pop_front();
  judge_status(message.rule, cookie, message.statuses, data.status);
  --(message.statuses.bits == success.bits ? queue.taken : queue.maybe_taken);
  Receive receive = std::move(*found);
  queue.receives.erase(found);
  receives(receive, &message, data);
  if (data.status != DAT_DTO_SUCCESS)
    fail_those_behind(endpoint, false);
  else if (endpoint.peer)
    conclude_writes(*endpoint.peer, message.behind);
}

// What an endpoint that is no more left behind may come, and its handle may be another's by now.
void Model::observe_lost(Dispatcher& dispatcher, DAT_UINT64 cookie, const DAT_EVENT& event) {
  if (std::erase(dispatcher.lost_completions, cookie) > 0) return;
  if (dispatcher.lost_shared > 0) {
    for (SharedQueue& queue : queues) {
      const auto found = find_cookie(queue.receives, cookie);
      if (found == queue.receives.end()) continue;
      forget(found->segments);
      release(found->hold);
      queue.receives.erase(found);
      if (queue.maybe_taken > 0) --queue.maybe_taken;
      --dispatcher.lost_shared;
      return;
    }
  }
  fail_at("dat.evd-wait.order", "each event exactly once, at the dispatcher of its stream",
          fmt::format("{} of completion {:#x}", event_text(event.event_number), cookie));
}

void Model::observe_completion(std::uint32_t at, const DAT_EVENT& event) {
  const auto& data = event.event_data.dto_completion_event_data;
  const DAT_UINT64 cookie = data.user_cookie.as_64;
  for (std::uint32_t i = 0; i < endpoints.size(); ++i) {
    Endpoint& endpoint = endpoints[i];
    if (endpoint.handle == DAT_HANDLE_NULL) continue;
    const auto request = find_cookie(endpoint.requests, cookie);
    if (endpoint.requests_to == at && request != endpoint.requests.end() &&
        request->kind != Kind::bind)
      return observe_request(i, cookie, data.status, event);
    if (endpoint.receives_to != at) continue;
    if (find_cookie(endpoint.receives, cookie) != endpoint.receives.end())
      return observe_receive(i, data);
    if (!endpoint.queue || data.ep_handle != endpoint.handle) continue;
    auto& shared = queues[*endpoint.queue].receives;
    const auto receive = find_cookie(shared, cookie);
    if (receive == shared.end()) continue;
    if (dispatchers[at].lost_shared == 0) return observe_shared_receive(i, data);
    // It may be of a connection before a reset, which may have been lost, or not.
    const bool fits = !endpoint.incoming.empty() &&
                      endpoint.incoming.front().statuses.has(data.status) &&
                      (data.status != DAT_DTO_SUCCESS ||
                       endpoint.incoming.front().octets.size() == data.transfered_length);
    if (!fits) break;
    const std::vector<Range> segments = receive->segments;
    observe_shared_receive(i, data);
    return forget(segments);
  }
  observe_lost(dispatchers[at], cookie, event);
}

void Model::observe_bind(std::uint32_t at, const DAT_EVENT& event) {
  const auto& data = event.event_data.rmr_completion_event_data;
  const DAT_UINT64 cookie = data.user_cookie.as_64;
  for (std::uint32_t i = 0; i < endpoints.size(); ++i) {
    Endpoint& endpoint = endpoints[i];
    if (endpoint.handle == DAT_HANDLE_NULL || endpoint.requests_to != at) continue;
    const auto request = find_cookie(endpoint.requests, cookie);
    if (request == endpoint.requests.end() || request->kind != Kind::bind) continue;
    demand(data.rmr_handle == request->bound.handle, "dat.rmr-bind.success", "the window",
           "another handle");
    return observe_request(i, cookie, data.status, event);
  }
  observe_lost(dispatchers[at], cookie, event);
}

// ---------------------------------------------------------------- other events

void Model::ended(Endpoint& endpoint, std::uint32_t dispatcher) {
  endpoint.phase = Phase::disconnected;
  // On one dispatcher, what succeeds comes before the end of the connection.
  if (endpoint.receives_to == dispatcher)
    for (Message& message : endpoint.incoming) {
      if (endpoint.queue && message.statuses.bits == success.bits) {
        --queues[*endpoint.queue].taken;
        ++queues[*endpoint.queue].maybe_taken;
      }
      message.statuses = message.statuses.without(success);
    }
  if (endpoint.requests_to == dispatcher)
    for (Request& request : endpoint.requests)
      if (!request.suppressed) request.statuses = request.statuses.without(success);
}

void Model::observe_connection(std::uint32_t at, const DAT_EVENT& event) {
  const DAT_HANDLE handle = event.event_data.connect_event_data.ep_handle;
  const std::string came = event_text(event.event_number);
  for (Endpoint& endpoint : endpoints) {
    if (endpoint.handle == DAT_HANDLE_NULL || endpoint.handle != handle ||
        endpoint.connection_to != at || endpoint.connection.empty())
      continue;
    const auto has = [&](const std::vector<DAT_EVENT_NUMBER>& numbers) {
      return std::ranges::find(numbers, event.event_number) != numbers.end();
    };
    const OwedConnectionEvent& next = endpoint.connection.front();
    if (!has(next.numbers) && !has(next.tolerated) &&
        std::ranges::find(dispatchers[at].lost_connections, handle) !=
            dispatchers[at].lost_connections.end())
      break;  // of an earlier connection
    const OwedConnectionEvent owed = std::move(endpoint.connection.front());
    endpoint.connection.pop_front();
    if (has(owed.tolerated))
      advise(owed.rule, event_text(owed.numbers.front()), came);
    else
      demand(has(owed.numbers), owed.rule, event_text(owed.numbers.front()), came);
    if (owed.data) judge_private_data(*owed.data, event.event_data.connect_event_data);
    if (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED)
      endpoint.phase = Phase::connected;
    else
      ended(endpoint, at);
    return;
  }
  auto& lost = dispatchers[at].lost_connections;
  const auto found = std::ranges::find(lost, handle);
  demand(found != lost.end(), "dat.ep-disconnect.success", "no event of that endpoint", came);
  lost.erase(found);
}

void Model::observe_software(Dispatcher& dispatcher, const DAT_EVENT& event) {
  const auto number =
      reinterpret_cast<std::uintptr_t>(event.event_data.software_event_data.pointer);
  demand(!dispatcher.software.empty(), "dat.evd-wait.order", "no software event",
         fmt::format("software event {}", number));
  demand(dispatcher.software.front() == number,
         std::ranges::find(dispatcher.software, number) == dispatcher.software.end()
             ? "dat.evd-post-se.success"
             : "dat.evd-wait.order",
         fmt::format("software event {}", dispatcher.software.front()),
         fmt::format("software event {}", number));
  dispatcher.software.pop_front();
}

void Model::observe(std::uint32_t at, const DAT_EVENT& event) {
  Dispatcher& dispatcher = dispatchers[at];
  if (dispatcher.seen > 0) --dispatcher.seen;
  demand(event.evd_handle == dispatcher.handle, "dat.evd-dequeue.success",
         "the handle of the dispatcher", "another handle");
  switch (event.event_number) {
    case DAT_DTO_COMPLETION_EVENT:
      return observe_completion(at, event);
    case DAT_RMR_BIND_COMPLETION_EVENT:
      return observe_bind(at, event);
    case DAT_SOFTWARE_EVENT:
      return observe_software(dispatcher, event);
    case DAT_CONNECTION_EVENT_ESTABLISHED:
    case DAT_CONNECTION_EVENT_PEER_REJECTED:
    case DAT_CONNECTION_EVENT_NON_PEER_REJECTED:
    case DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR:
    case DAT_CONNECTION_EVENT_DISCONNECTED:
    case DAT_CONNECTION_EVENT_BROKEN:
    case DAT_CONNECTION_EVENT_TIMED_OUT:
    case DAT_CONNECTION_EVENT_UNREACHABLE:
      return observe_connection(at, event);
    default:
      fail_at("dat.evd-create.success", "an event of the streams of the dispatcher",
              event_text(event.event_number));
  }
}

void Model::observe_async(const DAT_EVENT& event) {
  const auto& data = event.event_data.asynch_error_event_data;
  const auto fits = [&](const OwedAsync& owed) {
    return owed.handle == data.dat_handle && (!owed.reason || *owed.reason == data.reason) &&
           (!owed.number || *owed.number == event.event_number);
  };
  auto found = std::ranges::find_if(
      async, [&](const OwedAsync& owed) { return owed.certain && fits(owed); });
  if (found == async.end()) found = std::ranges::find_if(async, fits);
  if (found != async.end()) {
    async.erase(found);
    return;
  }
  // Of what else there may be no text says anything.
  for (const SharedQueue& queue : queues)
    demand(queue.handle == DAT_HANDLE_NULL || queue.handle != data.dat_handle ||
               data.reason != DAT_SRQ_LOW_WATERMARK_EVENT,
           "dat.srq-set-lw.success", "no event of the low watermark", "another one");
  for (const Endpoint& endpoint : endpoints)
    demand(endpoint.handle == DAT_HANDLE_NULL || endpoint.handle != data.dat_handle ||
               data.reason != DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT ||
               event.event_number == DAT_ASYNC_ERROR_EP_BROKEN,
           "dat.ep-set-watermark.soft", "no event of the high watermark", "another one");
}

}  // namespace suite::sessions::dat
