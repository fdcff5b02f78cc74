// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Event dispatchers as objects: create, query, modify_cno, enable, disable, resize, free.
#include <functional>
#include <limits>

#include "suite/cases/dat/framework/dat_case.hpp"
#include "suite/cases/dat/framework/dat_endpoint.hpp"

namespace suite::cases::dat {

namespace {

constexpr std::array streams{DAT_EVD_SOFTWARE_FLAG,   DAT_EVD_CR_FLAG,       DAT_EVD_DTO_FLAG,
                             DAT_EVD_CONNECTION_FLAG, DAT_EVD_RMR_BIND_FLAG, DAT_EVD_ASYNC_FLAG};
constexpr std::array stream_names{"software", "CR", "DTO", "connection", "RMR bind", "async"};
constexpr DAT_TIMEOUT a_moment =
    1000;  ///< microseconds, for an event that is already there, if any

DAT_EVD_PARAM query(DatBody& body, DAT_EVD_HANDLE evd) {
  DAT_EVD_PARAM param{};
  body.need(CALL(dat_evd_query, evd, DAT_EVD_FIELD_ALL, &param), "no EVD query");
  return param;
}

std::string state_bits(DAT_EVD_STATE state) {
  return fmt::format("EVD state {:#x}", static_cast<unsigned>(state));
}

/// Whether the state has one of two bits that exclude each other, and not the other.
bool is_in(DAT_EVD_STATE state, DAT_EVD_STATE in, DAT_EVD_STATE not_in) {
  return (static_cast<unsigned>(state) & (in | not_in)) == static_cast<unsigned>(in);
}

/// The dispatcher that triggered the CNO; null if none did.
DAT_EVD_HANDLE trigger_of(const Cno& cno) {
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  const DAT_RETURN got = CALL(dat_cno_wait, cno.get(), a_moment, &evd);
  return got == DAT_SUCCESS ? evd : DAT_HANDLE_NULL;
}

void expect_trigger(DatBody& body, const Cno& cno, const Evd* evd, RuleRef rule = {}) {
  const DAT_EVD_HANDLE got = trigger_of(cno), wanted = evd == nullptr ? nullptr : evd->get();
  const auto text = [&](DAT_EVD_HANDLE one) {
    if (one == DAT_HANDLE_NULL) return "the CNO is not triggered";
    return evd != nullptr && one == evd->get() ? "the CNO is triggered by the EVD"
                                               : "the CNO is triggered by another EVD";
  };
  body.expect_that(got == wanted, text(wanted), text(got), rule);
}

}  // namespace

// ---------------------------------------------------------------- create and query

DAT_CASE(each_stream_has_its_dispatcher, calls(dat_evd_create, dat_evd_query),
         rules("dat.evd-create.success", "dat.evd-query.success")) {
  for (std::size_t i = 0; i < streams.size(); ++i)
    row(stream_names[i], [&] {
      DAT_EVD_HANDLE handle = DAT_HANDLE_NULL;
      expect(CALL(dat_evd_create, ia().get(), 5, DAT_HANDLE_NULL, streams[i], &handle), succeeds);
      const Evd evd(handle);
      expect_that(handle != DAT_HANDLE_NULL, "a handle", "DAT_HANDLE_NULL");
      const DAT_EVD_PARAM param = query(*this, handle);
      expect_that(param.evd_flags == streams[i], fmt::format("flags {:#x}", +streams[i]),
                  fmt::format("flags {:#x}", +param.evd_flags), "dat.evd-query.success");
    });
}

DAT_CASE(streams_merge_as_the_provider_says, calls(dat_evd_create),
         rules("dat.evd-create.merging")) {
  DAT_PROVIDER_ATTR attr{};
  need(CALL(dat_ia_query, ia().get(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &attr),
       "no attributes");
  for (std::size_t i = 0; i < streams.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (attr.evd_stream_merging_supported[i][j] == DAT_FALSE) continue;
      row(fmt::format("{} with {}", stream_names[i], stream_names[j]), [&] {
        DAT_EVD_HANDLE handle = DAT_HANDLE_NULL;
        expect(
            CALL(dat_evd_create, ia().get(), 4, DAT_HANDLE_NULL,
                 flags_of<DAT_EVD_FLAGS>(static_cast<unsigned>(streams[i] | streams[j])), &handle),
            succeeds);
        const Evd evd(handle);
      });
    }
}

DAT_CASE(dispatcher_knows_what_it_was_made_with, calls(dat_evd_create, dat_evd_query),
         rules("dat.evd-query.success", "dat.evd-create.success")) {
  const Cno cno = ia().cno();
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 7, cno.get());
  const DAT_EVD_PARAM param = query(*this, evd.get());
  expect_that(param.ia_handle == ia().get(), "the consumer's IA handle", "another IA handle");
  expect_that(param.evd_qlen >= 7, "a queue of 7 or more",
              fmt::format("a queue of {}", param.evd_qlen), "dat.evd-create.success");
  expect_that(param.cno_handle == cno.get(), "the CNO", "another CNO handle");
}

DAT_CASE(query_shows_that_there_is_no_cno, calls(dat_evd_query), rules("dat.evd-query.success")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  expect_that(query(*this, evd.get()).cno_handle == DAT_HANDLE_NULL, "DAT_HANDLE_NULL", "a CNO");
}

DAT_CASE(each_parameter_can_be_queried_alone, calls(dat_evd_query),
         rules("dat.evd-query.success")) {
  const Evd evd = ia().evd(DAT_EVD_DTO_FLAG, 9);
  const DAT_EVD_PARAM all = query(*this, evd.get());
  const auto ask = [&](DAT_EVD_PARAM_MASK mask) {
    DAT_EVD_PARAM param{};
    expect(CALL(dat_evd_query, evd.get(), mask, &param), succeeds);
    return param;
  };
  const auto same = [&](const char* name, bool is) { expect_that(is, name, "another value"); };
  same("the IA", ask(DAT_EVD_FIELD_IA_HANDLE).ia_handle == all.ia_handle);
  same("the length", ask(DAT_EVD_FIELD_EVD_QLEN).evd_qlen == all.evd_qlen);
  same("the state", ask(DAT_EVD_FIELD_EVD_STATE).evd_state == all.evd_state);
  same("the CNO", ask(DAT_EVD_FIELD_CNO).cno_handle == all.cno_handle);
  same("the flags", ask(DAT_EVD_FIELD_EVD_FLAGS).evd_flags == all.evd_flags);
}

DAT_CASE(query_of_unknown_parameters_is_refused, calls(dat_evd_query),
         rules("dat.evd-query.invalid-parameter")) {
  const Evd evd = ia().evd(DAT_EVD_DTO_FLAG);
  DAT_EVD_PARAM param{};
  expect(CALL(dat_evd_query, evd.get(), flags_of<DAT_EVD_PARAM_MASK>(0x1000), &param),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(query_with_a_null_output_is_refused, calls(dat_evd_query),
         rules("dat.evd-query.invalid-parameter"), with_hostile_handles) {
  const Evd evd = ia().evd(DAT_EVD_DTO_FLAG);
  expect(CALL(dat_evd_query, evd.get(), DAT_EVD_FIELD_ALL, nullptr),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(new_dispatcher_is_enabled_and_waitable, calls(dat_evd_create, dat_evd_query),
         rules("dat.evd-create.success", "dat.evd-query.state")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  const DAT_EVD_STATE state = query(*this, evd.get()).evd_state;
  expect_that(is_in(state, DAT_EVD_STATE_ENABLED, DAT_EVD_STATE_DISABLED), "enabled",
              state_bits(state));
  expect_that(is_in(state, DAT_EVD_STATE_WAITABLE, DAT_EVD_STATE_UNWAITABLE), "waitable",
              state_bits(state));
}

DAT_CASE(length_that_is_not_positive_is_refused, calls(dat_evd_create),
         rules("dat.evd-create.invalid-parameter")) {
  for (const DAT_COUNT length : {0, -1, std::numeric_limits<DAT_COUNT>::min()})
    row(fmt::format("length {}", length), [&] {
      DAT_EVD_HANDLE handle = DAT_HANDLE_NULL;
      expect(CALL(dat_evd_create, ia().get(), length, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &handle),
             returns(DAT_INVALID_PARAMETER));
    });
}

DAT_CASE(length_of_one_suffices, calls(dat_evd_create, dat_evd_post_se, dat_evd_dequeue),
         rules("dat.evd-create.success")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 1);
  expect(post_software(evd, 3), succeeds);
  expect_that(number_of(expect_event(evd, DAT_SOFTWARE_EVENT)) == 3, "the event", "another");
}

DAT_CASE(longest_dispatcher_of_the_attributes_is_made, calls(dat_evd_create),
         rules("dat.evd-create.success")) {
  const DAT_COUNT most = ia().attributes().max_evd_qlen;
  DAT_EVD_HANDLE handle = DAT_HANDLE_NULL;
  expect(CALL(dat_evd_create, ia().get(), most, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &handle),
         succeeds.or_tolerably(DAT_INSUFFICIENT_RESOURCES));
  const Evd evd(handle);
}

DAT_CASE(dispatcher_beyond_the_attributes_is_not_made, calls(dat_evd_create),
         rules("dat.evd-create.insufficient-resources")) {
  const DAT_COUNT most = ia().attributes().max_evd_qlen;
  if (most == std::numeric_limits<DAT_COUNT>::max())
    stop(Verdict::not_applicable, "there is no limit");
  DAT_EVD_HANDLE handle = DAT_HANDLE_NULL;
  expect(
      CALL(dat_evd_create, ia().get(), most + 1, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &handle),
      returns(DAT_INSUFFICIENT_RESOURCES).or_tolerably(DAT_INVALID_PARAMETER));
}

DAT_CASE(unknown_streams_are_refused, calls(dat_evd_create),
         rules("dat.evd-create.invalid-parameter")) {
  DAT_EVD_HANDLE handle = DAT_HANDLE_NULL;
  expect(CALL(dat_evd_create, ia().get(), 4, DAT_HANDLE_NULL, flags_of<DAT_EVD_FLAGS>(0x40000000U),
              &handle),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(dispatcher_of_no_stream_is_refused, calls(dat_evd_create),
         rules("dat.evd-create.invalid-parameter")) {
  DAT_EVD_HANDLE handle = DAT_HANDLE_NULL;
  expect(CALL(dat_evd_create, ia().get(), 4, DAT_HANDLE_NULL, flags_of<DAT_EVD_FLAGS>(0), &handle),
         returns(DAT_INVALID_PARAMETER).or_tolerably(DAT_SUCCESS));
  const Evd evd(handle);
}

DAT_CASE(dispatcher_with_a_null_handle_output_is_refused, calls(dat_evd_create),
         rules("dat.evd-create.invalid-parameter"), with_hostile_handles) {
  expect(CALL(dat_evd_create, ia().get(), 4, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, nullptr),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(create_with_an_invalid_ia_is_refused, calls(dat_evd_create),
         rules("dat.evd-create.invalid-handle")) {
  DAT_EVD_HANDLE handle = DAT_HANDLE_NULL;
  expect(CALL(dat_evd_create, DAT_HANDLE_NULL, 4, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &handle),
         returns(DAT_INVALID_HANDLE));
}

DAT_CASE(create_with_a_freed_cno_is_refused, calls(dat_evd_create),
         rules("dat.evd-create.invalid-handle"), with_hostile_handles) {
  DAT_CNO_HANDLE freed = DAT_HANDLE_NULL;
  {
    const Cno cno = ia().cno();
    freed = cno.get();
  }
  DAT_EVD_HANDLE handle = DAT_HANDLE_NULL;
  expect(CALL(dat_evd_create, ia().get(), 4, freed, DAT_EVD_DTO_FLAG, &handle),
         returns(DAT_INVALID_HANDLE));
}

DAT_CASE(create_with_a_zone_for_a_cno_is_refused, calls(dat_evd_create),
         rules("dat.evd-create.invalid-handle"), with_hostile_handles) {
  const Pz pz = ia().pz();
  DAT_EVD_HANDLE handle = DAT_HANDLE_NULL;
  expect(CALL(dat_evd_create, ia().get(), 4, pz.get(), DAT_EVD_DTO_FLAG, &handle),
         returns(DAT_INVALID_HANDLE));
}

DAT_CASE(many_threads_make_dispatchers, calls(dat_evd_create, dat_evd_free),
         rules("dat.evd-create.success"), deadline_of(10s)) {
  Ia& shared = ia();
  std::vector<std::future<DAT_RETURN>> threads;
  for (int i = 0; i < 4; ++i)
    threads.push_back(std::async(std::launch::async, [&shared] {
      for (int made = 0; made < 50; ++made) {
        DAT_EVD_HANDLE handle = DAT_HANDLE_NULL;
        const DAT_RETURN got =
            CALL(dat_evd_create, shared.get(), 4, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &handle);
        if (got != DAT_SUCCESS) return got;
        const Evd evd(handle);
      }
      return static_cast<DAT_RETURN>(DAT_SUCCESS);
    }));
  for (auto& thread : threads) expect(thread.get(), succeeds);
}

// ---------------------------------------------------------------- CNO, enable, disable

DAT_CASE(event_triggers_the_cno, calls(dat_evd_create, dat_cno_wait),
         rules("dat.evd-enable.success")) {
  const Cno cno = ia().cno();
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 4, cno.get());
  need(post_software(evd, 1), "no event");
  expect_trigger(*this, cno, &evd);
  expect_trigger(*this, cno, nullptr);
}

DAT_CASE(events_of_a_disabled_dispatcher_do_not_trigger_the_cno, calls(dat_evd_disable),
         rules("dat.evd-disable.success")) {
  const Cno cno = ia().cno();
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 4, cno.get());
  expect(CALL(dat_evd_disable, evd.get()), succeeds);
  for (const std::uintptr_t number : {6U, 7U}) expect(post_software(evd, number), succeeds);
  expect_trigger(*this, cno, nullptr);
  expect_that(number_of(expect_event(evd, DAT_SOFTWARE_EVENT)) == 6, "the event", "another");
  DAT_EVENT event{};
  expect(CALL(dat_evd_dequeue, evd.get(), &event), succeeds);
  expect_that(number_of(event) == 7, "the next event", "another");
}

DAT_CASE(query_shows_that_a_dispatcher_is_disabled,
         calls(dat_evd_disable, dat_evd_enable, dat_evd_query),
         rules("dat.evd-query.state", "dat.evd-disable.success", "dat.evd-enable.success")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  for (int twice = 0; twice < 2; ++twice)
    expect(CALL(dat_evd_disable, evd.get()), succeeds, "dat.evd-disable.success");
  DAT_EVD_STATE state = query(*this, evd.get()).evd_state;
  expect_that(is_in(state, DAT_EVD_STATE_DISABLED, DAT_EVD_STATE_ENABLED), "disabled",
              state_bits(state));
  for (int twice = 0; twice < 2; ++twice)
    expect(CALL(dat_evd_enable, evd.get()), succeeds, "dat.evd-enable.success");
  state = query(*this, evd.get()).evd_state;
  expect_that(is_in(state, DAT_EVD_STATE_ENABLED, DAT_EVD_STATE_DISABLED), "enabled",
              state_bits(state));
}

DAT_CASE(dispatcher_enabled_again_triggers_the_cno, calls(dat_evd_enable),
         rules("dat.evd-enable.success")) {
  const Cno cno = ia().cno();
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 4, cno.get());
  need(CALL(dat_evd_disable, evd.get()), "not disabled");
  expect(CALL(dat_evd_enable, evd.get()), succeeds);
  need(post_software(evd, 1), "no event");
  expect_trigger(*this, cno, &evd);
}

DAT_CASE(events_go_to_the_new_cno, calls(dat_evd_modify_cno), rules("dat.evd-modify-cno.success")) {
  const Cno before = ia().cno(), after = ia().cno();
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 4, before.get());
  expect(CALL(dat_evd_modify_cno, evd.get(), after.get()), succeeds);
  expect_that(query(*this, evd.get()).cno_handle == after.get(), "the new CNO", "another");
  need(post_software(evd, 1), "no event");
  expect_trigger(*this, after, &evd);
  expect_trigger(*this, before, nullptr);
}

DAT_CASE(events_go_to_no_cno, calls(dat_evd_modify_cno), rules("dat.evd-modify-cno.success")) {
  const Cno cno = ia().cno();
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 4, cno.get());
  expect(CALL(dat_evd_modify_cno, evd.get(), DAT_HANDLE_NULL), succeeds);
  expect_that(query(*this, evd.get()).cno_handle == DAT_HANDLE_NULL, "no CNO", "a CNO");
  need(post_software(evd, 1), "no event");
  expect_trigger(*this, cno, nullptr);
}

/// What a call does not name stays as it was.
DAT_CASE(each_call_changes_its_part_alone,
         calls(dat_evd_resize, dat_evd_modify_cno, dat_evd_enable, dat_evd_disable,
               dat_evd_set_unwaitable, dat_evd_clear_unwaitable),
         rules("dat.evd-query.state", "dat.evd-query.success")) {
  const Cno cno = ia().cno();
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 8, cno.get());
  constexpr unsigned enabling = DAT_EVD_STATE_ENABLED | DAT_EVD_STATE_DISABLED,
                     waiting = DAT_EVD_STATE_WAITABLE | DAT_EVD_STATE_UNWAITABLE;
  const auto leaves = [&](const char* name, unsigned bits, bool with_cno,
                          const std::function<DAT_RETURN()>& call) {
    row(name, [&] {
      const DAT_EVD_PARAM before = query(*this, evd.get());
      expect(call(), succeeds, "dat.evd-query.state");
      const DAT_EVD_PARAM after = query(*this, evd.get());
      const auto kept = [&](DAT_EVD_STATE state) { return static_cast<unsigned>(state) & bits; };
      expect_that(kept(before.evd_state) == kept(after.evd_state), state_bits(before.evd_state),
                  state_bits(after.evd_state), "dat.evd-query.state");
      if (with_cno)
        expect_that(after.cno_handle == before.cno_handle, "the same CNO", "another CNO",
                    "dat.evd-query.success");
      expect_that(after.evd_flags == before.evd_flags, "the same streams", "others",
                  "dat.evd-query.success");
    });
  };
  const auto on = [&](DAT_RETURN (*call)(DAT_EVD_HANDLE)) {
    return [&evd, call] { return call(evd.get()); };
  };
  leaves("disable", waiting, true, on(dat_evd_disable));
  leaves("set_unwaitable", enabling, true, on(dat_evd_set_unwaitable));
  leaves("resize of a disabled and unwaitable one", enabling | waiting, true,
         [&] { return CALL(dat_evd_resize, evd.get(), 64); });
  leaves("modify_cno of such a one", enabling | waiting, false,
         [&] { return CALL(dat_evd_modify_cno, evd.get(), DAT_HANDLE_NULL); });
  leaves("modify_cno to a CNO", enabling | waiting, false,
         [&] { return CALL(dat_evd_modify_cno, evd.get(), cno.get()); });
  leaves("enable", waiting, true, on(dat_evd_enable));
  leaves("disable again", waiting, true, on(dat_evd_disable));
  leaves("clear_unwaitable", enabling, true, on(dat_evd_clear_unwaitable));
  leaves("enable again", waiting, true, on(dat_evd_enable));
}

DAT_CASE(cno_left_by_its_dispatchers_is_freed, calls(dat_evd_modify_cno, dat_cno_free),
         rules("dat.evd-modify-cno.success")) {
  Cno cno = ia().cno();
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 4, cno.get());
  need(CALL(dat_evd_modify_cno, evd.get(), DAT_HANDLE_NULL), "not modified");
  expect(CALL(dat_cno_free, cno.release()), succeeds);
}

DAT_CASE(modify_to_a_zone_as_cno_is_refused, calls(dat_evd_modify_cno),
         rules("dat.evd-modify-cno.invalid-handle"), with_hostile_handles) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  const Pz pz = ia().pz();
  expect(CALL(dat_evd_modify_cno, evd.get(), pz.get()), returns(DAT_INVALID_HANDLE));
  expect_that(query(*this, evd.get()).cno_handle == DAT_HANDLE_NULL, "no CNO", "a CNO");
}

