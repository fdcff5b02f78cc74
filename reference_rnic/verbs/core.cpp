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
  std::optional<AsyncEvent> given = std::move(event);
  decisions.ask(&Decisions::event_given, given);
  if (!given) return;
  defer([this, reported = std::move(*given)] {
    if (async_handler) async_handler(reported);
  });
}

void Core::complete(CompletionQueueHandle queue, const Completion& completion) {
  CompletionQueue* found = completion_queues.find(queue);
  if (found == nullptr) return;
  switch (found->push(completion)) {
    case CompletionQueue::Pushed::kept:
      return wake(*found, completion);
    case CompletionQueue::Pushed::lost:
      return;
    case CompletionQueue::Pushed::first_overflow:
      return overflowed(queue);
  }
}

std::uint32_t Core::receives_held(std::uint32_t depth) const {
  decisions.ask(&Decisions::receives_held, depth);
  return depth;
}

bool Core::is_shared(DomainHandle domain) const {
  const Domain* found = domains.find(domain);
  return found != nullptr && found->streams > 1;
}

void Core::open(Tag& tag) const {
  tag.valid = true;
  decisions.ask(&Decisions::tag_opened, is_shared(tag.domain), tag);
}

bool Core::revokes(Decisions::Revocation revocation, bool gone) const {
  decisions.ask(&Decisions::revoked, revocation, gone);
  return gone;
}

void Core::wake(CompletionQueue& queue, const Completion& completion) {
  const std::optional<Arm> armed = queue.armed();
  if (!armed) return;
  const bool due = queue.is_armed_for(completion);  // verbs.completion.solicited-wakes
  Wakeup wakeup{.called = due};
  const Arming arming{.in_force = *armed, .asked_last = queue.asked_last};
  decisions.ask(&Decisions::handler_due, queue.handle(), arming, completion, wakeup);
  if ((due || wakeup.called) && !wakeup.stays_armed) queue.disarm();
  if (wakeup.called) call_handler(queue.handle());
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
      bool ends = pair.uses(queue);  // sec.cq.overflow-confined
      decisions.ask(&Decisions::pair_ending, Decisions::PairEnd::overflowed, ends);
      if (ends) pair.abort();
    });
  });
}

}  // namespace rnic::verbs
