// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The matrix for people and for the reports: text, and the record of what each case was seen to fail
// by.
#pragma once

#include "suite/runner/self_test_record.hpp"
#include "suite/self_test/implementation_profiles.hpp"
#include "suite/self_test/lawful_run.hpp"
#include "suite/self_test/matrix.hpp"
#include "suite/self_test/varied_run.hpp"

namespace suite::self_test {

/// One line for a deviation: caught by how many cases of its rule, and how many failures elsewhere.
[[nodiscard]] std::string line_of(const DeviationResult& result);
/// One line for a lawful set: how many cases it changed, and how many went wrong for it.
[[nodiscard]] std::string line_of(const LawfulResult& result);
/// One line for a deviation under lawful variants.
[[nodiscard]] std::string line_of(const VariedResult& result);
/// A line for a profile, and one for each rule that is blamed or left out wrongly.
[[nodiscard]] std::string text_of(const ProfileResult& result);
/// Each deviation, and what the cases evaluate in the conforming run.
[[nodiscard]] runner::SelfTestRecord record_of(const Matrix& matrix);

}  // namespace suite::self_test
