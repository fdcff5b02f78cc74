// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Strict reading of small YAML files: every key must be known, unique, and of its type; every fault
// is reported with its line.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace base {

using Faults = std::vector<std::string>;

class StrictYaml {
 public:
  explicit StrictYaml(std::string name) : name_(std::move(name)) {}

  /// The document's top, or nothing after a fault.
  [[nodiscard]] std::optional<YAML::Node> parse(const std::string& text);
  /// Calls `take(key, value)` for each entry of a mapping.
  void each(const YAML::Node& mapping, std::string_view what,
            const std::function<void(const std::string&, const YAML::Node&)>& take);

  [[nodiscard]] std::optional<std::string> text(const YAML::Node& value, std::string_view key);
  [[nodiscard]] std::optional<std::int64_t> integer(const YAML::Node& value, std::string_view key,
                                                    std::int64_t low, std::int64_t high);
  [[nodiscard]] std::optional<double> number(const YAML::Node& value, std::string_view key,
                                             double low, double high);

  void fault(const YAML::Node& at, const std::string& what);
  void fault(int line, const std::string& what);
  /// Reports a fault at the key of the entry that each() has passed to `take`.
  void fault_of_key(const std::string& what) { fault(key_, what); }
  void fault(const std::string& what) { faults_.push_back(name_ + ": " + what); }
  [[nodiscard]] const Faults& faults() const { return faults_; }

 private:
  void fault(const YAML::Mark& mark, const std::string& what);

  std::string name_;
  Faults faults_;
  /// The key of the entry that is being read: the mark of a missing value is elsewhere.
  YAML::Mark key_ = YAML::Mark::null_mark();
};

/// The file's text, or the reason why there is none.
[[nodiscard]] std::expected<std::string, Faults> read_text(const std::filesystem::path& file);

}  // namespace base
