// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/doctor/ip_answers.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

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

// What the link is on, if it is a virtual one over another; the peer of a veth is not that.
std::string lower_of(const json& link) {
  const auto info = link.find("linkinfo");
  if (info == link.end() || !info->is_object()) return {};
  constexpr std::array kinds{"vlan", "macvlan", "macvtap", "ipvlan"};
  return std::ranges::find(kinds, text_of(*info, "info_kind")) == kinds.end()
             ? std::string()
             : text_of(link, "link");
}

/// The first object of a list; null if there is none.
json first_of(const Answer& said) {
  const json all = json::parse(said.value_or(""), nullptr, false);
  return all.is_array() && !all.empty() && all[0].is_object() ? all[0] : json();
}

IpLink read_link(const json& link) {
  const auto mtu = link.find("mtu");
  return {.name = text_of(link, "ifname"),
          .mac = text_of(link, "address"),
          .lower = lower_of(link),
          .mtu = mtu != link.end() && mtu->is_number_integer() ? mtu->get<int>() : 0,
          .up = is_up(link)};
}

}  // namespace

std::vector<std::string> route_question(const std::string& address) {
  std::vector<std::string> words{"ip", "-j", "route", "get", without_zone(address)};
  if (const std::size_t percent = address.find('%'); percent != address.npos)
    words.insert(words.end(), {"oif", address.substr(percent + 1)});
  return words;
}

std::string without_zone(const std::string& address) {
  return address.substr(0, address.find('%'));
}

std::optional<IpRoute> first_route(const Answer& said) {
  const json route = first_of(said);
  if (!route.is_object()) return std::nullopt;
  return IpRoute{.interface = text_of(route, "dev"),
                 .type = text_of(route, "type"),
                 .gateway = text_of(route, "gateway")};
}

std::string first_neighbour(const Answer& said) {
  const json neighbour = first_of(said);
  return neighbour.is_object() ? text_of(neighbour, "lladdr") : std::string();
}

IpLink first_link(const Answer& said) {
  const json link = first_of(said);
  return link.is_object() ? read_link(link) : IpLink();
}

std::optional<IpLink> link_with(const std::string& links, const std::string& address) {
  const json all = json::parse(links, nullptr, false);
  if (!all.is_array()) return std::nullopt;
  for (const json& link : all) {
    if (!link.is_object() || !has_address(link, address)) continue;
    return read_link(link);
  }
  return std::nullopt;
}

bool is_over(const IpLink& link, const std::string& interface, const std::string& links) {
  if (link.name == interface || link.lower == interface) return true;
  const json all = json::parse(links, nullptr, false);
  if (!all.is_array()) return false;
  return std::ranges::any_of(all, [&](const json& one) {
    if (!one.is_object() || text_of(one, "ifname") != interface) return false;
    const std::string master = text_of(one, "master");
    return !master.empty() && (master == link.name || master == link.lower);
  });
}

}  // namespace suite::doctor
