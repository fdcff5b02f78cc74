// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The links over which two peers of the tests meet: kernel TCP, and the in-memory one.
#pragma once

#include <boost/mpl/list.hpp>

#include "base/epoll_loop.hpp"
#include "base/simulated_loop.hpp"
#include "reference_rnic/llp/memory_network.hpp"
#include "reference_rnic/llp/tcp_network.hpp"

namespace suite::lower_tester::tests {

using namespace base;
using namespace rnic::llp;

struct TcpLink {
  EpollLoop loop;
  TcpNetwork network{loop,
                     {.namespace_fd = {},
                      .ipv4 = *Address::parse("127.0.0.1"),
                      .ipv6 = *Address::parse("::1"),
                      .max_segment = 1448,
                      .receive_buffer = {}}};
};
struct MemoryLink {
  SimulatedLoop loop;
  MemoryFabric fabric{loop};
  std::unique_ptr<Network> host =
      fabric.add_host(*Address::parse("10.77.0.1"), *Address::parse("fd77::1"));
  Network& network = *host;
};
using Links = boost::mpl::list<TcpLink, MemoryLink>;

}  // namespace suite::lower_tester::tests
