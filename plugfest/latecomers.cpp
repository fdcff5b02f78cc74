// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/latecomers.hpp"

#include <sys/stat.h>

#include <chrono>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/time_text.hpp"

namespace plugfest {

namespace {

std::string state_of(const std::filesystem::path& file) {
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) return {};
  return fmt::format("{} {}.{} {}\n", file.string(), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
                     status.st_size);
}

}  // namespace

Latecomers::Latecomers(std::filesystem::path file, const Event& event,
                       std::function<std::expected<Event, Faults>()> read,
                       std::function<void(const std::string&)> tell)
    : file_(std::move(file)),
      folder_(event.join),
      known_(event.participants.size()),
      read_(std::move(read)),
      tell_(std::move(tell)),
      since_(base::time_text(std::chrono::system_clock::now())) {}

std::string Latecomers::state_of_files() const {
  std::set<std::string> states{state_of(file_)};
  std::error_code error;
  if (!folder_.empty())
    for (const auto& file : std::filesystem::directory_iterator(folder_, error))
      if (file.path().extension() == ".yaml") states.insert(state_of(file.path()));
  std::string all;
  for (const std::string& state : states) all += state;
  return all;
}

bool Latecomers::have_come() {
  if (event_) return true;
  std::string state = state_of_files();
  if (state == state_) return false;
  state_ = std::move(state);
  auto now = read_();
  if (!now) {
    for (const std::string& fault : now.error())
      tell_("nobody can join the event as it is now: " + fault);
  } else if (now->participants.size() > known_) {
    event_ = std::move(*now);
  }
  return event_.has_value();
}

Event Latecomers::take() {
  Event taken = std::move(event_).value();
  event_.reset();
  known_ = taken.participants.size();
  return taken;
}

}  // namespace plugfest
