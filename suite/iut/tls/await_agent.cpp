// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// rnic-await-agent: lets an agent connect over TLS, and is its standard input and output here.
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <expected>
#include <list>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include "base/file_descriptor.hpp"
#include "base/standard_streams.hpp"
#include "base/version.hpp"
#include "suite/iut/tls/endpoint.hpp"
#include "suite/iut/tls/stream_relay.hpp"
#include "suite/iut/tls/tls_channel.hpp"
#include "suite/iut/tls/tls_context.hpp"

namespace {

using namespace suite::iut::tls;
using base::FileDescriptor;

enum ExitStatus { wrong_usage = 2, no_agent = 255 };  // the latter as ssh has it

/// Connections that have not shown who they are; more have to wait.
constexpr std::size_t most_pending = 16;

struct Options {
  Identity identity;
  std::string listen;
  unsigned wait = 10;  ///< seconds
};

/// A connection in its handshake.
struct PendingConnection {
  TlsChannel channel;
  Clock::time_point deadline;
};

int complain(int status, const std::string& what) {
  base::say(stderr, "rnic-await-agent: {}\n", what);
  return status;
}

/// Several agents of a run may be awaited at one address at a time.
std::expected<FileDescriptor, std::string> listen_at(const Endpoint& place) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int fault = ::getaddrinfo(place.host.empty() ? "127.0.0.1" : place.host.c_str(),
                                      place.port.c_str(), &hints, &found);
      fault != 0)
    return std::unexpected(std::string("it is no address of this host: ") + ::gai_strerror(fault));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> holder(found, ::freeaddrinfo);
  FileDescriptor fd(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  for (const int option : {SO_REUSEADDR, SO_REUSEPORT})
    if (fd) ::setsockopt(fd.get(), SOL_SOCKET, option, &yes, sizeof yes);
  if (!fd || ::bind(fd.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(fd.get(), most_pending) != 0)
    return std::unexpected(std::generic_category().message(errno));
  return fd;
}

/// Awaits the one connection whose certificate is right.
class Acceptor {
 public:
  Acceptor(const TlsContext& context, FileDescriptor listener, Clock::time_point deadline)
      : context_(context), listener_(std::move(listener)), deadline_(deadline) {}

  std::optional<TlsChannel> await() {
    while (Clock::now() < deadline_) {
      wait();
      accept();
      for (auto each = pending_.begin(); each != pending_.end();) {
        const auto step = each->channel.handshake();
        if (step == TlsChannel::Step::done) return std::move(each->channel);
        const bool waits = step == TlsChannel::Step::waits && Clock::now() < each->deadline;
        if (!waits) refuse(handshake_fault(step, each->channel));
        each = waits ? std::next(each) : pending_.erase(each);
      }
    }
    return std::nullopt;
  }
  /// Nothing listens any more, and whoever is still unknown is turned away.
  void close() {
    listener_.close();
    pending_.clear();
  }

 private:
  void wait() {
    auto until = deadline_;
    const bool room = pending_.size() < most_pending;
    std::vector<pollfd> all{{room ? listener_.get() : -1, POLLIN, 0}};
    for (const PendingConnection& each : pending_) {
      all.push_back({each.channel.socket(), each.channel.events(), 0});
      until = std::min(until, each.deadline);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    ::poll(all.data(), all.size(), static_cast<int>(std::max<std::int64_t>(left, 0)));
  }
  void accept() {
    if (pending_.size() >= most_pending) return;
    FileDescriptor fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd)
      pending_.push_back({TlsChannel(context_, std::move(fd)), Clock::now() + longest_handshake});
  }

  /// Said once for each reason in a row, and not without end.
  void refuse(const std::string& fault) {
    constexpr unsigned most = 8;
    if (fault == last_fault_ || refused_ == most) return;
    ++refused_;
    complain(no_agent, "a connection is refused: " + fault);
    last_fault_ = fault;
  }

  const TlsContext& context_;
  FileDescriptor listener_;
  Clock::time_point deadline_;
  std::list<PendingConnection> pending_;
  std::string last_fault_;
  unsigned refused_ = 0;
};

/// Is the agent's standard input and output until it has ended.
int relay(TlsChannel& channel) {
  StreamRelay streams(channel);
  streams.send(Frame::start, frames_version);
  streams.send_from(STDIN_FILENO, Frame::input, true);
  streams.write_to(STDOUT_FILENO, Frame::output, nullptr);
  streams.write_to(STDERR_FILENO, Frame::errors, nullptr);
  const auto why = streams.run(-1, std::nullopt);
  constexpr std::chrono::seconds patience{5};  // with whoever reads what is left
  static_cast<void>(streams.flush(Clock::now() + patience));
  if (why != StreamRelay::Why::frame)
    return complain(no_agent, "the connection to the agent was lost: " + streams.fault());
  const auto status = streams.arrived().type == Frame::ended
                          ? parse_shell_status(streams.arrived().content)
                          : std::nullopt;
  return status ? *status : complain(no_agent, "the other end does not speak as rnic-agent does");
}

int await(const Options& options) {
  const auto place = parse_endpoint(options.listen);
  if (!place)
    return complain(wrong_usage, "--listen: '" + options.listen + "' is not [ADDRESS:]PORT");
  if (!is_dns_name(options.identity.peer))
    return complain(wrong_usage, "--peer: '" + options.identity.peer + "' is no DNS name");
  std::string error;
  const auto context = TlsContext::make(options.identity, Role::accepts, error);
  if (!context) return complain(no_agent, error);
  auto listener = listen_at(*place);
  if (!listener)
    return complain(no_agent,
                    fmt::format("cannot listen at {}: {}", options.listen, listener.error()));
  Acceptor acceptor(*context, std::move(*listener),
                    Clock::now() + std::chrono::seconds(options.wait));
  auto channel = acceptor.await();
  acceptor.close();
  if (channel) return relay(*channel);
  return complain(no_agent, fmt::format("no agent '{}' has connected to {} within {} s",
                                        options.identity.peer, options.listen, options.wait));
}

}  // namespace

