// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What an RNIC is to its consumer: domains, regions, windows, queues, queue pairs, and their
// events. The interface for providers.
//
// The vocabulary is that of the RDMA Protocol Verbs and RNIC-PI. Everything here is called from one
// thread, and calls back from it: the thread of the event loop that the RNIC was made for. Handlers
// never run inside a call of the consumer; the loop calls them. Any value of a parameter is
// answered with an Error, never with a crash: handles may be stale or of another kind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/short_list.hpp"
#include "reference_rnic/stream/stream.hpp"
#include "reference_rnic/verbs/handle.hpp"
#include "reference_rnic/wire/bytes.hpp"

namespace rnic::verbs {

enum class Error : std::uint8_t {
  invalid_handle,     ///< never made, already destroyed, or of another kind
  invalid_parameter,  ///< a value outside what the call allows
  invalid_state,      ///< the object is in a state in which the call is refused
  in_use,             ///< something else still refers to the object
  wrong_domain,       ///< objects of different protection domains
  no_resources,       ///< a limit of the RNIC
  queue_full,
  overflowed,  ///< the completion queue has lost completions and cannot be used any more
  unsupported,
};
[[nodiscard]] const char* name(Error error);

/// Access rights of a region or window. The owner of a region may always read it.
struct Access {
  bool local_write = false;
  bool remote_read = false;
  bool remote_write =
      false;  ///< also wanted of the sink of one's own RDMA Reads, whose Response is a tagged write
  bool remote_atomic = false;
  bool bind_window = false;
  bool operator==(const Access&) const = default;
};

// ---- memory ----

struct RegionAttributes {
  /// Stays the consumer's; must outlive the registration. May be empty: such a region grants
  /// nothing.
  wire::MutableBytes memory{};
  Access access{};
  bool zero_based = false;  ///< tagged offsets count from 0
  /// Otherwise the tagged offset of the first octet; absent: the octet's own address.
  std::optional<std::uint64_t> base{};
};
struct RegionInfo {
  RegionHandle region{};
  /// Pages of the list that a work request can register; 0: it was registered when it was made.
  std::uint32_t pages = 0;
  std::uint32_t stag = 0;  ///< index in the high 24 bits, key in the low 8; never 0
  std::uint64_t base = 0;  ///< tagged offset of the first octet
  std::uint64_t length = 0;
  Access access{};
  bool valid = true;  ///< false once invalidated, and before a work request registers it
};
/// Octets of a page of such a list.
inline constexpr std::uint64_t region_page = 4096;

/// Who may use a bound window: any stream of its domain, or only the queue pair that bound it.
enum class WindowScope : std::uint8_t { domain, queue_pair };
struct WindowInfo {
  WindowHandle window{};
  std::uint32_t stag = 0;
  WindowScope scope = WindowScope::queue_pair;
  bool bound = false;
};

// ---- work ----

/// A piece of the consumer's memory, named by its own STag.
struct Piece {
  std::uint32_t stag = 0;
  std::uint64_t offset = 0;
  std::uint32_t length = 0;
};

/// Of one request: most have one or two, and then allocate nothing.
using Pieces = base::ShortList<Piece, 2>;

enum class Operation : std::uint8_t {
  send,
  send_solicited,
  send_invalidate,
  send_solicited_invalidate,
  write,
  read,
  read_invalidate,  ///< read, then invalidate the sink's STag
  fetch_add,
  compare_swap,
  immediate,
  immediate_solicited,
  local_invalidate,
  bind_window,
  register_region,
  receive,  ///< only in completions
};
[[nodiscard]] const char* name(Operation operation);

struct BindRequest {
  WindowHandle window{};
  RegionHandle region{};
  std::uint64_t offset = 0;  ///< tagged offset within the region
  std::uint64_t length = 0;  ///< 0 unbinds
  Access access{};           ///< remote rights only
  bool zero_based = false;
  std::optional<std::uint8_t> key{};  ///< low octet of the STag from now on; absent: as it was
};

/// A fast registration: an allocated region, which is not valid, becomes one of this memory.
struct RegisterRequest {
  RegionHandle region{};
  wire::MutableBytes memory{};  ///< as RegionAttributes::memory; not empty
  Access access{};
  std::uint64_t base = 0;  ///< tagged offset of the first octet; its place in a page too
  std::uint8_t key = 0;    ///< low octet of the STag from now on
};

struct SendRequest {
  std::uint64_t id = 0;
  Operation operation = Operation::send;
  Pieces pieces{};  ///< source of send and write; the one sink of read and atomics
  /// Send and write, in place of pieces: memory that needs no STag, since its octets are taken when
  /// the request is posted.
  stream::GatherList inline_data{};
  std::uint32_t remote_stag = 0;
  std::uint64_t remote_offset = 0;
  std::uint32_t invalidate_stag =
      0;  ///< send with invalidate: the peer's STag; local_invalidate: our own
  bool signaled = true;
  bool fence = false;  ///< start only after all earlier reads and atomics have completed
  std::uint64_t add_or_swap = 0, compare = 0;
  /// Swap: the bits exchanged. Add: the bits that no carry leaves (RFC 7306 section 5.1.1). Absent:
  /// all 64 bits as one number.
  std::optional<std::uint64_t> add_or_swap_mask{};
  std::uint64_t compare_mask = ~std::uint64_t{0};
  std::array<std::byte, wire::immediate_size> immediate{};
  BindRequest bind{};
  RegisterRequest registration{};
};

struct ReceiveRequest {
  std::uint64_t id = 0;
  Pieces pieces{};
};

/// Why posting stopped: requests before `index` are posted, those from it on are not.
struct PostError {
  Error error = Error::invalid_parameter;
  std::size_t index = 0;
};

enum class Status : std::uint8_t {
  success,
  flushed,
  local_length,
  local_protection,
  local_operation,
  remote_access,
  remote_operation,
  bad_response,
  invalidation,  ///< a local invalidate that is not possible
  bind,          ///< a bind or registration that is not possible
};
[[nodiscard]] const char* name(Status status);

struct Completion {
  std::uint64_t id = 0;  ///< of the request
  QueuePairHandle queue_pair{};
  Operation operation = Operation::send;
  Status status = Status::success;
  std::uint32_t length = 0;  ///< octets received or read; for other work the octets of its pieces
  std::optional<std::uint32_t> invalidated{};  ///< our STag that the peer's message has invalidated
  std::optional<std::array<std::byte, wire::immediate_size>> immediate{};
  bool solicited = false;  ///< the message asked for an event
};

// ---- queues ----

/// Which completion calls the handler of an armed queue: the next one, or the next that is
/// solicited or failed.
enum class Arm : std::uint8_t { next, solicited };
using CompletionHandler = std::function<void(CompletionQueueHandle)>;

struct SharedQueueAttributes {
  std::uint32_t depth = 64;
  std::uint32_t max_pieces = 4;
};
struct SharedQueueInfo {
  SharedQueueAttributes attributes{};
  std::uint32_t posted = 0;  ///< receives waiting
  std::uint32_t limit = 0;   ///< 0: not armed
};

enum class QueuePairState : std::uint8_t {
  idle,       ///< no stream; receives may be posted
  rts,        ///< the stream may transfer
  closing,    ///< orderly close under way
  terminate,  ///< a Terminate was sent or received
  error,      ///< no stream; what is posted completes as flushed
};
[[nodiscard]] const char* name(QueuePairState state);

struct QueuePairAttributes {
  DomainHandle domain{};
  CompletionQueueHandle send_completions{};
  CompletionQueueHandle receive_completions{};
  SharedQueueHandle shared_queue{};  ///< none: its own receive queue
  std::uint32_t send_depth = 64;
  std::uint32_t receive_depth = 64;
  std::uint32_t max_pieces = 4;
  std::uint32_t max_inline = 0;  ///< octets of inline data that a request can have
  /// What the peer may do where regions and windows allow it; only the remote rights count.
  Access access{.remote_read = true, .remote_write = true, .remote_atomic = true};
  bool signal_all = false;  ///< every send request completes, signaled or not
};
struct QueuePairInfo {
  QueuePairAttributes attributes{};
  QueuePairState state = QueuePairState::idle;
  bool connected = false;  ///< a stream is attached
  std::uint32_t sends_outstanding = 0, receives_outstanding = 0;
};

// ---- asynchronous events ----

enum class AsyncKind : std::uint8_t {
  queue_pair_fatal,          ///< the stream broke: LLP loss, framing, a local fault
  queue_pair_access_error,   ///< the peer accessed memory that it may not
  queue_pair_request_error,  ///< the peer's message was wrong in another way
  terminate_received,
  last_buffer,  ///< a queue pair in error has given back its last buffer of a shared queue
  completion_queue_error,  ///< overflow
  shared_queue_limit,
  device_fatal,
};
[[nodiscard]] const char* name(AsyncKind kind);

struct AsyncEvent {
  AsyncKind kind = AsyncKind::device_fatal;
  QueuePairHandle queue_pair{};  ///< the affiliated object, if it is one of these
  CompletionQueueHandle completion_queue{};
  SharedQueueHandle shared_queue{};
  std::optional<wire::TerminateCause> cause{};
  std::string detail{};  ///< one line for engineers
};
using AsyncHandler = std::function<void(const AsyncEvent&)>;

// ---- the stream under a queue pair ----

/// One RDMA stream, from MPA startup to its end, driven by the owner of the LLP connection: a
/// sans-I/O machine, and the queue pair that processes its work and receive events.
class RdmaStream {
 public:
  /// Called when the consumer's side has given the stream something to do. It may gather at once,
  /// but not destroy the stream.
  class Observer {
   public:
    virtual ~Observer() = default;
    virtual void attention() = 0;
    /// What it has to do is to send about so many octets of work that was posted.
    virtual void posted(std::size_t /*octets*/) { attention(); }
  };
  virtual ~RdmaStream() = default;  ///< a queue pair still attached goes to error
  virtual void set_observer(Observer* observer) = 0;

