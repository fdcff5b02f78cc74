// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/iut_guard.hpp"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace suite::runner {

namespace {

using base::TimePoint;

// Read by the signal handler, and so valid for the whole process: there is one thread, and it is
// either in the IUT or not.
volatile std::sig_atomic_t in_iut = 0;
volatile std::sig_atomic_t report_fd = -1;

// Marks a stretch of the IUT's code, or of our code called from it, while the object lives.
class Mark {
 public:
  explicit Mark(bool iut) : before_(in_iut) { in_iut = iut ? 1 : 0; }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  ~Mark() { in_iut = before_; }

 private:
  std::sig_atomic_t before_;
};

class GuardedLoop final : public base::EventLoop {
 public:
  explicit GuardedLoop(base::EventLoop& inner) : inner_(inner) {}
  TimePoint now() const override { return inner_.now(); }
  bool run_until(TimePoint deadline, const std::function<bool()>& done) override {
    const Mark mark(
        false);  // callbacks of both sides are dispatched from here; those of the IUT mark themselves
    return inner_.run_until(deadline, done);
  }
  base::TimerId schedule(TimePoint when, std::function<void()> callback) override {
    return inner_.schedule(when, [callback = std::move(callback)] { call_iut(callback); });
  }
  void cancel(base::TimerId timer) override { inner_.cancel(timer); }

 private:
  base::EventLoop& inner_;
};

class GuardedIut final : public iut::Iut {
 public:
  GuardedIut(base::EventLoop& loop, rnic::llp::Network& network, const IutMaker& make)
      : loop_(loop) {
    const Mark mark(true);
    inner_ = make(loop_, network);
  }
  ~GuardedIut() override {
    const Mark mark(true);
    inner_.reset();
  }
  const iut::Hello& hello() const override { return inner_->hello(); }
  std::uint64_t post(iut::Command command) noexcept override {
    const Mark mark(true);
    return inner_->post(std::move(command));
  }
  std::optional<iut::Event> next_event(TimePoint deadline) override {
    const Mark mark(true);
    return inner_->next_event(deadline);
  }

 private:
  GuardedLoop loop_;
  std::unique_ptr<iut::Iut> inner_;
};

// Only calls that are safe in a signal handler.
extern "C" void last_word(int signal) {
  std::array<char, 64> text{};
  constexpr std::string_view before = "\n{\"type\":\"died\",\"signal\":", middle = ",\"in_iut\":";
  const std::string_view after = in_iut != 0 ? "true}\n" : "false}\n";
  std::size_t used = 0;
  const auto append = [&](std::string_view piece) {
    std::memcpy(text.data() + used, piece.data(), piece.size());
    used += piece.size();
  };
  append(before);
  const std::array<char, 2> digits{static_cast<char>('0' + signal / 10),
                                   static_cast<char>('0' + signal % 10)};
  append({digits.data() + (signal < 10 ? 1 : 0), signal < 10 ? 1U : 2U});
  append(middle);
  append(after);
  [[maybe_unused]] const ssize_t told = ::write(report_fd, text.data(), used);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

}  // namespace

void call_iut(const std::function<void()>& callback) noexcept {
  const Mark mark(true);
  callback();
}

void report_fatal_signals(int fd) {
  report_fd = fd;
  static std::array<std::byte, 64 * 1024>
      stack;  // a handler's own stack: the IUT may have used up the thread's
  stack_t alternative{};
  alternative.ss_sp = stack.data();
  alternative.ss_size = stack.size();
  ::sigaltstack(&alternative, nullptr);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP}) {
    struct sigaction action{};
    action.sa_handler = last_word;
    action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND);
    ::sigaction(signal, &action, nullptr);
  }
}

std::unique_ptr<iut::Iut> guarded_iut(base::EventLoop& loop, rnic::llp::Network& network,
                                      const IutMaker& make) {
  return std::make_unique<GuardedIut>(loop, network, make);
}

}  // namespace suite::runner
