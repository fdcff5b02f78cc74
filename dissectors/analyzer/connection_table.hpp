// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The connections of an analyzer: found by the addresses and ports of either direction, and in the order
// in which they were used last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dissectors/analyzer/connection_state.hpp"

namespace dissectors::analyzer {

/// With many connections, each is somewhere else in memory, and what takes time is to fetch it from
/// there. So nothing but the connection itself is touched: the index has a hash to compare, and the
/// order has its links, in vectors of their own.
class ConnectionTable {
 public:
  using Place = std::uint32_t;
  static constexpr Place none = ~Place{0};

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] ConnectionState& operator[](Place place) { return *connections_[place]; }
  /// The connection of a segment, or none.
  [[nodiscard]] Place find(const capture::Flow& flow) const;
  /// Takes one whose flow is not there yet; it is the one used last.
  Place add(std::unique_ptr<ConnectionState> connection);
  void use(Place place);
  [[nodiscard]] Place used_last() const { return last_; }
  /// The one that was not used for the longest time.
  [[nodiscard]] Place used_first() const { return first_; }
  void erase(Place place);
  /// All of them, from the one used first to the one used last.
  template <typename Action>
  void for_each(const Action& action) const {
    for (Place place = first_; place != none; place = links_[place].after)
      action(*connections_[place]);
  }

 private:
  struct Links {
    Place before = none, after = none;
  };
  struct Entry {
    std::uint32_t hash = 0;
    Place place = none;  ///< none: the entry is free
  };
  [[nodiscard]] std::size_t next(std::size_t entry) const {
    return (entry + 1) & (index_.size() - 1);
  }
  void enter(Entry entry);
  void grow();
  void leave_index(Place place);
  void link(Place place);
  void unlink(Place place);

  std::vector<std::unique_ptr<ConnectionState>> connections_;
  std::vector<Links> links_;  ///< of the connections, by their places
  std::vector<Place> free_;
  Place first_ = none, last_ = none;
  std::size_t size_ = 0;
  /// Open addressing, linear; a power of two, half full at most.
  std::vector<Entry> index_ = std::vector<Entry>(16);
};

}  // namespace dissectors::analyzer
