// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The functions of libibverbs that are answered here for our device, and passed on to the library
// behind us for any other.
#include <dlfcn.h>
#include <infiniband/verbs.h>
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova
#undef ibv_get_device_list

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "reference_rnic/rdma_core/async_events.hpp"
#include "reference_rnic/rdma_core/device.hpp"
#include "reference_rnic/rdma_core/objects.hpp"

namespace own = rnic::rdma_core;

#define INTERPOSED extern "C" [[gnu::visibility("default")]]
/// The same function of the library behind us.
#define REAL(name)                                                                          \
  ([] {                                                                                     \
    static auto* const next = reinterpret_cast<decltype(&(name))>(dlsym(RTLD_NEXT, #name)); \
    return next;                                                                            \
  }())

namespace {

template <typename Object>
bool is_ours(const Object* object) {
  return own::is_ours(object->context);
}
bool is_ours(const ibv_context* context) { return own::is_ours(context); }
bool is_ours(const ibv_device* device) { return device == &own::device(); }

std::nullptr_t unsupported() {
  errno = EOPNOTSUPP;
  return nullptr;
}

}  // namespace

// ---- devices ----

// A list of ours has, before its first entry, the list of the library behind us that it includes.
INTERPOSED ibv_device** ibv_get_device_list(int* count) {
  int others = 0;
  ibv_device** real = REAL(ibv_get_device_list)(&others);
  if (real == nullptr) others = 0;
  auto** block = static_cast<ibv_device**>(
      std::calloc(static_cast<std::size_t>(others) + 3, sizeof(ibv_device*)));
  if (block == nullptr) return nullptr;
  block[0] = reinterpret_cast<ibv_device*>(real);
  block[1] = &own::device();
  std::copy_n(real, others, block + 2);
  if (count != nullptr) *count = others + 1;
  return block + 1;
}
INTERPOSED void ibv_free_device_list(ibv_device** list) {
  ibv_device** block = list - 1;
  if (block[0] != nullptr) REAL(ibv_free_device_list)(reinterpret_cast<ibv_device**>(block[0]));
  std::free(block);
}
INTERPOSED const char* ibv_get_device_name(ibv_device* device) {
  return is_ours(device) ? device->name : REAL(ibv_get_device_name)(device);
}
INTERPOSED int ibv_get_device_index(ibv_device* device) {
  return is_ours(device) ? static_cast<int>(own::device_index) : REAL(ibv_get_device_index)(device);
}
INTERPOSED __be64 ibv_get_device_guid(ibv_device* device) {
  return is_ours(device) ? own::node_guid() : REAL(ibv_get_device_guid)(device);
}
INTERPOSED ibv_context* ibv_open_device(ibv_device* device) {
  return is_ours(device) ? own::open_device() : REAL(ibv_open_device)(device);
}
INTERPOSED int ibv_close_device(ibv_context* context) {
  return is_ours(context) ? own::close_device(context) : REAL(ibv_close_device)(context);
}
INTERPOSED int ibv_query_device(ibv_context* context, ibv_device_attr* attributes) {
  if (!is_ours(context)) return REAL(ibv_query_device)(context, attributes);
  own::describe(*attributes);
  return 0;
}
INTERPOSED int ibv_query_port(ibv_context* context, std::uint8_t port,
                              _compat_ibv_port_attr* attributes) {
  if (!is_ours(context)) return REAL(ibv_query_port)(context, port, attributes);
  // Programs of before 2018 know the struct without its last fields.
  return own::describe_port(port, reinterpret_cast<ibv_port_attr*>(attributes),
                            offsetof(ibv_port_attr, port_cap_flags2));
}
INTERPOSED int ibv_query_gid(ibv_context* context, std::uint8_t port, int index, ibv_gid* gid) {
  if (!is_ours(context)) return REAL(ibv_query_gid)(context, port, index, gid);
  if (const int error = own::query_gid(port, index, gid); error != 0) {
    errno = error;
    return -1;
  }
  return 0;
}
INTERPOSED int _ibv_query_gid_ex(ibv_context* context, std::uint32_t port, std::uint32_t index,
                                 ibv_gid_entry* entry, std::uint32_t flags, std::size_t size) {
  if (!is_ours(context)) return REAL(_ibv_query_gid_ex)(context, port, index, entry, flags, size);
  if (flags != 0 || size < sizeof *entry || port > UINT8_MAX) return EINVAL;
  *entry = {.gid = {},
            .gid_index = index,
            .port_num = port,
            .gid_type = IBV_GID_TYPE_IB,
            .ndev_ifindex = 0};
  return own::query_gid(static_cast<std::uint8_t>(port), static_cast<int>(index), &entry->gid);
}
INTERPOSED ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* entries,
                                        std::size_t most, std::uint32_t flags, std::size_t size) {
  if (!is_ours(context)) return REAL(_ibv_query_gid_table)(context, entries, most, flags, size);
  if (most == 0) return -EINVAL;
  const int error = _ibv_query_gid_ex(context, 1, 0, entries, flags, size);
  return error == 0 ? 1 : -error;
}
INTERPOSED int ibv_query_pkey(ibv_context* context, std::uint8_t port, int index, __be16* pkey) {
  if (!is_ours(context)) return REAL(ibv_query_pkey)(context, port, index, pkey);
  if (port != 1 || index != 0) {
    errno = EINVAL;
    return -1;
  }
  *pkey = 0xFFFF;
  return 0;
}
INTERPOSED int ibv_get_pkey_index(ibv_context* context, std::uint8_t port, __be16 pkey) {
  if (!is_ours(context)) return REAL(ibv_get_pkey_index)(context, port, pkey);
  return port == 1 && pkey == 0xFFFF ? 0 : -1;
}
INTERPOSED int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  return is_ours(context) ? own::get_async_event(context, event)
                          : REAL(ibv_get_async_event)(context, event);
}
// Both libraries count in the object itself.
INTERPOSED void ibv_ack_async_event(ibv_async_event* event) { own::ack_async_event(event); }

