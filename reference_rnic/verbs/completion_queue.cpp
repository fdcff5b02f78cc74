// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The completion queue's arm and overflow rules.
#include "reference_rnic/verbs/completion_queue.hpp"

#include <algorithm>

namespace rnic::verbs {

CompletionQueue::Pushed CompletionQueue::push(const Completion& completion) {
  if (overflowed_) return Pushed::lost;
  if (entries_.size() >= depth_) {
    overflowed_ = true;
    return Pushed::first_overflow;
  }
  entries_.push_back(completion);
  return Pushed::kept;
}

bool CompletionQueue::is_armed_for(const Completion& completion) const {
  return armed_ &&
         (*armed_ == Arm::next || completion.solicited || completion.status != Status::success);
}

std::expected<std::size_t, Error> CompletionQueue::poll(std::span<Completion> out) {
  if (overflowed_ && entries_.empty()) return std::unexpected(Error::overflowed);
  const std::size_t count = std::min(out.size(), entries_.size());
  for (Completion& completion : out.first(count)) {
    completion = entries_.front();
    entries_.pop_front();
  }
  return count;
}

void CompletionQueue::arm(Arm arm) {
  if (!armed_ || arm == Arm::next) armed_ = arm;
}

std::expected<void, Error> CompletionQueue::resize(std::uint32_t depth) {
  if (overflowed_) return std::unexpected(Error::overflowed);
  if (depth < entries_.size()) return std::unexpected(Error::invalid_parameter);
  depth_ = depth;
  return {};
}

}  // namespace rnic::verbs
