// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lower_tester/peer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <tuple>
#include <utility>

#include "reference_rnic/wire/fpdu.hpp"
#include "reference_rnic/wire/notation.hpp"

namespace suite::lower_tester {

using base::TimePoint;
using rnic::llp::Connection;

namespace {

constexpr auto cut_look_again = std::chrono::milliseconds(1);
// The number of octets of a provocation that are shown.
constexpr std::size_t provocation_hex = 8;

/// Whether its receiver must accept it as an FPDU: if CRCs are in use, the CRC is right.
bool is_intact(const Fpdu& fpdu, const Framing& framing) {
  const bool right = fpdu.crc == CrcChoice::as_negotiated || fpdu.crc == CrcChoice::right;
  return !framing.crc || (right && !fpdu.change_after_crc);
}

bool is_plain(const Fpdu& fpdu) {
  return fpdu.crc == CrcChoice::as_negotiated && !fpdu.length_field && !fpdu.pad &&
         !fpdu.change_before_crc && !fpdu.change_after_crc;
}

/// The first run of different octets at or after `at`: its beginning and end.
std::pair<std::size_t, std::size_t> differing(wire::Bytes sent, wire::Bytes right, std::size_t at) {
  while (at < sent.size() && sent[at] == right[at]) ++at;
  std::size_t end = at;
  while (end < sent.size() && sent[end] != right[end]) ++end;
  return {at, end};
}

/// What the case has made wrong in an FPDU, in the notation for faults: the octets that differ from
/// those of a right FPDU with the same ULPDU:
/// ` ! octets 36 to 39: d0 6c e1 8f in place of 8f e1 6c d0`
std::string provocation(wire::Bytes sent, const Fpdu& fpdu, const Framing& framing) {
  if (is_plain(fpdu)) return {};
  const Octets right = encode(Fpdu{.ulpdu = fpdu.ulpdu}, framing);
  if (sent.size() != right.size())
    return fmt::format(" ! {} octets in place of {}", sent.size(), right.size());
  std::string text;
  for (auto [from, end] = differing(sent, right, 0); from < end;
       std::tie(from, end) = differing(sent, right, end)) {
    const auto part = [&](wire::Bytes all) {
      return wire::hex(all.subspan(from, end - from), provocation_hex);
    };
    const std::string place = end - from == 1 ? fmt::format("octet {}", from)
                                              : fmt::format("octets {} to {}", from, end - 1);
    text += fmt::format(" ! {}: {} in place of {}", place, part(sent), part(right));
  }
  return text;
}

}  // namespace

// ---------------------------------------------------------------- acceptor

Acceptor::Acceptor(Context& context, base::Family family) : context_(context) {
  auto listener = context.network.listen(context.network.address(family).with_port(0), *this);
  if (listener)
    listener_ = std::move(*listener);
  else
    error_ = listener.error().message;
}

void Acceptor::accepted(std::unique_ptr<Connection> connection) {
  waiting_.push_back(std::move(connection));
}

std::unique_ptr<Connection> Acceptor::next(TimePoint deadline) {
  const TimePoint since = context_.loop.now();
  if (!context_.loop.run_until(deadline, [this] { return !waiting_.empty(); })) return nullptr;
  context_.came(since);
  auto connection = std::move(waiting_.front());
  waiting_.pop_front();
  return connection;
}

// ---------------------------------------------------------------- sending

void Peer::send(const StartupFrame& frame, const Cut& cut) { send_from(frame, 0, cut); }

void Peer::send_rest(const StartupFrame& frame, std::size_t from) {
  send_from(frame, from, Cut::whole());
}

void Peer::send_from(const StartupFrame& frame, std::size_t from, const Cut& cut) {
  const Octets octets = frame.encode();
  context_.note(Direction::to_iut, frame.text(), wire::hex(octets));
  sending_frame(octets);
  put(wire::Bytes(octets).subspan(from), cut);
  sent_frame();
}

void Peer::send(const Outgoing& message) {
  for (const Fpdu& fpdu : prepare(message)) send(fpdu);
}

void Peer::send(const Fpdu& fpdu, const Cut& cut) { send(std::vector{fpdu}, cut); }

void Peer::send(const std::vector<Fpdu>& fpdus, const Cut& cut) {
  Octets octets;
  for (const Fpdu& fpdu : fpdus) {
    const Octets encoded = encode(fpdu, sending_);
    if (context_.records) note(fpdu, encoded);
    octets.insert(octets.end(), encoded.begin(), encoded.end());
    sending_.position += encoded.size();
    sent_fpdu(fpdu.ulpdu, is_intact(fpdu, sending_));
  }
  put(octets, cut);
}

void Peer::note(const Fpdu& fpdu, wire::Bytes encoded) {
  const std::string wrong = provocation(encoded, fpdu, sending_);
  // All octets of what is wrong, so that a reader finds the place.
  context_.note(Direction::to_iut, wire::describe_ulpdu(fpdu.ulpdu) + wrong,
                wrong.empty() ? wire::hex(encoded) : wire::hex(encoded, encoded.size()));
}

std::vector<Fpdu> Peer::prepare(const Outgoing& message) {
  std::uint32_t msn = 0;
  if (!message.tagged) msn = message.msn ? *message.msn : next_msn(message.queue_number())++;
  return message.segments(max_ulpdu(), msn);
}

void Peer::send_octets(wire::Bytes octets, const Cut& cut) {
  if (in_rdma_mode() && !described()) means_nothing_readable();
  if (in_rdma_mode()) sending_.position += octets.size();
  put(octets, cut);
}

void Peer::put(wire::Bytes octets, const Cut& cut) {
  if (!can_send()) return context_.note(Direction::to_iut, "not sent: the connection has ended");
  const std::uint64_t before = connection().data_segments_sent();
  const auto lengths = cut.lengths(octets.size());
  for (const std::size_t length : lengths) {
    if (!push(octets.first(length))) return;
    octets = octets.subspan(length);
  }
  if (cut.is_wanted()) verify_cut(before, lengths.size());
}

void Peer::inject(std::int64_t offset, wire::Bytes octets, rnic::llp::Ecn ecn) {
  const auto field = static_cast<int>(ecn);
  context_.note(Direction::to_iut,
                fmt::format("{} octets out of turn, {:+} from the next{}", octets.size(), offset,
                            field == 0 ? "" : fmt::format(", ECN field {:02b}", field)),
                wire::hex(octets));
  if (!connection().inject(offset, octets, ecn))
    context_.on_inconclusive("a segment out of turn was not sent");
}

/// Passes one segment to the LLP, and waits for room if there is none.
bool Peer::push(wire::Bytes octets) {
  mark(Mark::Kind::data, Direction::to_iut, octets);
  if (std::exchange(lose_next_, false)) {
    context_.note(Direction::to_iut, "lost on the path at first");
    if (connection().send_lost(octets)) return true;
    context_.on_inconclusive("a segment could not be lost");
    return false;
  }
  const auto some_taken = [&] {
    if (!can_send()) return true;
    const std::array<wire::Bytes, 1> pieces{octets};
    const std::size_t taken = connection().send(pieces, true);
    octets = octets.subspan(taken);
    return taken > 0 || octets.empty();
  };
  for (TimePoint since = context_.loop.now();
       context_.loop.run_until(context_.deadline, some_taken) && can_send();
       since = context_.loop.now()) {
    context_.came(since);
    if (octets.empty()) return true;
  }
  context_.note(Direction::to_iut,
                fmt::format("{} octets not sent: {}", octets.size(),
                            can_send() ? "the IUT takes no more" : "the connection has ended"));
  return false;
}

/// A cut counts only if that many segments were sent: the kernel may have joined what waited for
/// its window.
void Peer::verify_cut(std::uint64_t segments_before, std::size_t wanted) {
  const TimePoint since = context_.loop.now();
  const auto sent = [&] { return connection().data_segments_sent() - segments_before; };
  const auto over = [&] {
    return !can_send() || sent() >= wanted || connection().unacknowledged() == 0;
  };
  while (!over() && context_.loop.now() < context_.deadline)
    context_.loop.run_until(std::min(context_.deadline, context_.loop.now() + cut_look_again),
                            over);
  if (over()) context_.came(since);
  if (sent() < wanted && !is_broken())
    context_.on_inconclusive(fmt::format(
        "the wanted cut did not reach the wire: {} TCP segments in place of {}", sent(), wanted));
}

}  // namespace suite::lower_tester
