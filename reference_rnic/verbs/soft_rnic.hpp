// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The reference software RNIC: verbs over sans-I/O streams, conforming or deviating.
#pragma once

#include "reference_rnic/verbs/decisions.hpp"
#include "reference_rnic/verbs/rnic.hpp"

namespace rnic::verbs {

/// What an RNIC needs of its event loop.
struct Host {
  std::function<stream::TimePoint()> now;
  /// Runs a callback from the dispatch loop, after the current one has returned, in the order
  /// given.
  std::function<void(std::function<void()>)> defer;
};

struct SoftRnicOptions {
  /// STags are drawn from it; a seed that peers cannot know makes them hard to predict (RFC 5042
  /// 8.1.1).
  std::uint64_t stag_seed = 0x5eed;
  std::uint16_t max_ird = 16, max_ord = 16;
  std::uint32_t max_pieces = 256;            ///< of one request
  std::uint32_t max_queue_depth = 1U << 16;  ///< of send, receive and shared queues
};

class SoftRnic final : public Rnic, public StreamProvider {
 public:
  explicit SoftRnic(Host host, SoftRnicOptions options = {}, RnicDecisions decisions = {});
  ~SoftRnic() override;
  SoftRnic(const SoftRnic&) = delete;
  SoftRnic& operator=(const SoftRnic&) = delete;

  [[nodiscard]] const RnicAttributes& attributes() const override;
  void set_async_handler(AsyncHandler handler) override;
  [[nodiscard]] std::expected<DomainHandle, Error> create_domain() override;
  std::expected<void, Error> destroy_domain(DomainHandle domain) override;
  [[nodiscard]] std::expected<RegionInfo, Error> register_memory(
      DomainHandle domain, const RegionAttributes& attributes) override;
  [[nodiscard]] std::expected<RegionInfo, Error> allocate_region(DomainHandle domain,
                                                                 std::uint32_t pages) override;
  [[nodiscard]] std::expected<RegionInfo, Error> query_region(RegionHandle region) const override;
  std::expected<void, Error> deregister(RegionHandle region) override;
  [[nodiscard]] std::expected<WindowInfo, Error> allocate_window(DomainHandle domain,
                                                                 WindowScope scope) override;
  [[nodiscard]] std::expected<WindowInfo, Error> query_window(WindowHandle window) const override;
  std::expected<void, Error> free_window(WindowHandle window) override;
  [[nodiscard]] std::expected<CompletionQueueHandle, Error> create_completion_queue(
      std::uint32_t depth, CompletionHandler handler) override;
  std::expected<void, Error> resize_completion_queue(CompletionQueueHandle queue,
                                                     std::uint32_t depth) override;
  std::expected<void, Error> destroy_completion_queue(CompletionQueueHandle queue) override;
  [[nodiscard]] std::expected<std::size_t, Error> poll(CompletionQueueHandle queue,
                                                       std::span<Completion> out) override;
  std::expected<void, Error> arm(CompletionQueueHandle queue, Arm arm) override;
  [[nodiscard]] std::expected<SharedQueueHandle, Error> create_shared_queue(
      DomainHandle domain, const SharedQueueAttributes& attributes) override;
  [[nodiscard]] std::expected<SharedQueueInfo, Error> query_shared_queue(
      SharedQueueHandle queue) const override;
  std::expected<void, Error> resize_shared_queue(SharedQueueHandle queue,
                                                 std::uint32_t depth) override;
  std::expected<void, Error> arm_limit(SharedQueueHandle queue, std::uint32_t limit) override;
  std::expected<void, Error> destroy_shared_queue(SharedQueueHandle queue) override;
  std::expected<void, PostError> post_receive(SharedQueueHandle queue,
                                              std::span<const ReceiveRequest> requests) override;
  [[nodiscard]] std::expected<QueuePairHandle, Error> create_queue_pair(
      const QueuePairAttributes& attributes) override;
  [[nodiscard]] std::expected<QueuePairInfo, Error> query_queue_pair(
      QueuePairHandle queue_pair) const override;
  std::expected<void, Error> close(QueuePairHandle queue_pair) override;
  std::expected<void, Error> abort(QueuePairHandle queue_pair) override;
  std::expected<void, Error> set_access(QueuePairHandle queue_pair, const Access& access) override;
  std::expected<void, Error> reset_queue_pair(QueuePairHandle queue_pair) override;
  std::expected<void, Error> destroy_queue_pair(QueuePairHandle queue_pair) override;
  std::expected<void, PostError> post_send(QueuePairHandle queue_pair,
                                           std::span<const SendRequest> requests) override;
  std::expected<void, PostError> post_receive(QueuePairHandle queue_pair,
                                              std::span<const ReceiveRequest> requests) override;
  [[nodiscard]] StreamProvider* streams() override { return this; }
  [[nodiscard]] std::unique_ptr<RdmaStream> open_stream(stream::Config config) override;
  std::expected<void, Error> attach(QueuePairHandle queue_pair, RdmaStream& stream) override;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace rnic::verbs
