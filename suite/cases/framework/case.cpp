// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/framework/case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/framework/family.hpp"
#include "suite/cases/framework/revision.hpp"

namespace suite::cases {

namespace {

bool has(const Environment& environment, std::string_view capability) {
  return std::ranges::find(environment.iut.hello().capabilities, capability) !=
         environment.iut.hello().capabilities.end();
}

/// Capabilities that an implementation has by itself: its upper tester needs no call for them.
bool is_of_the_wire(std::string_view capability) {
  return capability == iut::capability::enhanced_startup ||
         capability == iut::capability::peer_to_peer;
}

std::optional<CaseStop> lack_of(std::string_view capability, const Environment& environment) {
  using Kind = results::Lack::Kind;
  const auto claim = environment.pics.find(std::string(capability));
  if (claim != environment.pics.end() && claim->second && is_of_the_wire(capability)) return {};
  if (claim != environment.pics.end() && !claim->second)
    return lacking({Kind::denied, std::string(capability)},
                   fmt::format("the PICS says that the IUT has no {}", capability));
  if (!has(environment, capability))
    return lacking({Kind::not_offered, std::string(capability)},
                   fmt::format("the upper tester does not offer {}", capability));
  return {};
}

/// The capabilities needed to configure an IUT in this way, unless that is its own configuration,
/// or may be: what it sends shows that (need_wanted_revision).
std::vector<std::string_view> needs_of(const Configuration& wanted,
                                       const Environment& environment) {
  const Configuration normal;
  std::vector<std::string_view> list;
  if (wanted.revision != normal.revision && revision_two_of(environment) == RevisionTwo::claimed)
    list.push_back(iut::capability::configure_revision_1);
  if (wanted.crc != normal.crc) list.push_back(iut::capability::configure_crc);
  if (wanted.markers != normal.markers) list.push_back(iut::capability::configure_markers);
  if (wanted.peer_to_peer != normal.peer_to_peer) list.push_back(iut::capability::peer_to_peer);
  if (wanted.peer_to_peer != normal.peer_to_peer || wanted.rtr != normal.rtr)
    list.push_back(iut::capability::configure_rtr);
  return list;
}

bool has_address(const base::Address& address) {
  return std::ranges::any_of(address.octets, [](std::uint8_t octet) { return octet != 0; });
}

}  // namespace

base::Family family_of(const Case& a_case, const Environment& environment) {
  using base::Family;
  const bool only_ipv6 = !has_address(environment.iut_ipv4) && has_address(environment.iut_ipv6);
  return only_ipv6 ? Family::ipv6 : a_case.family;
}

std::optional<CaseStop> why_not_applicable(const Case& a_case, const Environment& environment) {
  std::vector<std::string_view> all = a_case.needs;
  if (a_case.family == base::Family::ipv6) all.push_back(iut::capability::ipv6);
  for (const std::string_view need : all)
    if (auto lack = lack_of(need, environment)) return lack;
  // Without an address of that family the tester would open a port on all addresses, and the IUT
  // would be given no address to connect to.
  if (!has_address(a_case.family == base::Family::ipv6 ? environment.iut_ipv6
                                                       : environment.iut_ipv4))
    return CaseStop{
        Verdict::not_applicable,
        fmt::format("no {} address of the IUT is known: --address or the PIXIT gives one",
                    a_case.family == base::Family::ipv6 ? "IPv6" : "IPv4")};
  if (environment.current_configuration == a_case.configuration) return {};
  for (const std::string_view need : needs_of(a_case.configuration, environment))
    if (auto lack = lack_of(need, environment)) {
      lack->reason += fmt::format(" (wanted: {})", a_case.configuration.text());
      return lack;
    }
  return {};
}

void append_case(std::vector<Case>& table, Case row, const CaseOptions& options) {
  const std::string id = row.id;
  for (const Role role : options.roles) {
    row.role = role;
    const bool extra = role != options.roles.front();
    row.variant = extra ? "initiator" : "";
    row.id = extra ? id + "@initiator" : id;
    table.push_back(row);
  }
  if (!options.both_families) return;
  row.role = options.roles.front();
  row.variant = "ipv6";
  row.id = id + "@ipv6";
  row.family = base::Family::ipv6;
  table.push_back(std::move(row));
}

}  // namespace suite::cases
