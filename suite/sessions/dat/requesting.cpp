// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Requests for connections on their way: to public and reserved service points, handed off, and as
// duplicates of those of other endpoints.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "suite/cases/dat/framework/dat_requests.hpp"
#include "suite/sessions/dat/player.hpp"

namespace suite::sessions::dat {

using dat_case::event_text;

std::vector<std::byte> Player::private_data_of(const Step& step) {
  constexpr std::int64_t least_limit = 64;  // of what a provider must carry
  return dat_case::private_octets(static_cast<std::size_t>(step.number % (least_limit + 1)));
}

void Player::judge_state(Turn& turn, DAT_EP_HANDLE endpoint, DAT_EP_STATE wanted,
                         const char* rule) {
  DAT_EP_STATE state{};
  expect("dat.ep-get-status.success",
         call(turn, [&] { return CALL(dat_ep_get_status, endpoint, &state, nullptr, nullptr); }),
         succeeds);
  demand(state == wanted, rule, dat_case::state_text(wanted), dat_case::state_text(state));
}

// ---------------------------------------------------------------- requests

DAT_RETURN Player::request_connection(Turn& turn, std::uint32_t at, DAT_CONN_QUAL to,
                                      std::vector<std::byte> data) {
  const DAT_EP_HANDLE handle = model_.endpoints[at].handle;
  return call(turn, [&] {
    return CALL(dat_ep_connect, handle, ia_->address(), to, DAT_TIMEOUT_INFINITE,
                static_cast<DAT_COUNT>(data.size()), data.empty() ? nullptr : data.data(),
                DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
  });
}

DAT_RETURN Player::duplicate_connection(Turn& turn, std::uint32_t at, std::uint32_t model,
                                        std::vector<std::byte> data) {
  const DAT_EP_HANDLE handle = model_.endpoints[at].handle;
  const DAT_EP_HANDLE other = model_.endpoints[model].handle;
  return call(turn, [&] {
    return CALL(dat_ep_dup_connect, handle, other, DAT_TIMEOUT_INFINITE,
                static_cast<DAT_COUNT>(data.size()), data.empty() ? nullptr : data.data(),
                DAT_QOS_BEST_EFFORT);
  });
}

// The one that a duplicate is of has itself asked at the public service point. Where a redirection
// leads a second time, or a reserved service point, is another story.
std::optional<std::uint32_t> Player::model_of_duplicate() const {
  for (std::uint32_t i = 0; i < endpoint_places; ++i)
    if (model_.endpoints[i].phase == Phase::connected && model_.endpoints[i].asked_publicly)
      return i;
  return std::nullopt;
}

DAT_CR_ARRIVAL_EVENT_DATA Player::arrival(Turn& turn, DAT_CONN_QUAL at, const char* rule) {
  DAT_EVENT event{};
  DAT_COUNT more = 0;
  const DAT_RETURN got =
      call(turn, [&] { return CALL(dat_evd_wait, requests_.get(), patience_, 1, &event, &more); });
  if (DAT_GET_TYPE(got) == DAT_TIMEOUT_EXPIRED)
    fail_at(rule, "DAT_CONNECTION_REQUEST_EVENT", "no event");
  expect("dat.evd-wait.success", got, succeeds);
  const auto& arrived = event.event_data.cr_arrival_event_data;
  demand(event.event_number == DAT_CONNECTION_REQUEST_EVENT, rule, "DAT_CONNECTION_REQUEST_EVENT",
         event_text(event.event_number));
  demand(arrived.conn_qual == at, rule, fmt::format("Connection Qualifier {}", at),
         fmt::format("{}", arrived.conn_qual));
  return arrived;
}

DAT_CR_PARAM Player::query_of_request(Turn& turn, DAT_CR_HANDLE request) {
  DAT_CR_PARAM param{};
  expect("dat.cr-query.success",
         call(turn, [&] { return CALL(dat_cr_query, request, DAT_CR_FIELD_ALL, &param); }),
         succeeds);
  return param;
}

bool Player::begins_with(const DAT_CR_PARAM& param, const std::vector<std::byte>& data) {
  // A transport may pad private data at its end.
  return param.private_data_size >= static_cast<DAT_COUNT>(data.size()) &&
         (data.empty() || (param.private_data != nullptr &&
                           std::memcmp(param.private_data, data.data(), data.size()) == 0));
}

void Player::judge_request(Turn& turn, const DAT_CR_ARRIVAL_EVENT_DATA& arrived,
                           const std::vector<std::byte>& data, const char* rule) {
  const DAT_CR_PARAM param = query_of_request(turn, arrived.cr_handle);
  demand(begins_with(param, data), rule, fmt::format("the {} octets sent", data.size()),
         fmt::format("{} octets", param.private_data_size));
}

// ---------------------------------------------------------------- reserved service points

std::optional<Player::Reserved> Player::reserve(const Step& step, Turn& turn) {
  const Endpoint& endpoint = model_.endpoints[(step.object % endpoint_places) ^ 1U];
  Reserved made{.qualifier = dat_case::free_qualifier(*ia_)};
  const auto create = [&](DAT_CONN_QUAL at, DAT_RSP_HANDLE* handle) {
    return call(turn, [&] {
      return CALL(dat_rsp_create, ia_->get(), at, endpoint.handle, requests_.get(), handle);
    });
  };
  if (!expect("dat.rsp-create.success", create(made.qualifier, &made.handle), succeeds))
    return std::nullopt;
  demand(made.handle != DAT_HANDLE_NULL, "dat.rsp-create.success", "a handle", "DAT_HANDLE_NULL");
  judge_state(turn, endpoint.handle, DAT_EP_STATE_RESERVED, "dat.rsp-create.success");
  DAT_RSP_HANDLE second = DAT_HANDLE_NULL;
  switch (step.offset % 4) {
    case 1: {
      DAT_RSP_PARAM param{};
      expect(
          "dat.rsp-query.success",
          call(turn, [&] { return CALL(dat_rsp_query, made.handle, DAT_RSP_FIELD_ALL, &param); }),
          succeeds);
      demand(param.ia_handle == ia_->get() && param.conn_qual == made.qualifier &&
                 param.evd_handle == requests_.get() && param.ep_handle == endpoint.handle,
             "dat.rsp-query.success", "IA, Connection Qualifier, EVD and endpoint",
             "another value");
      break;
    }
    case 2:  // both are in use
      expect("dat.rsp-create.invalid-state", create(qualifier_, &second),
             returns_one_of({DAT_INVALID_STATE, DAT_CONN_QUAL_IN_USE}));
      break;
    default:
      break;
  }
  return made;
}

void Player::judge_reserved_request(const Step& step, Turn& turn, Reserved& reserved,
                                    const DAT_CR_ARRIVAL_EVENT_DATA& arrived) {
  const DAT_EP_HANDLE handle = model_.endpoints[(step.object % endpoint_places) ^ 1U].handle;
  const char* rule = "dat.rsp-create.success";
  // The header has a null handle here, and then the service point is no more; others have its handle.
  reserved.is_gone = arrived.sp_handle.rsp_handle == DAT_HANDLE_NULL;
  demand(arrived.sp_handle.rsp_handle == reserved.handle ||
             arrived.sp_handle.rsp_handle == DAT_HANDLE_NULL,
         rule, "the service point, or none", "another handle");
  demand(query_of_request(turn, arrived.cr_handle).local_ep_handle == handle, rule,
         "the endpoint that is reserved", "another handle");
  judge_state(turn, handle, DAT_EP_STATE_PASSIVE_CONNECTION_PENDING, rule);
  if (step.offset % 4 != 3) return;
  const auto idle = std::ranges::find_if(model_.endpoints, [&](const Endpoint& one) {
    const auto place = static_cast<std::uint32_t>(&one - model_.endpoints.data());
    return one.handle != DAT_HANDLE_NULL && one.phase == Phase::unconnected &&
           place / 2 != step.object % endpoint_places / 2;
  });
  if (idle == model_.endpoints.end() || !make_room(turn, idle->connection_to, 4)) return;
  find_nobody(turn, static_cast<std::uint32_t>(idle - model_.endpoints.begin()), reserved.qualifier,
              "dat.rsp-create.one-request");
}

// Where nobody listens, that is told to the endpoint that asks.
void Player::find_nobody(Turn& turn, std::uint32_t at, DAT_CONN_QUAL qualifier, const char* rule) {
  Endpoint& endpoint = model_.endpoints[at];
  if (!expect("dat.ep-connect.success", request_connection(turn, at, qualifier, {}), succeeds))
    return;
  endpoint.phase = Phase::ending;
  endpoint.connection.push_back(
      {.numbers = {DAT_CONNECTION_EVENT_NON_PEER_REJECTED}, .tolerated = {}, .rule = rule});
  while (!endpoint.connection.empty()) take(turn, endpoint.connection_to);
}

void Player::free_reserved(Turn& turn, const Reserved& reserved) {
  if (reserved.is_gone) return;
  expect("dat.rsp-free.success", call(turn, [&] { return CALL(dat_rsp_free, reserved.handle); }),
         succeeds);
}

// It is given back without having served.
void Player::give_back(const Step& step, Turn& turn, const Reserved& reserved) {
  const std::uint32_t at = step.object % endpoint_places;
  free_reserved(turn, reserved);
  judge_state(turn, model_.endpoints[at ^ 1U].handle, DAT_EP_STATE_UNCONNECTED,
              "dat.rsp-free.success");
  find_nobody(turn, at, reserved.qualifier, "dat.rsp-free.success");
}

// ---------------------------------------------------------------- requests handed off

// What a provider that hands nothing off returns is no finding: the request stays.
DAT_CR_HANDLE Player::hand_off(const Step& step, Turn& turn, DAT_CR_HANDLE request) {
  if (other_psp_.get() == DAT_HANDLE_NULL) {
    auto [psp, qualifier] = ia_->psp(requests_);
    other_psp_ = std::move(psp);
    other_qualifier_ = qualifier;
  }
  const auto to = [&](DAT_CONN_QUAL at) {
    return call(turn, [&] { return CALL(dat_cr_handoff, request, at); });
  };
  if (step.offset % 2 == 1) {
    expect("dat.cr-handoff.invalid-parameter", to(dat_case::free_qualifier(*ia_)),
           returns(DAT_INVALID_PARAMETER));
    if (step.offset % 4 == 3) return request;  // which still exists
  }
  if (!expect("dat.cr-handoff.success", to(other_qualifier_), succeeds)) return request;
  const auto arrived = arrival(turn, other_qualifier_, "dat.cr-handoff.success");
  demand(arrived.sp_handle.psp_handle == other_psp_.get(), "dat.cr-handoff.success",
         "the service point", "another handle");
  judge_request(turn, arrived, private_data_of(step), "dat.cr-handoff.success");
  return arrived.cr_handle;
}

}  // namespace suite::sessions::dat
