// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The lines of a dat.conf for our own DAT provider.
#pragma once

#include <expected>
#include <string>

namespace suite::lab {

/// The provider of this installation under this name, at this address. The error is one line.
[[nodiscard]] std::expected<std::string, std::string> own_dat_conf(const std::string& ia,
                                                                   const std::string& address);

}  // namespace suite::lab
