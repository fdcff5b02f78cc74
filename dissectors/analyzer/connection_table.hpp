// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The connections of an analyzer: found by the addresses and ports of either direction, and in parts, within
// which they are in the order in which they were used last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dissectors/analyzer/connection_state.hpp"

namespace dissectors::analyzer {

/// With many connections, each is somewhere else in memory, and what takes time is to fetch it from
/// there. So nothing but the connection itself is touched: the index has a hash to compare, and the
/// order has its links and times, in vectors of their own.
class ConnectionTable {
 public:
  using Place = std::uint32_t;
  static constexpr Place none = ~Place{0};

  explicit ConnectionTable(std::size_t parts) : orders_(parts) {}
  [[nodiscard]] std::size_t parts() const { return orders_.size(); }
  /// The part of a flow whose hash this is.
  [[nodiscard]] std::size_t part_of(std::uint32_t hash) const {
    return capture::part_of(hash, orders_.size());
  }
  [[nodiscard]] std::size_t part_of_place(Place place) const { return links_[place].part; }
  [[nodiscard]] std::size_t size(std::size_t part) const { return orders_[part].size; }
  [[nodiscard]] ConnectionState& operator[](Place place) { return *connections_[place]; }
  /// The connection of a segment, or none.
  [[nodiscard]] Place find(const capture::Flow& flow, std::uint32_t hash) const;
  /// Takes one whose flow is not there yet; it is the one used last, at this time.
  Place add(std::unique_ptr<ConnectionState> connection, std::uint64_t time);
  void use(Place place, std::uint64_t time);
  /// When it was used last.
  [[nodiscard]] std::uint64_t time_of(Place place) const { return links_[place].used; }
  /// Of all parts; none if it is no longer there.
  [[nodiscard]] Place used_last() const { return used_last_; }
  /// The one of this part that was not used for the longest time.
  [[nodiscard]] Place used_first(std::size_t part) const { return orders_[part].first; }
  void erase(Place place);
  /// All of them, in the order in which they are in memory.
  template <typename Action>
  void for_each(const Action& action) const {
    for (const auto& connection : connections_)
      if (connection) action(*connection);
  }

 private:
  struct Links {
    std::uint64_t used = 0;  ///< time
    Place before = none, after = none;
    std::uint32_t part = 0;
  };
  struct Order {
    Place first = none, last = none;
    std::size_t size = 0;
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
  void link(Place place, std::uint64_t time);
  void unlink(Place place);

  std::vector<std::unique_ptr<ConnectionState>> connections_;
  std::vector<Links> links_;  ///< of the connections, by their places
  std::vector<Place> free_;
  std::vector<Order> orders_;  ///< by part
  Place used_last_ = none;
  std::size_t size_ = 0;
  /// Open addressing, linear; a power of two, half full at most.
  std::vector<Entry> index_ = std::vector<Entry>(16);
};

}  // namespace dissectors::analyzer
