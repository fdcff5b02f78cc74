// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where the TCP segments of what is sent are to end. Peer::send_octets() does it with one push of
// the connection for each segment (over TCP a sendmsg() with MSG_EOR), and verifies what was sent.
#pragma once

#include <cstddef>
#include <vector>

namespace suite::lower_tester {

class Cut {
 public:
  /// As the LLP decides: one write, cut only where it exceeds the EMSS.
  [[nodiscard]] static Cut whole() { return Cut(0, {}); }
  [[nodiscard]] static Cut every(std::size_t octets) { return Cut(octets, {}); }
  [[nodiscard]] static Cut single_octets() { return every(1); }
  /// Segments end before these offsets, which ascend.
  [[nodiscard]] static Cut at(std::vector<std::size_t> offsets) {
    return Cut(0, std::move(offsets));
  }

  [[nodiscard]] bool is_wanted() const { return every_ != 0 || !offsets_.empty(); }
  /// The lengths of the segments of `total` octets.
  [[nodiscard]] std::vector<std::size_t> lengths(std::size_t total) const {
    std::vector<std::size_t> list;
    std::size_t from = 0;
    for (const std::size_t end : offsets_) {
      if (end <= from || end >= total) continue;
      list.push_back(end - from);
      from = end;
    }
    while (from < total) {
      const std::size_t length = every_ != 0 && every_ < total - from ? every_ : total - from;
      list.push_back(length);
      from += length;
    }
    return list;
  }

 private:
  Cut(std::size_t every, std::vector<std::size_t> offsets)
      : every_(every), offsets_(std::move(offsets)) {}
  std::size_t every_;
  std::vector<std::size_t> offsets_;
};

}  // namespace suite::lower_tester
