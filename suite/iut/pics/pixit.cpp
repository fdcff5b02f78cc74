// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/iut/pics/pixit.hpp"

#include <fmt/format.h>

#include "base/address_block.hpp"
#include "base/strict_yaml.hpp"
#include "base/zoned_address.hpp"

namespace suite::iut {
namespace {

using base::Family;

constexpr std::int64_t longest_deadline_ms = 3'600'000;

class Reader {
 public:
  explicit Reader(std::string name) : yaml_(std::move(name)) {}

  std::expected<Pixit, base::Faults> read(const std::string& text) {
    if (const auto top = yaml_.parse(text)) {
      yaml_.each(*top, "the file",
                 [&](const std::string& key, const YAML::Node& value) { take(key, value); });
      if (yaml_.faults().empty() && !versioned_) yaml_.fault("\"pixit: 1\" is missing");
    }
    if (!yaml_.faults().empty()) return std::unexpected(yaml_.faults());
    return std::move(pixit_);
  }

 private:
  void take(const std::string& key, const YAML::Node& value) {
    if (key == "pixit")
      versioned_ = yaml_.integer(value, "pixit (the version of this format)", 1, 1).has_value();
    else if (key == "address")
      take_addresses(key, value, pixit_.ipv4, pixit_.ipv6);
    else if (key == "further_address")
      take_addresses(key, value, pixit_.further_ipv4, pixit_.further_ipv6);
    else if (key == "tester_address")
      take_addresses(key, value, pixit_.tester_ipv4, pixit_.tester_ipv6);
    else if (key == "tester_spare")
      take_block(key, value);
    else if (key == "capture_interface")
      take_text(key, value, pixit_.capture_interface);
    else if (key == "deadline_scale")
      pixit_.deadline_scale = yaml_.number(value, key, 0.1, 1000).value_or(1);
    else if (key == "quiet_window_ms")
      take_duration(key, value, pixit_.quiet_window);
    else if (key == "hello_deadline_ms")
      take_duration(key, value, pixit_.hello_deadline);
    else if (key == "reply_deadline_ms")
      take_duration(key, value, pixit_.reply_deadline);
    else if (key == "outage_wait_ms")
      take_duration(key, value, pixit_.outage_wait);
    else if (key == "configure_script")
      take_text(key, value, pixit_.configure_script);
    else if (key == "agent")
      take_argv(key, value, pixit_.agent);
    else if (key == "kernel_log")
      take_argv(key, value, pixit_.kernel_log);
    else if (key == "reset_command")
      take_argv(key, value, pixit_.reset_command);
    else
      yaml_.fault(value, fmt::format("\"{}\" is unknown", key));
  }

  void take_text(const std::string& key, const YAML::Node& value, std::string& into) {
    if (auto said = yaml_.text(value, key)) into = std::move(*said);
  }

  void take_duration(const std::string& key, const YAML::Node& value,
                     std::chrono::milliseconds& into) {
    if (const auto said = yaml_.integer(value, key, 1, longest_deadline_ms))
      into = std::chrono::milliseconds(*said);
  }

  void take_addresses(const std::string& key, const YAML::Node& value, std::string& ipv4,
                      std::string& ipv6) {
    yaml_.each(value, key, [&](const std::string& family, const YAML::Node& literal) {
      if (family != "ipv4" && family != "ipv6")
        return yaml_.fault(literal,
                           fmt::format("{} has members ipv4 and ipv6, not \"{}\"", key, family));
      const auto said = yaml_.text(literal, key);
      if (!said) return;
      const auto address = base::ZonedAddress::parse(*said);
      if (!address)
        return yaml_.fault(literal, fmt::format("{}.{}: {}", key, family, address.error()));
      if (address->address.family != (family == "ipv6" ? Family::ipv6 : Family::ipv4))
        return yaml_.fault(literal,
                           fmt::format("{}.{}: {} is of the other family", key, family, *said));
      (family == "ipv6" ? ipv6 : ipv4) = *said;
    });
  }

  void take_block(const std::string& key, const YAML::Node& value) {
    const auto said = yaml_.text(value, key);
    if (!said) return;
    if (const auto block = base::AddressBlock::parse(*said); !block)
      return yaml_.fault(value, fmt::format("{}: {}", key, block.error()));
    pixit_.tester_spare = *said;
  }

  void take_argv(const std::string& key, const YAML::Node& value, std::vector<std::string>& into) {
    if (!value.IsSequence() || value.size() == 0)
      return yaml_.fault(
          value,
          fmt::format("{} must be a list: the program and its arguments, one entry each", key));
    for (const auto& each : value)
      if (auto said = yaml_.text(each, "each entry of " + key)) into.push_back(std::move(*said));
  }

  base::StrictYaml yaml_;
  Pixit pixit_;
  bool versioned_ = false;
};

}  // namespace

std::expected<Pixit, base::Faults> parse_pixit(const std::string& text, const std::string& name) {
  return Reader(name).read(text);
}

std::expected<Pixit, base::Faults> load_pixit(const std::filesystem::path& file) {
  const auto text = base::read_text(file);
  if (!text) return std::unexpected(text.error());
  return parse_pixit(*text, file.string());
}

}  // namespace suite::iut