int main(int argc, char** argv) {
  base::keep_standard_streams();
  Options options;
  CLI::App app{
      "Lets an agent connect over TLS that both ends authenticate (`rnic-agent --connect`), and "
      "is\n"
      "its standard input and output here. rnic-suite and rnic-plugfest start it by themselves.",
      "rnic-await-agent"};
  app.set_version_flag("--version", base::version_text("rnic-await-agent"));
  app.add_option("--listen", options.listen,
                 "[ADDRESS:]PORT to listen at until the agent has connected (default: of the "
                 "loopback interface only)")
      ->required();
  app.add_option("--peer", options.identity.peer,
                 "the DNS name that the agent's certificate must have")
      ->required();
  app.add_option("--certificate", options.identity.certificate, "our certificate (PEM)")
      ->required();
  app.add_option("--key", options.identity.key, "its key (PEM), which nobody else may read")
      ->required();
  app.add_option("--ca", options.identity.authority,
                 "certificate of the authority that has signed the agent's (PEM)")
      ->required();
  constexpr unsigned longest_wait = 86'400;
  app.add_option("--wait", options.wait, "how many seconds the agent may take to connect")
      ->check(CLI::Range(1U, longest_wait))
      ->capture_default_str();
  app.footer(
      "example: rnic-suite run --address 192.0.2.7 --iut 'agent:rnic-await-agent --listen "
      "192.0.2.1:7470\n  --peer dut --certificate tester.pem --key tester.key --ca ca.pem'\n"
      "exit: that of the agent; 2 usage, 255 no agent, or the connection was lost\n");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    return complain(wrong_usage, std::string(error.what()) + "; see --help");
  }
  return await(options);
}
