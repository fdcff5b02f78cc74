// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One RDMA stream as a sans-I/O machine: MPA startup, framing, DDP segmentation and placement, the
// RDMAP operations.
//
// It owns no socket, thread, clock or global. The owner feeds octets in and takes octets out:
//
//   in:   receive_targets() -> iovecs for the next octets; received(n, now) commits them;
//   peer_closed(), lost() out:  gather(list) -> octets to send, in order; transmitted(n, now)
//   commits them; closing() says how to close afterwards time: next_wakeup(), wakeup(now) news:
//   next_event()
//
// The byte-span calls receive(bytes) and take_output() are wrappers over these for tests and simple
// owners.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "reference_rnic/stream/deviation.hpp"
#include "reference_rnic/stream/memory.hpp"
#include "reference_rnic/wire/ddp.hpp"
#include "reference_rnic/wire/mpa_frame.hpp"
#include "reference_rnic/wire/terminate.hpp"

namespace rnic::stream {

using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

enum class Role : std::uint8_t { initiator, responder };

/// The states of a stream. Startup states come first; `operational` is full MPA/DDP operation.
enum class State : std::uint8_t {
  awaiting_request,     ///< responder, before the MPA Request is complete
  awaiting_decision,    ///< responder, until accept() or reject()
  sending_reply,        ///< responder, reply queued
  sending_request,      ///< initiator, request queued
  awaiting_reply,       ///< initiator, request sent
  sending_rtr,          ///< initiator in the peer-to-peer model, until the RTR indication is sent
  awaiting_first_fpdu,  ///< responder after its reply: it may not send an FPDU before it has
                        ///< received one (RFC 5044 7.1.2)
  operational,
  terminating,  ///< a Terminate is queued or sent; nothing further is accepted
  closing,      ///< orderly close: our FIN is queued or sent
  closed,
};
[[nodiscard]] const char* name(State state);

struct RtrKinds {
  bool send = true;
  bool write = true;
  bool read = true;
  bool operator==(const RtrKinds&) const = default;
};

struct Config {
  Role role = Role::initiator;
  std::uint8_t revision = 2;  ///< highest MPA revision spoken: 1 or 2
  bool markers = false;       ///< M in our frame: we want the peer to send Markers
  bool crc = true;            ///< C in our frame
  bool enhanced = true;       ///< initiator, revision 2: send the enhanced words (S). A responder
                              ///< answers as it was asked.
  bool peer_to_peer = false;  ///< initiator: flag A
  RtrKinds rtr;               ///< RTR indications we can send (initiator) or take (responder)
  std::uint16_t ird = 16;     ///< inbound Read queue depth offered; 0x3FFF: not negotiated
  std::uint16_t ord = 16;
  std::vector<std::byte> private_data;  ///< initiator: ULP private data of the request
  std::size_t emss = 1448;              ///< octets of a TCP segment; the MULPDU follows from it
  Duration startup_timeout = std::chrono::seconds(10);
  Duration close_timeout = std::chrono::seconds(
      10);  ///< how long a peer may be silent and not close its half, once ours is closed

