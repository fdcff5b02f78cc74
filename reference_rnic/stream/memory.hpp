// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a stream asks of its RNIC: where tagged octets are placed, which receive buffer is next,
// what to invalidate.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>

#include "base/short_list.hpp"
#include "reference_rnic/wire/bytes.hpp"

namespace rnic::stream {

/// Why a tagged access or an invalidation is refused. The stream decides which Terminate follows,
/// since that depends on the operation.
enum class MemoryFault : std::uint8_t {
  invalid_stag,    ///< no such STag, or it is in the invalid state
  not_associated,  ///< STag of another protection domain or bound to another stream
  base_or_bounds,
  access_rights,
  to_wrap,            ///< offset + length passes 2^64
  cannot_invalidate,  ///< the STag exists, but its kind or rights do not allow remote invalidation
};

enum class MemoryAccess : std::uint8_t {
  remote_write,  ///< sink of an RDMA Write
  remote_read,   ///< source of an RDMA Read
  remote_atomic,
  read_sink,  ///< sink of our own RDMA Read: octets of a Read Response are placed here
};

/// A posted receive buffer: a scatter list of the consumer's memory.
struct ReceiveBuffer {
  std::uint64_t work_id = 0;
  base::ShortList<wire::MutableBytes, 2> pieces;
  std::size_t capacity = 0;  ///< octets in all pieces
};

/// Implemented by the queue pair. Calls come only from within the stream's own functions.
class Memory {
 public:
  virtual ~Memory() = default;

  /// The local memory of [offset, offset + length) of `stag`, checked for this stream, or why not.
  /// length > 0.
  [[nodiscard]] virtual std::expected<wire::MutableBytes, MemoryFault> resolve(
      std::uint32_t stag, std::uint64_t offset, std::size_t length, MemoryAccess access) = 0;
  /// Invalidates `stag` on behalf of the peer (Send with Invalidate).
  [[nodiscard]] virtual std::expected<void, MemoryFault> invalidate_by_peer(std::uint32_t stag) = 0;
  /// Takes the next receive buffer from the receive queue or shared receive queue, if there is one.
  [[nodiscard]] virtual std::optional<ReceiveBuffer> take_receive() = 0;
  /// Executes a local operation (bind, local invalidate) that was queued in order as
  /// WorkKind::local. False: it failed.
  [[nodiscard]] virtual bool perform_local(std::uint64_t work_id) = 0;
};

}  // namespace rnic::stream
