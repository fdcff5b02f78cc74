// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/model/memory.hpp"

#include <algorithm>
#include <cstring>

namespace suite::model {

bool Contents::operator==(const Contents& other) const {
  if (octets_ == other.octets_) return true;
  return octets_->size() == other.octets_->size() &&
         std::memcmp(octets_->data(), other.octets_->data(), octets_->size()) == 0;
}

void Contents::write(std::uint64_t offset, base::Bytes octets) {
  if (octets.empty()) return;
  if (octets_.use_count() > 1) octets_ = std::make_shared<Octets>(*octets_);
  std::ranges::copy(octets, octets_->begin() + static_cast<std::ptrdiff_t>(offset));
}

bool Region::operator==(const Region& other) const {
  return stag == other.stag && valid == other.valid && registered == other.registered &&
         users == other.users && indeterminate == other.indeterminate && contents == other.contents;
}

Region* Memory::find(iut::Handle handle) {
  const auto found = std::ranges::find(regions, handle, &Region::handle);
  return found == regions.end() ? nullptr : &*found;
}

const Region* Memory::find(iut::Handle handle) const {
  const auto found = std::ranges::find(regions, handle, &Region::handle);
  return found == regions.end() ? nullptr : &*found;
}

Region* Memory::of_stag(std::uint32_t stag) {
  const auto found = std::ranges::find_if(
      regions, [&](const Region& region) { return region.valid && region.stag == stag; });
  return found == regions.end() ? nullptr : &*found;
}

void Memory::check(std::uint32_t stag, std::uint64_t offset, std::uint64_t length, Use use,
                   const Accessor& by, Faults& faults) {
  const bool read = use != Use::write;
  if (offset + length < offset) faults.add(read ? fault::read_wrap : fault::tagged_wrap);
  const Region* region = of_stag(stag);
  if (region == nullptr) return faults.add(read ? fault::read_stag : fault::tagged_stag);
  if (region->domain != by.domain)
    faults.add(read ? fault::read_association : fault::tagged_association);
  const bool granted = use == Use::atomic ? region->access.remote_atomic
                       : read             ? region->access.remote_read
                                          : region->access.remote_write;
  if (!granted) faults.add(read ? fault::read_rights : fault::tagged_rights);
  if (offset < region->base) return faults.add(read ? fault::read_start : fault::tagged_start);
  const std::uint64_t into = offset - region->base;
  if (into > region->length() || length > region->length() - into)
    faults.add(read ? fault::read_end : fault::tagged_end);
}

}  // namespace suite::model
