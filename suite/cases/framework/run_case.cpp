// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Runs one case: whether it applies, the configuration of the IUT, the body, and all its evidence.
#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "suite/cases/framework/body.hpp"
#include "suite/cases/framework/family.hpp"

namespace suite::cases {

namespace {

/// Those of these kinds of RTR indication that the IUT supports: it does not support a kind that it
/// refuses alone.
std::vector<std::string> supported_kinds(CaseConsumer& iut, std::vector<std::string> kinds) {
  std::erase_if(kinds, [&](const std::string& kind) {
    iut::Configure alone;
    alone.rtr = {kind};
    return iut.configure(alone, "configure rtr " + kind).outcome != iut::Outcome::ok;
  });
  return kinds;
}

/// The IUT has refused the command. Of several things that it asks for, RTR kinds are those that an
/// IUT may have in part.
CaseStop not_configured(const iut::Configure& command, std::string reason) {
  if (!command.rtr) return {Verdict::not_applicable, std::move(reason)};
  return lacking({results::Lack::Kind::not_offered, iut::capability::configure_rtr},
                 std::move(reason));
}

bool is_configurable(const Consumer& iut) {
  return iut.can(iut::capability::configure_revision_1) ||
         iut.can(iut::capability::configure_crc) || iut.can(iut::capability::configure_markers) ||
         iut.can(iut::capability::configure_rtr);
}

void configure(const Case& a_case, Environment& environment, CaseConsumer& iut) {
  if (environment.current_configuration == a_case.configuration) return;
  const Configuration& wanted = a_case.configuration;
  // What cannot be changed is not configured: the case may run with the IUT's own configuration, or
  // why_not_applicable has reported it.
  if (!is_configurable(iut)) {
    environment.current_configuration = wanted;
    return;
  }
  iut::Configure command;
  if (iut.can(iut::capability::configure_revision_1)) command.revision = wanted.revision;
  if (iut.can(iut::capability::configure_crc)) command.crc = wanted.crc;
  if (iut.can(iut::capability::configure_markers)) command.markers = wanted.markers;
  if (iut.can(iut::capability::configure_rtr)) {
    command.peer_to_peer = wanted.peer_to_peer;
    command.rtr = wanted.rtr;
  }
  environment.current_configuration.reset();
  iut::Reply reply = iut.configure(command, "configure " + wanted.text());
  if (reply.outcome != iut::Outcome::ok && command.rtr && wanted.rtr == Configuration{}.rtr) {
    // A case that names no kinds uses those that the IUT supports.
    command.rtr = supported_kinds(iut, wanted.rtr);
    reply = iut.configure(command, "configure what the IUT has of it");
  }
  if (reply.outcome != iut::Outcome::ok)
    throw not_configured(
        command, fmt::format("the IUT cannot be configured ({}): {}", wanted.text(), reply.error));
  environment.current_configuration = wanted;
}

/// The IUT must still do one thing, its clean-up: an agent that has crashed in the case, or crashes
/// because of what the case left, is a finding of this case and not of the next one. What ends at
/// this point is not judged on the wire.
void prove_alive(Context& context, Body& body, std::optional<CaseStop>& end) {
  body.finish_judging();
  context.on_fault = [](const SenderFault&) {};
  context.on_inconclusive = [](const std::string&) {};
  body.close_connections();  // an IUT may wait for its peer before it is clean
  try {
    body.iut.reset();
  } catch (const CaseStop& stop) {
    keep_worse(end, stop);
  }
}

void run_body(const Case& a_case, Environment& environment, Context& context,
              CaseOutcome& outcome) {
  std::optional<CaseStop> end;
  const auto body = a_case.make(a_case, environment, context, outcome);
  context.on_fault = [&body](const SenderFault& fault) { body->note_fault(fault); };
  context.on_inconclusive = [&end](const std::string& why) {
    keep_worse(end, {Verdict::inconclusive, why});
  };
  context.is_abandoned = [&environment] { return environment.iut.is_gone(); };
  try {
    body->iut.reset();
    configure(a_case, environment, body->iut);
    body->start_deadline();
    body->body();
  } catch (const CaseStop& stop) {
    keep_worse(end, body->judged(stop));
    // Later arrivals may show why: a fault of the sender is often complete only then.
    if (end->verdict == Verdict::fail) context.look_on(environment.quiet_window);
  } catch (const std::exception& error) {
    keep_worse(end, {Verdict::error, fmt::format("fault of the harness: {}", error.what())});
  }
  // An agent that gives no reply has had its time; the next case tries again.
  if (!end || end->silence != Silence::no_reply) prove_alive(context, *body, end);
  Ruling ruling = verdict_of("case", end, outcome.rows, outcome.expectations);
  body->heed_controls(ruling);
  auto& [verdict, reason, silence, lack, rule] = ruling;
  outcome.verdict = verdict;
  outcome.reason = std::move(reason);
  outcome.lack = std::move(lack);
  outcome.deciding_rule = std::move(rule);
  const bool good = verdict == Verdict::pass || verdict == Verdict::not_applicable;
  const bool never_met = context.evidence.connect_failed && context.evidence.connections.empty();
  outcome.silence = !silence && !good && never_met ? Silence::no_connection : silence;
}

}  // namespace

CaseOutcome run_case(const Case& listed, Environment& environment) {
  Case a_case = listed;
  a_case.family = family_of(listed, environment);
  CaseOutcome outcome;
  if (auto why = why_not_applicable(a_case, environment)) {
    outcome.verdict = why->verdict;
    outcome.reason = std::move(why->reason);
    outcome.lack = std::move(why->lack);
    return outcome;
  }
  const auto start = environment.loop.now();
  Context context{environment.loop, environment.tester, {}, start, start, {}, {}, {}};
  run_body(a_case, environment, context, outcome);
  outcome.judged_in_frames.assign(context.evidence.judged.begin(), context.evidence.judged.end());
  outcome.exchange = std::move(context.evidence.exchange);
  outcome.connections = std::move(context.evidence.connections);
  outcome.duration = environment.loop.now() - start;
  return outcome;
}

}  // namespace suite::cases
