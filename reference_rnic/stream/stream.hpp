// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One RDMA stream as a sans-I/O machine: MPA startup, framing, DDP segmentation and placement, the
// RDMAP operations.
//
// It owns no socket, thread, clock or global. The owner passes octets in and takes octets out:
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
#include "reference_rnic/stream/scratch.hpp"

namespace rnic::stream {

/// The states of a stream. Startup states come first; `operational` is full MPA/DDP operation.
enum class State : std::uint8_t {
  awaiting_request,   ///< responder, before the MPA Request is complete
  awaiting_decision,  ///< responder, until accept() or reject()
  sending_reply,      ///< responder, reply queued
  sending_request,    ///< initiator, request queued
  awaiting_reply,     ///< initiator, request sent
  sending_rtr,        ///< initiator in the peer-to-peer model, until the RTR indication is sent
  /// Responder after its Reply: it may not send an FPDU before it has received one (RFC 5044
  /// 7.1.2).
  awaiting_first_fpdu,
  operational,
  terminating,  ///< a Terminate is queued or sent; nothing further is accepted
  closing,      ///< orderly close: our FIN is queued or sent
  closed,
};
[[nodiscard]] const char* name(State state);

/// What the owner is to do with the LLP connection once all output is transmitted.
enum class Closing : std::uint8_t { none, half_close, full_close, reset };

class Stream {
 public:
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // -- in --
  /// Where the next octets from the LLP are to be stored; never empty before peer_closed(). Valid
  /// until the next call into the stream.
  [[nodiscard]] virtual std::span<const wire::MutableBytes> receive_targets() = 0;
  /// `count` octets have been written to the targets, in order.
  virtual void received(std::size_t count, TimePoint now) = 0;
  /// Copies `octets` into the targets and commits them.
  void receive(wire::Bytes octets, TimePoint now);
  /// The peer's FIN has arrived.
  virtual void peer_closed(TimePoint now) = 0;
  /// The LLP connection broke (reset, timeout).
  virtual void lost(TimePoint now) = 0;
  /// The first segment waits, and the LLP is to keep it unacknowledged: what comes after it is not
  /// wanted yet.
  [[nodiscard]] virtual bool holding() const = 0;

  // -- out --
  /// Appends the octets that may be sent now to `list`, at most about `limit` octets. Each element
  /// of `boundaries`, if given, receives the running octet count at which an FPDU (or MPA frame)
  /// ends, so that an owner can cut TCP segments there.
  virtual void gather(std::vector<wire::Bytes>& list, std::size_t limit,
                      std::vector<std::size_t>* boundaries = nullptr) = 0;
  /// The first `count` octets of what was gathered have been sent.
  virtual void transmitted(std::size_t count, TimePoint now) = 0;
  /// Gathers and commits all that may be sent now.
  [[nodiscard]] std::vector<std::byte> take_output(TimePoint now);
  /// Meaningful once gather() yields nothing.
  [[nodiscard]] virtual Closing closing() const = 0;
  /// The owner has carried out `closing()`.
  virtual void close_done(TimePoint now) = 0;

  // -- time --
  [[nodiscard]] virtual std::optional<TimePoint> next_wakeup() const = 0;
  virtual void wakeup(TimePoint now) = 0;

  // -- the consumer's side --
  virtual void accept(std::uint16_t ird, std::uint16_t ord, wire::Bytes private_data,
                      TimePoint now) = 0;
  virtual void reject(wire::Bytes private_data, TimePoint now) = 0;
  virtual void post(Work work, TimePoint now) = 0;
  /// There may be receive buffers again: useful while it is holding().
  virtual void buffers_posted(TimePoint now) = 0;
  /// Orderly close: posted work is sent, then our half is closed.
  virtual void disconnect(TimePoint now) = 0;
  /// Abortive close requested by the consumer: a Terminate with a local catastrophic error where
  /// one may be sent, then close.
  virtual void abort(TimePoint now) = 0;
  /// The consumer is gone: nothing more is sent, and closing() asks for a reset.
  virtual void reset(TimePoint now) = 0;
  virtual void set_emss(std::size_t emss) = 0;

  [[nodiscard]] virtual std::optional<Event> next_event() = 0;
  [[nodiscard]] virtual State state() const = 0;
  [[nodiscard]] virtual const Negotiated& negotiated() const = 0;
  /// The members that take part in its decisions; a tester may change them while the stream runs.
  [[nodiscard]] virtual StreamDecisions& decisions() = 0;

 protected:
  Stream() = default;
};

/// A stream in the role of the configuration, at the start of MPA. `memory` must outlive it. The
/// scratch may be that of other streams: then receive_targets() are valid until the next call into
/// any of these.
[[nodiscard]] std::unique_ptr<Stream> make_stream(Config config, Memory& memory, TimePoint now,
                                                  StreamDecisions decisions = {},
                                                  std::shared_ptr<Scratch> scratch = nullptr);

}  // namespace rnic::stream
