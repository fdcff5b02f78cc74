// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/sessions/dat/session_file.hpp"

#include <fmt/format.h>

#include "base/record/json_reader.hpp"
#include "suite/sessions/dat/session_text.hpp"
#include "suite/sessions/script.hpp"

namespace suite::sessions::dat {

namespace {

/// It goes to the process that plays it in one line.
constexpr std::size_t most_steps = 500;

/// Those that a script leaves out.
void add_usual_flags(base::record::Json& script) {
  for (auto& step : script["steps"])
    for (const Action action : {Action::make_region, Action::make_dispatcher})
      if (step["action"] == name(action) && !step.contains("flags"))
        step["flags"] = usual_flags(action);
}

}  // namespace

std::expected<SessionFile, std::string> read_session(const std::filesystem::path& file) {
  auto json = json_of_session(file);
  if (!json) return std::unexpected(json.error());
  if (file.extension() == ".yaml") add_usual_flags(*json);
  SessionFile session;
  if (const auto fault = base::record::from_json(*json, session))
    return std::unexpected(fmt::format("{}: {}", file.string(), fault->text));
  const auto& steps = session.session.steps;
  if (steps.empty() || steps.size() > most_steps)
    return std::unexpected(
        fmt::format("{}: a session has 1 to {} steps", file.string(), most_steps));
  return session;
}

std::string text_of_script(const std::string& id) {
  const auto script = script_of(id);
  if (!script) return {};
  const auto file = read_session(*script);
  return file ? text_of(file->session) : std::string();
}

bool is_session(const std::filesystem::path& file) {
  const auto json = json_of_session(file);
  return json && json->is_object() && json->contains("api");
}

std::string script_words() {
  std::string text = "a script begins with\n  api: dat\n\nactions\n";
  constexpr auto names = names_of(Action{});
  for (std::size_t i = 0; i < names.size(); ++i)
    text += fmt::format("  {}: {}\n", names[i], meanings_of_members()[i]);
  text += "\nmembers of a step\n" + defaults_of(base::record::to_json(Step{})) +
          fmt::format("  flags: {:#x} in make_region, {:#x} in make_dispatcher\n\nwrong\n",
                      usual_flags(Action::make_region), usual_flags(Action::make_dispatcher));
  for (const char* wrong : names_of(Wrong{})) text += fmt::format("  {}\n", wrong);
  return text;
}

}  // namespace suite::sessions::dat