DAT_CASE(unwaitable_dispatcher_still_triggers_the_cno, calls(dat_evd_set_unwaitable),
         rules("dat.evd-set-unwaitable.success")) {
  const Cno cno = ia().cno();
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 4, cno.get());
  expect(CALL(dat_evd_set_unwaitable, evd.get()), succeeds);
  expect(post_software(evd, 8), succeeds);
  expect_trigger(*this, cno, &evd);
  DAT_EVENT event{};
  expect(CALL(dat_evd_dequeue, evd.get(), &event), succeeds);
  expect_that(number_of(event) == 8, "the event", "another");
}

DAT_CASE(query_shows_that_a_dispatcher_is_unwaitable,
         calls(dat_evd_set_unwaitable, dat_evd_clear_unwaitable, dat_evd_query),
         rules("dat.evd-query.state", "dat.evd-set-unwaitable.success",
               "dat.evd-clear-unwaitable.success")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  for (int twice = 0; twice < 2; ++twice)
    expect(CALL(dat_evd_set_unwaitable, evd.get()), succeeds, "dat.evd-set-unwaitable.success");
  DAT_EVD_STATE state = query(*this, evd.get()).evd_state;
  expect_that(is_in(state, DAT_EVD_STATE_UNWAITABLE, DAT_EVD_STATE_WAITABLE), "unwaitable",
              state_bits(state));
  for (int twice = 0; twice < 2; ++twice)
    expect(CALL(dat_evd_clear_unwaitable, evd.get()), succeeds, "dat.evd-clear-unwaitable.success");
  state = query(*this, evd.get()).evd_state;
  expect_that(is_in(state, DAT_EVD_STATE_WAITABLE, DAT_EVD_STATE_UNWAITABLE), "waitable",
              state_bits(state));
}

