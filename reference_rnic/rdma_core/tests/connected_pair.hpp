// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Two queue pairs of this process that librdmacm connects over the verbs library, as a program would.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace rnic::rdma_core {

/// An event channel of librdmacm; every event is awaited with a deadline.
class CmEvents {
 public:
  CmEvents();
  ~CmEvents();
  CmEvents(const CmEvents&) = delete;
  CmEvents& operator=(const CmEvents&) = delete;

  [[nodiscard]] rdma_event_channel* channel() const { return channel_; }
  [[nodiscard]] rdma_cm_id* make_id() const;
  /// Listens on a port of the loopback interface that is free.
  [[nodiscard]] rdma_cm_id* listen() const;
  /// An identifier that has an address and a route to where `listener` listens.
  [[nodiscard]] rdma_cm_id* route_to(const rdma_cm_id* listener) const;
  /// The identifier of the next event, which has to be one of this type and a success.
  rdma_cm_id* expect(rdma_cm_event_type type) const;
  /// The same, for a process that cannot use the checks: null if it is another event, or none.
  [[nodiscard]] rdma_cm_id* next(rdma_cm_event_type type) const;

 private:
  rdma_event_channel* channel_;
};

/// What a completion says, read by the calls of an ibv_cq_ex.
struct Read {
  std::uint64_t wr_id = 0;
  ibv_wc_status status = IBV_WC_SUCCESS;
  ibv_wc_opcode opcode = IBV_WC_SEND;
  std::uint32_t length = 0;
  unsigned flags = 0;
  std::uint32_t with = 0;  ///< immediate data, or the invalidated STag
  std::uint32_t queue_pair = 0;
};

/// One side: its queue pair, a completion queue and memory that is open to the peer.
struct Side {
  void prepare(ibv_context* context);
  [[nodiscard]] ibv_qp_init_attr_ex attributes() const;
  void release() const;
  [[nodiscard]] ibv_qp_ex* builder() const { return ibv_qp_to_qp_ex(queue_pair); }
  [[nodiscard]] std::uint64_t address(std::size_t offset) const {
    return reinterpret_cast<std::uint64_t>(memory.data()) + offset;
  }
  [[nodiscard]] std::span<std::byte> part(std::size_t offset, std::size_t size) {
    return std::span(memory).subspan(offset, size);
  }
  void post_receive(std::uint64_t wr_id, std::size_t offset, std::uint32_t length);
  /// The next completion, polled for with a deadline.
  [[nodiscard]] Read next() const;

  ibv_pd* domain = nullptr;
  ibv_cq_ex* completions = nullptr;
  ibv_mr* region = nullptr;
  ibv_qp* queue_pair = nullptr;
  alignas(8) std::array<std::byte, 4096> memory{};
};

class ConnectedPair {
 public:
  /// What a queue pair is asked to be, besides what Side::attributes() says.
  using Ask = std::function<void(const Side&, ibv_qp_init_attr_ex&)>;
  explicit ConnectedPair(Ask ask_active = {}, Ask ask_passive = {});
  ~ConnectedPair();
  ConnectedPair(const ConnectedPair&) = delete;
  ConnectedPair& operator=(const ConnectedPair&) = delete;

  /// Destroys the queue pairs as they are, connected ...
  void destroy_queue_pairs();
  /// ... and connects others of the same domains.
  void replace();

  Side active, passive;

 private:
  void connect();

  Ask ask_active_, ask_passive_;
  CmEvents events_;
  rdma_cm_id *listener_, *active_id_, *passive_id_ = nullptr;
};

/// All operations that ibv_create_qp_ex offers for the builder.
constexpr std::uint64_t all_operations =
    IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |
    IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
    IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW |
    IBV_QP_EX_WITH_SEND_WITH_INV;

}  // namespace rnic::rdma_core
