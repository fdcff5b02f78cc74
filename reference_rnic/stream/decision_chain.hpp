// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The implementations that take part in the decisions of one object (a stream, an RNIC, a
// connection manager), in the order in which they were added.
//
// The protocol code computes the RFC's own answer and asks the chain. An empty chain leaves every
// answer as it is: that is the conforming implementation. Each member may change the answer that it
// is given; what deviates from the RFC, and what uses a permission of it, lives in files of its own
// with its own state.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace rnic::stream {

/// `Decisions`: an interface whose members are decision points. Each takes the answer by reference
/// and leaves it alone by default.
template <class Decisions>
class DecisionChain {
 public:
  void add(std::uint32_t key, std::unique_ptr<Decisions> member) {
    members_.emplace_back(key, std::move(member));
  }
  void remove(std::uint32_t key) {
    std::erase_if(members_, [key](const auto& member) { return member.first == key; });
  }
  [[nodiscard]] bool empty() const { return members_.empty(); }

  /// chain.ask(&Decisions::mulpdu, size): gives every member the chance to change `size`.
  template <class Interface, class... Parameters, class... Arguments>
  void ask(void (Interface::*point)(Parameters...), Arguments&&... arguments) const {
    for (const auto& [key, member] : members_) (member.get()->*point)(arguments...);
  }

 private:
  std::vector<std::pair<std::uint32_t, std::unique_ptr<Decisions>>> members_;
};

}  // namespace rnic::stream