// ---------------------------------------------------------------- resize

DAT_CASE(longer_queue_keeps_its_events, calls(dat_evd_resize, dat_evd_query),
         rules("dat.evd-resize.success")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 4);
  for (std::uintptr_t i = 1; i <= 4; ++i) need(post_software(evd, i), "no event");
  for (int twice = 0; twice < 2; ++twice) expect(CALL(dat_evd_resize, evd.get(), 64), succeeds);
  const DAT_COUNT length = query(*this, evd.get()).evd_qlen;
  expect_that(length >= 64, "a queue of 64 or more", fmt::format("a queue of {}", length));
  for (std::uintptr_t i = 5; i <= 64; ++i) expect(post_software(evd, i), succeeds);
  for (std::uintptr_t i = 1; i <= 64; ++i) {
    const std::uintptr_t got = number_of(expect_event(evd, DAT_SOFTWARE_EVENT));
    expect_that(got == i, fmt::format("event {}", i), fmt::format("event {}", got));
  }
}

DAT_CASE(shorter_queue_keeps_its_events, calls(dat_evd_resize), rules("dat.evd-resize.success")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 64);
  for (std::uintptr_t i = 1; i <= 3; ++i) need(post_software(evd, i), "no event");
  expect(CALL(dat_evd_resize, evd.get(), 3), succeeds);
  for (std::uintptr_t i = 1; i <= 3; ++i)
    expect_that(number_of(expect_event(evd, DAT_SOFTWARE_EVENT)) == i, "the next event", "another");
  expect_no_event(evd);
}

