// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a list of known issues may say of a fault that an attacker could use: its effect and no more,
// until there is a public report (docs/SECURITY.md).
#pragma once

#include <string>
#include <string_view>

namespace suite::expectations {

struct Harm {
  std::string_view name;      ///< as files write it: `harm: kernel`
  std::string_view sentence;  ///< the reason in the report
};

/// nullptr: there is no harm of that name.
[[nodiscard]] const Harm* find_harm(std::string_view name);
/// "one of kernel, process, ..."
[[nodiscard]] std::string harm_names();
/// Whether an outcome that a file lists is a crash in itself, of a process or of a case's kernel.
/// The author of the file writes patterns of texts, so that the words are what there is to look at.
[[nodiscard]] bool is_crash(const std::string& observed);

}  // namespace suite::expectations
