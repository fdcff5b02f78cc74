// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Every lawful variant of a stream shows in some run, and each of its answers is one that the
// stream has stated as permitted (DecisionChain::decide() asserts it).
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "reference_rnic/deviants/tests/scenarios.hpp"
#include "reference_rnic/lawful/decisions.hpp"
#include "reference_rnic/lawful/offer.hpp"
#include "reference_rnic/lawful/table.hpp"
#include "rules/catalogue.hpp"

namespace rnic::lawful::test {
namespace {

using deviants::test::Scenario;
using Transcripts = std::vector<std::string>;

Transcripts run_all(const std::vector<Scenario>& scenarios, const std::vector<Lawful>& chosen) {
  Transcripts transcripts;
  for (const Scenario& scenario : scenarios)
    transcripts.push_back(scenario.run([&] { return stream_decisions(chosen); }));
  return transcripts;
}

bool is_of_a_stream(Lawful lawful) {
  for (const auto table :
       {startup_variants(), framing_variants(), message_variants(), terminate_variants()})
    if (std::ranges::find(table, lawful, &Row<stream::Decisions>::lawful) != table.end())
      return true;
  return false;
}

BOOST_AUTO_TEST_CASE(every_variant_of_a_stream_shows_and_leaves_something_as_it_was) {
  const auto scenarios = deviants::test::scenarios();
  const Transcripts usual = run_all(scenarios, {});
  for (const LawfulInfo& info : lawful_variants()) {
    if (!is_of_a_stream(info.lawful)) continue;
    const Transcripts varied = run_all(scenarios, {info.lawful});
    std::size_t different = 0;
    for (std::size_t i = 0; i < usual.size(); ++i) different += varied[i] != usual[i] ? 1 : 0;
    BOOST_TEST(different != 0U, info.name << " changes nothing");
    BOOST_TEST(different != usual.size(), info.name << " changes everything");
  }
}

BOOST_AUTO_TEST_CASE(variants_can_be_combined) {
  const auto scenarios = deviants::test::scenarios();
  for (std::size_t i = 0; i < lawful_count; ++i) {
    const std::vector<Lawful> chosen{static_cast<Lawful>(i),
                                     static_cast<Lawful>((i * 5 + 3) % lawful_count),
                                     static_cast<Lawful>((i * 11 + 7) % lawful_count)};
    BOOST_TEST(run_all(scenarios, chosen).size() == scenarios.size());
  }
}

/// What the consumer is offered, as numbers.
auto facts_of(const Offer& offer) {
  return std::tuple(offer.rnic.max_ird, offer.rnic.max_ord, offer.rnic.max_pieces,
                    offer.rnic.max_queue_depth, offer.startup.revision, offer.startup.markers,
                    offer.startup.peer_to_peer, offer.startup.rtr.send, offer.startup.rtr.write,
                    offer.startup.rtr.read, offer.max_private_data, offer.enhanced_startup,
                    offer.crc_configurable, offer.emss, offer.extensions,
                    offer.completion_delay.count());
}

BOOST_AUTO_TEST_CASE(every_variant_is_of_a_stream_a_connection_a_queue_or_the_offer) {
  for (const LawfulInfo& info : lawful_variants()) {
    const auto connections = connection_variants();
    const bool of_connection =
        std::ranges::find(connections, info.lawful, &Row<access::Decisions>::lawful) !=
        connections.end();
    const auto queues = queue_variants();
    const bool of_queues =
        std::ranges::find(queues, info.lawful, &Row<verbs::Decisions>::lawful) != queues.end();
    const bool of_offer = facts_of(offer_of(std::array{info.lawful})) != facts_of(offer_of({}));
    BOOST_TEST((is_of_a_stream(info.lawful) || of_connection || of_queues || of_offer),
               info.name << " does nothing");
  }
}

BOOST_AUTO_TEST_CASE(the_table_is_in_order_and_names_rules) {
  std::set<std::string_view> names;
  for (const LawfulInfo& entry : lawful_variants()) {
    BOOST_TEST(names.insert(entry.name).second, entry.name << " stands twice");
    BOOST_TEST((find_lawful(entry.name) == entry.lawful));
    BOOST_TEST(rules::find(entry.rule) != nullptr, entry.rule);
    BOOST_TEST(info(entry.lawful).text == entry.text);
    BOOST_TEST(!entry.text.empty());
  }
  BOOST_TEST(!find_lawful("no_such_variant"));
}

/// The rules that lawful.def and without_variant.def name.
std::set<std::string_view> named_rules() {
  std::set<std::string_view> named{
#define RNIC_NO_LAWFUL(rule, reason) rules::RuleId(rule).id,
#include "reference_rnic/lawful/without_variant.def"
#undef RNIC_NO_LAWFUL
  };
  for (const LawfulInfo& info : lawful_variants()) named.insert(info.rule);
  return named;
}

BOOST_AUTO_TEST_CASE(every_permission_has_a_variant_or_a_reason_why_not) {
  const auto named = named_rules();
  for (const rules::Rule& rule : rules::all()) {
    // The reference runs over TCP; and the APIs give no permissions.
    const bool of_sctp = rule.needs == "sctp" || rule.id.starts_with("sctp.");
    if (rule.level != rules::Level::may || of_sctp || !rules::is_of_an_rfc(rule)) continue;
    BOOST_TEST(named.contains(rule.id), rule.id << " is in neither list");
  }
}

}  // namespace
}  // namespace rnic::lawful::test
