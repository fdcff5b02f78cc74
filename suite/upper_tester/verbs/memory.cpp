// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Protection domains, regions and windows.
#include <cerrno>
#include <cstring>

#include "suite/upper_tester/verbs/names.hpp"
#include "suite/upper_tester/verbs/verbs_driver.hpp"

namespace suite::upper_tester::verbs {

ibv_pd* VerbsDriver::domain(Handle handle) {
  const auto found = domains_.find(handle);
  return found == domains_.end() ? nullptr : found->second.get();
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::CreateDomain& command) {
  if (domains_.count(command.domain) != 0) return exists("domain", command.domain);
  ProtectionDomain made(ibv_alloc_pd(device_.context.get()));
  if (made == nullptr) return failed("ibv_alloc_pd", errno);
  domains_[command.domain] = std::move(made);
  return iut::Reply{};
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::DestroyDomain& command) {
  const auto found = domains_.find(command.domain);
  if (command.domain == 0 || found == domains_.end()) return no_such("domain", command.domain);
  if (const int error = destroy_now(found->second); error != 0)
    return failed("ibv_dealloc_pd", error);
  domains_.erase(found);
  return iut::Reply{};
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::RegisterMemory& command) {
  if (command.region == 0 || regions_.count(command.region) != 0)
    return exists("region", command.region);
  ibv_pd* owner = domain(command.domain);
  if (owner == nullptr) return no_such("domain", command.domain);
  if (command.length > max_region) return refused("the region is longer than 1 GiB", ENOMEM);
  if (command.zero_based && command.base.value_or(0) != 0)
    return refused("a zero-based region begins at 0", EINVAL);

  Region region;
  region.buffer = command.process_rights ? std::make_unique<Buffer>(command.length, command.fill,
                                                                    *command.process_rights)
                                         : std::make_unique<Buffer>(command.length);
  if (!*region.buffer) return failed("mmap", errno);
  if (region.buffer->writable()) std::memset(region.buffer->data(), command.fill, command.length);
  // The I/O virtual address is the peer's offset of the first octet: 0 in a zero-based region.
  const bool chosen = command.zero_based || command.base.has_value();
  region.base =
      chosen ? command.base.value_or(0) : reinterpret_cast<std::uint64_t>(region.buffer->data());
  const int flags = access_flags(command.access);
  region.registration.reset(
      chosen ? ibv_reg_mr_iova(owner, region.buffer->data(), command.length, region.base, flags)
             : ibv_reg_mr(owner, region.buffer->data(), command.length, flags));
  if (region.registration == nullptr)
    return failed(chosen ? "ibv_reg_mr_iova" : "ibv_reg_mr", errno);
  region.local_key = region.registration->lkey;
  iut::Reply reply;
  reply.stag = region.registration->rkey;
  reply.base = region.base;
  regions_[command.region] = std::move(region);
  return reply;
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::AllocateRegion&) {
  return unsupported("libibverbs has no work request that registers memory");
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::DeregisterMemory& command) {
  const auto found = regions_.find(command.region);
  if (found == regions_.end() || found->second.registration == nullptr)
    return no_such("registered region", command.region);
  if (const int error = destroy_now(found->second.registration); error != 0)
    return failed("ibv_dereg_mr", error);
  return iut::Reply{};
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::ReadMemory& command) {
  const auto found = regions_.find(command.region);
  if (found == regions_.end()) return no_such("region", command.region);
  return read_memory(*found->second.buffer, command);
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::WriteMemory& command) {
  const auto found = regions_.find(command.region);
  if (found == regions_.end()) return no_such("region", command.region);
  return write_memory(*found->second.buffer, command);
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::AllocateWindow& command) {
  if (command.window == 0 || windows_.count(command.window) != 0)
    return exists("window", command.window);
  ibv_pd* owner = domain(command.domain);
  if (owner == nullptr) return no_such("domain", command.domain);
  Window window;
  constexpr unsigned type_2 = IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
  window.type = (device_.attributes.device_cap_flags & type_2) != 0 ? IBV_MW_TYPE_2 : IBV_MW_TYPE_1;
  window.window.reset(ibv_alloc_mw(owner, window.type));
  if (window.window == nullptr) return failed("ibv_alloc_mw", errno);
  iut::Reply reply;
  reply.stag = window.window->rkey;
  windows_[command.window] = std::move(window);
  return reply;
}

VerbsDriver::Answer VerbsDriver::run(std::uint64_t, const iut::FreeWindow& command) {
  const auto found = windows_.find(command.window);
  if (found == windows_.end()) return no_such("window", command.window);
  if (const int error = destroy_now(found->second.window); error != 0)
    return failed("ibv_dealloc_mw", error);
  windows_.erase(found);
  return iut::Reply{};
}

}  // namespace suite::upper_tester::verbs
