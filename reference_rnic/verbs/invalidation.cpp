// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// STags invalidated: by the consumer's request, or by a peer's Send with Invalidate (RFC 5040
// section 5.3). Which of them a peer may name is the STag table's to say:
// StagTable::may_invalidate().
#include "reference_rnic/verbs/queue_pair.hpp"

namespace rnic::verbs {

template <typename Policy>
bool QueuePair<Policy>::invalidate_locally(std::uint32_t stag) {
  Tag* tag = core_.tags.at_index(stag);
  if (tag == nullptr || tag->stag != stag || !tag->valid || tag->domain != attributes_.domain)
    return false;
  if ((tag->only_for && *tag->only_for != handle_) || core_.has_windows(*tag)) return false;
  if (!core_.deviates(stream::Deviation::local_invalidate_without_effect)) core_.invalidate(*tag);
  return true;
}

template <typename Policy>
std::expected<void, stream::MemoryFault> QueuePair<Policy>::invalidate_by_peer(std::uint32_t stag) {
  const auto permitted =
      core_.tags.may_invalidate(requester(), stag, core_.is_shared(attributes_.domain));
  if (!permitted) return std::unexpected(permitted.error());
  Tag& tag = **permitted;
  if (core_.has_windows(tag)) return std::unexpected(stream::MemoryFault::cannot_invalidate);
  core_.invalidate(tag);
  return {};
}

template <typename Policy>
void Core<Policy>::invalidate(Tag& tag) {
  tag.valid = false;
  if (Window* window = windows.find(tag.window); window != nullptr && window->info.bound)
    unbind(*window);
  if (Region* region = regions.find(tag.region); region != nullptr && !tag.window)
    region->info.valid = false;
}

template bool QueuePair<stream::Conforming>::invalidate_locally(std::uint32_t);
template bool QueuePair<stream::Deviating>::invalidate_locally(std::uint32_t);
template std::expected<void, stream::MemoryFault> QueuePair<stream::Conforming>::invalidate_by_peer(
    std::uint32_t);
template std::expected<void, stream::MemoryFault> QueuePair<stream::Deviating>::invalidate_by_peer(
    std::uint32_t);
template void Core<stream::Conforming>::invalidate(Tag&);
template void Core<stream::Deviating>::invalidate(Tag&);

}  // namespace rnic::verbs
