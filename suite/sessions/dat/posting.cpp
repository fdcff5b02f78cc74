// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What posts are made with: segments of regions, right or wrong in one way, and memory of the peer.
#include <algorithm>
#include <array>
#include <string_view>

#include "suite/sessions/dat/player.hpp"

namespace suite::sessions::dat {

namespace {

/// The rules of what a call refuses.
struct PostRules {
  std::string_view call;
  const char *segments, *outside, *protection, *privileges, *flags;
};
constexpr std::array post_rules{
    PostRules{"ep-post-recv", "dat.ep-post-recv.segments", "dat.ep-post-recv.outside",
              "dat.ep-post-recv.protection", "dat.ep-post-recv.privileges",
              "dat.ep-post-recv.flags"},
    PostRules{"ep-post-send", "dat.ep-post-send.segments", "dat.ep-post-send.outside",
              "dat.ep-post-send.protection", "dat.ep-post-send.privileges",
              "dat.ep-post-send.flags"},
    PostRules{"ep-post-rdma-write", "dat.ep-post-rdma-write.segments",
              "dat.ep-post-rdma-write.outside", "dat.ep-post-rdma-write.protection",
              "dat.ep-post-rdma-write.privileges", "dat.ep-post-rdma-write.flags"},
    PostRules{"ep-post-rdma-read", "dat.ep-post-rdma-read.segments",
              "dat.ep-post-rdma-read.outside", "dat.ep-post-rdma-read.protection",
              "dat.ep-post-rdma-read.privileges", "dat.ep-post-rdma-read.flags"},
    PostRules{"srq-post-recv", "dat.srq-post-recv.invalid-parameter",
              "dat.srq-post-recv.invalid-parameter", "dat.srq-post-recv.protection-violation",
              "dat.srq-post-recv.privileges-violation", nullptr}};

constexpr unsigned remote_privileges =
    DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG;

}  // namespace

std::optional<std::uint32_t> Player::region_for(std::uint32_t start, std::uint32_t zone,
                                                unsigned privileges, bool other_zone) const {
  for (std::uint32_t i = 0; i < region_places; ++i) {
    const std::uint32_t at = (start + i) % region_places;
    const Region& region = model_.regions[at];
    if (region.handle != DAT_HANDLE_NULL && (region.zone != zone) == other_zone &&
        (region.privileges & privileges) == privileges)
      return at;
  }
  return std::nullopt;
}

std::optional<Player::Segments> Player::segments_for(const Step& step, std::uint32_t zone,
                                                     std::size_t length, std::size_t most,
                                                     bool sink, std::uint64_t hold) {
  Segments made;
  if (length == 0) {
    // An empty segment may have anything else in it.
    if (step.segments == 2 && most > 0) made.triplets.push_back({0x5A5A, 0, 0x5A5A});
    return made;
  }
  const auto place =
      region_for(step.other, zone, sink ? unsigned{DAT_MEM_PRIV_LOCAL_WRITE_FLAG} : 0, false);
  if (!place) return std::nullopt;
  const Region& region = model_.regions[*place];
  Memory& memory = model_.memories[region.memory];
  const std::size_t count = std::clamp<std::size_t>(step.segments, 1, std::min(most, length));
  std::size_t rest = length;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t part =
        i + 1 == count ? rest : rest / (count - i) + (i % 2 == 0 ? 0 : rest % (count - i));
    const auto at = memory.place(step.offset + i * 37, part);
    if (part == 0 || !at) {
      model_.release(hold);
      return std::nullopt;
    }
    DAT_LMR_TRIPLET triplet{};
    triplet.virtual_address = memory.base + *at;
    triplet.segment_length = static_cast<DAT_SEG_LENGTH>(part);
    triplet.lmr_context = region.local;
    made.triplets.push_back(triplet);
    made.ranges.push_back({region.memory, *at, part});
    model_.hold({made.ranges.back()}, hold, false);
    rest -= part;
  }
  return made;
}

