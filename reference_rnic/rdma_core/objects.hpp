// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The objects that programs hold by the structs of infiniband/verbs.h, with what the library keeps
// behind them.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/fifo.hpp"
#include "reference_rnic/rdma_core/engine.hpp"
#include "reference_rnic/rdma_core/event_queue.hpp"
#include "reference_rnic/rdma_core/fork.hpp"

namespace rnic::rdma_core {

/// Limits that programs are told, and that creation checks.
namespace limits {
constexpr int work_requests = 16384;
constexpr int pieces = 16;
constexpr int completions = 1 << 20;
constexpr int objects = 1 << 20;
constexpr int read_depth = 16;
constexpr std::uint32_t inline_octets = 512;
/// Each queue pair has this room, also one that asks for none: programs for iWARP rely on it
/// (rsockets, rdma_xclient), since cxgb4 grants some hundred octets to all and siw takes 80.
constexpr std::uint32_t least_inline_octets = 64;
constexpr std::uint64_t message = 1U << 31;
}  // namespace limits

/// The device that all contexts of ours belong to.
[[nodiscard]] ibv_device& device();
[[nodiscard]] inline bool is_ours(const ibv_context* context) {
  return context->device == &device();
}

struct Context {
  verbs_context extended{};  ///< first: programs hold its `context`
  EventQueue<ibv_async_event> async_events;
  std::uint32_t users = 0;
};
[[nodiscard]] Context& of(ibv_context* context);

struct Pd : ibv_pd {
  Owned<verbs::DomainHandle> domain{};
};
struct Mr : ibv_mr {
  Owned<verbs::RegionHandle> region{};
};
struct Mw : ibv_mw {
  Owned<verbs::WindowHandle> window{};
};
struct Channel : ibv_comp_channel {
  EventQueue<Cq*> events;
  /// The program has waited in ibv_get_cq_event last time, and not for the descriptor.
  bool awaited_by_call = false;
  std::thread::id announced_by{};  ///< the thread that has caused the last event
};

struct Cq {
  ibv_cq_ex shown{};  ///< first: programs hold it, or its beginning as an ibv_cq
  Owned<verbs::CompletionQueueHandle> queue{};
  /// Of work that a queue pair got after it had left RTS and that the RNIC does not take any more.
  base::Fifo<ibv_wc> flushed{};
  /// The program waits for the next completion. The RNIC knows it too, but for `flushed`.
  bool armed = false;
  bool just_armed = false;                  ///< and it has not polled in vain since
  access::PromptProgress prompt{engine()};  ///< while an event on the channel is due
  std::uint32_t comp_events_reported = 0, async_events_reported = 0;
  ibv_wc current{};  ///< between start_poll and end_poll
  [[nodiscard]] ibv_cq* plain() { return reinterpret_cast<ibv_cq*>(&shown); }
};

struct Srq : ibv_srq {
  Owned<verbs::SharedQueueHandle> queue{};
  std::uint32_t events_reported = 0;
};

/// What the completion of a posted request is to say.
struct PostedSend {
  std::uint64_t wr_id = 0;
  ibv_wc_opcode opcode = IBV_WC_SEND;
  bool first_half = false;   ///< the Write of a Write with immediate data
  bool second_half = false;  ///< its Immediate Data message (RFC 7306 section 6)
};

/// What librdmacm opens to the peer of an iWARP device's queue pair.
constexpr unsigned all_remote_access =
    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

struct Qp {
  ibv_qp_ex shown{};  ///< first: programs hold its `qp_base`
  Owned<verbs::QueuePairHandle> pair{};
  CmId* id = nullptr;  ///< that connects it, or has
  ibv_qp_init_attr asked{};
  ibv_qp_state state =
      IBV_QPS_RESET;  ///< as far as the program has asked; actual_state() has the rest
  unsigned access = all_remote_access;  ///< unless the program sets another one
  bool established = false;             ///< the connection has been
  bool leaving = false;                 ///< an orderly close was asked for
  std::uint32_t events_reported = 0;
  std::vector<PostedSend> posted;  ///< by number of the request, modulo the size; from the first on
  std::size_t most_posted = 0;     ///< requests that it holds then
  std::uint64_t next_send = 0;
  /// Until the program has polled a completion, its request and those before it hold their places.
  std::uint64_t first_unpolled = 0;
  bool first_half_failed = false;
  /// Requests between ibv_wr_start and ibv_wr_complete, and their pieces. No other thread enters
  /// meanwhile (ibv_wr_start(3), Concurrency).
  struct Building {
    std::unique_lock<std::mutex> alone;
    std::deque<ibv_send_wr> requests;
    std::deque<std::vector<ibv_sge>> pieces;
    std::deque<std::vector<std::byte>> copies;
    int error = 0;
  };
  std::mutex builder;
  std::unique_ptr<Building> building;
  [[nodiscard]] ibv_qp* plain() { return &shown.qp_base; }
};

[[nodiscard]] inline Pd& of(ibv_pd* pd) { return *static_cast<Pd*>(pd); }
[[nodiscard]] inline Mr& of(ibv_mr* mr) { return *static_cast<Mr*>(mr); }
[[nodiscard]] inline Mw& of(ibv_mw* mw) { return *static_cast<Mw*>(mw); }
[[nodiscard]] inline Channel& of(ibv_comp_channel* channel) {
  return *static_cast<Channel*>(channel);
}
[[nodiscard]] inline Cq& of(ibv_cq* cq) { return *reinterpret_cast<Cq*>(cq); }
[[nodiscard]] inline Srq& of(ibv_srq* srq) { return *static_cast<Srq*>(srq); }
[[nodiscard]] inline Qp& of(ibv_qp* qp) { return *reinterpret_cast<Qp*>(qp); }

/// Of the verbs.h structs that have them: for events that are not acknowledged yet.
template <typename Object>
void prepare_events(Object& object) {
  pthread_mutex_init(&object.mutex, nullptr);
  pthread_cond_init(&object.cond, nullptr);
}

/// Waits until the program has acknowledged what it got, as libibverbs does before it destroys an
/// object.
template <typename Object, typename Done>
void await_acknowledgements(Object& object, Done&& done) {
  pthread_mutex_lock(&object.mutex);
  while (!done()) pthread_cond_wait(&object.cond, &object.mutex);
  pthread_mutex_unlock(&object.mutex);
}

// ---- the calls, by file ----

// memory.cpp
ibv_pd* alloc_pd(ibv_context* context);
int dealloc_pd(ibv_pd* pd);
ibv_mr* reg_mr(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova, unsigned access);
int dereg_mr(ibv_mr* mr);
ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type);
int dealloc_mw(ibv_mw* mw);
[[nodiscard]] verbs::Access access_of(unsigned flags);

