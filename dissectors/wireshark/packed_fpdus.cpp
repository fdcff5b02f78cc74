// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissectors/wireshark/packed_fpdus.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <tuple>
#include <utility>

namespace dissectors::wireshark {

namespace {

using analyzer::Crc;

constexpr std::size_t size_field = sizeof(std::uint32_t);

// Bits of the first number of each FPDU: its flags, and which of its parts follow. Those of one that
// continues a row are in one octet.
enum Bit : std::uint32_t {
  next_in_row = 1U << 0,
  ends_segment = 1U << 1,
  begins_segment = 1U << 2,
  in_one_segment = 1U << 3,
  likely = 1U << 4,
  has_segment = 1U << 5,
  tagged = 1U << 6,
  first_segment = 1U << 7,
  last_segment = 1U << 8,
  in_frame = 1U << 9,
  in_one_frame = 1U << 10,
  has_crc = 1U << 11,
  cut = 1U << 12,
  of_a_message = 1U << 13,
  whole_message = 1U << 14,
  answers = 1U << 15,
  blames = 1U << 16,
  has_markers = 1U << 17,
  from_second = 1U << 18,
  crc_in_frame = 1U << 23,
};
constexpr unsigned crc_at = 19, pad_at = 21;  // two bits each
constexpr std::uint32_t two_bits = 3;

// Numbers have seven bits in an octet, the least significant ones first.
class Packer {
 public:
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<std::byte>(value | 0x80));
    out_.push_back(static_cast<std::byte>(value));
  }
  /// A number near `base`, on either side of it.
  void near(std::uint32_t base, std::uint32_t value) {
    const auto apart = std::int64_t{base} - value;
    number(apart < 0 ? static_cast<std::uint64_t>(-apart) * 2 + 1
                     : static_cast<std::uint64_t>(apart) * 2);
  }
  void octets(std::span<const std::byte> them) {
    out_.insert(out_.end(), them.begin(), them.end());
  }
  [[nodiscard]] const std::vector<std::byte>& out() const { return out_; }

 private:
  std::vector<std::byte> out_;
};

class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> octets) : rest_(octets) {}
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  template <typename T>
  T number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto octet = std::to_integer<std::uint64_t>(octets(1).front());
      value |= (octet & 0x7F) << shift;
      if (octet < 0x80) return static_cast<T>(value);
    }
  }
  std::uint32_t near(std::uint32_t base) {
    const auto apart = number<std::uint64_t>();
    const auto distance = static_cast<std::uint32_t>(apart / 2);
    return apart % 2 != 0 ? base + distance : base - distance;
  }
  std::span<const std::byte> octets(std::size_t count) {
    const auto them = rest_.first(count);
    rest_ = rest_.subspan(count);
    return them;
  }

 private:
  std::span<const std::byte> rest_;
};

std::uint32_t bits_of(const FpduFact& fact, std::uint32_t frame) {
  const auto bit = [](bool is, Bit which) { return is ? std::uint32_t{which} : 0U; };
  return bit(fact.place.direction == analyzer::Direction::from_second, from_second) |
         bit(fact.begins_segment, begins_segment) | bit(fact.ends_segment, ends_segment) |
         bit(fact.in_one_segment, in_one_segment) |
         bit(fact.certainty == analyzer::Certainty::likely, likely) |
         bit(fact.has_segment, has_segment) | bit(fact.tagged, tagged) |
         bit(fact.first_segment, first_segment) | bit(fact.last_segment, last_segment) |
         bit(fact.ulpdu.in_frame, in_frame) |
         bit(fact.place.first_frame == frame && fact.place.last_frame == frame, in_one_frame) |
         bit(!fact.crc_in_frame && (fact.crc_value != 0 || fact.crc_expected != 0), has_crc) |
         bit(fact.crc_in_frame, crc_in_frame) | bit(fact.ulpdu.length != fact.ulpdu_length, cut) |
         bit(fact.message != 0, of_a_message) | bit(fact.exchange != 0, whole_message) |
         bit(fact.request_frame != 0, answers) | bit(fact.blamed_frame != 0, blames) |
         bit(!fact.markers.empty(), has_markers) |
         std::uint32_t{std::to_underlying(fact.crc)} << crc_at |
         static_cast<std::uint32_t>(fact.pad.size()) << pad_at;
}

/// What `before` is followed by in a row of whole messages that are alike: all but the CRC, and whether
/// a segment ends with it.
FpduFact next_after(const FpduFact& before) {
  FpduFact next = before;
  next.place.offset += before.place.length;
  next.ulpdu.offset += static_cast<std::uint32_t>(before.place.length);
  ++next.message;
  ++next.exchange;
  next.begins_segment = false;
  return next;
}

