// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The published schema of the agent's messages agrees with their tables.
#include <boost/test/unit_test.hpp>
#include <fstream>

#include "base/record/schema.hpp"
#include "suite/iut/message_tables.hpp"

namespace suite::iut {
namespace {

using base::record::Schema;

/// All messages of either side. No agent sends "gone".
Schema message_schema() {
  Schema events = base::record::schema_of<Event>();
  auto& list = events.at("oneOf").get_ref<Schema::array_t&>();
  std::erase_if(list, [](const Schema& event) {
    return event.at("properties").at("type").at("const") == "gone";
  });
  return {{"oneOf", {base::record::schema_of<NumberedCommand>(), events}}};
}

BOOST_AUTO_TEST_SUITE(agent_schema)

BOOST_AUTO_TEST_CASE(the_published_schema_says_what_the_tables_say) {
  std::ifstream file(SOURCE_DIR "/agent.schema.json");
  const Schema published = Schema::parse(file, nullptr, false);
  BOOST_REQUIRE_MESSAGE(!published.is_discarded(), "agent.schema.json is not JSON");
  const Schema generated = message_schema();
  const auto differences = base::record::differences(published, generated);
  for (const std::string& line : differences) BOOST_ERROR(line);
  BOOST_REQUIRE_MESSAGE(differences.empty(), "the tables say: " << generated.dump());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace suite::iut
