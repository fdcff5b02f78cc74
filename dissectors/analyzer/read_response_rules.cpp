// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whether a Read Response fits the Request that it answers: order, STag, TO and length (RFC 5040
// sections 4.4 and 5.2).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dissectors/analyzer/rdmap_rules.hpp"

namespace dissectors::analyzer {

namespace wire = rnic::wire;

namespace {

namespace check {
#define ANALYZER_CHECK(name, ...) ANALYZER_STATEMENT(rdmap, name, __VA_ARGS__)
#include "dissectors/analyzer/rdmap_rules.def"
#undef ANALYZER_CHECK
}  // namespace check

}  // namespace

RdmapRules::Answer RdmapRules::read_response(const Incoming& incoming, const MessageStep& step) {
  Response& response = responses_[index_of(incoming.direction())];
  const wire::TaggedHeader& header = incoming.segment.tagged_header;
  if (step.first) {
    const bool goes_on =
        response.ended_short && header.stag.value() == response.request.sink_stag &&
        header.tagged_offset.value() == response.next && incoming.payload_length > 0;
    if (goes_on) {
      findings_.raise(
          check::response_last_early, response.place, response.certainty,
          fmt::format("L set after {} octets of {}", response.octets, response.request.length),
          "L clear on all segments but the last");
      response.ended_short = false;
      response.active = true;
    } else {
      settle_short(response);
      response = Response{};
      response.active = step.known;
      response.lowest = header.tagged_offset.value();
      if (step.known) response.matched = match(incoming, response);
    }
  }
  if (!response.active || !response.matched) return {};
  account(incoming, step, response);
  return answer_to(response.request, incoming);
}

bool RdmapRules::match(const Incoming& incoming, Response& response) {
  const Direction requester = opposite(incoming.direction());
  OutstandingRequests& waiting = requests(requester);
  if (doubt(requester)) return match_in_doubt(incoming, response);
  const Direction direction = incoming.direction();
  findings_.judged(direction, check::response_unsolicited);
  if (answered_[index_of(requester)]) findings_.judged(direction, check::response_repeated);
  std::size_t first_read = 0;
  while (first_read < std::min(waiting.size(), search_depth) && waiting.at(first_read).atomic)
    ++first_read;
  if (first_read < waiting.size() && !waiting.at(first_read).atomic) {
    if (first_read > 0) atomics_.read_before_atomic(incoming);
    return match_front(incoming, response);
  }
  const wire::TaggedHeader& header = incoming.segment.tagged_header;
  const auto& last = answered_[index_of(requester)];
  Unsolicited early;
  early.repeated = last && header.stag.value() == last->sink_stag &&
                   header.tagged_offset.value() == last->sink_offset;
  early.stag = header.stag.value();
  early.offset = header.tagged_offset.value();
  unsolicited(incoming, std::move(early));
  return false;
}

/// After a hole: the last Request that fits; those before it are answered as well. The doubt is over
/// if it is the only one that fits.
bool RdmapRules::match_in_doubt(const Incoming& incoming, Response& response) {
  const Direction requester = opposite(incoming.direction());
  OutstandingRequests& waiting = requests(requester);
  const wire::TaggedHeader& header = incoming.segment.tagged_header;
  std::size_t fitting = 0, after_last = 0;
  for (std::size_t i = 0; i < std::min(waiting.size(), search_depth); ++i) {
    const OutstandingRequest& request = waiting.at(i);
    if (request.atomic || request.sink_stag != header.stag.value() ||
        request.sink_offset != header.tagged_offset.value() ||
        incoming.payload_length > request.length)
      continue;
    ++fitting;
    after_last = i + 1;
  }
  if (fitting == 0) return false;
  response.request = waiting.at(after_last - 1);
  for (std::size_t gone = 0; gone < after_last; ++gone) waiting.erase(0);
  if (fitting == 1 && response.request.fresh) doubt(requester) = false;
  return true;
}

bool RdmapRules::match_front(const Incoming& incoming, Response& response) {
  const Direction requester = opposite(incoming.direction());
  OutstandingRequests& waiting = requests(requester);
  const std::uint32_t stag = incoming.segment.tagged_header.stag.value();
  const std::uint64_t offset = incoming.segment.tagged_header.tagged_offset.value();
  const bool empty = incoming.payload_length == 0;
  const auto within = [&](const OutstandingRequest& it) {
    return offset - it.sink_offset < std::max<std::uint64_t>(it.length, 1);
  };
  std::size_t chosen = 0;
  while (waiting.at(chosen).atomic) ++chosen;
  const OutstandingRequest front = waiting.at(chosen);
  // STag and TO of a Response without payload may hold anything (RFC 5041 section 5.2).
  const bool fits = (empty && front.length == 0) || (stag == front.sink_stag && within(front));
  const std::size_t end = std::min(waiting.size(), search_depth);
  if (chosen + 1 < end && waiting.at(chosen + 1).atomic)
    atomics_.judged_atomic_after_read(incoming);
  else if (chosen + 1 < end)
    findings_.judged(incoming.direction(), check::response_order);
  for (std::size_t i = chosen + 1; !fits && !empty && i < end; ++i) {
    const OutstandingRequest& later = waiting.at(i);
    if (later.atomic || later.sink_stag != stag || later.sink_offset != offset) continue;
    findings_.raise(check::response_order, incoming,
                    fmt::format("first the Response to the Read Request of frame {}", front.frame));
    response.request = later;
    waiting.erase(i);
    return true;
  }
  const auto& last = answered_[index_of(requester)];
  if (!fits && !empty && last && stag == last->sink_stag && offset == last->sink_offset) {
    findings_.raise(check::response_repeated, incoming, "one Response to a Read Request");
    ++surplus_[index_of(requester)];
    return false;
  }
  if (!empty) findings_.judged(incoming.direction(), check::response_stag, check::response_offset);
  response.request = front;
  waiting.erase(chosen);
  if (empty || fits) return true;
  if (stag != front.sink_stag)
    findings_.raise(check::response_stag, incoming, fmt::format("STag {:#010x}", front.sink_stag));
  if (!within(front)) {
    findings_.raise(check::response_offset, incoming, fmt::format("TO {:#x}", front.sink_offset));
    response.offset_reported = true;
  }
  return true;
}

void RdmapRules::account(const Incoming& incoming, const MessageStep& step, Response& response) {
  const std::uint64_t offset = incoming.segment.tagged_header.tagged_offset.value();
  if (incoming.payload_length > 0) response.lowest = std::min(response.lowest, offset);
  response.octets += incoming.payload_length;
  response.next = offset + incoming.payload_length;
  response.place = incoming.fpdu.place;
  response.certainty = incoming.fpdu.certainty;
  const std::uint32_t length = response.request.length;
  if (response.octets > length && !std::exchange(response.length_reported, true))
    findings_.raise(check::response_length, incoming,
                    fmt::format("{} octets, as the Request asked", length));
  if (!step.last) return;
  response.active = false;
  findings_.judged(incoming.direction(), check::response_length);
  if (response.octets > incoming.payload_length)
    findings_.judged(incoming.direction(), check::response_last_early);
  if (response.octets > 0 && response.lowest != response.request.sink_offset &&
      !response.offset_reported)
    findings_.raise(check::response_offset, incoming,
                    fmt::format("TO {:#x}", response.request.sink_offset));
  response.ended_short = response.octets < length;
  answered_[index_of(opposite(incoming.direction()))] = response.request;
}

/// No segment continued it: the Response was too short.
void RdmapRules::settle_short(Response& response) {
  if (!std::exchange(response.ended_short, false)) return;
  findings_.raise(check::response_length, response.place, response.certainty,
                  fmt::format("{} octets", response.octets),
                  fmt::format("{} octets, as the Request asked", response.request.length));
}

}  // namespace dissectors::analyzer
