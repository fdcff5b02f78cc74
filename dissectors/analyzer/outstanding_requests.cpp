// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/outstanding_requests.hpp"

#include <algorithm>

namespace dissectors::analyzer {

namespace {

constexpr std::size_t first_size = 8;

bool counts(const OutstandingRequest& request) { return !request.atomic && !request.rtr; }

}  // namespace

bool OutstandingRequests::push(const OutstandingRequest& request) {
  if (size_ == bound) return false;
  if (size_ == ring_.size()) {
    std::rotate(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(head_), ring_.end());
    head_ = 0;
    ring_.resize(std::max(first_size, 2 * ring_.size()));
  }
  ring_[(head_ + size_++) % ring_.size()] = request;
  if (counts(request)) ++reads_;
  return true;
}

void OutstandingRequests::erase(std::size_t index) {
  if (counts(at(index))) --reads_;
  for (; index > 0; --index) at(index) = at(index - 1);
  head_ = (head_ + 1) % ring_.size();
  --size_;
}

void OutstandingRequests::clear() { head_ = size_ = reads_ = 0; }

}  // namespace dissectors::analyzer
