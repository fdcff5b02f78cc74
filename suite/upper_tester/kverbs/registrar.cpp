// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Registers memory by IB_WR_REG_MR, which needs a connected queue pair: regions exist before the
// connections that a test makes, and an STag belongs to the domain, not to a connection. So each
// domain has a connection of the device with itself.
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "suite/upper_tester/common_replies.hpp"
#include "suite/upper_tester/kverbs/kverbs_driver.hpp"
#include "suite/upper_tester/verbs/names.hpp"

namespace suite::upper_tester::kverbs {

using verbs::failed;

namespace {

constexpr std::uint32_t depth = 16;
constexpr std::uint32_t resolve_deadline_ms = 5000;
// Nothing leaves the host for it; an emulated guest on a busy host is slow all the same.
constexpr std::chrono::seconds deadline{20};

int make_pair(const KernelFile& file, std::uint32_t domain, std::uint32_t completions,
              std::uint32_t& handle) {
  rnic_kagent_qp made{};
  made.pd = domain;
  made.cq = completions;
  made.max_send_wr = made.max_recv_wr = depth;
  made.max_send_sge = made.max_recv_sge = 1;
  if (const int error = file.call(RNIC_KAGENT_CREATE_QP, made); error != 0) return error;
  handle = made.handle;
  return 0;
}

}  // namespace

int KverbsDriver::start_registrar(Domain& domain) {
  Registrar& registrar = domain.registrar;
  rnic_kagent_cq completions{};
  completions.entries = 4 * depth;
  if (const int error = file_.call(RNIC_KAGENT_CREATE_CQ, completions); error != 0) return error;
  registrar.completions = completions.handle;
  for (Object* pair : {&registrar.active_pair, &registrar.passive_pair}) {
    if (const int error = make_pair(file_, domain.object, completions.handle, *pair); error != 0)
      return error;
    if (const int error = modify(*pair, RNIC_KAGENT_QPS_INIT, access_of({})); error != 0)
      return error;
  }
  rnic_kagent_object id{};
  if (const int error = file_.call(RNIC_KAGENT_CREATE_ID, id); error != 0) return error;
  registrar.listener = id.handle;
  const sockaddr_storage own = *socket_address(options_.addresses.front(), 0);
  rnic_kagent_bind bind{};
  bind.id = id.handle;
  bind.backlog = 1;
  std::memcpy(bind.address, &own, sizeof bind.address);
  if (const int error = file_.call(RNIC_KAGENT_BIND, bind); error != 0) return error;

  id = {};
  if (const int error = file_.call(RNIC_KAGENT_CREATE_ID, id); error != 0) return error;
  registrar.active_id = id.handle;
  rnic_kagent_resolve resolve{};
  resolve.id = id.handle;
  resolve.timeout_ms = resolve_deadline_ms;
  std::memcpy(resolve.source, &own, sizeof resolve.source);
  std::memcpy(resolve.address, bind.address, sizeof resolve.address);
  return file_.call(RNIC_KAGENT_RESOLVE_ADDR, resolve);
}

/// 0 or an errno; what was made remains for destroy_registrar. Work is posted at the active end
/// alone, so the passive one is not waited for: siw tells it nothing if an RTR indication comes
/// before siw has made ready for it, which a connection of a device with itself often has.
int KverbsDriver::connect_registrar(Domain& domain) {
  Registrar& registrar = domain.registrar;
  if (const int error = start_registrar(domain); error != 0) return error;
  return await(registrar, [&registrar] { return registrar.established; });
}

/// Takes events, those of others too, until it is done. 0 or an errno.
int KverbsDriver::await(const Registrar& registrar, const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (!done()) {
    if (registrar.failed) return ECONNABORTED;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return ETIMEDOUT;
    take_events(static_cast<int>(left.count()));
  }
  return 0;
}

void KverbsDriver::destroy_registrar(Registrar& registrar) {
  for (const Object object : {registrar.listener, registrar.active_pair, registrar.passive_pair,
                              registrar.active_id, registrar.passive_id, registrar.completions})
    static_cast<void>(file_.destroy(object));
  registrar = Registrar{};
}

KverbsDriver::Domain* KverbsDriver::domain_of_registrar(Object object) {
  for (auto& [handle, domain] : domains_) {
    const Registrar& own = domain.registrar;
    for (const Object each :
         {own.listener, own.active_pair, own.passive_pair, own.active_id, own.passive_id})
      if (each == object) return &domain;
  }
  return nullptr;
}

void KverbsDriver::take(Registrar& registrar, const rnic_kagent_event& event) {
  if (event.type == RNIC_KAGENT_EVENT_COMPLETION) {
    if (event.wr_id == registrar.posted) registrar.status = event.status;
    return;
  }
  if (event.type != RNIC_KAGENT_EVENT_CM) {
    registrar.failed = true;
    return;
  }
  rnic_kagent_connect connect{};
  connect.responder_resources = connect.initiator_depth = 1;
  int error = 0;
  switch (event.code) {
    case RDMA_CM_EVENT_ADDR_RESOLVED: {
      rnic_kagent_resolve_route route{};
      route.id = registrar.active_id;
      route.timeout_ms = resolve_deadline_ms;
      error = file_.call(RNIC_KAGENT_RESOLVE_ROUTE, route);
      break;
    }
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      connect.id = registrar.active_id;
      connect.qp = registrar.active_pair;
      error = file_.call(RNIC_KAGENT_CONNECT, connect);
      break;
    case RDMA_CM_EVENT_CONNECT_REQUEST:
      registrar.passive_id = connect.id = event.new_id;
      connect.qp = registrar.passive_pair;
      error = file_.call(RNIC_KAGENT_ACCEPT, connect);
      static_cast<void>(file_.destroy(registrar.listener));
      registrar.listener = 0;
      break;
    case RDMA_CM_EVENT_CONNECT_RESPONSE:  // of InfiniBand
      connect.id = registrar.active_id;
      connect.qp = registrar.active_pair;
      error = file_.call(RNIC_KAGENT_ESTABLISH, connect);
      if (error == 0) registrar.established = true;
      break;
    case RDMA_CM_EVENT_ESTABLISHED:
      if (event.handle == registrar.active_id) registrar.established = true;
      break;
    case RDMA_CM_EVENT_TIMEWAIT_EXIT:
      break;
    default:
      error = ECONNABORTED;
  }
  if (error != 0) registrar.failed = true;
}

/// Makes a mapped region valid under this key. A connection that has failed is made again once.
iut::Reply KverbsDriver::register_by_work(Domain& domain, Object region, std::uint32_t key,
                                          const iut::Access& access) {
  Registrar& registrar = domain.registrar;
  if (registrar.failed || !registrar.established) {
    destroy_registrar(registrar);
    if (const int error = connect_registrar(domain); error != 0) {
      destroy_registrar(registrar);
      return failed("the connection of the device with itself, through which memory is registered",
                    error);
    }
  }
  rnic_kagent_send request{};
  request.wr_id = registrar.posted = next_number_++;
  request.qp = registrar.active_pair;
  request.opcode = RNIC_KAGENT_WR_REG_MR;
  request.mr = region;
  request.key = key;
  request.access = static_cast<std::uint32_t>(verbs::access_flags(access));
  registrar.status.reset();
  if (const int error = file_.call(RNIC_KAGENT_POST_SEND, request); error != 0)
    return failed("ib_post_send IB_WR_REG_MR", error);
  if (const int error = await(registrar, [&registrar] { return registrar.status.has_value(); });
      error != 0)
    return failed("IB_WR_REG_MR does not complete", error);
  if (*registrar.status == IBV_WC_SUCCESS) return iut::Reply{};
  registrar.failed = true;
  return refused(std::string("IB_WR_REG_MR completes with ") +
                     ibv_wc_status_str(static_cast<ibv_wc_status>(*registrar.status)),
                 EIO);
}

}  // namespace suite::upper_tester::kverbs
