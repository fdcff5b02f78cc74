// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations: every way in which a stream or an RNIC can be told to break one rule, and the
// policies that carry them.
//
// A deviation is cut to the RFC, never to a case. Code asks `policy.deviates(Deviation::x)` at the
// one place where right becomes wrong. `deviations.def` lists them all, one line each: enumerator,
// rule id, what it does.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

namespace rnic::stream {

enum class Deviation : std::uint16_t {
#define RNIC_DEVIATION(enumerator, rule, text) enumerator,
#include "reference_rnic/stream/deviations.def"
#undef RNIC_DEVIATION
};

inline constexpr std::size_t deviation_count =
    std::initializer_list<Deviation>{
#define RNIC_DEVIATION(enumerator, rule, text) Deviation::enumerator,
#include "reference_rnic/stream/deviations.def"
#undef RNIC_DEVIATION
    }
        .size();

struct DeviationInfo {
  Deviation deviation;
  std::string_view name;  ///< the enumerator
  std::string_view rule;  ///< id of the rule that it breaks
  std::string_view text;  ///< what it does, one line
};
/// All deviations in enumeration order.
[[nodiscard]] std::span<const DeviationInfo> deviations();
[[nodiscard]] const DeviationInfo& info(Deviation deviation);
[[nodiscard]] std::optional<Deviation> find_deviation(std::string_view name);

/// The policy of a conforming implementation: every question is answered at compile time with no.
struct Conforming {
  [[nodiscard]] static constexpr bool deviates(Deviation) { return false; }
};

/// The policy of an implementation that is wrong in chosen ways: a set, per object.
class Deviating {
 public:
  Deviating() = default;
  explicit Deviating(std::span<const Deviation> chosen) {
    for (Deviation deviation : chosen) chosen_.set(static_cast<std::size_t>(deviation));
  }
  [[nodiscard]] bool deviates(Deviation deviation) const {
    return chosen_.test(static_cast<std::size_t>(deviation));
  }
  void choose(Deviation deviation, bool on = true) {
    chosen_.set(static_cast<std::size_t>(deviation), on);
  }

 private:
  std::bitset<deviation_count> chosen_;
};

}  // namespace rnic::stream
