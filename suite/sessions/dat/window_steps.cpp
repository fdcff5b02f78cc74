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
  made.segment.virtual_address = reinterpret_cast<DAT_VADDR>(memory.octets->data()) + offset;
  made.segment.segment_length = static_cast<DAT_SEG_LENGTH>(length);
  made.segment.lmr_context = region.local;
  if (step.wrong == Wrong::before_start) {
    made.segment.virtual_address -= offset + 1;
  } else if (step.wrong == Wrong::beyond_end) {
    made.segment.segment_length = static_cast<DAT_SEG_LENGTH>(memory.size() - offset + 1);
  }
  return made;
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
  const std::uint32_t place = step.object % window_places, at = step.third % endpoint_places,
                      region_place = step.other % region_places;
  if (turn.lane != 0 || model_.windows[place].handle == DAT_HANDLE_NULL ||
      model_.regions[region_place].handle == DAT_HANDLE_NULL ||
      model_.endpoints[at].handle == DAT_HANDLE_NULL)
    return;
  settle(turn);  // nobody uses the context that it has
  Endpoint& endpoint = model_.endpoints[at];
  Window& window = model_.windows[place];
  const Region& region = model_.regions[region_place];
  const bool bound_elsewhere = std::ranges::any_of(endpoint.requests, [](const Request& one) {
    return one.kind == Kind::bind;  // suppressed, so that its end is not known
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
  const char* rule = success_rule(Kind::bind);
  Returns wanted = of_a_request(endpoint);
  const bool in_state = endpoint.phase == Phase::connected || endpoint.phase == Phase::disconnected;
  std::vector<std::pair<const char*, DAT_RETURN_TYPE>> wrongs;
  if (flags > 1) wrongs.emplace_back("dat.rmr-bind.invalid-parameter", DAT_INVALID_PARAMETER);
  if (outside) wrongs.emplace_back("dat.rmr-bind.invalid-parameter", DAT_INVALID_PARAMETER);
  if (other_zone)
    wrongs.emplace_back("dat.rmr-bind.protection-violation", DAT_PROTECTION_VIOLATION);
  if (closed) wrongs.emplace_back("dat.rmr-bind.privileges-violation", DAT_PRIVILEGES_VIOLATION);
  if (!in_state) rule = "dat.rmr-bind.invalid-state";
  if (!wrongs.empty()) {
    if (in_state) {
      wanted = {};
      rule = wrongs.front().first;
    }
    for (const auto& [of, type] : wrongs) wanted.types.push_back(type);
    // D37; a Write through it is then refused by the region, or not.
    if (closed && wrongs.size() == 1 && endpoint.phase == Phase::connected)
      wanted.tolerated.push_back(DAT_SUCCESS);
  }
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
  if (window.region)
    model_.former.push_back({.remote = window.context,
                             .address = reinterpret_cast<DAT_VADDR>(
                                 model_.memory_of(*window.region).octets->data() + window.offset),
                             .length = window.length,
                             .of_window = place});
  Request request{.cookie = cookie, .kind = Kind::bind};
  request.statuses = of_a_request_posted(endpoint);
  request.suppressed = (flags & DAT_COMPLETION_SUPPRESS_FLAG) != 0;
  request.window = place;
  request.bound = binding.bound;
  endpoint.requests.push_back(std::move(request));
  if (closed) window.unknown = true;
  if (!empty && endpoint.phase == Phase::connected)
    for (std::uint32_t i = 0; i < window_places; ++i)
      demand(i == place || model_.windows[i].handle == DAT_HANDLE_NULL ||
                 !model_.windows[i].region || model_.windows[i].context != context,
             "dat.rmr-bind.success", "a context of its own", "that of another window");
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
  const bool binding = std::ranges::any_of(model_.endpoints, [&](const Endpoint& endpoint) {
    return std::ranges::any_of(endpoint.requests, [&](const Request& request) {
      return request.kind == Kind::bind && request.window == at;
    });
  });
  if (window.unknown || !window.region || binding) return;
  const Region& region = model_.regions[*window.region];
  const auto start =
      reinterpret_cast<DAT_VADDR>(model_.memory_of(*window.region).octets->data() + window.offset);
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
  for (const Endpoint& endpoint : model_.endpoints)
    for (const Request& request : endpoint.requests)
      if (request.kind == Kind::bind && request.window == at) return;
  ++played_;
  const DAT_RETURN got = call(turn, [&] { return CALL(dat_rmr_free, window.handle); });
  if (!expect("dat.rmr-free.success", got, succeeds)) return;
  if (window.region && !window.unknown)
    model_.former.push_back({.remote = window.context,
                             .address = reinterpret_cast<DAT_VADDR>(
                                 model_.memory_of(*window.region).octets->data() + window.offset),
                             .length = window.length,
                             .of_window = at});
  forget_context(window.handle);
  window = {};
}

}  // namespace suite::sessions::dat
