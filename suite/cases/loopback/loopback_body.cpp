// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/loopback/loopback_body.hpp"

#include <fmt/format.h>

namespace suite::cases {

namespace {

constexpr int default_depth = 4;
constexpr std::uint32_t small = 16;

ExpectedEvent disconnected_at(iut::Handle endpoint) {
  return {fmt::format("endpoint {} disconnected", endpoint), [endpoint](const iut::Event& event) {
            const auto* end = std::get_if<iut::DisconnectedEvent>(&event);
            return end != nullptr && end->endpoint == endpoint;
          }};
}

}  // namespace

// ---------------------------------------------------------------- an end

Work End::receive(std::uint32_t length) const {
  const Region buffer = memory(length, access::local);
  Work work = receive({{buffer.handle, 0, length}});
  work.buffer = buffer;
  return work;
}

Work End::send_and_invalidate(std::uint32_t stag, const Octets& data) const {
  iut::PostWork work;
  work.invalidate_stag = stag;
  return post(operation::send_invalidate, data, work);
}

Work End::write(const Octets& data, const Region& to, std::uint64_t offset) const {
  iut::PostWork work;
  work.remote_stag = to.stag;
  work.remote_offset = to.base + offset;
  return post(operation::write, data, work);
}

Work End::read(std::uint32_t length, const Region& from, std::uint64_t offset) const {
  // On iWARP the sink of a Read is a tagged buffer that the peer writes to.
  const Region sink = memory(length, access::remote_write);
  Work work = post(read_into(sink, from, offset));
  work.buffer = sink;
  return work;
}

iut::PostWork End::read_into(const Region& sink, const Region& from, std::uint64_t offset) const {
  iut::PostWork work;
  work.endpoint = endpoint_;
  work.operation = operation::read;
  work.pieces = {{sink.handle, 0, static_cast<std::uint32_t>(sink.length)}};
  work.remote_stag = from.stag;
  work.remote_offset = from.base + offset;
  return work;
}

Work End::post(const char* operation, const Octets& data, iut::PostWork work) const {
  Region source = memory(data.size(), access::local);
  iut_->write_memory(source, data);
  work.operation = operation;
  work.pieces = {{source.handle, 0, static_cast<std::uint32_t>(data.size())}};
  return post(std::move(work));
}

Work End::post(iut::PostWork work) const {
  work.endpoint = endpoint_;
  return iut_->post(std::move(work));
}

// ---------------------------------------------------------------- the connection

void LoopbackBody::not_connected(const std::string& why) const {
  stop(Verdict::inconclusive, "the IUT could not be connected with itself: " + why);
}

iut::ConnectParameters LoopbackBody::with_depths(iut::ConnectParameters parameters) {
  const auto usual = [&](const char* name) {
    return static_cast<int>(within_limit(iut.limits(), name, default_depth));
  };
  if (!parameters.ird) parameters.ird = usual("max_ird");
  if (!parameters.ord) parameters.ord = usual("max_ord");
  return parameters;
}

iut::ConnectRequestEvent LoopbackBody::request_to_itself(iut::Handle active,
                                                         const iut::ConnectParameters& parameters) {
  const base::Address own = iut_address();
  const iut::Reply reply =
      iut.try_call(iut::Connect{active, own.host(), own.port, with_depths(parameters)},
                   fmt::format("connect endpoint {} to the IUT's own port {}", active, own.port));
  if (reply.outcome != iut::Outcome::ok) not_connected(reply.error);
  const auto request = iut.take<iut::ConnectRequestEvent>(context().deadline);
  if (!request) not_connected("no connection request; " + iut.untaken());
  return *request;
}

void LoopbackBody::await_established(const End& end) {
  const auto up = iut.take(
      [&](const iut::Event& event) {
        const auto* one = std::get_if<iut::EstablishedEvent>(&event);
        return one != nullptr && one->endpoint == end.handle();
      },
      context().deadline);
  if (!up) not_connected("no established event; " + iut.untaken());
}

/// On iWARP the end that has accepted sends nothing before the other one has (RFC 5044 section
/// 7.1.2).
void LoopbackBody::open(const Ends& ends) {
  const Work received = ends.passive.receive(small);
  const Work sent = ends.active.send(octets("open"));
  for (const Work& each : {received, sent})
    if (!iut.take(success_of(each).matches, context().deadline))
      not_connected("its first message does not arrive; " + iut.untaken());
}

Ends LoopbackBody::connect_to_itself(const LoopbackTerms& terms) {
  const Ends ends{{iut, terms.active}, {iut, terms.passive}};
  ended_.erase(ends.active.handle());
  ended_.erase(ends.passive.handle());
  const auto request = request_to_itself(ends.active.handle(), terms.connecting);
  iut.accept(request.request, ends.passive.handle(), with_depths(terms.accepting));
  await_established(ends.active);
  await_established(ends.passive);
  open(ends);
  return ends;
}

std::string LoopbackBody::why_its_reads_show_nothing(std::string_view rule) {
  const auto& failed = environment().controls.loopback_read;
  if (!failed || failed->rule == rule || !context().evidence.reads.by_iut) return {};
  return "no RDMA Read of the IUT from itself succeeds, so what came of one shows nothing: " +
         failed->reason;
}

/// The IUT refuses work because a connection has ended that the case has not ended.
CaseStop LoopbackBody::judged(CaseStop stop) {
  if (stop.verdict != Verdict::error || !stop.refused) return stop;
  iut.poll();
  if (!iut.take<iut::DisconnectedEvent>(context().loop.now())) return stop;
  if (std::string why = why_its_reads_show_nothing({}); !why.empty())
    return {Verdict::inconclusive, std::move(why)};
  return {.verdict = Verdict::fail,
          .reason = "the IUT has ended the connection: " + stop.reason,
          .rule = std::string(rules_of_case().front())};
}

// ---------------------------------------------------------------- steps

void LoopbackBody::from_both_ends(const std::function<void(const End&, const End&)>& what) {
  row("from the end that has connected", [&] {
    const auto [active, passive] = connect_to_itself();
    what(active, passive);
  });
  row("from the end that has accepted", [&] {
    const auto [active, passive] = connect_to_itself();
    what(passive, active);
  });
}

void LoopbackBody::expect_told(const End& from, const End& to, RuleRef rule) {
  const Work receive = to.receive(small);
  const Work sent = from.send(payload(8));
  expect(receive, completes().with_length(8), rule);
  expect(sent, completes(), rule);
}

void LoopbackBody::expect_refused(const End& by, const Region& region, const Region& readable,
                                  RuleRef rule) {
  const auto [reply, read] =
      iut.try_post(by.read_into(by.memory(8, access::remote_write), readable));
  const bool refused = reply.outcome != iut::Outcome::ok;
  // If it was posted after the end, no page says that it completes (docs/disputes.md D72).
  const auto end = disconnected_at(by.handle());
  auto fate =
      refused ? std::nullopt : iut.take((completion_of(read) | end).matches, context().deadline);
  if (fate && end.matches(*fate)) {
    ended_.insert(by.handle());
    iut.poll();
    if (auto late = iut.take(completion_of(read).matches, context().loop.now()))
      fate = std::move(late);
  }
  const bool brought = fate && success_of(read).matches(*fate);
  record(rule, {"refused", completes_in_error().text(), end.text},
         refused ? "refused: " + reply.error
         : fate  ? describe(*fate)
                 : "neither; " + iut.untaken(),
         {}, refused || (fate && !brought) ? Judgement::pass : Judgement::fail, Direction::none);
  expect(region, unchanged, rule);
}

void LoopbackBody::expect_disconnected(const End& end, RuleRef rule) {
  const auto wanted = disconnected_at(end.handle());
  if (ended_.contains(end.handle()))
    expect_that(true, wanted.text, "", rule);
  else
    expect(iut, wanted, rule);
}

void LoopbackBody::end_from(const End& end) {
  static_cast<void>(iut.try_call(iut::Disconnect{end.handle(), false},
                                 fmt::format("disconnect endpoint {}", end.handle())));
}

void LoopbackBody::expect_flushed(const std::vector<Work>& works, RuleRef rule) {
  for (const Work& each : works) expect(each, completes_in_error(), rule);
}

}  // namespace suite::cases
