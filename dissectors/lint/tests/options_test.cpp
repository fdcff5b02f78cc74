// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The command line of rnic-lint, right and wrong.
#include <boost/test/unit_test.hpp>

#include "dissectors/lint/options.hpp"

using namespace dissectors::lint;

namespace {

std::expected<Options, Stop> parse(std::vector<const char*> words) {
  words.insert(words.begin(), "rnic-lint");
  return parse_options(static_cast<int>(words.size()), words.data());
}

std::string fault(const std::vector<const char*>& words) {
  const auto options = parse(words);
  BOOST_REQUIRE(!options.has_value());
  BOOST_TEST((options.error().code == ExitCode::usage));
  BOOST_TEST(options.error().text.find('\n') == std::string::npos);
  return options.error().text;
}

bool holds(const std::string& text, std::string_view part) {
  BOOST_TEST(text.find(part) != std::string::npos, text);
  return true;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(options)

BOOST_AUTO_TEST_CASE(everything_at_once) {
  const auto o = parse({"--json", "--follow", "--rule", "ddp.*", "--rule", "mpa.*", "--connection",
                        "3", "--port", "445", "--port", "5445", "--jobs", "2", "--split", "dir",
                        "--write-violations", "out.pcapng", "in.pcap"});
  BOOST_REQUIRE(o.has_value());
  BOOST_TEST((o->json && o->follow && !o->sarif && !o->summary));
  BOOST_TEST(o->rules.size() == 2U);
  BOOST_TEST(o->connection.value() == 3U);
  BOOST_TEST((o->ports == std::vector<std::uint16_t>{445, 5445}));
  BOOST_TEST(o->jobs == 2U);
  BOOST_TEST(o->input == "in.pcap");
}

BOOST_AUTO_TEST_CASE(standard_input_and_interfaces) {
  BOOST_TEST(parse({"-"})->input == "-");
  BOOST_TEST(parse({"-i", "eth0"})->interface == "eth0");
}

BOOST_AUTO_TEST_CASE(help_has_examples_and_exit_codes) {
  const auto stop = parse({"--help"});
  BOOST_REQUIRE(!stop.has_value());
  BOOST_TEST((stop.error().code == ExitCode::clean));
  for (const char* part : {"--write-violations", "examples:", "exit:", "--port"})
    holds(stop.error().text, part);
}

BOOST_AUTO_TEST_CASE(what_makes_no_sense_is_said) {
  holds(fault({}), "name one capture");
  holds(fault({"a.pcap", "-i", "eth0"}), "name one capture");
  holds(fault({"a.pcap", "b.pcap"}), "b.pcap");
  holds(fault({"--json", "--sarif", "a.pcap"}), "--json");
  holds(fault({"--rule", "ddq.*", "a.pcap"}), "no rule of the catalogue matches");
  holds(fault({"--connection", "0", "a.pcap"}), "--connection");
  holds(fault({"--connection", "-1", "a.pcap"}), "--connection");
  holds(fault({"--port", "0", "a.pcap"}), "--port");
  holds(fault({"--port", "65536", "a.pcap"}), "--port");
  holds(fault({"--jobs", "0", "a.pcap"}), "--jobs");
  holds(fault({"--bogus", "a.pcap"}), "--bogus");
  holds(fault({"--write-violations", "/proc/self/exe", "/proc/self/exe"}), "the capture itself");
}

BOOST_AUTO_TEST_SUITE_END()
