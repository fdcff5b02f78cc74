// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// docs/porting.md is true: its examples parse, its lists are complete, its toy runs.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/hex.hpp"
#include "suite/iut/agent_client.hpp"
#include "suite/iut/message_tables.hpp"
#include "suite/iut/pics/pics.hpp"

namespace suite::iut {
namespace {

using namespace std::chrono_literals;

std::string guide() {
  std::ifstream in(PORTING_GUIDE);
  BOOST_REQUIRE_MESSAGE(in, "cannot read " PORTING_GUIDE);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The lines within fenced blocks of a language, a block's end being an empty entry.
std::vector<std::string> fenced(const std::string& language) {
  std::vector<std::string> lines;
  std::istringstream in(guide());
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      if (inside) lines.emplace_back();
      inside = !inside && line == "```" + language;
    } else if (inside) {
      lines.push_back(line);
    }
  }
  return lines;
}

BOOST_AUTO_TEST_SUITE(porting)

BOOST_AUTO_TEST_CASE(every_example_parses_and_every_type_has_one) {
  std::set<std::string> commands, events;
  for (const std::string& line : fenced("json")) {
    if (line.empty()) continue;
    if (line.starts_with("{\"number\"")) {
      const auto parsed = parse_command(line);
      BOOST_REQUIRE_MESSAGE(parsed, line + ": " + (parsed ? "" : parsed.error().what));
      BOOST_TEST(format(parsed.value().number, parsed.value().command) ==
                 line);  // as the suite writes it
      commands.insert(type_name(parsed.value().command));
    } else {
      const auto parsed = parse_event(line);
      BOOST_REQUIRE_MESSAGE(parsed, line + ": " + (parsed ? "" : parsed.error().what));
      events.insert(type_name(parsed.value()));
    }
  }
  BOOST_TEST(commands.size() == std::variant_size_v<Command>);
  BOOST_TEST(events.size() ==
             std::variant_size_v<Event> - 1);  // all but "gone", which no agent sends
}

BOOST_AUTO_TEST_CASE(every_word_is_in_the_guide) {
  const std::string text = guide();
  std::vector<std::string> words;
  for (const auto& list :
       {std::vector<std::string>(completion_status_words.begin(), completion_status_words.end()),
        std::vector<std::string>(asynchronous_kind_words.begin(), asynchronous_kind_words.end()),
        std::vector<std::string>(connect_failure_words.begin(), connect_failure_words.end())})
    words.insert(words.end(), list.begin(), list.end());
  for (const PicsItem& item : pics_items()) words.emplace_back(item.name);
  for (const LimitItem& item : pics_limits()) words.emplace_back(item.name);
  namespace op = operation;
  for (const char* each :
       {op::send, op::send_solicited, op::send_invalidate, op::send_solicited_invalidate, op::write,
        op::read, op::read_invalidate, op::fetch_add, op::compare_swap, op::immediate,
        op::immediate_solicited, op::local_invalidate, op::bind_window, op::register_region})
    words.emplace_back(each);
  for (const std::string& word : words)
    BOOST_TEST(text.find('`' + word + '`') != std::string::npos, word);
}

/// An agent that has memory and nothing else keeps the rules.
void check_memory_agent(std::vector<std::string> words) {
  base::EpollLoop loop;
  const auto client = AgentClient::start(loop, agent_process(std::move(words)));
  BOOST_REQUIRE_MESSAGE(client, (client ? std::string() : client.error().detail));
  const auto ask = [&](Command command) {
    const auto number = (*client)->post(std::move(command));
    const auto event = (*client)->next_event(loop.now() + 20s);
    BOOST_REQUIRE(event);
    const auto* reply = std::get_if<Reply>(&*event);
    BOOST_REQUIRE_MESSAGE(reply != nullptr, format(*event));
    BOOST_TEST(reply->command == number);
    return *reply;
  };
  BOOST_TEST(name(ask(Reset{}).outcome) == "ok");
  RegisterMemory command;
  command.region = 1;
  command.length = 8;
  command.fill = 0xee;
  BOOST_TEST(ask(command).stag.value_or(0) == 0x100u);
  BOOST_TEST(name(ask(WriteMemory{1, 2, base::from_hex("01 02").value()}).outcome) == "ok");
  const Octets wanted = base::from_hex("ee 01 02 ee").value();
  BOOST_TEST((ask(ReadMemory{1, 1, 4}).octets == wanted));
  BOOST_TEST(name(ask(ReadMemory{1, 6, 3}).outcome) == "failed");
  BOOST_TEST(name(ask(ReadMemory{2, 0, 1}).outcome) == "failed");
  BOOST_TEST(name(ask(CreateEndpoint{}).outcome) == "unsupported");
}

BOOST_AUTO_TEST_CASE(the_toy_runs) {
  const std::vector<std::string> lines = fenced("python");
  BOOST_REQUIRE(!lines.empty());
  BOOST_TEST(lines.size() <= 65u);
  const auto file =
      std::filesystem::temp_directory_path() / ("toy_agent." + std::to_string(::getpid()) + ".py");
  {
    std::ofstream out(file);
    for (const std::string& line : lines) out << line << '\n';
  }
  check_memory_agent({PYTHON, file.string()});
  std::filesystem::remove(file);
}

BOOST_AUTO_TEST_CASE(the_example_in_cpp_runs) { check_memory_agent({MEMORY_AGENT}); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace suite::iut