// ---- memory ----

INTERPOSED ibv_pd* ibv_alloc_pd(ibv_context* context) {
  return is_ours(context) ? own::alloc_pd(context) : REAL(ibv_alloc_pd)(context);
}
INTERPOSED int ibv_dealloc_pd(ibv_pd* pd) {
  return is_ours(pd) ? own::dealloc_pd(pd) : REAL(ibv_dealloc_pd)(pd);
}
INTERPOSED ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, std::size_t length, int access) {
  return is_ours(pd) ? own::reg_mr(pd, address, length, reinterpret_cast<std::uintptr_t>(address),
                                   static_cast<unsigned>(access))
                     : REAL(ibv_reg_mr)(pd, address, length, access);
}
INTERPOSED ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* address, std::size_t length,
                                   std::uint64_t iova, int access) {
  return is_ours(pd) ? own::reg_mr(pd, address, length, iova, static_cast<unsigned>(access))
                     : REAL(ibv_reg_mr_iova)(pd, address, length, iova, access);
}
INTERPOSED ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, std::size_t length,
                                    std::uint64_t iova, unsigned access) {
  return is_ours(pd) ? own::reg_mr(pd, address, length, iova, access)
                     : REAL(ibv_reg_mr_iova2)(pd, address, length, iova, access);
}
INTERPOSED ibv_mr* ibv_reg_dmabuf_mr(ibv_pd* pd, std::uint64_t offset, std::size_t length,
                                     std::uint64_t iova, int descriptor, int access) {
  if (is_ours(pd)) return unsupported();
  return REAL(ibv_reg_dmabuf_mr)(pd, offset, length, iova, descriptor, access);
}
INTERPOSED int ibv_rereg_mr(ibv_mr* mr, int flags, ibv_pd* pd, void* address, std::size_t length,
                            int access) {
  if (!is_ours(mr)) return REAL(ibv_rereg_mr)(mr, flags, pd, address, length, access);
  errno = EOPNOTSUPP;
  return IBV_REREG_MR_ERR_INPUT;  // the region is as before
}
INTERPOSED int ibv_dereg_mr(ibv_mr* mr) {
  return is_ours(mr) ? own::dereg_mr(mr) : REAL(ibv_dereg_mr)(mr);
}
INTERPOSED ibv_pd* ibv_import_pd(ibv_context* context, std::uint32_t handle) {
  if (is_ours(context)) return unsupported();
  return REAL(ibv_import_pd)(context, handle);
}
INTERPOSED ibv_mr* ibv_import_mr(ibv_pd* pd, std::uint32_t handle) {
  if (is_ours(pd)) return unsupported();
  return REAL(ibv_import_mr)(pd, handle);
}
INTERPOSED ibv_dm* ibv_import_dm(ibv_context* context, std::uint32_t handle) {
  if (is_ours(context)) return unsupported();
  return REAL(ibv_import_dm)(context, handle);
}

// ---- completion queues ----

INTERPOSED ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  return is_ours(context) ? own::create_comp_channel(context)
                          : REAL(ibv_create_comp_channel)(context);
}
INTERPOSED int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  return is_ours(channel) ? own::destroy_comp_channel(channel)
                          : REAL(ibv_destroy_comp_channel)(channel);
}
INTERPOSED ibv_cq* ibv_create_cq(ibv_context* context, int cqe, void* cq_context,
                                 ibv_comp_channel* channel, int vector) {
  if (!is_ours(context)) return REAL(ibv_create_cq)(context, cqe, cq_context, channel, vector);
  if (vector != 0) {
    errno = EINVAL;
    return nullptr;
  }
  return reinterpret_cast<ibv_cq*>(own::create_cq(context, cqe, cq_context, channel));
}
INTERPOSED int ibv_resize_cq(ibv_cq* cq, int cqe) {
  return is_ours(cq) ? own::resize_cq(cq, cqe) : REAL(ibv_resize_cq)(cq, cqe);
}
INTERPOSED int ibv_destroy_cq(ibv_cq* cq) {
  return is_ours(cq) ? own::destroy_cq(cq) : REAL(ibv_destroy_cq)(cq);
}
INTERPOSED int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  return is_ours(channel) ? own::get_cq_event(channel, cq, cq_context)
                          : REAL(ibv_get_cq_event)(channel, cq, cq_context);
}
INTERPOSED void ibv_ack_cq_events(ibv_cq* cq, unsigned count) {
  if (!is_ours(cq)) return REAL(ibv_ack_cq_events)(cq, count);
  pthread_mutex_lock(&cq->mutex);
  cq->comp_events_completed += count;
  pthread_cond_signal(&cq->cond);
  pthread_mutex_unlock(&cq->mutex);
}

