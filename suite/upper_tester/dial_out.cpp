// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/upper_tester/dial_out.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <list>
#include <memory>
#include <optional>

#include "base/pipe.hpp"
#include "base/process.hpp"
#include "suite/iut/tls/stream_relay.hpp"
#include "suite/iut/tls/tls_channel.hpp"

namespace suite::upper_tester {
namespace {

using namespace iut::tls;
using base::FileDescriptor;
using base::Process;

/// A tester that is not there, or wants no agent now, is asked again.
constexpr std::chrono::milliseconds between_calls{250};
/// An agent on hardware may need a while to release all that it holds.
constexpr std::chrono::milliseconds farewell{5000};
constexpr std::size_t most_agents = 64;

void report(const std::string& text) { std::fprintf(stderr, "rnic-agent: %s\n", text.c_str()); }

/// Connects to one address; errno says why it cannot.
FileDescriptor connect_to(const addrinfo& address) {
  FileDescriptor fd(
      ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  if (!fd) return fd;
  if (::connect(fd.get(), address.ai_addr, address.ai_addrlen) == 0) return fd;
  if (errno != EINPROGRESS) return {};
  pollfd ready{fd.get(), POLLOUT, 0};
  constexpr int limit = static_cast<int>(std::chrono::milliseconds(longest_handshake).count());
  int error = ETIMEDOUT;
  socklen_t size = sizeof error;
  if (::poll(&ready, 1, limit) > 0) ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  errno = error;
  return error == 0 ? std::move(fd) : FileDescriptor();
}

FileDescriptor connect_to(const Endpoint& tester, std::string& error) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int fault = ::getaddrinfo(tester.host.c_str(), tester.port.c_str(), &hints, &found);
  if (fault != 0) {
    error = ::gai_strerror(fault);
    return {};
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> holder(found, ::freeaddrinfo);
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    FileDescriptor fd = connect_to(*one);
    if (fd) return fd;
    error = std::strerror(errno);
  }
  return {};
}

// ---------------------------------------------------------------- one agent

/// An agent, and the streams that the tester has of it.
class Agent {
 public:
  /// The error is one line.
  static std::optional<Agent> start(const std::vector<std::string>& argv, std::string& error) {
    auto input = base::make_pipe(), output = base::make_pipe(), errors = base::make_pipe();
    if (!input || !output || !errors) {
      error = std::string("pipe2: ") + std::strerror(errno);
      return std::nullopt;
    }
    base::ProcessSetup setup;
    setup.input = input->read_end.get();
    setup.output = output->write_end.get();
    setup.errors = errors->write_end.get();
    setup.fresh_signals = true;
    auto process = Process::start(argv, setup, error);
    if (!process) return std::nullopt;
    if (process->exited() < 0) {
      error = std::string("--connect needs Linux 5.3: pidfd_open: ") + std::strerror(errno);
      return std::nullopt;
    }
    return Agent(std::move(*process), std::move(input->write_end), std::move(output->read_end),
                 std::move(errors->read_end));
  }

  /// Serves the tester until the agent has ended, or the tester is gone.
  void serve(StreamRelay& streams) {
    streams.write_to(input_.get(), Frame::input, [this] { input_.close(); });
    streams.send_from(output_.get(), Frame::output, false);
    streams.send_from(errors_.get(), Frame::errors, false);
    const auto why = streams.run(process_.exited(), std::nullopt);
    if (why != StreamRelay::Why::event) {
      input_.close();
      static_cast<void>(process_.wait_for(farewell));
      return;
    }
    streams.finish_sources();
    streams.send(Frame::ended, shell_status(process_.wait()));
    // What the tester sent meanwhile is read: octets that nobody reads would reset the connection,
    // and this word might be lost.
    const auto deadline = Clock::now() + farewell;
    if (!streams.flush(deadline)) return;
    while (streams.run(-1, deadline) == StreamRelay::Why::frame) {
    }
  }

 private:
  Agent(Process process, FileDescriptor input, FileDescriptor output, FileDescriptor errors)
      : process_(std::move(process)),
        input_(std::move(input)),
        output_(std::move(output)),
        errors_(std::move(errors)) {}

  Process process_;
  FileDescriptor input_, output_, errors_;
};

/// The work of the process that one connection has.
int serve_one(TlsChannel& channel, StreamRelay& streams, const std::vector<std::string>& argv) {
  std::string error;
  auto agent = Agent::start(argv, error);
  if (!agent) {
    report(error);
    return 1;
  }
  agent->serve(streams);
  channel.say_goodbye();
  return 0;
}

// ---------------------------------------------------------------- calls

class Caller {
 public:
  Caller(const Endpoint& tester, const TlsContext& context, const std::vector<std::string>& argv)
      : tester_(tester), context_(context), argv_(argv) {}

  enum class Result { started, nothing, refused };
  Result call() {
    std::string error;
    FileDescriptor socket = connect_to(tester_, error);
    if (!socket) return waits("it cannot be reached: " + error);
    TlsChannel channel(context_, std::move(socket));
    if (error = complete_handshake(channel); !error.empty())
      return channel.is_refused() ? refused(error) : waits(error);
    // The tester's word shows that it takes our certificate: a client of TLS 1.3 learns that late.
    StreamRelay streams(channel);
    switch (streams.run(-1, Clock::now() + longest_handshake)) {
      case StreamRelay::Why::lost:
        return channel.is_refused() ? refused(streams.fault()) : waits(streams.fault());
      case StreamRelay::Why::frame:
        break;
      default:
        return waits("it asks for no agent");
    }
    const auto& [type, content] = streams.arrived();
    if (type != Frame::start || content != frames_version)
      return refused("it does not speak as this rnic-agent does: are both of one release?");
    return start(channel, streams);
  }
  void reap() {
    agents_.remove_if([](Process& one) { return one.reap().has_value(); });
  }
  [[nodiscard]] bool is_full() const { return agents_.size() >= most_agents; }
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  // Said once for each reason.
  Result waits(const std::string& why) {
    if (why != waits_for_) report("waiting for the tester at " + place() + ": " + why);
    waits_for_ = why;
    return Result::nothing;
  }
  // A tester that was right before is so again once somebody has corrected it.
  Result refused(const std::string& why) {
    if (met_) return waits(why);
    fault_ = "the tester at " + place() + ": " + why;
    return Result::refused;
  }
  Result start(TlsChannel& channel, StreamRelay& streams) {
    std::string error;
    auto process = Process::fork([&] { return serve_one(channel, streams, argv_); }, {}, error);
    if (!process) return waits(error);
    if (!met_) report("the tester at " + place() + " has its first agent");
    met_ = true;
    agents_.push_back(std::move(*process));
    return Result::started;
  }
  [[nodiscard]] std::string place() const { return tester_.host + ":" + tester_.port; }

  const Endpoint& tester_;
  const TlsContext& context_;
  const std::vector<std::string>& argv_;
  std::list<Process> agents_;
  bool met_ = false;
  std::string waits_for_, fault_;
};

}  // namespace

std::string serve_tester(const Endpoint& tester, const Identity& identity,
                         const std::vector<std::string>& argv) {
  std::string error;
  const auto context = TlsContext::make(identity, Role::connects, error);
  if (!context) return error;
  Caller caller(tester, *context, argv);
  using Result = Caller::Result;
  for (;;) {
    const Result result = caller.is_full() ? Result::nothing : caller.call();
    if (result == Result::refused) return caller.fault();
    if (result == Result::nothing) ::poll(nullptr, 0, static_cast<int>(between_calls.count()));
    caller.reap();
  }
}

}  // namespace suite::upper_tester
