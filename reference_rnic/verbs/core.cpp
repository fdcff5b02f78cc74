// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/verbs/core.hpp"

#include <utility>

#include "reference_rnic/verbs/queue_pair.hpp"

namespace rnic::verbs {

Core::Core(Host the_host, const SoftRnicOptions& the_options, RnicDecisions the_decisions)
    : host(std::move(the_host)),
      options(the_options),
      decisions(std::move(the_decisions)),
      tags(decisions, options.stag_seed) {}
Core::~Core() = default;

void Core::defer(std::function<void()> callback) {
  host.defer([alive = std::weak_ptr<char>(alive_), callback = std::move(callback)] {
    if (!alive.expired()) callback();
  });
}

void Core::raise(AsyncEvent event) {
  defer([this, event = std::move(event)] {
    if (async_handler) async_handler(event);
  });
}

void Core::complete(CompletionQueueHandle queue, const Completion& completion) {
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

bool Core::is_shared(DomainHandle domain) const {
  const Domain* found = domains.find(domain);
  return found != nullptr && found->streams > 1;
}

void Core::spoil(Tag& tag) {
  Access& access = tag.access;
  if (is_shared(tag.domain) && deviates(stream::Deviation::region_domain_lost)) tag.domain = {};
  if (deviates(stream::Deviation::rights_exchanged))
    std::swap(access.remote_read, access.remote_write);
  if (access.remote_read && access.remote_write &&
      deviates(stream::Deviation::read_write_region_half_open))
    access.remote_write = false;
}

void Core::call_handler(CompletionQueueHandle queue) {
  defer([this, queue] {
    const CompletionQueue* found = completion_queues.find(queue);
    if (found == nullptr || !found->handler()) return;
    const CompletionHandler handler =
        found->handler();  // the queue may be destroyed by its own handler
    handler(queue);
  });
}

void Core::overflowed(CompletionQueueHandle queue) {
  raise({.kind = AsyncKind::completion_queue_error,
         .completion_queue = queue,
         .detail = "a completion came to a full completion queue"});
  defer([this, queue] {
    queue_pairs.for_each([&](QueuePair& pair) {
      if (pair.uses(queue) || deviates(stream::Deviation::overflow_hits_all_streams)) pair.abort();
    });
  });
}

}  // namespace rnic::verbs
