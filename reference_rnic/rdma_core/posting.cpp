// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Work requests: from ibv_send_wr and ibv_recv_wr, or from the builder of ibv_wr_start, to those of
// the RNIC.
#include <algorithm>
#include <array>
#include <cstring>
#include <expected>

#include "reference_rnic/rdma_core/objects.hpp"
#include "reference_rnic/verbs/work_rules.hpp"

namespace rnic::rdma_core {

namespace {

using verbs::Operation;

struct Mapping {
  Operation operation;
  ibv_wc_opcode completion;
};

std::expected<Mapping, int> mapping_of(const ibv_send_wr& wr) {
  const bool solicited = (wr.send_flags & IBV_SEND_SOLICITED) != 0;
  switch (wr.opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return Mapping{Operation::write, IBV_WC_RDMA_WRITE};
    case IBV_WR_SEND:
      return Mapping{solicited ? Operation::send_solicited : Operation::send, IBV_WC_SEND};
    case IBV_WR_SEND_WITH_INV:
      return Mapping{solicited ? Operation::send_solicited_invalidate : Operation::send_invalidate,
                     IBV_WC_SEND};
    case IBV_WR_RDMA_READ:
      return Mapping{Operation::read, IBV_WC_RDMA_READ};
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return Mapping{Operation::compare_swap, IBV_WC_COMP_SWAP};
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return Mapping{Operation::fetch_add, IBV_WC_FETCH_ADD};
    case IBV_WR_LOCAL_INV:
      return Mapping{Operation::local_invalidate, IBV_WC_LOCAL_INV};
    case IBV_WR_BIND_MW:
      return Mapping{Operation::bind_window, IBV_WC_BIND_MW};
    default:  // a Send with immediate data is none of RFC 7306
      return std::unexpected(EINVAL);
  }
}

verbs::BindRequest bind_request(ibv_mw* mw, const ibv_mw_bind_info& info, std::uint32_t rkey) {
  return {.window = of(mw).window,
          .region = info.mr == nullptr ? verbs::RegionHandle{} : of(info.mr).region,
          .offset = info.addr,
          .length = info.length,
          .access = access_of(info.mw_access_flags),
          .zero_based = (info.mw_access_flags & IBV_ACCESS_ZERO_BASED) != 0,
          .key = static_cast<std::uint8_t>(rkey)};
}

void set_inline(const ibv_send_wr& wr, verbs::SendRequest& request) {
  for (const ibv_sge& sge : std::span(wr.sg_list, static_cast<std::size_t>(wr.num_sge)))
    request.inline_data.emplace_back(
        reinterpret_cast<const std::byte*>(sge.addr),  // NOLINT(performance-no-int-to-ptr)
        sge.length);
}

template <typename Request, typename Work>
int set_pieces(Request& request, const Work& wr) {
  if (wr.num_sge < 0 || wr.num_sge > limits::pieces) return EINVAL;
  request.pieces.reserve(static_cast<std::size_t>(wr.num_sge));
  for (const ibv_sge& sge : std::span(wr.sg_list, static_cast<std::size_t>(wr.num_sge)))
    request.pieces.push_back({.stag = sge.lkey, .offset = sge.addr, .length = sge.length});
  return 0;
}

/// 0, or why the request is none.
int fill(verbs::SendRequest& request, const Qp& qp, const ibv_send_wr& wr, const Mapping& mapping) {
  request.operation = mapping.operation;
  request.remote_stag = wr.wr.rdma.rkey;
  request.remote_offset = wr.wr.rdma.remote_addr;
  request.signaled = qp.asked.sq_sig_all != 0 || (wr.send_flags & IBV_SEND_SIGNALED) != 0;
  request.fence = (wr.send_flags & IBV_SEND_FENCE) != 0;
  const bool copies = (wr.send_flags & IBV_SEND_INLINE) != 0;
  if (copies && mapping.operation == Operation::read) return EINVAL;
  switch (mapping.operation) {
    case Operation::local_invalidate:
      request.invalidate_stag = wr.invalidate_rkey;
      return 0;
    case Operation::bind_window:
      request.bind = bind_request(wr.bind_mw.mw, wr.bind_mw.bind_info, wr.bind_mw.rkey);
      return 0;
    case Operation::compare_swap:
    case Operation::fetch_add:
      request.remote_stag = wr.wr.atomic.rkey;
      request.remote_offset = wr.wr.atomic.remote_addr;
      request.compare = wr.wr.atomic.compare_add;
      request.add_or_swap =
          mapping.operation == Operation::fetch_add ? wr.wr.atomic.compare_add : wr.wr.atomic.swap;
      return set_pieces(request, wr);
    case Operation::send_invalidate:
    case Operation::send_solicited_invalidate:
      request.invalidate_stag = wr.invalidate_rkey;
      [[fallthrough]];
    default:
      if (!copies) return set_pieces(request, wr);
      set_inline(wr, request);
      return 0;
  }
}

/// After the program has left RTS the RNIC closes the stream and takes no more: the work is flushed.
int flush(Qp& qp, const ibv_send_wr& wr, const Mapping& mapping) {
  ibv_wc wc{};
  wc.wr_id = wr.wr_id;
  wc.status = IBV_WC_WR_FLUSH_ERR;
  wc.opcode = mapping.completion;
  wc.qp_num = qp.plain()->qp_num;
  complete(of(qp.asked.send_cq), wc);
  return 0;
}

/// A list of work requests on its way to the RNIC, which gets it at once.
class PostedList {
 public:
  PostedList(Engine& shared, Qp& qp) : shared_(shared), qp_(qp), list_(shared.send_list) {
    list_.requests.clear();
    list_.origins.clear();
  }

