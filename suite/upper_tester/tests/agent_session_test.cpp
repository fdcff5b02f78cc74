// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The agent's conversation with a client, over a driver that does what its commands say.
#include "suite/upper_tester/agent_session.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace suite::upper_tester {
namespace {

/// Answers at once, but Connect only when `dispatch` is called;
/// ReadMemory yields as much as is asked for.
class ToyDriver final : public Driver {
 public:
  explicit ToyDriver(Sink sink) : Driver(std::move(sink)), event_(::eventfd(0, EFD_NONBLOCK)) {}
  ~ToyDriver() override { ::close(event_); }

  iut::Hello hello() override {
    iut::Hello hello;
    hello.driver = "toy";
    return hello;
  }
  void execute(std::uint64_t number, const iut::Command& command) override {
    executed.push_back(iut::type_name(command));
    iut::Reply reply;
    reply.command = number;
    if (std::holds_alternative<iut::Connect>(command)) {
      waiting_ = number;
      ::eventfd_write(event_, 1);
      return;
    }
    if (std::holds_alternative<iut::Reset>(command) && reset_fails) {
      reply.outcome = iut::Outcome::failed;
      reply.error = "stuck";
    }
    if (const auto* read = std::get_if<iut::ReadMemory>(&command))
      reply.octets.emplace(read->length);
    emit(reply);
  }
  int event_fd() const override { return event_; }
  void dispatch() override {
    eventfd_t count = 0;
    ::eventfd_read(event_, &count);
    if (!waiting_) return;
    iut::Reply reply;
    reply.command = *waiting_;
    waiting_.reset();
    emit(reply);
  }

  std::vector<std::string> executed;
  bool reset_fails = false;

 private:
  int event_;
  std::optional<std::uint64_t> waiting_;
};

/// Its Connect blocks until a Reset comes.
class BlockingDriver final : public Driver {
 public:
  explicit BlockingDriver(Sink sink) : Driver(std::move(sink)) {}
  iut::Hello hello() override { return {}; }
  void execute(std::uint64_t number, const iut::Command& command) override {
    iut::Reply reply;
    reply.command = number;
    if (std::holds_alternative<iut::Connect>(command)) {
      while (!broken_off && session->state() == AgentSession::State::talking)
        if (!wait_once(*session, -1, 0)) session->proceed();
      reply.outcome = iut::Outcome::cancelled;
    }
    if (std::holds_alternative<iut::Reset>(command)) broken_off = true;
    emit(reply);
  }
  AgentSession* session = nullptr;
  bool broken_off = false;
};

/// Runs a session whose client sends all of `input`, then no more; returns all that it received.
struct Conversation {
  std::array<int, 2> ends{};
  std::optional<AgentSession> session;
  std::optional<ToyDriver> driver;

  explicit Conversation(bool configure_by_script = false) {
    BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
    session.emplace(ends[1], ends[1], configure_by_script);
    driver.emplace(session->sink());
    session->begin(*driver, true);
  }
  ~Conversation() {
    for (const int fd : ends) ::close(fd);
  }

