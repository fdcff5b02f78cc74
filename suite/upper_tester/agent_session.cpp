// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/upper_tester/agent_session.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace suite::upper_tester {
namespace {

/// With this much unread by the client no further command is taken, so that memory stays bounded.
constexpr std::size_t enough_output = std::size_t{16} * 1024 * 1024;
constexpr std::uint64_t own_reset = 0;  // clients number from 1

std::string on_off(const char* name, bool value) {
  return std::string(name) + (value ? "=on" : "=off");
}

}  // namespace

std::vector<std::string> script_arguments(const iut::Configure& configure) {
  std::vector<std::string> arguments;
  if (configure.revision) arguments.push_back("revision=" + std::to_string(*configure.revision));
  if (configure.crc) arguments.push_back(on_off("crc", *configure.crc));
  if (configure.markers) arguments.push_back(on_off("markers", *configure.markers));
  if (configure.peer_to_peer) arguments.push_back(on_off("peer_to_peer", *configure.peer_to_peer));
  if (configure.rtr) {
    std::string kinds;
    for (const std::string& kind : *configure.rtr) kinds += (kinds.empty() ? "" : ",") + kind;
    arguments.push_back("rtr=" + kinds);
  }
  return arguments;
}

AgentSession::AgentSession(int input, int output, bool configure_by_script)
    : input_(input), output_(output), configure_by_script_(configure_by_script) {}

Sink AgentSession::sink() {
  return [this](iut::Event event) { take_event(std::move(event)); };
}

void AgentSession::begin(Driver& driver, bool say_hello) {
  driver_ = &driver;
  if (say_hello) output_.add(driver.hello());
}

void AgentSession::resume_with(std::string_view octets) { input_buffer_.append(octets); }

bool AgentSession::wants_input() const {
  return state_ == State::talking && !releasing_ && output_.size() < enough_output;
}

void AgentSession::read_some() {
  std::array<char, 65536> octets;
  const ssize_t count = ::read(input_, octets.data(), octets.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    state_ = State::client_gone;
    return;
  }
  input_buffer_.append({octets.data(), static_cast<std::size_t>(count)});
}

void AgentSession::write_some() {
  if (!output_.write_some()) state_ = State::client_gone;
}

void AgentSession::proceed() {
  ++turns_;
  while (state_ == State::talking && !releasing_) {
    const auto line = input_buffer_.next();
    if (!line) break;
    handle_line(*line);
  }
  if (input_buffer_.oversize()) {
    state_ = State::bad_client;
    complaint_ = "a line is longer than " + std::to_string(iut::max_line) + " octets";
  }
}

void AgentSession::handle_line(std::string_view line) {
  const auto parsed = iut::parse_command(line);
  if (parsed) {
    const auto& [number, command] = parsed.value();
    const auto* configure = std::get_if<iut::Configure>(&command);
    if (configure == nullptr || !configure_by_script_) return driver_->execute(number, command);
    reconfiguration_ = {number, script_arguments(*configure)};
    releasing_ = true;
    return driver_->execute(own_reset, iut::Reset{});
  }
  if (parsed.error().number == 0) {
    state_ = State::bad_client;
    complaint_ = parsed.error().what;
    return;
  }
  iut::Reply reply;
  reply.command = parsed.error().number;
  reply.outcome = parsed.error().unknown_type ? iut::Outcome::unsupported : iut::Outcome::failed;
  reply.error = parsed.error().what;
  reply.code = EINVAL;
  output_.add(reply);
}

void AgentSession::take_event(iut::Event event) {
  const auto* reply = std::get_if<iut::Reply>(&event);
  if (reply == nullptr || reply->command != own_reset) return output_.add(event);
  releasing_ = false;
  if (reply->outcome == iut::Outcome::ok) {
    state_ = State::reconfiguring;
    return;
  }
  iut::Reply answer = *reply;
  answer.command = reconfiguration_.number;
  answer.error = "cannot release everything before the configure script runs: " + answer.error;
  output_.add(answer);
}

bool wait_once(AgentSession& session, int fd, short events) {
  std::array<pollfd, 3> ready{{
      {session.wants_input() ? session.input() : -1, POLLIN, 0},
      {session.output().empty() ? -1 : session.output().fd(), POLLOUT, 0},
      {fd, events, 0},
  }};
  if (::poll(ready.data(), ready.size(), -1) < 0) return false;  // a signal
  if (ready[1].revents != 0) session.write_some();
  if (ready[0].revents != 0) session.read_some();
  return ready[2].revents != 0;
}

void run_polled(AgentSession& session, Driver& driver) {
  session.proceed();
  while (session.state() == AgentSession::State::talking) {
    if (wait_once(session, driver.event_fd(), POLLIN)) driver.dispatch();
    session.proceed();
  }
  if (!session.output().flush()) return;  // the client is gone
}

}  // namespace suite::upper_tester
