// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>

#include "rules/catalogue.hpp"
#include "rules/rule_id.hpp"

namespace {

rules::Rule at(int rfc, std::string_view section) {
  rules::Rule rule = rules::all().front();
  rule.rfc = rfc;
  rule.section = section;
  return rule;
}

}  // namespace

BOOST_AUTO_TEST_CASE(ids_are_sorted_and_unique) {
  auto ids = rules::all();
  BOOST_TEST(ids.size() > 100U);
  for (std::size_t i = 1; i < ids.size(); ++i)
    BOOST_TEST((ids[i - 1].id < ids[i].id), ids[i - 1].id << " before " << ids[i].id);
}

BOOST_AUTO_TEST_CASE(every_rule_is_found_by_its_id_and_nothing_else_is) {
  for (const rules::Rule& rule : rules::all()) {
    BOOST_TEST(rules::find(rule.id) == &rule);
    BOOST_TEST(rules::find(std::string(rule.id) + "x") == nullptr);
  }
  BOOST_TEST(rules::find("") == nullptr);
  BOOST_TEST(rules::find("zzz") == nullptr);
}

BOOST_AUTO_TEST_CASE(a_literal_id_is_checked_by_the_compiler) {
  constexpr rules::RuleId id = "mpa.startup.reserved-bits-ignored";
  BOOST_REQUIRE(rules::find(id.id) != nullptr);
  BOOST_TEST(rules::find(id.id)->rfc == 5044);
}

BOOST_AUTO_TEST_CASE(a_place_is_named_as_its_document_is) {
  BOOST_TEST(rules::place(*rules::find("mpa.startup.reserved-bits-ignored"))
                 .starts_with("RFC 5044 section 7"));
  BOOST_TEST(rules::place(*rules::find("verbs.completion.names-its-request")) ==
             "man page ibv_poll_cq(3)");
  BOOST_TEST(rules::place(at(5041, "Appendix A")) == "RFC 5041 Appendix A");
  BOOST_TEST(rules::place(at(5040, "B")) == "RFC 5040 Appendix B");
}

BOOST_AUTO_TEST_CASE(a_section_of_an_rfc_can_be_read) {
  const std::string rfc = "https://www.rfc-editor.org/rfc/rfc";
  BOOST_TEST(rules::href(at(5044, "7.1.1")) == rfc + "5044#section-7.1.1");
  BOOST_TEST(rules::href(at(5041, "Appendix A")) == rfc + "5041#appendix-A");
  BOOST_TEST(rules::href(at(5044, "A.4")) == rfc + "5044#appendix-A.4");
  BOOST_TEST(rules::href(at(rules::dat_document, "dat_ep_connect")).empty());
}

BOOST_AUTO_TEST_CASE(rules_of_sctp_are_no_testable_holes) {
  const rules::Rule* over_sctp = rules::find("sctp.enhanced.reject-code-used");
  BOOST_REQUIRE(over_sctp != nullptr);
  BOOST_TEST(rules::how_checked(*over_sctp) == "needs-sctp");
  BOOST_TEST(!rules::is_testable(*over_sctp));
  const rules::Rule* over_tcp = rules::find("mpa.startup.reserved-bits-ignored");
  BOOST_REQUIRE(over_tcp != nullptr);
  BOOST_TEST(rules::how_checked(*over_tcp) == "active");
  BOOST_TEST(rules::is_testable(*over_tcp));
}
