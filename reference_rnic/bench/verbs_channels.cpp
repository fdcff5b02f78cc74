// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// libibverbs and librdmacm, as any program uses them.
#include <arpa/inet.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include <array>
#include <cstring>
#include <span>
#include <unordered_map>
#include <vector>

#include "reference_rnic/bench/channels.hpp"

namespace rnic::bench {
namespace {

constexpr int access_rights =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;

struct Remote {
  std::uint64_t address = 0;
  std::uint32_t key = 0;
};

class VerbsChannels final : public Channels {
 public:
  explicit VerbsChannels(const Setup& setup) : setup_(setup), memory_(setup.size + sizeof(Remote)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(setup.port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (setup.serves) {
      need(rdma_create_id(nullptr, &listener_, nullptr, RDMA_PS_TCP) == 0, "rdma_create_id");
      need(rdma_bind_addr(listener_, reinterpret_cast<sockaddr*>(&at)) == 0 &&
               rdma_listen(listener_, 64) == 0,
           "rdma_listen");
    }
    for (unsigned i = 0; i < setup.connections; ++i) {
      if (setup.serves)
        accept();
      else
        connect(at);
    }
    learn_region();
  }
  void post(unsigned connection, Operation operation, std::size_t size, unsigned count) override {
    static constexpr std::array opcodes{IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ};
    post_from(0, connection, opcodes[static_cast<std::size_t>(operation)], size, count);
  }
  void flush() override {
    for (Pair& pair : pairs_)
      while (pair.outstanding > 0) reap();
  }
  void receive(unsigned connection, std::size_t, unsigned count) override {
    Pair& pair = pairs_[connection];
    while (pair.received < count) reap();
    pair.received -= count;
    post_receives(pair, count);
  }

 private:
  struct Pair {
    rdma_cm_id* id = nullptr;
    unsigned outstanding = 0, received = 0;
  };
  void accept() {
    rdma_cm_id* id = nullptr;
    need(rdma_get_request(listener_, &id) == 0, "rdma_get_request");
    add(id);
    need(rdma_accept(id, nullptr) == 0 && rdma_migrate_id(id, events_) == 0, "rdma_accept");
  }
  void connect(const sockaddr_in& at) {
    rdma_cm_id* id = nullptr;
    auto* to = reinterpret_cast<sockaddr*>(const_cast<sockaddr_in*>(&at));
    need(rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP) == 0 &&
             rdma_resolve_addr(id, nullptr, to, 2000) == 0 && rdma_resolve_route(id, 2000) == 0,
         "rdma_resolve_route");
    add(id);
    rdma_conn_param parameters{};
    parameters.initiator_depth = parameters.responder_resources = 8;
    need(rdma_connect(id, &parameters) == 0 && rdma_migrate_id(id, events_) == 0, "rdma_connect");
  }
  void add(rdma_cm_id* id) {
    if (queue_ == nullptr) prepare(id);
    ibv_qp_init_attr attributes{};
    attributes.send_cq = attributes.recv_cq = queue_;
    attributes.qp_type = IBV_QPT_RC;
    attributes.cap.max_send_wr = window + 1;
    attributes.cap.max_recv_wr = receives_posted + 1;
    attributes.cap.max_send_sge = attributes.cap.max_recv_sge = 1;
    need(rdma_create_qp(id, domain_, &attributes) == 0, "rdma_create_qp");
    by_number_[id->qp->qp_num] = pairs_.size();
    Pair& pair = pairs_.emplace_back(Pair{.id = id});
    if (pairs_.size() <= setup_.active) post_receives(pair, receives_posted);
  }
  void prepare(rdma_cm_id* id) {
    domain_ = ibv_alloc_pd(id->verbs);
    channel_ = ibv_create_comp_channel(id->verbs);
    queue_ = ibv_create_cq(id->verbs, 1 << 16, nullptr, channel_, 0);
    region_ = ibv_reg_mr(domain_, memory_.data(), memory_.size(), access_rights);
    need(queue_ != nullptr && region_ != nullptr, "objects of verbs");
  }
  void post_from(std::size_t offset, unsigned connection, ibv_wr_opcode opcode, std::size_t size,
                 unsigned count) {
    Pair& pair = pairs_[connection];
    while (pair.outstanding + count > window) reap();
    ibv_sge piece{reinterpret_cast<std::uint64_t>(memory_.data() + offset),
                  static_cast<std::uint32_t>(size), region_->lkey};
    std::array<ibv_send_wr, window> list{};
    for (unsigned i = 0; i < count; ++i) {
      list[i].sg_list = &piece;
      list[i].num_sge = 1;
      list[i].opcode = opcode;
      list[i].wr.rdma = {peer_.address, peer_.key};
      list[i].next = i + 1 < count ? &list[i + 1] : nullptr;
    }
    // The last one completes for all.
    list[count - 1].send_flags = IBV_SEND_SIGNALED;
    list[count - 1].wr_id = count;
    ibv_send_wr* bad = nullptr;
    pair.outstanding += count;
    need(ibv_post_send(pair.id->qp, list.data(), &bad) == 0, "ibv_post_send");
  }
  void post_receives(const Pair& pair, unsigned count) {
    ibv_sge piece{reinterpret_cast<std::uint64_t>(memory_.data()),
                  static_cast<std::uint32_t>(memory_.size()), region_->lkey};
    std::array<ibv_recv_wr, receives_posted> list{};
    for (unsigned i = 0; i < count; ++i) {
      list[i].sg_list = &piece;
      list[i].num_sge = 1;
      list[i].next = i + 1 < count ? &list[i + 1] : nullptr;
    }
    ibv_recv_wr* bad = nullptr;
    need(ibv_post_recv(pair.id->qp, list.data(), &bad) == 0, "ibv_post_recv");
  }
  /// The client needs the server's region.
  void learn_region() {
    if (setup_.serves) {
      const Remote own{reinterpret_cast<std::uint64_t>(memory_.data()), region_->rkey};
      std::memcpy(memory_.data() + setup_.size, &own, sizeof own);
      post_from(setup_.size, 0, IBV_WR_SEND, sizeof own, 1);
      return flush();
    }
    receive(0, sizeof peer_, 1);
    std::memcpy(&peer_, memory_.data(), sizeof peer_);
  }
  /// Takes some completions. If there are none and it blocks: arms the queue, looks again, waits.
  void reap() {
    int count = poll();
    if (count == 0 && !setup_.spins) {
      need(ibv_req_notify_cq(queue_, 0) == 0, "ibv_req_notify_cq");
      count = poll();
      if (count == 0) await_event();
    }
    for (const ibv_wc& each : std::span(taken_).first(static_cast<std::size_t>(count))) {
      need(each.status == IBV_WC_SUCCESS, ibv_wc_status_str(each.status));
      Pair& pair = pairs_[by_number_.at(each.qp_num)];
      if (each.opcode == IBV_WC_RECV)
        ++pair.received;
      else
        pair.outstanding -= static_cast<unsigned>(each.wr_id);
    }
  }

  int poll() { return ibv_poll_cq(queue_, static_cast<int>(taken_.size()), taken_.data()); }

  void await_event() {
    ibv_cq* queue = nullptr;
    void* context = nullptr;
    need(ibv_get_cq_event(channel_, &queue, &context) == 0, "ibv_get_cq_event");
    ibv_ack_cq_events(queue, 1);
  }

  Setup setup_;
  std::array<ibv_wc, 32> taken_{};
  std::vector<std::byte> memory_;
  rdma_cm_id* listener_ = nullptr;
  /// Of connections that are set up: each has a channel of its own until then.
  rdma_event_channel* events_ = rdma_create_event_channel();
  ibv_pd* domain_ = nullptr;
  ibv_comp_channel* channel_ = nullptr;
  ibv_cq* queue_ = nullptr;
  ibv_mr* region_ = nullptr;
  Remote peer_;
  std::vector<Pair> pairs_;
  std::unordered_map<std::uint32_t, std::size_t> by_number_;
};

}  // namespace

std::unique_ptr<Channels> verbs_channels(const Setup& setup) {
  return std::make_unique<VerbsChannels>(setup);
}

}  // namespace rnic::bench
