// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/rdma_core/settings.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "reference_rnic/deviants/rnic_decisions.hpp"
#include "reference_rnic/lawful/decisions.hpp"
#include "reference_rnic/rdma_core/environment.hpp"

namespace rnic::rdma_core {

namespace {

/// The values that `variable` names.
template <typename Find>
auto values(const char* variable, Find&& find) {
  std::vector<typename decltype(find(std::string_view()))::value_type> found;
  const char* set = std::getenv(variable);
  std::string_view rest = set == nullptr ? "" : set;
  while (!rest.empty()) {
    const std::string_view name = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    const auto value = find(name);
    if (!value) {
      std::fprintf(stderr,
                   "librnic_rdma_core: %s names '%.*s', which there is not; rnic-run --list\n",
                   variable, static_cast<int>(name.size()), name.data());
      std::exit(2);
    }
    found.push_back(*value);
  }
  return found;
}

bool is_off(const char* variable) {
  const char* set = std::getenv(variable);
  return set != nullptr && std::string_view(set) == "off";
}

}  // namespace

verbs::RnicDecisions rnic_decisions() {
  auto decisions = deviants::rnic_decisions(values(deviations_variable, deviants::find_deviation));
  decisions.append(lawful::rnic_decisions(values(lawful_variable, lawful::find_lawful)));
  return decisions;
}

access::ConnectionDecisions connection_decisions() {
  auto decisions =
      deviants::connection_decisions(values(deviations_variable, deviants::find_deviation));
  decisions.append(lawful::connection_decisions(values(lawful_variable, lawful::find_lawful)));
  return decisions;
}

const char* device_name() {
  const char* set = std::getenv(device_variable);
  return set == nullptr || *set == '\0' ? "rnic0" : set;
}

bool asks_for_crc() { return !is_off(crc_variable); }

bool asks_for_peer_to_peer() { return !is_off(peer_to_peer_variable); }

}  // namespace rnic::rdma_core
