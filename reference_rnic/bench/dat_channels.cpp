// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// DAT 2.0: libdat2 and the provider that dat.conf names.
#include <dat2/udat.h>

#include <array>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "reference_rnic/bench/channels.hpp"

namespace rnic::bench {
namespace {

void must(DAT_RETURN result, const char* what) { need(result == DAT_SUCCESS, what); }

class DatChannels final : public Channels {
 public:
  explicit DatChannels(const Setup& setup)
      : setup_(setup), memory_(setup.size + sizeof(DAT_RMR_TRIPLET)) {
    std::array<char, 6> name{"rnic0"};
    must(dat_ia_open(name.data(), 16, &async_, &ia_), "dat_ia_open");
    must(dat_pz_create(ia_, &pz_), "dat_pz_create");
    register_memory();
    connections_ = evd(DAT_EVD_CONNECTION_FLAG);
    requests_ = evd(DAT_EVD_CR_FLAG);
    for (unsigned i = 0; i < setup.connections; ++i) add_endpoint();
    if (setup.serves)
      must(dat_psp_create(ia_, setup.port, requests_, DAT_PSP_CONSUMER_FLAG, &psp_),
           "dat_psp_create");
    for (Endpoint& endpoint : endpoints_) setup.serves ? accept(endpoint) : connect(endpoint);
    learn_region();
  }
  ~DatChannels() override { dat_ia_close(ia_, DAT_CLOSE_ABRUPT_FLAG); }
  DatChannels(const DatChannels&) = delete;
  DatChannels& operator=(const DatChannels&) = delete;

  void post(unsigned connection, Operation operation, std::size_t size, unsigned count) override {
    for (unsigned i = 0; i < count; ++i) post_one(endpoints_[connection], operation, size);
  }
  void flush() override {
    for (Endpoint& endpoint : endpoints_)
      while (endpoint.outstanding > 0) reap(endpoint);
  }
  void receive(unsigned connection, std::size_t, unsigned count) override {
    Endpoint& endpoint = endpoints_[connection];
    for (unsigned i = 0; i < count; ++i) {
      take(endpoint.received, DAT_DTO_COMPLETION_EVENT);
      post_receive(endpoint);
    }
  }

