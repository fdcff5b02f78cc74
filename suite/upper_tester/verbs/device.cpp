// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/upper_tester/verbs/device.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "suite/upper_tester/verbs/connection_rules.hpp"

namespace suite::upper_tester::verbs {
namespace {

constexpr const char* how_to_get_one =
    "load its driver (for soft-iWARP: modprobe siw && rdma link add siw0 type siw netdev eth0) and "
    "check with "
    "ibv_devices";

/// Devices whose user library cannot do all that the kernel reports for kernel users.
struct KnownLimit {
  std::uint32_t vendor;
  const char* module;
  const char* lacks;
};
constexpr KnownLimit known_limits[] = {
    {soft_iwarp, "siw", iut::capability::local_invalidate},
    {soft_iwarp, "siw", iut::capability::endpoint_reset},  // the state remains error
};

const KnownLimit* known_limit(std::uint32_t vendor) {
  for (const KnownLimit& limit : known_limits)
    if (limit.vendor == vendor) return &limit;
  return nullptr;
}

/// libsiw takes 0x90000, a valid offset in the device's mapping space, for "no offset": the queue
/// that the kernel puts there, about the fiftieth, cannot be made. One queue that is made first and
/// reaches from 0 beyond this offset keeps all others away from it.
constexpr int beyond_that_place = 0x8000;  ///< completions, of 32 octets each

std::string step_over_bad_place(Device& device) {
  if (device.attributes.vendor_id != soft_iwarp) return {};
  device.placeholder.reset(
      ibv_create_cq(device.context.get(), beyond_that_place, nullptr, nullptr, 0));
  return device.placeholder ? "" : "ibv_create_cq " + device.name + ": " + std::strerror(errno);
}

struct List {
  int count = 0;
  ibv_device** devices = ibv_get_device_list(&count);
  List() = default;
  List(const List&) = delete;
  List& operator=(const List&) = delete;
  ~List() {
    if (devices != nullptr) ibv_free_device_list(devices);
  }
};

/// The device that is meant, or null with the reason.
ibv_device* choose(const List& list, const std::string& name, std::string& error) {
  std::vector<ibv_device*> rnics;
  for (int i = 0; i < list.count; ++i) {
    ibv_device* device = list.devices[i];
    if (name.empty() ? device->node_type == IBV_NODE_RNIC : name == ibv_get_device_name(device))
      rnics.push_back(device);
  }
  if (rnics.empty()) {
    error = name.empty() ? "no RDMA device that speaks iWARP on this host; "
                         : "no RDMA device named " + name + " on this host; ";
    error += how_to_get_one;
    return nullptr;
  }
  if (rnics.size() > 1) {
    error = "several iWARP devices; choose one with --device:";
    for (ibv_device* each : rnics) error += std::string(" ") + ibv_get_device_name(each);
    return nullptr;
  }
  if (rnics.front()->node_type != IBV_NODE_RNIC) {
    error = name + " is not an iWARP device but " + ibv_node_type_str(rnics.front()->node_type);
    return nullptr;
  }
  return rnics.front();
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string hexadecimal(std::uint32_t number) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%x", number);
  return text;
}

}  // namespace

std::string device_text(const std::string& name, std::uint32_t vendor, std::uint32_t part,
                        std::uint32_t revision) {
  return name + " (vendor " + hexadecimal(vendor) + ", part " + hexadecimal(part) + ", revision " +
         hexadecimal(revision) + ")";
}

std::string driver_version(const std::string& device, std::uint32_t vendor) {
  std::string module = "/sys/class/infiniband/" + device + "/device/driver/module";
  if (const KnownLimit* known = known_limit(vendor))
    module = std::string("/sys/module/") + known->module;
  std::string version = first_line(module + "/version");
  if (version.empty()) version = first_line(module + "/srcversion");
  return version;
}

bool has_ipv6(const std::vector<std::string>& addresses) {
  return std::any_of(addresses.begin(), addresses.end(), [](const std::string& address) {
    return address.find(':') != std::string::npos;
  });
}

Device open_device(const std::string& name, std::string& error) {
  Device device;
  const List list;
  if (list.devices == nullptr) {
    error = std::string("no RDMA device on this host (ibv_get_device_list: ") +
            std::strerror(errno) + "); " + how_to_get_one;
    return device;
  }
  ibv_device* chosen = choose(list, name, error);
  if (chosen == nullptr) return device;
  device.name = ibv_get_device_name(chosen);
  device.context.reset(ibv_open_device(chosen));
  if (device.context == nullptr) {
    error = "ibv_open_device " + device.name + ": " + std::strerror(errno) +
            "; check the rights on /dev/infiniband";
  } else if (const int code = ibv_query_device(device.context.get(), &device.attributes);
             code != 0) {
    error = "ibv_query_device " + device.name + ": " + std::strerror(code);
    device.context.reset();
  } else {
    error = step_over_bad_place(device);
  }
  return device;
}

std::vector<std::string> capabilities(const ibv_device_attr& attributes,
                                      const DriverOptions& options) {
  namespace capability = iut::capability;
  const auto flag = [&](unsigned mask) { return (attributes.device_cap_flags & mask) != 0; };
  std::vector<std::string> names{capability::solicited,       capability::completion_overflow,
                                 capability::endpoint_abort,  capability::endpoint_reset,
                                 capability::process_rights,  capability::completion_queues,
                                 capability::chains,          capability::inline_data,
                                 capability::endpoint_access, capability::endpoint_attributes,
                                 capability::signal_all,      capability::backlog,
                                 capability::event_objects,   capability::wildcard_listen,
                                 capability::armed_once,      capability::loopback};
  if (flag(IBV_DEVICE_MEM_MGT_EXTENSIONS))
    names.insert(names.end(), {capability::send_invalidate, capability::remote_invalidate,
                               capability::local_invalidate});
  if (attributes.max_mw > 0 &&
      flag(IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B))
    names.emplace_back(capability::memory_windows);
  // Windows of type 2 are the queue pair's; those of type 1 are open to its whole domain.
  if (attributes.max_mw > 0 && flag(IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B))
    names.emplace_back(capability::stream_windows);
  if (attributes.max_srq > 0) names.emplace_back(capability::shared_receive_queue);
  if (attributes.max_srq > 0 && flag(IBV_DEVICE_SRQ_RESIZE))
    names.emplace_back(capability::shared_queue_resize);
  if (attributes.atomic_cap != IBV_ATOMIC_NONE) names.emplace_back(capability::atomics);
  if (options.addresses.empty() || has_ipv6(options.addresses))
    names.emplace_back(capability::ipv6);
  for (const KnownLimit& known : known_limits)
    if (known.vendor == attributes.vendor_id)
      names.erase(std::remove(names.begin(), names.end(), known.lacks), names.end());
  for (const auto* more : {&options.configure_capabilities, &options.claims})
    for (const std::string& each : *more)
      if (std::find(names.begin(), names.end(), each) == names.end()) names.push_back(each);
  return names;
}

iut::Hello describe(const Device& device, const DriverOptions& options) {
  const ibv_device_attr& attributes = device.attributes;
  iut::Hello hello;
  hello.driver = "verbs";
  hello.implementation =
      device_text(device.name, attributes.vendor_id, attributes.vendor_part_id, attributes.hw_ver);
  hello.driver_version = driver_version(device.name, attributes.vendor_id);
  hello.firmware = attributes.fw_ver;
  utsname system{};
  if (::uname(&system) == 0) hello.kernel = std::string(system.release) + " " + system.version;
  hello.capabilities = capabilities(attributes, options);
  hello.limits = {
      {"max_ird", std::min(attributes.max_qp_rd_atom, max_read_depth)},
      {"max_ord", std::min(attributes.max_qp_init_rd_atom, max_read_depth)},
      {"max_private_data", max_private_data},
      {"max_pieces", attributes.max_sge},
      {"max_read_pieces", attributes.max_sge_rd},
      {"max_send_depth", attributes.max_qp_wr},
      {"max_receive_depth", attributes.max_qp_wr},
      {"max_shared_depth", attributes.max_srq_wr},
      {"max_shared_pieces", attributes.max_srq_sge},
      {"max_endpoints", attributes.max_qp},
      {"max_regions", attributes.max_mr},
      {"max_region",
       static_cast<std::int64_t>(std::min<std::uint64_t>(attributes.max_mr_size, INT64_MAX))},
  };
  return hello;
}

}  // namespace suite::upper_tester::verbs
