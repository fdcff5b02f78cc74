// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The messages between a test and the upper tester: every command, reply and event. These types are
// the agent's message schema.
//
// C++17 only, and of the rest of the project it uses only octets, so that the agent can be built
// alone on older hosts. All numbers are host integers; handles are chosen by the test, so that
// commands may overlap without waiting for each other's replies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/octets.hpp"
#include "base/record/table.hpp"

namespace suite::iut {

inline constexpr int protocol_version = 1;

using Handle = std::uint32_t;  ///< chosen by the test, unique per kind until reset; 0 means none
using WorkId = std::uint64_t;  ///< chosen by the test
using base::record::name;

using Octets = base::Octets;
using ImmediateData = std::array<std::byte, 8>;  ///< RFC 7306, section 7

// ---------------------------------------------------------------- capabilities

/// What an IUT can be made to do. The names are the JSON names; PICS items use the same.
namespace capability {
inline constexpr const char* configure_revision_1 = "configure.revision_1";
inline constexpr const char* configure_crc = "configure.crc";
inline constexpr const char* configure_markers = "configure.markers";
inline constexpr const char* configure_rtr = "configure.rtr";
inline constexpr const char* send_invalidate = "send_invalidate";
inline constexpr const char* remote_invalidate = "remote_invalidate";
inline constexpr const char* local_invalidate = "local_invalidate";
inline constexpr const char* read_invalidate = "read_invalidate";
inline constexpr const char* solicited = "solicited";
inline constexpr const char* memory_windows = "memory_windows";
inline constexpr const char* stream_windows = "stream_windows";
inline constexpr const char* zero_based = "zero_based";
inline constexpr const char* chosen_base = "chosen_base";
inline constexpr const char* process_rights = "process_rights";
inline constexpr const char* shared_receive_queue = "shared_receive_queue";
inline constexpr const char* shared_queue_resize = "shared_queue_resize";
inline constexpr const char* completion_overflow = "completion_overflow";
inline constexpr const char* endpoint_abort = "endpoint_abort";
inline constexpr const char* endpoint_reset = "endpoint_reset";
inline constexpr const char* atomics = "atomics";
inline constexpr const char* immediate = "immediate";
inline constexpr const char* peer_to_peer = "peer_to_peer";
inline constexpr const char* ipv6 = "ipv6";
inline constexpr const char* enhanced_startup = "enhanced_startup";
inline constexpr const char* completion_events = "completion_events";
inline constexpr const char* completion_queues = "completion_queues";
inline constexpr const char* chains = "chains";
inline constexpr const char* inline_data = "inline_data";
inline constexpr const char* endpoint_access = "endpoint_access";
inline constexpr const char* endpoint_attributes = "endpoint_attributes";
inline constexpr const char* signal_all = "signal_all";
inline constexpr const char* armed_once = "armed_once";
inline constexpr const char* backlog = "backlog";
inline constexpr const char* event_objects = "event_objects";
inline constexpr const char* wildcard_listen = "wildcard_listen";
inline constexpr const char* fast_registration = "fast_registration";
inline constexpr const char* loopback = "loopback";
}  // namespace capability

// ---------------------------------------------------------------- commands

/// MPA startup behaviour that no verbs API can choose. Absent members keep their values. A reset
/// does not undo it.
struct Configure {
  std::optional<int> revision;       ///< 1 or 2
  std::optional<bool> crc;           ///< ask for CRC (C)
  std::optional<bool> markers;       ///< ask the peer for Markers (M)
  std::optional<bool> peer_to_peer;  ///< as initiator: flag A
  /// "send", "write", "read": supported RTR indications.
  std::optional<std::vector<std::string>> rtr;
};
/// Destroys everything the test made: endpoints (abortively), regions, listeners. Always the first
/// command of a case.
struct Reset {};

struct CreateDomain {
  Handle domain = 0;
};
struct DestroyDomain {
  Handle domain = 0;
};

/// Access rights by name; JSON: a list of these names.
struct Access {
  bool local_write = false, remote_read = false, remote_write = false, remote_atomic = false,
       bind_window = false;
};
/// Allocates `length` octets in the agent, filled with `fill`, and registers them.
struct RegisterMemory {
  Handle region = 0;
  Handle domain = 0;  ///< 0: the default domain, which always exists
  std::uint64_t length = 0;
  Access access;
  bool zero_based = false;
  std::uint8_t fill = 0;
  /// Tagged offset of the first octet; absent: as the API has it. Not with `zero_based`.
  std::optional<std::uint64_t> base{};
  /// What the agent's process has the right to do with the memory when it registers it: "read" (it
  /// maps a file that it has opened for reading only) or "none" (it maps what lies beyond the end
  /// of a file). Absent: all. `read_memory` and `write_memory` may be refused then.
  std::optional<std::string> process_rights{};
};
/// Allocates `length` octets in the agent, filled with `fill`, that begin with a page; and a region
/// for a list of so many pages, which a work request registers. Until then the region gives access
/// to nothing.
struct AllocateRegion {
  Handle region = 0;
  Handle domain = 0;
  std::uint64_t length = 0;
  std::uint32_t pages = 0;
  std::uint8_t fill = 0;
};
struct DeregisterMemory {
  Handle region = 0;
};
/// Plain memory access by the agent's own CPU; also works while (and after) the region is
/// registered, until reset.
struct ReadMemory {
  Handle region = 0;
  std::uint64_t offset = 0, length = 0;
};
struct WriteMemory {
  Handle region = 0;
  std::uint64_t offset = 0;
  Octets octets;
};
struct AllocateWindow {
  Handle window = 0;
  Handle domain = 0;
};
struct FreeWindow {
  Handle window = 0;
};

struct CreateSharedQueue {
  Handle queue = 0;
  Handle domain = 0;
  std::uint32_t depth = 64;
  std::uint32_t max_pieces = 4;
};
/// Receives that wait in it stay.
struct ResizeSharedQueue {
  Handle queue = 0;
  std::uint32_t depth = 0;
};
struct DestroySharedQueue {
  Handle queue = 0;
};
struct ArmSharedQueueLimit {
  Handle queue = 0;
  std::uint32_t limit = 0;
};

/// A completion queue that endpoints can share. The agent reports completions once the queue has
/// woken its consumer, and then all that are there.
struct CreateCompletionQueue {
  Handle queue = 0;
  std::uint32_t depth = 64;
  /// Only a completion that is solicited or failed wakes the consumer.
  bool solicited_only = false;
  /// Once it has woken the consumer, only ArmCompletionQueue arms it again.
  std::optional<bool> armed_once{};
};
struct DestroyCompletionQueue {
  Handle queue = 0;
};
/// Asks once more to be woken: for the next completion, or for a solicited or failed one only. What
/// the queue was asked for before stays asked for.
struct ArmCompletionQueue {
  Handle queue = 0;
  bool solicited_only = false;
};

/// A queue pair with its completion queues; not connected yet.
/// Receives may be posted to it at once.
struct CreateEndpoint {
  Handle endpoint = 0;
  Handle domain = 0;
  Handle shared_queue = 0;  ///< 0: its own receive queue
  std::uint32_t send_depth = 64, receive_depth = 64, max_pieces = 4;
  /// 0: its completion queue has room for everything that can be posted at the same time. Otherwise
  /// it is to have this many entries, and completions are never taken from it, so that it
  /// overflows.
  std::uint32_t completion_depth = 0;
  Handle completion_queue = 0;   ///< 0: one of its own
  std::uint32_t max_inline = 0;  ///< octets of inline data that a request can have
  /// What the peer may do through it where regions and windows allow it; absent: everything. Only
  /// the remote rights count.
  std::optional<Access> access{};
  /// Each request of its send queue gives a completion, signaled or not; absent: only a signaled one,
  /// and one that fails.
  std::optional<bool> signal_all{};
};
/// Destroys it; a connection that is still established ends abortively.
struct DestroyEndpoint {
  Handle endpoint = 0;
};
/// Changes what the peer may do through it from now on, connected or not.
struct SetEndpointAccess {
  Handle endpoint = 0;
  Access access;
};
struct QueryEndpoint {
  Handle endpoint = 0;
};
/// Puts it into the error state, connected or not: posted work is flushed, a connection ends
/// abortively.
struct AbortEndpoint {
  Handle endpoint = 0;
};
/// Returns it from the error state (or from idle) to idle, with empty queues, so that it can be
/// connected again.
struct ResetEndpoint {
  Handle endpoint = 0;
};

struct Listen {
  Handle listener = 0;
  /// Literal; empty: the IUT's own address of `family`; "0.0.0.0" or "::": all of the family.
  std::string address;
  std::string family = "ipv4";  ///< "ipv4" or "ipv6"
  std::uint16_t port = 0;       ///< 0: the agent chooses
  /// Connection requests that can wait for an answer; absent: as many as the agent chooses.
  std::optional<int> backlog{};
};
struct StopListening {
  Handle listener = 0;
};
struct ConnectParameters {
  Octets private_data{};
  // Initialised, so that `{.ird = 4}` may leave the rest out.
  std::optional<int> ird{}, ord{};
};
struct Connect {
  Handle endpoint = 0;
  std::string address;
  std::uint16_t port = 0;
  ConnectParameters parameters;
};
/// Answers a ConnectRequestEvent with an endpoint made before.
struct Accept {
  Handle request = 0;
  Handle endpoint = 0;
  ConnectParameters parameters;
};
struct Reject {
  Handle request = 0;
  Octets private_data;
};
/// Ends the connection: gracefully (after posted work) or abortively.
struct Disconnect {
  Handle endpoint = 0;
  bool abortive = false;
};

struct Piece {
  Handle region = 0;
  std::uint64_t offset = 0;
  std::uint32_t length = 0;
};
struct PostReceive {
  Handle endpoint = 0;      ///< either this
  Handle shared_queue = 0;  ///< or that
  WorkId work = 0;
  std::vector<Piece> pieces;
};
/// What register_region makes of an allocated region.
struct Registration {
  std::uint8_t key = 0;  ///< the consumer's octet of the STag from now on
  Access access;
};
/// One work request for the send queue. `operation` is one of the names in namespace operation.
struct PostWork {
  Handle endpoint = 0;
  WorkId work = 0;
  std::string operation;
  std::vector<Piece> pieces;  ///< source of send and write, sink of read and atomics
  std::uint32_t remote_stag = 0;
  std::uint64_t remote_offset = 0;
  std::uint32_t invalidate_stag = 0;  ///< send_invalidate*, local_invalidate
  bool fence = false;
  bool signaled = true;
  /// Its octets are taken when it is posted, without a check of the regions' STags: send and write.
  bool inline_data = false;
  std::uint64_t add_or_swap = 0, compare = 0;
  /// Absent: the plain operation on all 64 bits.
  std::optional<std::uint64_t> add_or_swap_mask{}, compare_mask{};
  ImmediateData immediate{};
  // bind_window: the window is bound to pieces[0] with these rights; a length of 0 unbinds
  Handle window = 0;
  Access window_access;
  /// register_region: pieces[0] is the part of its memory that the region is registered for
  std::optional<Registration> registration{};
};
namespace operation {
inline constexpr const char* send = "send";
inline constexpr const char* send_solicited = "send_solicited";
inline constexpr const char* send_invalidate = "send_invalidate";
inline constexpr const char* send_solicited_invalidate = "send_solicited_invalidate";
inline constexpr const char* write = "write";
inline constexpr const char* read = "read";
inline constexpr const char* read_invalidate = "read_invalidate";
inline constexpr const char* fetch_add = "fetch_add";
inline constexpr const char* compare_swap = "compare_swap";
inline constexpr const char* immediate = "immediate";
inline constexpr const char* immediate_solicited = "immediate_solicited";
inline constexpr const char* local_invalidate = "local_invalidate";
inline constexpr const char* bind_window = "bind_window";
inline constexpr const char* register_region = "register_region";
inline constexpr const char* receive = "receive";  ///< only in completions
}  // namespace operation

/// Several requests for one queue, posted by one call. Where that fails, the requests before
/// Reply::bad_work are posted, and those from it on are not.
struct PostReceiveChain {
  std::vector<PostReceive> requests;
};
struct PostWorkChain {
  std::vector<PostWork> requests;
};

/// Withdraws a command that has not been answered. It is then answered with outcome "cancelled",
/// unless it was already done.
struct Cancel {
  std::uint64_t command = 0;
};

using Command =
    std::variant<Configure, Reset, CreateDomain, DestroyDomain, RegisterMemory, DeregisterMemory,
                 ReadMemory, WriteMemory, AllocateWindow, FreeWindow, CreateSharedQueue,
                 ResizeSharedQueue, DestroySharedQueue, ArmSharedQueueLimit, CreateCompletionQueue,
                 DestroyCompletionQueue, CreateEndpoint, DestroyEndpoint, QueryEndpoint,
                 AbortEndpoint, ResetEndpoint, Listen, StopListening, Connect, Accept, Reject,
                 Disconnect, PostReceive, PostWork, PostReceiveChain, PostWorkChain, Cancel,
                 AllocateRegion, ArmCompletionQueue, SetEndpointAccess>;

// ---------------------------------------------------------------- events

/// The first message of an agent.
struct Hello {
  int version = protocol_version;
  std::string driver;          ///< "reference", "verbs", ...
  std::string implementation;  ///< e.g. device name and vendor
  std::string driver_version, firmware, kernel;
  std::vector<std::string> capabilities;
  /// "max_ird", "max_ord", "max_private_data", "max_pieces", ...
  std::map<std::string, std::int64_t> limits;
};

/// How a command ended.
enum class Outcome { ok, failed, unsupported, cancelled };
constexpr auto names_of(Outcome) { return std::array{"ok", "failed", "unsupported", "cancelled"}; }

/// An endpoint as its API describes it, each number of things at least as many as asked for.
struct EndpointAttributes {
  std::uint32_t send_depth = 0, receive_depth = 0, max_pieces = 0, max_inline = 0;
  Access access;
};

/// The answer to one command, when it is done; which values are set depends on the command.
struct Reply {
  std::uint64_t command = 0;
  Outcome outcome = Outcome::ok;
  std::string error;  ///< message of the API, if outcome is failed or unsupported
  int code = 0;       ///< errno or API status, 0 if none
  /// RegisterMemory, AllocateRegion, AllocateWindow, bind_window, register_region: the new one
  std::optional<std::uint32_t> stag;
  std::optional<std::uint64_t> base;   ///< RegisterMemory, register_region: of the first octet
  std::optional<Octets> octets;        ///< ReadMemory
  std::optional<std::string> address;  ///< Listen
  std::optional<std::uint16_t> port;   ///< Listen
  /// QueryEndpoint: "idle", "connecting", "connected", "terminated", "closing", "error", ...
  std::optional<std::string> state;
  std::optional<EndpointAttributes> attributes{};  ///< QueryEndpoint
  std::optional<WorkId> bad_work{};  ///< a chain that failed: the first request not posted
};

/// A connection request arrived at a listener.
struct ConnectRequestEvent {
  Handle listener = 0;
  Handle request = 0;  ///< chosen by the agent
  Octets private_data;
  /// As the API reports them to the consumer (already from our side).
  std::optional<int> ird, ord;
};
struct EstablishedEvent {
  Handle endpoint = 0;
  Octets private_data;
  std::optional<int> ird, ord;
};
struct RejectedEvent {
  Handle endpoint = 0;
  Octets private_data;
  std::optional<int> ird, ord;
};
/// The connection was not established for another reason.
struct ConnectFailedEvent {
  Handle endpoint = 0;
  std::string reason;  ///< "unreachable", "refused", "timeout", "protocol", "lost"
};
struct DisconnectedEvent {
  Handle endpoint = 0;
};
/// Status: "success", "flushed", "local_length", "local_protection", "local_operation",
/// "remote_access", "remote_operation", "bad_response", "invalidation", "bind", "other".
struct CompletionEvent {
  Handle endpoint = 0;
  WorkId work = 0;
  std::string operation;  ///< as posted; "receive" for receives
  std::string status;
  std::uint32_t length = 0;
  std::optional<std::uint32_t> invalidated_stag;
  std::optional<ImmediateData> immediate;
  std::optional<bool> solicited;  ///< if the API shows it
};
/// An asynchronous event of the RNIC. Kinds: "qp_fatal", "qp_access_error", "qp_request_error",
/// "cq_error", "srq_limit", "device_fatal", "last_buffer", "other".
struct AsynchronousEvent {
  Handle endpoint = 0;  ///< 0 if it concerns none
  std::string kind;
  std::string detail;
  /// The queue that it is about, if it is one that a command has made.
  Handle shared_queue = 0, completion_queue = 0;
};
/// Not from the agent: the transport to it broke or it sent something that is not a message (the
/// case is in error), or the IUT's code crashed (the case fails).
struct GoneEvent {
  enum class Why { transport_lost, bad_protocol, crashed, hung } why = Why::transport_lost;
  std::string detail;
};
constexpr auto names_of(GoneEvent::Why) {
  return std::array{"transport_lost", "bad_protocol", "crashed", "hung"};
}

using Event = std::variant<Hello, Reply, ConnectRequestEvent, EstablishedEvent, RejectedEvent,
                           ConnectFailedEvent, DisconnectedEvent, CompletionEvent,
                           AsynchronousEvent, GoneEvent>;

}  // namespace suite::iut
