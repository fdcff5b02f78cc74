// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// PICS and PIXIT files: those that the project ships, and faulty ones.
#include "suite/iut/pics/pics.hpp"

#include <algorithm>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <regex>
#include <set>
#include <sstream>

#include "suite/iut/pics/pixit.hpp"

namespace suite::iut {
namespace {

std::string file_text(const std::string& path) {
  std::ifstream in(path);
  BOOST_REQUIRE_MESSAGE(in, "cannot read " << path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}
std::string all(const std::vector<std::string>& faults) {
  std::string text;
  for (const auto& each : faults) text += each + "\n";
  return text;
}

BOOST_AUTO_TEST_SUITE(pics)

BOOST_AUTO_TEST_CASE(every_capability_word_is_an_item) {
  const std::string header = file_text(SOURCE_DIR "/messages.hpp");
  const auto begin = header.find("namespace capability {"),
             end = header.find("}  // namespace capability");
  BOOST_REQUIRE((begin != std::string::npos && end != std::string::npos));
  const std::string words = header.substr(begin, end - begin);
  const std::regex quoted("= \"([^\"]+)\"");
  std::set<std::string> declared, asked;
  for (std::sregex_iterator each(words.begin(), words.end(), quoted), none; each != none; ++each)
    declared.insert((*each)[1]);
  for (const PicsItem& item : pics_items()) asked.emplace(item.name);
  BOOST_TEST(declared == asked, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_schema_has_the_same_items) {
  const auto schema = nlohmann::json::parse(file_text(SOURCE_DIR "/pics/pics.schema.json"));
  const auto names = [&](const char* section) {
    std::set<std::string> keys;
    for (const auto& [key, value] : schema["properties"][section]["properties"].items())
      keys.insert(key);
    return keys;
  };
  std::set<std::string> items, limits;
  for (const PicsItem& item : pics_items()) {
    items.emplace(item.name);
    const auto& entry = schema["properties"]["capabilities"]["properties"][std::string(item.name)];
    BOOST_TEST(entry.contains("enum") == item.must, item.name);
  }
  for (const LimitItem& item : pics_limits()) limits.emplace(item.name);
  BOOST_TEST(names("capabilities") == items, boost::test_tools::per_element());
  BOOST_TEST(names("limits") == limits, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(shipped_files_load_and_are_as_the_writer_writes_them) {
  for (const char* name : {"reference", "siw"}) {
    const std::string path = std::string(SOURCE_DIR "/pics/") + name + ".yaml";
    const auto loaded = load_pics(path);
    BOOST_REQUIRE_MESSAGE(loaded, all(loaded ? std::vector<std::string>{} : loaded.error()));
    BOOST_TEST(to_yaml(*loaded) == file_text(path));
  }
  BOOST_TEST(load_pics(SOURCE_DIR "/pics/siw.yaml")->usable().at("memory_windows") == false);
  BOOST_TEST(load_pics(SOURCE_DIR "/pics/reference.yaml")->usable().at("memory_windows") == true);
}

BOOST_AUTO_TEST_CASE(the_proforma_is_current_and_loads) {
  BOOST_TEST(file_text(SOURCE_DIR "/pics/proforma.yaml") == pics_proforma());
  const auto loaded = parse_pics(pics_proforma(), "proforma");
  BOOST_REQUIRE_MESSAGE(loaded, all(loaded ? std::vector<std::string>{} : loaded.error()));
  BOOST_TEST(loaded->capabilities.empty());
}

BOOST_AUTO_TEST_CASE(a_hello_fills_a_pics) {
  Hello hello;
  hello.driver = "verbs";
  hello.implementation = "siw0 \"quoted\" # not a comment";
  hello.driver_version = "6.1";
  hello.capabilities = {"ipv6", "solicited", "a word of tomorrow"};
  hello.limits = {{"max_ird", 128}, {"unheard_of", 1}};
  const Pics said = probe(hello);
  const auto back = parse_pics(to_yaml(said), "probe");
  BOOST_REQUIRE_MESSAGE(back, all(back ? std::vector<std::string>{} : back.error()));
  BOOST_TEST(back->implementation == hello.implementation);
  BOOST_TEST(back->version == "6.1");
  BOOST_TEST((back->capabilities == said.capabilities));
  BOOST_TEST(back->usable().at("ipv6"));
  BOOST_TEST(!back->usable().at("atomics"));
  BOOST_TEST(!back->capabilities.contains("remote_invalidate"));  // a MUST of which nothing is said
  BOOST_TEST(!back->capabilities.contains("configure.crc"));      // a matter of the PIXIT
  BOOST_TEST(back->limits.size() == 1u);
  BOOST_TEST(back->limits.at("max_ird") == 128);
}

BOOST_AUTO_TEST_CASE(a_must_can_be_admitted_to_be_missing) {
  const auto loaded =
      parse_pics("pics: 1\nimplementation: x\ncapabilities: {remote_invalidate: missing}\n", "x");
  BOOST_REQUIRE(loaded);
  BOOST_TEST(!loaded->usable().at("remote_invalidate"));
}

struct Bad {
  const char* text;
  const char* fault;
};
std::ostream& operator<<(std::ostream& out, const Bad& bad) { return out << bad.fault; }

const Bad bad_pics[] = {
    {"", "f: \"pics: 1\" is missing"},
    {"- a\n", "f:1: the file must be a mapping"},
    {"pics: [\n", "this is not YAML"},
    {"pics: 2\nimplementation: x\n",
     "f:1: pics (the version of this format) must be an integer from 1 to 1"},
    {"pics: 1\n", "f: \"implementation\" is missing"},
    {"pics: 1\nimplementation: x\nimplementation: y\n", "f:3: \"implementation\" is there twice"},
    {"pics: 1\nimplementation: [x]\n", "f:2: implementation must be a text"},
    {"pics: 1\nimplementation: x\ncapabilties: {}\n", "f:3: \"capabilties\" is unknown"},
    {"pics: 1\nimplementation: x\ncapabilities:\n  atomic: true\n",
     "f:4: capability \"atomic\" is unknown"},
    {"pics: 1\nimplementation: x\ncapabilities:\n  atomics: yes\n",
     "f:4: atomics must be true or false"},
    {"pics: 1\nimplementation: x\ncapabilities:\n  atomics: missing\n",
     "f:4: atomics must be true or false"},
    {"pics: 1\nimplementation: x\ncapabilities:\n  atomics:\n",
     "f:4: atomics must be true or false"},
    {"pics: 1\nimplementation: x\ncapabilities:\n  remote_invalidate: false\n",
     "f:4: remote_invalidate is a MUST (RFC 5040, 5.3) and cannot be denied"},
    {"pics: 1\nimplementation: x\ncapabilities:\n  remote_invalidate: no\n",
     "f:4: remote_invalidate must be true or missing"},
    {"pics: 1\nimplementation: x\nlimits:\n  max_ird: -1\n",
     "f:4: max_ird must be an integer from 0"},
    {"pics: 1\nimplementation: x\nlimits:\n  max_ird: 1.5\n", "f:4: max_ird must be an integer"},
    {"pics: 1\nimplementation: x\nlimits:\n  max_ird: 99999999999999999999\n",
     "f:4: max_ird must be an integer"},
    {"pics: 1\nimplementation: x\nlimits:\n  max: 1\n", "f:4: limit \"max\" is unknown"},
};
BOOST_DATA_TEST_CASE(a_pics_with_a_fault_is_refused, boost::unit_test::data::make(bad_pics), bad) {
  const auto loaded = parse_pics(bad.text, "f");
  BOOST_REQUIRE(!loaded);
  BOOST_TEST(loaded.error().size() == 1u);
  BOOST_TEST(loaded.error().front().find(bad.fault) != std::string::npos, loaded.error().front());
  BOOST_TEST(std::ranges::count(loaded.error().front(), '\n') == 0);
}

BOOST_AUTO_TEST_CASE(all_faults_are_told_at_once) {
  const auto loaded = parse_pics("pics: 1\nimplementation: x\na: 1\nb: 2\n", "f");
  BOOST_REQUIRE(!loaded);
  BOOST_TEST(loaded.error().size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_file_that_is_not_there_is_named) {
  BOOST_TEST(load_pics("/nowhere/x.yaml").error().front() ==
             "cannot read /nowhere/x.yaml: No such file or directory");
  BOOST_TEST(load_pixit("/nowhere/x.yaml").error().front() ==
             "cannot read /nowhere/x.yaml: No such file or directory");
}

BOOST_AUTO_TEST_CASE(the_pixit_proforma_loads_with_the_defaults) {
  const auto loaded = load_pixit(SOURCE_DIR "/pics/pixit.yaml");
  BOOST_REQUIRE_MESSAGE(loaded, all(loaded ? std::vector<std::string>{} : loaded.error()));
  const Pixit defaults;
  BOOST_TEST(loaded->ipv4 == "192.0.2.2");
  BOOST_TEST(loaded->ipv6 == "2001:db8::2");
  BOOST_TEST(loaded->deadline_scale == defaults.deadline_scale);
  BOOST_TEST((loaded->quiet_window == defaults.quiet_window));
  BOOST_TEST((loaded->hello_deadline == defaults.hello_deadline));
  BOOST_TEST((loaded->reply_deadline == defaults.reply_deadline));
}

BOOST_AUTO_TEST_CASE(every_pixit_key_arrives) {
  const auto loaded = parse_pixit(
      "pixit: 1\naddress: {ipv4: 10.0.0.2, ipv6: 'fd00::2'}\ntester_address: {ipv4: 10.0.0.1}\n"
      "tester_spare: 10.0.0.64/26\n"
      "capture_interface: eth1\ndeadline_scale: 2.5\nquiet_window_ms: 7\nhello_deadline_ms: "
      "8\nreply_deadline_ms: 9\noutage_wait_ms: 10\n"
      "configure_script: /x y\nagent: [ssh, root@dut, rnic-agent]\n",
      "f");
  BOOST_REQUIRE_MESSAGE(loaded, all(loaded ? std::vector<std::string>{} : loaded.error()));
  BOOST_TEST(loaded->tester_ipv4 == "10.0.0.1");
  BOOST_TEST(loaded->tester_spare == "10.0.0.64/26");
  BOOST_TEST(loaded->capture_interface == "eth1");
  BOOST_TEST(loaded->deadline_scale == 2.5);
  BOOST_TEST(loaded->quiet_window.count() == 7);
  BOOST_TEST(loaded->hello_deadline.count() == 8);
  BOOST_TEST(loaded->reply_deadline.count() == 9);
  BOOST_TEST(loaded->outage_wait.count() == 10);
  BOOST_TEST(loaded->configure_script == "/x y");
  const std::vector<std::string> wanted{"ssh", "root@dut", "rnic-agent"};
  BOOST_TEST(loaded->agent == wanted, boost::test_tools::per_element());
}

const Bad bad_pixit[] = {
    {"address: {}\n", "f: \"pixit: 1\" is missing"},
    {"pixit: 1\naddress: 10.0.0.2\n", "f:2: address must be a mapping"},
    {"pixit: 1\naddress: {ipv5: 1}\n", "members ipv4 and ipv6, not \"ipv5\""},
    {"pixit: 1\naddress: {ipv4: dut}\n", "f:2: address.ipv4: "},
    {"pixit: 1\naddress: {ipv4: 'fd00::1'}\n", "is of the other family"},
    {"pixit: 1\naddress: {ipv6: 'fe80::1'}\n", "is a link-local address: name this host's"},
    {"pixit: 1\ntester_spare: 10.0.0.65/26\n", "does not begin at the first address of the block"},
    {"pixit: 1\ndeadline_scale: 0\n", "f:2: deadline_scale must be a number from 0.1 to 1000"},
    {"pixit: 1\ndeadline_scale: nan\n", "deadline_scale must be a number"},
    {"pixit: 1\nquiet_window_ms: 0\n", "quiet_window_ms must be an integer from 1 to 3600000"},
    {"pixit: 1\nquiet_window_ms: 1s\n", "quiet_window_ms must be an integer"},
    {"pixit: 1\nagent: ssh root@dut rnic-agent\n", "agent must be a list"},
    {"pixit: 1\nagent: []\n", "agent must be a list"},
    {"pixit: 1\nagent: [[a]]\n", "each entry of agent must be a text"},
    {"pixit: 1\nagents: [a]\n", "f:2: \"agents\" is unknown"},
};
BOOST_DATA_TEST_CASE(a_pixit_with_a_fault_is_refused, boost::unit_test::data::make(bad_pixit),
                     bad) {
  const auto loaded = parse_pixit(bad.text, "f");
  BOOST_REQUIRE(!loaded);
  BOOST_TEST(loaded.error().size() == 1u);
  BOOST_TEST(loaded.error().front().find(bad.fault) != std::string::npos, loaded.error().front());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace suite::iut