DAT_CASE(resize_below_the_queued_events_is_refused, calls(dat_evd_resize),
         rules("dat.evd-resize.invalid-state")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 8);
  for (std::uintptr_t i = 1; i <= 5; ++i) need(post_software(evd, i), "no event");
  expect(CALL(dat_evd_resize, evd.get(), 2), returns(DAT_INVALID_STATE).or_tolerably(DAT_SUCCESS));
  for (std::uintptr_t i = 1; i <= 5; ++i)
    expect_that(number_of(expect_event(evd, DAT_SOFTWARE_EVENT)) == i, "the next event", "another",
                "dat.evd-resize.invalid-state");
}

DAT_CASE(resize_to_a_length_that_is_not_positive_is_refused, calls(dat_evd_resize),
         rules("dat.evd-resize.invalid-parameter")) {
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 8);
  for (const DAT_COUNT length : {0, -1})
    row(fmt::format("length {}", length),
        [&] { expect(CALL(dat_evd_resize, evd.get(), length), returns(DAT_INVALID_PARAMETER)); });
}

DAT_CASE(resize_beyond_the_attributes_fails, calls(dat_evd_resize),
         rules("dat.evd-resize.insufficient-resources")) {
  const DAT_COUNT most = ia().attributes().max_evd_qlen;
  if (most == std::numeric_limits<DAT_COUNT>::max())
    stop(Verdict::not_applicable, "there is no limit");
  const Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG, 8);
  expect(CALL(dat_evd_resize, evd.get(), most + 1),
         returns(DAT_INSUFFICIENT_RESOURCES).or_tolerably(DAT_INVALID_PARAMETER));
}

