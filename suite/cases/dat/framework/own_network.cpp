// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/dat/framework/own_network.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <system_error>
#include <thread>

#include <fmt/format.h>

namespace suite::cases::dat {

namespace {

/// <linux/ipv6.h> has it, and cannot be included beside the headers of sockets.
struct AddressOfIpv6 {
  in6_addr address;
  std::uint32_t prefix_length;
  int interface;
};

void in_a_thread(const std::function<void()>& work) {
  std::exception_ptr thrown;
  std::thread([&] {
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join();
  if (thrown) std::rethrow_exception(thrown);
}

std::string last_error() { return std::generic_category().message(errno); }

bool set_lo(bool up) {
  const base::FileDescriptor any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = up ? IFF_UP : 0;
  return any && ::ioctl(any.get(), SIOCSIFFLAGS, &request) == 0;
}

/// lo has the addresses of loopback by itself.
bool give_lo(const sockaddr& address) {
  const base::FileDescriptor any(::socket(address.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (address.sa_family == AF_INET6) {
    AddressOfIpv6 request{.address = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr,
                          .prefix_length = 128,
                          .interface = static_cast<int>(::if_nametoindex("lo"))};
    return ::ioctl(any.get(), SIOCSIFADDR, &request) == 0 || errno == EEXIST;
  }
  ifreq request{};
  std::strcpy(request.ifr_name, "lo:1");
  std::memcpy(&request.ifr_addr, &address, sizeof request.ifr_addr);
  return ::ioctl(any.get(), SIOCSIFADDR, &request) == 0 || errno == EEXIST;
}

}  // namespace

OwnNetwork::OwnNetwork(DatBody& body) : body_(body) {
  const sockaddr& address = *reinterpret_cast<const sockaddr*>(body.ia().address());
  in_a_thread([&] {
    if (::unshare(CLONE_NEWNET) != 0)
      body.stop(Verdict::not_applicable,
                fmt::format("no network namespace can be made: {}; the case needs CAP_SYS_ADMIN",
                            last_error()));
    if (!set_lo(true) || !give_lo(address))
      body.stop(Verdict::inconclusive, "lo of a network namespace: " + last_error());
    space_ = base::FileDescriptor(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  });
}

void OwnNetwork::inside(const std::function<void()>& work) const {
  in_a_thread([&] {
    if (::setns(space_.get(), CLONE_NEWNET) != 0)
      body_.stop(Verdict::error, "a network namespace cannot be entered: " + last_error());
    work();
  });
}

void OwnNetwork::remove_routes() const {
  inside([&] {
    if (!set_lo(false)) body_.stop(Verdict::error, "lo cannot be taken down: " + last_error());
  });
}

}  // namespace suite::cases::dat
