// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The lines of dat.conf that libdat2 has passed to this provider.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "reference_rnic/dat/ia.hpp"

namespace rnic::dat {

/// The interface and address that `ia_params` names: an interface, an address, or both, in this
/// order ("eth0", "10.0.0.1", "lo 127.0.0.1"). Without an address it is the interface's first.
struct Place {
  std::string interface;
  base::Address address;
};
[[nodiscard]] std::expected<Place, std::string> read_params(std::string_view ia_params);

/// The registration of an IA name, or null.
[[nodiscard]] const Registration* find_registration(std::string_view name, bool thread_safe);
[[nodiscard]] const Registration* find_registration(std::string_view name);

}  // namespace rnic::dat
