// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RNICs whose STags are wrong: how they are chosen, what they give access to, and when they stop.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reference_rnic/deviants/rnic_tables.hpp"
#include "reference_rnic/verbs/memory_rights.hpp"

namespace rnic::deviants {
namespace {

using stream::MemoryFault;
using verbs::Need;
using verbs::Tag;
using verbs::TagCheck;
using verbs::TagUse;
using Resolved = std::expected<wire::MutableBytes, MemoryFault>;

constexpr std::uint32_t all_indices = 0xFFFFFF;
/// The key of each STag that a deviant itself chooses.
constexpr std::uint32_t only_key = 1;

/// Octets go to or from the tag's memory for the peer.
bool transfers(Need need) { return is_remote(need) && need != Need::remote_invalidate; }

// ---- what is registered ----

/// Of accesses that change the memory, or of those that do not.
template <bool written>
struct ProcessRightUnchecked : verbs::Decisions {
  void registration_checked(wire::Bytes, const verbs::Access& access, bool& granted) override {
    if (verbs::is_written(access) == written) granted = true;
  }
};

// ---- how STags are chosen ----

struct StagsPredictable : verbs::Decisions {
  void stag_chosen(const verbs::TagMap&, std::uint32_t& stag) override {
    stag = (++counted_ & all_indices) << 8 | only_key;
  }
  std::uint32_t counted_ = 0;
};

struct StagsMostlyPredictable : verbs::Decisions {
  void stag_chosen(const verbs::TagMap&, std::uint32_t& stag) override {
    const std::uint32_t index = stag >> 8;
    counted_ = (index % 4 == 0 ? index : counted_ + 1) & all_indices;
    stag = counted_ << 8 | only_key;
  }
  std::uint32_t counted_ = 0;
};

struct StagsCrowded : verbs::Decisions {
  void stag_chosen(const verbs::TagMap&, std::uint32_t& stag) override { stag &= 0xFFFFFF; }
};

struct StagsReusedAtOnce : verbs::Decisions {
  void stag_chosen(const verbs::TagMap& in_use, std::uint32_t& stag) override {
    const auto freed =
        std::ranges::find_if(chosen_.rbegin(), chosen_.rend(),
                             [&](std::uint32_t index) { return !in_use.contains(index); });
    const std::uint32_t index = freed == chosen_.rend() ? stag >> 8 : *freed;
    if (index != 0 && freed == chosen_.rend()) chosen_.push_back(index);
    stag = index << 8 | only_key;
  }
  std::vector<std::uint32_t> chosen_;
};

// ---- which tag an STag names ----

struct StagKeyUnchecked : verbs::Decisions {
  void use_checked(TagCheck check, const Tag&, const TagUse& use, bool& passes) override {
    if (check == TagCheck::key && transfers(use.need)) passes = true;
  }
};

struct StagIndexCut : verbs::Decisions {
  static constexpr std::uint32_t looked_at = 0x000FFFFF, key = 0xFF;

  void tag_sought(verbs::TagMap& tags, std::uint32_t stag, Tag*& found) override {
    if (found != nullptr) return;
    const auto alike = std::ranges::find_if(tags, [&](const auto& item) {
      return (item.second.stag & looked_at) == (stag & looked_at);
    });
    if (alike != tags.end()) found = &alike->second;
  }
  void use_checked(TagCheck check, const Tag& tag, const TagUse& use, bool& passes) override {
    if (check == TagCheck::key && transfers(use.need) && (tag.stag & key) == (use.stag & key))
      passes = true;
  }
};

/// Takes the first tag whose index has the same lowest octet, as a table of 256 entries would.
struct StagIndexInEightBits : verbs::Decisions {
  static std::uint8_t place(std::uint32_t stag) { return static_cast<std::uint8_t>(stag >> 8); }

  void tag_sought(verbs::TagMap& tags, std::uint32_t stag, Tag*& found) override {
    const auto alike = std::ranges::find_if(
        tags, [&](const auto& item) { return place(item.second.stag) == place(stag); });
    if (alike != tags.end()) found = &alike->second;
  }
  void use_checked(TagCheck check, const Tag& tag, const TagUse& use, bool& passes) override {
    if (check == TagCheck::key && tag.stag >> 8 != use.stag >> 8) passes = true;
  }
};

// ---- what should not be usable any more ----

struct InvalidStagUsable : verbs::Decisions {
  void use_checked(TagCheck check, const Tag& tag, const TagUse& use, bool& passes) override {
    if (check == TagCheck::valid && transfers(use.need) && !tag.memory.empty()) passes = true;
  }
};

/// The memory of a deregistered region is the consumer's again: the peer accesses what it held when
/// it was registered.
struct DeregisteredStagUsable : verbs::Decisions {
  struct Copy {
    std::vector<std::byte> octets;
    std::uint64_t base = 0;
  };

