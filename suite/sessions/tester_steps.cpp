// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The tester's steps: messages, right or wrong in one way, and endings.
#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>

#include "suite/lower_tester/content.hpp"
#include "suite/sessions/fpdu_faults.hpp"
#include "suite/sessions/play.hpp"

namespace suite::sessions {

namespace {

using lower_tester::Fpdu;
using model::Region;
using rnic::wire::Opcode;

/// An STag that the peer may know, and what it opens or has opened.
struct Target {
  std::uint32_t stag = 0;
  std::uint64_t base = 0, length = 0;
  iut::Access access;
  iut::Handle domain = 0;
  std::optional<std::size_t> stream;
  bool valid = false;
  /// It may not be invalidated: work or a window needs it.
  bool is_needed = false;
};

std::vector<Target> targets_of(const Play& play) {
  const model::Memory& memory = play.known().memory;
  std::vector<Target> targets;
  for (const Region& each : memory.regions)
    targets.push_back(
        {each.stag, each.base, each.length(), each.access, each.domain, std::nullopt, each.valid,
         is_for_work(each) || memory.has_windows(each.handle) || play.awaits(each.stag)});
  for (const model::Window& each : memory.windows)
    if (each.length > 0)
      targets.push_back({each.stag, each.base, each.length, each.access, each.domain, each.stream,
                         each.bound, play.awaits(each.stag)});
  return targets;
}

class TesterStep {
 public:
  TesterStep(Play& play, std::size_t stream, const Step& step)
      : play_(play), stream_(stream), step_(step), line_(*play.lines()[stream]) {}

  void send_message() {
    auto message = compose();
    if (!message) return;
    std::vector<Fpdu> fpdus = line_.peer.prepare(with_fault(*message));
    // An IUT that closes may give up at each of them, and one that knows version 1 alone refuse each.
    const bool may_end = line_.disconnecting || step_.wrong == Wrong::rdmap_version_zero;
    if (may_end && fpdus.size() > most_that_may_end) return;
    // Many segments have too many orders to follow.
    if (fpdus.size() > most_at_once) play_.settle_before(fpdus.size());
    count_request();
    // Where the Markers are depends on all octets before them.
    if (!step_.packed || line_.peer.sending().markers) play_.send_packed(stream_);
    if (play_.is_stopped()) return;
    auto sent = disturb(fpdus, step_, line_.peer.sending());
    // A length that leaves no room for a header may be refused as soon as it is there.
    if (step_.rest != 0 && step_.wrong != Wrong::cut_short)
      return send_in_two_goes(std::move(fpdus), std::move(sent));
    if (step_.packed) {
      std::ranges::move(fpdus, std::back_inserter(line_.packed));
      std::ranges::move(sent, std::back_inserter(line_.packed_segments));
      return;
    }
    for (model::SentSegment& segment : sent) play_.model().sent(stream_, std::move(segment));
    line_.peer.send(fpdus, step_.cut == 0 || fpdus.front().ulpdu.size() > most_cut
                               ? lower_tester::Cut::whole()
                               : lower_tester::Cut::every(step_.cut));
  }

 private:
  /// Much data in small TCP segments takes too long.
  static constexpr std::size_t most_cut = 2000;
  static constexpr std::size_t most_at_once = 3;
  static constexpr std::size_t most_that_may_end = 16;

  /// What settles before the end of a Request leaves does not answer it.
  void count_request() {
    const bool asks = step_.action == Action::peer_read || step_.action == Action::peer_atomic;
    if (asks) line_.reads_under_way = std::max(line_.reads_under_way, 1U);
  }