  /// For inspection, and for calls that only concern the next octets: receive_targets(), gather(),
  /// set_emss(). Calls that yield events go through call().
  [[nodiscard]] virtual stream::Stream& machine() = 0;
  /// call(&stream::Stream::received, count, now): one call of the machine. Before this returns, the
  /// queue pair has processed its events, and next_event() has the rest.
  template <class... Parameters, class... Arguments>
  void call(void (stream::Stream::*member)(Parameters...), Arguments&&... arguments) {
    (machine().*member)(std::forward<Arguments>(arguments)...);
    hand_on();
  }
  /// Orderly close, at the consumer's request or after the peer's.
  virtual void disconnect() = 0;
  /// Events that do not concern only the queue pair.
  [[nodiscard]] virtual std::optional<stream::Event> next_event() = 0;

 protected:
  virtual void hand_on() = 0;
};

/// An RNIC whose LLP is the host's: it makes streams and attaches queue pairs to them.
class StreamProvider {
 public:
  virtual ~StreamProvider() = default;
  /// Starts MPA in the role of the configuration. The stream must not outlive the RNIC.
  [[nodiscard]] virtual std::unique_ptr<RdmaStream> open_stream(stream::Config config) = 0;
  /// Gives the stream its queue pair, which must be idle and without a stream. An initiator
  /// attaches at once, a responder before accept().
  virtual std::expected<void, Error> attach(QueuePairHandle queue_pair, RdmaStream& stream) = 0;
};

// ---- the RNIC ----

struct RnicAttributes {
  std::string name{}, vendor{}, version{};
  std::uint16_t max_ird = 0, max_ord = 0;
  std::uint32_t max_pieces = 0, max_queue_depth = 0, max_completions = 0,
                max_objects = 0,  ///< objects: of each kind
      max_pages = 0;              ///< in the list of a region
  std::uint64_t max_region = 0;
};

class Rnic {
 public:
  virtual ~Rnic() = default;
  [[nodiscard]] virtual const RnicAttributes& attributes() const = 0;
  virtual void set_async_handler(AsyncHandler handler) = 0;

