// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/sessions/session_file.hpp"

#include <cstring>

#include <fmt/format.h>

#include "base/line_file.hpp"
#include "base/record/json_reader.hpp"
#include "suite/sessions/script.hpp"
#include "suite/sessions/session_tables.hpp"

namespace suite::sessions {

std::expected<void, std::string> write_session(const std::filesystem::path& file,
                                               const SessionFile& session) {
  const std::string text = base::record::to_json(session).dump(1) + "\n";
  if (const int error = base::replace_file(file, text); error != 0)
    return std::unexpected(fmt::format("{}: {}", file.string(), std::strerror(error)));
  return {};
}

std::expected<SessionFile, std::string> read_session(const std::filesystem::path& file) {
  const auto json = json_of_session(file);
  if (!json) return std::unexpected(json.error());
  SessionFile session;
  if (const auto fault = base::record::from_json(*json, session))
    return std::unexpected(fmt::format("{}: {}", file.string(), fault->text));
  const auto& streams = session.session.streams;
  if (streams.empty() || streams.size() > most_streams)
    return std::unexpected(
        fmt::format("{}: a session has 1 to {} streams", file.string(), most_streams));
  return session;
}

}  // namespace suite::sessions
