// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The sending side of MPA: startup frames and FPDUs in the order in which they are sent, as a
// gather list that copies no payload.
#pragma once

#include <span>
#include <vector>

#include "base/fifo.hpp"
#include "reference_rnic/stream/context.hpp"
#include "reference_rnic/stream/outbound_buffer.hpp"
#include "reference_rnic/stream/work.hpp"
#include "reference_rnic/wire/fpdu.hpp"

namespace rnic::stream {

/// What a message is, for the stream, when its last octet has been given to the LLP.
enum class Purpose : std::uint8_t { startup_frame, work, response, terminate };

/// A message that is being sent. `number` distinguishes messages; for work it is the number of the
/// entry in the send queue.
struct MessageTag {
  Purpose purpose = Purpose::work;
  std::uint64_t number = 0;
  bool operator==(const MessageTag&) const = default;
};

class Transmitter {
 public:
  explicit Transmitter(Context& context)
      : context_(context), covered_(context.scratch.covered), own_(context.scratch.send) {}

  void queue_startup_frame(std::vector<std::byte> octets);
  /// Queues one FPDU whose ULPDU is `header` followed by `payload`. Unless `copy`, the payload
  /// stays where it is and must remain valid until the FPDU is transmitted. `last`: it completes
  /// the message `tag`.
  void queue_fpdu(wire::Bytes header, std::span<const wire::Bytes> payload, bool copy,
                  MessageTag tag, bool last);

  /// Octets queued and not yet transmitted.
  [[nodiscard]] std::size_t pending() const { return pending_; }
  void gather(std::vector<wire::Bytes>& list, std::size_t limit,
              std::vector<std::size_t>* boundaries);
  /// Returns the messages whose last octet is among the `count` octets; valid until the next call.
  [[nodiscard]] std::span<const MessageTag> transmitted(std::size_t count);

  /// As SendQueue::release().
  void release() { units_.release(); }

  /// Removes every queued FPDU except those of the message of which the LLP already has octets.
  void drop_messages_not_begun();
  /// Keeps only the rest of an FPDU of which the LLP has octets.
  void drop_all_but_begun_fpdu();
  void drop_all();
  /// The messages that are queued in full or in part, and the one whose octets the LLP got last,
  /// even if that was its last octet.
  [[nodiscard]] std::vector<MessageTag> messages() const;

 private:
  /// One FPDU or startup frame. Its head, what of the payload is copied, and its trailer are side by
  /// side, as are those of the FPDUs before and after it: so short FPDUs are one run of octets.
  struct Unit {
    wire::MutableBytes head;                     ///< ULPDU_Length, headers, payload that is copied
    GatherList payload;                          ///< consumer memory
    wire::MutableBytes trailer;                  ///< pad and CRC
    std::size_t crc_size = wire::fpdu_crc_size;  ///< of the trailer
    std::vector<std::byte> owned;  ///< all octets to be sent, instead of the parts above
    std::size_t size = 0;          ///< octets to be sent
    MessageTag tag;
    bool last = true;
    bool shown =
        false;  ///< gathered before, so that consumer memory may have changed since its CRC
    bool frozen = false;  ///< `owned` is the rest of an FPDU whose front the LLP has
  };

  void write_parts(Unit& unit, wire::Bytes header, std::span<const wire::Bytes> payload, bool copy);
  [[nodiscard]] FpduFields fields_for(std::size_t ulpdu_length) const;
  void seal(Unit& unit);
  [[nodiscard]] bool computes_crc() const;
  void store_crc(const CrcCoverage& covered, wire::MutableBytes field) const;
  void insert_markers(Unit& unit);
  void decide_on_markers(wire::MutableBytes octets) const;
  static void list_unit(const Unit& unit, std::size_t skip, std::vector<wire::Bytes>& list);
  void freeze_front();
  void drop_from(std::size_t index);

  Context& context_;
  std::vector<wire::Bytes>& covered_;  ///< by the CRC of the unit queued last
  OutboundBuffer own_;                 ///< of the units that have a head
  base::Fifo<Unit> units_;
  std::vector<MessageTag> finished_;
  std::size_t front_sent_ = 0;  ///< octets of units_.front() that the LLP has
  std::size_t pending_ = 0;
  std::uint64_t position_ = 0;       ///< of the next FPDU to be queued, in octets of full operation
  std::optional<MessageTag> begun_;  ///< the message whose octets the LLP got last
};

}  // namespace rnic::stream
