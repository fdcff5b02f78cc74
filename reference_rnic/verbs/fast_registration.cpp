// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Fast registration: a work request gives an allocated region its memory, its rights and the key of
// its STag, time and again, with an invalidation in between.
#include <limits>

#include "reference_rnic/verbs/memory_rights.hpp"
#include "reference_rnic/verbs/queue_pair.hpp"

namespace rnic::verbs {

namespace {

/// The pages that the octets touch: the first and the last one count as a whole.
std::uint64_t pages_of(const RegisterRequest& request) {
  return (request.base % region_page + request.memory.size() + region_page - 1) / region_page;
}

}  // namespace

std::optional<Error> QueuePair::refuse(const RegisterRequest& request) const {
  const Region* region = core_.regions.find(request.region);
  if (region == nullptr) return Error::invalid_handle;
  if (region->domain != attributes_.domain) return Error::wrong_domain;
  const std::uint64_t length = request.memory.size();
  if (length == 0 || pages_of(request) > region->info.pages ||
      request.base > std::numeric_limits<std::uint64_t>::max() - (length - 1))
    return Error::invalid_parameter;
  // ddp.security.prm-checks-buffer-rights
  bool granted = process_may_access(request.memory, request.access);
  core_.decisions.ask(&Decisions::registration_checked, request.memory, request.access, granted);
  return granted ? std::nullopt : std::optional(Error::invalid_parameter);
}

bool QueuePair::register_region(const RegisterRequest& request) {
  Region* region = core_.regions.find(request.region);
  Tag* tag = region == nullptr ? nullptr : core_.tags.at_index(region->info.stag);
  if (tag == nullptr || tag->valid) return false;
  tag->stag = (tag->stag & ~0xFFU) | request.key;
  tag->memory = request.memory;
  tag->base = request.base;
  tag->access = request.access;
  core_.open(*tag);
  region->info.stag = tag->stag;
  region->info.base = request.base;
  region->info.length = request.memory.size();
  region->info.access = request.access;
  region->info.valid = true;
  return true;
}

}  // namespace rnic::verbs