  void send_in_two_goes(std::vector<Fpdu> fpdus, std::vector<model::SentSegment> sent) {
    play_.send_packed(stream_);
    const Fpdu last = std::move(fpdus.back());
    fpdus.pop_back();
    for (std::size_t i = 0; i < fpdus.size(); ++i) play_.model().sent(stream_, std::move(sent[i]));
    if (!fpdus.empty()) line_.peer.send(fpdus);
    const Octets octets = lower_tester::encode(last, line_.peer.sending());
    const std::size_t first = octets.size() - std::min<std::size_t>(step_.rest, octets.size());
    if (first > 0) {
      play_.model().sent(stream_, model::SentPart{last.ulpdu});
      line_.peer.means_to_send(last.ulpdu);
      line_.peer.send_octets(rnic::wire::Bytes(octets).first(first));
    }
    play_.settle();
    count_request();
    if (play_.is_stopped() || !line_.can_send()) return;
    play_.model().sent(stream_, std::move(sent.back()));
    if (first == 0) return line_.peer.send(last);
    line_.peer.send_octets(rnic::wire::Bytes(octets).subspan(first));
  }

  [[nodiscard]] Octets payload(std::uint64_t length) const {
    return lower_tester::PayloadGenerator(step_.value).octets(length);
  }
  /// The STag that the step selects among the suitable ones.
  [[nodiscard]] std::optional<Target> pick(const std::function<bool(const Target&)>& suits) const {
    std::vector<Target> list;
    for (const Target& each : targets_of(play_))
      if (suits(each)) list.push_back(each);
    if (list.empty()) return std::nullopt;
    return list[step_.object % list.size()];
  }
  [[nodiscard]] bool is_ours(const Target& target) const {
    return target.valid && !is_foreign(target);
  }
  [[nodiscard]] bool is_foreign(const Target& target) const {
    return target.domain != line_.domain || target.stream.value_or(stream_) != stream_;
  }

  std::optional<Outgoing> compose() {
    switch (step_.action) {
      case Action::peer_send:
        return compose_send();
      case Action::peer_write:
        return compose_write();
      case Action::peer_read:
        return compose_read();
      case Action::peer_answer:
        return compose_answer();
      case Action::peer_atomic:
        return compose_atomic();
      case Action::peer_immediate:
        return compose_immediate();
      case Action::peer_terminate:
        return compose_terminate();
      default:
        return std::nullopt;
    }
  }

  std::optional<Outgoing> compose_send() {
    auto& receives = play_.receives_of(line_);
    if (receives.empty() != (step_.wrong == Wrong::no_buffer)) return std::nullopt;
    std::uint64_t length = step_.length;
    if (!receives.empty()) {
      const std::uint64_t room = receives.front();
      length = step_.wrong == Wrong::too_long ? room + 1 + step_.value % 7 : std::min(length, room);
      taken_ = room;
      if (step_.wrong == Wrong::gap) length = std::min(length, longest_with_gap);
      receives.pop_front();
    }
    Outgoing message = lower_tester::send_message(payload(length));
    if (step_.invalidate) {
      const auto stag = stag_to_invalidate();
      if (!stag) return message;
      message.ulp_word = *stag;
      message.opcode =
          step_.solicited ? Opcode::send_solicited_invalidate : Opcode::send_invalidate;
    } else if (step_.solicited) {
      message.opcode = Opcode::send_solicited;
    }
    return message;
  }

  [[nodiscard]] std::optional<std::uint32_t> stag_to_invalidate() const {
    if (step_.wrong == Wrong::stag) return another_stag(a_stag().value_or(0));
    const auto target = pick([&](const Target& each) {
      if (each.is_needed) return false;
      if (step_.wrong == Wrong::revoked_stag) return !each.valid;
      if (step_.wrong == Wrong::foreign_stag) return each.valid && is_foreign(each);
      return is_ours(each);
    });
    if (!target) return std::nullopt;
    return target->stag ^ (step_.wrong == Wrong::stag_key ? 1U << (step_.value % 8) : 0);
  }

  /// Any, or one whose index differs in a bit (RFC 5040 section 7.2 leaves the lowest octet to the consumer).
  [[nodiscard]] std::uint32_t another_stag(std::uint32_t stag) const {
    constexpr std::uint32_t key_bits = 8, index_bits = 24;
    if (step_.value % 2 == 0) return static_cast<std::uint32_t>(step_.value >> key_bits);
    return stag ^ 1U << (key_bits + (step_.value >> 1) % index_bits);
  }

