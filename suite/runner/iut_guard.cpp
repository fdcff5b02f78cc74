// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/iut_guard.hpp"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "reference_rnic/llp/forwarding_connection.hpp"

namespace suite::runner {

namespace {

using base::Address;
using base::TimePoint;
using rnic::llp::Connection;
using rnic::llp::Error;
using rnic::llp::Listener;

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

class GuardedConnection final : public rnic::llp::ForwardingConnection<Connection> {
 public:
  using ForwardingConnection::ForwardingConnection;

 private:
  void connected() noexcept override {
    const Mark mark(true);
    ForwardingConnection::connected();
  }
  void readable() noexcept override {
    const Mark mark(true);
    ForwardingConnection::readable();
  }
  void writable() noexcept override {
    const Mark mark(true);
    ForwardingConnection::writable();
  }
  void ended(rnic::llp::Ending ending) noexcept override {
    const Mark mark(true);
    ForwardingConnection::ended(ending);
  }
};

class GuardedListener final : public Listener, Listener::Observer {
 public:
  explicit GuardedListener(Listener::Observer& observer) : observer_(observer) {}
  Listener::Observer& relay() { return *this; }
  void take(std::unique_ptr<Listener> inner) { inner_ = std::move(inner); }
  Address local() const override { return inner_->local(); }

 private:
  void accepted(std::unique_ptr<Connection> connection) noexcept override {
    const Mark mark(true);
    observer_.accepted(std::make_unique<GuardedConnection>(std::move(connection)));
  }
  Listener::Observer& observer_;
  std::unique_ptr<Listener> inner_;
};

class GuardedNetwork final : public rnic::llp::Network {
 public:
  explicit GuardedNetwork(rnic::llp::Network& inner) : inner_(inner) {}

  std::expected<std::unique_ptr<Listener>, Error> listen(const Address& local,
                                                         Listener::Observer& observer) override {
    auto guarded = std::make_unique<GuardedListener>(observer);
    auto made = inner_.listen(local, guarded->relay());
    if (!made) return std::unexpected(made.error());
    guarded->take(std::move(*made));
    return guarded;
  }
  std::expected<std::unique_ptr<Connection>, Error> connect(
      const Address& remote, Connection::Observer& observer) override {
    auto guarded = std::make_unique<GuardedConnection>(observer);
    auto made = inner_.connect(remote, guarded->relay());
    if (!made) return std::unexpected(made.error());
    guarded->take(std::move(*made));
    return guarded;
  }
  Address address(base::Family family) const override { return inner_.address(family); }
  void limit_segments(std::optional<std::size_t> octets) override { inner_.limit_segments(octets); }

 private:
  rnic::llp::Network& inner_;
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
    return inner_.schedule(when, [callback = std::move(callback)]() noexcept {
      const Mark mark(true);
      callback();
    });
  }
  void cancel(base::TimerId timer) override { inner_.cancel(timer); }

 private:
  base::EventLoop& inner_;
};

class GuardedIut final : public iut::Iut {
 public:
  GuardedIut(base::EventLoop& loop, rnic::llp::Network& network, const IutMaker& make)
      : loop_(loop), network_(network) {
    const Mark mark(true);
    inner_ = make(loop_, network_);
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
  GuardedNetwork network_;
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
