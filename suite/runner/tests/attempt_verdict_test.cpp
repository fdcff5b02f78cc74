// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which of the things that are known of an attempt decides its verdict.
#include <boost/test/unit_test.hpp>

#include "suite/runner/attempt_verdict.hpp"

using namespace suite::runner;
using suite::cases::Verdict;
using suite::results::DecidedBy;

namespace {

const VerdictInputs passed{
    .seen = {.verdict = Verdict::pass, .reason = ""}, .earlier_death = {}, .kernel = {}};

}  // namespace

BOOST_AUTO_TEST_SUITE(verdict)

BOOST_AUTO_TEST_CASE(what_the_case_saw_stands_where_nothing_else_is_known) {
  const auto decision = decide(passed);
  BOOST_TEST((decision.ruling.verdict == Verdict::pass));
  BOOST_TEST((decision.by == DecidedBy::the_case));
}

BOOST_AUTO_TEST_CASE(a_death_stands_though_the_repetition_passes) {
  VerdictInputs inputs = passed;
  inputs.earlier_death = Ruling{Verdict::fail, "SIGSEGV in the IUT's code"};
  BOOST_TEST((decide(inputs).ruling.verdict == Verdict::fail));
  BOOST_TEST(decide(inputs).ruling.reason ==
             "SIGSEGV in the IUT's code; not when it ran again alone");
}

BOOST_AUTO_TEST_CASE(the_log_of_the_kernel_overrules_what_the_case_saw) {
  VerdictInputs inputs = passed;
  inputs.kernel = {KernelEvidence::Kind::alone, "BUG: at siw_qp.c\nCall Trace:"};
  BOOST_TEST((decide(inputs).ruling.verdict == Verdict::fail));
  BOOST_TEST(decide(inputs).ruling.reason == "the IUT's kernel complained: BUG: at siw_qp.c");
  BOOST_TEST((decide(inputs).by == DecidedBy::kernel_log));
  inputs.kernel.kind = KernelEvidence::Kind::beside_others;
  BOOST_TEST((decide(inputs).ruling.verdict == Verdict::error));
  BOOST_TEST((decide(inputs).by == DecidedBy::the_case));
}

BOOST_AUTO_TEST_SUITE_END()