  struct Range {
    std::uint32_t stag;
    std::uint64_t offset, length;
  };
  /// A range that may be used so, or one that breaks the rule that the step wants broken.
  [[nodiscard]] std::optional<Range> range(bool iut::Access::* right, std::uint64_t wanted) const {
    const auto region = pick([&](const Target& each) {
      switch (step_.wrong) {
        case Wrong::revoked_stag:
          return !each.valid;
        case Wrong::foreign_stag:
          return each.valid && is_foreign(each) && each.access.*right;
        case Wrong::no_right:
          return is_ours(each) && !(each.access.*right);
        default:
          return is_ours(each) && each.access.*right;
      }
    });
    if (!region) return std::nullopt;
    std::uint64_t length = std::min(wanted, region->length);
    // An empty access needs no right (RFC 5040 section 5.2, RFC 5041 section 5.2).
    if (step_.wrong == Wrong::no_right && step_.value % 4 == 0) length = 0;
    std::uint64_t offset = region->base + step_.offset % (region->length - length + 1);
    const bool out_of_range =
        step_.wrong == Wrong::before_start || step_.wrong == Wrong::beyond_end;
    if (out_of_range) length = std::max<std::uint64_t>(length, 1);
    // One octet too far is as frequent as more.
    const std::uint64_t far = step_.value % 2 == 0 ? 0 : step_.value % 8;
    if (step_.wrong == Wrong::before_start) offset = region->base - 1 - far;
    if (step_.wrong == Wrong::beyond_end) offset = region->base + region->length - length + 1 + far;
    if (step_.wrong == Wrong::wrap) {
      length = std::max<std::uint64_t>(length, far + 2);
      offset = ~std::uint64_t{0} - far;
    }
    std::uint32_t stag = region->stag;
    if (step_.wrong == Wrong::stag) stag = another_stag(stag);
    if (step_.wrong == Wrong::stag_key) stag ^= 1U << (step_.value % 8);
    return Range{stag, offset, length};
  }

  [[nodiscard]] std::optional<Outgoing> compose_write() const {
    const auto to = range(&iut::Access::remote_write, step_.length);
    if (!to) return std::nullopt;
    return lower_tester::rdma_write(to->stag, to->offset, payload(to->length));
  }

  std::optional<Outgoing> compose_read() {
    const auto from = range(&iut::Access::remote_read, step_.length);
    const std::uint32_t ird = play_.known().streams[stream_].terms.depths.ird;
    if (!from || line_.reads_under_way >= ird) return std::nullopt;
    ++line_.reads_under_way;
    return with_wrong_length(
        lower_tester::read_request({.sink_stag = static_cast<std::uint32_t>(step_.value),
                                    .sink_offset = step_.value ^ step_.offset,
                                    .length = static_cast<std::uint32_t>(from->length),
                                    .source_stag = from->stag,
                                    .source_offset = from->offset}));
  }

  /// On a word of the region, unless the step says that it is wrong.
  std::optional<Outgoing> compose_atomic() {
    constexpr std::uint64_t word = 8;
    if (!play_.can(iut::capability::atomics)) return std::nullopt;
    auto to = range(&iut::Access::remote_atomic, word);
    const std::uint32_t ird = play_.known().streams[stream_].terms.depths.ird;
    if (!to || to->length < word || line_.reads_under_way >= ird) return std::nullopt;
    ++line_.reads_under_way;
    to->offset = to->offset / word * word;
    if (step_.wrong == Wrong::beyond_end) to->offset += word;
    if (step_.wrong == Wrong::unaligned) to->offset += 1 + step_.value % (word - 1);
    lower_tester::AtomicRequestFields request = operands(*to);
    if (step_.wrong == Wrong::atomic_operation)
      request.operation =
          step_.value % 2 == 0 ? 1 : 3 + static_cast<std::uint32_t>(step_.value % 13);
    if (step_.wrong == Wrong::request_reserved)
      request.operation |= static_cast<std::uint32_t>(step_.value | 1) << 4;
    return with_wrong_length(lower_tester::atomic_request(request));
  }