DAT_CASE(completions_survive_a_resize, calls(dat_evd_resize), rules("dat.evd-resize.success")) {
  const Pair pair = connected();
  const Lmr memory(ia(), pair.pz.get(), 64);
  for (DAT_UINT64 id = 1; id <= 8; ++id)
    need(post_recv(pair.passive.ep.get(), {memory.triplet(0, 8)}, id), "no receive");
  for (DAT_UINT64 id = 1; id <= 8; ++id) {
    need(post_send(pair.active.ep.get(), {memory.triplet(8, 8)}, id), "no send");
    expect(CALL(dat_evd_resize, pair.passive.receives.get(), static_cast<DAT_COUNT>(32 + id)),
           succeeds);
  }
  for (DAT_UINT64 id = 1; id <= 8; ++id)
    (void)expect_completion(pair.passive.receives, id, DAT_DTO_SUCCESS);
}

// ---------------------------------------------------------------- free

DAT_CASE(dispatcher_with_events_is_freed, calls(dat_evd_free), rules("dat.evd-free.success")) {
  Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  need(post_software(evd, 1), "no event");
  expect(CALL(dat_evd_free, evd.release()), succeeds);
}

DAT_CASE(dispatcher_of_an_endpoint_is_not_freed, calls(dat_evd_free),
         rules("dat.evd-free.invalid-state")) {
  const Pz pz = ia().pz();
  Side side = make_side(ia(), pz);
  for (const auto& [name, evd] : {std::pair{"of receives", side.receives.get()},
                                  std::pair{"of requests", side.requests.get()},
                                  std::pair{"of the connection", side.connection.get()}})
    row(name, [&] { expect(CALL(dat_evd_free, evd), returns(DAT_INVALID_STATE)); });
  side.ep.reset();
  expect(CALL(dat_evd_free, side.receives.release()), succeeds, "dat.evd-free.invalid-state");
}

