// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The client with agents that keep the protocol and agents that do not.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdio>
#include <ostream>
#include <thread>

#include "suite/iut/agent_client.hpp"

namespace suite::iut {
namespace {

using namespace std::chrono_literals;
using Why = GoneEvent::Why;

std::vector<std::string> toy(const std::string& how) { return {PYTHON, TOY_AGENT, how}; }

struct Fixture {
  base::EpollLoop loop;

  std::unique_ptr<AgentClient> start(const std::string& how, AgentDeadlines deadlines = {}) {
    auto client = AgentClient::start(loop, agent_process(toy(how)), deadlines);
    BOOST_REQUIRE_MESSAGE(client, (client ? std::string() : client.error().detail));
    return std::move(*client);
  }
  template <class T>
  T next(AgentClient& client) {
    const auto event = client.next_event(loop.now() + 20s);
    BOOST_REQUIRE(event);
    const auto* wanted = std::get_if<T>(&*event);
    BOOST_REQUIRE_MESSAGE(wanted != nullptr, "came instead: " + format(*event));
    return *wanted;
  }
};

BOOST_FIXTURE_TEST_SUITE(agent_client, Fixture)

BOOST_AUTO_TEST_CASE(the_hello_is_there_and_replies_come_in_order) {
  const auto client = start("good");
  BOOST_TEST(client->hello().driver == "toy");
  BOOST_TEST(client->hello().limits.at("max_ird") == 4);
  const auto first = client->post(Reset{});
  const auto second = client->post(Disconnect{9, false});
  BOOST_TEST(next<Reply>(*client).command == first);
  BOOST_TEST(next<Reply>(*client).command == second);
  BOOST_TEST(next<DisconnectedEvent>(*client).endpoint == 9u);
  BOOST_TEST(!client->next_event(loop.now()));
  BOOST_TEST(!client->gone());
}

BOOST_AUTO_TEST_CASE(a_large_command_passes_and_a_larger_one_is_answered_here) {
  const auto client = start("good");
  const auto large = client->post(WriteMemory{1, 0, Octets(2'000'000, std::byte{0xa5})});
  BOOST_TEST(next<Reply>(*client).command == large);
  const auto larger = client->post(WriteMemory{1, 0, Octets(2'100'000, std::byte{0xa5})});
  const auto reply = next<Reply>(*client);
  BOOST_TEST(reply.command == larger);
  BOOST_TEST(name(reply.outcome) == "failed");
}

struct Misbehaviour {
  const char* how;
  Why why;
  const char* detail;  ///< a part of the message about it
};
std::ostream& operator<<(std::ostream& out, const Misbehaviour& each) { return out << each.how; }

const Misbehaviour at_start[] = {
    {"cannot_start", Why::transport_lost, "toy: no RDMA device"},
    {"garbage_first", Why::bad_protocol, "Welcome to the vendor"},
    {"other_version", Why::bad_protocol, "version 2"},
    {"event_first", Why::bad_protocol, "disconnected"},
};
BOOST_DATA_TEST_CASE(no_client_is_made, boost::unit_test::data::make(at_start), bad) {
  const auto client = AgentClient::start(loop, agent_process(toy(bad.how)));
  BOOST_REQUIRE(!client);
  BOOST_TEST(name(client.error().why) == name(bad.why));
  BOOST_TEST(client.error().detail.find(bad.detail) != std::string::npos, client.error().detail);
}

const Misbehaviour later[] = {
    {"garbage", Why::bad_protocol, "Segmentation fault"},
    {"misspelt", Why::bad_protocol, "\"outcome\" is missing"},
    {"second_hello", Why::bad_protocol, "second hello"},
    {"gone", Why::bad_protocol, "an agent does not send the type"},
    {"twice", Why::bad_protocol, "waits for none"},
    {"unasked", Why::bad_protocol, "waits for none"},
    {"oversize", Why::bad_protocol, "longer than 4194304"},
    {"SIGSEGV", Why::crashed, "SIGSEGV; its last words:\ntoy: about to end"},
    {"SIGABRT", Why::crashed, "SIGABRT"},
    {"SIGBUS", Why::crashed, "SIGBUS"},
    {"SIGILL", Why::crashed, "SIGILL"},
    {"SIGFPE", Why::crashed, "SIGFPE"},
    {"SIGTERM", Why::transport_lost, "SIGTERM"},
    {"wrapped_crash", Why::crashed, "139 reports SIGSEGV"},
    {"exit", Why::transport_lost, "exit status 5"},
    {"mute", Why::transport_lost, "lives on"},
};
BOOST_DATA_TEST_CASE(the_client_says_why_it_is_gone, boost::unit_test::data::make(later), bad) {
  const auto client = start(bad.how);
  client->post(Reset{});
  auto event = client->next_event(loop.now() + 20s);
  if (event && std::holds_alternative<Reply>(*event)) event = client->next_event(loop.now() + 20s);
  BOOST_REQUIRE(event);
  const auto* gone = std::get_if<GoneEvent>(&*event);
  BOOST_REQUIRE_MESSAGE(gone != nullptr, "came instead: " + format(*event));
  BOOST_TEST(name(gone->why) == name(bad.why));
  BOOST_TEST(gone->detail.find(bad.detail) != std::string::npos, gone->detail);
  // It remains gone, and every command is answered so at once.
  client->post(Reset{});
  BOOST_TEST(name(next<GoneEvent>(*client).why) == name(bad.why));
}

BOOST_AUTO_TEST_CASE(no_hello_is_not_waited_for_beyond_its_deadline) {
  const auto before = loop.now();
  const auto client = AgentClient::start(loop, agent_process(toy("no_hello")), {200ms, 30s});
  BOOST_REQUIRE(!client);
  BOOST_TEST(name(client.error().why) == "hung");
  BOOST_TEST((loop.now() - before < 5s));
}

BOOST_AUTO_TEST_CASE(no_reply_is_a_hang_and_names_the_command) {
  const auto client = start("hang", {20s, 300ms});
  client->post(CreateDomain{1});
  const auto gone = next<GoneEvent>(*client);
  BOOST_TEST(name(gone.why) == "hung");
  BOOST_TEST(gone.detail.find("(create_domain)") != std::string::npos, gone.detail);
}

BOOST_AUTO_TEST_CASE(a_flood_ends_the_agent_and_not_us) {
  const auto client = start("flood", {60s, 60s});
  client->post(Reset{});
  loop.run_until(loop.now() + 60s, [&] { return client->gone().has_value(); });
  BOOST_REQUIRE(client->gone());
  BOOST_TEST(client->gone()->detail.find("flood") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_end_of_stderr_is_kept) {
  const auto client = start("noisy");
  client->post(Reset{});
  next<Reply>(*client);
  loop.run_until(loop.now() + 20s, [&, said = std::string()]() mutable {
    said += client->take_diagnostics();
    BOOST_TEST_REQUIRE(said.size() <= 700'000u);
    return said.ends_with("the last line\n");
  });
  BOOST_TEST(client->take_diagnostics().size() <= 65536u);
}

BOOST_AUTO_TEST_CASE(a_restart_gives_a_fresh_agent) {
  const auto client = start("exit");
  client->post(Reset{});
  next<Reply>(*client);
  next<GoneEvent>(*client);
  BOOST_REQUIRE(client->restart());
  BOOST_TEST(!client->gone());
  const auto number = client->post(Reset{});
  BOOST_TEST(next<Reply>(*client).command == number);
}

BOOST_AUTO_TEST_CASE(a_program_that_is_not_there_is_named) {
  const auto client = AgentClient::start(loop, agent_process({"/nowhere/rnic-agent"}));
  BOOST_REQUIRE(!client);
  BOOST_TEST(client.error().detail.find("/nowhere/rnic-agent: No such file") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(ending_the_client_ends_the_agent) {
  auto child = ChildProcess::start(toy("hang"));
  BOOST_REQUIRE(child);
  const base::FileDescriptor exited(::dup(child->exited()));
  pollfd over{exited.get(), POLLIN, 0};
  BOOST_TEST(::poll(&over, 1, 0) == 0);
  {
    const ChildProcess ends_here = std::move(*child);
  }
  BOOST_TEST(::poll(&over, 1, 0) == 1);
}

/// The host's end of a serial channel: a unix socket with an agent of two lines at its other end.
struct Channel {
  std::string path = "/tmp/rnic-iut-test." + std::to_string(::getpid());
  int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  Channel() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, path.size());
    BOOST_REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    BOOST_REQUIRE(::listen(fd, 1) == 0);
  }
  ~Channel() {
    ::close(fd);
    ::unlink(path.c_str());
  }
  void say(int to, const std::string& line) const {
    BOOST_TEST(::send(to, line.data(), line.size(), 0) == static_cast<ssize_t>(line.size()));
  }
};

BOOST_AUTO_TEST_CASE(a_socket_serves_as_well_and_its_end_is_a_lost_transport) {
  const Channel channel;
  std::thread agent([&] {
    const int peer = ::accept(channel.fd, nullptr, nullptr);
    channel.say(peer, "{\"type\":\"hello\",\"version\":1,\"driver\":\"toy\",");
    channel.say(peer, "\"capabilities\":[]}\r\n{\"type\":\"disconn");
    channel.say(peer, "ected\",\"endpoint\":3}\n");
    ::close(peer);
  });
  const auto client = AgentClient::start(loop, agent_socket(channel.path));
  agent.join();
  BOOST_REQUIRE(client);
  BOOST_TEST(next<DisconnectedEvent>(**client).endpoint == 3u);
  BOOST_TEST(name(next<GoneEvent>(**client).why) == "transport_lost");
}

BOOST_AUTO_TEST_CASE(who_watches_the_guest_can_tell_of_a_crash) {
  const auto client = start("good");
  client->report_gone({Why::crashed, "the guest's kernel has panicked"});
  BOOST_TEST(next<GoneEvent>(*client).detail.find("panicked") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace suite::iut
