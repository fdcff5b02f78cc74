// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Protection zones, local and remote memory regions.
#include <cerrno>
#include <cstring>

#include "suite/upper_tester/dat/dat_driver.hpp"
#include "suite/upper_tester/dat/names.hpp"

namespace suite::upper_tester::dat {

DAT_PZ_HANDLE DatDriver::domain(Handle handle) const {
  const auto found = domains_.find(handle);
  return found == domains_.end() ? nullptr : found->second.get();
}

iut::Reply DatDriver::run(const iut::CreateDomain& command) {
  if (domains_.count(command.domain) != 0) return exists("domain", command.domain);
  Zone made;
  if (const DAT_RETURN code = dat_pz_create(ia_, made.out()); code != DAT_SUCCESS)
    return failed("dat_pz_create", code);
  domains_[command.domain] = std::move(made);
  return {};
}

iut::Reply DatDriver::run(const iut::DestroyDomain& command) {
  const auto found = domains_.find(command.domain);
  if (command.domain == 0 || found == domains_.end()) return no_such("domain", command.domain);
  if (const DAT_RETURN code = found->second.free_now(); code != DAT_SUCCESS)
    return failed("dat_pz_free", code);
  domains_.erase(found);
  return {};
}

iut::Reply DatDriver::run(const iut::RegisterMemory& command) {
  if (command.region == 0 || regions_.count(command.region) != 0)
    return exists("region", command.region);
  DAT_PZ_HANDLE zone = domain(command.domain);
  if (zone == nullptr) return no_such("domain", command.domain);
  if (command.length > max_region) return refused("the region is longer than 1 GiB", ENOMEM);
  if (command.base.has_value()) return unsupported("DAT has no Tagged Offset to choose");
  if (command.process_rights.has_value()) return unsupported("the agent keeps all its rights");
  if (command.access.remote_atomic) return unsupported("DAT has no atomic operations");

  Region region;
  region.buffer = std::make_unique<Buffer>(command.length);
  if (!*region.buffer) return refused(std::string("mmap: ") + std::strerror(errno), errno);
  std::memset(region.buffer->data(), command.fill, command.length);
  DAT_REGION_DESCRIPTION where{};
  where.for_va = region.buffer->data();
  DAT_RMR_CONTEXT remote = 0;
  DAT_VLEN length = 0;
  DAT_VADDR address = 0;
  const DAT_RETURN code = dat_lmr_create(
      ia_, DAT_MEM_TYPE_VIRTUAL, where, command.length, zone, privileges(command.access),
      command.zero_based ? DAT_VA_TYPE_ZB : DAT_VA_TYPE_VA, region.registration.out(),
      &region.context, &remote, &length, &address);
  if (code != DAT_SUCCESS) return failed("dat_lmr_create", code);
  // The registered region may be larger than the requested one, and begin before it.
  region.base = command.zero_based
                    ? 0
                    : static_cast<DAT_VADDR>(reinterpret_cast<std::uintptr_t>(where.for_va));
  iut::Reply reply;
  reply.stag = remote;
  reply.base = region.base;
  regions_[command.region] = std::move(region);
  return reply;
}

iut::Reply DatDriver::run(const iut::DeregisterMemory& command) {
  const auto found = regions_.find(command.region);
  if (found == regions_.end() || found->second.registration.get() == nullptr)
    return no_such("registered region", command.region);
  if (const DAT_RETURN code = found->second.registration.free_now(); code != DAT_SUCCESS)
    return failed("dat_lmr_free", code);
  return {};
}

iut::Reply DatDriver::run(const iut::ReadMemory& command) {
  const auto found = regions_.find(command.region);
  if (found == regions_.end()) return no_such("region", command.region);
  return read_memory(*found->second.buffer, command);
}

iut::Reply DatDriver::run(const iut::WriteMemory& command) {
  const auto found = regions_.find(command.region);
  if (found == regions_.end()) return no_such("region", command.region);
  return write_memory(*found->second.buffer, command);
}

/// Open only to the endpoint that binds it, if the provider has such RMRs.
iut::Reply DatDriver::run(const iut::AllocateWindow& command) {
  if (command.window == 0 || windows_.count(command.window) != 0)
    return exists("window", command.window);
  DAT_PZ_HANDLE zone = domain(command.domain);
  if (zone == nullptr) return no_such("domain", command.domain);
  RemoteRegion window;
  const bool of_endpoint = provider_.rmr_scope_supported != DAT_RMR_SCOPE_PZ &&
                           DAT_HANDLE_TO_PROVIDER(zone)->rmr_create_for_ep_func != nullptr;
  const DAT_RETURN code =
      of_endpoint ? DAT_RMR_CREATE_FOR_EP(zone, window.out()) : dat_rmr_create(zone, window.out());
  if (code != DAT_SUCCESS)
    return failed(of_endpoint ? "dat_rmr_create_for_ep" : "dat_rmr_create", code);
  DAT_RMR_PARAM param{};
  iut::Reply reply;
  if (dat_rmr_query(window.get(), DAT_RMR_FIELD_RMR_CONTEXT, &param) == DAT_SUCCESS)
    reply.stag = param.rmr_context;
  windows_[command.window] = std::move(window);
  return reply;
}

iut::Reply DatDriver::run(const iut::FreeWindow& command) {
  const auto found = windows_.find(command.window);
  if (found == windows_.end()) return no_such("window", command.window);
  if (const DAT_RETURN code = found->second.free_now(); code != DAT_SUCCESS)
    return failed("dat_rmr_free", code);
  windows_.erase(found);
  return {};
}

}  // namespace suite::upper_tester::dat