 private:
  struct Endpoint {
    DAT_EP_HANDLE ep{};
    DAT_EVD_HANDLE received{}, sent{};
    unsigned outstanding = 0;
  };
  void post_one(Endpoint& endpoint, Operation operation, std::size_t size) {
    if (endpoint.outstanding == window) reap(endpoint);
    DAT_LMR_TRIPLET local = segment(0, size);
    const DAT_RMR_TRIPLET remote{peer_.virtual_address, static_cast<DAT_SEG_LENGTH>(size),
                                 peer_.rmr_context};
    constexpr auto flags = DAT_COMPLETION_DEFAULT_FLAG;
    ++endpoint.outstanding;
    switch (operation) {
      case Operation::send:
        return must(dat_ep_post_send(endpoint.ep, 1, &local, {}, flags), "dat_ep_post_send");
      case Operation::write:
        return must(dat_ep_post_rdma_write(endpoint.ep, 1, &local, {}, &remote, flags),
                    "dat_ep_post_rdma_write");
      case Operation::read:
        return must(dat_ep_post_rdma_read(endpoint.ep, 1, &local, {}, &remote, flags),
                    "dat_ep_post_rdma_read");
    }
  }
  DAT_EVD_HANDLE evd(unsigned flags) {
    DAT_EVD_HANDLE made{};
    must(dat_evd_create(ia_, 256, DAT_HANDLE_NULL, static_cast<DAT_EVD_FLAGS>(flags), &made),
         "dat_evd_create");
    return made;
  }
  void register_memory() {
    DAT_REGION_DESCRIPTION where{};
    where.for_va = memory_.data();
    DAT_VLEN length = 0;
    must(dat_lmr_create(ia_, DAT_MEM_TYPE_VIRTUAL, where, memory_.size(), pz_,
                        DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &lmr_, &context_, &own_.rmr_context,
                        &length, &own_.virtual_address),
         "dat_lmr_create");
  }
  [[nodiscard]] DAT_LMR_TRIPLET segment(std::size_t offset, std::size_t size) const {
    return {own_.virtual_address + offset, static_cast<DAT_SEG_LENGTH>(size), context_};
  }
  void add_endpoint() {
    Endpoint& endpoint = endpoints_.emplace_back();
    endpoint.received = evd(DAT_EVD_DTO_FLAG);
    endpoint.sent = evd(DAT_EVD_DTO_FLAG);
    DAT_EP_ATTR attributes{};
    attributes.service_type = DAT_SERVICE_TYPE_RC;
    attributes.max_mtu_size = attributes.max_rdma_size = 1U << 30;
    attributes.max_recv_dtos = static_cast<DAT_COUNT>(receives_posted) + 1;
    attributes.max_request_dtos = static_cast<DAT_COUNT>(window) + 1;
    attributes.max_recv_iov = attributes.max_request_iov = 1;
    attributes.max_rdma_read_iov = attributes.max_rdma_write_iov = 1;
    attributes.max_rdma_read_in = attributes.max_rdma_read_out = 8;
    must(dat_ep_create(ia_, pz_, endpoint.received, endpoint.sent, connections_, &attributes,
                       &endpoint.ep),
         "dat_ep_create");
    for (unsigned i = 0; i < receives_posted && endpoints_.size() <= setup_.active; ++i)
      post_receive(endpoint);
  }
  void post_receive(Endpoint& endpoint) {
    DAT_LMR_TRIPLET local = segment(0, memory_.size());
    must(dat_ep_post_recv(endpoint.ep, 1, &local, {}, DAT_COMPLETION_DEFAULT_FLAG),
         "dat_ep_post_recv");
  }
  void accept(Endpoint& endpoint) {
    const DAT_EVENT asked = take(requests_, DAT_CONNECTION_REQUEST_EVENT);
    must(dat_cr_accept(asked.event_data.cr_arrival_event_data.cr_handle, endpoint.ep, 0, nullptr),
         "dat_cr_accept");
    take(connections_, DAT_CONNECTION_EVENT_ESTABLISHED);
  }
  void connect(Endpoint& endpoint) {
    DAT_IA_ATTR attr{};
    must(dat_ia_query(ia_, nullptr, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0, nullptr),
         "dat_ia_query");
    must(dat_ep_connect(endpoint.ep, attr.ia_address_ptr, setup_.port, 10'000'000, 0, nullptr,
                        DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
         "dat_ep_connect");
    take(connections_, DAT_CONNECTION_EVENT_ESTABLISHED);
  }
  /// The client needs the server's region.
  void learn_region() {
    if (setup_.serves) {
      std::memcpy(memory_.data() + setup_.size, &own_, sizeof own_);
      DAT_LMR_TRIPLET local = segment(setup_.size, sizeof own_);
      must(dat_ep_post_send(endpoints_[0].ep, 1, &local, {}, DAT_COMPLETION_DEFAULT_FLAG),
           "dat_ep_post_send");
      ++endpoints_[0].outstanding;
      return flush();
    }
    receive(0, sizeof peer_, 1);
    std::memcpy(&peer_, memory_.data(), sizeof peer_);
  }
  void reap(Endpoint& endpoint) {
    take(endpoint.sent, DAT_DTO_COMPLETION_EVENT);
    --endpoint.outstanding;
  }
  DAT_EVENT next(DAT_EVD_HANDLE evd) const {
    DAT_EVENT event{};
    DAT_COUNT more = 0;
    if (!setup_.spins) {
      must(dat_evd_wait(evd, 60'000'000, 1, &event, &more), "dat_evd_wait");
      return event;
    }
    while (dat_evd_dequeue(evd, &event) != DAT_SUCCESS) {
    }
    return event;
  }
  DAT_EVENT take(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number) const {
    const DAT_EVENT event = next(evd);
    if (event.event_number != number)
      fail(fmt::format("event {:#x} came instead of {:#x}",
                       static_cast<unsigned>(event.event_number), static_cast<unsigned>(number)));
    if (number == DAT_DTO_COMPLETION_EVENT) {
      const auto status = event.event_data.dto_completion_event_data.status;
      if (status != DAT_DTO_SUCCESS)
        fail(fmt::format("a DTO failed with status {}", static_cast<int>(status)));
    }
    return event;
  }

  Setup setup_;
  std::vector<std::byte> memory_;
  DAT_IA_HANDLE ia_{};
  DAT_EVD_HANDLE async_{}, connections_{}, requests_{};
  DAT_PZ_HANDLE pz_{};
  DAT_PSP_HANDLE psp_{};
  DAT_LMR_HANDLE lmr_{};
  DAT_LMR_CONTEXT context_{};
  DAT_RMR_TRIPLET own_{}, peer_{};
  std::vector<Endpoint> endpoints_;
};

}  // namespace

std::unique_ptr<Channels> dat_channels(const Setup& setup) {
  return std::make_unique<DatChannels>(setup);
}

}  // namespace rnic::bench