  [[nodiscard]] AtomicRequestFields operands(const Range& to) const {
    constexpr std::uint32_t compare_swap = 2;
    AtomicRequestFields request;
    request.operation = step_.value % 2 == 0 ? 0 : compare_swap;
    request.request_id = static_cast<std::uint32_t>(step_.value >> 20);
    request.stag = to.stag;
    request.offset = to.offset;
    request.add_or_swap = step_.value * 0x9E3779B97F4A7C15;
    if (step_.value % 3 == 0) request.add_or_swap_mask = step_.value >> 5;
    if (request.operation == 0 && step_.value % 3 != 0) request.add_or_swap_mask = 0;
    const bool uses_compare = request.operation == compare_swap;
    if (uses_compare || step_.wrong == Wrong::unused_operands) {
      request.compare = step_.value % 5 < 3 ? word_at(to) : ~step_.value;
      if (step_.value % 4 == 1 || !uses_compare) request.compare_mask = step_.value >> 9;
      // Equal where the mask is set, and nowhere else.
      if (step_.value % 4 == 1 && uses_compare) request.compare ^= ~request.compare_mask;
    }
    return request;
  }
  /// What an IUT with this machine's byte order finds there; any guess will do.
  [[nodiscard]] std::uint64_t word_at(const Range& to) const {
    std::uint64_t word = 0;
    for (const Region& region : play_.known().memory.regions) {
      if (region.stag != to.stag || to.offset < region.base) continue;
      const std::uint64_t at = to.offset - region.base;
      if (at + sizeof word <= region.length())
        std::memcpy(&word, region.contents.part(at, sizeof word).data(), sizeof word);
    }
    return word;
  }

  std::optional<Outgoing> compose_immediate() {
    constexpr std::size_t eight = 8;
    if (!play_.can(iut::capability::immediate)) return std::nullopt;
    auto& receives = play_.receives_of(line_);
    if (receives.empty() != (step_.wrong == Wrong::no_buffer)) return std::nullopt;
    if (!receives.empty()) receives.pop_front();
    return with_wrong_length(lower_tester::immediate_data(payload(eight), step_.solicited));
  }

  [[nodiscard]] Outgoing with_wrong_length(Outgoing message) const {
    if (step_.wrong != Wrong::wrong_length) return message;
    const std::size_t size = message.payload.size();
    const std::size_t less = step_.value % 3 == 0 ? size : std::min(step_.value % 3, size);
    message.payload.erase(message.payload.end() - static_cast<std::ptrdiff_t>(less),
                          message.payload.end());
    return message;
  }

  /// RFC 5040 section 4.8: of every layer, a local catastrophic error with any code.
  [[nodiscard]] Outgoing compose_terminate() const {
    namespace cause = rnic::wire::cause;
    constexpr std::array causes{cause::rdmap_catastrophic_stream, cause::rdmap_invalid_version,
                                cause::rdmap_base_or_bounds,      cause::rdmap_unexpected_opcode,
                                cause::ddp_tagged_invalid_stag,   cause::ddp_untagged_no_buffer,
                                cause::ddp_local_catastrophic,    cause::mpa_crc,
                                cause::mpa_connection_lost};
    const std::uint64_t value = step_.value >> 4;
    rnic::wire::TerminateCause chosen = causes[value % causes.size()];
    if (value % 4 == 0)
      chosen = {.layer = 0, .type = 0, .code = static_cast<std::uint8_t>(value >> 2)};
    Outgoing message = lower_tester::terminate_message(chosen);
    constexpr std::size_t flags = offsetof(rnic::wire::TerminateControl, header_control);
    if (step_.wrong == Wrong::request_reserved)  // the low bits of the octet with M, D and R
      message.payload[flags] |= std::byte{0x1F} >> value % 5;
    // It announces a header that is not there.
    if (step_.wrong == Wrong::wrong_length) message.payload[flags] |= std::byte{0x40};
    return message;
  }

