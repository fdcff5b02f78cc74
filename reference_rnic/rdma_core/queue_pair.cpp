// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Queue pairs: made, brought to a state, queried, destroyed. An iWARP queue pair reaches RTS when the
// connection manager connects it, not by ibv_modify_qp.
#include "reference_rnic/rdma_core/objects.hpp"

#include <algorithm>
#include <chrono>

#include "reference_rnic/rdma_core/async_events.hpp"
#include "reference_rnic/rdma_core/rdma_cm_id.hpp"

namespace rnic::rdma_core {

namespace {

using namespace std::chrono_literals;

/// How long the destruction of a queue pair waits for the work that its program posted before.
constexpr auto longest_farewell = 2s;

int fault_in(const ibv_qp_init_attr& asked) {
  ibv_qp_cap cap = asked.cap;
  if (asked.srq != nullptr) cap.max_recv_wr = cap.max_recv_sge = 0;  // they are ignored
  if (asked.qp_type != IBV_QPT_RC) return EOPNOTSUPP;                // iWARP has no datagrams
  if (asked.send_cq == nullptr || asked.recv_cq == nullptr) return EINVAL;
  const bool fits = cap.max_send_wr <= limits::work_requests &&
                    cap.max_recv_wr <= limits::work_requests &&
                    cap.max_send_sge <= limits::pieces && cap.max_recv_sge <= limits::pieces &&
                    cap.max_inline_data <= limits::inline_octets;
  return fits ? 0 : EINVAL;
}

int add_pair(Engine& shared, Qp& qp, verbs::DomainHandle domain) {
  const ibv_qp_init_attr& asked = qp.asked;
  verbs::QueuePairAttributes attributes{
      .domain = domain,
      .send_completions = of(asked.send_cq).queue,
      .receive_completions = of(asked.recv_cq).queue,
      // A Write with immediate data is two requests of the RNIC.
      .send_depth = 2 * asked.cap.max_send_wr,
      .receive_depth = asked.cap.max_recv_wr,
      .max_pieces =
          std::max(asked.cap.max_send_sge, asked.srq != nullptr ? 1 : asked.cap.max_recv_sge),
      .max_inline = asked.cap.max_inline_data};
  if (asked.srq != nullptr) attributes.shared_queue = of(asked.srq).queue;
  const auto pair = shared.rnic().create_queue_pair(attributes);
  if (!pair) return errno_of(pair.error());
  qp.pair = *pair;
  return 0;
}

void show(Engine& shared, Qp& qp, ibv_context* context, ibv_pd* pd) {
  ibv_qp& shown = *qp.plain();
  shown.context = context;
  shown.qp_context = qp.asked.qp_context;
  shown.pd = pd;
  shown.send_cq = qp.asked.send_cq;
  shown.recv_cq = qp.asked.recv_cq;
  shown.srq = qp.asked.srq;
  shown.handle = shown.qp_num = shared.next_number++;
  shown.state = IBV_QPS_RESET;
  shown.qp_type = qp.asked.qp_type;
  prepare_events(shown);
  offer_builder(qp.shown);
  shared.qp_by_handle[qp.pair.get().value] = &qp;
  shared.qp_by_number[shown.qp_num] = &qp;
}

/// The state to which the program brings the queue pair: what it may ask from where.
int move(Engine& shared, Qp& qp, ibv_qp_state next) {
  const ibv_qp_state before = actual_state(shared, qp);
  switch (next) {
    case IBV_QPS_RESET:
      if (!shared.rnic().reset_queue_pair(qp.pair)) return EINVAL;
      qp.established = qp.leaving = qp.first_half_failed = false;
      break;
    case IBV_QPS_INIT:
      if (before == IBV_QPS_RTS) return 0;  // the connection has brought it further already
      if (before != IBV_QPS_RESET && before != IBV_QPS_INIT) return EINVAL;
      break;
    case IBV_QPS_RTR:
      if (before == IBV_QPS_RTS) return 0;
      if (before != IBV_QPS_INIT) return EINVAL;
      break;
    case IBV_QPS_RTS:
      return before == IBV_QPS_RTS ? 0 : EINVAL;  // there is no stream without a connection
    case IBV_QPS_SQD:
      leave(shared, qp);
      break;
    case IBV_QPS_ERR:
      if (qp.established)
        static_cast<void>(shared.manager().disconnect(qp.pair, true));
      else if (!shared.manager().is_connecting(qp.pair))
        static_cast<void>(shared.rnic().abort(qp.pair));
      break;
    default:
      return EINVAL;
  }
  qp.state = next;
  return 0;
}

}  // namespace

ibv_qp_state actual_state(Engine& shared, const Qp& qp) {
  const auto info = shared.rnic().query_queue_pair(qp.pair);
  if (!info) return IBV_QPS_ERR;
  switch (info->state) {
    case verbs::QueuePairState::idle:
      return qp.state == IBV_QPS_ERR ? IBV_QPS_ERR : qp.state;
    case verbs::QueuePairState::rts:
      return qp.leaving ? qp.state : IBV_QPS_RTS;
    case verbs::QueuePairState::closing:
      return qp.state == IBV_QPS_ERR ? IBV_QPS_ERR : IBV_QPS_SQD;
    case verbs::QueuePairState::terminate:
    case verbs::QueuePairState::error:
      break;
  }
  return IBV_QPS_ERR;
}

/// librdmacm brings an iWARP queue pair to SQD before it disconnects. That is no fault: no Terminate
/// is due, and what was posted before still goes out (RFC 5040 section 6.2, RFC 5041 section 6.1).
void leave(Engine& shared, Qp& qp) {
  if (std::exchange(qp.leaving, true)) return;
  static_cast<void>(shared.manager().disconnect(qp.pair, false));
}

ibv_qp* create_qp(ibv_context* context, ibv_pd* pd, ibv_qp_init_attr* asked) {
  if (const int fault = fault_in(*asked); fault != 0) {
    errno = fault;
    return nullptr;
  }
  Qp* made = make<Qp>([&](Engine& shared, Qp& qp) {
    const verbs::DomainHandle domain = of(pd).domain;
    ibv_qp_cap& cap = asked->cap;
    for (std::uint32_t* least :
         {&cap.max_send_wr, &cap.max_recv_wr, &cap.max_send_sge, &cap.max_recv_sge})
      *least = std::max(*least, 1U);
    cap.max_inline_data = std::max(cap.max_inline_data, limits::least_inline_octets);
    qp.asked = *asked;
    qp.most_posted = std::size_t{2} * cap.max_send_wr;
    if (const int error = add_pair(shared, qp, domain); error != 0) return error;
    show(shared, qp, context, pd);
    return 0;
  });
  return made == nullptr ? nullptr : made->plain();
}

ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* asked) {
  constexpr std::uint32_t offered = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  constexpr std::uint64_t operations =
      IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |
      IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
      IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW |
      IBV_QP_EX_WITH_SEND_WITH_INV;
  const bool with_operations = (asked->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
  if ((asked->comp_mask & ~offered) != 0 ||
      (with_operations && (asked->send_ops_flags & ~operations) != 0)) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  if ((asked->comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || asked->pd == nullptr) {
    errno = EINVAL;
    return nullptr;
  }
  ibv_qp_init_attr plain{.qp_context = asked->qp_context,
                         .send_cq = asked->send_cq,
                         .recv_cq = asked->recv_cq,
                         .srq = asked->srq,
                         .cap = asked->cap,
                         .qp_type = asked->qp_type,
                         .sq_sig_all = asked->sq_sig_all};
  ibv_qp* made = create_qp(context, asked->pd, &plain);
  if (made != nullptr) asked->cap = plain.cap;
  return made;
}

int query_qp(ibv_qp* qp, ibv_qp_attr* attributes, ibv_qp_init_attr* asked) {
  return call([&](Engine& shared, Engine::Lock&) {
    Qp& ours = of(qp);
    *attributes = {};
    attributes->qp_state = attributes->cur_qp_state = qp->state = actual_state(shared, ours);
    attributes->path_mtu = IBV_MTU_1024;
    attributes->qp_access_flags = ours.access;
    attributes->cap = ours.asked.cap;
    attributes->port_num = 1;
    attributes->max_rd_atomic = attributes->max_dest_rd_atomic = limits::read_depth;
    *asked = ours.asked;
    return 0;
  });
}

int modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask) {
  return call([&](Engine& shared, Engine::Lock&) {
    Qp& ours = of(qp);
    if ((mask & IBV_QP_STATE) != 0) {
      if (const int error = move(shared, ours, attributes->qp_state); error != 0) return error;
      qp->state = attributes->qp_state;
    }
    if ((mask & IBV_QP_ACCESS_FLAGS) == 0) return 0;
    ours.access = attributes->qp_access_flags;
    return shared.rnic().set_access(ours.pair, access_of(ours.access)) ? 0 : EINVAL;
  });
}

int destroy_qp(ibv_qp* qp) {
  Qp& ours = of(qp);
  const int result = call([&](Engine& shared, Engine::Lock& lock) {
    if (!ours.pair.get()) return EINVAL;  // the parent's
    const auto idle = [&] {
      const auto info = shared.rnic().query_queue_pair(ours.pair);
      return !info || !info->connected || info->sends_outstanding == 0;
    };
    if (ours.established) leave(shared, ours);
    shared.wait(lock, shared.changed, access::Wakeup::Clock::now() + longest_farewell, idle);
    shared.manager().leave(ours.pair);
    if (ours.id != nullptr) ours.id->pair_gone();
    static_cast<void>(shared.rnic().destroy_queue_pair(ours.pair));
    shared.qp_by_handle.erase(ours.pair.get().value);
    shared.qp_by_number.erase(qp->qp_num);
    forget_events(qp->context, qp);
    return 0;
  });
  if (result != 0) return result;
  await_acknowledgements(*qp, [&] { return qp->events_completed == ours.events_reported; });
  delete &ours;
  return 0;
}

}  // namespace rnic::rdma_core
