// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lab/namespaces.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstring>

#include "suite/lab/command.hpp"

using namespace suite::lab;

namespace {

struct Inside {
  Inside() {
    const auto entered = enter_private_namespaces();
    BOOST_REQUIRE_MESSAGE(entered.has_value(), (entered ? "" : entered.error()));
  }
};
BOOST_TEST_GLOBAL_FIXTURE(Inside);

std::string output_in(int network_namespace, const std::vector<std::string>& argv) {
  CommandOptions options;
  options.network_namespace = network_namespace;
  const auto said = run_command(argv, options);
  BOOST_REQUIRE_MESSAGE(said.has_value(), (said ? "" : said.error()));
  return *said;
}

base::FileDescriptor socket_in(int network_namespace, int family) {
  base::FileDescriptor made;
  const auto done =
      in_network_namespace(network_namespace, [&]() -> std::expected<void, std::string> {
        made = base::FileDescriptor(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
        return {};
      });
  BOOST_REQUIRE(done.has_value());
  BOOST_REQUIRE(made.get() >= 0);
  return made;
}

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
  SocketAddress(const std::string& literal, std::uint16_t port) {
    auto* ipv4 = reinterpret_cast<sockaddr_in*>(&storage);
    auto* ipv6 = reinterpret_cast<sockaddr_in6*>(&storage);
    if (::inet_pton(AF_INET, literal.c_str(), &ipv4->sin_addr) == 1) {
      ipv4->sin_family = AF_INET;
      ipv4->sin_port = htons(port);
      length = sizeof *ipv4;
    } else {
      BOOST_REQUIRE(::inet_pton(AF_INET6, literal.c_str(), &ipv6->sin6_addr) == 1);
      ipv6->sin6_family = AF_INET6;
      ipv6->sin6_port = htons(port);
      length = sizeof *ipv6;
    }
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

/// One octet from tester to IUT, over TCP.
void expect_octet_passes(const Lab& lab, const std::string& iut_address) {
  const SocketAddress address(iut_address, 4791);
  const base::FileDescriptor listener =
      socket_in(lab.iut().network_namespace, address.storage.ss_family);
  const base::FileDescriptor sender =
      socket_in(lab.tester().network_namespace, address.storage.ss_family);
  BOOST_REQUIRE_EQUAL(::bind(listener.get(), address.get(), address.length), 0);
  BOOST_REQUIRE_EQUAL(::listen(listener.get(), 1), 0);
  BOOST_REQUIRE_EQUAL(::connect(sender.get(), address.get(), address.length), 0);
  BOOST_REQUIRE_EQUAL(::send(sender.get(), "x", 1, 0), 1);
  const base::FileDescriptor accepted(::accept(listener.get(), nullptr, nullptr));
  char octet = 0;
  BOOST_REQUIRE_EQUAL(::recv(accepted.get(), &octet, 1, 0), 1);
  BOOST_TEST(octet == 'x');
}

void expect_plain_wire(const LabHost& host, unsigned mtu) {
  const std::string features = output_in(host.network_namespace, {"ethtool", "-k", host.interface});
  for (const char* feature : {"tcp-segmentation-offload: off", "generic-segmentation-offload: off",
                              "generic-receive-offload: off"})
    BOOST_TEST(features.find(feature) != std::string::npos, feature);
  const std::string link =
      output_in(host.network_namespace, {"ip", "link", "show", host.interface});
  BOOST_TEST(link.find("mtu " + std::to_string(mtu) + " ") != std::string::npos, link);
}

ino_t inode_of(const char* path) {
  struct stat status{};
  BOOST_REQUIRE_EQUAL(::stat(path, &status), 0);
  return status.st_ino;
}

}  // namespace

BOOST_AUTO_TEST_CASE(both_families_pass_at_once_between_the_hosts) {
  const auto lab = Lab::with_veth();
  BOOST_REQUIRE_MESSAGE(lab.has_value(), (lab ? "" : lab.error()));
  expect_octet_passes(*lab, lab->iut().ipv4);
  expect_octet_passes(*lab, lab->iut().ipv6);
  BOOST_TEST(lab->tap() == -1);
}

BOOST_AUTO_TEST_CASE(mtu_and_offloads_are_as_asked) {
  LabOptions options;
  options.mtu = 1400;
  const auto lab = Lab::with_veth(options);
  BOOST_REQUIRE_MESSAGE(lab.has_value(), (lab ? "" : lab.error()));
  expect_plain_wire(lab->tester(), 1400);
  expect_plain_wire(lab->iut(), 1400);
}

BOOST_AUTO_TEST_CASE(a_tap_lab_has_the_tester_only) {
  const auto lab = Lab::with_tap();
  BOOST_REQUIRE_MESSAGE(lab.has_value(), (lab ? "" : lab.error()));
  BOOST_TEST(lab->tap() >= 0);
  BOOST_TEST(lab->iut().network_namespace == -1);
  expect_plain_wire(lab->tester(), 1500);
  // The kernel's own link-local address is tentative at first; no connection uses it.
  const std::string link =
      output_in(lab->tester().network_namespace,
                {"ip", "addr", "show", lab->tester().interface, "scope", "global"});
  BOOST_TEST(link.find("tentative") == std::string::npos, link);
}

BOOST_AUTO_TEST_CASE(two_labs_do_not_meet) {
  const auto first = Lab::with_veth();
  const auto second = Lab::with_veth();
  BOOST_REQUIRE(first.has_value() && second.has_value());
  expect_octet_passes(*first, first->iut().ipv4);
  expect_octet_passes(*second, second->iut().ipv4);
}

BOOST_AUTO_TEST_CASE(work_elsewhere_comes_back_even_when_it_fails) {
  const auto elsewhere = make_network_namespace();
  BOOST_REQUIRE(elsewhere.has_value());
  const ino_t before = inode_of("/proc/thread-self/ns/net");
  ino_t inside = 0;
  const auto failed =
      in_network_namespace(elsewhere->get(), [&]() -> std::expected<void, std::string> {
        inside = inode_of("/proc/thread-self/ns/net");
        return std::unexpected("no luck");
      });
  BOOST_TEST(failed.error() == "no luck");
  BOOST_TEST(inside != before);
  BOOST_TEST(inode_of("/proc/thread-self/ns/net") == before);
}

BOOST_AUTO_TEST_CASE(a_bad_address_names_the_command_that_failed) {
  LabOptions options;
  options.iut_ipv4 = "300.1.1.1";
  const auto lab = Lab::with_veth(options);
  BOOST_REQUIRE(!lab.has_value());
  BOOST_TEST(lab.error().find("ip addr add 300.1.1.1/24 dev iut0") != std::string::npos,
             lab.error());
}
