// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The model of an IUT: the set of states that it may be in according to the RFCs. Inputs add
// states, observations remove states; when none is left, the IUT has broken a rule.
//
// It is written from RFC 5044, RFC 5041 and RFC 5040, and shares with the reference RNIC only the
// codecs of wire/. Calls come in this order: inputs (any number), observations (any number),
// settled(), and again.
#pragma once

#include "suite/model/obligations.hpp"

namespace suite::model {

class Model {
 public:
  /// A window is open only to the stream that it was bound on, not to all of its domain.
  void windows_are_of_streams(bool yes);
  /// A stream that has been established; they are numbered from 0.
  void add_stream(const StreamTerms& terms);

  // -- inputs to the IUT --
  void command(const iut::Command& command, const iut::Reply& reply);
  void sent(std::size_t stream, Sent sent);

  // -- observations of it --
  [[nodiscard]] std::optional<Finding> saw(std::size_t stream, const SeenOnWire& seen,
                                           const std::string& text);
  [[nodiscard]] std::optional<Finding> saw(const iut::Event& event, const std::string& text);
  /// Whether it would be no finding now.
  [[nodiscard]] bool admits(const iut::Event& event) const;
  [[nodiscard]] bool admits(iut::Handle region, const Octets& octets) const;
  [[nodiscard]] std::optional<Finding> saw_memory(iut::Handle region, const Octets& octets);
  /// The IUT has had its time: what has not come by now does not come. One entry for each stream:
  /// whether its LLP has acknowledged everything.
  [[nodiscard]] std::optional<Finding> settled(const std::vector<bool>& acknowledged);

  /// By every state: nothing is to be waited for.
  [[nodiscard]] bool owes_nothing(const std::vector<bool>& acknowledged);

  /// By every state an STag is open, or by every state it is not.
  [[nodiscard]] bool is_certain(std::uint32_t stag) const;
  /// One of the states, from which the next step is drawn.
  [[nodiscard]] const State& a_state() const { return states_.front(); }
  [[nodiscard]] const Coverage& coverage() const { return coverage_; }
  /// Observations that were lawful but are worth reporting.
  [[nodiscard]] const std::vector<Finding>& advisories() const { return advisories_; }

 private:
  struct Done {
    iut::Command command;
    iut::Reply reply;
  };
  void take_inputs();
  void advise_of_passed_over();
  template <typename Explain>
  std::optional<Finding> filter(const Explain& explain, const std::string& came);

  States states_{State{}};
  /// Inputs not processed yet, each list in its own order: there is no order between the lists.
  std::vector<Done> done_;
  std::vector<std::vector<Sent>> sent_;
  Coverage coverage_;
  std::vector<Finding> advisories_;
};

}  // namespace suite::model
