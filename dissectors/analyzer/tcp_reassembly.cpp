// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/tcp_reassembly.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "reference_rnic/wire/crc32c.hpp"

namespace dissectors::analyzer {

namespace {

/// The memory of a held segment besides its octets: it limits the number of tiny ones, too.
constexpr std::size_t bookkeeping = 128;

/// The octets of [begin, end) of the stream that were captured in `octets`, which begin at `offset`.
Bytes part(Bytes octets, std::uint64_t offset, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t skip = std::min<std::uint64_t>(begin - offset, octets.size());
  const Bytes rest = octets.subspan(static_cast<std::size_t>(skip));
  return rest.first(static_cast<std::size_t>(std::min<std::uint64_t>(end - begin, rest.size())));
}

Chunk cut(const Chunk& chunk, std::uint64_t begin, std::uint64_t end) {
  return {begin, end - begin, part(chunk.octets, chunk.offset, begin, end), chunk.segment,
          chunk.stays};
}

/// Whether both have the same octets, as far as both were captured.
bool same(Bytes one, Bytes other) {
  const std::size_t comparable = std::min(one.size(), other.size());
  return std::ranges::equal(one.first(comparable), other.first(comparable));
}

std::array<std::byte, 4> checksum_of(Bytes octets) {
  return rnic::wire::Crc32c().update(octets).trailer();
}

}  // namespace

bool TcpReassembly::start(const capture::Segment& segment) {
  if (started_) return true;
  if (!segment.syn && segment.payload_length == 0) {
    announced_ = segment.sequence;
    return false;
  }
  started_ = true;
  from_syn_ = segment.syn;
  origin_ = segment.syn ? segment.sequence + 1 : segment.sequence;
  return true;
}

void TcpReassembly::add(const capture::Segment& segment, std::uint32_t frame, std::uint64_t time,
                        StreamReceiver& receiver, std::optional<std::uint64_t> received) {
  settle(time, receiver);
  if (segment.rst) {
    receiver.ended(Ending::reset, next_, {next_, next_, frame, time});
    return;
  }
  if (!start(segment)) {
    if (segment.fin) receiver.ended(Ending::fin, next_, {next_, next_, frame, time});
    return;
  }
  const std::int64_t begin = offset_of(segment.syn ? segment.sequence + 1 : segment.sequence);
  if (begin < 0) return;  // before the first octet seen: a late one, or a keep-alive
  const auto first = static_cast<std::uint64_t>(begin);
  const std::uint64_t end = first + segment.payload_length;
  const SegmentFacts facts{first, end, frame, time, received};
  if (segment.fin && !fin_) {
    fin_ = end;
    fin_segment_ = facts;
  }
  if (segment.payload_length > 0)
    place({first, segment.payload_length, segment.payload, facts, segment.payload_stays}, receiver);
  report_end(receiver);
}

void TcpReassembly::place(Chunk chunk, StreamReceiver& receiver) {
  const std::uint64_t end = chunk.offset + chunk.length;
  if (chunk.offset < next_) {
    // A keep-alive's octet is garbage by custom (RFC 9293 3.8.4).
    if (chunk.length > 1) compare_with_prints(chunk, receiver);
    if (end <= next_) return;
    chunk = cut(chunk, next_, end);
  }
  if (chunk.offset > next_) {
    hold(chunk, receiver);
    return;
  }
  deliver(chunk, receiver);
  if (!waiting_.empty()) drain(receiver);
}

void TcpReassembly::deliver(const Chunk& chunk, StreamReceiver& receiver) {
  const std::uint64_t end = chunk.offset + chunk.length;
  for (auto held = waiting_.begin(); held != waiting_.end() && held->first < end; ++held) {
    const std::uint64_t overlap = std::min(end, held->second.end);
    const Bytes early = part(held->second.octets, held->first, held->first, overlap);
    if (!same(early, part(chunk.octets, chunk.offset, held->first, overlap)))
      receiver.differs(held->first, overlap - held->first, chunk.segment);
  }
  next_ = end;
  remember(chunk);
  receiver.octets(chunk);
}

void TcpReassembly::hold(const Chunk& chunk, StreamReceiver& receiver) {
  std::uint64_t begin = chunk.offset;
  const std::uint64_t end = chunk.offset + chunk.length;
  auto held = waiting_.upper_bound(begin);
  if (held != waiting_.begin() && std::prev(held)->second.end > begin) --held;
  for (; begin < end && held != waiting_.end() && held->first < end; ++held) {
    if (held->first > begin) store(chunk, begin, held->first);
    const std::uint64_t from = std::max(begin, held->first);
    const std::uint64_t until = std::min(end, held->second.end);
    if (!same(part(held->second.octets, held->first, from, until),
              part(chunk.octets, chunk.offset, from, until)))
      receiver.differs(from, until - from, chunk.segment);
    begin = std::max(begin, held->second.end);
  }
  if (begin < end) store(chunk, begin, end);
  while (held_ > limit_ && !drop_out_of_window(receiver))
    give_up_until(waiting_.begin()->first, true, chunk.segment, receiver);
}

/// If the first held chunk is out of the window, all of them are.
bool TcpReassembly::drop_out_of_window(StreamReceiver& receiver) {
  if (waiting_.empty() || waiting_.begin()->first - next_ <= reach_) return false;
  for (const auto& [offset, held] : std::exchange(waiting_, {}))
    receiver.out_of_window(held.segment);
  held_ = 0;
  return true;
}

void TcpReassembly::store(const Chunk& chunk, std::uint64_t begin, std::uint64_t end) {
  const Bytes octets = part(chunk.octets, chunk.offset, begin, end);
  held_ += octets.size() + bookkeeping;
  waiting_.emplace(begin, Held{end, {octets.begin(), octets.end()}, chunk.segment});
}

void TcpReassembly::drain(StreamReceiver& receiver) {
  while (!waiting_.empty() && waiting_.begin()->first <= next_) {
    const auto held = waiting_.extract(waiting_.begin());
    const Held& piece = held.mapped();
    held_ -= piece.octets.size() + bookkeeping;
    if (piece.end <= next_) continue;
    const Chunk whole{held.key(), piece.end - held.key(), piece.octets, piece.segment};
    deliver(cut(whole, next_, piece.end), receiver);
  }
}

void TcpReassembly::give_up_until(std::uint64_t offset, bool for_want_of_room,
                                  const SegmentFacts& by, StreamReceiver& receiver) {
  const std::uint64_t begin = next_;
  next_ = offset;
  receiver.hole(begin, offset - begin, for_want_of_room, by);
  drain(receiver);
}

bool TcpReassembly::lacks(std::uint32_t number) const {
  if (!started_ && !announced_) return false;
  std::int64_t missing = started_ ? offset_of(number) - static_cast<std::int64_t>(next_)
                                  : static_cast<std::int32_t>(number - *announced_);
  // A FIN takes a sequence number, too, and may not have been captured.
  if (waiting_.empty()) --missing;
  return missing > 0 && static_cast<std::uint64_t>(missing) <= largest_window;
}

bool TcpReassembly::continued_by(const capture::Segment& segment) const {
  if (!started_)
    return announced_.value_or(segment.sequence) - segment.sequence < segment.payload_length;
  const std::int64_t begin = offset_of(segment.sequence);
  const auto next = static_cast<std::int64_t>(next_);
  return begin >= 0 && begin <= next &&
         static_cast<std::size_t>(next - begin) < segment.payload_length;
}

void TcpReassembly::acknowledged(std::uint32_t number, std::uint32_t frame, std::uint64_t time,
                                 StreamReceiver& receiver) {
  if (!started_) return;
  settle(time, receiver);
  const std::int64_t offset = offset_of(number);
  const auto next = static_cast<std::int64_t>(next_);
  if (offset <= next || static_cast<std::uint64_t>(offset - next) > largest_window) return;
  std::uint64_t until = static_cast<std::uint64_t>(offset);
  if (fin_) until = std::min(until, *fin_);
  const Acknowledgement it{until, frame, time};
  if (time == 0) return give_up_acknowledged(it, receiver);
  if (!acknowledgements_.empty() && until <= acknowledgements_.back().until) return;
  if (acknowledgements_.size() == acknowledgements_kept)
    acknowledgements_.back() = it;
  else
    acknowledgements_.push_back(it);
}

void TcpReassembly::settle_acknowledged(std::uint64_t time, StreamReceiver& receiver) {
  while (!acknowledgements_.empty()) {
    const Acknowledgement it = acknowledgements_.front();
    if (it.until > next_ && (time < it.time || time - it.time <= capture_disorder)) return;
    acknowledgements_.erase(acknowledgements_.begin());
    give_up_acknowledged(it, receiver);
  }
}

void TcpReassembly::give_up_acknowledged(const Acknowledgement& it, StreamReceiver& receiver) {
  const std::uint64_t until = it.until;
  while (next_ < until) {
    const SegmentFacts by{next_, next_, it.frame, it.time};
    const std::uint64_t waiting =
        waiting_.empty() ? std::numeric_limits<std::uint64_t>::max() : waiting_.begin()->first;
    // One octet more may be a FIN that is missing from the capture.
    if (waiting_.empty() && until - next_ == 1) return;
    give_up_until(std::min(waiting, until), false, by, receiver);
  }
  report_end(receiver);
}

void TcpReassembly::finish(StreamReceiver& receiver) {
  settle(std::numeric_limits<std::uint64_t>::max(), receiver);
  while (!waiting_.empty() && !drop_out_of_window(receiver))
    give_up_until(waiting_.begin()->first, false, waiting_.begin()->second.segment, receiver);
  report_end(receiver);
}

void TcpReassembly::report_end(StreamReceiver& receiver) {
  if (fin_reported_ || !fin_ || next_ < *fin_) return;
  fin_reported_ = true;
  receiver.ended(Ending::fin, *fin_, fin_segment_);
}

void TcpReassembly::remember(const Chunk& chunk) {
  if (chunk.octets.size() < chunk.length) return;
  Print& print = prints_[next_print_++ % prints_.size()];
  print = {chunk.offset, chunk.offset + chunk.length, {}, {}};
  if (chunk.stays)
    print.octets = chunk.octets;
  else
    print.checksum = checksum_of(chunk.octets);
}

void TcpReassembly::compare_with_prints(const Chunk& chunk, StreamReceiver& receiver) const {
  const std::uint64_t captured = chunk.offset + chunk.octets.size();
  for (const Print& print : prints_) {
    if (print.begin == print.end || print.begin < chunk.offset || print.end > captured) continue;
    const Bytes again = part(chunk.octets, chunk.offset, print.begin, print.end);
    const bool repeated =
        print.octets.empty() ? checksum_of(again) == print.checksum : same(again, print.octets);
    if (!repeated) receiver.differs(print.begin, print.end - print.begin, chunk.segment);
  }
}

}  // namespace dissectors::analyzer
