// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the objects of one software RNIC share: policy, loop, STag table, the object tables, and the
// ways that news take.
#pragma once

#include <memory>
#include <utility>

#include "reference_rnic/verbs/completion_queue.hpp"
#include "reference_rnic/verbs/memory_window.hpp"
#include "reference_rnic/verbs/shared_queue.hpp"
#include "reference_rnic/verbs/soft_rnic.hpp"
#include "reference_rnic/verbs/stag_table.hpp"

namespace rnic::verbs {

template <typename Policy>
class QueuePair;

struct Domain {
  DomainHandle handle{};
  std::uint32_t users = 0;    ///< regions, windows, shared queues and queue pairs in it
  std::uint32_t streams = 0;  ///< streams attached to its queue pairs
};
struct Region {
  RegionInfo info{};
  DomainHandle domain{};
  std::uint32_t windows = 0;  ///< bound to it
};

template <typename Policy>
struct Core {
  Core(Host the_host, const SoftRnicOptions& the_options, Policy the_policy)
      : host(std::move(the_host)),
        options(the_options),
        policy(std::move(the_policy)),
        tags(policy, options.stag_seed) {}

  Host host;
  SoftRnicOptions options;
  Policy policy;
  StagTable<Policy> tags;
  HandleTable<Domain, Kind::domain> domains;
  HandleTable<Region, Kind::region> regions;
  HandleTable<Window, Kind::window> windows;
  HandleTable<CompletionQueue, Kind::completion_queue> completion_queues;
  HandleTable<SharedQueue, Kind::shared_queue> shared_queues;
  HandleTable<QueuePair<Policy>, Kind::queue_pair> queue_pairs;
  AsyncHandler async_handler;

  [[nodiscard]] bool deviates(stream::Deviation deviation) const {
    return policy.deviates(deviation);
  }

  /// Runs `callback` from the loop, unless the RNIC is gone by then.
  void defer(std::function<void()> callback) {
    host.defer([alive = std::weak_ptr<char>(alive_), callback = std::move(callback)] {
      if (!alive.expired()) callback();
    });
  }
  void raise(AsyncEvent event) {
    defer([this, event = std::move(event)] {
      if (async_handler) async_handler(event);
    });
  }
  void complete(CompletionQueueHandle queue, const Completion& completion) {
    CompletionQueue* found = completion_queues.find(queue);
    if (found == nullptr) return;
    switch (found->push(completion)) {
      case CompletionQueue::Pushed::kept:
      case CompletionQueue::Pushed::lost:
        return;
      case CompletionQueue::Pushed::kept_and_due:
        if (found->woken_before() && deviates(stream::Deviation::notification_lost)) return;
        return call_handler(queue);
      case CompletionQueue::Pushed::first_overflow:
        return overflowed(queue);
    }
  }
  /// More than one stream can use the STags of this domain.
  [[nodiscard]] bool is_shared(DomainHandle domain) const {
    const Domain* found = domains.find(domain);
    return found != nullptr && found->streams > 1;
  }

  // Windows (memory_window.cpp) and invalidation (invalidation.cpp): the table's tag and the
  // objects' counts change together.

  void unbind(Window& window);
  [[nodiscard]] bool has_windows(const Tag& tag) const;
  /// Registrations that are not what the consumer asked for; only of a deviating RNIC.
  void spoil(Tag& tag) {
    Access& access = tag.access;
    if (is_shared(tag.domain) && deviates(stream::Deviation::region_domain_lost)) tag.domain = {};
    if (deviates(stream::Deviation::rights_exchanged))
      std::swap(access.remote_read, access.remote_write);
    if (access.remote_read && access.remote_write &&
        deviates(stream::Deviation::read_write_region_half_open))
      access.remote_write = false;
  }
  /// An invalidated STag of a window leaves the window unbound, that of a region leaves the region
  /// without access.
  void invalidate(Tag& tag);

 private:
  void call_handler(CompletionQueueHandle queue) {
    defer([this, queue] {
      const CompletionQueue* found = completion_queues.find(queue);
      if (found == nullptr || !found->handler()) return;
      const CompletionHandler handler =
          found->handler();  // the queue may be destroyed by its own handler
      handler(queue);
    });
  }
  /// The streams that use the queue end, and no other (RFC 5042 section 6.4.6).
  void overflowed(CompletionQueueHandle queue) {
    raise({.kind = AsyncKind::completion_queue_error,
           .completion_queue = queue,
           .detail = "a completion came to a full completion queue"});
    defer([this, queue] {
      queue_pairs.for_each([&](QueuePair<Policy>& pair) {
        if (pair.uses(queue) || deviates(stream::Deviation::overflow_hits_all_streams))
          pair.abort();
      });
    });
  }

  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace rnic::verbs
