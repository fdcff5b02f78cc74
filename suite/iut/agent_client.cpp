// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/iut/agent_client.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace suite::iut {
namespace {

using base::FileDescriptor;
using Why = GoneEvent::Why;

constexpr std::size_t kept_diagnostics = std::size_t{64} * 1024;
constexpr std::size_t last_lines = 8;
/// Events, except replies, that were not fetched;
/// an agent that sends more than this reports no test.
constexpr std::size_t flood = std::size_t{16} * 1024 * 1024;
/// Between the end of an agent's output and the end of its process.
constexpr std::chrono::seconds timeout{2};

/// A line of a peer, safe to show and not too long.
std::string printable(std::string_view line) {
  constexpr std::size_t enough = 200;
  std::string text;
  for (const char each : line.substr(0, enough)) text += each >= ' ' && each <= '~' ? each : '?';
  return line.size() > enough ? text + "..." : text;
}

/// How the end of the process explains the end of its output.
GoneEvent judge(const base::ExitStatus& ended) {
  if (ended.signal != 0)
    return {base::is_crash(ended.signal) ? Why::crashed : Why::transport_lost,
            "the agent was " + base::ended_by(ended.signal)};
  // A shell or another wrapper reports the signal of its program in this way.
  if (ended.code > 128 && base::is_crash(ended.code - 128))
    return {Why::crashed, "the agent's exit status " + std::to_string(ended.code) + " reports " +
                              base::signal_name(ended.code - 128)};
  return {Why::transport_lost, "the agent ended with exit status " + std::to_string(ended.code)};
}

}  // namespace

AgentOpener agent_process(std::vector<std::string> argv) {
  return [argv = std::move(argv)]() -> std::expected<AgentLink, std::string> {
    auto child = ChildProcess::start(argv);
    if (!child) return std::unexpected(child.error());
    return std::move(*child);
  };
}

std::vector<std::string> through_ssh(const std::string& target) {
  return {"ssh", "-T",
          "-o",  "BatchMode=yes",
          "-o",  "ConnectTimeout=10",
          "-o",  "ServerAliveInterval=5",
          "-o",  "ServerAliveCountMax=3",
          "--",  target};
}

AgentOpener agent_socket(std::string path) {
  return [path = std::move(path)]() -> std::expected<AgentLink, std::string> {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
      return std::unexpected("the socket's path is too long: " + path);
    path.copy(address.sun_path, path.size());
    FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd ||
        ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      return std::unexpected("cannot connect to " + path + ": " + std::strerror(errno));
    return fd;
  };
}

// ---------------------------------------------------------------- life cycle

AgentClient::AgentClient(base::EpollLoop& loop, AgentOpener opener, AgentDeadlines deadlines)
    : loop_(loop), opener_(std::move(opener)), deadlines_(deadlines) {}

AgentClient::~AgentClient() { close(); }

std::expected<std::unique_ptr<AgentClient>, GoneEvent> AgentClient::start(
    base::EpollLoop& loop, AgentOpener opener, AgentDeadlines deadlines) {
  std::unique_ptr<AgentClient> client(new AgentClient(loop, std::move(opener), deadlines));
  if (auto opened = client->open(); !opened) return std::unexpected(opened.error());
  return client;
}

std::expected<void, GoneEvent> AgentClient::restart() {
  close();
  return open();
}

