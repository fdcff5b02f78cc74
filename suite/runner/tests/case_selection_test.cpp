// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How cases are chosen, listed and explained, as the users of rnic-suite do it.
#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include "rules/catalogue.hpp"
#include "suite/runner/tests/refusal.hpp"

using namespace suite::runner::tests;
using Json = nlohmann::json;

BOOST_AUTO_TEST_CASE(list_selects_and_runs_nothing) {
  const Scratch scratch;
  const Program::Setting inside{.folder = scratch.path};
  const Words all = lines_of(run(rnic_suite({"--list"}), inside).out);
  const Words some =
      lines_of(run(rnic_suite({"--list", "--select", "ddp.delivery.*"}), inside).out);
  BOOST_TEST(!some.empty());
  BOOST_TEST(some.size() < all.size());
  for (const std::string& id : some) BOOST_TEST(id.starts_with("ddp.delivery."));
  const Words judging =
      lines_of(run(rnic_suite({"--list", "--rule", "mpa.startup.request-key"}), inside).out);
  const std::string explained = run(rnic_suite({"explain", "mpa.startup.request-key"}), inside).out;
  BOOST_TEST(!judging.empty());
  for (const std::string& id : judging)
    BOOST_TEST(explained.find("  " + id + " (") != std::string::npos);
  BOOST_TEST(scratch.names().empty());
}

BOOST_AUTO_TEST_CASE(a_rule_is_explained_in_the_words_of_its_rfc) {
  const rules::Rule& rule = *rules::find("mpa.startup.request-key");
  for (const char* id : {"mpa.startup.request-key",
                         "mpa.startup_initiator.request_begins_with_the_key_of_an_initiator"}) {
    const std::string explained = run(rnic_suite({"explain", id})).out;
    for (const std::string& words :
         {std::string(rule.text), std::string(rule.quote), rules::href(rule)})
      BOOST_TEST(explained.find(words) != std::string::npos, explained);
  }
}

BOOST_AUTO_TEST_CASE(cases_are_chosen_by_patterns_of_rules_and_by_sections) {
  const auto listed = [](Words words) {
    words.insert(words.begin(), "list");
    return lines_of(run(rnic_suite(words)).out);
  };
  const Words one = listed({"--rule", "ddp.tagged.check-end-in-range"});
  const Words tagged = listed({"--rule", "ddp.tagged.*"});
  BOOST_TEST(!one.empty());
  BOOST_TEST(one.size() < tagged.size());
  const Words whole = listed({"--rfc", "5044"});
  const Words section = listed({"--rfc", "5044", "--section", "7"});
  const Words below = listed({"--rfc", "5044", "--section", "7.1"});
  BOOST_TEST(!below.empty());
  BOOST_TEST(below.size() < section.size());
  BOOST_TEST(section.size() < whole.size());
  const Json all = Json::parse(run(rnic_suite({"list", "--json", "--rfc", "5044"})).out);
  BOOST_TEST(all.size() == whole.size());
  BOOST_TEST(all[0]["id"] == whole[0]);
  BOOST_TEST(!all[0]["rules"].empty());
  refuse(rnic_suite({"list", "--rule", "ddp.no.*"}), usage, "no rule 'ddp.no.*'");
  refuse(rnic_suite({"list", "--rfc", "9999"}), usage, "no rule of RFC 9999");
  refuse(rnic_suite({"list", "--rfc", "5044", "--section", "99"}), usage, "section 99 of RFC 5044");
  refuse(rnic_suite({"list", "--section", "7"}), usage, "--rfc");
}

BOOST_AUTO_TEST_CASE(an_old_id_of_a_case_selects_it_with_a_notice) {
  const std::string old_id = "sec.buffer.empty_region_answers_no_read",
                    id = "sec.bounds.empty_region_refuses_reads";
  const Finished listed = run(rnic_suite({"list", "--select", old_id}));
  BOOST_TEST(listed.status == 0);
  BOOST_TEST(listed.out == id + "\n");
  BOOST_TEST(lines_of(listed.err).size() == 1u, listed.err);
  BOOST_TEST(listed.err.find("'" + old_id + "': cases were renamed; this is now " + id) !=
             std::string::npos);
  BOOST_TEST(run(rnic_suite({"explain", old_id})).out.find(id) == 0u);
}

BOOST_AUTO_TEST_CASE(a_case_is_explained_too) {
  const Finished finished = run(rnic_suite({"explain", "ddp.delivery.message_is_delivered_once"}));
  BOOST_TEST(finished.status == 0);
  BOOST_TEST(finished.out.find("\nddp.delivery.at-most-once\n") != std::string::npos, finished.out);
  refuse(rnic_suite({"explain", "ddp.delivery.message_is_delivered_onc"}), usage,
         "did you mean 'ddp.delivery.message_is_delivered_once'?");
}

// What stands in the help can be typed.
BOOST_AUTO_TEST_CASE(examples_name_what_there_is) {
  for (const Words& help : {Words{"run", "--help"}, Words{"explain", "--help"}}) {
    const std::string text = run(rnic_suite(help)).out;
    for (const std::string& before : {std::string("--rule "), std::string("id of a rule, e.g. ")}) {
      for (auto at = text.find(before); at != std::string::npos; at = text.find(before, at + 1)) {
        const auto begin = at + before.size();
        std::string word = text.substr(begin, text.find_first_of(" ,\n", begin) - begin);
        if (!word.starts_with("ddp.")) continue;
        BOOST_TEST(run(rnic_suite({"explain", word})).status == 0, word);
      }
    }
  }
}
