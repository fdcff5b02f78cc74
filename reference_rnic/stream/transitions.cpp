// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/transitions.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>

namespace rnic::stream {
namespace {

template <class States>
struct Step {
  States from, to;
};

// clang-format off
constexpr Step<State> steps[] = {
    // Responder: the Request, the consumer's decision, the Reply, the Initiator's first FPDU (RFC 5044 7.1.2).
    {State::awaiting_request,    State::awaiting_decision},
    {State::awaiting_decision,   State::sending_reply},
    {State::sending_reply,       State::awaiting_first_fpdu},
    {State::awaiting_first_fpdu, State::operational},
    // Initiator: the Request, the Reply, in the peer-to-peer model the RTR (RFC 6581 9.2).
    {State::sending_request,     State::awaiting_reply},
    {State::awaiting_reply,      State::sending_rtr},
    {State::awaiting_reply,      State::operational},
    {State::sending_rtr,         State::operational},
    // A set-up that ends with a Terminate instead of the RTR (RFC 6581 9.1, 9.2).
    {State::awaiting_reply,      State::terminating},
    // Errors in full operation.
    {State::awaiting_first_fpdu, State::terminating},
    {State::sending_rtr,         State::terminating},
    {State::operational,         State::terminating},
    {State::closing,             State::terminating},
    // Orderly close.
    {State::awaiting_first_fpdu, State::closing},
    {State::sending_rtr,         State::closing},
    {State::operational,         State::closing},
    // The end: failed startup, rejection, loss, or both halves closed.
    {State::awaiting_request,    State::closed},
    {State::awaiting_decision,   State::closed},
    {State::sending_reply,       State::closed},
    {State::sending_request,     State::closed},
    {State::awaiting_reply,      State::closed},
    {State::sending_rtr,         State::closed},
    {State::awaiting_first_fpdu, State::closed},
    {State::operational,         State::closed},
    {State::terminating,         State::closed},
    {State::closing,             State::closed},
};
constexpr Step<LlpState> llp_steps[] = {
    // Each side closes its half, in either order.
    {LlpState::open,        LlpState::peer_closed},
    {LlpState::open,        LlpState::half_closed},
    {LlpState::peer_closed, LlpState::closed},
    {LlpState::half_closed, LlpState::closed},
    // A stream that ends in startup closes the whole connection; every connection can be lost.
    {LlpState::open,        LlpState::closed},
    // Errors that no Terminate can report, and a peer that does not close; the reset, carried out.
    {LlpState::open,        LlpState::to_be_reset},
    {LlpState::peer_closed, LlpState::to_be_reset},
    {LlpState::half_closed, LlpState::to_be_reset},
    {LlpState::closed,      LlpState::to_be_reset},
    {LlpState::to_be_reset, LlpState::closed},
};
constexpr Step<SetUp> set_up_steps[] = {
    // The Responder reports when its Reply has left, in the peer-to-peer model after the RTR; every set-up may fail.
    {SetUp::under_way,        SetUp::reported},
    {SetUp::under_way,        SetUp::exchanging_fpdus},
    {SetUp::reported,         SetUp::complete},
    {SetUp::exchanging_fpdus, SetUp::complete},
};
// clang-format on

template <class States>
bool has_step(std::span<const Step<States>> table, States from, States to) {
  return std::ranges::any_of(
      table, [&](const Step<States>& step) { return step.from == from && step.to == to; });
}

template <class States>
void take_step(std::span<const Step<States>> table, States& state, States to) {
  if (has_step(table, state, to)) {
    state = to;
    return;
  }
  std::fprintf(stderr, "stream: no step from %s to %s; expected one of:", name(state), name(to));
  for (const Step<States>& step : table)
    if (step.from == state) std::fprintf(stderr, " %s", name(step.to));
  std::fputc('\n', stderr);
  std::abort();
}

}  // namespace

bool permitted(State from, State to) { return has_step<State>(steps, from, to); }
bool permitted(LlpState from, LlpState to) { return has_step<LlpState>(llp_steps, from, to); }
bool permitted(SetUp from, SetUp to) { return has_step<SetUp>(set_up_steps, from, to); }

void transition(State& state, State to) { take_step<State>(steps, state, to); }
void transition(LlpState& state, LlpState to) { take_step<LlpState>(llp_steps, state, to); }
void transition(SetUp& state, SetUp to) { take_step<SetUp>(set_up_steps, state, to); }

const char* name(SetUp set_up) {
  switch (set_up) {
    case SetUp::under_way:
      return "under_way";
    case SetUp::reported:
      return "reported";
    case SetUp::exchanging_fpdus:
      return "exchanging_fpdus";
    case SetUp::complete:
      return "complete";
  }
  return "?";
}

const char* name(LlpState state) {
  switch (state) {
    case LlpState::open:
      return "open";
    case LlpState::peer_closed:
      return "peer_closed";
    case LlpState::half_closed:
      return "half_closed";
    case LlpState::closed:
      return "closed";
    case LlpState::to_be_reset:
      return "to_be_reset";
  }
  return "?";
}

const char* name(State state) {
  switch (state) {
    case State::awaiting_request:
      return "awaiting_request";
    case State::awaiting_decision:
      return "awaiting_decision";
    case State::sending_reply:
      return "sending_reply";
    case State::sending_request:
      return "sending_request";
    case State::awaiting_reply:
      return "awaiting_reply";
    case State::sending_rtr:
      return "sending_rtr";
    case State::awaiting_first_fpdu:
      return "awaiting_first_fpdu";
    case State::operational:
      return "operational";
    case State::terminating:
      return "terminating";
    case State::closing:
      return "closing";
    case State::closed:
      return "closed";
  }
  return "?";
}

const char* name(WorkStatus status) {
  switch (status) {
    case WorkStatus::success:
      return "success";
    case WorkStatus::flushed:
      return "flushed";
    case WorkStatus::local_protection:
      return "local_protection";
    case WorkStatus::local_length:
      return "local_length";
    case WorkStatus::local_operation:
      return "local_operation";
    case WorkStatus::remote_access:
      return "remote_access";
    case WorkStatus::remote_operation:
      return "remote_operation";
    case WorkStatus::bad_response:
      return "bad_response";
  }
  return "?";
}

}  // namespace rnic::stream
