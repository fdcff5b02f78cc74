// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/tests/synthetic_cells.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>

#include "base/epoll_loop.hpp"

namespace plugfest {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

void wait_for(std::chrono::microseconds time) {
  base::EpollLoop loop;
  loop.run_until(loop.now() + time, [] { return false; });
}

/// Appends a line in one write, so that processes may share the file.
void say(const fs::path& file, const std::string& line) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const std::string text = line + '\n';
  if (::write(fd, text.data(), text.size()) < 0) ::abort();
  ::close(fd);
}

/// The same verdict in every run.
json play_timed(const std::string& cell, const fs::path& folder) {
  say(folder / "starts", cell);
  const std::size_t hash = std::hash<std::string>()(cell);
  wait_for(std::chrono::microseconds(1000 + hash % 8000));
  return {{"verdict", hash % 5 == 0 ? "fail" : "pass"},
          {"fault", "none"},
          {"reason", ""},
          {"seconds", 0.01},
          {"padding", std::string(20'000, 'x')}};
}

json play_faulty(const std::string& cell) {
  if (cell == "0/1/x#1") wait_for(std::chrono::hours(1));
  if (cell == "1/2/x#1") ::raise(SIGSEGV);
  if (cell == "2/3/x#1") throw std::runtime_error("no such thing");
  if (cell == "3/4/x#1") ::_exit(0);
  if (cell == "4/5/x#1") return {{"verdict", "pass"}, {"reason", "\xFF\xFE"}};
  if (cell == "5/0/x#1") return "rubbish";
  return {{"verdict", "pass"}, {"reason", ""}};
}

}  // namespace

json play_synthetic(const json& order) {
  const std::string behaviour = order.at("behaviour"), cell = order.at("cell");
  if (behaviour == "timed") return play_timed(cell, order.at("folder").get<std::string>());
  if (behaviour == "things go wrong") return play_faulty(cell);
  if (behaviour == "host 0 is slow" && order.at("initiator") == 0)
    wait_for(std::chrono::milliseconds(400));
  if (behaviour == "rubbish of initiator 5" && order.at("initiator") == 5) return "rubbish";
  if (behaviour == "says its attempt") return {{"verdict", "pass"}, {"at", order.at("attempt")}};
  return {{"verdict", "pass"}};
}

}  // namespace plugfest
