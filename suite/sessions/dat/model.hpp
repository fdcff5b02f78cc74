// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The model: what a conforming DAT 2.0 provider may do, written from the manual pages and
// rules/dat20.yaml. It knows the objects, what is posted, and which events are owed; an event that
// comes is judged against what is owed. Where the texts leave something open, every reading of them
// is admissible.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "suite/sessions/dat/finding.hpp"
#include "suite/sessions/dat/memory.hpp"
#include "suite/sessions/dat/session.hpp"

namespace suite::sessions::dat {

// ---------------------------------------------------------------- statuses

/// A set of statuses of completions.
struct Statuses {
  std::uint32_t bits = 0;
  [[nodiscard]] constexpr bool has(DAT_DTO_COMPLETION_STATUS status) const {
    return (bits >> static_cast<unsigned>(status) & 1U) != 0;
  }
  [[nodiscard]] constexpr Statuses operator|(Statuses more) const { return {bits | more.bits}; }
  [[nodiscard]] constexpr Statuses without(Statuses others) const { return {bits & ~others.bits}; }
};
constexpr Statuses one(DAT_DTO_COMPLETION_STATUS status) {
  return {1U << static_cast<unsigned>(status)};
}
inline constexpr Statuses success = one(DAT_DTO_SUCCESS), flushed = one(DAT_DTO_ERR_FLUSHED),
                          any_status{0xFFFFFFFFU}, any_failure = any_status.without(success);
[[nodiscard]] std::string text_of(Statuses statuses);

// ---------------------------------------------------------------- objects

struct Zone {
  DAT_PZ_HANDLE handle = DAT_HANDLE_NULL;
};

struct Region {
  DAT_LMR_HANDLE handle = DAT_HANDLE_NULL;
  std::uint32_t zone = 0;
  unsigned privileges = 0;
  DAT_LMR_CONTEXT local = 0;
  DAT_RMR_CONTEXT remote = 0;
  /// In Model::memories.
  std::size_t memory = 0;
};

struct Window {
  DAT_RMR_HANDLE handle = DAT_HANDLE_NULL;
  std::uint32_t zone = 0;
  /// Bound to it. With `unknown`, nobody can know.
  std::optional<std::uint32_t> region{};
  std::size_t offset = 0, length = 0;
  unsigned privileges = 0;
  DAT_RMR_CONTEXT context = 0;
  bool unknown = false;
};

/// A context that gives no access any more, and the memory that it once opened.
struct FormerContext {
  DAT_LMR_CONTEXT local = 0;
  DAT_RMR_CONTEXT remote = 0;
  DAT_VADDR address = 0;
  std::size_t length = 0;
  std::optional<std::uint32_t> of_window{};
};

struct Notifier {
  void may_be_triggered_by(std::uint32_t dispatcher) {
    if (std::ranges::find(triggers, dispatcher) == triggers.end()) triggers.push_back(dispatcher);
  }
  DAT_CNO_HANDLE handle = DAT_HANDLE_NULL;
  /// Dispatchers that may have triggered it since it was last waited for.
  std::vector<std::uint32_t> triggers{};
  /// One of them certainly has.
  bool triggered = false;
  /// Others may have as well, with events that nobody can know of.
  bool doubtful = false;
};

struct Dispatcher {
  DAT_EVD_HANDLE handle = DAT_HANDLE_NULL;
  unsigned flags = 0;
  /// As the provider reports it.
  DAT_COUNT length = 0;
  bool waitable = true, enabled = true;
  /// By an endpoint, at any time.
  bool was_fed = false;
  std::optional<std::uint32_t> notifier{};
  std::deque<std::uintptr_t> software{};
  /// Events that may still be in it, of streams that are no more.
  std::vector<DAT_UINT64> lost_completions{};
  std::vector<DAT_HANDLE> lost_connections{};
  DAT_COUNT lost_shared = 0;
  /// So many are in it for certain.
  DAT_COUNT seen = 0;
};

/// A receive that was posted, to an endpoint or to a shared queue.
struct Receive {
  DAT_UINT64 cookie = 0;
  std::vector<Range> segments{};
  std::size_t room = 0;
  std::uint64_t hold = 0;
  /// It was posted when the connection had ended.
  bool late = false;
};

struct SharedQueue {
  DAT_SRQ_HANDLE handle = DAT_HANDLE_NULL;
  std::uint32_t zone = 0;
  DAT_COUNT length = 0, segments = 1, low_watermark = 0;
  bool armed = false;
  /// Not yet completed as far as the consumer knows.
  std::vector<Receive> receives{};
  /// Messages that have one of them, or may have one.
  DAT_COUNT taken = 0, maybe_taken = 0;
};

/// A message on its way to an endpoint.
struct Message {
  Octets octets{};
  Statuses statuses = success;
  /// Posted after so many RDMA Writes of all endpoints.
  std::uint64_t behind = 0;
  const char* rule = "dat.ep-post-recv.success";
};

enum class Kind : std::uint8_t { send, write, read, bind };

/// A request whose completion is owed.
struct Request {
  DAT_UINT64 cookie = 0;
  Kind kind{};
  Statuses statuses = success;
  std::size_t length = 0;
  /// Success is not told.
  bool suppressed = false;
  /// Of memory that it uses until it completes.
  std::uint64_t hold = 0;
  /// read: where its octets go, and what they are.
  std::vector<Range> sink{};
  Octets octets{};
  /// bind: the window as it is afterwards.
  std::uint32_t window = 0;
  Window bound{};
  /// Instead of the usual one.
  const char* rule = nullptr;
};

/// An RDMA Write that has been posted and whose octets are on their way.
struct Placement {
  std::uint32_t writer = 0;
  std::uint64_t hold = 0;
  Range range{};
  Octets octets{};
  bool certain = true;
  /// Its last octet shows that it is complete.
  bool shows = true;
  std::uint64_t number = 0;
};

enum class Phase : std::uint8_t { unconnected, connected, ending, disconnected };

struct OwedConnectionEvent {
  std::vector<DAT_EVENT_NUMBER> numbers{};
  /// Lawful, and worth an advisory.
  std::vector<DAT_EVENT_NUMBER> tolerated{};
  const char* rule = "";
  /// The private data that come with it; nothing where no text says which.
  std::optional<std::vector<std::byte>> data{};
};

struct Endpoint {
  DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
  std::uint32_t zone = 0, receives_to = 0, requests_to = 0, connection_to = 0;
  std::optional<std::uint32_t> queue{};
  DAT_EP_ATTR attributes{};
  Phase phase = Phase::unconnected;
  std::optional<std::uint32_t> peer{};
  /// It asked for its connection at a public service point, which took the request itself.
  bool asked_publicly = false;
  /// It was the one that called dat_ep_disconnect.
  bool ended_it = false;
  /// Messages may come, while the connection ends, that had no receive when they were sent.
  bool strays = false;
  std::deque<Receive> receives{};
  std::deque<Message> incoming{};
  std::deque<Request> requests{};
  std::deque<OwedConnectionEvent> connection{};
  /// DAT_WATERMARK_INFINITE: not armed.
  DAT_COUNT soft_watermark = DAT_WATERMARK_INFINITE;
};

/// An asynchronous event that is owed.
struct OwedAsync {
  DAT_HANDLE handle = DAT_HANDLE_NULL;
  std::optional<DAT_COUNT> reason{};
  std::optional<DAT_EVENT_NUMBER> number{};
  bool certain = true;
  const char* rule = "";
};

/// The limits of the IA and abilities of the provider.
struct Abilities {
  bool later_returns = false;  ///< faults of segments may be told by completions
  bool other_queue_zone = false;
  bool windows = true, shared_queues = true, zero_based = false;
  DAT_COUNT longest_dispatcher = 0, longest_queue = 0;
  /// Kinds of streams that one dispatcher may take, in the order of the provider's attribute.
  std::array<std::array<bool, 6>, 6> merges{};
  [[nodiscard]] bool may_merge(unsigned flags) const;
};

class Model {
 public:
  explicit Model(Abilities abilities) : able(abilities) {}

