// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The tester's end of one connection to the IUT, whatever speaks on it: everything that arrives is
// kept, decoded and judged by what every sender must do.
#pragma once

#include <deque>
#include <expected>
#include <memory>

#include "base/event_loop.hpp"
#include "reference_rnic/llp/network.hpp"
#include "suite/lower_tester/reception.hpp"
#include "suite/lower_tester/sender_fault.hpp"

namespace suite::lower_tester {

class SenderJudge;

/// What all peers of one case share. It outlives them.
struct Context {
  base::EventLoop& loop;
  rnic::llp::Network& network;
  Evidence evidence;
  base::TimePoint start{};
  /// The end of the wait for what the case expects next: no wait is longer.
  base::TimePoint deadline{};
  /// A rule broken by what the IUT sent.
  std::function<void(const SenderFault&)> on_fault;
  /// Why what was sent is not what the case wanted, e.g. a cut that was not made on the wire.
  std::function<void(std::string)> on_inconclusive;
  /// Whether the IUT is known to be gone, so that nothing more will arrive; may be empty.
  std::function<bool()> is_abandoned{};
  /// How long the wait for one thing may take.
  base::Duration patience{};

  /// What a wait since then was for has come, so that the next one may take as long: however many
  /// things a case waits for, and however slow the hosts are, only a single thing that is missing
  /// uses up the time. A deadline that had passed before stays.
  void came(base::TimePoint since);
  /// How long the agent has taken for its latest replies.
  base::Duration pace{};
  /// Whether the exchange, the octets and what was judged are recorded in `evidence`. They are not
  /// for random sessions by the thousand: one that has found something is played again.
  bool records = true;
  /// The end of a look at whether something comes by then. On a host that is slow, what comes soon
  /// takes longer.
  [[nodiscard]] base::TimePoint end_of_look(base::TimePoint until) const;
  /// Lets things arrive for such a look, or until `done()`.
  void look_on(base::Duration window, const std::function<bool()>& done = [] { return false; });
  [[nodiscard]] Offset now() const { return loop.now() - start; }
  void note(Direction direction, std::string text, std::string hex = {});
};

class WireEnd : protected rnic::llp::Connection::Observer, private Reception::Listener {
 public:
  /// The role of the tester.
  enum class MpaRole : std::uint8_t { initiator, responder };

  WireEnd(const WireEnd&) = delete;
  WireEnd& operator=(const WireEnd&) = delete;
  /// Closes gracefully.
  ~WireEnd() override;

  // -- opening --
  /// Connects to the IUT as MPA initiator. The error says why there is no connection.
  [[nodiscard]] std::expected<void, std::string> connect(const base::Address& iut);
  /// Takes over a connection that the IUT made, as MPA responder.
  void adopt(std::unique_ptr<rnic::llp::Connection> connection);
  /// There is a connection, and neither side has ended it.
  [[nodiscard]] bool is_open() const {
    return connection_ != nullptr && !sent_fin_ && !iut_closed_ && !broken_;
  }
  [[nodiscard]] bool was_opened() const { return connection_ != nullptr; }

  // -- closing --
  /// FIN.
  virtual void half_close();
  /// RST.
  void reset();

  // -- receiving --
  /// The next arrival by the deadline; `Nothing` if there is none.
  [[nodiscard]] Arrival next(base::TimePoint deadline);
  /// Makes the result of next() the next arrival again.
  void put_back(Arrival arrival) { arrivals_.push_front(std::move(arrival)); }
  /// What next() will return first, if it has already arrived.
  [[nodiscard]] const Arrival* front() const {
    return arrivals_.empty() ? nullptr : &arrivals_.front();
  }
  /// Discards arrivals that were not taken.
  void skip_arrivals() { arrivals_.clear(); }
  void pause_receiving(bool paused) { connection_->pause_receiving(paused); }
  void set_receive_buffer(std::size_t octets) { connection_->set_receive_buffer(octets); }

  // -- state --
  /// The longest ULPDU that we send.
  [[nodiscard]] std::size_t max_ulpdu() const;
  [[nodiscard]] const std::optional<ReceivedFrame>& received_frame() const {
    return received_frame_;
  }
  [[nodiscard]] MpaRole role() const { return role_; }
  [[nodiscard]] bool in_rdma_mode() const { return in_rdma_mode_; }
  /// Whether the last segment of the message sent last is still to come. Another message may not go
  /// before it (RFC 5041 section 5.3).
  [[nodiscard]] bool within_message() const { return within_message_; }
  /// The ULPDU of an FPDU whose octets the case sends itself.
  void means_to_send(wire::Bytes ulpdu);
  /// The case sends octets without describing them: part of an FPDU, say. The IUT may report a
  /// segment that it finds in them.
  void means_nothing_readable();
  [[nodiscard]] bool described() const { return described_; }
  /// Judges what the IUT has sent as far as it goes; later octets are not judged.
  void finish_judging();
  [[nodiscard]] rnic::llp::Connection& connection() { return *connection_; }

 protected:
  explicit WireEnd(Context& context);

  using Mark = ConnectionRecord::Mark;
  void mark(Mark::Kind kind, Direction direction, wire::Bytes octets = {});
  [[nodiscard]] bool can_send() const {
    return connection_ != nullptr && is_connected_ && !sent_fin_ && !broken_;
  }
  [[nodiscard]] bool iut_closed() const { return iut_closed_; }
  [[nodiscard]] bool is_broken() const { return broken_; }
  /// Our startup frame is about to be sent, and has been sent.
  void sending_frame(wire::Bytes octets);
  void sent_frame();
  /// `intact`: the IUT must accept it as an FPDU.
  void sent_fpdu(wire::Bytes ulpdu, bool intact);

  /// For derived classes: the connection is established; octets have arrived and are already kept;
  /// the IUT's FIN has arrived; the connection broke.
  virtual void on_opened() {}
  virtual void on_octets(wire::Bytes) {}
  virtual void on_iut_closed() {}
  virtual void on_broken() {}

  void writable() override {}

  Context& context_;
  Framing sending_;

 private:
  void connected() override;
  void readable() override;
  void ended(rnic::llp::Ending ending) override;
  void on_frame(const ReceivedFrame& frame) override;
  void on_message(const Message& message) override;
  void on_malformed(const Malformed& malformed) override;

  void begin(MpaRole role);
  void opened();
  void arrive(decltype(Arrival::what) what);
  /// Within the context's patience octets have come of something that is not whole yet.
  [[nodiscard]] bool is_arriving() const;
  /// On a slow host a long message is longer under way than a case waits for a single thing. The
  /// wait ends if the IUT pauses for so long; one that never comes to the end is given up.
  void wait_for_the_rest(const std::function<bool()>& is_over);
  void begin_rdma_mode();

  MpaRole role_ = MpaRole::initiator;
  std::unique_ptr<SenderJudge> judge_;
  std::unique_ptr<Reception> reception_;
  std::unique_ptr<rnic::llp::Connection> connection_;
  /// Index of our ConnectionRecord.
  std::size_t record_ = 0;
  bool is_connected_ = false, sent_fin_ = false, iut_closed_ = false, broken_ = false,
       in_rdma_mode_ = false;
  bool within_message_ = false;
  /// Means_to_send() was called since an FPDU was sent.
  bool described_ = false;
  std::optional<wire::MpaFlags> sent_flags_;
  std::optional<ReceivedFrame> received_frame_;
  std::deque<Arrival> arrivals_;
  base::TimePoint octets_came_{};  ///< the last ones
};

}  // namespace suite::lower_tester