std::optional<std::pair<const char*, Returns>> Player::spoil(const Step& step, Segments& segments,
                                                             std::uint32_t zone, bool sink,
                                                             const char* call, DAT_COUNT most) {
  const PostRules& rules = *std::ranges::find(post_rules, std::string_view(call), &PostRules::call);
  auto& triplets = segments.triplets;
  const Returns invalid = returns(DAT_INVALID_PARAMETER);
  if (step.wrong == Wrong::unsignalled &&
      ((usual_.request_completion_flags | usual_.recv_completion_flags) &
       DAT_COMPLETION_UNSIGNALLED_FLAG) != 0)
    return std::nullopt;
  if ((step.wrong == Wrong::flags || step.wrong == Wrong::unsignalled) && rules.flags != nullptr)
    return std::pair{rules.flags, invalid};
  if (step.wrong == Wrong::nothing || triplets.empty() || segments.ranges.empty())
    return std::nullopt;
  if (step.wrong == Wrong::negative_count) return std::pair{rules.segments, invalid};
  if (step.wrong == Wrong::too_many_segments) {
    if (most > 256) return std::nullopt;
    triplets.assign(static_cast<std::size_t>(most) + 1, triplets.front());
    return std::pair{rules.segments, invalid};
  }
  // Faults of memory may be told later where the provider says so.
  if (model_.able.later_returns) return std::nullopt;
  DAT_LMR_TRIPLET& last = triplets.back();
  const Memory& memory = model_.memories[segments.ranges.back().region];
  // DAT 1.2 has both returns for memory outside of its region of a shared queue's receive.
  const Returns outside =
      rules.flags == nullptr ? invalid.or_tolerably(DAT_PROTECTION_VIOLATION) : invalid;
  switch (step.wrong) {
    case Wrong::before_start:
      last.virtual_address = memory.base - 1;
      return std::pair{rules.outside, outside};
    case Wrong::beyond_end:
      last.virtual_address = memory.base + memory.size() - last.segment_length + 1;
      return std::pair{rules.outside, outside};
    case Wrong::after_end:
      last.virtual_address = memory.base + memory.size();
      return std::pair{rules.outside, outside};
    case Wrong::another_zone:
    case Wrong::no_privilege:
      break;
    case Wrong::freed: {
      const auto gone = std::ranges::find_if(model_.former, [&](const FormerContext& one) {
        return !one.of_window && one.length >= last.segment_length &&
               std::ranges::none_of(model_.regions, [&](const Region& region) {
                 return region.handle != DAT_HANDLE_NULL && region.local == one.local;
               });
      });
      if (gone == model_.former.end()) return std::nullopt;
      last.virtual_address = gone->address;
      last.lmr_context = gone->local;
      return std::pair{rules.privileges, returns(DAT_PRIVILEGES_VIOLATION)
                                             .or_tolerably(DAT_PROTECTION_VIOLATION)
                                             .or_tolerably(DAT_INVALID_PARAMETER)};
    }
    default:
      return std::nullopt;
  }
  const bool foreign = step.wrong == Wrong::another_zone;
  for (std::uint32_t i = 0; i < region_places; ++i) {
    const Region& region = model_.regions[(step.other + i) % region_places];
    const bool writable = (region.privileges & DAT_MEM_PRIV_LOCAL_WRITE_FLAG) != 0;
    if (region.handle == DAT_HANDLE_NULL || (region.zone != zone) != foreign ||
        (foreign ? sink && !writable : !sink || writable) ||
        model_.memories[region.memory].size() < last.segment_length)
      continue;
    last.virtual_address = model_.memories[region.memory].base;
    last.lmr_context = region.local;
    return foreign ? std::pair{rules.protection, returns(DAT_PROTECTION_VIOLATION)}
                   : std::pair{rules.privileges, returns(DAT_PRIVILEGES_VIOLATION)};
  }
  return std::nullopt;
}

// ---------------------------------------------------------------- memory of the peer

// third: a region, or beyond these a window.
std::optional<Player::Remote> Player::remote_for(const Step& step, const Endpoint& endpoint,
                                                 std::size_t length, unsigned privilege) {
  const std::uint32_t zone = endpoint.peer ? model_.endpoints[*endpoint.peer].zone : endpoint.zone;
  Remote remote;
  remote.triplet.segment_length = static_cast<DAT_SEG_LENGTH>(length);
  if (step.third >= region_places) {
    const auto is_usable = [&](const Window& one) {
      return one.handle != DAT_HANDLE_NULL && one.region && !one.unknown && one.zone == zone &&
             (one.privileges & privilege) != 0 && one.length >= length;
    };
    const auto found = std::ranges::find_if(model_.windows, is_usable);
    const bool usable = found != model_.windows.end();
    const bool binding = std::ranges::any_of(model_.endpoints, [](const Endpoint& one) {
      return std::ranges::any_of(one.requests,
                                 [](const Request& each) { return each.kind == Kind::bind; });
    });
    if (!usable || binding) return std::nullopt;
    const Window& window = *found;
    const Memory& memory = model_.memory_of(*window.region);
    const std::size_t at = window.offset + step.offset % (window.length - length + 1);
    if (length > 0 && memory.is_used(at, length)) return std::nullopt;
    remote.triplet.virtual_address = memory.base + at;
    remote.triplet.rmr_context = window.context;
    remote.range = {model_.regions[*window.region].memory, at, length};
    return remote;
  }
  const auto place = region_for(step.third, zone, privilege, false);
  if (!place) return std::nullopt;
  const Memory& memory = model_.memory_of(*place);
  const auto at = memory.place(step.offset, length);
  if (!at) return std::nullopt;
  remote.triplet.virtual_address = memory.base + *at;
  remote.triplet.rmr_context = model_.regions[*place].remote;
  remote.range = {model_.regions[*place].memory, *at, length};
  return remote;
}