  /// 0, or why the request cannot be posted.
  int add(ibv_send_wr& wr) {
    const auto mapping = mapping_of(wr);
    if (!mapping) return mapping.error();
    if (wr.num_sge < 0 || static_cast<std::uint32_t>(wr.num_sge) > qp_.asked.cap.max_send_sge)
      return EINVAL;
    if (flushes()) return flush(qp_, wr, *mapping);
    const bool immediate = wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    const std::size_t before = list_.requests.size();
    int error = add(wr, {.wr_id = wr.wr_id, .opcode = mapping->completion, .first_half = immediate},
                    [&](verbs::SendRequest& request) { return fill(request, qp_, wr, *mapping); });
    if (error == 0 && immediate) error = add_immediate(wr, mapping->completion);
    if (error != 0) {  // a Write and its immediate data: neither without the other
      list_.requests.resize(before);
      list_.origins.resize(before);
    }
    return error;
  }
  /// 0, or why the RNIC would not take all.
  [[nodiscard]] int fault() const {
    const ibv_qp_cap& cap = qp_.asked.cap;
    for (const verbs::SendRequest& request : list_.requests)
      if (const auto error = verbs::fault_in(request, std::max(cap.max_send_sge, cap.max_recv_sge),
                                             cap.max_inline_data))
        return errno_of(*error);
    const ibv_pd* domain = qp_.plain()->pd;
    const bool binds_elsewhere = std::ranges::any_of(list_.origins, [&](const ibv_send_wr* wr) {
      if (wr->opcode != IBV_WR_BIND_MW) return false;
      const ibv_mr* region = wr->bind_mw.bind_info.mr;
      return wr->bind_mw.mw->pd != domain || (region != nullptr && region->pd != domain);
    });
    return binds_elsewhere ? EINVAL : 0;
  }
  /// 0, or why the RNIC has not taken all; `bad` is then the first that it has not.
  int post(ibv_send_wr** bad) {
    const auto done = shared_.rnic().post_send(qp_.pair, list_.requests);
    const std::size_t taken = done ? list_.requests.size() : done.error().index;
    qp_.next_send += taken;
    if (done) return 0;
    *bad = list_.origins[taken];
    return errno_of(done.error().error);
  }

 private:
  [[nodiscard]] bool flushes() const {
    if (!qp_.leaving) return false;
    const auto info = shared_.rnic().query_queue_pair(qp_.pair);
    return info && info->state != verbs::QueuePairState::error;
  }
  template <typename Fill>
  int add(ibv_send_wr& wr, const PostedSend& posted, const Fill& fill_in) {
    const std::uint64_t id = qp_.next_send + list_.requests.size();
    if (id - qp_.first_unpolled >= qp_.most_posted) return ENOMEM;
    if (qp_.posted.empty()) qp_.posted.resize(qp_.most_posted);
    verbs::SendRequest& request = list_.requests.emplace_back();
    list_.origins.push_back(&wr);
    request.id = id;
    if (const int error = fill_in(request); error != 0) return error;
    qp_.posted[id % qp_.posted.size()] = posted;
    return 0;
  }
  /// After the Write an Immediate Data message (RFC 7306 section 6): the first four of its eight
  /// octets carry imm_data.
  int add_immediate(ibv_send_wr& wr, ibv_wc_opcode completion) {
    const PostedSend posted{.wr_id = wr.wr_id, .opcode = completion, .second_half = true};
    return add(wr, posted, [&](verbs::SendRequest& request) {
      verbs::SendRequest& write = list_.requests[list_.requests.size() - 2];
      request.operation = (wr.send_flags & IBV_SEND_SOLICITED) != 0 ? Operation::immediate_solicited
                                                                    : Operation::immediate;
      request.signaled = std::exchange(write.signaled, false);
      std::memcpy(request.immediate.data(), &wr.imm_data, sizeof wr.imm_data);
      return 0;
    });
  }