  /// First sequence numbers, other than 1 only in tests that want to see a wrap.
  struct Counters {
    std::uint32_t send = 1, read_request = 1, terminate = 1, atomic_response = 1;
  } first_sent, first_expected;
};

/// What startup agreed on.
struct Negotiated {
  std::uint8_t revision = 1;
  bool crc = true;
  bool send_markers = false;
  bool receive_markers = false;
  bool enhanced = false;
  bool peer_to_peer = false;
  std::uint16_t ird = 0, ord = 0;  ///< our own limits from now on
  std::uint16_t peer_ird = 0,
                peer_ord = 0;  ///< as the peer stated them; for the ULP (RFC 6581 9.1)
};

enum class WorkKind : std::uint8_t { send, write, read, atomic, immediate, local };

/// One entry of the send queue. Work is issued strictly in the order posted.
struct Work {
  std::uint64_t id = 0;
  WorkKind kind = WorkKind::send;
  std::vector<wire::Bytes>
      gather;              ///< payload of send and write; must stay valid until the WorkDone
  bool solicited = false;  ///< send, immediate
  std::optional<std::uint32_t> invalidate;  ///< send: STag that the peer shall invalidate
  std::uint32_t remote_stag = 0;            ///< write, read, atomic
  std::uint64_t remote_offset = 0;
  std::uint32_t sink_stag = 0;  ///< read: where the Response is to land
  std::uint64_t sink_offset = 0;
  std::uint32_t length = 0;  ///< read
  bool fence = false;        ///< wait until all earlier Reads and Atomics have completed
  wire::AtomicOperation operation = wire::AtomicOperation::fetch_add;
  std::uint64_t add_or_swap = 0, add_or_swap_mask = ~std::uint64_t{0};
  std::uint64_t compare = 0, compare_mask = ~std::uint64_t{0};
  std::array<std::byte, wire::immediate_size> immediate{};
};

enum class WorkStatus : std::uint8_t {
  success,
  flushed,           ///< not carried out, the stream ended first
  local_protection,  ///< read: the sink is not valid for this stream
  local_length,      ///< longer than a message can be
  local_operation,   ///< perform_local() refused
  remote_access,     ///< the peer terminated the stream naming this read or atomic: protection
  remote_operation,  ///< likewise: operation error
  bad_response,      ///< the Response did not match the request
};
[[nodiscard]] const char* name(WorkStatus status);

// ---- events, in the order in which they happened ----

/// Responder: the MPA Request is complete; accept() or reject() must follow.
struct ConnectRequest {
  std::uint8_t revision = 1;
  wire::MpaFlags flags;
  std::optional<wire::EnhancedWords::Values> enhanced;
  std::vector<std::byte> private_data;  ///< the ULP's part
};
/// The stream may transfer. Initiator: the reply accepted us and the RTR (if any) is sent.
/// Responder: the reply is sent and, in the peer-to-peer model, the RTR has come.
struct Established {
  Negotiated negotiated;
  std::vector<std::byte> private_data;  ///< initiator: the ULP's part of the reply
};
struct Rejected {
  std::optional<wire::EnhancedWords::Values> enhanced;
  std::vector<std::byte> private_data;
};
enum class StartupFault : std::uint8_t {
  invalid_frame,
  timeout,
  peer_closed,
  lost,
  insufficient_ird,
  no_matching_rtr
};
struct StartupFailed {
  StartupFault fault;
};
/// An untagged message on queue 0 is complete and delivered in order.
struct MessageReceived {
  std::uint64_t work_id = 0;  ///< of the receive buffer
  wire::Opcode opcode = wire::Opcode::send;
  std::size_t length = 0;
  std::optional<std::uint32_t> invalidated;
  std::optional<std::array<std::byte, wire::immediate_size>> immediate;
};
/// A receive buffer that was taken and cannot be filled any more. Precedes the end of the stream.
struct ReceiveFailed {
  std::uint64_t work_id = 0;
  bool too_long = false;  ///< the message did not fit (RFC 5041 7.1); else flushed
};
struct WorkDone {
  std::uint64_t id = 0;
  WorkStatus status = WorkStatus::success;
  std::size_t length = 0;            ///< octets transferred
  std::uint64_t original_value = 0;  ///< atomic
};
struct TerminateReceived {
  wire::TerminateCause cause;
  std::vector<std::byte> message;  ///< the Terminate header and what follows it, as it came
};
/// We found an error in what the peer sent, or a local one: a Terminate with this cause is on its
/// way (or cannot be sent).
struct Failed {
  wire::TerminateCause cause;
  bool terminate_queued = true;
  std::string detail;  ///< one line for engineers
};
struct PeerClosed {};  ///< the peer's FIN, all data before it processed
struct Lost {};        ///< the LLP connection was reset or timed out
struct Closed {};      ///< nothing more will happen; what closing() asks for is still to be done
using Event =
    std::variant<ConnectRequest, Established, Rejected, StartupFailed, MessageReceived,
                 ReceiveFailed, WorkDone, TerminateReceived, Failed, PeerClosed, Lost, Closed>;

/// What the owner shall do with the LLP connection once all output is transmitted.
enum class Closing : std::uint8_t { none, half_close, full_close, reset };

template <typename Policy>
class Stream {
 public:
  Stream(Config config, Memory& memory, TimePoint now, Policy policy = {});
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // -- in --
  /// Where the next octets from the LLP shall land; never empty before peer_closed(). Valid until
  /// the next call into the stream.
  [[nodiscard]] std::span<const wire::MutableBytes> receive_targets();
  /// `count` octets have been written to the targets, in order.
  void received(std::size_t count, TimePoint now);
  void receive(wire::Bytes octets, TimePoint now);
  /// The peer's FIN came.
  void peer_closed(TimePoint now);
  /// The LLP connection broke (reset, timeout).
  void lost(TimePoint now);

  // -- out --
  /// Appends the octets that may be sent now to `list`, at most about `limit` octets. Each element
  /// of `boundaries`, if given, receives the running octet count at which an FPDU (or MPA frame)
  /// ends, so that an owner can cut TCP segments there.
  void gather(std::vector<wire::Bytes>& list, std::size_t limit,
              std::vector<std::size_t>* boundaries = nullptr);
  void transmitted(std::size_t count, TimePoint now);
  [[nodiscard]] std::vector<std::byte> take_output(TimePoint now);
  /// Meaningful once gather() yields nothing.
  [[nodiscard]] Closing closing() const;
  /// The owner has carried out `closing()`.
  void close_done(TimePoint now);

  // -- time --
  [[nodiscard]] std::optional<TimePoint> next_wakeup() const;
  void wakeup(TimePoint now);

  // -- the consumer's side --
  void accept(std::uint16_t ird, std::uint16_t ord, wire::Bytes private_data, TimePoint now);
  void reject(wire::Bytes private_data, TimePoint now);
  void post(Work work, TimePoint now);
  /// Orderly close: what is posted is sent, then our half is closed.
  void disconnect(TimePoint now);
  /// Abortive close on the consumer's wish: Terminate with a local catastrophic error where one may
  /// be sent, then close.
  void abort(TimePoint now);
  void set_emss(std::size_t emss);

  [[nodiscard]] std::optional<Event> next_event();
  [[nodiscard]] State state() const;
  [[nodiscard]] const Negotiated& negotiated() const;
  /// In which ways it is wrong; a tester may change its mind in mid-stream.
  [[nodiscard]] Policy& policy();

 private:
  class Machine;
  std::unique_ptr<Machine> machine_;
};

extern template class Stream<Conforming>;
extern template class Stream<Deviating>;

}  // namespace rnic::stream