// completion_queue.cpp
ibv_cq_ex* create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel);
ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attributes);
int resize_cq(ibv_cq* cq, int cqe);
int destroy_cq(ibv_cq* cq);
int poll_cq(ibv_cq* cq, int count, ibv_wc* wc);
int req_notify_cq(ibv_cq* cq, int solicited_only);
ibv_comp_channel* create_comp_channel(ibv_context* context);
int destroy_comp_channel(ibv_comp_channel* channel);
int get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context);
/// Adds a completion that does not come from the RNIC.
void complete(Cq& cq, const ibv_wc& wc);

// shared_queue.cpp
ibv_srq* create_srq(ibv_pd* pd, ibv_srq_init_attr* attributes);
int modify_srq(ibv_srq* srq, const ibv_srq_attr* attributes, int mask);
int query_srq(ibv_srq* srq, ibv_srq_attr* attributes);
int destroy_srq(ibv_srq* srq);
int post_srq_recv(ibv_srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad);

// queue_pair.cpp
ibv_qp* create_qp(ibv_context* context, ibv_pd* pd, ibv_qp_init_attr* attributes);
ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attributes);
int query_qp(ibv_qp* qp, ibv_qp_attr* attributes, ibv_qp_init_attr* asked);
int modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask);
int destroy_qp(ibv_qp* qp);
[[nodiscard]] ibv_qp_state actual_state(Engine& shared, const Qp& qp);
/// Orderly, if it is connected.
void leave(Engine& shared, Qp& qp);

// posting.cpp
int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad);
int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad);
int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind);
/// 0, or why the request is none.
[[nodiscard]] int fill(verbs::ReceiveRequest& request, const ibv_recv_wr& wr);
/// Fills the calls of ibv_wr_start and the like.
void offer_builder(ibv_qp_ex& qp);

}  // namespace rnic::rdma_core