  void tag_opened(bool, Tag& tag) override {
    copies_[tag.stag] = {std::vector<std::byte>(tag.memory.begin(), tag.memory.end()), tag.base};
  }
  void octets_reached(const Tag* tag, const TagUse& use, Resolved& octets) override {
    const auto found = copies_.find(use.stag);
    if (tag != nullptr || found == copies_.end() || !transfers(use.need)) return;
    auto& [copy, base] = found->second;
    const std::uint64_t start = use.offset - base;
    if (start >= copy.size() || use.length > copy.size() - start)
      octets = std::unexpected(MemoryFault::base_or_bounds);
    else
      octets = wire::MutableBytes(copy).subspan(start, use.length);
  }
  std::unordered_map<std::uint32_t, Copy> copies_;
};

struct DeregisteredStagReadable : DeregisteredStagUsable {
  void octets_reached(const Tag* tag, const TagUse& use, Resolved& octets) override {
    if (use.need == Need::remote_read) DeregisteredStagUsable::octets_reached(tag, use, octets);
  }
};

struct UnbindWithoutEffect : verbs::Decisions {
  void revoked(Revocation by, bool& gone) override {
    if (by == Revocation::window_unbound) gone = false;
  }
};

struct LocalInvalidateWithoutEffect : verbs::Decisions {
  void revoked(Revocation by, bool& gone) override {
    if (by == Revocation::invalidated_locally) gone = false;
  }
};

// ---- who may use it, and how ----

struct DomainUnchecked : verbs::Decisions {
  void use_checked(TagCheck check, const Tag&, const TagUse& use, bool& passes) override {
    if (check == TagCheck::domain && is_remote(use.need)) passes = true;
  }
};

struct StreamScopeUnchecked : verbs::Decisions {
  void use_checked(TagCheck check, const Tag&, const TagUse& use, bool& passes) override {
    if (check == TagCheck::stream && is_remote(use.need)) passes = true;
  }
};

/// Leaves out one check of one kind of use.
template <TagCheck LeftOut, Need Unchecked>
struct LeavesOut : verbs::Decisions {
  void use_checked(TagCheck check, const Tag&, const TagUse& use, bool& passes) override {
    if (check == LeftOut && use.need == Unchecked) passes = true;
  }
};
template <Need Unchecked>
using RightUnchecked = LeavesOut<TagCheck::rights, Unchecked>;

struct LaterPieceNeedsNoLocalWrite : verbs::Decisions {
  void use_checked(TagCheck check, const Tag&, const TagUse& use, bool& passes) override {
    if (check != TagCheck::rights || use.need != Need::local_write) return;
    passes = passes || one_passed_;
    one_passed_ = passes;
  }

 private:
  bool one_passed_ = false;
};

/// Once a piece of a request has passed, those behind it are taken for ones of the same domain.
struct LaterPieceOfAnotherDomain : verbs::Decisions {
  void use_checked(TagCheck check, const Tag&, const TagUse& use, bool& passes) override {
    if (check != TagCheck::domain ||
        (use.need != Need::local_read && use.need != Need::local_write))
      return;
    passes = passes || one_passed_;
    one_passed_ = passes;
  }
  void work_made(const verbs::SendRequest&, stream::Work&) override { one_passed_ = false; }
  void receive_taken(stream::ReceiveBuffer&, bool&) override { one_passed_ = false; }