  std::vector<std::string> run(const std::string& input) {
    std::string told;
    std::thread client([&] {
      for (std::size_t at = 0; at < input.size();) {
        const ssize_t count = ::send(ends[0], input.data() + at, input.size() - at, MSG_NOSIGNAL);
        if (count < 0) break;  // the agent has stopped reading
        at += static_cast<std::size_t>(count);
      }
      ::shutdown(ends[0], SHUT_WR);
      std::array<char, 65536> octets;
      for (ssize_t count = 0; (count = ::read(ends[0], octets.data(), octets.size())) > 0;)
        told.append(octets.data(), static_cast<std::size_t>(count));
    });
    run_polled(*session, *driver);
    ::shutdown(ends[1], SHUT_RDWR);
    client.join();
    std::vector<std::string> lines;
    iut::LineBuffer buffer;
    buffer.append(told);
    while (const auto line = buffer.next()) lines.emplace_back(*line);
    return lines;
  }
};

BOOST_AUTO_TEST_SUITE(session)

BOOST_AUTO_TEST_CASE(hello_comes_first_and_late_answers_come_late) {
  Conversation talk;
  const auto lines = talk.run(
      "{\"number\":1,\"type\":\"connect\",\"endpoint\":1,\"address\":\"10.0.0.1\",\"port\":1}\n"
      "{\"number\":2,\"type\":\"reset\"}\n");
  BOOST_REQUIRE(lines.size() >= 2u);
  BOOST_TEST(lines[0].find("\"type\":\"hello\"") != std::string::npos);
  BOOST_TEST(lines[1] == R"({"type":"reply","command":2,"outcome":"ok","code":0})");
  BOOST_TEST((talk.session->state() == AgentSession::State::client_gone));
}

BOOST_AUTO_TEST_CASE(a_bad_command_with_a_number_is_answered) {
  Conversation talk;
  const auto lines = talk.run(
      "{\"number\":1,\"type\":\"fly\"}\n{\"number\":2,\"type\":\"listen\"}\n{\"number\":3,\"type\":"
      "\"reset\"}\n");
  BOOST_REQUIRE(lines.size() == 4u);
  BOOST_TEST(
      lines[1].find(R"("command":1,"outcome":"unsupported","error":"type \"fly\" is unknown")") !=
      std::string::npos);
  BOOST_TEST(
      lines[2].find(
          R"("command":2,"outcome":"failed","error":"listen: member \"listener\" is missing")") !=
      std::string::npos);
  BOOST_TEST(lines[3].find("\"command\":3,\"outcome\":\"ok\"") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_is_no_command_ends_the_conversation) {
  Conversation talk;
  const auto lines = talk.run("hello?\n{\"number\":3,\"type\":\"reset\"}\n");
  BOOST_TEST(lines.size() == 1u);
  BOOST_TEST((talk.session->state() == AgentSession::State::bad_client));
  BOOST_TEST(talk.session->complaint().find("not JSON") != std::string::npos);
  BOOST_TEST(talk.driver->executed.empty());
}

BOOST_AUTO_TEST_CASE(a_driver_that_blocks_takes_commands_meanwhile) {
  std::array<int, 2> ends{};
  BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
  AgentSession session(ends[1], ends[1], false);
  BlockingDriver driver(session.sink());
  driver.session = &session;
  session.begin(driver, false);
  const std::string connect =
      "{\"number\":1,\"type\":\"connect\",\"endpoint\":1,\"address\":\"10.0.0.1\",\"port\":1}\n";
  const std::string reset = "{\"number\":2,\"type\":\"reset\"}\n";
  BOOST_REQUIRE(::send(ends[0], connect.data(), connect.size(), 0) > 0);
  BOOST_TEST(!wait_once(session, -1, 0));  // reads the first alone, so that the second comes within
  BOOST_REQUIRE(::send(ends[0], reset.data(), reset.size(), 0) > 0);
  ::shutdown(ends[0], SHUT_WR);
  run_polled(session, driver);
  BOOST_TEST(driver.broken_off);
  std::array<char, 4096> octets;
  const ssize_t count = ::recv(ends[0], octets.data(), octets.size(), MSG_DONTWAIT);
  BOOST_REQUIRE(count > 0);
  BOOST_TEST(std::string(octets.data(), static_cast<std::size_t>(count)) ==
             "{\"type\":\"reply\",\"command\":2,\"outcome\":\"ok\",\"code\":0}\n"
             "{\"type\":\"reply\",\"command\":1,\"outcome\":\"cancelled\",\"code\":0}\n");
  for (const int fd : ends) ::close(fd);
}

BOOST_AUTO_TEST_CASE(an_endless_line_ends_the_conversation) {
  Conversation talk;
  talk.run(std::string(iut::max_line + 70000, 'x'));
  BOOST_TEST((talk.session->state() == AgentSession::State::bad_client));
  BOOST_TEST(talk.session->complaint().find("longer than 4194304") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_reply_too_long_for_a_line_is_replaced) {
  Conversation talk;
  const auto lines = talk.run(
      "{\"number\":1,\"type\":\"read_memory\",\"region\":1,\"offset\":0,\"length\":2000000}\n"
      "{\"number\":2,\"type\":\"read_memory\",\"region\":1,\"offset\":0,\"length\":3000000}\n");
  BOOST_REQUIRE(lines.size() == 3u);
  BOOST_TEST(lines[1].size() > 4'000'000u);
  BOOST_TEST(lines[2].find("\"command\":2,\"outcome\":\"failed\"") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(output_that_nobody_reads_is_bounded_and_then_arrives) {
  Conversation talk;
  std::string input;
  for (int i = 1; i <= 30; ++i)
    input += "{\"number\":" + std::to_string(i) +
             ",\"type\":\"read_memory\",\"region\":1,\"offset\":0,\"length\":1000000}\n";
  BOOST_TEST(talk.run(input).size() == 31u);
}

BOOST_AUTO_TEST_CASE(configure_goes_to_the_driver_without_a_script) {
  Conversation talk;
  talk.run("{\"number\":1,\"type\":\"configure\",\"revision\":1}\n");
  BOOST_REQUIRE(talk.driver->executed.size() == 1u);
  BOOST_TEST(talk.driver->executed[0] == "configure");
}

BOOST_AUTO_TEST_CASE(configure_by_script_releases_all_and_keeps_what_follows) {
  Conversation talk(true);
  const auto lines = talk.run(
      "{\"number\":7,\"type\":\"configure\",\"revision\":2,\"crc\":false,\"markers\":true,\"peer_"
      "to_peer\":true,"
      "\"rtr\":[\"write\",\"read\"]}\n{\"number\":8,\"type\":\"reset\"}\n");
  BOOST_TEST(lines.size() == 1u);  // the answer comes when the script has run
  BOOST_TEST((talk.session->state() == AgentSession::State::reconfiguring));
  BOOST_TEST(talk.session->reconfiguration().number == 7u);
  const std::vector<std::string> wanted{"revision=2", "crc=off", "markers=on", "peer_to_peer=on",
                                        "rtr=write,read"};
  BOOST_TEST(talk.session->reconfiguration().arguments == wanted, boost::test_tools::per_element());
  BOOST_TEST(talk.session->unhandled() == "{\"number\":8,\"type\":\"reset\"}\n");
  BOOST_REQUIRE(talk.driver->executed.size() == 1u);
  BOOST_TEST(talk.driver->executed[0] == "reset");
}

BOOST_AUTO_TEST_CASE(configure_fails_where_not_all_can_be_released) {
  Conversation talk(true);
  talk.driver->reset_fails = true;
  const auto lines = talk.run(
      "{\"number\":7,\"type\":\"configure\"}\n{\"number\":8,\"type\":\"create_domain\",\"domain\":"
      "1}\n");
  BOOST_REQUIRE(lines.size() == 3u);
  BOOST_TEST(lines[1].find("\"command\":7,\"outcome\":\"failed\"") != std::string::npos);
  BOOST_TEST(lines[1].find("stuck") != std::string::npos);
  BOOST_TEST(lines[2].find("\"command\":8,\"outcome\":\"ok\"") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace suite::upper_tester
