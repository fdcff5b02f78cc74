// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The reference RNIC as the agent's driver: an event loop of its own over kernel sockets.
#include <sys/epoll.h>

#include <system_error>

#include "base/epoll_loop.hpp"
#include "reference_rnic/llp/tcp_network.hpp"
#include "suite/upper_tester/reference/reference_driver.hpp"
#include "suite/upper_tester/start_driver.hpp"

namespace suite::upper_tester {
namespace {

using base::Address;
using base::EpollLoop;
using base::Family;

/// Watches one descriptor while it is needed.
class Watch {
 public:
  Watch(EpollLoop& loop, int fd, std::uint32_t events, std::function<void()> ready)
      : loop_(loop), fd_(fd), events_(events), ready_(std::move(ready)) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() { want(false); }

  void want(bool wanted) {
    if (wanted && !watched_) loop_.watch(fd_, events_, [this](std::uint32_t) { ready_(); });
    if (!wanted && watched_) loop_.unwatch(fd_);
    watched_ = wanted;
  }

 private:
  EpollLoop& loop_;
  int fd_;
  std::uint32_t events_;
  std::function<void()> ready_;
  bool watched_ = false;
};

void run_in_loop(AgentSession& session, EpollLoop& loop) {
  Watch input(loop, session.input(), EPOLLIN, [&] { session.read_some(); });
  Watch output(loop, session.output().fd(), EPOLLOUT, [&] { session.write_some(); });
  loop.run_until(base::TimePoint::max(), [&] {
    session.proceed();
    const bool talking = session.state() == AgentSession::State::talking;
    input.want(talking && session.wants_input());
    output.want(talking && !session.output().empty());
    return !talking;
  });
  if (!session.output().flush()) return;  // the client is gone
}

/// The host's addresses; without any given, loopback:
/// a port is opened to other hosts only on request.
std::string set_addresses(const std::vector<std::string>& literals, rnic::llp::TcpHost& host) {
  host.ipv4 = *Address::parse("127.0.0.1");
  host.ipv6 = *Address::parse("::1");
  for (const std::string& literal : literals) {
    const auto address = Address::parse(literal);
    if (!address) return "--address " + literal + ": " + address.error();
    (address->family == Family::ipv4 ? host.ipv4 : host.ipv6) = *address;
  }
  return {};
}

}  // namespace

Started start_reference(const DriverOptions& options, Sink sink) {
  Started started;
  reference::DriverOptions made;
  for (const std::string& name : options.deviations) {
    const auto deviation = rnic::deviants::find_deviation(name);
    if (!deviation) {
      started.error = "--deviation: there is no deviation '" + name +
                      "'; `rnic-suite explain RULE` names those of a rule";
      started.wrong_usage = true;
      return started;
    }
    made.behaviour.deviations.push_back(*deviation);
  }
  for (const std::string& name : options.lawful) {
    const auto lawful = rnic::lawful::find_lawful(name);
    if (!lawful) {
      started.error = "--lawful: there is no lawful variant '" + name +
                      "'; `rnic-self-test --list-lawful` lists them";
      started.wrong_usage = true;
      return started;
    }
    made.behaviour.lawful.push_back(*lawful);
  }
  if (options.startup_timeout > 0)
    made.startup_timeout = std::chrono::seconds(options.startup_timeout);
  rnic::llp::TcpHost host;
  started.error = set_addresses(options.addresses, host);
  if (!started.error.empty()) return started;

  struct Surroundings {
    EpollLoop loop;
    rnic::llp::TcpNetwork network;
    explicit Surroundings(const rnic::llp::TcpHost& host) : network(loop, host) {}
  };
  const auto around = std::make_shared<Surroundings>(host);
  started.driver = std::make_unique<reference::ReferenceDriver>(around->loop, around->network, made,
                                                                std::move(sink));
  started.talk = [around](AgentSession& session) {
    try {
      run_in_loop(session, around->loop);
    } catch (const std::system_error& error) {
      if (error.code() != std::errc::operation_not_permitted) throw;
      std::fputs("rnic-agent: standard input and output must be pipes, sockets or terminals\n",
                 stderr);
    }
  };
  return started;
}

}  // namespace suite::upper_tester
