// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/run_state.hpp"

#include "base/line_file.hpp"
#include "base/record/json_writer.hpp"

namespace plugfest {

namespace {

using base::record::required;
using base::record::table;

}  // namespace

constexpr auto table_of(const PlayingCell*) {
  return table("playing", required("cell", &PlayingCell::cell),
               required("since", &PlayingCell::since));
}
constexpr auto table_of(const RunState*) {
  return table("state", required("time", &RunState::time), required("playing", &RunState::playing),
               required("waiting", &RunState::waiting), required("aside", &RunState::aside),
               required("remaining", &RunState::remaining), required("over", &RunState::over));
}

void write_state(const std::filesystem::path& folder, const RunState& state) {
  const auto text = base::record::one_line(base::record::to_json(state)) + "\n";
  static_cast<void>(base::replace_file(folder / state_name, text));
}

}  // namespace plugfest
