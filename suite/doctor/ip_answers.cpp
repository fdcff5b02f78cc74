// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/doctor/ip_answers.hpp"

#include <algorithm>

namespace suite::doctor {

namespace {

using nlohmann::json;

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool has_address(const json& link, const std::string& address) {
  const auto list = link.find("addr_info");
  return list != link.end() && list->is_array() && std::ranges::any_of(*list, [&](const json& one) {
           return one.is_object() && text_of(one, "local") == address;
         });
}

// The administrative state; that of the carrier is checked with the device ("link").
bool is_up(const json& link) {
  const auto flags = link.find("flags");
  return flags != link.end() && flags->is_array() &&
         std::ranges::find(*flags, json("UP")) != flags->end();
}

}  // namespace

json first_of(const std::expected<std::string, std::string>& said) {
  const json all = json::parse(said.value_or(""), nullptr, false);
  return all.is_array() && !all.empty() && all[0].is_object() ? all[0] : json();
}

std::optional<IpLink> link_with(const std::string& links, const std::string& address) {
  const json all = json::parse(links, nullptr, false);
  if (!all.is_array()) return std::nullopt;
  for (const json& link : all) {
    if (!link.is_object() || !has_address(link, address)) continue;
    const auto mtu = link.find("mtu");
    return IpLink{.name = text_of(link, "ifname"),
                  .mac = text_of(link, "address"),
                  .mtu = mtu != link.end() && mtu->is_number_integer() ? mtu->get<int>() : 0,
                  .up = is_up(link)};
  }
  return std::nullopt;
}

}  // namespace suite::doctor
