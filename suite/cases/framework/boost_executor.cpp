// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/framework/boost_executor.hpp"

#include <array>
#include <boost/test/framework.hpp>
#include <boost/test/results_collector.hpp>
#include <boost/test/tree/observer.hpp>
#include <boost/test/unit_test.hpp>
#include <boost/test/unit_test_log.hpp>
#include <string>

namespace suite::cases {

namespace bt = boost::unit_test;

namespace {

/// Counts what Boost.Test saw of the running test case.
class Observer final : public bt::test_observer {
 public:
  /// After the framework's own observers, which in 1.74 must get the start first: until then their
  /// members are not initialised.
  int priority() override { return 10; }
  void exception_caught(const boost::execution_exception&) override { ++exceptions_; }
  void test_unit_aborted(const bt::test_unit&) override { ++aborted_; }
  void begin() { exceptions_ = aborted_ = 0; }
  [[nodiscard]] bool saw_trouble() const { return exceptions_ + aborted_ > 0; }

 private:
  int exceptions_ = 0, aborted_ = 0;
};

}  // namespace

class BoostExecutor::State {
 public:
  State() {
    std::array<char, 8> program{"cases"};
    std::array<char, 40> no_signals{"--catch_system_errors=no"};
    std::array<char, 40> quiet{"--log_level=nothing"};
    std::array<char, 40> no_report{"--report_level=no"};
    std::array<char*, 4> arguments{program.data(), no_signals.data(), quiet.data(),
                                   no_report.data()};
    bt::framework::init([] { return true; }, static_cast<int>(arguments.size()), arguments.data());
    bt::framework::finalize_setup_phase();
    bt::framework::register_observer(observer_);
  }
  ~State() {
    bt::framework::deregister_observer(observer_);
    bt::framework::shutdown();
  }

  CaseOutcome run(const Case& a_case, Environment& environment) {
    CaseOutcome outcome;
    outcome.reason = "Boost.Test did not run the case";
    auto& suite = bt::framework::master_test_suite();
    bt::test_case* unit = bt::make_test_case(
        [&] {
          outcome = cases::run_case(a_case, environment);
          BOOST_CHECK(outcome.verdict != Verdict::error);
        },
        a_case.id, __FILE__, __LINE__);
    suite.add(unit);
    unit->p_default_status.value =
        bt::test_unit::RS_ENABLED;  // set up by itself, it has no parent to inherit from
    bt::framework::finalize_setup_phase(unit->p_id);
    observer_.begin();
    bt::framework::run(unit->p_id, false);
    const bool passed = bt::results_collector.results(unit->p_id).passed();
    if (observer_.saw_trouble() || passed == (outcome.verdict == Verdict::error)) {
      outcome.verdict = Verdict::error;
      if (outcome.reason.empty())
        outcome.reason = "Boost.Test saw the case fail where the case itself did not";
    }
    suite.remove(unit->p_id);
    return outcome;
  }

 private:
  Observer observer_;
};

BoostExecutor::BoostExecutor() : state_(std::make_unique<State>()) {}
BoostExecutor::~BoostExecutor() = default;

CaseOutcome BoostExecutor::run_case(const Case& a_case, Environment& environment) {
  return state_->run(a_case, environment);
}

}  // namespace suite::cases
