// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Shared receive queues.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "suite/sessions/dat/player.hpp"

namespace suite::sessions::dat {

DAT_SRQ_PARAM Player::query_of(Turn& turn, const SharedQueue& queue) {
  DAT_SRQ_PARAM param{};
  expect("dat.srq-query.success",
         call(turn, [&] { return CALL(dat_srq_query, queue.handle, DAT_SRQ_FIELD_ALL, &param); }),
         succeeds);
  return param;
}

void Player::make_queue(const Step& step, Turn& turn) {
  SharedQueue& queue = model_.queues[step.object % queue_places];
  const std::uint32_t zone = step.other % zone_places;
  const DAT_PZ_HANDLE pz = model_.zones[zone].handle;
  if (queue.handle != DAT_HANDLE_NULL || pz == DAT_HANDLE_NULL || !model_.able.shared_queues ||
      turn.lane != 0)
    return;
  ++played_;
  const bool none = step.number < 1;
  DAT_SRQ_ATTR attr{.max_recv_dtos = static_cast<DAT_COUNT>(step.number),
                    .max_recv_iov = static_cast<DAT_COUNT>(step.segments),
                    .low_watermark = DAT_SRQ_LW_DEFAULT};
  DAT_SRQ_HANDLE handle = DAT_HANDLE_NULL;
  const DAT_RETURN got =
      call(turn, [&] { return CALL(dat_srq_create, ia_->get(), pz, &attr, &handle); });
  if (!expect(none ? "dat.srq-create.invalid-parameter" : "dat.srq-create.success", got,
              none ? returns(DAT_INVALID_PARAMETER) : succeeds))
    return;
  queue = {.handle = handle, .zone = zone};
  const DAT_SRQ_PARAM param = query_of(turn, queue);
  demand(param.max_recv_dtos >= attr.max_recv_dtos && param.max_recv_iov >= attr.max_recv_iov,
         "dat.srq-create.success",
         fmt::format("at least {} entries of {}", attr.max_recv_dtos, attr.max_recv_iov),
         fmt::format("{} entries of {}", param.max_recv_dtos, param.max_recv_iov));
  queue.length = param.max_recv_dtos;
  queue.segments = param.max_recv_iov;
}

void Player::free_queue(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % queue_places;
  SharedQueue& queue = model_.queues[at];
  if (queue.handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  ++played_;
  const bool used = model_.queue_is_used(at);
  const DAT_RETURN got = call(turn, [&] { return CALL(dat_srq_free, queue.handle); });
  // D31: the page names DAT_SRQ_IN_USE, which the headers know as a subtype of this.
  if (!expect(used ? "dat.srq-free.in-use" : "dat.srq-free.success", got,
              used ? returns(DAT_INVALID_STATE) : succeeds))
    return;
  for (const Receive& receive : queue.receives) {
    if (queue.taken + queue.maybe_taken > 0) model_.forget(receive.segments);
    model_.release(receive.hold);
  }
  // Completions of endpoints that were freed may still come.
  for (Dispatcher& dispatcher : model_.dispatchers)
    if (dispatcher.lost_shared > 0)
      for (const Receive& receive : queue.receives)
        dispatcher.lost_completions.push_back(receive.cookie);
  for (OwedAsync& owed : model_.async)
    if (owed.handle == queue.handle) owed.certain = false;
  is_freed(Object::queue, queue.handle);
  queue = {};
}

// A message on its way may have taken its receive, or not yet.
void Player::query_queue(const Step& step, Turn& turn) {
  SharedQueue& queue = model_.queues[step.object % queue_places];
  if (queue.handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  ++played_;
  if (step.wrong == Wrong::fields) {
    DAT_SRQ_PARAM param{};
    expect("dat.srq-query.invalid-parameter",
           call(turn,
                [&] {
                  return CALL(dat_srq_query, queue.handle,
                              dat_case::flags_of<DAT_SRQ_PARAM_MASK>(0x1000), &param);
                }),
           returns(DAT_INVALID_PARAMETER));
    return;
  }
  const DAT_SRQ_PARAM param = query_of(turn, queue);
  const auto same = [](const char* what, auto wanted, auto got) {
    demand(wanted == got, "dat.srq-query.success", fmt::format("{}: {}", what, wanted),
           fmt::format("{}: {}", what, got));
  };
  demand(param.ia_handle == ia_->get() && param.pz_handle == model_.zones[queue.zone].handle,
         "dat.srq-query.success", "its IA and zone", "other handles");
  same("state", static_cast<int>(DAT_SRQ_STATE_OPERATIONAL), static_cast<int>(param.srq_state));
  same("entries", queue.length, param.max_recv_dtos);
  same("segments", queue.segments, param.max_recv_iov);
  same("low watermark", queue.low_watermark, param.low_watermark);
  const auto all = static_cast<DAT_COUNT>(queue.receives.size());
  const DAT_COUNT least = all - queue.taken - queue.maybe_taken;
  if (param.available_dto_count != DAT_VALUE_UNKNOWN)
    demand(param.available_dto_count >= least && param.available_dto_count <= all,
           "dat.srq-query.counts", fmt::format("{} to {} available", least, all),
           fmt::format("{} available", param.available_dto_count));
  if (param.outstanding_dto_count != DAT_VALUE_UNKNOWN)
    demand(param.outstanding_dto_count >= all - queue.maybe_taken &&
               param.outstanding_dto_count <= all,
           "dat.srq-query.counts", fmt::format("{} outstanding", all),
           fmt::format("{} outstanding", param.outstanding_dto_count));
}

void Player::resize_queue(const Step& step, Turn& turn) {
  SharedQueue& queue = model_.queues[step.object % queue_places];
  if (queue.handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  const auto size = static_cast<DAT_COUNT>(step.number);
  const auto outstanding = static_cast<DAT_COUNT>(queue.receives.size());
  const bool doubtful = queue.maybe_taken > 0 && size < outstanding;
  if (doubtful) return;
  ++played_;
  const char* rule = "dat.srq-resize.success";
  Returns wanted = succeeds;
  if (size < 1) {
    rule = "dat.srq-resize.invalid-parameter";
    wanted = returns(DAT_INVALID_PARAMETER);
  } else if (size < queue.low_watermark) {
    rule = "dat.srq-resize.invalid-state";
    wanted = returns(DAT_INVALID_STATE);
  } else if (size < outstanding) {  // D34
    rule = "dat.srq-resize.invalid-state";
    wanted = returns(DAT_INVALID_STATE).or_tolerably(DAT_SUCCESS);
  } else if (size > model_.able.longest_queue) {
    return;
  }
  const DAT_RETURN got = call(turn, [&] { return CALL(dat_srq_resize, queue.handle, size); });
  const bool done = expect(rule, got, wanted);
  const DAT_SRQ_PARAM param = query_of(turn, queue);
  const DAT_COUNT least = done ? std::max(size, outstanding) : queue.length;
  demand(param.max_recv_dtos >= least && (done || param.max_recv_dtos == queue.length), rule,
         fmt::format("{} entries", least), fmt::format("{} entries", param.max_recv_dtos));
  queue.length = param.max_recv_dtos;
}

void Player::set_low_watermark(const Step& step, Turn& turn) {
  SharedQueue& queue = model_.queues[step.object % queue_places];
  if (queue.handle == DAT_HANDLE_NULL || turn.lane != 0 || step.number < 0) return;
  drain_async(turn);
  ++played_;
  const auto mark = static_cast<DAT_COUNT>(step.number);
  const bool beyond = mark > queue.length;
  if (!beyond) {
    queue.low_watermark = mark;
    queue.armed = true;
    model_.check_watermark(queue);
  }
  const DAT_RETURN got = call(turn, [&] { return CALL(dat_srq_set_lw, queue.handle, mark); });
  if (expect(beyond ? "dat.srq-set-lw.invalid-parameter" : "dat.srq-set-lw.success", got,
             beyond ? returns(DAT_INVALID_PARAMETER) : succeeds))
    return;
  if (beyond) return;
  // The provider has no watermarks.
  queue.low_watermark = 0;
  queue.armed = false;
  std::erase_if(model_.async, [&](const OwedAsync& one) { return one.handle == queue.handle; });
}

void Player::receive_shared(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % queue_places;
  if (model_.queues[at].handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  for (std::uint32_t i = 0; i < std::max(step.times, 1U); ++i) {
    SharedQueue& queue = model_.queues[at];
    // A message on its way may find this one, and must not be too long for it.
    if (step.number < model_.longest_message_for(at)) settle(turn);
    const std::uint64_t hold = model_.next_hold();
    auto segments = segments_for(step, queue.zone,
                                 static_cast<std::size_t>(std::max<std::int64_t>(step.number, 0)),
                                 static_cast<std::size_t>(queue.segments), true, hold);
    if (!segments) return;
    ++played_;
    const auto spoilt = spoil(step, *segments, queue.zone, true, "srq-post-recv", queue.segments);
    if (step.wrong != Wrong::nothing && !spoilt) return model_.release(hold);
    const bool full = static_cast<DAT_COUNT>(queue.receives.size()) >= queue.length;
    const char* rule = full ? "dat.srq-post-recv.full" : "dat.srq-post-recv.success";
    Returns wanted = full ? returns(DAT_INSUFFICIENT_RESOURCES) : succeeds;
    if (spoilt) {
      rule = spoilt->first;
      wanted = spoilt->second;
      if (full) wanted.types.push_back(DAT_INSUFFICIENT_RESOURCES);
    } else if (full && queue.maybe_taken > 0) {
      wanted.types.push_back(DAT_SUCCESS);
    }
    Receive receive{
        .cookie = model_.next_cookie(), .segments = segments->ranges, .room = 0, .hold = hold};
    for (const Range& range : receive.segments) receive.room += range.length;
    const bool is_success = std::ranges::find(wanted.types, DAT_SUCCESS) != wanted.types.end();
    if (is_success) {
      // A message on its way may find this one already.
      if (queue.taken + queue.maybe_taken > 0) {
        model_.starts_to_change(hold);
        for (OwedAsync& owed : model_.async)
          if (owed.handle == queue.handle) owed.certain = false;
      }
      queue.receives.push_back(receive);
    }
    DAT_DTO_COOKIE cookie{};
    cookie.as_64 = receive.cookie;
    const auto count = step.wrong == Wrong::negative_count
                           ? DAT_COUNT{-1}
                           : static_cast<DAT_COUNT>(segments->triplets.size());
    const DAT_RETURN got = call(turn, [&] {
      return CALL(dat_srq_post_recv, queue.handle, count,
                  segments->triplets.empty() ? nullptr : segments->triplets.data(), cookie);
    });
    if (expect(rule, got, wanted)) {
      blame(receive.segments, "dat.srq-post-recv.segments");
      continue;
    }
    std::erase_if(queue.receives, [&](const Receive& one) { return one.cookie == receive.cookie; });
    model_.release(hold);
  }
}

}  // namespace suite::sessions::dat
