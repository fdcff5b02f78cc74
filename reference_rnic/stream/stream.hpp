// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One RDMA stream as a sans-I/O machine: MPA startup, framing, DDP segmentation and placement, the
// RDMAP operations.
//
// It owns no socket, thread, clock or global. The owner feeds octets in and takes octets out:
//
//   in:      receive_targets() gives places for the next octets, received(n, now) commits them;
//            peer_closed(), lost()
//   out:     gather(list) lists octets to send, in order, transmitted(n, now) commits them;
//            closing() says how to close afterwards
//   time:    next_wakeup(), wakeup(now)
//   events:  next_event()
//
// receive(bytes) and take_output() wrap these for tests and simple owners.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "reference_rnic/stream/decisions.hpp"
#include "reference_rnic/stream/event.hpp"
#include "reference_rnic/stream/memory.hpp"

namespace rnic::stream {

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

/// What the owner shall do with the LLP connection once all output is transmitted.
enum class Closing : std::uint8_t { none, half_close, full_close, reset };

class Stream {
 public:
  Stream(Config config, Memory& memory, TimePoint now, StreamDecisions decisions = {});
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
  /// Who takes part in its decisions; a tester may change its mind in mid-stream.
  [[nodiscard]] StreamDecisions& decisions();

 private:
  class Machine;
  std::unique_ptr<Machine> machine_;
};

}  // namespace rnic::stream
