// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `iut` of a case: the consumer of the RDMA API of the IUT, within the deadlines of the case, and with
// all that happens there in its exchange.
#pragma once

#include "suite/cases/framework/consumer.hpp"

namespace suite::lower_tester {
struct Context;
}

namespace suite::cases {

class CaseConsumer final : public Consumer {
 public:
  CaseConsumer(iut::Iut& iut, lower_tester::Context& context);

  void reset();
  [[nodiscard]] iut::Reply configure(iut::Configure command, std::string_view what);
  /// From now on an agent that has not answered a command by then is in error.
  void answer_by(base::TimePoint deadline) { answers_due_ = deadline; }

 private:
  void note(std::string text) override;
  [[nodiscard]] base::TimePoint reply_due() const override;
  [[nodiscard]] base::TimePoint completion_due() const override;
  [[nodiscard]] std::string_view who() const override { return "the upper tester"; }
  [[noreturn]] void stop_as_gone(const iut::GoneEvent& gone) const override;
  [[nodiscard]] base::TimePoint reset_due() const;

  lower_tester::Context& context_;
  base::TimePoint answers_due_{};
};

}  // namespace suite::cases
