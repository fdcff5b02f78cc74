// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Protection domains and regions. The kernel's consumers have no memory windows.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "suite/upper_tester/common_replies.hpp"
#include "suite/upper_tester/kverbs/kverbs_driver.hpp"
#include "suite/upper_tester/verbs/names.hpp"

namespace suite::upper_tester::kverbs {

using verbs::failed;

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::CreateDomain& command) {
  if (domains_.count(command.domain) != 0) return exists("domain", command.domain);
  rnic_kagent_object made{};
  if (const int error = file_.call(RNIC_KAGENT_ALLOC_PD, made); error != 0)
    return failed("ib_alloc_pd", error);
  domains_[command.domain].object = made.handle;
  return iut::Reply{};
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::DestroyDomain& command) {
  const auto found = domains_.find(command.domain);
  if (command.domain == 0 || found == domains_.end()) return no_such("domain", command.domain);
  destroy_registrar(found->second.registrar);
  if (const int error = file_.destroy(found->second.object); error != 0)
    return failed("ib_dealloc_pd", error);
  domains_.erase(found);
  return iut::Reply{};
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::RegisterMemory& command) {
  if (command.region == 0 || regions_.count(command.region) != 0)
    return exists("region", command.region);
  const auto owner = domains_.find(command.domain);
  if (owner == domains_.end()) return no_such("domain", command.domain);
  if (command.zero_based && command.base.value_or(0) != 0)
    return refused("a zero-based region begins at 0", EINVAL);
  if (command.process_rights.has_value()) return unsupported("the memory is the kernel's own");
  if (command.length == 0) return refused("a fast registration has at least one octet", EINVAL);
  const std::uint64_t most = std::uint64_t{device_.max_fast_reg_page_list_len} * device_.page_size;
  if (command.length > most)
    return refused("a fast registration has at most " + std::to_string(most) + " octets here",
                   ENOMEM);

  Region region;
  region.domain = command.domain;
  region.length = command.length;
  Answer reply = allocate(region, command, owner->second.object);
  if (reply->outcome == iut::Outcome::ok) {
    const iut::Reply done =
        register_by_work(owner->second, region.object, reply->stag.value(), command.access);
    if (done.outcome != iut::Outcome::ok) reply = done;
  }
  return keep(command.region, std::move(region), std::move(reply));
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::AllocateRegion& command) {
  if (command.region == 0 || regions_.count(command.region) != 0)
    return exists("region", command.region);
  const auto owner = domains_.find(command.domain);
  if (owner == domains_.end()) return no_such("domain", command.domain);
  if (command.length == 0) return refused("the memory has at least one octet", EINVAL);
  Region region;
  region.domain = command.domain;
  region.length = command.length;
  region.by_work = true;
  Answer reply = make(region, owner->second.object, command.fill, command.pages);
  return keep(command.region, std::move(region), std::move(reply));
}

/// The region, if the reply is good; otherwise what there is of it is destroyed.
KverbsDriver::Answer KverbsDriver::keep(Handle handle, Region region, Answer reply) {
  if (reply->outcome == iut::Outcome::ok) {
    regions_[handle] = std::move(region);
  } else {
    static_cast<void>(file_.destroy(region.object));
    static_cast<void>(file_.destroy(region.memory.handle()));
  }
  return reply;
}

/// Memory, and a region for so many pages that is not mapped onto it yet.
KverbsDriver::Answer KverbsDriver::make(Region& region, Object domain, std::uint8_t fill,
                                        std::uint64_t pages) {
  if (const int error = file_.make(region.memory, region.inset + region.length); error != 0)
    return failed("the module's memory", error);
  std::memset(region.memory.data() + region.inset, fill, region.length);
  rnic_kagent_mr made{};
  made.pd = domain;
  made.max_pages = static_cast<std::uint32_t>(pages);
  if (const int error = file_.call(RNIC_KAGENT_ALLOC_MR, made); error != 0)
    return failed("ib_alloc_mr", error);
  region.object = made.handle;
  iut::Reply reply;
  reply.stag = made.rkey;
  return reply;
}

/// Memory, and a region mapped onto it that no work request has made valid yet.
KverbsDriver::Answer KverbsDriver::allocate(Region& region, const iut::RegisterMemory& command,
                                            Object domain) {
  const bool chosen = command.zero_based || command.base.has_value();
  const std::uint64_t base = command.base.value_or(0);
  region.inset = chosen ? base % device_.page_size : 0;
  Answer made = make(region, domain, command.fill,
                     (region.inset + command.length + device_.page_size - 1) / device_.page_size);
  if (made->outcome != iut::Outcome::ok) return made;
  rnic_kagent_map map{};
  map.mr = region.object;
  map.memory = region.memory.handle();
  map.offset = region.inset;
  map.length = command.length;
  map.set_iova = chosen ? 1 : 0;
  map.iova = base;
  // As ib_inc_rkey: no key is used again soon.
  map.key = static_cast<std::uint8_t>(*made->stag + 1);
  if (const int error = file_.call(RNIC_KAGENT_MAP_MR, map); error != 0)
    return failed("ib_map_mr_sg", error);
  region.local_key = map.lkey;
  region.base = map.iova;
  iut::Reply reply;
  reply.stag = map.rkey;
  reply.base = map.iova;
  return reply;
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::DeregisterMemory& command) {
  const auto found = regions_.find(command.region);
  if (found == regions_.end() || found->second.object == 0)
    return no_such("registered region", command.region);
  if (const int error = file_.destroy(found->second.object); error != 0)
    return failed("ib_dereg_mr", error);
  found->second.object = 0;
  return iut::Reply{};
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::ReadMemory& command) {
  const auto found = regions_.find(command.region);
  if (found == regions_.end()) return no_such("region", command.region);
  const Region& region = found->second;
  if (command.offset > region.length || command.length > region.length - command.offset)
    return refused("the range is not within the region", ERANGE);
  iut::Reply reply;
  const std::byte* start = region.memory.data() + region.inset + command.offset;
  reply.octets.emplace(start, start + command.length);
  return reply;
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::WriteMemory& command) {
  const auto found = regions_.find(command.region);
  if (found == regions_.end()) return no_such("region", command.region);
  const Region& region = found->second;
  if (command.offset > region.length || command.octets.size() > region.length - command.offset)
    return refused("the range is not within the region", ERANGE);
  std::copy(command.octets.begin(), command.octets.end(),
            region.memory.data() + region.inset + command.offset);
  return iut::Reply{};
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::AllocateWindow&) {
  return unsupported("the kernel's verbs have no memory windows for its own consumers");
}

KverbsDriver::Answer KverbsDriver::run(std::uint64_t, const iut::FreeWindow& command) {
  return no_such("window", command.window);
}

}  // namespace suite::upper_tester::kverbs