  [[nodiscard]] virtual std::expected<DomainHandle, Error> create_domain() = 0;
  virtual std::expected<void, Error> destroy_domain(DomainHandle domain) = 0;

  [[nodiscard]] virtual std::expected<RegionInfo, Error> register_memory(
      DomainHandle domain, const RegionAttributes& attributes) = 0;
  /// A region that no octets belong to until a work request registers it.
  [[nodiscard]] virtual std::expected<RegionInfo, Error> allocate_region(DomainHandle domain,
                                                                         std::uint32_t pages) = 0;
  [[nodiscard]] virtual std::expected<RegionInfo, Error> query_region(
      RegionHandle region) const = 0;
  /// Refused while windows are bound to it.
  virtual std::expected<void, Error> deregister(RegionHandle region) = 0;
  /// The window's STag is invalid until a bind request.
  [[nodiscard]] virtual std::expected<WindowInfo, Error> allocate_window(DomainHandle domain,
                                                                         WindowScope scope) = 0;
  [[nodiscard]] virtual std::expected<WindowInfo, Error> query_window(
      WindowHandle window) const = 0;
  virtual std::expected<void, Error> free_window(WindowHandle window) = 0;

  [[nodiscard]] virtual std::expected<CompletionQueueHandle, Error> create_completion_queue(
      std::uint32_t depth, CompletionHandler handler) = 0;
  virtual std::expected<void, Error> resize_completion_queue(CompletionQueueHandle queue,
                                                             std::uint32_t depth) = 0;
  virtual std::expected<void, Error> destroy_completion_queue(CompletionQueueHandle queue) = 0;
  /// Takes up to `out.size()` completions. `overflowed` once an overflown queue is empty.
  [[nodiscard]] virtual std::expected<std::size_t, Error> poll(CompletionQueueHandle queue,
                                                               std::span<Completion> out) = 0;
  /// The handler is called once, for a completion added after this call. To arm for `next`
  /// overrides `solicited`.
  virtual std::expected<void, Error> arm(CompletionQueueHandle queue, Arm arm) = 0;

