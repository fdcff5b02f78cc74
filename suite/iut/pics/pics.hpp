// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// PICS: what an implementation can do, according to its vendor (ISO/IEC 9646). One YAML file per
// implementation; its items are the capabilities of the agent protocol and the limits of its
// hello.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "suite/iut/messages.hpp"

namespace suite::iut {

/// The claim about one item.
enum class Claim {
  supported,
  unsupported,  ///< only for what the RFCs leave open: a MUST cannot be denied
  /// A MUST that the vendor admits to be missing: its own case fails, the cases that need it are
  /// not applicable.
  missing,
};

struct Pics {
  std::string implementation;  ///< the implementation that the PICS describes
  std::string vendor, version, contact;
  std::map<std::string, Claim> capabilities;  ///< an item that is absent follows from the hello
  std::map<std::string, std::int64_t> limits;

  /// Whether each claimed item may be used by a case.
  [[nodiscard]] std::map<std::string, bool> usable() const;
};

/// An item of the questionnaire.
struct PicsItem {
  std::string_view name;
  bool must = false;
  std::string_view reference;  ///< RFC and section; empty: of the suite, not of the protocol
  std::string_view question;
};
[[nodiscard]] std::span<const PicsItem> pics_items();
/// The limits that a PICS may have, each with its meaning.
struct LimitItem {
  std::string_view name;
  std::string_view meaning;
};
[[nodiscard]] std::span<const LimitItem> pics_limits();

/// Each fault is one line `file:line: what is wrong`; all faults of the file are reported at once.
[[nodiscard]] std::expected<Pics, std::vector<std::string>> parse_pics(const std::string& text,
                                                                       const std::string& name);
[[nodiscard]] std::expected<Pics, std::vector<std::string>> load_pics(
    const std::filesystem::path& file);

/// The PICS that follows from an implementation's hello. A MUST that the hello does not list is
/// left out, and so is what its agent cannot configure: a script may be added later.
[[nodiscard]] Pics probe(const Hello& hello);

/// Whether a hello may list this name.
[[nodiscard]] bool is_capability(std::string_view name);
/// The file with each item explained; what `load_pics` reads.
[[nodiscard]] std::string to_yaml(const Pics& pics);
/// The empty questionnaire.
[[nodiscard]] std::string pics_proforma();

}  // namespace suite::iut
