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

bool Window::operator==(const Window& other) const {
  return stag == other.stag && bound == other.bound && region == other.region &&
         base == other.base && length == other.length && stream == other.stream;
}

Region* Memory::find(iut::Handle handle) {
  const auto found = std::ranges::find(regions, handle, &Region::handle);
  return found == regions.end() ? nullptr : &*found;
}

const Region* Memory::find(iut::Handle handle) const {
  const auto found = std::ranges::find(regions, handle, &Region::handle);
  return found == regions.end() ? nullptr : &*found;
}

std::optional<Grant> Memory::of_stag(std::uint32_t stag) {
  for (Region& region : regions)
    if (region.valid && region.stag == stag) return Grant{&region, nullptr};
  for (Window& each : windows)
    if (each.bound && each.stag == stag) return Grant{find(each.region), &each};
  return std::nullopt;
}

Window* Memory::window(iut::Handle handle) {
  const auto found = std::ranges::find(windows, handle, &Window::handle);
  return found == windows.end() ? nullptr : &*found;
}

bool Memory::has_windows(iut::Handle region) const {
  return std::ranges::any_of(
      windows, [region](const Window& each) { return each.bound && each.region == region; });
}

void Memory::revoke(std::uint32_t stag) {
  const auto grant = of_stag(stag);
  if (grant) (grant->window != nullptr ? grant->window->bound : grant->region->valid) = false;
}

void concern_revoked(const Memory& memory, std::uint32_t stag, Faults& faults) {
  for (const Region& region : memory.regions)
    if (region.stag == stag && region.registered)
      faults.concern({"ddp.security.rnic-revocation-effective",
                      "rdmap.security.no-write-after-revoke", "rdmap.invalidate.stag-invalidated"});
  for (const Window& window : memory.windows)
    if (window.stag == stag)
      faults.concern({"ddp.security.stag-validity-mechanism", "rdmap.invalidate.stag-invalidated"});
}

namespace {

bool grants(const iut::Access& access, Use use) {
  return use == Use::atomic ? access.remote_atomic
         : use == Use::read ? access.remote_read
                            : access.remote_write;
}

}  // namespace

void Memory::check(std::uint32_t stag, std::uint64_t offset, std::uint64_t length, Use use,
                   const Accessor& by, Faults& faults) {
  const bool read = use != Use::write;
  if (offset + length < offset) faults.add(read ? fault::read_wrap : fault::tagged_wrap);
  const auto grant = of_stag(stag);
  if (!grant) {
    concern_revoked(*this, stag, faults);
    return faults.add(read ? fault::read_stag : fault::tagged_stag);
  }
  const bool elsewhere = grant->stream().value_or(by.stream) != by.stream;
  if (elsewhere)
    faults.concern({"ddp.security.stream-mismatch-not-placed", "sec.stag.single-stream-isolation"});
  if (grant->domain() != by.domain) faults.concern({"ddp.security.pd-mismatch-not-placed"});
  if (grant->domain() != by.domain || elsewhere)
    faults.add(read ? fault::read_association : fault::tagged_association);
  if (!grants(grant->access(), use)) {
    if (grant->window) faults.concern({"ddp.security.rnic-access-rights-mechanism"});
    faults.add(read ? fault::read_rights : fault::tagged_rights);
  }
  if (grant->window) faults.concern({"ddp.security.to-range-mechanism"});
  if (offset < grant->base()) return faults.add(read ? fault::read_start : fault::tagged_start);
  const std::uint64_t into = offset - grant->base();
  if (into > grant->length() || length > grant->length() - into)
    faults.add(read ? fault::read_end : fault::tagged_end);
}

}  // namespace suite::model
