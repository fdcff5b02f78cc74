// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/framework/limits.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace suite::cases {

namespace {

/// "Leave it to the IUT" (RFC 6581 section 9.1), and no number.
constexpr int all_ones = 0x3FFF;

class Beyond {
 public:
  explicit Beyond(const Limits& limits) : limits_(limits) {}
  std::optional<Excess> excess;

  void operator()(const iut::CreateEndpoint& command) {
    check("max_send_depth", command.send_depth);
    check(command.shared_queue != 0 ? "" : "max_receive_depth", command.receive_depth);
    check("max_pieces", command.max_pieces);
    check("max_inline", command.max_inline);
  }
  void operator()(const iut::CreateSharedQueue& command) {
    check("max_shared_depth", command.depth);
    check("max_shared_pieces", command.max_pieces);
  }
  void operator()(const iut::PostReceive& command) {
    check(command.shared_queue != 0 ? "max_shared_pieces" : "max_pieces", command.pieces.size());
  }
  void operator()(const iut::PostWork& command) {
    check("max_pieces", command.pieces.size());
    if (command.operation == iut::operation::read) check("max_read_pieces", command.pieces.size());
    check("max_fences", command.fence ? 1 : 0);
  }
  void operator()(const iut::RegisterMemory& command) { check("max_region", command.length); }
  void operator()(const iut::AllocateRegion& command) { check("max_pages", command.pages); }
  void operator()(const iut::Connect& command) { check(command.parameters); }
  void operator()(const iut::Accept& command) { check(command.parameters); }
  void operator()(const iut::Reject& command) {
    check("max_private_data", command.private_data.size());
  }
  void operator()(const auto&) {}

 private:
  void check(const iut::ConnectParameters& parameters) {
    check("max_private_data", parameters.private_data.size());
    if (parameters.ird && parameters.ird != all_ones) check("max_ird", *parameters.ird);
    if (parameters.ord && parameters.ord != all_ones) check("max_ord", *parameters.ord);
  }
  void check(const char* name, auto wanted) {
    const auto limit = limits_.find(name);
    if (limit == limits_.end() || excess || static_cast<std::int64_t>(wanted) <= limit->second)
      return;
    excess = {name, fmt::format("the IUT states {} {}, and the case wants {}", name, limit->second,
                                wanted)};
  }

  const Limits& limits_;
};

}  // namespace

std::optional<Excess> beyond_limits(const iut::Command& command, const Limits& limits) {
  Beyond beyond(limits);
  std::visit(beyond, command);
  return std::move(beyond.excess);
}

std::int64_t within_limit(const Limits& limits, const std::string& name, std::int64_t wanted) {
  const auto limit = limits.find(name);
  return limit == limits.end() ? wanted : std::min(wanted, limit->second);
}

}  // namespace suite::cases
