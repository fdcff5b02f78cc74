// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/upper_tester/verbs/link.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "suite/upper_tester/common_replies.hpp"
#include "suite/upper_tester/verbs/connection_rules.hpp"
#include "suite/upper_tester/verbs/names.hpp"

namespace suite::upper_tester::verbs {

const char* Link::state_name() const {
  switch (state_) {
    case State::idle:
      return "idle";
    case State::resolving:
    case State::connecting:
      return "connecting";
    case State::connected:
      return "connected";
    case State::closing:
      return "closing";
    case State::disconnected:
      return "disconnected";
  }
  return "";
}

// ---------------------------------------------------------------- commands

Link::Answer Link::refuse_accept() const {
  if (state_ == State::idle) return std::nullopt;
  return refused("the endpoint is in use", EISCONN);
}

Link::Answer Link::refuse_connect() const {
  if (state_ == State::disconnected) return std::nullopt;
  return refuse_accept();
}

Link::Answer Link::answer_disconnect() const {
  if (state_ == State::disconnected) return iut::Reply{};
  if (state_ == State::idle || state_ == State::resolving)
    return refused("the endpoint is not connected", ENOTCONN);
  return std::nullopt;
}

void Link::set_remote(const sockaddr_storage& remote) {
  remote_ = remote;
  attempts_ = 0;
}

sockaddr_storage& Link::next_attempt() {
  ++attempts_;
  return remote_;
}

void Link::resolving(std::uint64_t connect_number, const iut::ConnectParameters& parameters) {
  state_ = State::resolving;
  connect_number_ = connect_number;
  parameters_ = parameters;
}

void Link::disconnecting() {
  disconnect_when_done_ = false;
  state_ = State::closing;
}

void Link::aborted() {
  if (state_ == State::connected) state_ = State::closing;
}

void Link::reset() {
  sends_.clear();
  state_ = State::idle;
}

bool Link::awaits(std::uint64_t connect_number) const {
  return state_ == State::resolving && connect_number_ == connect_number;
}

Link::Answer Link::cancelled() const {
  if (state_ != State::resolving) return std::nullopt;
  iut::Reply reply;
  reply.command = connect_number_;
  reply.outcome = iut::Outcome::cancelled;
  return reply;
}

// ---------------------------------------------------------------- the way to the connection

iut::Event Link::answer(iut::Reply reply) const {
  reply.command = connect_number_;
  return reply;
}

Link::Events Link::fail(const char* reason) {
  state_ = State::disconnected;
  iut::ConnectFailedEvent event;
  event.endpoint = endpoint_;
  event.reason = reason;
  return {event};
}

Link::Events Link::connect_called(int error) {
  if (error == 0) {
    state_ = State::connecting;
    return {answer({})};
  }
  // siw connects its socket within this call.
  if (!is_connect_failure(error)) return refused_after_resolving(failed("rdma_connect", error));
  Events events = fail(connect_failure_name(error));
  events.insert(events.begin(), answer({}));
  return events;
}

Link::Events Link::refused_after_resolving(iut::Reply reply) {
  state_ = State::disconnected;
  return {answer(std::move(reply))};
}

Link::Events Link::unreachable() {
  Events events = fail("unreachable");
  events.insert(events.begin(), answer({}));
  return events;
}

// ---------------------------------------------------------------- events

Link::Reaction Link::take(const LinkEvent& event) {
  switch (event.type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      return {Step::resolve_route};
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      return {Step::connect};
    case RDMA_CM_EVENT_ADDR_ERROR:
      return take_address_error(event.error);
    case RDMA_CM_EVENT_ROUTE_ERROR:
      return {Step::none, unreachable()};
    case RDMA_CM_EVENT_ESTABLISHED:
      return {Step::none, take_established(event)};
    default:
      return take_end(event);
  }
}

Link::Reaction Link::take_address_error(int error) {
  if (error == ETIMEDOUT && attempts_ < resolve_attempts) return {Step::resolve_address};
  return {Step::none, unreachable()};
}

Link::Events Link::take_established(const LinkEvent& event) {
  state_ = State::connected;
  has_been_connected_ = true;
  iut::EstablishedEvent reported;
  reported.endpoint = endpoint_;
  reported.private_data = event.private_data;
  reported.ird = event.ird;
  reported.ord = event.ord;
  return {reported};
}

Link::Reaction Link::take_end(const LinkEvent& event) {
  switch (event.type) {
    case RDMA_CM_EVENT_REJECTED: {
      state_ = State::disconnected;
      iut::RejectedEvent reported;
      reported.endpoint = endpoint_;
      reported.private_data = event.private_data;
      return {Step::none, {reported}};
    }
    case RDMA_CM_EVENT_UNREACHABLE:
      return {Step::none, fail(event.error == ETIMEDOUT ? "timeout" : "unreachable")};
    case RDMA_CM_EVENT_CONNECT_ERROR:
      return {Step::none, fail(connect_failure_name(event.error))};
    case RDMA_CM_EVENT_DISCONNECTED:
      return take_disconnected();
    case RDMA_CM_EVENT_DEVICE_REMOVAL: {
      iut::AsynchronousEvent reported;
      reported.endpoint = endpoint_;
      reported.kind = "device_fatal";
      reported.detail = "RDMA_CM_EVENT_DEVICE_REMOVAL";
      return {Step::none, {reported}};
    }
    default:
      return {};  // an address change or the end of time-wait, of which a consumer need not know
  }
}

Link::Reaction Link::take_disconnected() {
  if (state_ == State::connecting) return {Step::none, fail("lost")};
  if (state_ == State::disconnected) return {};
  // As every consumer does: our half is closed too, which flushes what is still posted.
  const Step step = state_ == State::connected ? Step::disconnect : Step::none;
  state_ = State::disconnected;
  disconnect_when_done_ = false;
  iut::DisconnectedEvent reported;
  reported.endpoint = endpoint_;
  return {step, {reported}};
}

// ---------------------------------------------------------------- the send queue

bool Link::has_signaled_work() const {
  return std::any_of(sends_.begin(), sends_.end(),
                     [](const SendWork& each) { return each.signaled; });
}

iut::Event Link::completed(const WorkCompletion& completion,
                           std::map<std::uint64_t, iut::WorkId>& receives) {
  iut::CompletionEvent event;
  event.endpoint = endpoint_;
  event.status = status_name(completion.status);
  const auto receive = receives.find(completion.number);
  if (receive != receives.end()) {
    event.work = receive->second;
    event.operation = iut::operation::receive;
    receives.erase(receive);
  } else if (const auto sent = take_sent(completion.number)) {
    event.work = sent->work;
    event.operation = sent->operation;
  } else {
    iut::AsynchronousEvent odd;
    odd.endpoint = endpoint_;
    odd.kind = "other";
    odd.detail = std::string("a completion (") + ibv_wc_status_str(completion.status) +
                 ") of work that was completed before or never posted";
    return odd;
  }
  if (completion.status != IBV_WC_SUCCESS) return event;
  // Verbs define the length for receives, and for sinks that the peer's response fills.
  const bool has_length =
      event.operation == iut::operation::receive || completion.opcode == IBV_WC_RDMA_READ ||
      completion.opcode == IBV_WC_FETCH_ADD || completion.opcode == IBV_WC_COMP_SWAP;
  if (has_length) event.length = completion.length;
  event.invalidated_stag = completion.invalidated_stag;
  return event;
}

/// Unsignaled work that was posted before it is done as well.
std::optional<SendWork> Link::take_sent(std::uint64_t number) {
  const auto found = std::find_if(sends_.begin(), sends_.end(),
                                  [&](const SendWork& each) { return each.number == number; });
  if (found == sends_.end()) return std::nullopt;
  SendWork done = *found;
  sends_.erase(found);
  const auto before = [&](const SendWork& each) { return !each.signaled && each.number < number; };
  sends_.erase(std::remove_if(sends_.begin(), sends_.end(), before), sends_.end());
  return done;
}

bool Link::may_disconnect() {
  disconnect_when_done_ = has_signaled_work();
  return !disconnect_when_done_;
}

}  // namespace suite::upper_tester::verbs
