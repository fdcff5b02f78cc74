// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/dat/framework/dat_session.hpp"

#include <charconv>
#include <string_view>

namespace suite::cases::dat {

std::optional<std::uint64_t> seed_of_session(const std::string& id) {
  constexpr std::string_view prefix = "soak.dat.";
  if (!id.starts_with(prefix)) return std::nullopt;
  std::uint64_t seed = 0;
  const char* const last = id.data() + id.size();
  const auto [end, error] = std::from_chars(id.data() + prefix.size(), last, seed);
  if (error != std::errc() || end != last) return std::nullopt;
  return seed;
}

DatCase session_case(const std::string& id) {
  DatCase one;
  one.row.id = id;
  one.row.title =
      seed_of_session(id) ? "a random session of the DAT API" : "a script of the DAT API";
  one.row.layer = "soak";
  one.row.file = "suite/sessions/dat/drawing.cpp";
  // Every case has a rule. What sessions find is reported at the rule that it breaks.
  one.row.rules = {"dat.ia-open.success"};
  one.row.deadline = std::chrono::minutes(2);
  return one;
}

}  // namespace suite::cases::dat
