// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Live capture of real traffic in a network namespace of the test's own.
#include <boost/test/unit_test.hpp>

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "dissectors/capture/live_capture.hpp"
#include "dissectors/capture/splitter.hpp"
#include "dissectors/capture/stream_index.hpp"

using namespace dissectors::capture;
namespace test = boost::unit_test;

namespace {

// Enters a namespace once, with its loopback up; false where this host allows none.
bool in_own_namespace() {
  static const bool entered = [] {
    if (::unshare(CLONE_NEWNET) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
    const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq request{};
    std::strncpy(request.ifr_name, "lo", IFNAMSIZ - 1);
    request.ifr_flags = IFF_UP;
    const bool up = ::ioctl(fd, SIOCSIFFLAGS, &request) == 0;
    ::close(fd);
    return up;
  }();
  return entered;
}

boost::test_tools::assertion_result namespaces_allowed(test::test_unit_id) {
  boost::test_tools::assertion_result result(in_own_namespace());
  if (!result) result.message() << "this host allows no network namespace";
  return result;
}

// A connection over loopback; both ends close when it goes out of scope.
struct Pair {
  Pair() {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    BOOST_REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0);
    BOOST_REQUIRE(::listen(listener, 1) == 0);
    ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    BOOST_REQUIRE(::connect(client, reinterpret_cast<sockaddr*>(&address), size) == 0);
    server = ::accept(listener, nullptr, nullptr);
    ::close(listener);
    sockaddr_in own{};
    ::getsockname(client, reinterpret_cast<sockaddr*>(&own), &size);
    flow = {*Endpoint::parse("127.0.0.1", ntohs(own.sin_port)),
            *Endpoint::parse("127.0.0.1", ntohs(address.sin_port))};
  }
  ~Pair() {
    ::close(client);
    ::close(server);
  }
  int client = -1, server = -1;
  Flow flow;
};

}  // namespace

BOOST_AUTO_TEST_CASE(what_passed_before_the_sentinel_is_captured,
                     *test::precondition(namespaces_allowed)) {
  auto capture = LiveCapture::open("lo");
  BOOST_REQUIRE_MESSAGE(capture, (capture ? "" : capture.error()));
  auto sentinel = Sentinel::open("lo", 0x0123456789ABCDEF);
  BOOST_REQUIRE_MESSAGE(sentinel, (sentinel ? "" : sentinel.error()));
  const auto other = Sentinel::open("lo", 1);

  Flow flow;
  {
    Pair pair;
    flow = pair.flow;
    const std::string text(5000, 'x');
    BOOST_REQUIRE(::send(pair.client, text.data(), text.size(), 0) == 5000);
  }
  const auto number = sentinel->send();
  BOOST_REQUIRE(number);

  Splitter splitter(capture->link(), 1 << 20);
  bool seen = false;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (!seen && std::chrono::steady_clock::now() < deadline) {
    pollfd ready{.fd = capture->fd(), .events = POLLIN, .revents = 0};
    ::poll(&ready, 1, 100);
    BOOST_REQUIRE(capture->poll([&](Frame frame) {
      BOOST_TEST(!other->recognise(capture->link(), frame.octets).has_value());
      if (sentinel->recognise(capture->link(), frame.octets) == *number) seen = true;
      splitter.add(std::move(frame));
    }));
  }
  BOOST_REQUIRE(seen);
  const std::vector<Flow> flows{flow};
  const auto frames = splitter.take(flows, 0);
  const StreamIndex index(capture->link(), frames);
  BOOST_TEST(index.octet(flow, 4999).has_value());
  BOOST_TEST(index.fin(flow).has_value());
  BOOST_TEST(capture->counts().dropped == 0U);
  BOOST_TEST(capture->counts().received >= frames.size());
  // Nanoseconds, not microseconds: some time stamp is not a multiple of 1000.
  BOOST_TEST(
      std::ranges::any_of(frames, [](const Frame& frame) { return frame.time % 1000 != 0; }));
}

BOOST_AUTO_TEST_CASE(an_interface_that_is_not_there_is_one_line) {
  const auto capture = LiveCapture::open("no-such-if0");
  BOOST_REQUIRE(!capture);
  BOOST_TEST(capture.error().find('\n') == std::string::npos);
  BOOST_TEST(capture.error().find("no-such-if0") != std::string::npos);
  BOOST_TEST(!Sentinel::open("no-such-if0", 1).has_value());
}
