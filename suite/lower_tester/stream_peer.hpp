// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A peer that acts by itself: a whole RDMA stream on one connection to the IUT, conforming except
// for the deviations that it is given.
//
// It answers the IUT's requests and executes the work that a case posts. What the IUT sends is kept
// and judged as on every connection, by the tester's own decoding of the octets.
#pragma once

#include <map>

#include "reference_rnic/deviants/deviation.hpp"
#include "reference_rnic/stream/config.hpp"
#include "reference_rnic/stream/event.hpp"
#include "suite/lower_tester/tester_memory.hpp"
#include "suite/lower_tester/wire_end.hpp"

namespace rnic::stream {
class Stream;
}

namespace suite::lower_tester {

using rnic::deviants::Deviation;

struct StreamPeerTerms {
  /// The role is the connection's.
  rnic::stream::Config config;
  std::vector<Deviation> deviations;
  /// The size of each of our receive buffers.
  std::size_t receive_size = std::size_t{256} * 1024;
};

class StreamPeer final : public WireEnd {
 public:
  StreamPeer(Context& context, StreamPeerTerms terms);
  ~StreamPeer() override;

  /// From here on it is (or is not) wrong in this way. Work posted before has been sent by then, as
  /// far as it may.
  void deviate(Deviation deviation, bool on = true);

  /// From here on it sends nothing, whatever is posted or has to be answered, but still receives.
  /// When this is turned off, everything that has gathered is sent.
  void hold_back(bool on = true);

  // -- the state of the stream --
  /// Waits until startup is over. The error: why the stream did not come up.
  [[nodiscard]] std::expected<void, std::string> await_established();
  [[nodiscard]] bool can_transfer() const;
  /// How the stream ended, as seen from here, in one line; empty while it continues.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  /// It ended because it could not take what the IUT sent.
  [[nodiscard]] bool gave_up() const { return gave_up_; }
  [[nodiscard]] const std::optional<wire::TerminateCause>& terminated_by_iut() const {
    return terminated_by_iut_;
  }
  /// Sends all that was posted, then closes.
  void half_close() override;

  // -- memory --
  [[nodiscard]] TesterBuffer& add_buffer(Octets contents) {
    return memory_.add(std::move(contents));
  }
  [[nodiscard]] const TesterMemory& memory() const { return memory_; }

  // -- work; each call returns at once, with the number of the work --
  struct SendOptions {
    bool solicited = false;
    std::optional<std::uint32_t> invalidate{};
    bool fence = false;
  };
  std::uint64_t send(Octets data) { return send(std::move(data), SendOptions{}); }
  std::uint64_t send(Octets data, const SendOptions& options);
  std::uint64_t write(Octets data, std::uint32_t stag, std::uint64_t offset);
  /// Reads into `sink` at `at`.
  std::uint64_t read(const TesterBuffer& sink, std::uint32_t length, std::uint32_t stag,
                     std::uint64_t offset, std::uint64_t at = 0);
  std::uint64_t fetch_add(std::uint32_t stag, std::uint64_t offset, std::uint64_t addend);
  std::uint64_t compare_swap(std::uint32_t stag, std::uint64_t offset, std::uint64_t compare,
                             std::uint64_t swap);
  std::uint64_t immediate(const Octets& eight, bool solicited = false);

  // -- its results --
  /// The end of this work, or nothing by the deadline.
  [[nodiscard]] std::optional<rnic::stream::WorkDone> done(std::uint64_t work);
  struct Received {
    wire::Opcode opcode = wire::Opcode::send;
    Octets octets;
    std::optional<std::uint32_t> invalidated;
    std::optional<std::array<std::byte, wire::immediate_size>> immediate;
  };
  /// The next message for our consumer, or nothing by the deadline.
  [[nodiscard]] std::optional<Received> received();

 private:
  using Stream = rnic::stream::Stream;
  /// Decodes what our stream sends, for the exchange and the rules.
  class Outbound;

  void on_opened() override;
  void on_octets(wire::Bytes octets) override;
  void on_iut_closed() override;
  void on_broken() override;
  void writable() override;

  std::uint64_t post(rnic::stream::Work work, Octets source = {});
  void pump();
  void take_events();
  void take(rnic::stream::Event& event);
  bool write_out();
  void carry_out_closing();
  void wait_until(const std::function<bool()>& holds);
  [[nodiscard]] base::TimePoint now() const { return context_.loop.now(); }

  StreamPeerTerms terms_;
  TesterMemory memory_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<Outbound> outbound_;
  bool established_ = false, blocked_ = false, holds_back_ = false;
  std::string trouble_;
  bool gave_up_ = false;
  std::optional<wire::TerminateCause> terminated_by_iut_;
  /// Of work that is not done.
  std::map<std::uint64_t, Octets> sources_;
  std::map<std::uint64_t, rnic::stream::WorkDone> done_;
  std::deque<Received> received_;
  std::uint64_t next_work_ = 1;
  /// For what is deferred.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace suite::lower_tester
