// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Connections: set up between an endpoint and its neighbour, rejected, given up, ended.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "suite/cases/dat/framework/dat_requests.hpp"
#include "suite/sessions/dat/player.hpp"

namespace suite::sessions::dat {

namespace {

/// How its request reaches the other side.
enum class Way : std::uint8_t { usual, reserved, handed_off, duplicated };
Way way_of(const Step& step) { return static_cast<Way>(step.third % 4); }

/// How a connect ends.
enum class End : std::uint8_t { accepted, rejected, given_up };
End end_of(const Step& step) {
  switch (step.other % 8) {
    case 6:
      return End::rejected;
    case 7:
      return End::given_up;
    default:
      return End::accepted;
  }
}

}  // namespace

void Player::connect(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % endpoint_places, peer = at ^ 1U;
  Endpoint& endpoint = model_.endpoints[at];
  if (endpoint.handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  if (endpoint.phase != Phase::unconnected) {
    ++played_;
    expect("dat.ep-connect.invalid-state", request_connection(turn, at, qualifier_, {}),
           returns(DAT_INVALID_STATE));
    return;
  }
  const Endpoint& other = model_.endpoints[peer];
  if (other.handle == DAT_HANDLE_NULL || other.phase != Phase::unconnected) return;
  for (const std::uint32_t each : {at, peer}) {
    const Endpoint& one = model_.endpoints[each];
    if (!make_room(turn, one.connection_to, 4)) return;
  }
  ++played_;
  establish(step, turn);
}

void Player::establish(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % endpoint_places;
  std::optional<Reserved> reserved;
  if (way_of(step) == Way::reserved) reserved = reserve(step, turn);
  if (reserved && end_of(step) == End::given_up) return give_back(step, turn, *reserved);
  const auto cr = ask(step, turn, reserved);
  if (!cr) return;
  judge_pending(step, turn);
  switch (end_of(step)) {
    case End::accepted: {
      std::vector<std::byte> data = private_data_of(step);
      std::ranges::reverse(data);
      accept(turn, {at, at ^ 1U}, *cr,
             reserved ? DAT_HANDLE_NULL : model_.endpoints[at ^ 1U].handle, data);
      break;
    }
    case End::rejected:
      reject(step, turn, *cr);
      break;
    case End::given_up:
      give_up(step, turn, *cr);
  }
  if (!reserved) return;
  if (end_of(step) == End::rejected)
    judge_state(turn, model_.endpoints[at ^ 1U].handle, DAT_EP_STATE_UNCONNECTED,
                "dat.cr-reject.success");
  free_reserved(turn, *reserved);
}

std::optional<DAT_CR_HANDLE> Player::ask(const Step& step, Turn& turn,
                                         std::optional<Reserved>& reserved) {
  const std::uint32_t at = step.object % endpoint_places;
  const std::vector<std::byte> data = private_data_of(step);
  const Way way = way_of(step);
  const auto model = way == Way::duplicated ? model_of_duplicate() : std::nullopt;
  if (model && step.offset % 4 == 3)
    expect("dat.ep-dup-connect.invalid-state", duplicate_connection(turn, at, at ^ 1U, data),
           returns(DAT_INVALID_STATE));
  const DAT_CONN_QUAL to = reserved ? reserved->qualifier : qualifier_;
  const bool asked =
      model ? expect("dat.ep-dup-connect.success", duplicate_connection(turn, at, *model, data),
                     succeeds)
            : expect("dat.ep-connect.success", request_connection(turn, at, to, data), succeeds);
  if (!asked) return std::nullopt;
  model_.endpoints[at].asked_publicly = !reserved && way != Way::handed_off;
  const char* rule = reserved ? "dat.rsp-create.success"
                     : model  ? "dat.ep-dup-connect.success"
                              : "dat.psp-create-any.success";
  const auto arrived = arrival(turn, to, rule);
  judge_request(turn, arrived, data, model ? rule : "dat.ep-connect.private-data");
  if (reserved) {
    judge_reserved_request(step, turn, *reserved, arrived);
    return arrived.cr_handle;
  }
  demand(arrived.sp_handle.psp_handle == psp_.get(), rule, "the service point", "another handle");
  return way == Way::handed_off ? hand_off(step, turn, arrived.cr_handle) : arrived.cr_handle;
}

// Two endpoints ask at the same service point before either is answered: by its neighbour, or by that
// of the other one (flags), in either order (offset).
void Player::connect_two(const Step& step, Turn& turn) {
  const std::array<std::uint32_t, 2> asking{step.object % endpoint_places,
                                            step.other % endpoint_places};
  if (turn.lane != 0 || asking[0] / 2 == asking[1] / 2) return;
  for (const std::uint32_t each : {asking[0], asking[0] ^ 1U, asking[1], asking[1] ^ 1U}) {
    const Endpoint& one = model_.endpoints[each];
    if (one.handle == DAT_HANDLE_NULL || one.phase != Phase::unconnected ||
        !make_room(turn, one.connection_to, 4))
      return;
  }
  ++played_;
  std::array<std::vector<std::byte>, 2> data{dat_case::private_octets(16),
                                             dat_case::private_octets(16)};
  std::ranges::reverse(data[1]);
  for (std::size_t i = 0; i < 2; ++i) {
    if (!expect("dat.ep-connect.success", request_connection(turn, asking[i], qualifier_, data[i]),
                succeeds))
      return;
    model_.endpoints[asking[i]].asked_publicly = true;
  }
  // No text says in which order they arrive.
  std::array<DAT_CR_HANDLE, 2> requests{};
  for (int i = 0; i < 2; ++i) {
    const auto arrived = arrival(turn, qualifier_, "dat.psp-create-any.success");
    const bool second = begins_with(query_of_request(turn, arrived.cr_handle), data[1]);
    DAT_CR_HANDLE& place = requests[second ? 1 : 0];
    demand(place == DAT_HANDLE_NULL, "dat.ep-connect.private-data", "each request once",
           "one of them twice");
    judge_request(turn, arrived, data[second ? 1 : 0], "dat.ep-connect.private-data");
    place = arrived.cr_handle;
  }
  const std::size_t first = step.offset % 2, crossed = step.flags % 2;
  for (const std::size_t i : {first, 1 - first}) {
    const std::uint32_t with = asking[crossed == 1 ? 1 - i : i] ^ 1U;
    accept(turn, {asking[i], with}, requests[i], model_.endpoints[with].handle, data[i]);
  }
}

// The endpoint that asks is pending until the peer decides.
void Player::judge_pending(const Step& step, Turn& turn) {
  const Endpoint& endpoint = model_.endpoints[step.object % endpoint_places];
  switch (step.offset % 4) {
    case 1:
      return judge_state(turn, endpoint.handle, DAT_EP_STATE_ACTIVE_CONNECTION_PENDING,
                         "dat.ep-get-status.success");
    case 2:
      expect("dat.ep-reset.invalid-state",
             call(turn, [&] { return CALL(dat_ep_reset, endpoint.handle); }),
             returns(DAT_INVALID_STATE));
      return;
    case 3:
      expect("dat.ep-post-send.invalid-state",
             call(turn,
                  [&] {
                    return CALL(dat_ep_post_send, endpoint.handle, 0, nullptr, DAT_DTO_COOKIE{},
                                DAT_COMPLETION_DEFAULT_FLAG);
                  }),
             returns(DAT_INVALID_STATE));
      return;
    default:
      return;
  }
}

// `ends`: the endpoint that asks, and the one that accepts, which the request may name itself.
void Player::accept(Turn& turn, std::pair<std::uint32_t, std::uint32_t> ends, DAT_CR_HANDLE request,
                    DAT_EP_HANDLE with, std::vector<std::byte> data) {
  const auto [at, peer] = ends;
  expect("dat.cr-accept.success",
         call(turn,
              [&] {
                return CALL(dat_cr_accept, request, with, static_cast<DAT_COUNT>(data.size()),
                            data.empty() ? nullptr : data.data());
              }),
         succeeds);
  for (const auto& [each, other] : {std::pair{at, peer}, std::pair{peer, at}}) {
    Endpoint& one = model_.endpoints[each];
    one.peer = other;
    if (each == peer) one.asked_publicly = false;
    one.connection.push_back(
        {.numbers = {DAT_CONNECTION_EVENT_ESTABLISHED},
         .tolerated = {},
         .rule = each == at ? "dat.ep-connect.success" : "dat.cr-accept.success",
         .data = {}});
    if (each == at) one.connection.back().data = data;
  }
  for (const std::uint32_t each : {at, peer})
    while (!model_.endpoints[each].connection.empty())
      take(turn, model_.endpoints[each].connection_to);
}

void Player::reject(const Step& step, Turn& turn, DAT_CR_HANDLE cr) {
  Endpoint& endpoint = model_.endpoints[step.object % endpoint_places];
  endpoint.phase = Phase::ending;
  endpoint.connection.push_back({.numbers = {DAT_CONNECTION_EVENT_PEER_REJECTED},
                                 .tolerated = {},
                                 .rule = "dat.ep-connect.peer-rejected"});
  expect("dat.cr-reject.success", call(turn, [&] { return CALL(dat_cr_reject, cr, 0, nullptr); }),
         succeeds);
  while (!endpoint.connection.empty()) take(turn, endpoint.connection_to);
}

// No text says whether the end of an attempt is told, nor what becomes of the request.
void Player::give_up(const Step& step, Turn& turn, DAT_CR_HANDLE cr) {
  Endpoint& endpoint = model_.endpoints[step.object % endpoint_places];
  const DAT_RETURN got =
      call(turn, [&] { return CALL(dat_ep_disconnect, endpoint.handle, DAT_CLOSE_ABRUPT_FLAG); });
  expect("dat.ep-disconnect.pending", got, succeeds);
  endpoint.phase = Phase::disconnected;
  model_.dispatchers[endpoint.connection_to].lost_connections.push_back(endpoint.handle);
  (void)call(turn, [&] { return CALL(dat_cr_reject, cr, 0, nullptr); });
}

void Player::disconnect(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % endpoint_places;
  Endpoint& endpoint = model_.endpoints[at];
  if (endpoint.handle == DAT_HANDLE_NULL) return;
  ++played_;
  const bool abrupt = (step.flags & 1U) != 0, wrong = step.wrong == Wrong::flags;
  const char* rule = "dat.ep-disconnect.success";
  Returns wanted = succeeds;
  if (endpoint.phase == Phase::unconnected) {
    rule = "dat.ep-disconnect.invalid-state";
    wanted = returns(DAT_INVALID_STATE);
  } else if (endpoint.phase == Phase::disconnected) {
    rule = "dat.ep-disconnect.no-op";
  }
  if (wrong) {
    if (endpoint.phase != Phase::unconnected) wanted = {};
    wanted.types.push_back(DAT_INVALID_PARAMETER);
    rule = "dat.ep-disconnect.invalid-parameter";
  } else if (endpoint.phase == Phase::connected) {
    model_.disconnects(at, abrupt);
  } else if (endpoint.phase == Phase::ending && endpoint.peer) {
    // It ends a second time, or both ends end at once.
    model_.disconnects(at, true);
    Model::doubt_end(endpoint);
  }
  const auto flags = wrong    ? dat_case::flags_of<DAT_CLOSE_FLAGS>(0x40)
                     : abrupt ? DAT_CLOSE_ABRUPT_FLAG
                              : DAT_CLOSE_GRACEFUL_FLAG;
  expect(rule, call(turn, [&] { return CALL(dat_ep_disconnect, endpoint.handle, flags); }), wanted);
}

void Player::reset(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % endpoint_places;
  Endpoint& endpoint = model_.endpoints[at];
  if (endpoint.handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  come_to_rest(turn, at);
  ++played_;
  const bool connected = endpoint.phase == Phase::connected;
  const bool was_connected = endpoint.phase == Phase::disconnected;
  const DAT_RETURN got = call(turn, [&] { return CALL(dat_ep_reset, endpoint.handle); });
  if (!expect(connected ? "dat.ep-reset.invalid-state" : "dat.ep-reset.success", got,
              connected ? returns(DAT_INVALID_STATE) : succeeds) ||
      !was_connected)
    return;
  if (endpoint.peer) model_.endpoints[*endpoint.peer].peer.reset();
  model_.abandon(at);
}

}  // namespace suite::sessions::dat
