// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/rdma_core/device.hpp"

#include <endian.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "reference_rnic/rdma_core/objects.hpp"
#include "reference_rnic/rdma_core/settings.hpp"

namespace rnic::rdma_core {

namespace {

/// A locally administered address of Ethernet, as the GIDs of iWARP devices hold one.
constexpr std::uint64_t station = 0x02'72'65'66'00'01;

int query_device_ex(ibv_context*, const ibv_query_device_ex_input*, ibv_device_attr_ex* attributes,
                    std::size_t size) {
  if (size < sizeof attributes->orig_attr) return EINVAL;
  std::memset(static_cast<void*>(attributes), 0, size);
  describe(attributes->orig_attr);
  return 0;
}

ibv_srq* create_srq_ex(ibv_context* context, ibv_srq_init_attr_ex* asked) {
  const bool basic =
      (asked->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) == 0 || asked->srq_type == IBV_SRQT_BASIC;
  if (!basic || (asked->comp_mask & IBV_SRQ_INIT_ATTR_PD) == 0 || asked->pd->context != context) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  ibv_srq_init_attr plain{.srq_context = asked->srq_context, .attr = asked->attr};
  ibv_srq* made = create_srq(asked->pd, &plain);
  if (made != nullptr) asked->attr = plain.attr;
  return made;
}

void offer_calls(verbs_context& extended) {
  extended.query_port = [](ibv_context*, std::uint8_t port, ibv_port_attr* attributes,
                           std::size_t size) { return describe_port(port, attributes, size); };
  extended.create_cq_ex = create_cq_ex;
  extended.query_device_ex = query_device_ex;
  extended.create_qp_ex = create_qp_ex;
  extended.create_srq_ex = create_srq_ex;
  extended.sz = sizeof extended;
  ibv_context_ops& ops = extended.context.ops;
  ops.alloc_mw = alloc_mw;
  ops.bind_mw = bind_mw;
  ops.dealloc_mw = dealloc_mw;
  ops.poll_cq = poll_cq;
  ops.req_notify_cq = req_notify_cq;
  ops.post_srq_recv = post_srq_recv;
  ops.post_send = post_send;
  ops.post_recv = post_recv;
}

}  // namespace

ibv_device& device() {
  static ibv_device the_device = [] {
    ibv_device made{};
    made.node_type = IBV_NODE_RNIC;
    made.transport_type = IBV_TRANSPORT_IWARP;
    std::snprintf(made.name, sizeof made.name, "%s", device_name());
    std::snprintf(made.dev_name, sizeof made.dev_name, "rnic_%s", device_name());
    // There is nothing in sysfs; a program that looks finds no file.
    std::snprintf(made.dev_path, sizeof made.dev_path, "/nonexistent/%s", made.dev_name);
    std::snprintf(made.ibdev_path, sizeof made.ibdev_path, "/nonexistent/%s", made.name);
    return made;
  }();
  return the_device;
}

Context& of(ibv_context* context) { return *reinterpret_cast<Context*>(verbs_get_ctx(context)); }

__be64 node_guid() { return htobe64(station << 16); }

ibv_context* open_device() {
  Context* made = make<Context>([](Engine&, Context& context) {
    offer_calls(context.extended);
    ibv_context& shown = context.extended.context;
    shown.device = &device();
    shown.cmd_fd = -1;
    shown.async_fd = context.async_events.descriptor();
    shown.num_comp_vectors = 1;
    pthread_mutex_init(&shown.mutex, nullptr);
    shown.abi_compat = __VERBS_ABI_IS_EXTENDED;
    return 0;
  });
  return made == nullptr ? nullptr : &made->extended.context;
}

int close_device(ibv_context* context) {
  delete &of(context);
  return 0;
}

void describe(ibv_device_attr& attributes) {
  const verbs::RnicAttributes& rnic = engine().rnic().attributes();
  attributes = {};
  std::snprintf(attributes.fw_ver, sizeof attributes.fw_ver, "%s", rnic.version.c_str());
  attributes.node_guid = attributes.sys_image_guid = node_guid();
  attributes.max_mr_size = rnic.max_region;
  attributes.page_size_cap = 0xFFFFF000;
  attributes.max_qp = attributes.max_cq = attributes.max_mr = attributes.max_pd =
      attributes.max_mw = attributes.max_srq = limits::objects;
  attributes.max_qp_wr = attributes.max_srq_wr = limits::work_requests;
  attributes.device_cap_flags = IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_MGT_EXTENSIONS |
                                IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_SRQ_RESIZE;
  attributes.max_sge = attributes.max_srq_sge = limits::pieces;
  attributes.max_sge_rd = 1;  // a Read has one sink buffer (RFC 5040 section 5.2)
  attributes.max_cqe = limits::completions;
  attributes.max_qp_rd_atom = attributes.max_qp_init_rd_atom = limits::read_depth;
  attributes.max_res_rd_atom = limits::read_depth;
  attributes.atomic_cap = IBV_ATOMIC_HCA;  // RFC 7306
  attributes.phys_port_cnt = 1;
}

int describe_port(std::uint8_t port, ibv_port_attr* attributes, std::size_t size) {
  if (port != 1) return EINVAL;
  ibv_port_attr described{};
  described.state = IBV_PORT_ACTIVE;
  described.max_mtu = IBV_MTU_4096;
  described.active_mtu = IBV_MTU_1024;
  described.gid_tbl_len = 1;
  described.max_msg_sz = limits::message;
  described.pkey_tbl_len = 1;
  described.active_width = 2;  // 4X
  described.active_speed = 4;  // 10 Gbit/s per lane: nobody asks the loopback
  described.phys_state = 5;    // LinkUp
  described.link_layer = IBV_LINK_LAYER_ETHERNET;
  std::memcpy(attributes, &described, std::min(size, sizeof described));
  return 0;
}

int query_gid(std::uint8_t port, int index, ibv_gid* gid) {
  if (port != 1 || index != 0) return EINVAL;
  gid->global.subnet_prefix = htobe64(station << 16);
  gid->global.interface_id = 0;
  return 0;
}

}  // namespace rnic::rdma_core
