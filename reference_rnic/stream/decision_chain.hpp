// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The implementations that take part in the decisions of one object (a stream, an RNIC, a
// connection manager), in the order in which they were added.
//
// The protocol code computes the RFC's own answer and asks the chain. An empty chain leaves every
// answer unchanged: that is the conforming implementation. Each member may change the answer that
// it is given; what deviates from the RFC, and what uses one of its permissions, is in files of its
// own with its own state.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "reference_rnic/stream/choice.hpp"

namespace rnic::stream {

/// Whether a member keeps within what the RFCs permit.
enum class Conduct : std::uint8_t { lawful, deviant };

/// `Decisions`: an interface whose members are decision points. Each takes the answer by reference
/// and leaves it alone by default.
template <class Decisions>
class DecisionChain {
 public:
  void add(std::uint32_t key, std::unique_ptr<Decisions> member,
           Conduct conduct = Conduct::deviant) {
    members_.push_back({key, conduct, std::move(member)});
  }
  void remove(std::uint32_t key) {
    std::erase_if(members_, [key](const Member& member) { return member.key == key; });
  }
  /// Adds the members of another chain after its own.
  void append(DecisionChain other) {
    std::ranges::move(other.members_, std::back_inserter(members_));
  }
  [[nodiscard]] bool empty() const { return members_.empty(); }

  /// chain.ask(&Decisions::payload, segment, pieces): gives every member the chance to change
  /// `pieces`.
  template <class Interface, class... Parameters, class... Arguments>
  void ask(void (Interface::*point)(Parameters...), Arguments&&... arguments) const {
    for (const Member& member : members_) (member.decisions.get()->*point)(arguments...);
  }

  /// chain.decide(choice, &Decisions::react, failure): the members' answer to a question to which
  /// several answers are lawful (a Choice or a Range). A lawful member gives one of these.
  template <class Question, class Interface, class... Parameters, class... Arguments>
  [[nodiscard]] auto decide(const Question& question, void (Interface::*point)(Parameters...),
                            Arguments&&... arguments) const {
    auto answer = question.rfc;
    for (const Member& member : members_) {
      (member.decisions.get()->*point)(arguments..., question, answer);
      assert(member.conduct == Conduct::deviant || permits(question, answer));
    }
    return answer;
  }

 private:
  struct Member {
    std::uint32_t key;
    Conduct conduct;
    std::unique_ptr<Decisions> decisions;
  };
  std::vector<Member> members_;
};

}  // namespace rnic::stream