  Engine& shared_;
  Qp& qp_;
  Engine::SendList& list_;
};

}  // namespace

int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad) {
  return call([&](Engine& shared, Engine::Lock&) {
    PostedList list(shared, of(qp));
    int refused = 0;
    for (; wr != nullptr && refused == 0; wr = wr->next) {
      *bad = wr;
      refused = list.add(*wr);
    }
    const int failed = list.post(bad);
    return failed != 0 ? failed : refused;
  });
}

int fill(verbs::ReceiveRequest& request, const ibv_recv_wr& wr) {
  request.id = wr.wr_id;
  return set_pieces(request, wr);
}

int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad) {
  return call([&](Engine& shared, Engine::Lock&) {
    for (; wr != nullptr; wr = wr->next) {
      *bad = wr;
      verbs::ReceiveRequest request;
      if (const int error = fill(request, *wr); error != 0) return error;
      const auto done = shared.rnic().post_receive(of(qp).pair, std::span(&request, 1));
      if (!done) return errno_of(done.error().error);
    }
    return 0;
  });
}

int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind) {
  if (mw->type != IBV_MW_TYPE_1) return EINVAL;
  const std::uint32_t rkey = ibv_inc_rkey(mw->rkey);
  ibv_send_wr wr{};
  wr.wr_id = bind->wr_id;
  wr.opcode = IBV_WR_BIND_MW;
  wr.send_flags = bind->send_flags;
  wr.bind_mw = {.mw = mw, .rkey = rkey, .bind_info = bind->bind_info};
  ibv_send_wr* bad = nullptr;
  const int result = post_send(qp, &wr, &bad);
  if (result == 0) mw->rkey = rkey;
  return result;
}

// ---- the builder ----

namespace {

Qp& of(ibv_qp_ex* qp) { return *reinterpret_cast<Qp*>(qp); }

/// After ibv_wr_start; the other calls are no use before it.
Qp::Building& building_of(ibv_qp_ex* qp) { return *of(qp).building; }

/// ibv_wr_complete reports the first.
void fail(Qp::Building& building, int error) {
  if (building.error == 0) building.error = error;
}

ibv_send_wr& begin(ibv_qp_ex* qp, ibv_wr_opcode opcode) {
  Qp::Building& building = building_of(qp);
  ibv_send_wr& wr = building.requests.emplace_back();
  wr.wr_id = qp->wr_id;
  wr.send_flags = qp->wr_flags;
  wr.opcode = opcode;
  return wr;
}

void set_sges(ibv_qp_ex* qp, std::vector<ibv_sge> list, unsigned flags) {
  Qp::Building& building = building_of(qp);
  if (building.requests.empty()) return fail(building, EINVAL);
  std::vector<ibv_sge>& kept = building.pieces.emplace_back(std::move(list));
  ibv_send_wr& wr = building.requests.back();
  wr.sg_list = kept.data();
  wr.num_sge = static_cast<int>(kept.size());
  wr.send_flags |= flags;
}

void set_copy(ibv_qp_ex* qp, std::span<const ibv_data_buf> buffers) {
  Qp::Building& building = building_of(qp);
  std::vector<std::byte>& copy = building.copies.emplace_back();
  for (const ibv_data_buf& buffer : buffers) {
    const auto* first = static_cast<const std::byte*>(buffer.addr);
    copy.insert(copy.end(), first, first + buffer.length);
  }
  const ibv_sge sge{.addr = reinterpret_cast<std::uintptr_t>(copy.data()),
                    .length = static_cast<std::uint32_t>(copy.size()),
                    .lkey = 0};
  set_sges(qp, {sge}, IBV_SEND_INLINE);
}

/// All of them or, where one cannot be posted, none (ibv_wr_complete(3), Return value).
int post_built(ibv_qp_ex* qp) {
  const auto building = std::exchange(of(qp).building, nullptr);
  if (building->error != 0) return building->error;
  return call([&](Engine& shared, Engine::Lock&) {
    PostedList list(shared, of(qp));
    for (ibv_send_wr& wr : building->requests)
      if (const int error = list.add(wr); error != 0) return error;
    if (const int error = list.fault(); error != 0) return error;
    ibv_send_wr* bad = nullptr;
    return list.post(&bad);
  });
}

void to(ibv_send_wr& wr, std::uint32_t rkey, std::uint64_t address) {
  wr.wr.rdma.rkey = rkey;
  wr.wr.rdma.remote_addr = address;
}

void refuse(ibv_qp_ex* qp) { fail(building_of(qp), EOPNOTSUPP); }

}  // namespace

