// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/sessions/session_file.hpp"

#include <cstring>

#include <fmt/format.h>
#include <fmt/std.h>

#include "base/line_file.hpp"
#include "base/record/json_file.hpp"
#include "base/strict_yaml.hpp"
#include "suite/sessions/script.hpp"
#include "suite/sessions/session_tables.hpp"

namespace suite::sessions {

namespace {

std::expected<SessionFile, std::string> read_script(const std::filesystem::path& file) {
  const auto text = base::read_text(file);
  if (!text) return std::unexpected(text.error().front());
  const auto json = session_of_script(file.string(), *text);
  if (!json) return std::unexpected(json.error());
  SessionFile session;
  if (const auto fault = base::record::from_json(*json, session))
    return std::unexpected(fmt::format("{}: {}", file.string(), fault->text));
  return session;
}

}  // namespace

std::expected<void, std::string> write_session(const std::filesystem::path& file,
                                               const SessionFile& session) {
  const std::string text = base::record::to_json(session).dump(1) + "\n";
  if (const int error = base::replace_file(file, text); error != 0)
    return std::unexpected(fmt::format("{}: {}", file.string(), std::strerror(error)));
  return {};
}

std::expected<SessionFile, std::string> read_session(const std::filesystem::path& file) {
  auto session = file.extension() == ".yaml"
                     ? read_script(file)
                     : base::record::read_file<SessionFile>(file, "a session");
  if (!session) return session;
  const auto& streams = session->session.streams;
  if (streams.empty() || streams.size() > most_streams)
    return std::unexpected(
        fmt::format("{}: a session has 1 to {} streams", file.string(), most_streams));
  return session;
}

}  // namespace suite::sessions
