// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RNICs whose fast registration is wrong: what a work request opens, when, and under which key.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "reference_rnic/deviants/rnic_tables.hpp"

namespace rnic::deviants {
namespace {

using stream::MemoryFault;
using verbs::Error;
using verbs::Need;
using verbs::Operation;
using verbs::RegionHandle;
using verbs::RegisterRequest;
using verbs::Tag;
using verbs::TagCheck;
using verbs::TagUse;
using Resolved = std::expected<wire::MutableBytes, MemoryFault>;

/// Knows the registrations that are posted, which make the tags of their regions.
class FastRegistration : public verbs::Decisions {
 public:
  void post_checked(const verbs::Posting& posting, std::optional<Error>& refused) final {
    if (posting.request.operation != Operation::register_region) return;
    const RegisterRequest& request = posting.request.registration;
    check(request, posted_.contains(request.region), refused);
    if (!refused) posted_.try_emplace(request.region, request).first->second = request;
  }
  void tag_opened(bool, Tag& tag) final {
    const auto request = posted_.find(tag.region);
    if (!tag.window && request != posted_.end()) open(request->second, tag);
  }

 protected:
  /// The last one posted for each region.
  std::map<RegionHandle, RegisterRequest> posted_;

 private:
  virtual void check(const RegisterRequest&, bool /*known*/, std::optional<Error>& /*refused*/) {}
  /// The tag that the registration opens.
  virtual void open(const RegisterRequest&, Tag&) {}
};

struct RegistrationOpensNothing : FastRegistration {
  void open(const RegisterRequest&, Tag& tag) override { tag.valid = false; }
};

struct RegisteredWhenPosted : FastRegistration {
  void check(const RegisterRequest& request, bool, std::optional<Error>& refused) override {
    if (!refused) waiting_.insert(request.region);
  }
  void open(const RegisterRequest& request, Tag&) override { waiting_.erase(request.region); }
  void tag_sought(verbs::TagMap&, std::uint32_t stag, Tag*& found) override {
    if (found == nullptr || !waiting_.contains(found->region)) return;
    const RegisterRequest& request = posted_.at(found->region);
    if ((stag & 0xFF) != request.key) return;
    early_ = *found;
    early_.stag = stag;
    early_.valid = true;
    early_.memory = request.memory;
    early_.base = request.base;
    early_.access = request.access;
    found = &early_;
  }
  std::set<RegionHandle> waiting_;
  Tag early_;
};

struct RegionRegistersOnce : FastRegistration {
  void check(const RegisterRequest&, bool known, std::optional<Error>& refused) override {
    if (known && !refused) refused = Error::invalid_state;
  }
};

/// Keeps what the region's first registration gave it.
template <auto Member>
struct FirstRegistrationKept : FastRegistration {
  void open(const RegisterRequest& request, Tag& tag) override {
    tag.*Member = first_.try_emplace(request.region, tag).first->second.*Member;
  }
  std::map<RegionHandle, Tag> first_;
};

struct FormerKeyUsable : verbs::Decisions {
  void tag_opened(bool, Tag& tag) override { keys_.insert(tag.stag); }
  void use_checked(TagCheck check, const Tag&, const TagUse& use, bool& passes) override {
    if (check == TagCheck::key && keys_.contains(use.stag)) passes = true;
  }
  std::set<std::uint32_t> keys_;
};

struct LastPageOfTheListLost : FastRegistration {
  void open(const RegisterRequest&, Tag& tag) override {
    if (tag.memory.size() > verbs::region_page)
      tag.memory = tag.memory.first(tag.memory.size() - verbs::region_page);
  }
};

struct PageListBoundUnchecked : FastRegistration {
  void check(const RegisterRequest& request, bool, std::optional<Error>& refused) override {
    if (refused == Error::invalid_parameter && !request.memory.empty()) refused.reset();
  }
};

struct RegistrationAlwaysWritable : FastRegistration {
  void open(const RegisterRequest&, Tag& tag) override { tag.access.local_write = true; }
};

struct RegistrationNeverOpensToAtomics : FastRegistration {
  void open(const RegisterRequest&, Tag& tag) override { tag.access.remote_atomic = false; }
};

struct RegistersRegionOfAnotherDomain : FastRegistration {
  void check(const RegisterRequest&, bool, std::optional<Error>& refused) override {
    if (refused == Error::wrong_domain) refused.reset();
  }
};

/// Answers what lies beside the octets, in the same pages, from octets of its own.
struct RegionGrowsToItsPages : verbs::Decisions {
  void octets_reached(const Tag* tag, const TagUse& use, Resolved& octets) override {
    if (octets || tag == nullptr || tag->memory.empty() || use.need == Need::local_read ||
        use.need == Need::window)
      return;
    const std::uint64_t first = tag->base / verbs::region_page,
                        last = (tag->base + tag->memory.size() - 1) / verbs::region_page;
    if (use.offset / verbs::region_page < first ||
        (use.offset + use.length - 1) / verbs::region_page > last)
      return;
    beside_.assign(use.length, std::byte{0});
    octets = beside_;
  }
  std::vector<std::byte> beside_;
};

/// The first use of a tag that a registration has opened finds it still closed.
template <bool Remote>
struct RegisteredOneUseLate : FastRegistration {
  void open(const RegisterRequest&, Tag& tag) override { fresh_.insert(tag.stag); }
  void use_checked(TagCheck check, const Tag&, const TagUse& use, bool& passes) override {
    const bool remote = is_remote(use.need);
    if (use.need == Need::local_invalidate) return;
    if (check == TagCheck::valid && remote == Remote && fresh_.erase(use.stag) != 0) passes = false;
  }
  std::set<std::uint32_t> fresh_;
};

constexpr RnicRow rows[] = {
    rnic_row<RegistrationOpensNothing>(Deviation::registration_opens_nothing),
    rnic_row<RegisteredWhenPosted>(Deviation::registered_when_posted),
    rnic_row<RegionRegistersOnce>(Deviation::region_registers_once),
    rnic_row<FirstRegistrationKept<&Tag::access>>(Deviation::first_access_kept),
    rnic_row<FirstRegistrationKept<&Tag::memory>>(Deviation::first_memory_kept),
    rnic_row<FormerKeyUsable>(Deviation::former_key_usable),
    rnic_row<LastPageOfTheListLost>(Deviation::last_page_of_the_list_lost),
    rnic_row<PageListBoundUnchecked>(Deviation::page_list_bound_unchecked),
    rnic_row<RegistrationAlwaysWritable>(Deviation::registration_always_writable),
    rnic_row<RegistrationNeverOpensToAtomics>(Deviation::registration_never_opens_to_atomics),
    rnic_row<RegistersRegionOfAnotherDomain>(Deviation::registers_region_of_another_domain),
    rnic_row<RegionGrowsToItsPages>(Deviation::region_grows_to_its_pages),
    rnic_row<RegisteredOneUseLate<false>>(Deviation::registered_too_late_for_later_work),
    rnic_row<RegisteredOneUseLate<true>>(Deviation::registered_too_late_for_the_peer),
};

}  // namespace

std::span<const RnicRow> registration_deviants() { return rows; }

}  // namespace rnic::deviants
