// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `iut` of a case: the consumer of the IUT's RDMA API, within the deadlines of the case, with
// everything that happens there in its exchange.
#pragma once

#include "suite/cases/framework/consumer.hpp"

namespace suite::lower_tester {
struct Context;
}

namespace suite::cases {

class CaseConsumer final : public Consumer {
 public:
  CaseConsumer(iut::Iut& iut, lower_tester::Context& context, base::Duration reply_deadline);

  void reset();
  [[nodiscard]] iut::Reply configure(iut::Configure command, std::string_view what);
  /// Whether a Receive of the case may still wait, since the last reset.
  [[nodiscard]] bool has_posted_receives() const { return receives_posted_ > 0; }
  /// A Receive that a probe of the framework uses immediately, and that is not the case's.
  [[nodiscard]] Work post_probe(std::uint32_t length);
  /// From here on an agent that has not answered a command by then is in error.
  void answer_by(base::TimePoint deadline) { answers_due_ = deadline; }

 private:
  void giving(const iut::Command& command) override;
  void came(base::TimePoint since) override;
  void replied(base::TimePoint since) override;
  [[nodiscard]] base::TimePoint end_of_look(base::TimePoint until) const override;
  void note(std::string text) override;
  [[nodiscard]] base::TimePoint reply_due() const override;
  [[nodiscard]] base::TimePoint completion_due() const override;
  [[nodiscard]] std::string_view who() const override { return "the upper tester"; }
  [[noreturn]] void stop_as_gone(const iut::GoneEvent& gone) const override;
  /// For what is not the case's own: an IUT may first have to give up, by its own timers, what the
  /// last case began, and its configuration may load a driver again.
  [[nodiscard]] base::TimePoint preparation_due() const;

  lower_tester::Context& context_;
  base::Duration reply_deadline_;
  base::TimePoint answers_due_{};
  std::uint32_t receives_posted_ = 0;
};

}  // namespace suite::cases