  // -- numbers of their own
  [[nodiscard]] DAT_UINT64 next_cookie() { return ++last_cookie_ + 0x1'0000'0000; }
  [[nodiscard]] std::uint64_t next_hold() { return ++last_hold_; }

  // -- memory
  std::size_t add_memory(std::size_t length);
  Memory& memory_of(std::uint32_t region) { return memories[regions[region].memory]; }
  void hold(const std::vector<Range>& ranges, std::uint64_t id, bool changing);
  void release(std::uint64_t hold);
  /// From now on a transfer may change what it holds.
  void starts_to_change(std::uint64_t hold);
  [[nodiscard]] Octets gather(const std::vector<Range>& ranges) const;
  void scatter(const std::vector<Range>& ranges, const Octets& octets);
  void forget(const std::vector<Range>& ranges);
  [[nodiscard]] bool is_held(std::uint32_t region) const;

  // -- references
  [[nodiscard]] bool zone_is_used(std::uint32_t zone) const;
  [[nodiscard]] bool dispatcher_is_fed(std::uint32_t dispatcher) const;
  [[nodiscard]] bool queue_is_used(std::uint32_t queue) const;
  [[nodiscard]] bool notifier_is_fed(std::uint32_t notifier) const;
  /// Nothing: nobody can know.
  [[nodiscard]] std::optional<bool> region_is_bound(std::uint32_t region) const;
  /// The completion of a bind of it is owed.
  [[nodiscard]] bool is_being_bound(std::uint32_t window) const;
  /// The context that the window has, if any, gives no access any more.
  void end_context_of(std::uint32_t window);

