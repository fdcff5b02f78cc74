// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/framework/case_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace suite::cases {

std::string Configuration::text() const {
  return fmt::format("revision {}, crc {}, markers {}{}, rtr {}", revision, crc ? "on" : "off",
                     markers ? "on" : "off", peer_to_peer ? ", peer to peer" : "",
                     rtr.empty() ? "none" : fmt::format("{}", fmt::join(rtr, "+")));
}

Case make_row(std::string_view folder, std::string_view file, std::string_view slug,
              std::string_view source, int line, const CaseOptions& options) {
  Case row;
  row.id = fmt::format("{}.{}.{}", folder, file, slug);
  row.title = slug;
  std::ranges::replace(row.title, '_', ' ');
  row.layer = folder;
  const std::size_t root = source.rfind("suite/cases/");
  row.file =
      fmt::format("{}:{}", root == std::string_view::npos ? source : source.substr(root), line);
  row.rules = options.rules;
  row.needs = options.needs;
  row.configuration = options.configuration;
  row.role = options.roles.front();
  row.deadline = options.deadline;
  return row;
}

}  // namespace suite::cases