  [[nodiscard]] virtual std::expected<SharedQueueHandle, Error> create_shared_queue(
      DomainHandle domain, const SharedQueueAttributes& attributes) = 0;
  [[nodiscard]] virtual std::expected<SharedQueueInfo, Error> query_shared_queue(
      SharedQueueHandle queue) const = 0;
  virtual std::expected<void, Error> resize_shared_queue(SharedQueueHandle queue,
                                                         std::uint32_t depth) = 0;
  /// One shared_queue_limit event once fewer than `limit` receives wait; 0 disarms.
  virtual std::expected<void, Error> arm_limit(SharedQueueHandle queue, std::uint32_t limit) = 0;
  virtual std::expected<void, Error> destroy_shared_queue(SharedQueueHandle queue) = 0;
  virtual std::expected<void, PostError> post_receive(SharedQueueHandle queue,
                                                      std::span<const ReceiveRequest> requests) = 0;

  [[nodiscard]] virtual std::expected<QueuePairHandle, Error> create_queue_pair(
      const QueuePairAttributes& attributes) = 0;
  [[nodiscard]] virtual std::expected<QueuePairInfo, Error> query_queue_pair(
      QueuePairHandle queue_pair) const = 0;
  /// Orderly close of a queue pair in rts: posted work is executed first. In other states:
  /// invalid_state.
  virtual std::expected<void, Error> close(QueuePairHandle queue_pair) = 0;
  /// Ends the stream with a Terminate where one may be sent; without a stream the queue pair goes
  /// to error.
  virtual std::expected<void, Error> abort(QueuePairHandle queue_pair) = 0;
  /// What the peer may do from now on, where regions and windows allow it.
  virtual std::expected<void, Error> set_access(QueuePairHandle queue_pair,
                                                const Access& access) = 0;
  /// From error (or idle), with no stream attached, back to idle.
  virtual std::expected<void, Error> reset_queue_pair(QueuePairHandle queue_pair) = 0;
  /// Posted work vanishes without completions; the owner must reset a stream that is still up.
  virtual std::expected<void, Error> destroy_queue_pair(QueuePairHandle queue_pair) = 0;
  virtual std::expected<void, PostError> post_send(QueuePairHandle queue_pair,
                                                   std::span<const SendRequest> requests) = 0;
  virtual std::expected<void, PostError> post_receive(QueuePairHandle queue_pair,
                                                      std::span<const ReceiveRequest> requests) = 0;

  /// Null for an RNIC that does not expose its LLP.
  [[nodiscard]] virtual StreamProvider* streams() = 0;
};

}  // namespace rnic::verbs
