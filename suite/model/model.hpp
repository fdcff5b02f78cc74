// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The model of an IUT: the set of states that it may be in, by the RFCs. What is done to it makes
// more of them, what is seen of it leaves fewer; when none is left, it has broken a rule.
//
// It is written from RFC 5044, RFC 5041 and RFC 5040, and shares with the reference RNIC nothing but
// the codecs of wire/. Calls come in this order: what is done (any number), what is seen (any number),
// settled(), and again.
#pragma once

#include "suite/model/obligations.hpp"

namespace suite::model {

class Model {
 public:
  /// A stream that has come up; they are numbered from 0 on.
  void add_stream(const StreamTerms& terms);

  // -- what is done to the IUT --
  void command(const iut::Command& command, const iut::Reply& reply);
  void sent(std::size_t stream, Sent sent);

  // -- what is seen of it --
  [[nodiscard]] std::optional<Finding> saw(std::size_t stream, const SeenOnWire& seen,
                                           const std::string& text);
  [[nodiscard]] std::optional<Finding> saw(const iut::Event& event, const std::string& text);
  [[nodiscard]] std::optional<Finding> saw_memory(iut::Handle region, const Octets& octets);
  /// It has had its time: what is not here by now does not come. One entry for each stream, whether
  /// its LLP has acknowledged all.
  [[nodiscard]] std::optional<Finding> settled(const std::vector<bool>& acknowledged);

  /// By every state: nothing is to be waited for.
  [[nodiscard]] bool owes_nothing(const std::vector<bool>& acknowledged);

  /// One of the states, for whoever draws what comes next.
  [[nodiscard]] const State& a_state() const { return states_.front(); }
  [[nodiscard]] const Coverage& coverage() const { return coverage_; }
  /// What was lawful and yet is worth telling.
  [[nodiscard]] const std::vector<Finding>& advisories() const { return advisories_; }

 private:
  struct Done {
    iut::Command command;
    iut::Reply reply;
  };
  void take_inputs();
  template <typename Explain>
  std::optional<Finding> filter(const Explain& explain, const std::string& came);

  States states_{State{}};
  /// Not taken yet, each list in its own order: between the lists there is none.
  std::vector<Done> done_;
  std::vector<std::vector<Sent>> sent_;
  Coverage coverage_;
  std::vector<Finding> advisories_;
};

}  // namespace suite::model