  /// A Response without a Request.
  [[nodiscard]] std::optional<Outgoing> compose_unasked() const {
    const auto number = static_cast<std::uint32_t>(step_.value);
    if (step_.value % 2 == 0 && play_.can(iut::capability::atomics))
      return lower_tester::atomic_response(number, step_.value);
    return lower_tester::read_response(number, step_.offset, payload(1 + step_.value % 9));
  }

  std::optional<Outgoing> compose_answer() {
    if (line_.asked.empty())
      return step_.wrong == Wrong::unasked ? compose_unasked() : std::nullopt;
    const auto asked = line_.asked.front();
    line_.asked.pop_front();
    constexpr unsigned bits = 32;
    const std::uint32_t one_bit = step_.wrong == Wrong::stag_key ? 1U << step_.value % bits : 0;
    if (const auto* atomic = std::get_if<AtomicRequestFields>(&asked))
      return with_wrong_length(
          lower_tester::atomic_response(atomic->request_id ^ one_bit, step_.value));
    const auto& request = std::get<ReadRequestFields>(asked);
    constexpr std::uint32_t most = 1U << 20;  // what it posted is shorter
    if (request.length > most) return std::nullopt;
    const std::uint32_t stag = request.sink_stag ^ one_bit;
    std::uint64_t offset = request.sink_offset;
    if (step_.wrong == Wrong::before_start) --offset;
    const bool too_much = step_.wrong == Wrong::beyond_end || step_.wrong == Wrong::too_long;
    return lower_tester::read_response(stag, offset,
                                       payload(request.length + (too_much ? 1U : 0U)));
  }

  /// The message with the fault of the step, if it has that field.
  Outgoing with_fault(Outgoing message) {
    if (step_.segment != 0 && message.payload.size() / step_.segment < most_segments)
      message = message.with_segments_of(step_.segment);
    const std::uint64_t value = step_.value >> 3;
    switch (step_.wrong) {
      case Wrong::ddp_reserved:
        return message.with_ddp_reserved();
      case Wrong::rdmap_reserved:
        return message.with_rdmap_reserved();
      case Wrong::rdmap_version_zero:
        return message.with_rdmap_version(0);
      case Wrong::ddp_version:
        return message.with_ddp_version(value % 3 == 0 ? 0
                                                       : static_cast<std::uint8_t>(1 + value % 3));
      case Wrong::rdmap_version:
        return message.with_rdmap_version(static_cast<std::uint8_t>(2 + value % 2));
      case Wrong::opcode:
        return message.with_opcode(
            static_cast<std::uint8_t>(value % 2 == 0 ? value % 8 : 12 + value % 4));
      default:
        return message.tagged ? with_tagged_fault(message, value)
                              : with_untagged_fault(message, value);
    }
  }
  static constexpr std::size_t most_segments = 64;

  /// STag and TO of a Write without octets mean nothing (RFC 5041 section 5.2). Those of a Read Response may be
  /// compared with the Request (RFC 5040 section 5.2.2).
  [[nodiscard]] Outgoing with_tagged_fault(const Outgoing& message, std::uint64_t value) const {
    const bool is_free = step_.action == Action::peer_write && message.payload.empty();
    if (step_.wrong != Wrong::unused_stag || !is_free) return message;
    return message.with_tagged([value](std::size_t, rnic::wire::TaggedHeader& header) {
      header.stag = header.stag.value() ^ static_cast<std::uint32_t>(value | 1);
      if (value % 2 == 0) header.tagged_offset = value * 3;
    });
  }

