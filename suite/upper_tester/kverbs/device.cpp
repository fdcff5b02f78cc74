// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/upper_tester/kverbs/device.hpp"

#include <infiniband/verbs.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "suite/upper_tester/verbs/connection_rules.hpp"
#include "suite/upper_tester/verbs/device.hpp"

namespace suite::upper_tester::kverbs {
namespace {

/// Of a request of InfiniBand's connection manager, 92 octets are for private data, and rdma_cm's own
/// header takes 36 of them.
constexpr int infiniband_private_data = 56;

std::string why_not_open(int error) {
  std::string text = std::string(RNIC_KAGENT_DEVICE) + ": " + std::strerror(error);
  if (error == ENOENT || error == ENODEV)
    return text + "; load the module rnic_kagent (docs/kernel.md says how to build it)";
  if (error == EACCES || error == EPERM) return text + "; run the agent as root";
  return text;
}

std::string why_no_device(int error, const std::string& name, const rnic_kagent_open& device) {
  switch (error) {
    case EPROTO:
      return "the module rnic_kagent speaks version " + std::to_string(device.version) +
             " of its interface, and this agent version " + std::to_string(RNIC_KAGENT_VERSION) +
             "; build both from the same sources";
    case ENODEV:
      return (name.empty() ? "the kernel has no RDMA device that speaks iWARP; "
                           : "the kernel has no RDMA device named " + name + "; ") +
             std::string("`rdma link` shows those that it has");
    case ENOTUNIQ:
      return "several iWARP devices; choose one with --device: `rdma link` shows them";
    default:
      return std::string(RNIC_KAGENT_DEVICE) + " does not open the device: " + std::strerror(error);
  }
}

}  // namespace

bool is_iwarp(const rnic_kagent_open& device) { return device.node_type == IBV_NODE_RNIC; }

std::string open_device(KernelFile& file, const DriverOptions& options, rnic_kagent_open& device) {
  const std::string& name = options.device;
  if (const int error = file.open(); error != 0) return why_not_open(error);
  device = {};
  device.version = RNIC_KAGENT_VERSION;
  if (name.size() >= sizeof device.device) return why_no_device(ENODEV, name, device);
  name.copy(device.device, name.size());
  if (const int error = file.call(RNIC_KAGENT_OPEN, device); error != 0)
    return why_no_device(error, name, device);
  if (!is_iwarp(device) && !options.any_transport)
    return std::string(device.device) + " is not an iWARP device";
  if ((device.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS) == 0)
    return std::string(device.device) +
           " has no fast registration (IB_DEVICE_MEM_MGT_EXTENSIONS), without which a kernel "
           "consumer registers no memory";
  return {};
}

std::vector<std::string> capabilities(const rnic_kagent_open& device,
                                      const DriverOptions& options) {
  namespace capability = iut::capability;
  // A fast registration chooses the first octet's address; MEM_MGT_EXTENSIONS brings invalidation.
  std::vector<std::string> names{capability::solicited,         capability::completion_overflow,
                                 capability::endpoint_abort,    capability::send_invalidate,
                                 capability::remote_invalidate, capability::local_invalidate,
                                 capability::zero_based,        capability::chosen_base,
                                 capability::fast_registration, capability::chains,
                                 capability::loopback,          capability::completion_queues,
                                 capability::signal_all};
  if (device.reads_with_invalidate != 0) names.emplace_back(capability::read_invalidate);
  if (device.max_srq > 0) names.emplace_back(capability::shared_receive_queue);
  if (device.max_srq > 0 && (device.device_cap_flags & IBV_DEVICE_SRQ_RESIZE) != 0)
    names.emplace_back(capability::shared_queue_resize);
  if (device.atomic_cap != IBV_ATOMIC_NONE) names.emplace_back(capability::atomics);
  // Of InfiniBand the connection manager has attributes of its own for a queue pair that connects.
  if (is_iwarp(device)) names.emplace_back(capability::endpoint_access);
  // Whether a queue pair can return from the error state is the driver's secret.
  if (device.vendor_id != verbs::soft_iwarp) names.emplace_back(capability::endpoint_reset);
  if (options.addresses.empty() || verbs::has_ipv6(options.addresses))
    names.emplace_back(capability::ipv6);
  for (const auto* more : {&options.configure_capabilities, &options.claims})
    for (const std::string& each : *more)
      if (std::find(names.begin(), names.end(), each) == names.end()) names.push_back(each);
  return names;
}

iut::Hello describe(const rnic_kagent_open& device, const DriverOptions& options) {
  iut::Hello hello;
  hello.driver = "kverbs";
  hello.implementation =
      verbs::device_text(device.device, device.vendor_id, device.vendor_part_id, device.hw_ver);
  hello.driver_version = verbs::driver_version(device.device, device.vendor_id);
  hello.firmware = device.firmware;
  utsname system{};
  if (::uname(&system) == 0) hello.kernel = std::string(system.release) + " " + system.version;
  hello.capabilities = capabilities(device, options);
  hello.limits = {
      {"max_ird", std::min(device.max_qp_rd_atom, verbs::max_read_depth)},
      {"max_ord", std::min(device.max_qp_init_rd_atom, verbs::max_read_depth)},
      {"max_private_data",
       is_iwarp(device) ? RNIC_KAGENT_MAX_PRIVATE_DATA : infiniband_private_data},
      {"max_pieces", std::min({device.max_send_sge, device.max_recv_sge, RNIC_KAGENT_MAX_PIECES})},
      {"max_read_pieces", device.max_sge_rd},
      {"max_send_depth", device.max_qp_wr},
      {"max_receive_depth", device.max_qp_wr},
      {"max_shared_depth", device.max_srq_wr},
      {"max_shared_pieces", device.max_srq_sge},
      {"max_endpoints", device.max_qp},
      {"max_regions", device.max_mr},
      {"max_pages", device.max_fast_reg_page_list_len},
      {"page_size", device.page_size},
      {"max_region", std::int64_t{device.max_fast_reg_page_list_len} * device.page_size},
  };
  return hello;
}

}  // namespace suite::upper_tester::kverbs
