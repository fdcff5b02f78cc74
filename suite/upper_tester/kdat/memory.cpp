// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Protection zones, local and remote memory regions.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "suite/upper_tester/dat/names.hpp"
#include "suite/upper_tester/kdat/kdat_driver.hpp"

namespace suite::upper_tester::kdat {

iut::Reply KdatDriver::run(const iut::CreateDomain& command) {
  if (domains_.count(command.domain) != 0) return exists("domain", command.domain);
  const Result made = kernel_.call(RNIC_KDAT_PZ_CREATE, {ia_});
  if (!made.good()) return failed("dat_pz_create", made);
  domains_[command.domain] = made.out(0);
  return {};
}

iut::Reply KdatDriver::run(const iut::DestroyDomain& command) {
  const auto found = domains_.find(command.domain);
  if (command.domain == 0 || found == domains_.end()) return no_such("domain", command.domain);
  const Result freed = kernel_.call(RNIC_KDAT_PZ_FREE, {found->second});
  if (!freed.good()) return failed("dat_pz_free", freed);
  domains_.erase(found);
  return {};
}

iut::Reply KdatDriver::run(const iut::RegisterMemory& command) {
  if (command.region == 0 || regions_.count(command.region) != 0)
    return exists("region", command.region);
  const auto zone = domains_.find(command.domain);
  if (zone == domains_.end()) return no_such("domain", command.domain);
  if (command.base.has_value()) return unsupported("DAT has no Tagged Offset to choose");
  if (command.process_rights.has_value()) return unsupported("the memory is the kernel's own");
  if (command.access.remote_atomic) return unsupported("DAT has no atomic operations");
  if (command.length == 0) return refused("a region has at least one octet", EINVAL);
  Region region;
  region.length = command.length;
  if (const int error = kernel_.make(region.memory, command.length); error != 0)
    return refused(std::string("the module's memory: ") + std::strerror(error), error);
  std::memset(region.memory.data(), command.fill, command.length);
  const Result made =
      kernel_.call(RNIC_KDAT_LMR_KCREATE,
                   {ia_, DAT_MEM_TYPE_VIRTUAL, command.length, zone->second,
                    static_cast<Word>(dat::privileges(command.access)),
                    static_cast<Word>(command.zero_based ? DAT_VA_TYPE_ZB : DAT_VA_TYPE_VA), 0,
                    region.memory.handle(), 0, 0});
  if (!made.good()) {
    static_cast<void>(kernel_.free_memory(region.memory.handle()));
    return failed("dat_lmr_kcreate", made);
  }
  region.lmr = made.out(0);
  region.context = static_cast<std::uint32_t>(made.out(1));
  region.base = made.out(4);
  iut::Reply reply;
  reply.stag = static_cast<std::uint32_t>(made.out(2));
  reply.base = region.base;
  regions_[command.region] = std::move(region);
  return reply;
}

iut::Reply KdatDriver::run(const iut::DeregisterMemory& command) {
  const auto found = regions_.find(command.region);
  if (found == regions_.end() || found->second.lmr == 0)
    return no_such("registered region", command.region);
  const Result freed = kernel_.call(RNIC_KDAT_LMR_FREE, {found->second.lmr});
  if (!freed.good()) return failed("dat_lmr_free", freed);
  found->second.lmr = 0;
  return {};
}

iut::Reply KdatDriver::run(const iut::ReadMemory& command) {
  const auto found = regions_.find(command.region);
  if (found == regions_.end()) return no_such("region", command.region);
  const Region& region = found->second;
  if (command.offset > region.length || command.length > region.length - command.offset)
    return refused("the range is not within the region", ERANGE);
  iut::Reply reply;
  const std::byte* start = region.memory.data() + command.offset;
  reply.octets.emplace(start, start + command.length);
  return reply;
}

iut::Reply KdatDriver::run(const iut::WriteMemory& command) {
  const auto found = regions_.find(command.region);
  if (found == regions_.end()) return no_such("region", command.region);
  const Region& region = found->second;
  if (command.offset > region.length || command.octets.size() > region.length - command.offset)
    return refused("the range is not within the region", ERANGE);
  std::copy(command.octets.begin(), command.octets.end(), region.memory.data() + command.offset);
  return {};
}

iut::Reply KdatDriver::run(const iut::AllocateWindow& command) {
  if (command.window == 0 || windows_.count(command.window) != 0)
    return exists("window", command.window);
  const auto zone = domains_.find(command.domain);
  if (zone == domains_.end()) return no_such("domain", command.domain);
  const Result made = kernel_.call(RNIC_KDAT_RMR_CREATE, {zone->second});
  if (!made.good()) return failed("dat_rmr_create", made);
  windows_[command.window] = made.out(0);
  iut::Reply reply;
  const Result queried = kernel_.call(RNIC_KDAT_RMR_QUERY, {made.out(0), 1});
  if (queried.good()) reply.stag = static_cast<std::uint32_t>(queried.out(6));
  return reply;
}

iut::Reply KdatDriver::run(const iut::FreeWindow& command) {
  const auto found = windows_.find(command.window);
  if (found == windows_.end()) return no_such("window", command.window);
  const Result freed = kernel_.call(RNIC_KDAT_RMR_FREE, {found->second});
  if (!freed.good()) return failed("dat_rmr_free", freed);
  windows_.erase(found);
  return {};
}

}  // namespace suite::upper_tester::kdat