 private:
  bool one_passed_ = false;
};

struct SourcesNeedLocalWrite : verbs::Decisions {
  void use_checked(TagCheck check, const Tag& tag, const TagUse& use, bool& passes) override {
    if (check == TagCheck::rights && use.need == Need::local_read && !tag.access.local_write)
      passes = false;
  }
};

struct WindowRightsIgnored : verbs::Decisions {
  void use_checked(TagCheck check, const Tag& tag, const TagUse& use, bool& passes) override {
    if (check == TagCheck::rights && tag.window && transfers(use.need)) passes = true;
  }
};

struct InvalidatesForeignStag : verbs::Decisions {
  void use_checked(TagCheck check, const Tag&, const TagUse& use, bool& passes) override {
    const bool association = check == TagCheck::domain || check == TagCheck::stream;
    if (association && use.need == Need::remote_invalidate) passes = true;
  }
};

struct InvalidatesSharedStag : verbs::Decisions {
  void use_checked(TagCheck check, const Tag&, const TagUse&, bool& passes) override {
    if (check == TagCheck::unshared) passes = true;
  }
};

// ---- what a window is bound to ----

struct WindowOverAnotherDomain : verbs::Decisions {
  void post_checked(const verbs::Posting& posting, std::optional<verbs::Error>& refused) override {
    if (posting.request.operation == verbs::Operation::bind_window &&
        refused == verbs::Error::wrong_domain)
      refused.reset();
  }
};

/// Whether these octets begin in the tag's memory, and how many of them it has.
std::uint64_t held_by(const Tag& tag, const TagUse& use) {
  const std::uint64_t start = use.offset - tag.base, size = tag.memory.size();
  return start < size ? std::min<std::uint64_t>(use.length, size - start) : 0;
}

/// What lies behind the region is the consumer's: the peer accesses zeros of the deviant.
struct WindowEndUnchecked : verbs::Decisions {
  void octets_reached(const Tag* tag, const TagUse& use, Resolved& octets) override {
    constexpr std::size_t most = std::size_t{1} << 20;
    if (octets || octets.error() != MemoryFault::base_or_bounds || tag == nullptr ||
        use.need != Need::window || held_by(*tag, use) == 0 || use.length > most)
      return;
    auto& opened = opened_.emplace_back(use.length);
    std::ranges::copy(tag->memory.subspan(use.offset - tag->base, held_by(*tag, use)),
                      opened.begin());
    octets = opened;
  }
  std::deque<std::vector<std::byte>> opened_;
};

struct WindowWritesWithoutLocalWrite : verbs::Decisions {
  void octets_reached(const Tag* tag, const TagUse& use, Resolved& octets) override {
    if (!octets && octets.error() == MemoryFault::access_rights && tag != nullptr &&
        use.need == Need::window && tag->access.bind_window)
      octets = tag->memory.subspan(use.offset - tag->base, use.length);
  }
};

struct WindowNeedsNoFlag : verbs::Decisions {
  void octets_reached(const Tag* tag, const TagUse& use, Resolved& octets) override {
    if (!octets && octets.error() == MemoryFault::access_rights && tag != nullptr &&
        use.need == Need::window && !tag->access.bind_window)
      octets = tag->memory.subspan(use.offset - tag->base, use.length);
  }
};

/// What is destroyed in this way is gone at once, or never.
template <verbs::Decisions::Revocation By, bool Gone>
struct Destroys : verbs::Decisions {
  void revoked(Revocation by, bool& gone) override {
    if (by == By) gone = Gone;
  }
};
using Revocation = verbs::Decisions::Revocation;
using RegionGoneUnderItsWindows = Destroys<Revocation::deregistered, true>;

// ---- who may use a tag ----

struct RegionDomainLost : verbs::Decisions {
  void tag_opened(bool shared, Tag& tag) override {
    if (shared && !tag.window) tag.domain = {};
  }
};

struct RightsExchanged : verbs::Decisions {
  void tag_opened(bool, Tag& tag) override {
    if (!tag.window) std::swap(tag.access.remote_read, tag.access.remote_write);
  }
};

struct ReadWriteRegionHalfOpen : verbs::Decisions {
  void tag_opened(bool, Tag& tag) override {
    if (!tag.window && tag.access.remote_read) tag.access.remote_write = false;
  }
};

struct WindowForWritesOpensToAtomics : verbs::Decisions {
  void tag_opened(bool, Tag& tag) override {
    if (tag.window && tag.access.remote_write) tag.access.remote_atomic = true;
  }
};

struct WindowNeverOpensToAtomics : verbs::Decisions {
  void tag_opened(bool, Tag& tag) override {
    if (tag.window) tag.access.remote_atomic = false;
  }
};

struct StreamWindowOpensToNobody : verbs::Decisions {
  void tag_opened(bool, Tag& tag) override {
    if (tag.only_for) tag.only_for = verbs::QueuePairHandle{};
  }
};

// ---- which octets are accessed ----

/// Where the use begins, in octets into the tag's memory; a huge value below the base.
std::uint64_t start_of(const Tag& tag, const TagUse& use) { return use.offset - tag.base; }

/// Lets a peer access octets outside of what is registered, but not outside of what this process
/// owns: it gets octets of the deviant itself, with those that lie inside copied and zeros for the
/// rest.
class ReachesTooFar : public verbs::Decisions {
 public:
  void octets_reached(const Tag* tag, const TagUse& use, Resolved& octets) final {
    constexpr std::size_t most = std::size_t{1} << 20;
    if (octets || tag == nullptr || !concerned(use.need) || use.length > most) return;
    if (overlooked(*tag, start_of(*tag, use), use.length))
      octets = beyond(*tag, start_of(*tag, use), use.length);
  }

