// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <boost/test/unit_test.hpp>
#include <set>

#include "suite/cases/dat/framework/dat_session.hpp"
#include "suite/sessions/dat/drawing.hpp"
#include "suite/sessions/dat/model.hpp"

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

BOOST_AUTO_TEST_CASE(id_of_a_session_says_which_steps_it_has) {
  using cases::dat::parse_session_id;
  const auto whole = parse_session_id("soak.dat.17");
  BOOST_REQUIRE(whole);
  BOOST_TEST(whole->seed == 17U);
  BOOST_TEST(whole->steps.empty());
  const auto part = parse_session_id("soak.dat.17.of.0-2+9+11-12");
  BOOST_REQUIRE(part);
  BOOST_TEST((part->steps == std::vector<std::size_t>{0, 1, 2, 9, 11, 12}));
  BOOST_TEST(text_of(*part) == "soak.dat.17.of.0-2+9+11-12");
  for (const char* no :
       {"soak.session.17", "soak.dat.", "soak.dat.x", "soak.dat.1.of.", "soak.dat.1.of.3-",
        "soak.dat.1.of.5-2", "soak.dat.1.of.99999999", "soak.dat.1.to.2"})
    BOOST_TEST(!parse_session_id(no), no);
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
