// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The reference RNIC over TCP on loopback, beside raw TCP with the same segment sizes in the same
// event loop: shares of what the machine can do, measured side by side.
#include <benchmark/benchmark.h>

#include <chrono>
#include <stdexcept>

#include "reference_rnic/access/tests/two_hosts.hpp"

namespace rnic::bench {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
using Clock = std::chrono::steady_clock;
using Hosts = access::test::TwoHosts<access::test::Tcp>;

void need(bool done, const char* what) {
  if (!done) throw std::runtime_error(what);
}

/// One raw connection between the hosts of a pair that carry RDMA as well.
class RawPair : llp::Listener::Observer {
 public:
  explicit RawPair(Hosts& hosts) : hosts_(hosts) {
    listener_ =
        std::move(*hosts.b.network->listen(hosts.b.network->address(base::Family::ipv4), *this));
    near_.connection = std::move(*hosts.a.network->connect(listener_->local(), near_));
    need(hosts.wait([&] { return near_.up && far_.connection != nullptr; }), "raw TCP connects");
  }

  /// Carries `octets` from one host to the other.
  void carry(wire::Bytes octets) {
    far_.buffer.resize(octets.size());
    far_.received = 0;
    near_.rest = octets;
    near_.writable();
    need(hosts_.wait([&] { return far_.received == octets.size(); }), "raw TCP carries octets");
  }

 private:
  struct End : llp::Connection::Observer {
    void connected() override { up = true; }
    void readable() override {
      const wire::MutableBytes target = wire::MutableBytes(buffer).subspan(received);
      if (!target.empty()) received += connection->receive({&target, 1}).count;
    }
    void writable() override {
      while (!rest.empty()) {
        const std::size_t sent = connection->send({&rest, 1}, false);
        rest = rest.subspan(sent);
        if (sent == 0) return;
      }
    }
    void ended(llp::Ending) override {}

    std::unique_ptr<llp::Connection> connection;
    std::vector<std::byte> buffer;
    std::size_t received = 0;
    wire::Bytes rest;
    bool up = false;
  };
  void accepted(std::unique_ptr<llp::Connection> connection) override {
    far_.connection = std::move(connection);
    far_.connection->set_observer(far_);
  }

  Hosts& hosts_;
  End near_, far_;
  std::unique_ptr<llp::Listener> listener_;
};

/// One RDMA Write of the whole region; its last octet shows that it has arrived.
void write_region(Hosts& hosts, std::byte mark) {
  hosts.a.memory.back() = mark;
  const verbs::SendRequest request{.operation = verbs::Operation::write,
                                   .pieces = {hosts.a.piece(0, mebibyte)},
                                   .remote_stag = hosts.b.region.stag,
                                   .remote_offset = hosts.b.region.base};
  need(hosts.a.rnic->post_send(hosts.a.pair, {&request, 1}).has_value(), "a Write is posted");
  need(hosts.wait([&] { return hosts.b.memory.back() == mark; }), "a Write arrives");
  need(hosts.wait([&] { return !hosts.a.completions().empty(); }), "a Write completes");
}

/// Carries a mebibyte by RDMA Write and by raw TCP in turn; `of_raw_tcp` is the share of raw TCP's
/// throughput that the Writes come to.
void write_against_raw_tcp(benchmark::State& state, bool crc) {
  Hosts hosts;
  need(hosts.connect({.crc = crc}), "the hosts connect");
  RawPair raw(hosts);
  Clock::duration rdma_time{}, raw_time{};
  unsigned round = 0;
  for (auto iteration : state) {
    const auto start = Clock::now();
    write_region(hosts, static_cast<std::byte>(++round % 251 + 1));
    const auto middle = Clock::now();
    raw.carry(hosts.a.memory);
    rdma_time += middle - start;
    raw_time += Clock::now() - middle;
  }
  const auto seconds = std::chrono::duration<double>(rdma_time).count();
  state.counters["write_MiB_per_second"] = static_cast<double>(state.iterations()) / seconds;
  state.counters["of_raw_tcp"] =
      static_cast<double>(raw_time.count()) / static_cast<double>(rdma_time.count());
}

BENCHMARK_CAPTURE(write_against_raw_tcp, crc, true)->UseRealTime();
BENCHMARK_CAPTURE(write_against_raw_tcp, no_crc, false)->UseRealTime();

}  // namespace
}  // namespace rnic::bench

BENCHMARK_MAIN();
