// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A session of the DAT API on its way to the process that plays it: JSON in a line.
#pragma once

#include <optional>
#include <string>

#include "base/record/json_reader.hpp"
#include "suite/sessions/dat/session.hpp"

namespace suite::sessions::dat {

/// Nothing if it is no session.
[[nodiscard]] inline std::optional<Session> session_of(const std::string& text) {
  const auto json = base::record::Json::parse(text, nullptr, false);
  Session session;
  if (json.is_discarded() || base::record::from_json(json, session)) return std::nullopt;
  return session;
}
[[nodiscard]] inline std::string text_of(const Session& session) {
  return base::record::one_line(base::record::to_json(session));
}

}  // namespace suite::sessions::dat
