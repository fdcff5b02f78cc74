// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The reference RNIC without a consumer API: queue pairs, streams and sockets in one event loop.
#include <array>
#include <cstring>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/epoll_loop.hpp"
#include "reference_rnic/access/connection_manager.hpp"
#include "reference_rnic/access/consumer_setup.hpp"
#include "reference_rnic/bench/channels.hpp"
#include "reference_rnic/llp/tcp_network.hpp"
#include "reference_rnic/verbs/soft_rnic.hpp"

namespace rnic::bench {
namespace {

llp::TcpHost host() {
  llp::TcpHost host;
  host.ipv4 = *base::Address::parse("127.0.0.1");
  host.max_segment = max_segment;
  return host;
}

/// Octets behind the memory that messages use.
constexpr std::size_t own_stag = sizeof(std::uint32_t);

class StreamChannels final : public Channels {
 public:
  explicit StreamChannels(const Setup& setup)
      : setup_(setup),
        network_(loop_, host()),
        rnic_(access::host_in(loop_)),
        memory_(setup.size + own_stag),
        manager_(loop_, network_, rnic_,
                 [this](const access::ConnectionEvent& event) { happened(event); }) {
    domain_ = *rnic_.create_domain();
    queue_ = *rnic_.create_completion_queue(rnic_.attributes().max_completions, {});
    region_ = *rnic_.register_memory(
        domain_, {.memory = memory_,
                  .access = {.local_write = true, .remote_read = true, .remote_write = true},
                  .base = 0});
    for (unsigned i = 0; i < setup.connections; ++i) add_pair();
    const base::Address at = network_.address(base::Family::ipv4).with_port(setup.port);
    access::StartupOptions options = access::consumer_startup();
    options.crc = setup.crc;
    options.markers = setup.markers;
    if (setup.serves) need(manager_.listen(at, options).has_value(), "listen");
    for (unsigned i = 0; i < setup.connections; ++i) {
      if (!setup.serves)
        need(manager_.connect(pairs_[i].handle, at, options, {}).has_value(), "connect");
      wait([&] { return established_ > i; });
    }
    learn_region();
  }
  void post(unsigned connection, Operation operation, std::size_t size, unsigned count) override {
    post_from(0, connection, operation, size, count);
  }
  void flush() override {
    for (Pair& pair : pairs_) wait([&] { return pair.outstanding == 0; });
  }
  void receive(unsigned connection, std::size_t, unsigned count) override {
    Pair& pair = pairs_[connection];
    wait([&] { return pair.received >= count; });
    pair.received -= count;
    post_receives(pair, count);
  }

 private:
  struct Pair {
    verbs::QueuePairHandle handle{};
    unsigned outstanding = 0, received = 0;
  };
  struct Asked {
    std::uint64_t offset = 0;
    Operation operation = Operation::send;
    std::size_t size = 0;
    unsigned count = 0;
    bool operator==(const Asked&) const = default;
  };
  void post_from(std::uint64_t offset, unsigned connection, Operation operation, std::size_t size,
                 unsigned count) {
    Pair& pair = pairs_[connection];
    wait([&] { return pair.outstanding + count <= window; });
    prepare({offset, operation, size, count});
    pair.outstanding += count;
    need(rnic_.post_send(pair.handle, sends_).has_value(), "post_send");
  }
  /// A consumer keeps its requests as long as they are the same.
  void prepare(const Asked& asked) {
    if (asked == asked_) return;
    asked_ = asked;
    static constexpr std::array operations{verbs::Operation::send, verbs::Operation::write,
                                           verbs::Operation::read};
    const verbs::SendRequest request{
        .operation = operations[static_cast<std::size_t>(asked.operation)],
        .pieces = {{.stag = region_.stag,
                    .offset = asked.offset,
                    .length = static_cast<std::uint32_t>(asked.size)}},
        .remote_stag = peer_stag_,
        .signaled = false};
    sends_.assign(asked.count, request);
    sends_.back().signaled = true;  // it completes for all
    sends_.back().id = asked.count;
  }
  void add_pair() {
    Pair& pair = pairs_.emplace_back();
    pair.handle = *rnic_.create_queue_pair({.domain = domain_,
                                            .send_completions = queue_,
                                            .receive_completions = queue_,
                                            .send_depth = window + 1,
                                            .receive_depth = receives_posted + 1});
    by_handle_[pair.handle.value] = pairs_.size() - 1;
    if (pairs_.size() <= setup_.active) post_receives(pair, receives_posted);
  }
  void post_receives(Pair& pair, unsigned count) {
    if (receives_.size() != count) {
      const verbs::ReceiveRequest request{
          .pieces = {{.stag = region_.stag,
                      .offset = 0,
                      .length = static_cast<std::uint32_t>(memory_.size())}}};
      receives_.assign(count, request);
    }
    need(rnic_.post_receive(pair.handle, receives_).has_value(), "post_receive");
  }
  /// The client needs the STag of the server's region.
  void learn_region() {
    if (setup_.serves) {
      std::memcpy(memory_.data() + setup_.size, &region_.stag, own_stag);
      post_from(setup_.size, 0, Operation::send, own_stag, 1);
      return flush();
    }
    receive(0, own_stag, 1);
    std::memcpy(&peer_stag_, memory_.data(), own_stag);
  }
  void happened(const access::ConnectionEvent& event) {
    if (const auto* request = std::get_if<access::ConnectionRequest>(&event))
      need(manager_.accept(request->connection, pairs_[accepted_++].handle, {}).has_value(),
           "accept");
    if (std::holds_alternative<access::ConnectionEstablished>(event)) ++established_;
    need(!std::holds_alternative<access::ConnectionFailed>(event), "the connection failed");
  }
  void reap() {
    for (auto count = rnic_.poll(queue_, taken_); count && *count > 0;
         count = rnic_.poll(queue_, taken_))
      for (const verbs::Completion& each : std::span(taken_).first(*count)) {
        need(each.status == verbs::Status::success, "work failed");
        Pair& pair = pairs_[by_handle_.at(each.queue_pair.value)];
        if (each.operation == verbs::Operation::receive)
          ++pair.received;
        else
          pair.outstanding -= static_cast<unsigned>(each.id);
      }
  }
  template <typename Done>
  void wait(Done&& done) {
    const auto reached = [&] {
      reap();
      return done();
    };
    if (!setup_.spins)
      return need(loop_.run_until(base::TimePoint::max(), reached), "nothing comes");
    while (!loop_.run_until({}, reached)) {
    }
  }

  Setup setup_;
  base::EpollLoop loop_;
  llp::TcpNetwork network_;
  verbs::SoftRnic rnic_;
  std::vector<std::byte> memory_;
  verbs::DomainHandle domain_{};
  verbs::CompletionQueueHandle queue_{};
  verbs::RegionInfo region_;
  std::vector<Pair> pairs_;
  std::array<verbs::Completion, 64> taken_;
  Asked asked_;  ///< of sends_
  std::vector<verbs::SendRequest> sends_;
  std::vector<verbs::ReceiveRequest> receives_;
  std::unordered_map<std::uint64_t, std::size_t> by_handle_;
  std::uint32_t peer_stag_ = 0;
  unsigned established_ = 0, accepted_ = 0;
  access::ConnectionManager manager_;
};

}  // namespace

std::unique_ptr<Channels> stream_channels(const Setup& setup) {
  return std::make_unique<StreamChannels>(setup);
}

}  // namespace rnic::bench
