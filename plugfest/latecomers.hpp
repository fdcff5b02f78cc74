// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Participants that come to an event while it is played: files that appear in its folder `join`, or
// entries of the event file itself.
#pragma once

#include <expected>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "plugfest/event.hpp"
#include "plugfest/event_file.hpp"

namespace plugfest {

class Latecomers {
 public:
  /// `event` is what `file` had; `read` reads it again; `tell` takes one line for people.
  Latecomers(std::filesystem::path file, const Event& event,
             std::function<std::expected<Event, Faults>()> read,
             std::function<void(const std::string&)> tell);

  /// Whether the event has more participants than at first. A file that cannot be taken is told,
  /// once for each of its states, and keeps nobody else out for longer than it is wrong.
  [[nodiscard]] bool have_come();
  /// UTC: they come after this moment, when the others began.
  [[nodiscard]] const std::string& since() const { return since_; }
  /// The event with them; they are no latecomers any more.
  [[nodiscard]] Event take();

 private:
  /// Name, time and size of each file.
  [[nodiscard]] std::string state_of_files() const;

  std::filesystem::path file_, folder_;
  std::size_t known_;
  std::function<std::expected<Event, Faults>()> read_;
  std::function<void(const std::string&)> tell_;
  std::string state_, since_;
  std::optional<Event> event_;
};

}  // namespace plugfest
