// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// rnic-guestd: process 1 of the guest. Runs programs for the host on serial channels, and carries
// out its commands on another one.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.hpp"
#include "suite/lab/channel_protocol.hpp"

namespace suite::lab {
namespace {

constexpr long patience_ms = 500;              ///< how long a program may run without a host
constexpr std::size_t output_limit = 1 << 18;  ///< beyond it the program must wait

/// Everything that can become readable or writable, with its callback.
class Loop {
 public:
  Loop() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

  void watch(int fd, std::uint32_t events, std::function<void()> ready) {
    epoll_event event{};
    event.events = events;
    event.data.fd = fd;
    const bool known = ready_.contains(fd);
    ready_[fd] = std::move(ready);
    ::epoll_ctl(epoll_.get(), known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
  }
  void forget(int fd) {
    if (ready_.erase(fd) != 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  }
  [[noreturn]] void run() {
    for (;;) {
      std::array<epoll_event, 32> events{};
      const int count =
          ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i) {
        // An earlier callback of this round may have removed it.
        const auto found = ready_.find(events[static_cast<std::size_t>(i)].data.fd);
        if (found == ready_.end()) continue;
        const auto ready = found->second;
        ready();
      }
    }
  }

 private:
  base::FileDescriptor epoll_;
  std::map<int, std::function<void()>> ready_;
};

/// One virtio-serial port. Edge-triggered: the driver wakes pollers when the host connects, leaves,
/// sends, or makes room, and a port without a host is readable for ever. The first callback comes
/// from the loop, never from the constructor.
class Port {
 public:
  Port(Loop& loop, const std::string& device, std::function<void(std::string_view)> take_line,
       std::function<void()> changed)
      : fd_(::open(device.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC)),
        take_line_(std::move(take_line)),
        changed_(std::move(changed)) {
    loop.watch(fd_.get(), EPOLLIN | EPOLLOUT | EPOLLHUP | EPOLLET, [this] { service(); });
  }

  void send(std::string_view text) {
    output_.append(text);
    flush();
  }
  void drop_output() { output_.clear(); }
  [[nodiscard]] bool full() const { return output_.size() > output_limit; }
  [[nodiscard]] bool connected() const { return connected_; }

 private:
  void service() {
    for (;;) {
      std::array<char, 16384> chunk{};
      const ssize_t count = ::read(fd_.get(), chunk.data(), chunk.size());
      if (count > 0) {
        connected_ = true;
        lines_.add({chunk.data(), static_cast<std::size_t>(count)}, take_line_);
        continue;
      }
      if (count < 0 && errno == EINTR) continue;
      connected_ = count < 0 && errno == EAGAIN;
      break;
    }
    flush();
    changed_();
  }
  void flush() {
    while (!output_.empty()) {
      const ssize_t count =
          ::write(fd_.get(), output_.data(), std::min<std::size_t>(output_.size(), 32768));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return;
      output_.erase(0, static_cast<std::size_t>(count));
    }
  }

  base::FileDescriptor fd_;
  std::function<void(std::string_view)> take_line_;
  std::function<void()> changed_;
  channel::LineCutter lines_;
  std::string output_;
  bool connected_ = false;
};

struct ProgramPipes {
  base::FileDescriptor input, output, errors;  ///< our ends
};

/// Starts argv in a session of its own. The three descriptors are the program's ends.
pid_t spawn(const std::vector<std::string>& argv, int input, int output, int errors) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::setsid();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(input, 0);
  ::dup2(output, 1);
  ::dup2(errors, 2);
  ::execvp(words[0], words.data());
  const std::string why = std::string(words[0]) + ": " + std::strerror(errno) + "\n";
  (void)!::write(2, why.data(), why.size());
  ::_exit(127);
}

/// One program's channel: at most one program at a time, each for one session of the host.
class Channel {
 public:
  Channel(Loop& loop, const std::string& device, const bool& held)
      : loop_(loop),
        held_(held),
        timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)),
        port_(
            loop, device, [this](std::string_view line) { take_line(line); },
            [this] { port_changed(); }) {
    loop_.watch(timer_.get(), EPOLLIN, [this] { patience_is_over(); });
  }

