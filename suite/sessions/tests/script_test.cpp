// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>

#include "suite/sessions/script.hpp"
#include "suite/sessions/session_file.hpp"

using namespace suite::sessions;

namespace {

/// A script in a file, read as `rnic-suite replay` reads it.
std::expected<SessionFile, std::string> read(const std::string& text) {
  const auto file =
      std::filesystem::temp_directory_path() / ("script-" + std::to_string(::getpid()) + ".yaml");
  std::ofstream(file) << text;
  auto session = read_session(file);
  std::filesystem::remove(file);
  return session;
}

std::string fault_of(const std::string& text) {
  const auto session = read(text);
  BOOST_REQUIRE(!session);
  return session.error().substr(session.error().find(".yaml") + 5);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_step_is_an_action_with_what_differs_from_the_defaults) {
  const auto file = read(
      "streams:\n"
      "  - {revision: 2, peer_markers: true, fault: reserved_bits}\n"
      "steps:\n"
      "  - peer_write: {length: 0x200, wrong: beyond_end}\n"
      "  - peer_close\n");
  BOOST_REQUIRE_MESSAGE(file, (file ? "" : file.error()));
  Session wanted;
  wanted.streams.resize(1);
  wanted.streams[0].revision = 2;
  wanted.streams[0].peer_markers = true;
  wanted.streams[0].fault = StartupFault::reserved_bits;
  wanted.steps.resize(2);
  wanted.steps[0].action = Action::peer_write;
  wanted.steps[0].length = 512;
  wanted.steps[0].wrong = Wrong::beyond_end;
  wanted.steps[1].action = Action::peer_close;
  BOOST_TEST((file->session == wanted));
}

BOOST_AUTO_TEST_CASE(a_region_has_all_rights_or_those_that_are_named) {
  const auto file = read(
      "steps:\n"
      "  - register_region: {length: 8}\n"
      "  - register_region: {rights: [remote_read, local_write]}\n"
      "  - register_region: {rights: []}\n"
      "  - register_region\n");
  BOOST_REQUIRE_MESSAGE(file, (file ? "" : file.error()));
  const auto& steps = file->session.steps;
  BOOST_TEST(steps.at(0).value == 31u);
  BOOST_TEST(steps.at(1).value == 3u);
  BOOST_TEST(steps.at(2).value == 0u);
  BOOST_TEST(steps.at(3).value == 31u);
}

BOOST_AUTO_TEST_CASE(without_streams_there_is_one_with_defaults) {
  const auto file = read("steps: [peer_send]\n");
  BOOST_REQUIRE_MESSAGE(file, (file ? "" : file.error()));
  BOOST_TEST((file->session.streams == std::vector<StreamSetup>(1)));
}

BOOST_AUTO_TEST_CASE(a_mistake_is_reported_with_its_line) {
  BOOST_TEST(fault_of("steps:\n  - [peer_send]\n") ==
             ":2: a step is `ACTION` or `ACTION: {MEMBER: VALUE, ...}`");
  BOOST_TEST(fault_of("step: [peer_send]\n") ==
             ":1: a script has `streams` and `steps` only, or `api: dat` and `steps`");
  BOOST_TEST(fault_of("streams: []\n") == ": there are no `steps`");
  BOOST_TEST(fault_of("steps: peer_send\n") == ":1: steps must be a list");
  BOOST_TEST(fault_of("steps:\n  - peer_send: {length: [1]}\n") ==
             ":2: length must be a word or a number");
  BOOST_TEST(fault_of("steps:\n  - register_region: {rights: [write]}\n") ==
             ":2: there is no such right");
  BOOST_TEST(fault_of("steps:\n  - register_region: {rights: remote_read}\n") ==
             ":2: rights must be a list");
  BOOST_TEST(fault_of("steps:\n  - peer_send: {rights: [remote_read]}\n") ==
             ":2: rights must be a word or a number");
  BOOST_TEST(fault_of("steps: [\n").starts_with(":2: this is not YAML: "));
  BOOST_TEST(fault_of("streams: []\nsteps: []\n") == ": a session has 1 to 16 streams");
}

BOOST_AUTO_TEST_CASE(a_word_that_does_not_exist_is_named) {
  const std::string fault = fault_of("steps:\n  - peer_sends\n");
  BOOST_TEST(fault.find("steps[0].action") != std::string::npos, fault);
  BOOST_TEST(fault.find("\"peer_send\"") != std::string::npos, fault);
  BOOST_TEST(fault_of("steps:\n  - peer_send: {size: 1}\n").find("size") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_words_are_listed) {
  const std::string words = script_words();
  for (const char* line : {"\n  peer_atomic\n", "\n  wrong: nothing\n", "\n  beyond_end\n",
                           "\n  revision: 1\n", "\n  no_rtr_stated\n", "\n  remote_atomic\n"})
    BOOST_TEST(words.find(line) != std::string::npos, line);
}