std::optional<Player::Remote> Player::closed_remote(const Step& step, const Endpoint& endpoint,
                                                    std::size_t length, unsigned privilege) {
  const char* usual = privilege == DAT_MEM_PRIV_REMOTE_WRITE_FLAG ? "dat.ep-post-rdma-write.remote"
                                                                  : "dat.ep-post-rdma-read.remote";
  const std::uint32_t zone = model_.endpoints[*endpoint.peer].zone;
  Remote remote{.closed = usual};
  remote.triplet.segment_length = static_cast<DAT_SEG_LENGTH>(length);
  const auto at = [&](DAT_VADDR address, DAT_RMR_CONTEXT context) {
    remote.triplet.virtual_address = address;
    remote.triplet.rmr_context = context;
    return remote;
  };
  const bool of_window = step.third >= region_places;
  const Window& window = model_.windows[step.third % window_places];
  if (step.wrong == Wrong::peer_freed || step.wrong == Wrong::former) {
    const bool windows = step.wrong == Wrong::former;
    const auto gone = std::ranges::find_if(
        model_.former.rbegin(), model_.former.rend(), [&](const FormerContext& one) {
          const auto is_live = [&](const auto& object, DAT_RMR_CONTEXT context) {
            return object.handle != DAT_HANDLE_NULL && context == one.remote;
          };
          return one.of_window.has_value() == windows && one.remote != 0 && one.length >= length &&
                 std::ranges::none_of(
                     model_.regions,
                     [&](const Region& each) { return is_live(each, each.remote); }) &&
                 std::ranges::none_of(model_.windows, [&](const Window& each) {
                   return each.unknown || is_live(each, each.context);
                 });
        });
    if (gone == model_.former.rend()) return std::nullopt;
    remote.closed = windows ? "dat.rmr-bind.rebind" : "dat.lmr-free.remote-use";
    return at(gone->address, gone->remote);
  }
  if (of_window && step.wrong != Wrong::peer_another_zone) {
    if (window.handle == DAT_HANDLE_NULL || !window.region || window.unknown ||
        window.zone != zone || window.length < length)
      return std::nullopt;
    const DAT_VADDR start = model_.memory_of(*window.region).base + window.offset;
    const bool open = (window.privileges & privilege) != 0;
    remote.closed = "dat.rmr-bind.bounds-remote";
    if (step.wrong == Wrong::peer_before_start && open) return at(start - 1, window.context);
    if (step.wrong == Wrong::peer_beyond_end && open)
      return at(start + window.length - length + 1, window.context);
    remote.closed = "dat.rmr-bind.privileges-remote";
    if (step.wrong == Wrong::peer_no_privilege && !open) return at(start, window.context);
    return std::nullopt;
  }
  for (std::uint32_t i = 0; i < region_places; ++i) {
    const Region& region = model_.regions[(step.third + i) % region_places];
    if (region.handle == DAT_HANDLE_NULL || (region.privileges & remote_privileges) == 0) continue;
    const Memory& memory = model_.memories[region.memory];
    const bool open = (region.privileges & privilege) != 0, same = region.zone == zone;
    if (memory.size() < length) continue;
    const DAT_VADDR start = memory.base;
    if (step.wrong == Wrong::peer_before_start && open && same && start > 0)
      return at(start - 1, region.remote);
    if (step.wrong == Wrong::peer_beyond_end && open && same)
      return at(start + memory.size() - length + 1, region.remote);
    if (step.wrong == Wrong::peer_another_zone && open && !same) return at(start, region.remote);
    if (step.wrong == Wrong::peer_no_privilege && !open && same) {
      remote.closed = privilege == DAT_MEM_PRIV_REMOTE_WRITE_FLAG ? "dat.lmr-create.no-remote-write"
                                                                  : "dat.lmr-create.no-remote-read";
      return at(start, region.remote);
    }
  }
  return std::nullopt;
}

// ---------------------------------------------------------------- states

Returns Player::of_a_request(const Endpoint& endpoint) const {
  Returns wanted;
  switch (endpoint.phase) {
    case Phase::unconnected:
      return returns(DAT_INVALID_STATE);
    case Phase::ending:  // disconnect pending, or not any more
      wanted = returns_one_of({DAT_SUCCESS, DAT_INVALID_STATE});
      break;
    case Phase::connected:
    case Phase::disconnected:
      wanted = succeeds;
  }
  // Whether a request counts until it completes or until that is taken, no text says.
  if (static_cast<DAT_COUNT>(endpoint.requests.size()) >= endpoint.attributes.max_request_dtos)
    wanted.types.push_back(DAT_INSUFFICIENT_RESOURCES);
  return wanted;
}

Statuses Player::of_a_request_posted(const Endpoint& endpoint) const {
  if (endpoint.phase == Phase::connected) return success;
  if (endpoint.phase == Phase::ending && !endpoint.ended_it) return success | any_failure;
  return flushed;
}

}  // namespace suite::sessions::dat