  [[nodiscard]] bool idle() const { return pid_ == 0; }
  /// Kills the program; its end is reported when it has been reaped.
  void kill() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);  // it may not be the leader of its group yet
    ::kill(-pid_, SIGKILL);
  }
  /// True if it was this channel's program.
  bool reaped(pid_t pid, int status) {
    if (pid != pid_) return false;
    ::kill(-pid, SIGKILL);  // processes that remain in its session
    drain_rest();
    pid_ = 0;
    pipes_ = {};
    if (running_token_ == token_) say_end(status);
    start_if_wanted();
    return true;
  }
  void start_if_wanted() {
    if (!start_wanted_ || !idle() || held_) return;
    start_wanted_ = false;
    start();
  }

 private:
  void take_line(std::string_view line) {
    std::string_view rest = line;
    const std::string_view word = channel::take_word(rest);
    if (word == "begin") {
      begin(rest);
    } else if (word == "arg") {
      argv_.emplace_back(rest);
    } else if (word == "go" && !argv_.empty()) {
      start_wanted_ = true;
      start_if_wanted();
    } else if (word == "eof") {
      input_ended_ = true;
      feed();
    } else if (channel::unwrap(line, "in", input_)) {
      feed();
    }
  }
  void begin(std::string_view token) {
    forget_session();
    token_ = token;
    port_.send("\n");
  }
  void forget_session() {
    kill();
    port_.drop_output();
    token_.clear();
    argv_.clear();
    input_.clear();
    input_ended_ = false;
    start_wanted_ = false;
  }
  void start() {
    std::array<std::array<int, 2>, 3> ends{};
    for (auto& pair : ends)
      if (::pipe2(pair.data(), O_CLOEXEC) != 0) return say("end error no pipe");
    const base::FileDescriptor input(ends[0][0]), output(ends[1][1]), errors(ends[2][1]);
    pipes_ = {base::FileDescriptor(ends[0][1]), base::FileDescriptor(ends[1][0]),
              base::FileDescriptor(ends[2][0])};
    for (const base::FileDescriptor* own : {&pipes_.input, &pipes_.output, &pipes_.errors})
      ::fcntl(own->get(), F_SETFL, O_NONBLOCK);
    pid_ = spawn(argv_, input.get(), output.get(), errors.get());
    if (pid_ < 0) {
      pid_ = 0;
      return say("end error no process");
    }
    running_token_ = token_;
    say("started");
    watch_outputs();
    feed();
  }
  void watch_outputs() {
    for (auto [from, keyword] :
         {std::pair{&pipes_.output, "out"}, std::pair{&pipes_.errors, "err"}})
      if (*from)
        loop_.watch(from->get(), EPOLLIN, [this, from, keyword] { relay(*from, keyword); });
  }
  /// Output of the program goes to the host. If the host does not take it, the program waits.
  void relay(base::FileDescriptor& from, const char* keyword) {
    std::array<char, 16384> chunk{};
    const ssize_t count = ::read(from.get(), chunk.data(), chunk.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) {
      loop_.forget(from.get());
      from.close();
      return;
    }
    if (running_token_ == token_)
      port_.send(
          channel::wrap(token_ + " ", keyword, {chunk.data(), static_cast<std::size_t>(count)}));
    if (port_.full()) {
      loop_.forget(pipes_.output.get());
      loop_.forget(pipes_.errors.get());
      throttled_ = true;
    }
  }
  /// Takes what the program wrote before it ended. A child of it that still runs may keep the pipes
  /// open, so this does not wait for their end.
  void drain_rest() {
    for (auto [from, keyword] :
         {std::pair{&pipes_.output, "out"}, std::pair{&pipes_.errors, "err"}}) {
      int waiting = 1;
      while (*from && waiting > 0) {
        pollfd state{from->get(), POLLIN, 0};
        waiting = ::poll(&state, 1, 0);
        if (waiting > 0) relay(*from, keyword);
      }
      if (*from) loop_.forget(from->get());
    }
    loop_.forget(pipes_.input.get());
    throttled_ = false;
  }
  void feed() {
    if (idle() || running_token_ != token_ || !pipes_.input) return;
    while (!input_.empty()) {
      const ssize_t count = ::write(pipes_.input.get(), input_.data(), input_.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) {
        loop_.watch(pipes_.input.get(), EPOLLOUT, [this] { feed(); });
        return;
      }
      if (count < 0) input_.clear();  // it does not read any more
      if (count > 0) input_.erase(0, static_cast<std::size_t>(count));
    }
    loop_.forget(pipes_.input.get());
    if (input_ended_) pipes_.input.close();
  }
  /// The notice that the host has left comes apart from the data, perhaps after the first lines of
  /// the next host. So a session ends only if there is no host for a while, or by the next
  /// `begin`.
  void port_changed() {
    set_timer(port_.connected() || token_.empty() ? 0 : patience_ms);
    if (throttled_ && !port_.full()) {
      throttled_ = false;
      watch_outputs();
    }
  }
  void set_timer(long milliseconds) {
    itimerspec when{};
    when.it_value.tv_nsec = milliseconds * 1'000'000;
    ::timerfd_settime(timer_.get(), 0, &when, nullptr);
  }
  void patience_is_over() {
    std::uint64_t times = 0;
    if (::read(timer_.get(), &times, sizeof times) > 0 && !port_.connected()) forget_session();
  }
  void say(std::string_view text) { port_.send(token_ + " " + std::string(text) + "\n"); }
  void say_end(int status) {
    say(WIFSIGNALED(status) ? "end signal " + std::to_string(WTERMSIG(status))
                            : "end exit " + std::to_string(WEXITSTATUS(status)));
  }

  Loop& loop_;
  const bool& held_;           ///< no program may start now
  std::string token_;          ///< of the host's present session
  std::string running_token_;  ///< of the session that the running program belongs to
  std::vector<std::string> argv_;
  std::string input_;
  bool input_ended_ = false, start_wanted_ = false, throttled_ = false;
  pid_t pid_ = 0;
  ProgramPipes pipes_;
  base::FileDescriptor timer_;
  Port port_;
};