  Outgoing with_untagged_fault(const Outgoing& message, std::uint64_t value) {
    constexpr std::array<std::uint32_t, 9> queues{0, 1, 2, 3, 4, 5, 255, 0x10000, 0xFFFFFFFF};
    constexpr std::array<std::uint32_t, 4> far{0xFFFFFFFF, 1000, 0x80000000, 256};
    switch (step_.wrong) {
      case Wrong::unused_stag:
        return rnic::wire::carries_invalidate(message.opcode)
                   ? message
                   : message.with_ulp_word(
                         a_stag().value_or(static_cast<std::uint32_t>(value) | 1));
      case Wrong::queue:
        return message.with_queue(queues[value % queues.size()]);
      case Wrong::msn:
        return with_msn_off_by(message, far[value % far.size()], value / far.size() % 2 == 0);
      case Wrong::gap:
        return with_gap(message, value);
      case Wrong::message_offset: {
        // Far beyond the buffer, or so far that MO and length together exceed 32 bits.
        const auto beyond = static_cast<std::uint32_t>(value % 2 == 0 ? 70001 + value % 1000
                                                                      : 0U - 1U - (value >> 1) % 8);
        return message.with_untagged([beyond](std::size_t, rnic::wire::UntaggedHeader& header) {
          header.message_offset = header.message_offset.value() + beyond;
        });
      }
      default:
        return message;
    }
  }
  /// In all segments, or in the later ones only.
  [[nodiscard]] Outgoing with_msn_off_by(const Outgoing& message, std::uint32_t distance,
                                         bool later) const {
    const std::size_t size = message.payload.size();
    if (!later || size < 2 || size > longest_with_gap)
      return message.with_msn(line_.peer.next_msn(message.queue_number()) + distance);
    return message.with_segments_of(size - size / 2)
        .with_untagged([=](std::size_t index, rnic::wire::UntaggedHeader& header) {
          if (index > 0)
            header.message_sequence_number = header.message_sequence_number.value() + distance;
        });
  }
  /// Each half fits a segment, whatever the EMSS is (RFC 5044 section 5.1).
  static constexpr std::uint64_t longest_with_gap = 200;
  /// The last of several segments lies later, or earlier, than the end of those before it.
  [[nodiscard]] Outgoing with_gap(const Outgoing& message, std::uint64_t value) const {
    const std::size_t size = message.payload.size();
    if (size < 2) return message;
    const std::size_t first = size - size / 2;
    const auto room = static_cast<std::uint32_t>(taken_ - size);
    return message.with_segments_of(first).with_untagged(
        [=](std::size_t index, rnic::wire::UntaggedHeader& header) {
          if (index == 0) return;
          header.message_offset = room > 0 && value % 2 == 0
                                      ? static_cast<std::uint32_t>(first + 1 + value % room)
                                      : static_cast<std::uint32_t>(value % first);
        });
  }
  [[nodiscard]] std::optional<std::uint32_t> a_stag() const {
    const auto target = pick([&](const Target& each) { return is_ours(each); });
    if (!target) return std::nullopt;
    return target->stag;
  }

  Play& play_;
  std::size_t stream_;
  const Step& step_;
  Line& line_;
  /// Octets of the receive that the message takes.
  std::uint64_t taken_ = 0;
};

}  // namespace

void play_tester_step(Play& play, std::size_t stream, const Step& step) {
  Line& line = *play.lines()[stream];
  if (!line.can_send()) return;
  if (step.action == Action::peer_reset || step.action == Action::peer_close)
    play.send_packed(stream);
  if (step.action == Action::peer_reset) {
    line.closed = true;
    line.peer.reset();
    return play.model().sent(stream, model::SentReset{});
  }
  if (step.action == Action::peer_close) {
    line.closed = true;
    line.peer.half_close();
    return play.model().sent(stream, model::SentFin{});
  }
  // The local work that waits is executed when the answer has come: nothing else comes with it.
  const bool is_awaited =
      step.action == Action::peer_answer && has_local_work(play.known().streams[stream]);
  if (!is_awaited) return TesterStep(play, stream, step).send_message();
  play.settle();
  if (play.is_stopped() || !line.can_send()) return;
  Step alone = step;
  alone.packed = false;
  TesterStep(play, stream, alone).send_message();
  play.settle();
}

}  // namespace suite::sessions
