// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The records of a plugfest beside the published schema.
#include <boost/test/unit_test.hpp>
#include <fstream>

#include "base/record/json_reader.hpp"
#include "base/record/schema.hpp"
#include "plugfest/record_json.hpp"
#include "plugfest/record_tables.hpp"

namespace plugfest {
namespace {

BOOST_AUTO_TEST_SUITE(records)

BOOST_AUTO_TEST_CASE(the_published_schema_says_what_the_tables_say) {
  std::ifstream file(PROJECT_SOURCE_DIR "/reports/schema/plugfest-2.schema.json");
  const auto published = base::record::Schema::parse(file, nullptr, false);
  BOOST_REQUIRE_MESSAGE(!published.is_discarded(), "plugfest-2.schema.json is not JSON");
  for (const std::string& line :
       base::record::differences(published, base::record::schema_of<Document>()))
    BOOST_ERROR(line);
}

BOOST_AUTO_TEST_CASE(each_kind_of_agent_is_called_by_its_name) {
  const auto kind_of = [](AgentKind agent) {
    Event event;
    event.participants.emplace_back().agent = std::move(agent);
    return record_of(event).participants.front().agent;
  };
  BOOST_TEST(kind_of(LocalReference{}) == "reference");
  BOOST_TEST(kind_of(SshAgent{}) == "ssh");
  BOOST_TEST(kind_of(TlsAgent{}) == "tls");
  BOOST_TEST(kind_of(ArgvAgent{}) == "argv");
  BOOST_TEST(kind_of(SiwGuest{}) == "siw-vm");
}

// The journal has no more than this about a cell whose process has crashed.
BOOST_AUTO_TEST_CASE(a_record_without_evidence_is_read) {
  CellRecord record;
  const auto fault = base::record::from_json(
      base::record::Json::parse(
          R"({"id":"a/b/c#1","initiator":"a","responder":"b","scenario":"c","repeat":1,"attempt":2,)"
          R"("verdict":"error","fault":"unknown","reason":"it died","seconds":0.5})"),
      record);
  BOOST_REQUIRE_MESSAGE(!fault, (fault ? fault->text : ""));
  BOOST_TEST(record.attempt == 2);
  BOOST_TEST((record.outcome.verdict == Verdict::error));
  BOOST_TEST(record.outcome.checks.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace plugfest
