// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// rnic-guest-agent: runs a program in the guest as if it ran here: stdin, stdout, stderr, exit
// status, fatal signal.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>

#include "base/file_descriptor.hpp"
#include "base/standard_streams.hpp"
#include "suite/lab/channel_protocol.hpp"

namespace suite::lab {
namespace {

constexpr int guest_gone = 69;    ///< exit status: the guest or its channel went away
constexpr int not_started = 126;  ///< exit status: the guest could not start the program
constexpr std::size_t input_limit = 1 << 20;

constexpr std::string_view help =
    "usage: rnic-guest-agent SOCKET PROGRAM [ARGUMENT...]\n"
    "\n"
    "Runs PROGRAM in the guest whose agent channel is the unix socket SOCKET (rnic-lab siw-vm "
    "prints\n"
    "them), with this process's stdin, stdout and stderr. Ends as the program ends: with its exit\n"
    "status, or by the signal that killed it. A program that still runs on the channel is killed "
    "first.\n"
    "\n"
    "example: rnic-guest-agent /tmp/rnic-guest-x/agent.0 /bin/rnic-agent --driver verbs --device "
    "siw0\n"
    "exit: the program's; 2 usage, 69 the guest is gone, 126 the guest cannot start programs\n";

base::FileDescriptor connect_to(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (std::strlen(path) >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return {};
  }
  std::strcpy(address.sun_path, path);
  base::FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return {};
  ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
  return fd;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// Ends this process by the signal that ended the program, without a second core file.
[[noreturn]] void die_by(int number) {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  std::signal(number, SIG_DFL);
  std::raise(number);
  std::exit(128 + number);  // the signal was one that does not kill
}

class Bridge {
 public:
  Bridge(base::FileDescriptor socket, int argc, char** argv) : socket_(std::move(socket)) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    token_ = fmt::format("{:x}.{:x}", ::getpid(), now.tv_sec * 1'000'000'000 + now.tv_nsec);
    to_guest_ = fmt::format("\nbegin {}\n", token_);
    for (int i = 0; i < argc; ++i) to_guest_ += fmt::format("arg {}\n", argv[i]);
    to_guest_ += "go\n";
  }

  int run() {
    while (!ended_) {
      const bool hungry = input_open_ && to_guest_.size() < input_limit;
      std::array<pollfd, 2> watched{
          pollfd{socket_.get(), static_cast<short>(POLLIN | (to_guest_.empty() ? 0 : POLLOUT)), 0},
          pollfd{hungry ? STDIN_FILENO : -1, POLLIN, 0}};
      if (::poll(watched.data(), watched.size(), -1) < 0) continue;
      if (watched[1].revents != 0) read_input();
      if ((watched[0].revents & POLLOUT) != 0) write_socket();
      if ((watched[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) read_socket();
    }
    return status_;
  }

 private:
  void read_input() {
    std::array<char, 16384> chunk{};
    const ssize_t count = ::read(STDIN_FILENO, chunk.data(), chunk.size());
    if (count > 0) {
      to_guest_ += channel::wrap("", "in", {chunk.data(), static_cast<std::size_t>(count)});
    } else if (count == 0 || errno != EINTR) {
      input_open_ = false;
      to_guest_ += "eof\n";
    }
  }
  void write_socket() {
    const ssize_t count = ::send(socket_.get(), to_guest_.data(), to_guest_.size(), MSG_NOSIGNAL);
    if (count > 0) to_guest_.erase(0, static_cast<std::size_t>(count));
  }
  void read_socket() {
    std::array<char, 65536> chunk{};
    const ssize_t count = ::read(socket_.get(), chunk.data(), chunk.size());
    if (count > 0)
      lines_.add({chunk.data(), static_cast<std::size_t>(count)},
                 [this](std::string_view line) { take_line(line); });
    else if (count == 0 || (errno != EAGAIN && errno != EINTR))
      end(guest_gone, "the guest is gone");
  }
  void take_line(std::string_view line) {
    if (ended_ || channel::take_word(line) != token_) return;
    std::string text;
    if (channel::unwrap(line, "out", text)) {
      if (!write_all(STDOUT_FILENO, text)) end(guest_gone, "nobody reads stdout any more");
    } else if (channel::unwrap(line, "err", text)) {
      (void)write_all(STDERR_FILENO, text);
    } else if (channel::take_word(line) == "end") {
      take_end(line);
    }
  }
  void take_end(std::string_view line) {
    const std::string_view kind = channel::take_word(line);
    const int number = std::atoi(std::string(line).c_str());
    if (kind == "exit") return end(number, "");
    if (kind == "signal") die_by(number);
    end(not_started, std::string(line));
  }
  void end(int status, std::string_view why) {
    if (!why.empty()) base::say(stderr, "rnic-guest-agent: {}\n", why);
    ended_ = true;
    status_ = status;
  }

  base::FileDescriptor socket_;
  std::string token_, to_guest_;
  channel::LineCutter lines_;
  bool input_open_ = true, ended_ = false;
  int status_ = 0;
};

}  // namespace
}  // namespace suite::lab

int main(int argc, char** argv) {
  using namespace suite::lab;
  if (argc == 2 && (std::string_view(argv[1]) == "--help" || std::string_view(argv[1]) == "-h")) {
    base::say(stdout, help);
    return 0;
  }
  if (argc < 3) {
    base::say(stderr, help);
    return 2;
  }
  for (int i = 2; i < argc; ++i) {
    if (std::strchr(argv[i], '\n') == nullptr) continue;
    base::say(stderr, "rnic-guest-agent: an argument may not hold a line end\n");
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  base::FileDescriptor socket = connect_to(argv[1]);
  if (!socket) {
    base::say(stderr, "rnic-guest-agent: {}: {}; is the guest up?\n", argv[1],
              std::strerror(errno));
    return guest_gone;
  }
  return Bridge(std::move(socket), argc - 2, argv + 2).run();
}