  // -- what is owed
  /// Events that have to come, and events that may.
  [[nodiscard]] DAT_COUNT certain(std::uint32_t dispatcher) const;
  [[nodiscard]] DAT_COUNT possible(std::uint32_t dispatcher) const;
  /// Why the next of them has to come: the rule, and what it is.
  [[nodiscard]] Found missing(std::uint32_t dispatcher) const;
  /// Receives that are certainly, or possibly, with the endpoint or in the queue.
  [[nodiscard]] DAT_COUNT receives_at_least(const Endpoint& endpoint) const;
  [[nodiscard]] DAT_COUNT receives_at_most(const Endpoint& endpoint) const;

  [[nodiscard]] std::int64_t longest_message_for(std::uint32_t queue) const;

  // -- what happens
  /// An event has been taken from this dispatcher.
  void observe(std::uint32_t dispatcher, const DAT_EVENT& event);
  void observe_async(const DAT_EVENT& event);
  /// A message has been posted for this endpoint.
  void arrives(std::uint32_t endpoint, Message message);
  /// The Send of its last message was refused.
  void retract_message(std::uint32_t endpoint);
  void retract_write(std::uint64_t hold);
  /// A receive was posted, or a mark set.
  void check_watermark(Endpoint& endpoint);
  void check_watermark(SharedQueue& queue);
  /// The connection ends: by a call of this endpoint, or by a fault.
  void disconnects(std::uint32_t endpoint, bool abrupt);
  void breaks(std::uint32_t endpoint);
  /// Its requests, and the messages on their way to it, may now fail.
  void anything_may_fail(Endpoint& endpoint, bool requests, bool messages);
  void doubt_writes(std::uint32_t writer);
  /// No text says which event tells of the end that is under way.
  static void doubt_end(Endpoint& endpoint);
  /// An endpoint feeds it, and so it may trigger its CNO at any time.
  void is_fed(std::uint32_t dispatcher);
  /// The endpoint is unconnected again, or no more: what it has not told may be lost.
  void abandon(std::uint32_t endpoint);
  /// An RDMA Write is under way.
  void places(Placement placement);
  /// Its RDMA Writes up to this one are as far as they will come.
  void conclude_writes(std::uint32_t writer, std::uint64_t last = ~std::uint64_t{0});
  void advise(std::string rule, std::string admissible, std::string came);

  Abilities able;
  std::array<Zone, zone_places> zones{};
  std::array<Region, region_places> regions{};
  std::array<Window, window_places> windows{};
  std::array<Notifier, notifier_places> notifiers{};
  std::array<Dispatcher, dispatcher_places> dispatchers{};
  std::array<SharedQueue, queue_places> queues{};
  std::array<Endpoint, endpoint_places> endpoints{};
  std::vector<Memory> memories;
  std::vector<FormerContext> former;
  std::vector<Placement> placements;
  std::vector<OwedAsync> async;
  std::vector<Found> advisories;

 private:
  void observe_completion(std::uint32_t dispatcher, const DAT_EVENT& event);
  void observe_receive(std::uint32_t endpoint, const DAT_DTO_COMPLETION_EVENT_DATA& data);
  void observe_shared_receive(std::uint32_t endpoint, const DAT_DTO_COMPLETION_EVENT_DATA& data);
  void observe_request(std::uint32_t endpoint, DAT_UINT64 cookie, DAT_DTO_COMPLETION_STATUS status,
                       const DAT_EVENT& event);
  void observe_bind(std::uint32_t dispatcher, const DAT_EVENT& event);
  void observe_connection(std::uint32_t dispatcher, const DAT_EVENT& event);
  void observe_software(Dispatcher& dispatcher, const DAT_EVENT& event);
  void observe_lost(Dispatcher& dispatcher, DAT_UINT64 cookie, const DAT_EVENT& event);
  void completes(Request& request, DAT_DTO_COMPLETION_STATUS status);
  void receives(Receive& receive, const Message* message,
                const DAT_DTO_COMPLETION_EVENT_DATA& data);
  /// What follows a failure in its stream fails as well.
  static void fail_those_behind(Endpoint& endpoint, bool requests);
  void judge_status(const char* rule, DAT_UINT64 cookie, Statuses admissible,
                    DAT_DTO_COMPLETION_STATUS status);
  void becomes_ending(Endpoint& endpoint, OwedConnectionEvent event);
  void ended(Endpoint& endpoint, std::uint32_t dispatcher);

  DAT_UINT64 last_cookie_ = 0;
  std::uint64_t last_hold_ = 0, last_write_ = 0;
};

/// The rule of a request that succeeds, and of one that is flushed.
[[nodiscard]] const char* success_rule(Kind kind);
[[nodiscard]] const char* flush_rule(Kind kind);

}  // namespace suite::sessions::dat
