// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Expectations of what the IUT's API shows, of memory, and of what the partner has carried out.
#include "suite/cases/framework/body.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reference_rnic/wire/notation.hpp"
#include "suite/cases/framework/broken_rule.hpp"

namespace suite::cases {

namespace {

constexpr std::uint32_t probe_sink_stag = 0x50524F42;
constexpr std::uint64_t probe_sink_offset = 0x1000;
constexpr std::size_t probe_length = 8;

/// The first place where two contents differ, for people.
std::string difference(const Octets& wanted, const Octets& seen) {
  const auto [a, b] = std::ranges::mismatch(wanted, seen);
  if (a == wanted.end() || b == seen.end())
    return wanted.size() == seen.size()
               ? "as wanted"
               : fmt::format("has {} octets in place of {}", seen.size(), wanted.size());
  const auto at = static_cast<std::size_t>(a - wanted.begin());
  return fmt::format("differs from octet {} on: {} in place of {}", at,
                     rnic::wire::hex(rnic::wire::Bytes(seen).subspan(at), 16),
                     rnic::wire::hex(rnic::wire::Bytes(wanted).subspan(at), 16));
}

}  // namespace

iut::CompletionEvent Body::expect(const Work& work, const ExpectedCompletion& expected,
                                  RuleRef rule) {
  const auto event = iut.take(completion_of(work).matches, deadline());
  if (!event) fail(rule, expected.text(), "no completion; " + iut.untaken());
  const auto& completion = std::get<iut::CompletionEvent>(*event);
  if (!expected.matches(completion) && !partner_) {
    // A Terminate of the IUT may say why.
    Arrival came = peer.raw().next(context_.loop.now() + environment_.quiet_window);
    rule = rule_broken_by(came, rule);
    if (came.as<Nothing>() == nullptr) peer.raw().put_back(std::move(came));
  }
  expect_that(expected.matches(completion), expected.text(), describe(*event), rule);
  return completion;
}

void Body::expect_refused_or(const Attempt& attempt, const ExpectedCompletion& expected,
                             RuleRef rule) {
  const bool refused = !attempt.taken();
  const auto event =
      refused ? std::nullopt : iut.take(completion_of(attempt.work).matches, context_.deadline);
  const bool right = event && expected.matches(std::get<iut::CompletionEvent>(*event));
  record(rule, {"refused", expected.text()},
         refused ? "refused: " + attempt.reply.error
         : event ? describe(*event)
                 : "no completion; " + iut.untaken(),
         {}, refused || right ? Judgement::pass : Judgement::fail, Direction::none);
}

void Body::expect_in_order(const std::vector<Work>& works, RuleRef rule) {
  const auto is_one = [&](const iut::Event& event) {
    const auto* found = std::get_if<iut::CompletionEvent>(&event);
    return found != nullptr && std::ranges::find(works, found->work, &Work::id) != works.end();
  };
  for (const Work& work : works) {
    const auto event = iut.take(is_one, deadline());
    const bool right = event && std::get<iut::CompletionEvent>(*event).work == work.id &&
                       success_of(work).matches(*event);
    record(rule, {success_of(work).text},
           event ? describe(*event) : "no completion; " + iut.untaken(), {},
           right ? Judgement::pass : Judgement::fail, Direction::none);
  }
}

iut::Event Body::expect(Consumer& of, const ExpectedEvent& expected, RuleRef rule) {
  const auto either = [&](const iut::Event& event) {
    return expected.matches(event) || (expected.tolerated && expected.tolerated(event));
  };
  auto event = of.take(either, deadline());
  if (!event) fail(rule, expected.text, of.untaken());
  Judgement judgement = Judgement::pass;
  if (!expected.matches(*event)) {
    // The wanted event may still arrive.
    const auto better = of.take(expected.matches, context_.loop.now() + environment_.quiet_window);
    if (better) event = better;
    if (!better) judgement = Judgement::advisory;
  }
  record(rule, {expected.text}, describe(*event), {}, judgement, Direction::none);
  return *event;
}

void Body::expect_none(const ExpectedEvent& unwanted, RuleRef rule) {
  const bool can = can_ask();
  if (can) settle(rule);
  const auto until =
      context_.loop.now() + (can ? std::chrono::nanoseconds{} : environment_.quiet_window);
  const auto event = iut.take(unwanted.matches, until);
  record(rule, {"no event such as " + unwanted.text}, event ? describe(*event) : "none", {},
         event ? Judgement::fail : Judgement::pass, Direction::none);
}

void Body::expect(const Region& region, const ExpectedContents& expected, RuleRef rule) {
  if (can_ask()) {
    settle(rule);
  } else if (peer.raw().is_open() && peer.raw().within_message()) {
    watch();
  }
  const Octets wanted = expected.wanted(region), seen = iut.read_memory(region);
  record(rule, {expected.text},
         wanted == seen ? expected.text : "memory " + difference(wanted, seen), {},
         wanted == seen ? Judgement::pass : Judgement::fail, Direction::none);
}

// ---------------------------------------------------------------- the partner

rnic::stream::WorkDone Body::expect_done(StreamPeer& partner, std::uint64_t work, RuleRef rule) {
  const auto end = partner.done(work);
  const bool right = end && end->status == rnic::stream::WorkStatus::success;
  const std::string why = partner.trouble().empty() ? "" : "; " + partner.trouble();
  if (!right) {
    iut.poll();
    // What the IUT has begun to send and not ended is judged first.
    partner.skip_arrivals();
    static_cast<void>(partner.next(context_.loop.now()));
  }
  record(rule, {fmt::format("the tester's work {} carried out", work)},
         end ? fmt::format("{}{}", rnic::stream::name(end->status), why) : "no end of it" + why, {},
         right ? Judgement::pass : Judgement::fail, Direction::from_iut);
  return *end;
}

StreamPeer::Received Body::expect_received(StreamPeer& partner, const Octets& data, RuleRef rule) {
  auto message = partner.received();
  if (!message) iut.poll();
  const bool right = message && message->octets == data;
  record(rule, {"a message of " + digest(data)},
         !message ? "no message; " + partner.trouble()
         : right  ? "a message of " + digest(message->octets)
                  : "a message of " + digest(message->octets) + ", which " +
                       difference(data, message->octets),
         {}, right ? Judgement::pass : Judgement::fail, Direction::from_iut);
  return *message;
}

void Body::expect_buffer(const TesterBuffer& buffer, const Octets& wanted, RuleRef rule) {
  const bool right = buffer.octets == wanted;
  record(rule, {"the tester's buffer holds " + digest(wanted)},
         right ? digest(wanted)
               : digest(buffer.octets) + ", which " + difference(wanted, buffer.octets),
         {}, right ? Judgement::pass : Judgement::fail, Direction::from_iut);
}

// ---------------------------------------------------------------- the probe

void Body::expect_still_working(RuleRef rule) { settle(rule); }

/// A Read is answered only after everything that arrived before it was processed (RFC 5040 section
/// 5.5).
void Body::settle(const RuleRef& rule) {
  if (environment_.controls.read) return settle_by_send(rule);
  if (!probe_) {
    probe_ = iut.register_memory(probe_length, access::remote_read);
    iut.write_memory(*probe_, payload(probe_length, 0x51));
  }
  if (partner_) return settle_with_partner(rule);
  peer.send(read_request({.sink_stag = probe_sink_stag,
                          .sink_offset = probe_sink_offset,
                          .length = probe_length,
                          .source_stag = probe_->stag,
                          .source_offset = probe_->base}));
  expect(
      peer,
      tagged_message(Opcode::read_response, probe_sink_stag, probe_sink_offset, probe_->contents),
      rule);
}

/// A Send is also delivered only after everything that arrived before it. It uses the first
/// Receive, so the case must have none of its own.
void Body::settle_by_send(const RuleRef& rule) {
  if (iut.has_posted_receives() || partner_)
    stop(
        Verdict::inconclusive,
        "the IUT answers no lone RDMA Read, by which the case would see that what it sent has been "
        "taken: " +
            environment_.controls.read->reason);
  const Work receive = iut.post_probe(probe_length);
  peer.send(send_message(payload(probe_length, 0x51)));
  expect(receive, completes().with_length(probe_length), rule);
}

void Body::settle_with_partner(const RuleRef& rule) {
  const TesterBuffer& sink = partner_->add_buffer(Octets(probe_length));
  expect_done(*partner_, partner_->read(sink, probe_length, probe_->stag, probe_->base), rule);
  expect_buffer(sink, probe_->contents, rule);
}

}  // namespace suite::cases