 private:
  [[nodiscard]] virtual bool concerned(Need need) const { return transfers(need); }
  /// Whether this range, which is partly outside, is accepted.
  [[nodiscard]] virtual bool overlooked(const Tag& tag, std::uint64_t start,
                                        std::uint64_t length) const = 0;
  [[nodiscard]] wire::MutableBytes beyond(const Tag& tag, std::uint64_t start, std::size_t length) {
    outside_.assign(length, std::byte{0});
    for (std::size_t i = 0; i < length; ++i)
      if (start + i < tag.memory.size()) outside_[i] = tag.memory[start + i];
    return outside_;
  }

  std::vector<std::byte> outside_;
};

struct BoundsUnchecked : ReachesTooFar {
  bool overlooked(const Tag&, std::uint64_t, std::uint64_t) const override { return true; }
};

struct BoundsOneOctetTooWide : ReachesTooFar {
  bool overlooked(const Tag& tag, std::uint64_t start, std::uint64_t length) const override {
    const std::uint64_t size = tag.memory.size();
    return size != 0 && start <= size && length == size - start + 1;
  }
};

struct BoundsRoundedToCacheLine : ReachesTooFar {
  bool overlooked(const Tag& tag, std::uint64_t start, std::uint64_t length) const override {
    constexpr std::uint64_t line = 64;
    const std::uint64_t size = tag.memory.size();
    return start < size && length <= (size + line - 1) / line * line - start;
  }
};

struct BaseOneOctetTooLow : ReachesTooFar {
  bool overlooked(const Tag& tag, std::uint64_t start, std::uint64_t) const override {
    return start == ~std::uint64_t{0} && !tag.memory.empty();
  }
};

/// The same of Reads alone.
template <class Deviant>
struct OfReads : Deviant {
  bool concerned(Need need) const override { return need == Need::remote_read; }
};

struct AtomicHalfBeyondItsRegion : ReachesTooFar {
  bool concerned(Need need) const override { return need == Need::remote_atomic; }
  bool overlooked(const Tag& tag, std::uint64_t start, std::uint64_t) const override {
    return start < tag.memory.size();
  }
};

struct EmptyRegionGivesAllMemory : ReachesTooFar {
  bool overlooked(const Tag& tag, std::uint64_t, std::uint64_t) const override {
    return tag.memory.empty() && tag.valid;
  }
};

struct WindowBoundsIgnored : ReachesTooFar {
  bool overlooked(const Tag& tag, std::uint64_t, std::uint64_t) const override {
    return static_cast<bool>(tag.window);
  }
};

/// A stream places nothing of what goes beyond the octets that it is given.
struct WritePlacedUpToTheBound : verbs::Decisions {
  void octets_reached(const Tag* tag, const TagUse& use, Resolved& octets) override {
    if (octets || tag == nullptr || use.need != Need::remote_write) return;
    const std::uint64_t start = start_of(*tag, use);
    if (start < tag->memory.size()) octets = tag->memory.subspan(start);
  }
};

struct StagRangeShifted : verbs::Decisions {
  static constexpr std::uint64_t shift = 8;

