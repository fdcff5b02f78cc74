// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Windows: made, bound, bound anew, unbound, freed.
#include <fmt/format.h>

#include <algorithm>

#include "suite/sessions/dat/player.hpp"

namespace suite::sessions::dat {

namespace {

constexpr unsigned peer_reads = DAT_MEM_PRIV_REMOTE_READ_FLAG,
                   peer_writes = DAT_MEM_PRIV_REMOTE_WRITE_FLAG;

/// What a step that binds makes of a window.
struct Binding {
  DAT_LMR_TRIPLET segment{};
  Window bound{};
};

Binding binding_of(const Step& step, const Window& window, const Region& region,
                   const Memory& memory, std::uint32_t region_place) {
  Binding made{.bound = window};
  const std::size_t offset = step.offset % memory.size();
  const std::size_t length =
      std::min<std::size_t>(static_cast<std::size_t>(step.number), memory.size() - offset);
  made.bound.offset = offset;
  made.bound.length = length;
  made.bound.unknown = false;
  made.bound.privileges = (step.flags >> 8U) & (peer_reads | peer_writes);
  if (made.bound.privileges == 0) made.bound.privileges = peer_reads;
  made.bound.region.reset();
  if (length > 0) made.bound.region = region_place;
  made.segment.virtual_address = memory.base + offset;
  made.segment.segment_length = static_cast<DAT_SEG_LENGTH>(length);
  made.segment.lmr_context = region.local;
  if (step.wrong == Wrong::before_start) {
    made.segment.virtual_address -= offset + 1;
  } else if (step.wrong == Wrong::beyond_end) {
    made.segment.segment_length = static_cast<DAT_SEG_LENGTH>(memory.size() - offset + 1);
  }
  return made;
}

std::optional<std::uint32_t> first_window(const Model& model, std::uint32_t start) {
  for (std::uint32_t i = 0; i < window_places; ++i)
    if (model.windows[(start + i) % window_places].handle != DAT_HANDLE_NULL)
      return (start + i) % window_places;
  return std::nullopt;
}

/// What is wrong with a bind.
struct BindWrongs {
  bool parameter = false, zone = false, privilege = false;
};

/// The rule of a bind in this state, and what it returns. `of_state`: what is right returns.
std::pair<const char*, Returns> returns_of_bind(Phase phase, Returns of_state,
                                                const BindWrongs& wrongs) {
  const bool in_state = phase == Phase::connected || phase == Phase::disconnected;
  const char* rule = in_state ? success_rule(Kind::bind) : "dat.rmr-bind.invalid-state";
  if (!wrongs.parameter && !wrongs.zone && !wrongs.privilege) return {rule, of_state};
  std::erase(of_state.types, DAT_SUCCESS);
  const auto add = [&](bool is, const char* of, DAT_RETURN_TYPE type) {
    if (!is) return;
    of_state.types.push_back(type);
    if (in_state) rule = of;
  };
  add(wrongs.privilege, "dat.rmr-bind.privileges-violation", DAT_PRIVILEGES_VIOLATION);
  add(wrongs.zone, "dat.rmr-bind.protection-violation", DAT_PROTECTION_VIOLATION);
  add(wrongs.parameter, "dat.rmr-bind.invalid-parameter", DAT_INVALID_PARAMETER);
  // D37: a Write through it is then refused by the region, or not. Nor is it said whether what a
  // disconnected endpoint flushes is looked at.
  const bool may_succeed = wrongs.privilege && !wrongs.zone && !wrongs.parameter;
  if (may_succeed && in_state) of_state.tolerated.push_back(DAT_SUCCESS);
  return {rule, of_state};
}

}  // namespace

void Player::make_window(const Step& step, Turn& turn) {
  Window& window = model_.windows[step.object % window_places];
  const std::uint32_t zone = step.other % zone_places;
  const DAT_PZ_HANDLE pz = model_.zones[zone].handle;
  if (window.handle != DAT_HANDLE_NULL || pz == DAT_HANDLE_NULL || !model_.able.windows ||
      turn.lane != 0)
    return;
  ++played_;
  DAT_RMR_HANDLE handle = DAT_HANDLE_NULL;
  const DAT_RETURN got = call(turn, [&] { return CALL(dat_rmr_create, pz, &handle); });
  if (!expect("dat.rmr-create.success", got, succeeds)) return;
  demand(handle != DAT_HANDLE_NULL, "dat.rmr-create.success", "a handle", "DAT_HANDLE_NULL");
  window = {.handle = handle, .zone = zone};
}

// A request that may fail later breaks the connection; what is refused at once has no effect.
void Player::bind_window(const Step& step, Turn& turn) {
  const std::uint32_t at = step.third % endpoint_places;
  const auto place = first_window(model_, step.object);
  const auto region_of_it =
      region_for(step.other, model_.endpoints[at].zone, 0, step.wrong == Wrong::another_zone);
  if (turn.lane != 0 || !place || !region_of_it || model_.endpoints[at].handle == DAT_HANDLE_NULL)
    return;
  const std::uint32_t region_place = *region_of_it;
  // How a window of a region is addressed that is addressed from zero, no text says.
  if (model_.memory_of(region_place).base == 0) return;
  settle(turn);  // nobody uses the context that it has
  Endpoint& endpoint = model_.endpoints[at];
  Window& window = model_.windows[*place];
  const Region& region = model_.regions[region_place];
  // One that is suppressed may be under way for longer than anybody can know.
  const bool bound_elsewhere = model_.is_being_bound(*place) ||
                               std::ranges::any_of(endpoint.requests, [](const Request& one) {
                                 return one.kind == Kind::bind;
                               });
  if (bound_elsewhere || window.unknown || !make_room(turn, endpoint.requests_to, 1)) return;
  ++played_;
  Binding binding = binding_of(step, window, region, model_.memory_of(region_place), region_place);
  const bool empty = binding.bound.length == 0;
  const bool outside = step.wrong == Wrong::before_start || step.wrong == Wrong::beyond_end;
  const bool other_zone = window.zone != endpoint.zone || region.zone != endpoint.zone;
  const bool closed = !empty && (binding.bound.privileges & peer_writes) != 0 &&
                      (region.privileges & DAT_MEM_PRIV_LOCAL_WRITE_FLAG) == 0;
  // What a bind of nothing is judged by, apart from the endpoint's state, is left open.
  if (empty && (outside || other_zone)) return;
  const unsigned flags = step.wrong == Wrong::flags ? 0x4000U
                         : step.wrong == Wrong::unsignalled
                             ? unsigned{DAT_COMPLETION_UNSIGNALLED_FLAG}
                             : step.flags & 1U;
  const auto [rule, wanted] =
      returns_of_bind(endpoint.phase, of_a_request(endpoint),
                      {.parameter = flags > 1 || outside, .zone = other_zone, .privilege = closed});
  const DAT_UINT64 cookie = model_.next_cookie();
  DAT_RMR_COOKIE user{};
  user.as_64 = cookie;
  DAT_RMR_CONTEXT context = 0;
  const DAT_RETURN got = call(turn, [&] {
    return CALL(dat_rmr_bind, window.handle, region.handle, &binding.segment,
                static_cast<DAT_MEM_PRIV_FLAGS>(binding.bound.privileges), DAT_VA_TYPE_VA,
                endpoint.handle, user, static_cast<DAT_COMPLETION_FLAGS>(flags), &context);
  });
  if (!expect(rule, got, wanted)) return;
  binding.bound.context = empty ? 0 : context;
  model_.end_context_of(*place);
  Request request{.cookie = cookie, .kind = Kind::bind};
  request.statuses = of_a_request_posted(endpoint);
  request.suppressed = (flags & DAT_COMPLETION_SUPPRESS_FLAG) != 0;
  request.window = *place;
  request.bound = binding.bound;
  endpoint.requests.push_back(std::move(request));
  if (closed) window.unknown = true;
  if (empty || endpoint.phase != Phase::connected) return;
  demand(context != 0, "dat.rmr-bind.success", "a context", "none");
  for (std::uint32_t i = 0; i < window_places; ++i)
    demand(i == *place || model_.windows[i].handle == DAT_HANDLE_NULL ||
               !model_.windows[i].region || model_.windows[i].context != context,
           "dat.rmr-bind.success", "a context of its own", "that of another window");
  if (step.offset % 2 == 0) query_window({.object = *place}, turn);
}

void Player::query_window(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % window_places;
  if (model_.windows[at].handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  settle(turn);
  const Window& window = model_.windows[at];
  ++played_;
  DAT_RMR_PARAM param{};
  const DAT_RETURN got =
      call(turn, [&] { return CALL(dat_rmr_query, window.handle, DAT_RMR_FIELD_ALL, &param); });
  if (!expect("dat.rmr-query.success", got, succeeds)) return;
  const auto same = [](const char* what, bool is) {
    demand(is, "dat.rmr-query.success", what, "another value");
  };
  same("the IA", param.ia_handle == ia_->get());
  same("the zone", param.pz_handle == model_.zones[window.zone].handle);
  if (window.unknown || !window.region || model_.is_being_bound(at)) return;
  const Region& region = model_.regions[*window.region];
  const DAT_VADDR start = model_.memory_of(*window.region).base + window.offset;
  same("the address", param.lmr_triplet.virtual_address == start);
  same("the length", param.lmr_triplet.segment_length == window.length);
  same("the region", param.lmr_triplet.lmr_context == region.local);
  same("the privileges", static_cast<unsigned>(param.mem_priv) == window.privileges);
  same("the context", param.rmr_context == window.context);
}

void Player::free_window(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % window_places;
  if (model_.windows[at].handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  settle(turn);
  Window& window = model_.windows[at];
  // One whose suppressed bind may be under way is left alone until its endpoint is no more.
  if (model_.is_being_bound(at)) return;
  ++played_;
  const DAT_RETURN got = call(turn, [&] { return CALL(dat_rmr_free, window.handle); });
  if (!expect("dat.rmr-free.success", got, succeeds)) return;
  if (!window.unknown) model_.end_context_of(at);
  is_freed(Object::window, window.handle);
  window = {};
}

}  // namespace suite::sessions::dat
