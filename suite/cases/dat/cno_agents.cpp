// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The agents of CNOs, and what becomes of agents and waiters when EVDs are freed.
#include "suite/cases/dat/framework/dat_notification.hpp"

namespace suite::cases::dat {

namespace {

/// Returns when the CNO has no agent, or after a second: it may have one until the agent's call has
/// returned.
void until_without_agent(DAT_CNO_HANDLE cno) {
  using Clock = std::chrono::steady_clock;
  const auto latest = Clock::now() + std::chrono::seconds(1);
  DAT_CNO_PARAM param{};
  param.proxy_type = DAT_PROXY_TYPE_AGENT;
  while (param.proxy_type == DAT_PROXY_TYPE_AGENT && Clock::now() < latest) {
    std::this_thread::yield();
    if (CALL(dat_cno_query, cno, DAT_CNO_FIELD_ALL, &param) != DAT_SUCCESS) return;
  }
}

}  // namespace

DAT_CASE(cno_calls_its_agent, calls(dat_cno_create, dat_cno_query),
         rules("dat.cno-query.success")) {
  AgentCalls told;
  DAT_CNO_HANDLE handle = DAT_HANDLE_NULL;
  const DAT_OS_WAIT_PROXY_AGENT agent = told.agent();
  expect(CALL(dat_cno_create, ia().get(), agent, &handle), succeeds);
  const Cno cno(handle);
  const DAT_CNO_PARAM param = query(*this, handle);
  same(*this, "proxy", param.proxy_type, DAT_PROXY_TYPE_AGENT);
  same(*this, "data", param.proxy.agent.instance_data, agent.instance_data);
  expect_that(param.proxy.agent.proxy_agent_func == agent.proxy_agent_func, "the agent's function",
              "another");
}

DAT_CASE(agent_is_called_with_the_evd, calls(dat_cno_create), rules("dat.cno-create.agent")) {
  AgentCalls told;
  DAT_CNO_HANDLE handle = DAT_HANDLE_NULL;
  expect(CALL(dat_cno_create, ia().get(), told.agent(), &handle), succeeds);
  const CnoWithEvd fed(ia(), Cno(handle));
  expect_that(told.count == 0, "no call before an event", "a call");
  need(post(fed.evd), "no software event");
  told.wait();
  same(*this, "EVD", told.evd.load(), fed.evd.get());
}

// dat_cno_modify_agent speaks of any trigger; this is what dat_cno_create says of an agent.
DAT_CASE(agent_is_called_once, calls(dat_cno_create, dat_cno_modify_agent, dat_cno_query),
         rules("dat.cno-create.agent-once")) {
  const auto is_gone = [&](const char* name, bool given_later, bool by_free) {
    row(name, [&] {
      AgentCalls told;
      const DAT_OS_WAIT_PROXY_AGENT none = DAT_OS_WAIT_PROXY_AGENT_NULL;
      DAT_CNO_HANDLE handle = DAT_HANDLE_NULL;
      need(CALL(dat_cno_create, ia().get(), given_later ? none : told.agent(), &handle), "no CNO");
      CnoWithEvd fed(ia(), Cno(handle));
      if (given_later) need(CALL(dat_cno_modify_agent, handle, told.agent()), "no agent");
      need(by_free ? CALL(dat_evd_free, fed.evd.release()) : post(fed.evd), "no trigger");
      if (!told.within(std::chrono::seconds(5)))
        stop(Verdict::not_applicable, "the agent is not called; other cases judge that");
      until_without_agent(handle);
      same(*this, "proxy", query(*this, handle).proxy_type, DAT_PROXY_TYPE_NONE);
    });
  };
  is_gone("given with the CNO", false, false);
  is_gone("given later", true, false);
  is_gone("called when the last EVD was freed", false, true);
}

// ---------------------------------------------------------------- dat_cno_modify_agent

DAT_CASE(later_agent_is_called, calls(dat_cno_modify_agent),
         rules("dat.cno-modify-agent.success")) {
  AgentCalls first, second;
  DAT_CNO_HANDLE handle = DAT_HANDLE_NULL;
  need(CALL(dat_cno_create, ia().get(), first.agent(), &handle), "no CNO");
  const CnoWithEvd fed(ia(), Cno(handle));
  expect(CALL(dat_cno_modify_agent, handle, second.agent()), succeeds);
  need(post(fed.evd), "no software event");
  second.wait();
  same(*this, "EVD", second.evd.load(), fed.evd.get());
  same(*this, "calls of the earlier agent", first.count.load(), 0);
}

// A trigger that nobody has taken is there already; whether another event of its EVD is one more is
// not said.
DAT_CASE(agent_is_called_beside_a_trigger_that_nobody_took, calls(dat_cno_modify_agent),
         rules("dat.cno-modify-agent.success")) {
  AgentCalls told;
  const CnoWithEvd fed(ia());
  const Evd other = fed.feed(ia());
  need(post(fed.evd), "no software event");
  for (const Evd* evd : {&other, &fed.evd}) {
    told.count = 0;
    expect(CALL(dat_cno_modify_agent, fed.cno.get(), told.agent()), succeeds);
    need(post(*evd), "no software event");
    advise_that(told.within(std::chrono::seconds(1)), "a call of the agent", "no call");
  }
  expect(CALL(dat_cno_modify_agent, fed.cno.get(), DAT_OS_WAIT_PROXY_AGENT_NULL), succeeds);
}

DAT_CASE(agent_is_removed, calls(dat_cno_modify_agent, dat_cno_query),
         rules("dat.cno-modify-agent.success")) {
  AgentCalls told;
  DAT_CNO_HANDLE handle = DAT_HANDLE_NULL;
  need(CALL(dat_cno_create, ia().get(), told.agent(), &handle), "no CNO");
  const CnoWithEvd fed(ia(), Cno(handle));
  expect(CALL(dat_cno_modify_agent, handle, DAT_OS_WAIT_PROXY_AGENT_NULL), succeeds);
  same(*this, "proxy", query(*this, handle).proxy_type, DAT_PROXY_TYPE_NONE);
  need(post(fed.evd), "no software event");
  expect(wait(handle, DAT_TIMEOUT_INFINITE), succeeds);
  same(*this, "calls", told.count.load(), 0);
}

DAT_CASE(waiters_wake_up_although_there_is_an_agent, calls(dat_cno_modify_agent, dat_cno_wait),
         rules("dat.cno-modify-agent.success")) {
  AgentCalls told;
  const CnoWithEvd fed(ia());
  expect(CALL(dat_cno_modify_agent, fed.cno.get(), told.agent()), succeeds);
  DAT_RETURN got = DAT_INTERNAL_ERROR;
  Blocked waiter([&] { got = wait(fed.cno.get(), DAT_TIMEOUT_INFINITE); });
  need(post(fed.evd), "no software event");
  waiter.join();
  told.wait();
  expect(got, succeeds);
}

DAT_HANDLE_CASES(agent, dat_cno_modify_agent, "dat.cno-modify-agent.invalid-handle",
                 DAT_HANDLE_TYPE_CNO, freed(ia().cno()),
                 CALL(dat_cno_modify_agent, handle, DAT_OS_WAIT_PROXY_AGENT_NULL))

// ---------------------------------------------------------------- EVDs that are freed

DAT_CASE(waiters_return_when_the_last_evd_is_freed, calls(dat_cno_wait, dat_evd_free),
         rules("dat.cno-wait.evds-freed")) {
  CnoWithEvd fed(ia());
  Evd other = fed.feed(ia());
  struct Result {
    DAT_RETURN code = DAT_SUCCESS;
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  } results[2];
  const auto wait_for = [&](Result& result) {
    return [&fed, &result] {
      result.evd = fed.evd.get();
      result.code = CALL(dat_cno_wait, fed.cno.get(), DAT_TIMEOUT_INFINITE, &result.evd);
    };
  };
  Blocked first(wait_for(results[0])), second(wait_for(results[1]));
  need(CALL(dat_evd_free, other.release()), "not freed");
  expect_that(!first.over() && !second.over(), "waiting as long as there is an EVD",
              "the wait ended");
  need(CALL(dat_evd_free, fed.evd.release()), "not freed");
  first.join();
  second.join();
  for (const Result& result : results) {
    expect(result.code, succeeds.or_tolerably(DAT_ABORT));
    same(*this, "EVD", result.evd, DAT_EVD_HANDLE{DAT_HANDLE_NULL});
  }
}

DAT_CASE(agent_is_called_when_the_last_evd_is_freed, calls(dat_cno_create, dat_evd_free),
         rules("dat.cno-wait.evds-freed")) {
  AgentCalls told;
  told.evd = ia().async_evd();
  DAT_CNO_HANDLE handle = DAT_HANDLE_NULL;
  need(CALL(dat_cno_create, ia().get(), told.agent(), &handle), "no CNO");
  CnoWithEvd fed(ia(), Cno(handle));
  expect(CALL(dat_evd_free, fed.evd.release()), succeeds);
  told.wait();
  same(*this, "EVD", told.evd.load(), DAT_EVD_HANDLE{DAT_HANDLE_NULL});
}

// The EVD named is a hint, but the end of a wait is not: nothing has notified the CNO.
DAT_CASE(free_of_one_of_two_evds_ends_no_wait, calls(dat_cno_wait, dat_evd_free),
         rules("dat.cno-wait.timeout", "dat.cno-wait.evds-freed")) {
  CnoWithEvd fed(ia());
  Evd other = fed.feed(ia());
  DAT_RETURN got = DAT_SUCCESS;
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  Blocked waiter([&] { got = CALL(dat_cno_wait, fed.cno.get(), 100'000, &evd); });
  need(CALL(dat_evd_free, other.release()), "not freed");
  waiter.join();
  expect(got, returns(DAT_QUEUE_EMPTY));
}

DAT_CASE(free_of_one_of_two_evds_calls_no_agent, calls(dat_cno_create, dat_evd_free),
         rules("dat.cno-wait.evds-freed")) {
  AgentCalls told;
  DAT_CNO_HANDLE handle = DAT_HANDLE_NULL;
  need(CALL(dat_cno_create, ia().get(), told.agent(), &handle), "no CNO");
  CnoWithEvd fed(ia(), Cno(handle));
  Evd other = fed.feed(ia());
  need(CALL(dat_evd_free, other.release()), "not freed");
  need(post(fed.evd), "no software event");
  told.wait();
  same(*this, "EVD", told.evd.load(), fed.evd.get());
}

DAT_CASES_OF_PART(cno, agents)

}  // namespace suite::cases::dat