  void octets_reached(const Tag* tag, const TagUse& use, Resolved& octets) override {
    if (tag == nullptr || !transfers(use.need)) return;
    const std::uint64_t start = start_of(*tag, use) - shift, size = tag->memory.size();
    if (start < size && use.length <= size - start)
      octets = tag->memory.subspan(start, use.length);
    else
      octets = std::unexpected(MemoryFault::base_or_bounds);
  }
};

/// Of Atomics alone, or of what goes through a window alone.
struct EndpointAccessIgnoredForAtomics : verbs::Decisions {
  void use_checked(TagCheck check, const Tag&, const TagUse& use, bool& passes) override {
    if (check == TagCheck::endpoint && use.need == Need::remote_atomic) passes = true;
  }
};
struct EndpointAccessIgnoredForWindows : verbs::Decisions {
  void use_checked(TagCheck check, const Tag& tag, const TagUse&, bool& passes) override {
    if (check == TagCheck::endpoint && tag.window) passes = true;
  }
};

struct SinkNeedsAccessOfItsEndpoint : verbs::Decisions {
  void use_checked(TagCheck check, const Tag&, const TagUse& use, bool& passes) override {
    if (check == TagCheck::endpoint && use.need == Need::read_sink)
      passes = use.who.access.remote_write;
  }
};

struct EndpointAccessIgnored : verbs::Decisions {
  void use_checked(TagCheck check, const Tag&, const TagUse&, bool& passes) override {
    if (check == TagCheck::endpoint) passes = true;
  }
};

/// Goes on with the access of the endpoint that it has seen first.
struct ChangedEndpointAccessIgnored : verbs::Decisions {
  void use_checked(TagCheck check, const Tag&, const TagUse& use, bool& passes) override {
    if (check != TagCheck::endpoint || !verbs::is_remote(use.need)) return;
    const auto first = first_.emplace(use.who.queue_pair, use.who.access).first;
    passes = verbs::permits(first->second, use.need);
  }
  std::map<verbs::QueuePairHandle, verbs::Access> first_;
};

constexpr RnicRow rows[] = {
    rnic_row<EndpointAccessIgnored>(Deviation::endpoint_access_ignored),
    rnic_row<ChangedEndpointAccessIgnored>(Deviation::changed_endpoint_access_ignored),
    rnic_row<EndpointAccessIgnoredForAtomics>(Deviation::endpoint_access_ignored_for_atomics),
    rnic_row<EndpointAccessIgnoredForWindows>(Deviation::endpoint_access_ignored_for_windows),
    rnic_row<SinkNeedsAccessOfItsEndpoint>(Deviation::sink_needs_access_of_its_endpoint),
    rnic_row<ProcessRightUnchecked<true>>(Deviation::process_write_right_unchecked),
    rnic_row<ProcessRightUnchecked<false>>(Deviation::process_read_right_unchecked),
    rnic_row<StagIndexInEightBits>(Deviation::stag_index_in_eight_bits),
    rnic_row<StagsPredictable>(Deviation::stags_predictable),
    rnic_row<StagsMostlyPredictable>(Deviation::stags_mostly_predictable),
    rnic_row<StagsCrowded>(Deviation::stags_crowded),
    rnic_row<StagsReusedAtOnce>(Deviation::stags_reused_at_once),
    rnic_row<StagKeyUnchecked>(Deviation::stag_key_unchecked),
    rnic_row<StagIndexCut>(Deviation::stag_index_cut),
    rnic_row<InvalidStagUsable>(Deviation::invalid_stag_usable),
    rnic_row<DeregisteredStagUsable>(Deviation::deregistered_stag_usable),
    rnic_row<UnbindWithoutEffect>(Deviation::unbind_without_effect),
    rnic_row<LocalInvalidateWithoutEffect>(Deviation::local_invalidate_without_effect),
    rnic_row<DomainUnchecked>(Deviation::domain_unchecked),
    rnic_row<StreamScopeUnchecked>(Deviation::stream_scope_unchecked),
    rnic_row<RightUnchecked<Need::remote_write>>(Deviation::remote_write_right_unchecked),
    rnic_row<RightUnchecked<Need::remote_read>>(Deviation::remote_read_right_unchecked),
    rnic_row<RightUnchecked<Need::remote_atomic>>(Deviation::remote_atomic_right_unchecked),
    rnic_row<LeavesOut<TagCheck::domain, Need::remote_write>>(
        Deviation::domain_unchecked_for_writes),
    rnic_row<LeavesOut<TagCheck::domain, Need::remote_read>>(Deviation::domain_unchecked_for_reads),
    rnic_row<LeavesOut<TagCheck::stream, Need::remote_write>>(
        Deviation::stream_unchecked_for_writes),
    rnic_row<DeregisteredStagReadable>(Deviation::deregistered_stag_readable),
    rnic_row<OfReads<BoundsUnchecked>>(Deviation::read_bounds_unchecked),
    rnic_row<OfReads<BaseOneOctetTooLow>>(Deviation::read_base_one_octet_too_low),
    rnic_row<RightUnchecked<Need::local_write>>(Deviation::local_write_right_unchecked),
    rnic_row<LeavesOut<TagCheck::domain, Need::local_read>>(
        Deviation::domain_unchecked_for_sources),
    rnic_row<LeavesOut<TagCheck::domain, Need::local_write>>(
        Deviation::domain_unchecked_for_receives),
    rnic_row<LeavesOut<TagCheck::domain, Need::read_sink>>(
        Deviation::domain_unchecked_for_read_sinks),
    rnic_row<LaterPieceOfAnotherDomain>(Deviation::later_piece_of_another_domain),
    rnic_row<LeavesOut<TagCheck::domain, Need::local_invalidate>>(
        Deviation::domain_unchecked_for_local_invalidation),
    rnic_row<LeavesOut<TagCheck::stream, Need::local_invalidate>>(
        Deviation::stream_unchecked_for_local_invalidation),
    rnic_row<LeavesOut<TagCheck::key, Need::local_invalidate>>(
        Deviation::key_unchecked_for_local_invalidation),
    rnic_row<LaterPieceNeedsNoLocalWrite>(Deviation::later_piece_needs_no_local_write),
    rnic_row<WindowRightsIgnored>(Deviation::window_rights_ignored),
    rnic_row<InvalidatesForeignStag>(Deviation::invalidates_foreign_stag),
    rnic_row<InvalidatesSharedStag>(Deviation::invalidates_shared_stag),
    rnic_row<WindowOverAnotherDomain>(Deviation::window_over_another_domain),
    rnic_row<WindowEndUnchecked>(Deviation::window_end_unchecked),
    rnic_row<WindowWritesWithoutLocalWrite>(Deviation::window_writes_without_local_write),
    rnic_row<WindowNeedsNoFlag>(Deviation::window_needs_no_flag),
    rnic_row<RegionGoneUnderItsWindows>(Deviation::region_gone_under_its_windows),
    rnic_row<Destroys<Revocation::completion_queue_destroyed, true>>(
        Deviation::completion_queue_gone_under_its_endpoints),
    rnic_row<Destroys<Revocation::shared_queue_destroyed, true>>(
        Deviation::shared_queue_gone_under_its_endpoints),
    rnic_row<LeavesOut<TagCheck::stream, Need::window>>(Deviation::window_taken_by_another_stream),
    rnic_row<LeavesOut<TagCheck::domain, Need::remote_atomic>>(
        Deviation::domain_unchecked_for_atomics),
    rnic_row<LeavesOut<TagCheck::stream, Need::remote_atomic>>(
        Deviation::stream_unchecked_for_atomics),
    rnic_row<AtomicHalfBeyondItsRegion>(Deviation::atomic_half_beyond_its_region),
    rnic_row<SourcesNeedLocalWrite>(Deviation::sources_need_local_write),
    rnic_row<WindowForWritesOpensToAtomics>(Deviation::window_for_writes_opens_to_atomics),
    rnic_row<WindowNeverOpensToAtomics>(Deviation::window_never_opens_to_atomics),
    rnic_row<RegionDomainLost>(Deviation::region_domain_lost),
    rnic_row<RightsExchanged>(Deviation::rights_exchanged),
    rnic_row<ReadWriteRegionHalfOpen>(Deviation::read_write_region_half_open),
    rnic_row<StreamWindowOpensToNobody>(Deviation::stream_window_opens_to_nobody),
    rnic_row<BoundsUnchecked>(Deviation::bounds_unchecked),
    rnic_row<BoundsOneOctetTooWide>(Deviation::bounds_one_octet_too_wide),
    rnic_row<BoundsRoundedToCacheLine>(Deviation::bounds_rounded_to_cache_line),
    rnic_row<BaseOneOctetTooLow>(Deviation::base_one_octet_too_low),
    rnic_row<EmptyRegionGivesAllMemory>(Deviation::empty_region_gives_all_memory),
    rnic_row<WindowBoundsIgnored>(Deviation::window_bounds_ignored),
    rnic_row<WritePlacedUpToTheBound>(Deviation::write_placed_up_to_the_bound),
    rnic_row<StagRangeShifted>(Deviation::stag_range_shifted),
};

}  // namespace

std::span<const RnicRow> stag_deviants() { return rows; }

}  // namespace rnic::deviants