std::expected<void, GoneEvent> AgentClient::open() {
  auto link = opener_();
  if (!link) {
    gone_ = GoneEvent{Why::transport_lost, link.error()};
    return std::unexpected(*gone_);
  }
  link_.emplace(std::move(*link));
  loop_.watch(channel(), EPOLLIN, [this](std::uint32_t events) {
    if ((events & EPOLLOUT) != 0) write_words();
    if ((events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) read_words();
  });
  if (ChildProcess* process = child()) {
    loop_.watch(process->errors(), EPOLLIN, [this](std::uint32_t) { read_errors(); });
    loop_.watch(process->exited(), EPOLLIN, [this](std::uint32_t) {
      loop_.unwatch(child()->exited());
      conclude_if_over(false);
    });
  }
  loop_.run_until(loop_.now() + deadlines_.hello, [this] { return greeted_ || gone_; });
  if (!greeted_ && !gone_) report_gone({Why::hung, "no hello came from the agent in time"});
  if (gone_) return std::unexpected(*gone_);
  return {};
}

void AgentClient::close() {
  stop_watching();
  link_.reset();
  input_ = LineBuffer{};
  output_.clear();
  events_.clear();
  waiting_size_ = 0;
  input_ended_ = greeted_ = false;
  gone_.reset();
}

void AgentClient::stop_watching() {
  for (const auto& [number, outstanding] : outstanding_) loop_.cancel(outstanding.deadline);
  outstanding_.clear();
  if (timeout_) loop_.cancel(*timeout_);
  timeout_.reset();
  if (!link_) return;
  loop_.unwatch(channel());
  if (ChildProcess* process = child()) {
    loop_.unwatch(process->errors());
    loop_.unwatch(process->exited());
  }
}

int AgentClient::channel() const {
  if (const auto* process = std::get_if<ChildProcess>(&*link_)) return process->channel();
  return std::get<FileDescriptor>(*link_).get();
}

ChildProcess* AgentClient::child() { return link_ ? std::get_if<ChildProcess>(&*link_) : nullptr; }

// ---------------------------------------------------------------- commands

std::uint64_t AgentClient::post(Command command) {
  const std::uint64_t number = next_number_++;
  if (gone_) return number;
  const std::string line = format(number, command);
  if (line.size() > max_line) {
    Reply reply;
    reply.command = number;
    reply.outcome = Outcome::failed;
    reply.code = EMSGSIZE;
    reply.error = "the command is longer than a line may be";
    events_.push_back({std::move(reply), 0});
    return number;
  }
  const auto deadline =
      loop_.schedule(loop_.now() + deadlines_.reply, [this, number] { expire(number); });
  outstanding_.emplace(number, Outstanding{type_name(command), deadline});
  const bool idle = output_.empty();
  output_ += line;
  output_ += '\n';
  if (idle) write_words();
  return number;
}

void AgentClient::write_words() {
  std::size_t written = 0;
  while (written < output_.size()) {
    const ssize_t count =
        ::send(channel(), output_.data() + written, output_.size() - written, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 &&
        errno != EAGAIN) {  // the agent's end is closed; its last output is still to be read
      output_.clear();
      written = 0;
    }
    if (count < 0) break;
    written += static_cast<std::size_t>(count);
  }
  output_.erase(0, written);
  if (!input_ended_) loop_.change(channel(), output_.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT);
}

void AgentClient::expire(std::uint64_t number) {
  const auto found = outstanding_.find(number);
  if (found == outstanding_.end()) return;
  report_gone({Why::hung, "no reply came in time to command " + std::to_string(number) + " (" +
                              found->second.type + ")"});
}

// ---------------------------------------------------------------- events

std::optional<Event> AgentClient::next_event(base::TimePoint deadline) {
  loop_.run_until(deadline, [this] { return !events_.empty() || gone_; });
  if (events_.empty()) {
    if (gone_) return *gone_;
    return std::nullopt;
  }
  Event event = std::move(events_.front().event);
  waiting_size_ -= events_.front().size;
  events_.pop_front();
  return event;
}

void AgentClient::read_words() {
  std::array<char, 65536> octets;
  const ssize_t count = ::recv(channel(), octets.data(), octets.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return input_ended();
  input_.append({octets.data(), static_cast<std::size_t>(count)});
  while (!gone_) {
    const auto line = input_.next();
    if (!line) break;
    take_line(*line);
  }
  if (!gone_ && input_.oversize())
    report_gone({Why::bad_protocol, "a line is longer than " + std::to_string(max_line) +
                                        " octets: " + printable(input_.rest())});
}

void AgentClient::take_line(std::string_view line) {
  auto event = parse_event(line);
  if (!event) {
    report_gone({Why::bad_protocol, event.error().what + ", in: " + printable(line)});
    return;
  }
  take_event(std::move(event.value()), line.size());
}

void AgentClient::take_event(Event event, std::size_t size) {
  const auto* hello = std::get_if<Hello>(&event);
  if ((hello != nullptr) == greeted_)
    return report_gone({Why::bad_protocol,
                        greeted_
                            ? "a second hello came"
                            : std::string("the first word is not hello but ") + type_name(event)});
  if (hello != nullptr) {
    if (hello->version != protocol_version)
      return report_gone(
          {Why::bad_protocol, "the agent speaks version " + std::to_string(hello->version) +
                                  " of the protocol, not " + std::to_string(protocol_version)});
    hello_ = *hello;
    greeted_ = true;
    return;
  }
  if (const auto* reply = std::get_if<Reply>(&event)) {
    take_reply(*reply);
    size = 0;  // it was asked for
  }
  if (gone_) return;
  waiting_size_ += size;
  events_.push_back({std::move(event), size});
  if (waiting_size_ > flood)
    report_gone({Why::bad_protocol, "a flood of events that no test asked for"});
}

void AgentClient::take_reply(const Reply& reply) {
  const auto found = outstanding_.find(reply.command);
  if (found == outstanding_.end())
    return report_gone(
        {Why::bad_protocol,
         "a reply came to command " + std::to_string(reply.command) + ", which waits for none"});
  loop_.cancel(found->second.deadline);
  outstanding_.erase(found);
}

void AgentClient::read_errors() {
  std::array<char, 16384> octets;
  const ssize_t count = ::read(child()->errors(), octets.data(), octets.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return loop_.unwatch(child()->errors());
  diagnostics_.append(octets.data(), static_cast<std::size_t>(count));
  if (diagnostics_.size() > kept_diagnostics)
    diagnostics_.erase(0, diagnostics_.size() - kept_diagnostics);
}

std::string AgentClient::take_diagnostics() { return std::exchange(diagnostics_, {}); }

std::string AgentClient::last_words() const {
  std::size_t start = diagnostics_.size();
  while (start > 0 && diagnostics_[start - 1] == '\n') --start;
  const std::size_t end = start;
  for (std::size_t lines = 0; start > 0 && lines < last_lines; ++lines)
    if ((start = diagnostics_.rfind('\n', start - 1)) == std::string::npos) start = 0;
  return diagnostics_.substr(start, end - start);
}

// ---------------------------------------------------------------- the end

void AgentClient::input_ended() {
  input_ended_ = true;
  loop_.unwatch(channel());
  conclude_if_over(false);
}

/// An agent has ended when its output has ended and, if it is our child, its process too: only then
/// is it known whether it crashed. If one of the two does not follow the other, the wait ends after
/// a timeout.
void AgentClient::conclude_if_over(bool timed_out) {
  if (gone_ || !link_) return;
  ChildProcess* process = child();
  if (process == nullptr)
    return report_gone({Why::transport_lost, "the agent's channel was closed"});
  const auto ended = process->reap();
  if (input_ended_ && ended) return report_gone(judge(*ended));
  if (timed_out)
    return report_gone(ended ? judge(*ended)
                             : GoneEvent{Why::transport_lost,
                                         "the agent closed its standard output and lives on"});
  if (!timeout_)
    timeout_ = loop_.schedule(loop_.now() + timeout, [this] {
      timeout_.reset();
      conclude_if_over(true);
    });
}

void AgentClient::report_gone(GoneEvent why) {
  if (gone_) return;
  if (ChildProcess* process = child()) {
    process->kill();
    std::size_t before = 0;
    do {  // its last output is the best evidence
      before = diagnostics_.size();
      read_errors();
    } while (diagnostics_.size() != before && before < kept_diagnostics);
    if (const std::string said = last_words(); !said.empty())
      why.detail += "; its last words:\n" + said;
  }
  stop_watching();
  gone_ = std::move(why);
}

}  // namespace suite::iut