void offer_builder(ibv_qp_ex& shown) {
  shown.wr_start = [](ibv_qp_ex* qp) {
    std::unique_lock alone(of(qp).builder);
    of(qp).building = std::make_unique<Qp::Building>();
    of(qp).building->alone = std::move(alone);
  };
  shown.wr_complete = post_built;
  shown.wr_abort = [](ibv_qp_ex* qp) { of(qp).building.reset(); };
  shown.wr_rdma_write = [](ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address) {
    to(begin(qp, IBV_WR_RDMA_WRITE), rkey, address);
  };
  shown.wr_rdma_write_imm = [](ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address,
                               __be32 immediate) {
    ibv_send_wr& wr = begin(qp, IBV_WR_RDMA_WRITE_WITH_IMM);
    to(wr, rkey, address);
    wr.imm_data = immediate;
  };
  shown.wr_rdma_read = [](ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address) {
    to(begin(qp, IBV_WR_RDMA_READ), rkey, address);
  };
  shown.wr_send = [](ibv_qp_ex* qp) { begin(qp, IBV_WR_SEND); };
  shown.wr_send_inv = [](ibv_qp_ex* qp, std::uint32_t rkey) {
    begin(qp, IBV_WR_SEND_WITH_INV).invalidate_rkey = rkey;
  };
  shown.wr_local_inv = [](ibv_qp_ex* qp, std::uint32_t rkey) {
    begin(qp, IBV_WR_LOCAL_INV).invalidate_rkey = rkey;
  };
  shown.wr_bind_mw = [](ibv_qp_ex* qp, ibv_mw* mw, std::uint32_t rkey,
                        const ibv_mw_bind_info* info) {
    begin(qp, IBV_WR_BIND_MW).bind_mw = {.mw = mw, .rkey = rkey, .bind_info = *info};
  };
  shown.wr_atomic_cmp_swp = [](ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address,
                               std::uint64_t compare, std::uint64_t swap) {
    begin(qp, IBV_WR_ATOMIC_CMP_AND_SWP).wr.atomic = {
        .remote_addr = address, .compare_add = compare, .swap = swap, .rkey = rkey};
  };
  shown.wr_atomic_fetch_add = [](ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address,
                                 std::uint64_t add) {
    begin(qp, IBV_WR_ATOMIC_FETCH_AND_ADD).wr.atomic = {
        .remote_addr = address, .compare_add = add, .swap = 0, .rkey = rkey};
  };
  shown.wr_set_sge = [](ibv_qp_ex* qp, std::uint32_t lkey, std::uint64_t address,
                        std::uint32_t length) {
    set_sges(qp, {{.addr = address, .length = length, .lkey = lkey}}, 0);
  };
  shown.wr_set_sge_list = [](ibv_qp_ex* qp, std::size_t count, const ibv_sge* list) {
    set_sges(qp, {list, list + count}, 0);
  };
  shown.wr_set_inline_data = [](ibv_qp_ex* qp, void* address, std::size_t length) {
    const ibv_data_buf buffer{.addr = address, .length = length};
    set_copy(qp, std::span(&buffer, 1));
  };
  shown.wr_set_inline_data_list = [](ibv_qp_ex* qp, std::size_t count, const ibv_data_buf* list) {
    set_copy(qp, {list, count});
  };
  // What iWARP does not have.
  shown.wr_send_imm = [](ibv_qp_ex* qp, __be32) { refuse(qp); };
  shown.wr_send_tso = [](ibv_qp_ex* qp, void*, std::uint16_t, std::uint16_t) { refuse(qp); };
  shown.wr_set_ud_addr = [](ibv_qp_ex* qp, ibv_ah*, std::uint32_t, std::uint32_t) { refuse(qp); };
  shown.wr_set_xrc_srqn = [](ibv_qp_ex* qp, std::uint32_t) { refuse(qp); };
  shown.wr_atomic_write = [](ibv_qp_ex* qp, std::uint32_t, std::uint64_t, const void*) {
    refuse(qp);
  };
}

}  // namespace rnic::rdma_core
