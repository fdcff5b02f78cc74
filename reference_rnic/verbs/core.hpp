// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the objects of one software RNIC share: decisions, loop, STag table, object tables, and the
// delivery of events.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "reference_rnic/stream/scratch.hpp"
#include "reference_rnic/verbs/completion_queue.hpp"
#include "reference_rnic/verbs/memory_window.hpp"
#include "reference_rnic/verbs/shared_queue.hpp"
#include "reference_rnic/verbs/soft_rnic.hpp"
#include "reference_rnic/verbs/stag_table.hpp"

namespace rnic::verbs {

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

struct Core {
  Core(Host the_host, const SoftRnicOptions& the_options, RnicDecisions the_decisions);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  Host host;
  SoftRnicOptions options;
  RnicDecisions decisions;
  StagTable tags;
  HandleTable<Domain, Kind::domain> domains;
  HandleTable<Region, Kind::region> regions;
  HandleTable<Window, Kind::window> windows;
  HandleTable<CompletionQueue, Kind::completion_queue> completion_queues;
  HandleTable<SharedQueue, Kind::shared_queue> shared_queues;
  HandleTable<QueuePair, Kind::queue_pair> queue_pairs;
  AsyncHandler async_handler;
  /// Of all streams: the loop receives for one after another.
  std::shared_ptr<stream::Scratch> scratch = std::make_shared<stream::Scratch>();

  /// Runs `callback` from the loop, unless the RNIC is gone by then.
  void defer(std::function<void()> callback);
  void raise(AsyncEvent event);
  void complete(CompletionQueueHandle queue, const Completion& completion);
  /// Posts the requests of a list up to the first one for which `refused` gives a reason, which is
  /// returned; `take` gets those that are posted (verbs.post.stops-at-the-bad-request).
  template <typename Request, typename Refused, typename Take>
  std::expected<void, PostError> post_list(std::span<const Request> requests,
                                           const Refused& refused, const Take& take) const {
    std::expected<void, PostError> result;
    for (const Request& request : requests) {
      const std::optional<Error> error = refused(request);
      if (!error) {
        take(request);
        continue;
      }
      auto index = static_cast<std::size_t>(&request - requests.data());
      bool goes_on = false;
      decisions.ask(&Decisions::chain_refused, index, goes_on);
      if (result) result = std::unexpected(PostError{*error, index});
      if (!goes_on) break;
    }
    return result;
  }
  /// How many receives a queue of this depth holds.
  [[nodiscard]] std::uint32_t receives_held(std::uint32_t depth) const;
  /// More than one stream can use the STags of this domain.
  [[nodiscard]] bool is_shared(DomainHandle domain) const;

  // Windows (memory_window.cpp) and invalidation (invalidation.cpp): the table's tag and the
  // objects' counts change together.

  void unbind(Window& window);
  [[nodiscard]] bool has_windows(const Tag& tag) const;
  /// The tag is valid from now on.
  void open(Tag& tag) const;
  /// Whether the consumer's revocation takes effect.
  [[nodiscard]] bool revokes(Decisions::Revocation revocation, bool gone = true) const;
  /// An invalidated STag of a window leaves the window unbound; that of a region leaves the region
  /// without access.
  void invalidate(Tag& tag);

 private:
  /// A completion has come to the queue: its consumer is woken if it has asked for that.
  void wake(CompletionQueue& queue, const Completion& completion);
  void call_handler(CompletionQueueHandle queue);
  /// The streams that use the queue end, and no others (RFC 5042 section 6.4.6).
  void overflowed(CompletionQueueHandle queue);

  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace rnic::verbs