DAT_CASE(dispatcher_is_held_by_each_of_its_endpoints, calls(dat_evd_free),
         rules("dat.evd-free.invalid-state", "dat.evd-free.success")) {
  const Pz pz = ia().pz();
  Side first = make_side(ia(), pz);
  DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
  need(CALL(dat_ep_create, ia().get(), pz.get(), first.receives.get(), first.requests.get(),
            first.connection.get(), nullptr, &handle),
       "no second endpoint");
  Ep second(handle);
  first.ep.reset();
  for (const Evd* evd : {&first.receives, &first.requests, &first.connection})
    expect(CALL(dat_evd_free, evd->get()), returns(DAT_INVALID_STATE));
  second.reset();
  for (Evd* evd : {&first.receives, &first.requests, &first.connection})
    expect(CALL(dat_evd_free, evd->release()), succeeds, "dat.evd-free.success");
}

DAT_CASE(dispatcher_of_a_service_point_is_not_freed, calls(dat_evd_free),
         rules("dat.evd-free.invalid-state", "dat.evd-free.success")) {
  Listener listener(ia());
  expect(CALL(dat_evd_free, listener.requests.get()), returns(DAT_INVALID_STATE));
  listener.psp.reset();
  expect(CALL(dat_evd_free, listener.requests.release()), succeeds, "dat.evd-free.success");
}

DAT_CASE(free_is_refused_or_wakes_the_waiter, calls(dat_evd_free, dat_evd_wait),
         rules("dat.evd-free.waiter")) {
  Evd evd = ia().evd(DAT_EVD_SOFTWARE_FLAG);
  Waiter waiter(evd);
  const DAT_RETURN got = CALL(dat_evd_free, evd.get());
  if (got != DAT_SUCCESS) need(post_software(evd, 1), "no event");
  const Waited waited = waiter.result();
  if (got == DAT_SUCCESS) evd.release();
  expect(got, returns_one_of({DAT_INVALID_STATE, DAT_SUCCESS}));
  expect(waited.code, got == DAT_SUCCESS ? returns(DAT_ABORT) : succeeds);
}

DAT_CASES_OF_FILE(evd)

}  // namespace suite::cases::dat
