// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Connections: set up between an endpoint and its neighbour, rejected, given up, ended.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "suite/cases/dat/framework/dat_requests.hpp"
#include "suite/sessions/dat/player.hpp"

namespace suite::sessions::dat {

using dat_case::event_text;

namespace {

std::vector<std::byte> private_data_of(const Step& step) {
  constexpr std::int64_t least_limit = 64;  // of what a provider must carry
  return dat_case::private_octets(static_cast<std::size_t>(step.number % (least_limit + 1)));
}

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
    const DAT_RETURN got = call(turn, [&] {
      return CALL(dat_ep_connect, endpoint.handle, ia_->address(), qualifier_, DAT_TIMEOUT_INFINITE,
                  0, nullptr, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
    });
    expect("dat.ep-connect.invalid-state", got, returns(DAT_INVALID_STATE));
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
  const auto cr = ask(step, turn);
  if (!cr) return;
  judge_pending(step, turn);
  switch (end_of(step)) {
    case End::accepted:
      return accept(step, turn, *cr);
    case End::rejected:
      return reject(step, turn, *cr);
    case End::given_up:
      return give_up(step, turn, *cr);
  }
}

std::optional<DAT_CR_HANDLE> Player::ask(const Step& step, Turn& turn) {
  const Endpoint& endpoint = model_.endpoints[step.object % endpoint_places];
  std::vector<std::byte> data = private_data_of(step);
  const DAT_RETURN asked = call(turn, [&] {
    return CALL(dat_ep_connect, endpoint.handle, ia_->address(), qualifier_, DAT_TIMEOUT_INFINITE,
                static_cast<DAT_COUNT>(data.size()), data.empty() ? nullptr : data.data(),
                DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
  });
  if (!expect("dat.ep-connect.success", asked, succeeds)) return std::nullopt;
  DAT_EVENT event{};
  DAT_COUNT more = 0;
  const DAT_RETURN got =
      call(turn, [&] { return CALL(dat_evd_wait, requests_.get(), patience_, 1, &event, &more); });
  if (DAT_GET_TYPE(got) == DAT_TIMEOUT_EXPIRED)
    fail_at("dat.psp-create-any.success", "DAT_CONNECTION_REQUEST_EVENT", "no event");
  expect("dat.evd-wait.success", got, succeeds);
  const auto& arrived = event.event_data.cr_arrival_event_data;
  demand(event.event_number == DAT_CONNECTION_REQUEST_EVENT && more == 0,
         "dat.psp-create-any.success", "one DAT_CONNECTION_REQUEST_EVENT",
         event_text(event.event_number));
  demand(arrived.sp_handle.psp_handle == psp_.get() && arrived.conn_qual == qualifier_,
         "dat.psp-create-any.success", "the service point and its Connection Qualifier", "others");
  DAT_CR_PARAM param{};
  expect(
      "dat.cr-query.success",
      call(turn, [&] { return CALL(dat_cr_query, arrived.cr_handle, DAT_CR_FIELD_ALL, &param); }),
      succeeds);
  // A transport may pad private data at its end.
  const bool whole =
      param.private_data_size >= static_cast<DAT_COUNT>(data.size()) &&
      (data.empty() || (param.private_data != nullptr &&
                        std::memcmp(param.private_data, data.data(), data.size()) == 0));
  demand(whole, "dat.ep-connect.private-data", fmt::format("the {} octets sent", data.size()),
         fmt::format("{} octets", param.private_data_size));
  return arrived.cr_handle;
}

// The endpoint that asks is pending until the peer decides.
void Player::judge_pending(const Step& step, Turn& turn) {
  const Endpoint& endpoint = model_.endpoints[step.object % endpoint_places];
  DAT_EP_STATE state{};
  switch (step.offset % 4) {
    case 1:
      expect(
          "dat.ep-get-status.success",
          call(turn,
               [&] { return CALL(dat_ep_get_status, endpoint.handle, &state, nullptr, nullptr); }),
          succeeds);
      demand(state == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING, "dat.ep-get-status.success",
             "DAT_EP_STATE_ACTIVE_CONNECTION_PENDING", dat_case::state_text(state));
      return;
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

void Player::accept(const Step& step, Turn& turn, DAT_CR_HANDLE cr) {
  const std::uint32_t at = step.object % endpoint_places, peer = at ^ 1U;
  const DAT_EP_HANDLE other = model_.endpoints[peer].handle;
  std::vector<std::byte> data = private_data_of(step);
  std::ranges::reverse(data);
  expect("dat.cr-accept.success",
         call(turn,
              [&] {
                return CALL(dat_cr_accept, cr, other, static_cast<DAT_COUNT>(data.size()),
                            data.empty() ? nullptr : data.data());
              }),
         succeeds);
  for (const auto& [each, with] : {std::pair{at, peer}, std::pair{peer, at}}) {
    Endpoint& one = model_.endpoints[each];
    one.peer = with;
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
