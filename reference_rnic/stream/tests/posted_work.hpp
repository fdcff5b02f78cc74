// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One stream in full operation, the work that its consumer posts, and what of it leaves.
#pragma once

#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <vector>

#include "reference_rnic/stream/tests/raw_peer.hpp"

namespace rnic::stream::test {

inline Work send_of(std::uint64_t id, wire::Bytes message) {
  Work work;
  work.id = id;
  work.gather = {message};
  return work;
}

inline Work write_of(std::uint64_t id, wire::Bytes message, std::uint64_t offset = 0x2000) {
  Work work = send_of(id, message);
  work.kind = WorkKind::write;
  work.remote_stag = 0xAABB;
  work.remote_offset = offset;
  return work;
}

inline Work read_of(std::uint64_t id, std::uint32_t length = 4) {
  Work work;
  work.id = id;
  work.kind = WorkKind::read;
  work.remote_stag = 0x42;
  work.sink_stag = 0x101;
  work.sink_offset = 0x1000;
  work.length = length;
  return work;
}

inline Work atomic_of(std::uint64_t id) {
  Work work;
  work.id = id;
  work.kind = WorkKind::atomic;
  work.remote_stag = 0x42;
  return work;
}

/// How each work ended, in the order reported: "1 success, 2 flushed".
inline std::string endings(const Subject& subject) {
  std::string text;
  for (const WorkDone& done : subject.all<WorkDone>())
    text += (text.empty() ? "" : ", ") + std::to_string(done.id) + " " + name(done.status);
  return text;
}

/// A responder that may send, with memory that has contents. `markers`: the peer asks for them.
inline std::unique_ptr<Subject> operational(Config config, bool markers = false) {
  auto subject = std::make_unique<Subject>(config);
  furnish(subject->memory);
  subject->feed(request(config.crc ? (markers ? "c0" : "40") : (markers ? "80" : "00")));
  subject->feed("01 0000");
  subject->stream.accept(config.ird, config.ord, {}, subject->now);
  (void)subject->output();
  subject->feed(fpdu("c1 40 00000000 0000000000000000", config.crc));
  BOOST_REQUIRE((subject->stream.state() == State::operational));
  return subject;
}

/// A Terminate of the peer: no header of ours is in it, so that none of our work is to blame.
inline constexpr std::string_view some_terminate =
    "41 47 00000000 00000002 00000001 00000000 0000 0000";
/// A Write to an STag that does not exist, which ends the stream, and the Terminate for it.
inline constexpr std::string_view bad_write = "c1 40 00000999 0000000000001000 aa";
inline constexpr std::string_view bad_write_terminate =
    "41 47 00000000 00000002 00000001 00000000 1100 c000 000f c1 40 00000999 0000000000001000";

/// Splits CRC-less FPDUs into their ULPDUs, in hex.
inline std::vector<std::string> ulpdus(std::string_view hex_text) {
  const auto input = octets(hex_text);
  std::vector<std::string> found;
  for (std::size_t at = 0; at + 2 <= input.size();) {
    const std::size_t length =
        std::to_integer<std::size_t>(input[at]) << 8 | std::to_integer<std::size_t>(input[at + 1]);
    found.push_back(hex(wire::Bytes(input).subspan(at + 2, length)));
    at += wire::fpdu_size(length);
  }
  return found;
}

/// Takes `count` octets of the output, as an LLP does whose window is that small.
inline std::string take(Subject& subject, std::size_t count) {
  std::vector<wire::Bytes> list;
  subject.stream.gather(list, count);
  std::string taken;
  std::size_t left = count;
  for (const wire::Bytes piece : list) {
    const std::size_t here = std::min(left, piece.size());
    taken += hex(piece.first(here));
    left -= here;
  }
  subject.stream.transmitted(count - left, subject.now);
  subject.collect();
  return taken;
}

}  // namespace rnic::stream::test
