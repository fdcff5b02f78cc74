// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Memory windows: bound and unbound by work requests of a queue pair, and unbound when their STag
// is invalidated.
#include "reference_rnic/verbs/memory_window.hpp"

#include "reference_rnic/verbs/queue_pair.hpp"

namespace rnic::verbs {

std::expected<wire::MutableBytes, stream::MemoryFault> octets_of_window(
    const Tag& under, const BindRequest& request) {
  if (!under.valid || under.window) return std::unexpected(stream::MemoryFault::invalid_stag);
  const std::uint64_t start = request.offset - under.base;
  if (request.offset < under.base || start > under.memory.size() ||
      request.length > under.memory.size() - start)
    return std::unexpected(stream::MemoryFault::base_or_bounds);
  const bool writes = request.access.remote_write || request.access.remote_atomic;
  if (!permits(under.access, Need::window) || (writes && !under.access.local_write))
    return std::unexpected(stream::MemoryFault::access_rights);
  return under.memory.subspan(start, request.length);
}

std::optional<Error> QueuePair::refuse(const BindRequest& request) const {
  const Window* window = core_.windows.find(request.window);
  const Region* region = core_.regions.find(request.region);
  const bool unbinds = request.length == 0;
  if (window == nullptr || (region == nullptr && !unbinds)) return Error::invalid_handle;
  // sec.stag.pd-isolation
  if (window->domain != attributes_.domain ||
      (region != nullptr && region->domain != attributes_.domain))
    return Error::wrong_domain;
  return std::nullopt;
}

bool QueuePair::bind(const BindRequest& request) {
  Window* window = core_.windows.find(request.window);
  Tag* tag = window == nullptr ? nullptr : core_.tags.at_index(window->info.stag);
  if (tag == nullptr) return false;
  if (!core_.tags.may_rebind(requester(), *tag)) return false;
  if (request.length == 0) {
    if (window->info.bound && core_.revokes(Decisions::Revocation::window_unbound))
      core_.unbind(*window);
    return true;
  }
  Region* region = core_.regions.find(request.region);
  const Tag* under = region == nullptr ? nullptr : core_.tags.at_index(region->info.stag);
  if (under == nullptr) return false;
  auto octets = octets_of_window(*under, request);
  const Requester owner = requester();
  const TagUse use{.who = owner,
                   .stag = under->stag,
                   .need = Need::window,
                   .offset = request.offset,
                   .length = request.length};
  core_.decisions.ask(&Decisions::octets_reached, under, use, octets);
  if (!octets) return false;
  if (window->info.bound) core_.unbind(*window);
  if (request.key) window->info.stag = (window->info.stag & ~0xFFU) | *request.key;
  tag->stag = window->info.stag;
  tag->memory = *octets;
  tag->base = request.zero_based ? 0 : request.offset;
  tag->access = {.remote_read = request.access.remote_read,
                 .remote_write = request.access.remote_write,
                 .remote_atomic = request.access.remote_atomic};
  tag->only_for =
      window->info.scope == WindowScope::queue_pair ? std::optional(handle_) : std::nullopt;
  tag->region = request.region;
  core_.open(*tag);
  window->region = request.region;
  window->info.bound = true;
  ++region->windows;
  return true;
}

void Core::unbind(Window& window) {
  if (Tag* tag = tags.at_index(window.info.stag)) tag->valid = false;
  if (Region* region = regions.find(window.region)) --region->windows;
  window.info.bound = false;
}

bool Core::has_windows(const Tag& tag) const {
  const Region* region = tag.window ? nullptr : regions.find(tag.region);
  return region != nullptr && region->windows != 0;
}

}  // namespace rnic::verbs
