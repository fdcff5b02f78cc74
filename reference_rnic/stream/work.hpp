// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One entry of a stream's send queue, and how it can end.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/short_list.hpp"
#include "reference_rnic/wire/rdmap.hpp"

namespace rnic::stream {

/// Pieces of memory, in order. Most work has one or two, and then allocates nothing.
using GatherList = base::ShortList<wire::Bytes, 2>;

enum class WorkKind : std::uint8_t { send, write, read, atomic, immediate, local };

/// One entry of the send queue. Work is issued strictly in the order posted.
struct Work {
  std::uint64_t id = 0;
  WorkKind kind = WorkKind::send;
  GatherList gather;       ///< payload of send and write; must stay valid until the WorkDone
  bool solicited = false;  ///< send, immediate
  std::optional<std::uint32_t> invalidate;  ///< send: STag that the peer shall invalidate
  std::uint32_t remote_stag = 0;            ///< write, read, atomic
  std::uint64_t remote_offset = 0;
  std::uint32_t sink_stag = 0;  ///< read: where the Response is to be placed
  std::uint64_t sink_offset = 0;
  std::uint32_t length = 0;  ///< read
  bool fence = false;        ///< wait until all earlier Reads and Atomics have completed
  wire::AtomicOperation operation = wire::AtomicOperation::fetch_add;
  std::uint64_t add_or_swap = 0, add_or_swap_mask = ~std::uint64_t{0};
  std::uint64_t compare = 0, compare_mask = ~std::uint64_t{0};
  std::array<std::byte, wire::immediate_size> immediate{};
};

enum class WorkStatus : std::uint8_t {
  success,
  flushed,           ///< not executed, the stream ended first
  local_protection,  ///< read: the sink is not valid for this stream
  local_length,      ///< longer than a message can be
  local_operation,   ///< perform_local() refused
  remote_access,     ///< the peer terminated the stream naming this read or atomic: protection
  remote_operation,  ///< likewise: operation error
  bad_response,      ///< the Response did not match the request
};
[[nodiscard]] const char* name(WorkStatus status);

}  // namespace rnic::stream
