// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// CNOs: which dispatchers trigger them.
#include <algorithm>

#include "suite/cases/dat/framework/dat_notification.hpp"
#include "suite/sessions/dat/player.hpp"

namespace suite::sessions::dat {

struct Player::Agent {
  dat_case::AgentCalls told;
  /// By dat_cno_modify_agent.
  bool given_later = false;
  /// It may have been called by what nobody can know of; and it has certainly been called.
  bool possible = false, called = false;
};

void Player::make_notifier(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % notifier_places;
  Notifier& notifier = model_.notifiers[at];
  if (notifier.handle != DAT_HANDLE_NULL || turn.lane != 0) return;
  ++played_;
  const auto agent = step.other % 2 == 1 ? std::make_shared<Agent>() : nullptr;
  DAT_CNO_HANDLE handle = DAT_HANDLE_NULL;
  const DAT_RETURN got =
      call(turn, [&] { return CALL(dat_cno_create, ia_->get(), proxy_of(agent.get()), &handle); });
  if (!expect("dat.cno-create.success", got, succeeds)) return;
  demand(handle != DAT_HANDLE_NULL, "dat.cno-create.success", "a handle", "DAT_HANDLE_NULL");
  notifier = {.handle = handle};
  has_agent(turn, at, agent, "dat.cno-query.success");
}

void Player::free_notifier(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % notifier_places;
  Notifier& notifier = model_.notifiers[at];
  if (notifier.handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  ++played_;
  const bool fed = model_.notifier_is_fed(at);
  const DAT_RETURN got = call(turn, [&] { return CALL(dat_cno_free, notifier.handle); });
  if (!expect(fed ? "dat.cno-free.invalid-state" : "dat.cno-free.success", got,
              fed ? returns(DAT_INVALID_STATE) : succeeds))
    return;
  is_freed(Object::notifier, notifier.handle);
  loses_agent(at);
  notifier = {};
}

// ---------------------------------------------------------------- agents

DAT_OS_WAIT_PROXY_AGENT Player::proxy_of(Agent* agent) {
  const DAT_OS_WAIT_PROXY_AGENT none = DAT_OS_WAIT_PROXY_AGENT_NULL;
  return agent == nullptr ? none : agent->told.agent();
}

void Player::set_agent(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % notifier_places;
  const Notifier& notifier = model_.notifiers[at];
  if (notifier.handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  ++played_;
  const auto agent = step.other % 2 == 1 ? nullptr : std::make_shared<Agent>();
  if (agent) agent->given_later = true;
  const DAT_RETURN got = call(
      turn, [&] { return CALL(dat_cno_modify_agent, notifier.handle, proxy_of(agent.get())); });
  if (!expect("dat.cno-modify-agent.success", got, succeeds)) return;
  loses_agent(at);
  has_agent(turn, at, agent, "dat.cno-modify-agent.success");
}

void Player::has_agent(Turn& turn, std::uint32_t at, std::shared_ptr<Agent> agent,
                       const char* rule) {
  const Notifier& notifier = model_.notifiers[at];
  agents_[at] = std::move(agent);
  Agent* const now = agents_[at].get();
  DAT_CNO_PARAM param{};
  param.proxy_type = DAT_PROXY_TYPE_FD;
  expect(
      "dat.cno-query.success",
      call(turn, [&] { return CALL(dat_cno_query, notifier.handle, DAT_CNO_FIELD_ALL, &param); }),
      succeeds);
  demand(param.ia_handle == ia_->get(), "dat.cno-query.success", "the IA", "another handle");
  const bool is_gone = param.proxy_type == DAT_PROXY_TYPE_NONE;
  if (now == nullptr)
    demand(is_gone, rule, "no agent", "an agent");
  else if (!is_gone || !notifier.doubtful)  // it may have been called by now
    demand(param.proxy_type == DAT_PROXY_TYPE_AGENT &&
               param.proxy.agent.instance_data == static_cast<DAT_PVOID>(&now->told),
           rule, "the agent", "none, or another");
}

void Player::loses_agent(std::uint32_t at) {
  if (!agents_[at]) return;
  if (model_.notifiers[at].doubtful) may_call_agent(at);
  former_agents_.push_back(std::exchange(agents_[at], nullptr));
}

void Player::may_call_agent(std::uint32_t at) {
  if (agents_[at]) agents_[at]->possible = true;
}

void Player::calls_agent(Turn& turn, std::uint32_t at, DAT_EVD_HANDLE with, const char* rule) {
  const std::shared_ptr<Agent> agent = agents_[at];
  if (!agent || agent->called) return;
  const bool is_known = !agent->possible && !model_.notifiers[at].doubtful;
  static_cast<void>(call(turn, [&] {
    static_cast<void>(agent->told.within(std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::microseconds(patience_))));
    return DAT_RETURN{DAT_SUCCESS};
  }));
  demand(agent->told.count > 0, rule, "a call of the agent", "none");
  if (is_known)
    demand(agent->told.evd == with, rule, "the dispatcher that triggers it, or none",
           "another handle");
  agent->called = true;
}

// dat_cno_modify_agent says that it is called with any trigger, dat_cno_create with the first one.
void Player::judge_former(const Agent& agent) {
  if (!agent.possible && !agent.called)
    demand(agent.told.count == 0, "dat.cno-create.agent", "no call without a trigger", "a call");
  if (!agent.given_later)
    demand(agent.told.count <= 1, "dat.cno-create.agent-once", "one call", "several");
}

// Only of software events is it known when they arrive; and no text says how many triggers are kept.
void Player::wait_for_notifier(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % notifier_places;
  Notifier& notifier = model_.notifiers[at];
  if (notifier.handle == DAT_HANDLE_NULL || turn.lane != 0 || !model_.notifier_is_fed(at)) return;
  bool holds = false;
  for (std::uint32_t i = 0; i < dispatcher_places; ++i) {
    const Dispatcher& one = model_.dispatchers[i];
    if (one.handle == DAT_HANDLE_NULL || one.notifier != at) continue;
    holds = holds || !one.software.empty();
  }
  // Whether a trigger outlives the events that were taken meanwhile, no text says.
  const bool certain = notifier.triggered && holds;
  ++played_;
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  const DAT_TIMEOUT timeout = certain ? patience_ : a_moment;
  const DAT_RETURN got =
      call(turn, [&] { return CALL(dat_cno_wait, notifier.handle, timeout, &evd); });
  if (certain) {
    expect("dat.cno-wait.success", got, succeeds);
  } else if (!notifier.doubtful && notifier.triggers.empty()) {
    expect("dat.cno-wait.timeout", got, returns(DAT_QUEUE_EMPTY));
  } else {
    expect("dat.cno-wait.timeout", got, returns_one_of({DAT_SUCCESS, DAT_QUEUE_EMPTY}));
  }
  notifier.triggered = false;
  if (got == DAT_SUCCESS) {
    const bool its_own =
        evd != DAT_HANDLE_NULL &&
        (notifier.doubtful || std::ranges::any_of(notifier.triggers, [&](std::uint32_t one) {
           return model_.dispatchers[one].handle == evd;
         }));
    demand(its_own, "dat.cno-wait.success", "a dispatcher that has triggered it", "another handle");
    return;
  }
  demand(evd == DAT_HANDLE_NULL, "dat.cno-wait.timeout", "no dispatcher", "a handle");
  notifier.triggers.clear();
}

void Player::move_dispatcher(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % dispatcher_places;
  Dispatcher& dispatcher = model_.dispatchers[at];
  if (dispatcher.handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  std::optional<std::uint32_t> to;
  if (step.other > 0) to = (step.other - 1) % notifier_places;
  if (to && model_.notifiers[*to].handle == DAT_HANDLE_NULL) return;
  ++played_;
  const DAT_CNO_HANDLE cno = to ? model_.notifiers[*to].handle : DAT_HANDLE_NULL;
  const DAT_RETURN got =
      call(turn, [&] { return CALL(dat_evd_modify_cno, dispatcher.handle, cno); });
  if (!expect("dat.evd-modify-cno.success", got, succeeds)) return;
  for (const auto& one : {dispatcher.notifier, to})
    if (one) may_call_agent(*one);
  // What it has triggered may still be there, or not; what it holds may trigger the new one, or not.
  if (dispatcher.notifier) model_.notifiers[*dispatcher.notifier].triggered = false;
  dispatcher.notifier = to;
  query_dispatcher({.object = at}, turn);
  if (!to) return;
  Notifier& notifier = model_.notifiers[*to];
  notifier.doubtful = notifier.doubtful || dispatcher.was_fed;
  notifier.may_be_triggered_by(at);
}

}  // namespace suite::sessions::dat
