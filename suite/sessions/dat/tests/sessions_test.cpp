// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/record/json_writer.hpp"
#include "suite/cases/dat/framework/dat_session.hpp"
#include "suite/sessions/dat/drawing.hpp"
#include "suite/sessions/dat/model.hpp"
#include "suite/sessions/dat/session_file.hpp"
#include "suite/sessions/dat/shortening.hpp"

namespace suite::sessions::dat {

namespace {

BOOST_AUTO_TEST_CASE(a_seed_always_draws_the_same_session) {
  BOOST_TEST((draw(7).steps == draw(7).steps));
  BOOST_TEST((draw(7).steps != draw(8).steps));
}

BOOST_AUTO_TEST_CASE(every_action_is_drawn) {
  std::set<Action> drawn;
  std::set<Wrong> wrongs;
  bool has_lanes = false;
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    for (const Step& step : draw(seed).steps) {
      drawn.insert(step.action);
      wrongs.insert(step.wrong);
      has_lanes = has_lanes || step.lane > 1;
    }
  BOOST_TEST(drawn.size() == names_of(Action{}).size());
  BOOST_TEST(wrongs.size() == names_of(Wrong{}).size());
  BOOST_TEST(has_lanes);
}

BOOST_AUTO_TEST_CASE(id_of_a_session_has_its_seed) {
  using suite::cases::dat::seed_of_session;
  BOOST_TEST(seed_of_session("soak.dat.17").value() == 17U);
  for (const char* no : {"soak.session.17", "soak.dat.", "soak.dat.x", "soak.dat.1.of.3"})
    BOOST_TEST(!seed_of_session(no), no);
}

// ---------------------------------------------------------------- files

/// A file of this name and text, read as `rnic-suite replay` reads it.
std::expected<SessionFile, std::string> read(const std::string& name, const std::string& text) {
  const auto file =
      std::filesystem::temp_directory_path() / ("dat-session-" + std::to_string(::getpid()) + name);
  std::ofstream(file) << text;
  auto session = read_session(file);
  BOOST_TEST((!session || is_session(file)));
  std::filesystem::remove(file);
  return session;
}

BOOST_AUTO_TEST_CASE(a_script_has_what_differs_from_the_defaults) {
  const auto file = read(".yaml",
                         "api: dat\n"
                         "steps:\n"
                         "  - make_zone\n"
                         "  - make_region: {number: 64}\n"
                         "  - make_region: {object: 1, flags: 0x11}\n"
                         "  - set_watermark: {number: -7}\n"
                         "  - write: {wrong: peer_beyond_end}\n");
  BOOST_REQUIRE_MESSAGE(file, (file ? "" : file.error()));
  const std::vector<Step> wanted{{.action = Action::make_zone},
                                 {.action = Action::make_region, .number = 64, .flags = 0x33},
                                 {.action = Action::make_region, .object = 1, .flags = 0x11},
                                 {.action = Action::set_watermark, .number = -7},
                                 {.action = Action::write, .wrong = Wrong::peer_beyond_end}};
  BOOST_TEST((file->session.steps == wanted));
}

BOOST_AUTO_TEST_CASE(what_is_written_is_read_again) {
  const SessionFile written{.session = draw(7), .rules = {"dat.ep-free.success"}};
  const auto read_again = read(".json", base::record::to_json(written).dump(1));
  BOOST_REQUIRE_MESSAGE(read_again, (read_again ? "" : read_again.error()));
  BOOST_TEST((read_again->session.steps == written.session.steps));
  BOOST_TEST(read_again->session.seed == 7U);
  BOOST_TEST((read_again->rules == written.rules));
}

BOOST_AUTO_TEST_CASE(mistakes_in_a_file_are_named) {
  const auto fault = [](const std::string& text) {
    const auto file = read(".yaml", text);
    BOOST_REQUIRE(!file);
    return file.error();
  };
  BOOST_TEST(fault("api: dat\nsteps: [peer_send]\n").find("steps[0].action") != std::string::npos);
  BOOST_TEST(fault("steps: [make_zone]\n").find("\"api\"") != std::string::npos);
  BOOST_TEST(fault("api: verbs\nsteps: [make_zone]\n").find("api") != std::string::npos);
  BOOST_TEST(fault("api: dat\nsteps: []\n").ends_with(": a session has 1 to 500 steps"));
}

BOOST_AUTO_TEST_CASE(words_of_a_script_are_listed) {
  const std::string words = script_words();
  for (const char* line : {"\n  make_zone: object: zone\n", "\n  segments: 1\n", "\n  freed\n",
                           "\n  flags: 0x33 in make_region, "})
    BOOST_TEST(words.find(line) != std::string::npos, line);
}

BOOST_AUTO_TEST_CASE(shortening_keeps_what_is_needed_with_defaults) {
  Session session;
  for (std::uint32_t i = 0; i < 20; ++i)
    session.steps.push_back({.action = Action::send,
                             .object = i,
                             .other = 3,
                             .number = 100,
                             .flags = 2,
                             .times = 4,
                             .wrong = Wrong::flags,
                             .lane = 1});
  session.steps[11].action = Action::reset;
  const Session left = shortened(session, [](const Session& tried) {
    // It needs a Send of two or more before a reset, whose `other` is not the default.
    bool sent = false;
    for (const Step& step : tried.steps) {
      if (step.action == Action::send && step.number > 1) sent = true;
      if (step.action == Action::reset && step.other == 3) return sent;
    }
    return false;
  });
  const std::vector<Step> wanted{{.action = Action::send, .number = 8},
                                 {.action = Action::reset, .other = 3}};
  BOOST_TEST((left.steps == wanted));
}

// ---------------------------------------------------------------- the model

/// An endpoint whose streams all go to one dispatcher, connected to another.
struct Connected {
  Connected() {
    model.add_memory(64);
    model.dispatchers[0] = {.handle = &dispatcher, .flags = 0, .length = 16};
    for (std::uint32_t i = 0; i < 2; ++i) {
      model.endpoints[i].handle = &endpoints[i];
      model.endpoints[i].phase = Phase::connected;
      model.endpoints[i].peer = 1 - i;
    }
  }
  void receive(std::uint32_t at, DAT_UINT64 cookie) {
    model.endpoints[at].receives.push_back({.cookie = cookie});
  }
  DAT_EVENT completion(std::uint32_t at, DAT_UINT64 cookie, DAT_DTO_COMPLETION_STATUS status,
                       DAT_DTOS operation, DAT_SEG_LENGTH length) {
    DAT_EVENT event{};
    event.event_number = DAT_DTO_COMPLETION_EVENT;
    event.evd_handle = &dispatcher;
    auto& data = event.event_data.dto_completion_event_data;
    data.ep_handle = &endpoints[at];
    data.user_cookie.as_64 = cookie;
    data.status = status;
    data.operation = operation;
    data.transfered_length = length;
    return event;
  }
  DAT_EVENT received(std::uint32_t at, DAT_UINT64 cookie, DAT_SEG_LENGTH length) {
    return completion(at, cookie, DAT_DTO_SUCCESS, DAT_DTO_RECEIVE, length);
  }
  int dispatcher = 0, endpoints[2] = {};
  Model model{Abilities{}};
};

std::string rule_of(Model& model, const DAT_EVENT& event) {
  try {
    model.observe(0, event);
  } catch (const Finding& finding) {
    return finding.found.rule;
  }
  return "";
}

BOOST_AUTO_TEST_CASE(completion_that_is_owed_is_admissible_once) {
  Connected setup;
  setup.receive(1, 5);
  setup.model.arrives(1, {.octets = Octets(3)});
  BOOST_TEST(setup.model.certain(0) == 1);
  BOOST_TEST(rule_of(setup.model, setup.received(1, 5, 3)).empty());
  BOOST_TEST(setup.model.certain(0) == 0);
  BOOST_TEST(rule_of(setup.model, setup.received(1, 5, 3)) == "dat.evd-wait.order");
}

BOOST_AUTO_TEST_CASE(wrong_completions_break_the_rule_of_what_is_wrong) {
  const auto rule = [](auto change) {
    Connected setup;
    setup.receive(1, 5);
    setup.receive(1, 6);
    setup.model.arrives(1, {.octets = Octets(3)});
    DAT_EVENT event = setup.received(1, 5, 3);
    change(event.event_data.dto_completion_event_data);
    return rule_of(setup.model, event);
  };
  using Data = DAT_DTO_COMPLETION_EVENT_DATA;
  BOOST_TEST(rule([](Data&) {}).empty());
  BOOST_TEST(rule([](Data& data) { data.transfered_length = 4; }) == "dat.ep-post-recv.success");
  BOOST_TEST(rule([](Data& data) { data.operation = DAT_DTO_SEND; }) == "dat.ep-post-recv.success");
  BOOST_TEST(rule([](Data& data) { data.status = DAT_DTO_ERR_FLUSHED; }) ==
             "dat.ep-post-recv.success");
  BOOST_TEST(rule([](Data& data) { data.user_cookie.as_64 = 6; }) == "dat.ep-post-send.order");
  BOOST_TEST(rule([](Data& data) { data.ep_handle = DAT_HANDLE_NULL; }) ==
             "dat.ep-post-recv.success");
}

BOOST_AUTO_TEST_CASE(receives_are_flushed_when_the_connection_ends_and_not_before) {
  Connected setup;
  setup.receive(1, 5);
  const DAT_EVENT flush = setup.completion(1, 5, DAT_DTO_ERR_FLUSHED, DAT_DTO_RECEIVE, 0);
  Connected early;
  early.receive(1, 5);
  DAT_EVENT too_soon = flush;
  too_soon.evd_handle = &early.dispatcher;
  too_soon.event_data.dto_completion_event_data.ep_handle = &early.endpoints[1];
  BOOST_TEST(rule_of(early.model, too_soon) == "dat.ep-post-recv.success");
  setup.model.disconnects(0, true);
  BOOST_TEST(setup.model.certain(0) == 3);  // and two events of the end
  BOOST_TEST(rule_of(setup.model, flush).empty());
}

BOOST_AUTO_TEST_CASE(memory_admits_what_was_or_will_be_while_a_write_is_doubtful) {
  Memory memory(4, 1);
  const Octet before = memory.expected[0];
  memory.may_become(0, {Octet{.value = 0x77}});
  BOOST_TEST(memory.expected[0].admits(static_cast<std::byte>(before.value)));
  BOOST_TEST(memory.expected[0].admits(std::byte{0x77}));
  BOOST_TEST(!memory.expected[0].admits(std::byte{0x78}));
  (*memory.octets)[0] = std::byte{0x78};
  BOOST_TEST(memory.wrong().has_value());
}

}  // namespace

}  // namespace suite::sessions::dat
