// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How the streams of a session come up, or fail to: what both roles of the IUT share.
#pragma once

#include "suite/sessions/play.hpp"
#include "suite/sessions/startup_faults.hpp"

namespace suite::sessions {

class Opening {
 public:
  Opening(Play& play, const StreamSetup& setup, std::size_t number);
  virtual ~Opening() = default;
  Opening(const Opening&) = delete;
  Opening& operator=(const Opening&) = delete;

  /// False: a finding has been reported, and the session ends.
  [[nodiscard]] bool come_up();
  /// The fault of the setup keeps the connection from coming up.
  [[nodiscard]] bool come_to_nothing();

 protected:
  using EnhancedWords = model::EnhancedWords;

  [[nodiscard]] virtual bool open() = 0;
  /// Plays the startup up to the fault, then judges what has to follow.
  [[nodiscard]] virtual bool fail_to_open() = 0;

  // -- findings; all return false --
  /// Without rules: the session cannot be judged.
  bool fail(const std::string& admissible, const std::string& came, std::vector<std::string> rules);
  /// The IUT has refused the tester's frame. One without Markers refuses what asks for them, whatever
  /// else is in it.
  bool fail_refused(const std::string& admissible, const std::string& came,
                    std::vector<std::string> rules);
  void advise(const std::string& admissible, const std::string& came,
              std::vector<std::string> rules);
  /// Breaking a SHOULD is an advisory.
  bool report(const std::string& admissible, const std::string& came,
              std::vector<std::string> rules);
  /// Those of the fault come first, if it has to be accepted.
  [[nodiscard]] std::vector<std::string> with_fault_rules(std::vector<std::string> rules) const;
  [[nodiscard]] const std::vector<std::string>& fault_rules() const {
    return rules_of(setup_.fault, setup_.iut_initiates);
  }

  // -- what the IUT is asked for --
  /// It is not told whether to ask for CRCs.
  [[nodiscard]] bool asks_by_default() const;
  void configure();
  void send_configuration();
  [[nodiscard]] bool create_endpoint();
  /// What there is of the stream goes, unless the session ends with it.
  void leave();
  void post_early_receive();
  [[nodiscard]] iut::ConnectParameters parameters() const;

  // -- what the tester sends --
  [[nodiscard]] Octets peer_data(bool enhanced) const;
  /// The frame, with the fault in it.
  void send_frame(lower_tester::StartupFrame frame);
  [[nodiscard]] EnhancedWords with_rtr(EnhancedWords words, std::uint32_t kinds) const;
  /// The RTR kinds that the words name, as bits.
  [[nodiscard]] static std::uint32_t kinds_of(const EnhancedWords& words) {
    return (words.rtr_send ? rtr_send : 0) | (words.rtr_write ? rtr_write : 0) |
           (words.rtr_read ? rtr_read : 0);
  }

  // -- what the IUT sends --
  /// What comes next within the IUT's time.
  [[nodiscard]] lower_tester::Arrival next();
  /// Its startup frame, with the private data of its consumer.
  [[nodiscard]] bool take_frame(const iut::ConnectParameters& own);
  [[nodiscard]] rnic::wire::MpaFrame frame() const { return line_->peer.received_frame()->frame(); }
  /// The end of the connection, or of its half.
  [[nodiscard]] bool take_end();
  /// The depths reported to the consumer are those of the peer's frame, seen from its own side.
  [[nodiscard]] bool check_depths(const std::optional<int>& ird, const std::optional<int>& ord,
                                  const std::optional<EnhancedWords>& words, const char* rule);
  [[nodiscard]] static bool same_data(const Octets& seen, const Octets& wanted);

  Play& play_;
  const StreamSetup& setup_;
  iut::Handle endpoint_;
  /// The IUT has taken the connection model and the RTR kinds of the setup.
  bool is_configured_ = false;
  model::StreamTerms terms_;
  std::unique_ptr<Line> line_;
  iut::ConnectParameters own_;
  /// The enhanced words that the tester has sent, and its frame as text.
  std::optional<EnhancedWords> sent_words_;
  std::string sent_text_;
  std::optional<iut::PostReceive> early_receive_;
};

/// The tester is MPA Initiator, the IUT's consumer listens.
[[nodiscard]] std::unique_ptr<Opening> opening_by_tester(Play& play, const StreamSetup& setup,
                                                         std::size_t number);
/// The IUT is MPA Initiator.
[[nodiscard]] std::unique_ptr<Opening> opening_by_iut(Play& play, const StreamSetup& setup,
                                                      std::size_t number);

}  // namespace suite::sessions