void write_file(const char* path, std::string_view text) {
  const base::FileDescriptor file(::open(path, O_WRONLY | O_CLOEXEC));
  (void)!::write(file.get(), text.data(), text.size());
}

/// Process 1: the programs' channels and the control channel.
class Guestd {
 public:
  Guestd() {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
    signals_ = base::FileDescriptor(::signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC));
    loop_.watch(signals_.get(), EPOLLIN, [this] { reap(); });
    open_ports();
  }
  [[noreturn]] void run() { loop_.run(); }

 private:
  void open_ports() {
    std::string control_device;
    for (const auto& entry : std::filesystem::directory_iterator("/sys/class/virtio-ports")) {
      std::string name;
      std::getline(std::ifstream(entry.path() / "name"), name);
      const std::string device = "/dev/" + entry.path().filename().string();
      if (name == channel::control_name) control_device = device;
      if (!name.starts_with(channel::agent_name_prefix)) continue;
      const int number = std::atoi(name.c_str() + channel::agent_name_prefix.size());
      channels_[number] = std::make_unique<Channel>(loop_, device, held_);
    }
    // The control channel last: an answer on it means that all the others are there.
    control_ = std::make_unique<Port>(
        loop_, control_device, [this](std::string_view line) { obey(line); }, [] {});
  }

  void reap() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    }
    int status = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid == variant_pid_) finish_variant(status);
      for (auto& [number, channel] : channels_)
        if (channel->reaped(pid, status)) answer_kills(number);
    }
    start_variant_if_idle();
  }

  void answer(std::string_view number, std::string_view text) {
    control_->send(std::string(number) + " " + std::string(text) + "\n");
  }

  void obey(std::string_view line) {
    const std::string number(channel::take_word(line));
    const std::string command(channel::take_word(line));
    if (number.empty() || command.empty()) return;
    if (command == "ping") return answer(number, "ok");
    if (command == "kmsg") {
      // Without its line end a record stays open and is not printed.
      write_file("/dev/kmsg", std::string(line) + "\n");
      return answer(number, "ok");
    }
    if (command == "kill-agent") return kill_agent(number, line);
    if (command == "load-variant") return load_variant(number, line);
    if (command == "crash") return write_file("/proc/sysrq-trigger", "c");
    if (command == "poweroff") {
      ::sync();
      ::reboot(RB_POWER_OFF);
      return;
    }
    answer(number, "error unknown command '" + command + "'");
  }

  void kill_agent(const std::string& number, std::string_view which) {
    const int index = std::atoi(std::string(which).c_str());
    const auto found = channels_.find(index);
    if (found == channels_.end()) return answer(number, "error there is no such channel");
    if (found->second->idle()) return answer(number, "ok nothing ran");
    kills_.emplace(index, number);
    found->second->kill();
  }
  void answer_kills(int index) {
    const auto [first, last] = kills_.equal_range(index);
    for (auto kill = first; kill != last; ++kill) answer(kill->second, "ok");
    kills_.erase(first, last);
  }

  /// Programs keep the device open: they end first, and none starts until the variant is loaded.
  void load_variant(const std::string& number, std::string_view name) {
    if (held_) return answer(number, "error another variant is being loaded");
    held_ = true;
    variant_number_ = number;
    variant_name_ = name;
    for (auto& [index, channel] : channels_) channel->kill();
    start_variant_if_idle();
  }
  void start_variant_if_idle() {
    if (!held_ || variant_pid_ != 0) return;
    for (auto& [index, channel] : channels_)
      if (!channel->idle()) return;
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return end_variant("error no pipe");
    variant_output_ = base::FileDescriptor(ends[0]);
    const base::FileDescriptor output(ends[1]);
    variant_pid_ = spawn({"siw-variant", variant_name_}, 0, output.get(), output.get());
    if (variant_pid_ < 0) end_variant("error no process");
  }
  void finish_variant(int status) {
    std::array<char, 512> said{};
    const ssize_t count = ::read(variant_output_.get(), said.data(), said.size());
    std::string text(said.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    while (text.ends_with('\n') || text.ends_with(' ')) text.pop_back();
    std::ranges::replace(text, '\n', ' ');
    end_variant((status == 0 ? "ok " : "error ") + text);
  }
  void end_variant(const std::string& text) {
    variant_pid_ = 0;
    variant_output_.close();
    held_ = false;
    answer(variant_number_, text);
    for (auto& [index, channel] : channels_) channel->start_if_wanted();
  }

  Loop loop_;
  base::FileDescriptor signals_;
  bool held_ = false;
  std::map<int, std::unique_ptr<Channel>> channels_;
  std::unique_ptr<Port> control_;
  std::multimap<int, std::string> kills_;  ///< channel and the number of the command
  pid_t variant_pid_ = 0;
  std::string variant_number_, variant_name_;
  base::FileDescriptor variant_output_;
};

}  // namespace
}  // namespace suite::lab

int main() {
  if (::getpid() != 1) {
    std::puts(
        "rnic-guestd is process 1 of the guest that `rnic-lab siw-vm` boots; it does nothing "
        "elsewhere.\n"
        "It runs programs on the ports rnic.agent.N and takes orders on rnic.control:\n"
        "  1 ping | 1 kmsg TEXT | 1 kill-agent N | 1 load-variant NAME | 1 crash | 1 poweroff");
    return 2;
  }
  ::chdir("/");
  suite::lab::Guestd guestd;
  guestd.run();
}
