// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/sessions/soak.hpp"

#include <chrono>

#include "base/simulated_loop.hpp"
#include "reference_rnic/llp/memory_network.hpp"
#include "suite/sessions/drawing.hpp"

namespace suite::sessions {

namespace {

/// Numbers differ from session to session.
std::string shape_of(const Found& found) {
  std::string shape = found.rules.empty() ? "" : found.rules.front();
  shape += '\n';
  for (const char c : found.admissible) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit || shape.back() != '#') shape += digit ? '#' : c;
  }
  return shape;
}

void count(std::map<std::string, FindingGroup>& groups, const Found& found,
           const Session& session) {
  auto [at, is_new] = groups.try_emplace(shape_of(found), FindingGroup{found, session, 0});
  ++at->second.count;
  at->second.rules.insert(found.rules.begin(), found.rules.end());
}

Session session_of(const SoakPlan& plan, std::uint64_t number) {
  const std::uint64_t seed = plan.seed + number;
  if (plan.covering != nullptr && number < plan.covering->size())
    return plan.covering->session(number, seed);
  return draw(seed);
}

}  // namespace

/// One in four over IPv6, by its seed.
base::Family family_of(const Session& session) {
  return session.seed % 4 == 3 ? base::Family::ipv6 : base::Family::ipv4;
}

Played play_in_memory(const Session& session, const MakeIut& make_iut, Keep keep) {
  const auto address = [](const char* text) { return *base::Address::parse(text, 0); };
  base::SimulatedLoop loop;
  rnic::llp::MemoryFabric fabric(loop);
  const auto tester = fabric.add_host(address("192.0.2.1"), address("2001:db8::1"));
  const auto host = fabric.add_host(address("192.0.2.2"), address("2001:db8::2"));
  const auto iut = make_iut(loop, *host);
  return play(session, {.loop = loop,
                        .tester = *tester,
                        .iut = *iut,
                        .iut_address = host->address(family_of(session)),
                        .is_unconfigured = true,
                        .records = keep == Keep::evidence});
}

SoakResult soak(const SoakPlan& plan, const MakeIut& make_iut) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  SoakResult result;
  const auto goes_on = [&] {
    if (plan.is_enough && plan.is_enough(result)) return false;
    if (plan.sessions && result.sessions >= *plan.sessions) return false;
    if (!plan.sessions && !plan.seconds && plan.covering != nullptr)
      return result.sessions < plan.covering->size();
    return !plan.seconds || elapsed() < *plan.seconds;
  };
  while (goes_on()) {
    const Session session = session_of(plan, result.sessions);
    const Played played = play_in_memory(session, make_iut, Keep::findings);
    ++result.sessions;
    result.steps += played.steps;
    if (played.failure() != nullptr) ++result.failed;
    for (const Found& found : played.found)
      count(found.advisory ? result.advisories : result.findings, found, session);
    result.coverage.add(played.coverage);
  }
  result.seconds = elapsed();
  return result;
}

}  // namespace suite::sessions
