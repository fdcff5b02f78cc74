// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Making the two hosts.
#include "reference_rnic/access/tests/two_hosts.hpp"

#include <array>
#include <utility>

#include "reference_rnic/access/consumer_setup.hpp"

namespace rnic::access::test {

namespace {

std::unique_ptr<verbs::Rnic> make_rnic(base::EventLoop& loop, verbs::RnicDecisions decisions) {
  return std::make_unique<verbs::SoftRnic>(host_in(loop), verbs::SoftRnicOptions{},
                                           std::move(decisions));
}

base::Address parse(const std::string& literal) { return *base::Address::parse(literal); }

}  // namespace

Host::Host(base::EventLoop& loop, std::unique_ptr<llp::Network> the_network,
           HostDecisions decisions)
    : network(std::move(the_network)), rnic(make_rnic(loop, std::move(decisions.rnic))) {
  domain = *rnic->create_domain();
  queue = *rnic->create_completion_queue(1024, {});
  pair = make_pair();
  region = *rnic->register_memory(
      domain, {.memory = memory,
               .access = {.local_write = true, .remote_read = true, .remote_write = true},
               .base = 0});
  manager = std::make_unique<ConnectionManager>(
      loop, *network, *rnic, [this](const ConnectionEvent& event) { events.push_back(event); },
      std::move(decisions.connections));
}

verbs::QueuePairHandle Host::make_pair() {
  return *rnic->create_queue_pair(
      {.domain = domain, .send_completions = queue, .receive_completions = queue});
}

std::vector<verbs::Completion> Host::completions() {
  std::vector<verbs::Completion> all;
  std::array<verbs::Completion, 8> some;
  for (auto count = rnic->poll(queue, some); count && *count > 0; count = rnic->poll(queue, some))
    all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(*count));
  return all;
}

std::unique_ptr<llp::Network> Memory::host(int number) {
  const std::string text = std::to_string(number);
  return fabric.add_host(parse("10.77.0." + text), parse("fd77::" + text));
}

std::unique_ptr<llp::Network> Tcp::host(int number) {
  llp::TcpHost host;
  host.ipv4 = parse("127.0.0." + std::to_string(number));
  host.ipv6 = parse("::1");
  host.max_segment = 1448;
  return std::make_unique<llp::TcpNetwork>(loop, host);
}

}  // namespace rnic::access::test