/// `bits`: those of `fact`.
bool continues_row(const FpduFact& fact, std::uint32_t bits, const FpduFact& before,
                   std::uint32_t frame) {
  if (!fact.ulpdu.in_frame || fact.exchange == 0 || fact.request_frame != 0 ||
      fact.blamed_frame != 0)
    return false;
  const FpduFact next = next_after(before);
  if (((bits ^ bits_of(next, frame)) & ~std::uint32_t{ends_segment}) != 0 || (bits & has_crc) != 0)
    return false;
  const auto of = [](const FpduFact& it) {
    return std::tie(it.place.offset, it.place.length, it.place.first_frame, it.place.last_frame,
                    it.ulpdu_length, it.ulpdu.length, it.ulpdu.offset, it.pad, it.opcode,
                    it.payload_octets, it.message, it.message_octets, it.exchange);
  };
  return of(fact) == of(next) && fact.markers.empty() && next.markers.empty();
}

void pack_crc(Packer& to, const FpduFact& fact) {
  // A right CRC is the expected one.
  to.octets(std::as_bytes(std::span(&fact.crc_value, 1)));
  if (fact.crc != Crc::right) to.octets(std::as_bytes(std::span(&fact.crc_expected, 1)));
}

/// The CRC that is nowhere but in the frame.
void read_crc(std::span<const std::byte> octets, FpduFact& fact) {
  fact.crc_in_frame = true;
  fact.crc_value = fact.crc_expected = fact.crc_after(octets).value_or(0);
}

void unpack_crc(Unpacker& from, FpduFact& fact) {
  std::memcpy(&fact.crc_value, from.octets(sizeof fact.crc_value).data(), sizeof fact.crc_value);
  fact.crc_expected = fact.crc_value;
  if (fact.crc != Crc::right)
    std::memcpy(&fact.crc_expected, from.octets(sizeof fact.crc_expected).data(),
                sizeof fact.crc_expected);
}

void pack_octets(Packer& to, const FpduFact& fact, std::uint32_t bits) {
  to.number(fact.ulpdu_length);
  if ((bits & cut) != 0) to.number(fact.ulpdu.length);
  if ((bits & in_frame) != 0)
    to.number(fact.ulpdu.offset);
  else
    to.octets(fact.ulpdu.copy);
  to.octets(fact.pad);
}

void unpack_octets(Unpacker& from, FpduFact& fact, std::uint32_t bits) {
  fact.ulpdu_length = from.number<std::uint16_t>();
  fact.ulpdu.length = (bits & cut) != 0 ? from.number<std::uint32_t>() : fact.ulpdu_length;
  fact.ulpdu.in_frame = (bits & in_frame) != 0;
  const auto copied = [&](std::size_t count) {
    const auto octets = from.octets(count);
    return std::vector(octets.begin(), octets.end());
  };
  if (fact.ulpdu.in_frame)
    fact.ulpdu.offset = from.number<std::uint32_t>();
  else
    fact.ulpdu.copy = copied(fact.ulpdu.length);
  fact.pad = copied(bits >> pad_at & two_bits);
}

void pack_message(Packer& to, const FpduFact& fact, std::uint32_t bits, std::uint32_t frame) {
  if ((bits & has_segment) != 0) {
    to.number(std::to_underlying(fact.opcode));
    to.number(fact.payload_octets);
  }
  if ((bits & of_a_message) != 0) {
    to.number(fact.message);
    to.number(fact.message_octets);
  }
  if ((bits & whole_message) != 0) to.number(fact.exchange);
  if ((bits & answers) != 0) {
    to.near(frame, fact.request_frame);
    to.number(fact.response_time);
  }
  if ((bits & blames) != 0) to.near(frame, fact.blamed_frame);
  if ((bits & has_markers) == 0) return;
  to.number(fact.markers.size());
  for (const analyzer::MarkerSeen& marker : fact.markers) {
    to.number(marker.offset);
    to.number(marker.reserved);
    to.number(marker.fpdu_pointer);
    to.number(marker.expected);
  }
}

void unpack_message(Unpacker& from, FpduFact& fact, std::uint32_t bits, std::uint32_t frame) {
  if ((bits & has_segment) != 0) {
    fact.opcode = static_cast<rnic::wire::Opcode>(from.number<std::uint8_t>());
    fact.payload_octets = from.number<std::uint64_t>();
  }
  if ((bits & of_a_message) != 0) {
    fact.message = from.number<std::uint64_t>();
    fact.message_octets = from.number<std::uint64_t>();
  }
  if ((bits & whole_message) != 0) fact.exchange = from.number<std::uint32_t>();
  if ((bits & answers) != 0) {
    fact.request_frame = from.near(frame);
    fact.response_time = from.number<std::uint64_t>();
  }
  if ((bits & blames) != 0) fact.blamed_frame = from.near(frame);
  if ((bits & has_markers) == 0) return;
  fact.markers.resize(from.number<std::size_t>());
  for (analyzer::MarkerSeen& marker : fact.markers) {
    marker.offset = from.number<std::uint64_t>();
    marker.reserved = from.number<std::uint16_t>();
    marker.fpdu_pointer = from.number<std::uint16_t>();
    marker.expected = from.number<std::uint16_t>();
  }
}

