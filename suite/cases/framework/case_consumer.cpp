// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/framework/case_consumer.hpp"

#include <algorithm>

#include "suite/lower_tester/wire_end.hpp"

namespace suite::cases {

namespace {

// However little time is left for the row: that the IUT was slow before says nothing about the
// agent.
constexpr auto least_reply_timeout = std::chrono::seconds(3);

}  // namespace

CaseConsumer::CaseConsumer(iut::Iut& iut, lower_tester::Context& context,
                           base::Duration reply_deadline)
    : Consumer(iut, context.loop), context_(context), reply_deadline_(reply_deadline) {}

void CaseConsumer::giving(const iut::Command& command) {
  if (std::holds_alternative<iut::PostReceive>(command)) ++receives_posted_;
  if (const auto* work = std::get_if<iut::PostWork>(&command);
      work != nullptr && work->operation.starts_with(iut::operation::read))
    context_.evidence.reads.by_iut = true;
}

void CaseConsumer::came(base::TimePoint since) { context_.came(since); }

void CaseConsumer::replied(base::TimePoint since) {
  const base::Duration took = now() - since;
  auto& pace = context_.pace;
  pace = pace == base::Duration::zero() ? took : (3 * pace + took) / 4;
}

base::TimePoint CaseConsumer::end_of_look(base::TimePoint until) const {
  return context_.end_of_look(until);
}

void CaseConsumer::note(std::string text) {
  context_.note(lower_tester::Direction::none, "IUT: " + std::move(text));
}

base::TimePoint CaseConsumer::reply_due() const {
  return std::max({answers_due_, context_.deadline, now() + least_reply_timeout});
}

base::TimePoint CaseConsumer::completion_due() const { return context_.deadline; }

base::TimePoint CaseConsumer::preparation_due() const {
  // An agent that is reached by lines is given up first, and started again.
  return std::max(context_.deadline, now() + reply_deadline_ + std::chrono::seconds(1));
}

void CaseConsumer::stop_as_gone(const iut::GoneEvent& gone) const {
  if (gone.why == iut::GoneEvent::Why::crashed)
    throw CaseStop{Verdict::fail, "the IUT's code crashed: " + gone.detail};
  throw CaseStop{.verdict = Verdict::error,
                 .reason = "the upper tester is gone: " + gone.detail,
                 .silence = Silence::agent_gone};
}

iut::Reply CaseConsumer::configure(iut::Configure command, std::string_view what) {
  return try_call(std::move(command), what, preparation_due());
}

void CaseConsumer::reset() {
  checked(try_call(iut::Reset{}, "reset", preparation_due()), "reset");
  forget_all();
  receives_posted_ = 0;
}

Work CaseConsumer::post_probe(std::uint32_t length) {
  const std::uint32_t before = receives_posted_;
  Work probe = post_receive(length);
  receives_posted_ = before;
  return probe;
}

}  // namespace suite::cases
