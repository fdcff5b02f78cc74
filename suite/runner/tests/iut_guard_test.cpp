// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whose code raised the signal: the IUT's or the tester's, on every way into either.
#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/simulated_loop.hpp"
#include "reference_rnic/llp/memory_network.hpp"
#include "suite/runner/iut_guard.hpp"

using namespace suite::runner;
using namespace std::chrono_literals;
using base::Address;
using rnic::llp::Connection;
using rnic::llp::Listener;

namespace {

Address host(const char* literal) { return Address::parse(literal).value(); }

// Where the toy crashes.
enum class Place { nowhere, post, timer, accepted, connected, readable, ended };

class FragileIut final : public suite::iut::Iut, Listener::Observer, Connection::Observer {
 public:
  FragileIut(base::EventLoop& loop, rnic::llp::Network& network, Place place)
      : loop_(loop), place_(place) {
    listener_ = std::move(
        network.listen(network.address(base::Family::ipv4).with_port(4791), *this).value());
    if (place == Place::connected)
      connection_ = std::move(network.connect(host("10.77.0.1").with_port(4791), *this).value());
    if (place == Place::timer) loop.schedule(loop.now() + 1ms, [this] { die_at(Place::timer); });
  }
  const suite::iut::Hello& hello() const override { return hello_; }
  std::uint64_t post(suite::iut::Command) override {
    die_at(Place::post);
    return 1;
  }
  std::optional<suite::iut::Event> next_event(base::TimePoint deadline) override {
    loop_.run_until(deadline, [] { return false; });
    return std::nullopt;
  }

 private:
  void die_at(Place place) const {
    if (place == place_) std::raise(SIGSEGV);
  }
  void accepted(std::unique_ptr<Connection> connection) override {
    die_at(Place::accepted);
    connection_ = std::move(connection);
    connection_->set_observer(*this);
  }
  void connected() override { die_at(Place::connected); }
  void readable() override {
    die_at(Place::readable);
    std::array<std::byte, 8> buffer;
    const std::array<rnic::wire::MutableBytes, 1> targets{buffer};
    connection_->receive(targets);
  }
  void writable() override {}
  void ended(rnic::llp::Ending) override { die_at(Place::ended); }

  base::EventLoop& loop_;
  Place place_;
  suite::iut::Hello hello_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<Connection> connection_;
};

// A tester that connects, sends, resets, and may crash in its own callback, dispatched while the
// IUT pumps the event loop. It accepts what the IUT connects.
struct Tester final : Connection::Observer, Listener::Observer {
  explicit Tester(bool dies) : dies_(dies) {}
  void connected() override {
    if (dies_) std::raise(SIGSEGV);
    const std::array<std::byte, 1> octet{};
    const std::array<rnic::wire::Bytes, 1> pieces{octet};
    connection->send(pieces, true);
  }
  void readable() override {}
  void writable() override {}
  void ended(rnic::llp::Ending) override {}
  void accepted(std::unique_ptr<Connection> from_iut) override { accepted_ = std::move(from_iut); }
  std::unique_ptr<Connection> connection, accepted_;
  bool dies_;
};

// The last output of the process of such a pair; "alive" if it does not crash.
std::string last_word(Place place, bool tester_dies) {
  std::array<int, 2> pipe{};
  BOOST_REQUIRE(::pipe(pipe.data()) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    report_fatal_signals(pipe[1]);
    base::SimulatedLoop loop;
    rnic::llp::MemoryFabric fabric(loop);
    const auto tester_network = fabric.add_host(host("10.77.0.1"), host("fd77::1"));
    const auto iut_network =
        fabric.add_host(host("10.77.0.2"), host("fd77::2"), rnic::llp::ObserverCaller(call_iut));
    Tester tester(tester_dies);
    const auto listener = tester_network->listen(host("10.77.0.1").with_port(4791), tester).value();
    const auto iut =
        guarded_iut(loop, *iut_network, [&](base::EventLoop& w, rnic::llp::Network& n) {
          return std::make_unique<FragileIut>(w, n, place);
        });
    iut->post(suite::iut::Reset{});
    tester.connection =
        std::move(tester_network->connect(host("10.77.0.2").with_port(4791), tester).value());
    static_cast<void>(iut->next_event(loop.now() + 1s));
    tester.connection->reset();
    static_cast<void>(iut->next_event(loop.now() + 1s));
    [[maybe_unused]] const auto told = ::write(pipe[1], "alive", 5);
    ::_exit(0);
  }
  ::close(pipe[1]);
  std::string text(200, '\0');
  const ssize_t count = ::read(pipe[0], text.data(), text.size());
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (text != "alive") BOOST_TEST(WTERMSIG(status) == SIGSEGV);
  return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_way_into_the_iut_is_marked) {
  for (const Place place : {Place::post, Place::timer, Place::accepted, Place::connected,
                            Place::readable, Place::ended}) {
    BOOST_TEST(last_word(place, false) == "\n{\"type\":\"died\",\"signal\":11,\"in_iut\":true}\n");
  }
}

BOOST_AUTO_TEST_CASE(the_testers_own_callbacks_are_not) {
  BOOST_TEST(last_word(Place::nowhere, false) == "alive");
  BOOST_TEST(last_word(Place::nowhere, true) ==
             "\n{\"type\":\"died\",\"signal\":11,\"in_iut\":false}\n");
}
