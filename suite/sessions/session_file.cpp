// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/sessions/session_file.hpp"

#include <cstring>

#include <fmt/format.h>
#include <fmt/std.h>

#include "base/line_file.hpp"
#include "base/record/json_reader.hpp"
#include "base/strict_yaml.hpp"
#include "suite/sessions/script.hpp"
#include "suite/sessions/session_tables.hpp"

namespace suite::sessions {

namespace {

using base::record::Json;

std::expected<Json, std::string> as_json(const std::filesystem::path& file,
                                         const std::string& text) {
  if (file.extension() == ".yaml") return session_of_script(file.string(), text);
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded())
    return std::unexpected(
        fmt::format("{} is not JSON; the name of a script ends in .yaml", file.string()));
  return json;
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
  const auto text = base::read_text(file);
  if (!text) return std::unexpected(text.error().front());
  auto json = as_json(file, *text);
  if (!json) return std::unexpected(json.error());
  SessionFile session;
  if (const auto fault = base::record::from_json(*json, session))
    return std::unexpected(fmt::format("{}: {}", file.string(), fault->text));
  if (session.session.streams.empty() || session.session.streams.size() > most_streams)
    return std::unexpected(
        fmt::format("{}: a session has 1 to {} streams", file.string(), most_streams));
  return session;
}

}  // namespace suite::sessions