// ---- shared receive queues ----

INTERPOSED ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* attributes) {
  return is_ours(pd) ? own::create_srq(pd, attributes) : REAL(ibv_create_srq)(pd, attributes);
}
INTERPOSED int ibv_modify_srq(ibv_srq* srq, ibv_srq_attr* attributes, int mask) {
  return is_ours(srq) ? own::modify_srq(srq, attributes, mask)
                      : REAL(ibv_modify_srq)(srq, attributes, mask);
}
INTERPOSED int ibv_query_srq(ibv_srq* srq, ibv_srq_attr* attributes) {
  return is_ours(srq) ? own::query_srq(srq, attributes) : REAL(ibv_query_srq)(srq, attributes);
}
INTERPOSED int ibv_destroy_srq(ibv_srq* srq) {
  return is_ours(srq) ? own::destroy_srq(srq) : REAL(ibv_destroy_srq)(srq);
}

// ---- queue pairs ----

INTERPOSED ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) {
  return is_ours(pd) ? own::create_qp(pd->context, pd, attributes)
                     : REAL(ibv_create_qp)(pd, attributes);
}
INTERPOSED ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* qp) {
  return is_ours(qp) ? reinterpret_cast<ibv_qp_ex*>(qp) : REAL(ibv_qp_to_qp_ex)(qp);
}
INTERPOSED int ibv_query_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask,
                            ibv_qp_init_attr* asked) {
  return is_ours(qp) ? own::query_qp(qp, attributes, asked)
                     : REAL(ibv_query_qp)(qp, attributes, mask, asked);
}
INTERPOSED int ibv_query_qp_data_in_order(ibv_qp* qp, ibv_wr_opcode opcode, std::uint32_t flags) {
  // Octets are placed as they arrive, and TCP keeps their order.
  return is_ours(qp) ? 0 : REAL(ibv_query_qp_data_in_order)(qp, opcode, flags);
}
INTERPOSED int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask) {
  return is_ours(qp) ? own::modify_qp(qp, attributes, mask)
                     : REAL(ibv_modify_qp)(qp, attributes, mask);
}
INTERPOSED int ibv_destroy_qp(ibv_qp* qp) {
  return is_ours(qp) ? own::destroy_qp(qp) : REAL(ibv_destroy_qp)(qp);
}
INTERPOSED int ibv_set_ece(ibv_qp* qp, ibv_ece* ece) {
  if (!is_ours(qp)) return REAL(ibv_set_ece)(qp, ece);
  return ece->vendor_id == 0 ? 0 : EOPNOTSUPP;
}
INTERPOSED int ibv_query_ece(ibv_qp* qp, ibv_ece* ece) {
  if (!is_ours(qp)) return REAL(ibv_query_ece)(qp, ece);
  *ece = {};
  return 0;
}

// ---- what iWARP does not have ----

INTERPOSED ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attributes) {
  if (is_ours(pd)) return unsupported();
  return REAL(ibv_create_ah)(pd, attributes);
}
INTERPOSED ibv_ah* ibv_create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, std::uint8_t port) {
  if (is_ours(pd)) return unsupported();
  return REAL(ibv_create_ah_from_wc)(pd, wc, grh, port);
}
INTERPOSED int ibv_init_ah_from_wc(ibv_context* context, std::uint8_t port, ibv_wc* wc,
                                   ibv_grh* grh, ibv_ah_attr* attributes) {
  if (!is_ours(context)) return REAL(ibv_init_ah_from_wc)(context, port, wc, grh, attributes);
  errno = EOPNOTSUPP;
  return -1;
}
INTERPOSED int ibv_resolve_eth_l2_from_gid(ibv_context* context, ibv_ah_attr* attributes,
                                           std::uint8_t* mac, std::uint16_t* vid) {
  if (!is_ours(context)) return REAL(ibv_resolve_eth_l2_from_gid)(context, attributes, mac, vid);
  errno = EOPNOTSUPP;
  return -1;
}
INTERPOSED int ibv_attach_mcast(ibv_qp* qp, const ibv_gid* gid, std::uint16_t lid) {
  return is_ours(qp) ? EOPNOTSUPP : REAL(ibv_attach_mcast)(qp, gid, lid);
}
INTERPOSED int ibv_detach_mcast(ibv_qp* qp, const ibv_gid* gid, std::uint16_t lid) {
  return is_ours(qp) ? EOPNOTSUPP : REAL(ibv_detach_mcast)(qp, gid, lid);
}