void pack_rest(Packer& to, const FpduFact& fact, std::uint32_t bits, std::uint32_t frame) {
  to.number(fact.place.offset);
  to.number(fact.place.length);
  if ((bits & in_one_frame) == 0) {
    to.near(frame, fact.place.first_frame);
    to.near(frame, fact.place.last_frame);
  }
  pack_octets(to, fact, bits);
  pack_message(to, fact, bits, frame);
}

void unpack_flags(std::uint32_t bits, FpduFact& fact) {
  fact.place.direction = (bits & from_second) != 0 ? analyzer::Direction::from_second
                                                   : analyzer::Direction::from_first;
  fact.begins_segment = (bits & begins_segment) != 0;
  fact.ends_segment = (bits & ends_segment) != 0;
  fact.in_one_segment = (bits & in_one_segment) != 0;
  fact.certainty =
      (bits & likely) != 0 ? analyzer::Certainty::likely : analyzer::Certainty::certain;
  fact.has_segment = (bits & has_segment) != 0;
  fact.tagged = (bits & tagged) != 0;
  fact.first_segment = (bits & first_segment) != 0;
  fact.last_segment = (bits & last_segment) != 0;
  fact.crc = static_cast<Crc>(bits >> crc_at & two_bits);
}

FpduFact unpack_alone(Unpacker& from, std::uint32_t bits, std::uint32_t frame,
                      std::span<const std::byte> octets) {
  FpduFact fact;
  unpack_flags(bits, fact);
  if ((bits & has_crc) != 0) unpack_crc(from, fact);
  fact.place.offset = from.number<std::uint64_t>();
  fact.place.length = from.number<std::uint64_t>();
  const bool here = (bits & in_one_frame) != 0;
  fact.place.first_frame = here ? frame : from.near(frame);
  fact.place.last_frame = here ? frame : from.near(frame);
  unpack_octets(from, fact, bits);
  unpack_message(from, fact, bits, frame);
  if ((bits & crc_in_frame) != 0) read_crc(octets, fact);
  return fact;
}

/// `before`: the FPDU before it in the same frame.
FpduFact unpack(Unpacker& from, std::uint32_t frame, std::span<const std::byte> octets,
                const FpduFact* before) {
  const auto bits = from.number<std::uint32_t>();
  if ((bits & next_in_row) == 0 || before == nullptr)
    return unpack_alone(from, bits, frame, octets);
  FpduFact fact = next_after(*before);
  fact.ends_segment = (bits & ends_segment) != 0;
  if (fact.crc_in_frame) read_crc(octets, fact);
  return fact;
}

std::uint32_t size_of(const std::byte* octets) {
  std::uint32_t size = 0;
  if (octets != nullptr) std::memcpy(&size, octets, size_field);
  return size;
}

}  // namespace

void PackedFpdus::add(std::span<const FpduFact> facts, std::uint32_t frame) {
  Packer packer;
  const FpduFact* before = nullptr;
  for (const FpduFact& fact : facts) {
    const std::uint32_t bits = bits_of(fact, frame);
    if (before != nullptr && continues_row(fact, bits, *before, frame)) {
      packer.number(std::uint32_t{next_in_row} | (bits & ends_segment));
    } else {
      packer.number(bits);
      if ((bits & has_crc) != 0) pack_crc(packer, fact);
      pack_rest(packer, fact, bits, frame);
    }
    before = &fact;
  }
  append(packer.out());
}

void PackedFpdus::append(std::span<const std::byte> record) {
  const std::uint32_t before = size_of(octets_.get());
  const auto size = static_cast<std::uint32_t>(before + record.size());
  std::unique_ptr<std::byte[]> octets(new std::byte[size_field + size]);
  std::memcpy(octets.get(), &size, size_field);
  if (before > 0) std::memcpy(octets.get() + size_field, octets_.get() + size_field, before);
  std::ranges::copy(record, octets.get() + size_field + before);
  octets_ = std::move(octets);
}

std::vector<FpduFact> PackedFpdus::unpacked(std::uint32_t frame,
                                            std::span<const std::byte> octets) const {
  std::vector<FpduFact> facts;
  if (empty()) return facts;
  Unpacker from({octets_.get() + size_field, size_of(octets_.get())});
  while (!from.at_end())
    facts.push_back(unpack(from, frame, octets, facts.empty() ? nullptr : &facts.back()));
  return facts;
}

}  // namespace dissectors::wireshark
