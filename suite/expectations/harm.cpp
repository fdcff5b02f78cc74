// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/expectations/harm.hpp"

#include <algorithm>
#include <array>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/exit_status.hpp"
#include "suite/results/outcome.hpp"

namespace suite::expectations {

namespace {

constexpr std::array<Harm, 4> harms{Harm{"kernel", "It stops the kernel."},
                                    Harm{"process", "It ends or blocks the process."},
                                    Harm{"listener", "It keeps the listener from serving others."},
                                    Harm{"disclosure", "It discloses memory."}};

}  // namespace

const Harm* find_harm(std::string_view name) {
  const auto found = std::ranges::find(harms, name, &Harm::name);
  return found == harms.end() ? nullptr : &*found;
}

std::string harm_names() {
  return fmt::format("one of {}", fmt::join(harms | std::views::transform(&Harm::name), ", "));
}

bool is_crash(const std::string& observed) {
  return observed.contains(base::words_for_crash) || observed.contains(results::words_for_incident);
}

}  // namespace suite::expectations
