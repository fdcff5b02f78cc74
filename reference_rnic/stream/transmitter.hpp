// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The sending side of MPA: startup frames and FPDUs in the order in which they are sent, as a
// gather list that copies no payload.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "reference_rnic/stream/context.hpp"
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
  explicit Transmitter(Context& context) : context_(context) {}

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
  /// Returns the messages whose last octet is among the `count` octets.
  [[nodiscard]] std::vector<MessageTag> transmitted(std::size_t count);

  /// Removes every queued FPDU except those of the message of which the LLP already has octets.
  void drop_messages_not_begun();
  /// Keeps only the rest of an FPDU of which the LLP has octets.
  void drop_all_but_begun_fpdu();
  void drop_all();
  /// The messages that are queued in full or in part, and the one whose octets the LLP got last,
  /// even if that was its last octet.
  [[nodiscard]] std::vector<MessageTag> messages() const;

 private:
  struct Unit {
    std::array<std::byte, wire::fpdu_length_size + wire::untagged_header_size> head{};
    std::size_t head_size = 0;
    std::vector<wire::Bytes> payload;  ///< consumer memory, or `copied`
    std::vector<std::byte> copied;
    std::array<std::byte, 3 + wire::fpdu_crc_size> trailer{};  ///< pad and CRC
    std::size_t trailer_size = 0;
    std::size_t crc_size = wire::fpdu_crc_size;  ///< of the trailer
    std::vector<std::byte> owned;  ///< all octets to be sent, instead of the parts above
    std::size_t size = 0;          ///< octets to be sent
    MessageTag tag;
    bool last = true;
    bool shown =
        false;  ///< gathered before, so that consumer memory may have changed since its CRC
    bool frozen = false;  ///< `owned` is the rest of an FPDU whose front the LLP has
  };

  [[nodiscard]] Unit fresh();
  void append(Unit unit);
  void seal(Unit& unit);
  void add_fields(Unit& unit, std::size_t ulpdu_length);
  [[nodiscard]] bool computes_crc() const;
  void store_crc(const CrcCoverage& covered, wire::MutableBytes field) const;
  void insert_markers(Unit& unit);
  void decide_on_markers(wire::MutableBytes octets) const;
  void list_unit(const Unit& unit, std::size_t skip, std::vector<wire::Bytes>& list) const;
  void freeze_front();
  void drop_from(std::size_t index);

  Context& context_;
  std::deque<Unit> units_;
  std::vector<Unit> spare_;           ///< retired units, for their vectors' memory
  std::vector<wire::Bytes> covered_;  ///< by the current CRC
  std::size_t front_sent_ = 0;        ///< octets of units_.front() that the LLP has
  std::size_t pending_ = 0;
  std::uint64_t position_ = 0;       ///< of the next FPDU to be queued, in octets of full operation
  std::optional<MessageTag> begun_;  ///< the message whose octets the LLP got last
};

}  // namespace rnic::stream
