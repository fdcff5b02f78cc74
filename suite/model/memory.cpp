// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/model/memory.hpp"

#include <algorithm>
#include <boost/container_hash/hash.hpp>
#include <cstring>
#include <functional>
#include <string_view>

namespace suite::model {

namespace {

/// Calls `each(page, offset in it, octets before, how many)` for the parts of a range that pages hold.
void for_each_part(std::uint64_t offset, std::uint64_t length, std::size_t page_size,
                   const auto& each) {
  for (std::uint64_t done = 0; done < length;) {
    const std::uint64_t at = offset + done, into = at % page_size;
    const std::uint64_t count = std::min(length - done, page_size - into);
    each(at / page_size, into, done, count);
    done += count;
  }
}

}  // namespace

Contents::Contents(base::Bytes octets) : size_(octets.size()) {
  if (octets.empty()) return;
  pages_ = std::make_shared<Pages>((size_ + page_size - 1) / page_size);
  // Whole pages are compared: what is behind the last octet is 0.
  for (auto& page : *pages_) page = std::make_shared<Page>();
  write(0, octets);
}

Octets Contents::part(std::uint64_t offset, std::uint64_t length) const {
  Octets octets(length);
  for_each_part(offset, length, page_size, [&](auto page, auto into, auto done, auto count) {
    std::memcpy(octets.data() + done, (*pages_)[page]->octets.data() + into, count);
  });
  return octets;
}

Contents::Pages& Contents::own_pages() {
  if (pages_.use_count() > 1) pages_ = std::make_shared<Pages>(*pages_);
  return *pages_;
}

void Contents::write(std::uint64_t offset, base::Bytes octets) {
  if (octets.empty()) return;
  Pages& pages = own_pages();
  for_each_part(offset, octets.size(), page_size, [&](auto page, auto into, auto done, auto count) {
    std::shared_ptr<Page>& own = pages[page];
    if (own.use_count() > 1) own = std::make_shared<Page>(*own);
    std::memcpy(own->octets.data() + into, octets.data() + done, count);
    own->digest.reset();
  });
}

bool Contents::are(base::Bytes octets) const {
  if (size_ != octets.size()) return false;
  bool same = true;
  for_each_part(0, size_, page_size, [&](auto page, auto, auto done, auto count) {
    same = same && std::memcmp((*pages_)[page]->octets.data(), octets.data() + done, count) == 0;
  });
  return same;
}

std::size_t Contents::digest() const {
  std::size_t digest = size_;
  if (pages_)
    for (const auto& page : *pages_) {
      const auto* octets = reinterpret_cast<const char*>(page->octets.data());
      if (!page->digest) page->digest = std::hash<std::string_view>()({octets, page_size});
      boost::hash_combine(digest, *page->digest);
    }
  return digest;
}

bool Contents::operator==(const Contents& other) const {
  if (size_ != other.size_) return false;
  if (pages_ == other.pages_) return true;
  return std::ranges::equal(*pages_, *other.pages_, [](const auto& one, const auto& two) {
    const bool is_known_to_differ = one->digest && two->digest && *one->digest != *two->digest;
    return one == two || (!is_known_to_differ &&
                          std::memcmp(one->octets.data(), two->octets.data(), page_size) == 0);
  });
}

bool Region::operator==(const Region& other) const {
  return stag == other.stag && valid == other.valid && registered == other.registered &&
         users == other.users && placed == other.placed && indeterminate == other.indeterminate &&
         contents == other.contents;
}

void Region::note_placement(const Placed& part) {
  for (const Placed& each : placed)
    if (each.by != part.by && each.from < part.to && part.from < each.to) indeterminate = true;
  if (!placed.empty() && placed.back().by == part.by && placed.back().to == part.from)
    placed.back().to = part.to;
  else
    placed.push_back(part);
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

bool Memory::is_open(std::uint32_t stag) const {
  const auto is_it = [stag](const auto& each) { return each.stag == stag; };
  return std::ranges::any_of(regions,
                             [&](const Region& each) { return each.valid && is_it(each); }) ||
         std::ranges::any_of(windows,
                             [&](const Window& each) { return each.bound && is_it(each); });
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
