// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Calls on handles of objects that are no more.
#include <algorithm>
#include <array>

#include "suite/sessions/dat/player.hpp"

namespace suite::sessions::dat {

namespace {

/// A call on a handle that is refused, with the rule that says so.
struct Refused {
  Object kind;
  const char* rule;
  DAT_RETURN (*call)(DAT_HANDLE handle);
};
constexpr auto calls = std::to_array<Refused>({
    {Object::zone, "dat.pz-query.invalid-handle",
     [](DAT_HANDLE handle) {
       DAT_PZ_PARAM param{};
       return CALL(dat_pz_query, handle, DAT_PZ_FIELD_ALL, &param);
     }},
    {Object::zone, "dat.pz-free.invalid-handle",
     [](DAT_HANDLE handle) { return CALL(dat_pz_free, handle); }},
    {Object::region, "dat.lmr-query.invalid-handle",
     [](DAT_HANDLE handle) {
       DAT_LMR_PARAM param{};
       return CALL(dat_lmr_query, handle, DAT_LMR_FIELD_ALL, &param);
     }},
    {Object::region, "dat.lmr-free.invalid-handle",
     [](DAT_HANDLE handle) { return CALL(dat_lmr_free, handle); }},
    {Object::window, "dat.rmr-query.invalid-handle",
     [](DAT_HANDLE handle) {
       DAT_RMR_PARAM param{};
       return CALL(dat_rmr_query, handle, DAT_RMR_FIELD_ALL, &param);
     }},
    {Object::window, "dat.rmr-free.invalid-handle",
     [](DAT_HANDLE handle) { return CALL(dat_rmr_free, handle); }},
    {Object::dispatcher, "dat.evd-query.invalid-handle",
     [](DAT_HANDLE handle) {
       DAT_EVD_PARAM param{};
       return CALL(dat_evd_query, handle, DAT_EVD_FIELD_ALL, &param);
     }},
    {Object::dispatcher, "dat.evd-dequeue.invalid-handle",
     [](DAT_HANDLE handle) {
       DAT_EVENT event{};
       return CALL(dat_evd_dequeue, handle, &event);
     }},
    {Object::dispatcher, "dat.evd-free.invalid-handle",
     [](DAT_HANDLE handle) { return CALL(dat_evd_free, handle); }},
    {Object::queue, "dat.srq-query.invalid-handle",
     [](DAT_HANDLE handle) {
       DAT_SRQ_PARAM param{};
       return CALL(dat_srq_query, handle, DAT_SRQ_FIELD_ALL, &param);
     }},
    {Object::queue, "dat.srq-free.invalid-handle",
     [](DAT_HANDLE handle) { return CALL(dat_srq_free, handle); }},
    {Object::notifier, "dat.cno-query.invalid-handle",
     [](DAT_HANDLE handle) {
       DAT_CNO_PARAM param{};
       return CALL(dat_cno_query, handle, DAT_CNO_FIELD_ALL, &param);
     }},
    {Object::notifier, "dat.cno-free.invalid-handle",
     [](DAT_HANDLE handle) { return CALL(dat_cno_free, handle); }},
    {Object::endpoint, "dat.ep-get-status.invalid-handle",
     [](DAT_HANDLE handle) {
       DAT_EP_STATE state{};
       return CALL(dat_ep_get_status, handle, &state, nullptr, nullptr);
     }},
    {Object::endpoint, "dat.ep-disconnect.invalid-handle",
     [](DAT_HANDLE handle) { return CALL(dat_ep_disconnect, handle, DAT_CLOSE_ABRUPT_FLAG); }},
    {Object::endpoint, "dat.ep-free.invalid-handle",
     [](DAT_HANDLE handle) { return CALL(dat_ep_free, handle); }},
});

}  // namespace

// At the end nothing else can be harmed by it.
void Player::use_freed(const Step& step, Turn& turn) {
  if (turn.lane == 0) hostile_.push_back(step);
}

bool Player::is_live(DAT_HANDLE handle) const {
  for (std::uint32_t kind = 0; kind < object_kinds; ++kind)
    for (std::uint32_t place = 0; place < dispatcher_places; ++place)
      if (handle_of(static_cast<Object>(kind), place) == handle) return true;
  return false;
}

void Player::use_freed_now(const Step& step, Turn& turn) {
  if (freed_.empty()) return;
  const auto [kind, handle] = freed_[static_cast<std::size_t>(step.number) % freed_.size()];
  if (is_live(handle)) return;  // it is another's by now
  std::vector<Refused> of_kind;
  std::ranges::copy_if(calls, std::back_inserter(of_kind),
                       [kind = kind](const Refused& one) { return one.kind == kind; });
  const Refused& refused = of_kind[step.other % of_kind.size()];
  ++played_;
  note_(hostile_note);
  expect(refused.rule, call(turn, [&, handle = handle] { return refused.call(handle); }),
         returns(DAT_INVALID_HANDLE));
}

}  // namespace suite::sessions::dat
