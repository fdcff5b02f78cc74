// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/upper_tester/resume.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/record/json_reader.hpp"

namespace suite::upper_tester {

constexpr auto table_of(const AgentSession::Reconfiguration*) {
  using base::record::required;
  using Record = AgentSession::Reconfiguration;
  return base::record::table("reconfiguration", required("number", &Record::number),
                             required("arguments", &Record::arguments));
}
/// Without the unhandled octets, which follow the line.
constexpr auto table_of(const Handover*) {
  using base::record::required;
  return base::record::table("handover", required("input", &Handover::input),
                             required("output", &Handover::output),
                             base::record::inlined(&Handover::reconfiguration));
}

namespace {

bool write_all(int fd, const std::string& octets) {
  std::size_t written = 0;
  while (written < octets.size()) {
    const ssize_t count = ::write(fd, octets.data() + written, octets.size() - written);
    if (count <= 0) return false;
    written += static_cast<std::size_t>(count);
  }
  return ::lseek(fd, 0, SEEK_SET) == 0;
}

std::string read_all(int fd) {
  std::string octets;
  std::array<char, 65536> portion;
  ssize_t count = 0;
  while ((count = ::read(fd, portion.data(), portion.size())) > 0)
    octets.append(portion.data(), static_cast<std::size_t>(count));
  return octets;
}

bool keep_across_exec(int fd, bool keep) {
  return ::fcntl(fd, F_SETFD, keep ? 0 : FD_CLOEXEC) == 0;
}

std::string failed(const char* call) { return std::string(call) + ": " + std::strerror(errno); }

}  // namespace

std::string become_fresh(const Handover& handover, char** argv) {
  const int fd = ::memfd_create("rnic-agent", 0);
  if (fd < 0) return failed("memfd_create");
  if (!write_all(
          fd, base::record::one_line(base::record::to_json(handover)) + '\n' + handover.unhandled))
    return failed("write");
  if (!keep_across_exec(handover.input, true) || !keep_across_exec(handover.output, true))
    return failed("fcntl");

  std::string option = "--resume=" + std::to_string(fd);
  std::vector<char*> arguments;
  for (char** each = argv; *each != nullptr; ++each)
    if (std::strncmp(*each, "--resume=", 9) != 0) arguments.push_back(*each);
  arguments.push_back(option.data());
  arguments.push_back(nullptr);
  ::execv("/proc/self/exe", arguments.data());
  const std::string error = failed("execv");
  ::close(fd);
  return error;
}

std::optional<Handover> take_handover(int fd) {
  const std::string octets = read_all(fd);
  ::close(fd);
  const std::size_t feed = octets.find('\n');
  if (feed == std::string::npos) return std::nullopt;
  const auto head = base::record::Json::parse(octets.substr(0, feed), nullptr, false);
  Handover handover;
  if (head.is_discarded() || base::record::from_json(head, handover)) return std::nullopt;
  handover.unhandled = octets.substr(feed + 1);
  if (!keep_across_exec(handover.input, false) || !keep_across_exec(handover.output, false))
    return std::nullopt;
  return handover;
}

}  // namespace suite::upper_tester
