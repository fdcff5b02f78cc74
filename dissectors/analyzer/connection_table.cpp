// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/connection_table.hpp"

#include <utility>

namespace dissectors::analyzer {

namespace {

std::uint32_t hash_of(const Connection& connection) {
  return capture::hash_of({connection.first, connection.second});
}

}  // namespace

ConnectionTable::Place ConnectionTable::find(const capture::Flow& flow, std::uint32_t hash) const {
  for (std::size_t at = hash & (index_.size() - 1); index_[at].place != none; at = next(at))
    if (index_[at].hash == hash && connections_[index_[at].place]->direction_of(flow))
      return index_[at].place;
  return none;
}

ConnectionTable::Place ConnectionTable::add(std::unique_ptr<ConnectionState> connection,
                                            std::uint64_t time) {
  if (2 * ++size_ > index_.size()) grow();
  const std::uint32_t hash = hash_of(connection->connection());
  Place place = static_cast<Place>(connections_.size());
  if (free_.empty()) {
    connections_.push_back(std::move(connection));
    links_.emplace_back();
  } else {
    place = free_.back();
    free_.pop_back();
    connections_[place] = std::move(connection);
  }
  enter({hash, place});
  const std::size_t part = part_of(hash);
  links_[place].part = static_cast<std::uint32_t>(part);
  ++orders_[part].size;
  link(place, time);
  return place;
}

void ConnectionTable::use(Place place, std::uint64_t time) {
  if (place == used_last_) {
    links_[place].used = time;
    return;
  }
  unlink(place);
  link(place, time);
}

void ConnectionTable::erase(Place place) {
  leave_index(place);
  unlink(place);
  if (place == used_last_) used_last_ = none;
  --orders_[links_[place].part].size;
  connections_[place].reset();
  free_.push_back(place);
  --size_;
}

// ------------------------------------------------------------------------------- the index

void ConnectionTable::enter(Entry entry) {
  std::size_t at = entry.hash & (index_.size() - 1);
  while (index_[at].place != none) at = next(at);
  index_[at] = entry;
}

void ConnectionTable::grow() {
  const auto before = std::exchange(index_, std::vector<Entry>(2 * index_.size()));
  for (const Entry& entry : before)
    if (entry.place != none) enter(entry);
}

void ConnectionTable::leave_index(Place place) {
  std::size_t at = hash_of(connections_[place]->connection()) & (index_.size() - 1);
  while (index_[at].place != place) at = next(at);
  index_[at] = {};
  // What follows without a gap may have been moved on by it.
  for (at = next(at); index_[at].place != none; at = next(at)) enter(std::exchange(index_[at], {}));
}

// ------------------------------------------------------------------------------- the order

void ConnectionTable::link(Place place, std::uint64_t time) {
  Links& own = links_[place];
  Order& order = orders_[own.part];
  own.used = time;
  own.before = order.last;
  own.after = none;
  (order.last == none ? order.first : links_[order.last].after) = place;
  order.last = used_last_ = place;
}

void ConnectionTable::unlink(Place place) {
  const auto [used, before, after, part] = links_[place];
  Order& order = orders_[part];
  (before == none ? order.first : links_[before].after) = after;
  (after == none ? order.last : links_[after].before) = before;
}

}  // namespace dissectors::analyzer
