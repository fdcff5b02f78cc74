// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The scripted peer: one connection to the IUT, on which everything sent is under control and
// everything received is kept.
#pragma once

#include <deque>
#include <expected>
#include <map>
#include <memory>

#include "reference_rnic/llp/network.hpp"
#include "reference_rnic/llp/world.hpp"
#include "suite/lower_tester/intake.hpp"
#include "suite/lower_tester/sender_rules.hpp"
#include "suite/lower_tester/tcp_cut.hpp"

namespace suite::lower_tester {

/// What all peers of one case share. It outlives them.
struct Context {
  rnic::llp::World& world;
  rnic::llp::Network& network;
  Evidence evidence;
  rnic::llp::TimePoint start{};
  rnic::llp::TimePoint deadline{};  ///< of the case: no wait goes on beyond it
  /// A rule broken by what the IUT sent.
  std::function<void(const SenderFault&)> on_fault;
  /// Why what was sent is not what the case wanted, e.g. a cut that did not reach the wire.
  std::function<void(std::string)> on_inconclusive;

  [[nodiscard]] Offset now() const { return world.now() - start; }
  void note(Direction direction, std::string text, std::string hex = {});
};

/// Where IUTs connect to: a listening port of the tester.
class Entrance final : public rnic::llp::Listener::Observer {
 public:
  Entrance(Context& context, rnic::llp::Family family);
  [[nodiscard]] const std::string& error() const { return error_; }  ///< empty if it listens
  [[nodiscard]] rnic::llp::Address address() const { return listener_->local(); }
  /// The next connection, or nothing by the deadline.
  [[nodiscard]] std::unique_ptr<rnic::llp::Connection> next(rnic::llp::TimePoint deadline);

  void accepted(std::unique_ptr<rnic::llp::Connection> connection) override;

 private:
  Context& context_;
  std::unique_ptr<rnic::llp::Listener> listener_;
  std::deque<std::unique_ptr<rnic::llp::Connection>> waiting_;
  std::string error_;
};

class Peer final : private rnic::llp::Connection::Observer, private Intake::Listener {
 public:
  enum class MpaRole : std::uint8_t { initiator, responder };  ///< the tester's own

  explicit Peer(Context& context);
  ~Peer() override;  ///< closes gracefully
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // -- opening --
  /// Connects to the IUT as MPA initiator. The error says why there is no connection.
  [[nodiscard]] std::expected<void, std::string> connect(const rnic::llp::Address& iut);
  /// Takes a connection that the IUT made, as MPA responder.
  void adopt(std::unique_ptr<rnic::llp::Connection> connection);
  /// There is a connection, and neither side has ended it.
  [[nodiscard]] bool is_open() const {
    return connection_ != nullptr && !sent_fin_ && !iut_closed_ && !broken_;
  }
  [[nodiscard]] bool was_opened() const { return connection_ != nullptr; }

  // -- sending; each waits until the LLP has taken everything --
  void send(const StartupFrame& frame, const Cut& cut = Cut::whole());
  /// The rest of a frame of which send_octets() has sent the first octets.
  void send_rest(const StartupFrame& frame, std::size_t from);
  void send(const Outgoing& message);
  /// `cut` counts from the first octet of the FPDU (of all of them in the list).
  void send(const Outgoing& message, const Cut& cut) { send(prepare(message), cut); }
  void send(const Fpdu& fpdu, const Cut& cut = Cut::whole());
  /// All in one TCP segment, as far as its size allows, or cut otherwise.
  void send(const std::vector<Fpdu>& fpdus, const Cut& cut = Cut::whole());
  void send_octets(wire::Bytes octets, const Cut& cut = Cut::whole());
  /// The FPDUs that send(message) would send. The MSN is taken.
  [[nodiscard]] std::vector<Fpdu> prepare(const Outgoing& message);

  void half_close();  ///< FIN
  void reset();       ///< RST
  void pause_receiving(bool paused);
  void set_receive_buffer(std::size_t octets);

  // -- receiving --
  /// The next thing that came or comes by the deadline; `Nothing` if none.
  [[nodiscard]] Arrival next(rnic::llp::TimePoint deadline);
  [[nodiscard]] bool has_arrivals() const { return !arrivals_.empty(); }
  /// What next() will yield first, if it is there already.
  [[nodiscard]] const Arrival* front() const {
    return arrivals_.empty() ? nullptr : &arrivals_.front();
  }

  // -- what it knows --
  [[nodiscard]] Framing& sending() {
    return sending_;
  }  ///< CRC and Markers in use towards the IUT; a case may change them
  [[nodiscard]] bool receives_markers() const { return receives_markers_; }
  [[nodiscard]] std::uint32_t& next_msn(std::uint32_t queue) {
    return next_msn_.try_emplace(queue, 1U).first->second;
  }
  [[nodiscard]] std::size_t max_ulpdu() const;
  [[nodiscard]] const std::optional<ReceivedFrame>& received_frame() const {
    return received_frame_;
  }
  [[nodiscard]] MpaRole role() const { return role_; }
  [[nodiscard]] bool in_rdma_mode() const { return in_rdma_mode_; }
  /// Whether the last segment of the message sent last is still to come. Another message may not go
  /// before it (RFC 5041 section 5.3).
  [[nodiscard]] bool within_message() const { return within_message_; }
  [[nodiscard]] std::uint64_t fpdus_sent() const { return fpdus_sent_; }
  [[nodiscard]] SenderRules& rules() { return rules_; }
  [[nodiscard]] rnic::llp::Connection& connection() { return *connection_; }

 private:
  void connected() override;
  void readable() override;
  void writable() override {}
  void ended(rnic::llp::Ending ending) override;
  void on_frame(const ReceivedFrame& frame) override;
  void on_fpdu(const ReceivedFpdu& fpdu, const wire::Segment& segment) override;
  void on_message(const Message& message, bool broken_off) override;
  void on_malformed(const Malformed& malformed, std::string_view rule) override;

  using Mark = ConnectionRecord::Mark;
  Intake::Listener& intake_listener() { return *this; }
  void opened();
  void arrive(decltype(Arrival::what) what);
  void mark(Mark::Kind kind, Direction direction, wire::Bytes octets = {});
  void begin_rdma_mode();
  void check_early_octets();
  void send_from(const StartupFrame& frame, std::size_t from, const Cut& cut);
  bool push(wire::Bytes octets);
  bool can_send() const {
    return connection_ != nullptr && is_connected_ && !sent_fin_ && !broken_;
  }
  void verify_cut(std::uint64_t segments_before, std::size_t wanted);

  Context& context_;
  MpaRole role_ = MpaRole::initiator;
  SenderRules rules_;
  std::unique_ptr<Intake> intake_;
  std::unique_ptr<rnic::llp::Connection> connection_;
  std::size_t record_ = 0;  ///< index of our ConnectionRecord
  bool is_connected_ = false, sent_fin_ = false, iut_closed_ = false, broken_ = false,
       in_rdma_mode_ = false;
  bool receives_markers_ = false, within_message_ = false;
  std::optional<wire::MpaFlags> sent_flags_;
  std::optional<ReceivedFrame> received_frame_;
  Framing sending_;
  std::uint64_t fpdus_sent_ = 0;
  std::map<std::uint32_t, std::uint32_t> next_msn_;
  std::deque<Arrival> arrivals_;
};

}  // namespace suite::lower_tester
