// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The calls on IAs: open, query, close, relations.
#include <algorithm>
#include <array>
#include <cstring>

#include "reference_rnic/dat/calls.hpp"
#include "reference_rnic/dat/registry.hpp"
#include "reference_rnic/dat/rnic_dat_extensions.h"

namespace rnic::dat::calls {

namespace {

void copy_name(char (&to)[DAT_NAME_MAX_LENGTH], std::string_view name) {
  std::memset(to, 0, sizeof to);
  std::memcpy(to, name.data(), std::min(name.size(), sizeof to - 1));
}

/// Includes attributes that stock tools look for under the names of another transport: whether
/// there are RDMA Reads, and a default message size.
DAT_NAMED_ATTR* named_attributes(DAT_COUNT& count) {
  static std::array attributes{DAT_NAMED_ATTR{DAT_IW_ATTR_EXTENSION_INTERFACE, "TRUE"},
                               DAT_NAMED_ATTR{DAT_IW_ATTR_EXTENSION_VERSION, "2.0.1"},
                               DAT_NAMED_ATTR{DAT_IW_ATTR_SSP, "TRUE"},
                               DAT_NAMED_ATTR{"DAT_IB_RDMA_READ", "TRUE"},
                               DAT_NAMED_ATTR{"DAT_IB_TRANSPORT_MTU", "1500"}};
  count = static_cast<DAT_COUNT>(attributes.size());
  return attributes.data();
}

void fill(Ia& ia, DAT_IA_ATTR& attr) {
  attr = {};
  copy_name(attr.adapter_name, ia.registration().info.ia_name);
  copy_name(attr.vendor_name, ia.rnic().attributes().vendor);
  attr.hardware_version_major = 1;
  attr.firmware_version_major = 1;
  attr.ia_address_ptr = ia.address().pointer();
  attr.max_eps = attr.max_evds = attr.max_lmrs = attr.max_pzs = attr.max_rmrs = attr.max_srqs =
      limits::objects;
  attr.max_dto_per_ep = limits::dtos;
  attr.max_rdma_read_per_ep_in = attr.max_rdma_read_per_ep_out = limits::read_depth;
  attr.max_evd_qlen = limits::evd_length;
  attr.max_iov_segments_per_dto = limits::segments;
  attr.max_lmr_block_size = limits::message;
  attr.max_lmr_virtual_address = attr.max_rmr_target_address = ~DAT_VADDR{0};
  attr.max_message_size = attr.max_rdma_size = limits::message;
  attr.max_ep_per_srq = limits::objects;
  attr.max_recv_per_srq = limits::dtos;
  attr.max_iov_segments_per_rdma_read = limits::read_segments;
  attr.max_iov_segments_per_rdma_write = limits::segments;
  attr.max_rdma_read_in = attr.max_rdma_read_out = limits::objects;
  attr.max_rdma_read_per_ep_in_guaranteed = attr.max_rdma_read_per_ep_out_guaranteed = DAT_TRUE;
  attr.zb_supported = DAT_TRUE;
  attr.extension_supported = DAT_EXTENSION_IW;
  attr.extension_version = 1;
}

void fill(const Ia& ia, DAT_PROVIDER_ATTR& attr) {
  copy_name(attr.provider_name, "librnic_dat");
  attr.provider_version_major = 1;
  attr.provider_version_minor = 0;
  attr.dapl_version_major = ia.registration().info.dapl_version_major;
  attr.dapl_version_minor = ia.registration().info.dapl_version_minor;
  attr.lmr_mem_types_supported =
      static_cast<DAT_MEM_TYPE>(DAT_MEM_TYPE_LMR | DAT_MEM_TYPE_SHARED_VIRTUAL);
  attr.iov_ownership_on_return = DAT_IOV_CONSUMER;
  attr.dat_qos_supported = DAT_QOS_BEST_EFFORT;
  attr.completion_flags_supported = static_cast<DAT_COMPLETION_FLAGS>(
      DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_SOLICITED_WAIT_FLAG |
      DAT_COMPLETION_UNSIGNALLED_FLAG | DAT_COMPLETION_BARRIER_FENCE_FLAG |
      DAT_COMPLETION_EVD_THRESHOLD_FLAG);
  attr.is_thread_safe = ia.registration().info.is_thread_safe;
  attr.max_private_data_size = limits::private_data;
  attr.supports_multipath = DAT_FALSE;
  attr.ep_creator = DAT_PSP_CREATES_EP_IFASKED;
  attr.pz_support = DAT_PZ_UNIQUE;
  attr.optimal_buffer_alignment = DAT_OPTIMAL_ALIGNMENT;
  // The header makes an OUT member const; libdat2's consumers still expect it to be filled in.
  for (auto& row : attr.evd_stream_merging_supported)
    for (auto& cell : row) const_cast<DAT_BOOLEAN&>(cell) = DAT_TRUE;
  attr.srq_supported = DAT_TRUE;
  attr.srq_watermarks_supported = 1;
  attr.srq_ep_pz_difference_supported = DAT_FALSE;
  attr.srq_info_supported = 3;
  attr.ep_recv_info_supported = 3;
  attr.lmr_sync_req = DAT_FALSE;
  attr.dto_async_return_guaranteed = DAT_FALSE;
  attr.rdma_write_for_rdma_read_req = DAT_FALSE;
  attr.rdma_read_lmr_rmr_context_exposure = DAT_FALSE;
  attr.rmr_scope_supported = DAT_RMR_SCOPE_ANY;
  attr.is_signal_safe = DAT_FALSE;
  attr.ha_supported = DAT_FALSE;
  attr.ha_loadbalancing = DAT_HA_LB_NONE;
  attr.provider_specific_attr = named_attributes(attr.num_provider_specific_attr);
}

/// The EVD for the IA's asynchronous events, according to the INOUT parameter.
struct AsyncEvents {
  Evd* evd = nullptr;  ///< null: to be made, or elsewhere
  bool elsewhere = false;
};

std::expected<AsyncEvents, DAT_RETURN> read_async(DAT_EVD_HANDLE asked) {
  if (asked == DAT_HANDLE_NULL) return AsyncEvents{};
  if (asked == DAT_EVD_ASYNC_EXISTS) return AsyncEvents{.elsewhere = true};
  Evd* evd = find_evd(asked, DAT_EVD_ASYNC_FLAG);
  if (evd == nullptr) return std::unexpected(invalid_handle(DAT_INVALID_HANDLE_EVD_ASYNC));
  return AsyncEvents{.evd = evd};
}

bool left_by_consumer(const Object& object) {
  if (object.kind == Kind::ia) return false;
  return object.kind != Kind::evd || !static_cast<const Evd&>(object).of_open;
}

void take_down(Ia& ia, Engine& shared, Engine::Lock& lock) {
  std::vector<DAT_HANDLE> handles;
  for (const Object* object : shared.handles().of(ia)) handles.push_back(object->handle);
  for (DAT_HANDLE handle : handles) {  // the lock is released while waiters leave
    if (auto* evd = shared.handles().find<Evd>(handle)) evd->abort_waiter(lock);
    if (auto* cno = shared.handles().find<Cno>(handle)) cno->abort_waiters(lock);
  }
  for (Ia* other : shared.handles().all<Ia>())  // some may report to an EVD of this one
    if (other == &ia || (other->async_evd && other->async_evd->ia == &ia)) other->async_evd = {};
  ia.manager().reset();
  // Looked up again each time: destroying one may destroy others.
  for (Object* object : shared.handles().of(ia))
    if (object != &ia && shared.handles().find_any(object->handle) == object)
      shared.handles().destroy(*object);
}

}  // namespace

DAT_RETURN ia_open(const DAT_NAME_PTR name, bool thread_safe, DAT_COUNT async_length,
                   DAT_EVD_HANDLE* async_evd, DAT_IA_HANDLE* ia_handle) {
  return call([&](Engine& shared, Engine::Lock&) -> DAT_RETURN {
    const Registration* registration = find_registration(name, thread_safe);
    if (registration == nullptr) return failure(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
    if (async_evd == nullptr) return invalid_parameter(3);
    if (ia_handle == nullptr) return invalid_parameter(4);
    const auto events = read_async(*async_evd);
    if (!events) return events.error();
    const bool makes_evd = events->evd == nullptr && !events->elsewhere;
    if (makes_evd && (async_length <= 0 || async_length > limits::evd_length))
      return invalid_parameter(2);
    Ia& ia =
        shared.handles().add(&registration->table, std::make_unique<Ia>(shared, *registration));
    ia.async_elsewhere = events->elsewhere;
    if (makes_evd) {
      Evd& evd = ia.add(std::make_unique<Evd>(&ia, async_length, nullptr, DAT_EVD_ASYNC_FLAG));
      evd.of_open = true;
      ia.async_evd = Use<Evd>(&evd);
      *async_evd = evd.handle;
    } else {
      ia.async_evd = Use<Evd>(events->evd);
    }
    shared.enter();
    *ia_handle = ia.handle;
    return DAT_SUCCESS;
  });
}

DAT_RETURN ia_query(DAT_IA_HANDLE ia_handle, DAT_EVD_HANDLE* async_evd, DAT_IA_ATTR_MASK ia_mask,
                    DAT_IA_ATTR* ia_attr, DAT_PROVIDER_ATTR_MASK provider_mask,
                    DAT_PROVIDER_ATTR* provider_attr) {
  return call_on<Ia>(ia_handle, [&](Ia& ia) -> DAT_RETURN {
    if (exceeds(ia_mask, DAT_IA_FIELD_ALL)) return invalid_parameter(3);
    if (ia_mask != 0 && ia_attr == nullptr) return invalid_parameter(4);
    if (exceeds(provider_mask, DAT_PROVIDER_FIELD_ALL)) return invalid_parameter(5);
    if (provider_mask != 0 && provider_attr == nullptr) return invalid_parameter(6);
    if (async_evd != nullptr)
      *async_evd = ia.async_elsewhere ? DAT_EVD_OUT_OF_SCOPE : ia.async_evd.handle();
    if (ia_mask != 0) fill(ia, *ia_attr);
    if (provider_mask != 0) fill(ia, *provider_attr);
    return DAT_SUCCESS;
  });
}

DAT_RETURN ia_close(DAT_IA_HANDLE ia_handle, DAT_CLOSE_FLAGS flags) {
  return call([&](Engine& shared, Engine::Lock& lock) -> DAT_RETURN {
    Ia* ia = shared.handles().find<Ia>(ia_handle);
    if (ia == nullptr) return invalid_handle(Ia::subtype);
    if (exceeds(flags, DAT_CLOSE_GRACEFUL_FLAG)) return invalid_parameter(2);
    const auto all = shared.handles().of(*ia);
    const bool left =
        std::ranges::any_of(all, [](const Object* object) { return left_by_consumer(*object); });
    if (flags == DAT_CLOSE_GRACEFUL_FLAG && left)
      return failure(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE);
    take_down(*ia, shared, lock);
    shared.handles().destroy(*ia);
    shared.leave(lock);
    return DAT_SUCCESS;
  });
}

DAT_RETURN ia_ha_related(DAT_IA_HANDLE ia_handle, const DAT_NAME_PTR name, DAT_BOOLEAN* answer) {
  return call_on<Ia>(ia_handle, [&](Ia& ia) -> DAT_RETURN {
    if (name == nullptr) return invalid_parameter(2);
    if (answer == nullptr) return invalid_parameter(3);
    // Two names of one address are one adapter.
    const Registration* other = find_registration(name);
    const bool related = other != nullptr && other->address == ia.registration().address;
    *answer = related ? DAT_TRUE : DAT_FALSE;
    return DAT_SUCCESS;
  });
}

}  // namespace rnic::dat::calls
