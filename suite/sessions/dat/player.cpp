// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/sessions/dat/player.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <set>
#include <thread>

#include "suite/cases/dat/framework/dat_threads.hpp"

namespace suite::sessions::dat {

using dat_case::call_that_returned;
using dat_case::return_text;

namespace {

constexpr double patience = 10e6;  // of microseconds

using Clock = std::chrono::steady_clock;

bool is_missing(DAT_RETURN got) {
  return DAT_GET_TYPE(got) == DAT_NOT_IMPLEMENTED || DAT_GET_TYPE(got) == DAT_MODEL_NOT_SUPPORTED;
}

bool has(const std::vector<DAT_RETURN_TYPE>& types, DAT_RETURN got) {
  return std::ranges::any_of(types, [got](DAT_RETURN_TYPE type) {
    return DAT_GET_TYPE(got) == static_cast<DAT_RETURN>(type);
  });
}

std::string text_of(const Returns& wanted) {
  std::string text;
  for (const DAT_RETURN_TYPE type : wanted.types)
    text += (text.empty() ? "" : " or ") + dat_case::type_text(static_cast<DAT_RETURN>(type));
  return text;
}

std::string text_of(const Step& step) {
  std::string text = fmt::format("{} {}", name(step.action), step.object);
  const auto add = [&text](const char* what, auto value, auto usual) {
    if (value != usual) text += fmt::format(", {} {}", what, value);
  };
  add("other", step.other, 0U);
  add("third", step.third, 0U);
  add("number", step.number, 0);
  add("offset", step.offset, 0U);
  add("segments", step.segments, 1U);
  add("flags", step.flags, 0U);
  add("times", step.times, 1U);
  if (step.wrong != Wrong::nothing) text += fmt::format(", wrong {}", name(step.wrong));
  add("lane", step.lane, 0U);
  return text;
}

Abilities abilities_of(const dat_case::Ia& ia) {
  DAT_PROVIDER_ATTR provider{};
  const DAT_RETURN got =
      CALL(dat_ia_query, ia.get(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &provider);
  demand(got == DAT_SUCCESS, "dat.ia-query.success", "DAT_SUCCESS", return_text(got));
  Abilities able{.later_returns = provider.dto_async_return_guaranteed != DAT_FALSE,
                 .other_queue_zone = provider.srq_ep_pz_difference_supported != DAT_FALSE,
                 .windows = ia.attributes().max_rmrs > 0,
                 .shared_queues = provider.srq_supported != DAT_FALSE,
                 .zero_based = ia.attributes().zb_supported != DAT_FALSE,
                 .longest_dispatcher = ia.attributes().max_evd_qlen,
                 .longest_queue = ia.attributes().max_recv_per_srq};
  for (std::size_t i = 0; i < able.merges.size(); ++i)
    for (std::size_t j = 0; j < able.merges.size(); ++j)
      able.merges[i][j] = provider.evd_stream_merging_supported[i][j] != DAT_FALSE;
  return able;
}

}  // namespace

Player::Player(const dat_case::DatTarget& target, Note note)
    : target_(target),
      patience_(static_cast<DAT_TIMEOUT>(patience * target.deadline_scale)),
      note_(std::move(note)),
      ia_(target),
      model_(abilities_of(*ia_)) {}

bool Player::expect(const char* rule, DAT_RETURN got, const Returns& wanted) {
  const std::string call = call_that_returned(got);
  const std::string came = call.empty() ? return_text(got) : call + ": " + return_text(got);
  if (has(wanted.types, got)) return got == DAT_SUCCESS;
  if (has(wanted.tolerated, got)) {
    model_.advise(rule, text_of(wanted), came);
    return got == DAT_SUCCESS;
  }
  if (!is_missing(got)) fail_at(rule, text_of(wanted), came);
  return false;
}

// ---------------------------------------------------------------- a session

void Player::play(const Session& session) {
  {
    Turn turn{std::unique_lock(mutex_)};
    requests_ = ia_->evd(DAT_EVD_CR_FLAG);
    auto [psp, qualifier] = ia_->psp(requests_);
    psp_ = std::move(psp);
    qualifier_ = qualifier;
  }
  for (std::size_t at = 0; at < session.steps.size();) {
    std::vector<Step> steps;
    do steps.push_back(session.steps[at++]);
    while (steps.back().lane != 0 && at < session.steps.size() && session.steps[at].lane != 0);
    if (steps.front().lane != 0 && !is_crossed()) {
      together(steps);
    } else {
      Turn turn{std::unique_lock(mutex_)};
      for (const Step& step : steps) perform(step, turn);
    }
  }
  Turn turn{std::unique_lock(mutex_)};
  finish(turn);
}

bool Player::is_crossed() const {
  for (std::uint32_t i = 0; i < endpoint_places; ++i)
    if (const auto& peer = model_.endpoints[i].peer; peer && *peer != (i ^ 1U)) return true;
  return false;
}

// Each lane has its own endpoints: completions and events of different lanes have no order.
void Player::together(const std::vector<Step>& steps) {
  std::set<std::uint32_t> lanes;
  for (const Step& step : steps) lanes.insert(step.lane);
  const std::vector<std::uint32_t> order(lanes.begin(), lanes.end());
  std::exception_ptr found;
  dat_case::at_once(static_cast<int>(order.size()), [&](int number) {
    Turn turn{std::unique_lock(mutex_), order[static_cast<std::size_t>(number)]};
    try {
      for (const Step& step : steps) {
        if (found) return;
        if (step.lane == turn.lane) perform(step, turn);
      }
    } catch (...) {
      if (!turn.lock.owns_lock()) turn.lock.lock();
      if (!found) found = std::current_exception();
    }
  });
  if (found) std::rethrow_exception(found);
}

struct Player::Performance {
  Action action;
  void (Player::*perform)(const Step&, Turn&);
  /// `object` is an endpoint, which one lane alone may touch.
  bool of_endpoint = false;
};

const Player::Performance& Player::performance_of(Action action) {
  static constexpr auto table = std::to_array<Performance>({
      {Action::make_zone, &Player::make_zone},
      {Action::free_zone, &Player::free_zone},
      {Action::make_region, &Player::make_region},
      {Action::free_region, &Player::free_region},
      {Action::query_region, &Player::query_region},
      {Action::sync_memory, &Player::sync_memory},
      {Action::make_window, &Player::make_window},
      {Action::bind_window, &Player::bind_window},
      {Action::query_window, &Player::query_window},
      {Action::free_window, &Player::free_window},
      {Action::make_dispatcher, &Player::make_dispatcher},
      {Action::free_dispatcher, &Player::free_dispatcher},
      {Action::query_dispatcher, &Player::query_dispatcher},
      {Action::resize_dispatcher, &Player::resize_dispatcher},
      {Action::post_software, &Player::post_software},
      {Action::make_unwaitable, &Player::switch_dispatcher},
      {Action::make_waitable, &Player::switch_dispatcher},
      {Action::enable, &Player::switch_dispatcher},
      {Action::disable, &Player::switch_dispatcher},
      {Action::wait, &Player::wait},
      {Action::dequeue, &Player::dequeue},
      {Action::wait_blocked, &Player::wait_blocked},
      {Action::make_notifier, &Player::make_notifier},
      {Action::free_notifier, &Player::free_notifier},
      {Action::set_agent, &Player::set_agent},
      {Action::wait_for_notifier, &Player::wait_for_notifier},
      {Action::move_dispatcher, &Player::move_dispatcher},
      {Action::make_queue, &Player::make_queue},
      {Action::free_queue, &Player::free_queue},
      {Action::query_queue, &Player::query_queue},
      {Action::resize_queue, &Player::resize_queue},
      {Action::set_low_watermark, &Player::set_low_watermark},
      {Action::receive_shared, &Player::receive_shared},
      {Action::make_endpoint, &Player::make_endpoint, true},
      {Action::free_endpoint, &Player::free_endpoint, true},
      {Action::query_endpoint, &Player::query_endpoint, true},
      {Action::modify_endpoint, &Player::modify_endpoint, true},
      {Action::set_watermark, &Player::set_watermark, true},
      {Action::count_receives, &Player::count_receives, true},
      {Action::get_status, &Player::get_status, true},
      {Action::connect, &Player::connect, true},
      {Action::connect_two, &Player::connect_two, true},
      {Action::disconnect, &Player::disconnect, true},
      {Action::reset, &Player::reset, true},
      {Action::receive, &Player::receive, true},
      {Action::send, &Player::send, true},
      {Action::write, &Player::write, true},
      {Action::read, &Player::read, true},
      {Action::set_context, &Player::set_context},
      {Action::get_context, &Player::get_context},
      {Action::use_freed, &Player::use_freed},
      {Action::settle, &Player::settle_as_step},
  });
  static_assert(table.size() == names_of(Action{}).size());
  return *std::ranges::find(table, action, &Performance::action);
}

void Player::perform(const Step& step, Turn& turn) {
  note_(text_of(step));
  const Performance& how = performance_of(step.action);
  if (!how.of_endpoint || may_touch(turn, step.object % endpoint_places))
    (this->*how.perform)(step, turn);
}

// ---------------------------------------------------------------- lanes

bool Player::may_touch(const Turn& turn, std::uint32_t endpoint) const {
  return turn.lane == 0 || endpoint / 2 == turn.lane - 1;
}

bool Player::may_take(const Turn& turn, std::uint32_t dispatcher) const {
  if (turn.lane == 0) return true;
  bool fed = false;
  for (std::uint32_t i = 0; i < endpoint_places; ++i) {
    const Endpoint& one = model_.endpoints[i];
    if (one.handle == DAT_HANDLE_NULL ||
        (one.receives_to != dispatcher && one.requests_to != dispatcher &&
         one.connection_to != dispatcher))
      continue;
    fed = true;
    if (!may_touch(turn, i)) return false;
  }
  return fed;
}

// ---------------------------------------------------------------- events

void Player::take(Turn& turn, std::uint32_t at) {
  const Dispatcher& dispatcher = model_.dispatchers[at];
  DAT_EVENT event{};
  DAT_RETURN got = DAT_SUCCESS;
  const auto latest = Clock::now() + std::chrono::microseconds(patience_);
  const bool waitable = dispatcher.waitable;
  const DAT_EVD_HANDLE handle = dispatcher.handle;
  DAT_COUNT more = 0;
  got = call(turn, [&] {
    if (waitable) return CALL(dat_evd_wait, handle, patience_, 1, &event, &more);
    DAT_RETURN taken = DAT_SUCCESS;
    while (DAT_GET_TYPE(taken = CALL(dat_evd_dequeue, handle, &event)) == DAT_QUEUE_EMPTY &&
           Clock::now() < latest)
      std::this_thread::yield();
    return taken;
  });
  if (DAT_GET_TYPE(got) == DAT_TIMEOUT_EXPIRED || DAT_GET_TYPE(got) == DAT_QUEUE_EMPTY)
    throw Finding{model_.missing(at)};
  expect(waitable ? "dat.evd-wait.success" : "dat.evd-dequeue.success", got, succeeds);
  const DAT_COUNT most = model_.possible(at) - 1;
  model_.observe(at, event);
  if (waitable)
    demand(more >= 0 && more <= most, "dat.evd-wait.success",
           fmt::format("0 to {} events left", most), fmt::format("{} events left", more));
}

void Player::sweep(Turn& turn, std::uint32_t at) {
  while (true) {
    DAT_EVENT event{};
    const DAT_EVD_HANDLE handle = model_.dispatchers[at].handle;
    const DAT_RETURN got = call(turn, [&] { return CALL(dat_evd_dequeue, handle, &event); });
    if (DAT_GET_TYPE(got) == DAT_QUEUE_EMPTY) {
      model_.dispatchers[at].seen = 0;
      return;
    }
    expect("dat.evd-dequeue.success", got, succeeds);
    model_.observe(at, event);
  }
}

void Player::drain(Turn& turn, std::uint32_t dispatcher) {
  while (model_.certain(dispatcher) > 0) take(turn, dispatcher);
  sweep(turn, dispatcher);
}

void Player::drain_async(Turn& turn) {
  const auto is_certain = [](const OwedAsync& owed) { return owed.certain; };
  while (true) {
    DAT_EVENT event{};
    DAT_COUNT more = 0;
    const auto owed = std::ranges::find_if(model_.async, is_certain);
    const bool wanted = owed != model_.async.end();
    const DAT_RETURN got = call(turn, [&] {
      return wanted ? CALL(dat_evd_wait, ia_->async_evd(), patience_, 1, &event, &more)
                    : CALL(dat_evd_dequeue, ia_->async_evd(), &event);
    });
    if (DAT_GET_TYPE(got) == DAT_QUEUE_EMPTY) return;
    if (DAT_GET_TYPE(got) == DAT_TIMEOUT_EXPIRED)
      fail_at(owed->rule, "an asynchronous event", "no event");
    expect("dat.evd-wait.success", got, succeeds);
    model_.observe_async(event);
  }
}

bool Player::make_room(Turn& turn, std::uint32_t at, DAT_COUNT events) {
  const auto fits = [&] { return model_.possible(at) + events <= model_.dispatchers[at].length; };
  if (fits()) return true;
  if (!may_take(turn, at)) return false;
  drain(turn, at);
  return fits();
}

void Player::come_to_rest(Turn& turn, std::uint32_t endpoint) {
  const Endpoint& one = model_.endpoints[endpoint];
  if (one.phase == Phase::ending) drain(turn, one.connection_to);
}

void Player::settle_as_step(const Step& /*step*/, Turn& turn) {
  if (turn.lane == 0) settle(turn);
}

void Player::settle(Turn& turn) {
  for (std::uint32_t i = 0; i < dispatcher_places; ++i)
    if (model_.dispatchers[i].handle != DAT_HANDLE_NULL) drain(turn, i);
  drain_async(turn);
  compare_memory(turn);
}

// ---------------------------------------------------------------- memory

void Player::blame(const std::vector<Range>& ranges, const char* rule) {
  for (const Range& range : ranges) blamed_.emplace_back(range, rule);
}

void Player::compare_memory(Turn& turn) {
  const auto latest = Clock::now() + std::chrono::microseconds(patience_);
  for (std::size_t i = 0; i < model_.placements.size();) {
    const Placement& one = model_.placements[i];
    const Phase phase = model_.endpoints[one.writer].phase;
    if (phase == Phase::disconnected && !one.certain) {
      model_.conclude_writes(one.writer);
      i = 0;
    } else if (!one.certain || !one.shows) {
      ++i;
    } else if (model_.memories[one.range.region].holds(one.range.offset, one.octets)) {
      model_.conclude_writes(one.writer, one.number);
      i = 0;
    } else {
      if (Clock::now() > latest)
        fail_at("dat.ep-post-rdma-write.success", "the octets in the peer's memory",
                "other octets");
      call(turn, [] {
        std::this_thread::yield();
        return DAT_RETURN{DAT_SUCCESS};
      });
    }
  }
  for (std::size_t i = 0; i < model_.memories.size(); ++i) {
    const Memory& memory = model_.memories[i];
    const auto wrong = memory.wrong();
    if (!wrong) continue;
    const auto touched = [&](const auto& one) {
      const Range& range = one.first;
      return range.region == i && range.offset <= *wrong && *wrong < range.offset + range.length;
    };
    const auto last = std::ranges::find_if(blamed_.rbegin(), blamed_.rend(), touched);
    fail_at(
        last == blamed_.rend() ? "dat.lmr-create.success" : last->second,
        fmt::format("octet {} of region {} is {:#04x}", *wrong, i, memory.expected[*wrong].value),
        fmt::format("{:#04x}", std::to_integer<int>((*memory.octets)[*wrong])));
  }
}

// ---------------------------------------------------------------- the end

void Player::free_everything(Turn& turn) {
  const auto free_all = [&](Action action, std::uint32_t places) {
    for (std::uint32_t i = 0; i < places; ++i) {
      Step step;
      step.action = action;
      step.object = i;
      perform(step, turn);
    }
  };
  free_all(Action::free_endpoint, endpoint_places);
  free_all(Action::free_window, window_places);
  free_all(Action::free_queue, queue_places);
  free_all(Action::free_region, region_places);
  free_all(Action::free_dispatcher, dispatcher_places);
  free_all(Action::free_notifier, notifier_places);
  free_all(Action::free_zone, zone_places);
}

bool Player::is_empty() const {
  const auto is_free = [](const auto& object) { return object.handle == DAT_HANDLE_NULL; };
  return std::ranges::all_of(model_.zones, is_free) &&
         std::ranges::all_of(model_.regions, is_free) &&
         std::ranges::all_of(model_.windows, is_free) &&
         std::ranges::all_of(model_.notifiers, is_free) &&
         std::ranges::all_of(model_.dispatchers, is_free) &&
         std::ranges::all_of(model_.queues, is_free) &&
         std::ranges::all_of(model_.endpoints, is_free);
}

// With its objects in use the IA is not closed gracefully; without them it is.
void Player::finish(Turn& turn) {
  settle(turn);
  DAT_IA_HANDLE ia = ia_->get();
  expect("dat.ia-close.invalid-state",
         call(turn, [&] { return CALL(dat_ia_close, ia, DAT_CLOSE_GRACEFUL_FLAG); }),
         returns(DAT_INVALID_STATE));
  free_everything(turn);
  for (dat_case::Psp* psp : {&psp_, &other_psp_})
    if (psp->get() != DAT_HANDLE_NULL)
      expect("dat.psp-free.success", call(turn, [&] { return CALL(dat_psp_free, psp->release()); }),
             succeeds);
  expect("dat.evd-free.success",
         call(turn, [&] { return CALL(dat_evd_free, requests_.release()); }), succeeds);
  compare_memory(turn);
  for (const auto& agent : former_agents_) judge_former(*agent);
  for (const Step& step : hostile_) use_freed_now(step, turn);
  if (!is_empty()) return;
  expect("dat.ia-close.success",
         call(turn, [&] { return CALL(dat_ia_close, ia, DAT_CLOSE_GRACEFUL_FLAG); }), succeeds);
  ia_->release();
}

}  // namespace suite::sessions::dat
