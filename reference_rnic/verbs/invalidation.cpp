// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Invalidation of STags: at the consumer's request, or by a peer's Send with Invalidate (RFC 5040
// section 5.3). StagTable decides which of them either may name.
#include "reference_rnic/verbs/queue_pair.hpp"

namespace rnic::verbs {

bool QueuePair::invalidate_locally(std::uint32_t stag) {
  const auto permitted = core_.tags.may_invalidate_locally(requester(), stag);
  if (!permitted || core_.has_windows(**permitted)) return false;
  if (core_.revokes(Decisions::Revocation::invalidated_locally)) core_.invalidate(**permitted);
  return true;
}

std::expected<void, stream::MemoryFault> QueuePair::invalidate_by_peer(std::uint32_t stag) {
  const auto permitted =
      core_.tags.may_invalidate(requester(), stag, core_.is_shared(attributes_.domain));
  if (!permitted) return std::unexpected(permitted.error());
  Tag& tag = **permitted;
  if (core_.has_windows(tag)) return std::unexpected(stream::MemoryFault::cannot_invalidate);
  core_.invalidate(tag);
  return {};
}

void Core::invalidate(Tag& tag) {
  tag.valid = false;
  if (Window* window = windows.find(tag.window); window != nullptr && window->info.bound)
    unbind(*window);
  if (Region* region = regions.find(tag.region); region != nullptr && !tag.window)
    region->info.valid = false;
}

}  // namespace rnic::verbs
