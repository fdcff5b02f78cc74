// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Zones, regions, and contexts of the consumer.
#include <fmt/format.h>

#include "suite/sessions/dat/player.hpp"

namespace suite::sessions::dat {

namespace {

constexpr unsigned remote_privileges =
    DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG;
static_assert(usual_flags(Action::make_region) == DAT_MEM_PRIV_ALL_FLAG);

}  // namespace

// ---------------------------------------------------------------- zones

void Player::make_zone(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % zone_places;
  if (model_.zones[at].handle != DAT_HANDLE_NULL) return;
  DAT_PZ_HANDLE handle = DAT_HANDLE_NULL;
  const DAT_RETURN got = call(turn, [&] { return CALL(dat_pz_create, ia_->get(), &handle); });
  if (!expect("dat.pz-create.success", got, succeeds)) return;
  demand(handle != DAT_HANDLE_NULL, "dat.pz-create.success", "a handle", "DAT_HANDLE_NULL");
  if (model_.zones[at].handle != DAT_HANDLE_NULL) {  // another lane was faster
    expect("dat.pz-free.success", call(turn, [&] { return CALL(dat_pz_free, handle); }), succeeds);
    return;
  }
  model_.zones[at].handle = handle;
  DAT_PZ_PARAM param{};
  expect("dat.pz-query.success",
         call(turn, [&] { return CALL(dat_pz_query, handle, DAT_PZ_FIELD_ALL, &param); }),
         succeeds);
  demand(param.ia_handle == ia_->get(), "dat.pz-query.success", "the IA", "another handle");
  ++played_;
}

void Player::free_zone(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % zone_places;
  Zone& zone = model_.zones[at];
  if (zone.handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  ++played_;
  const bool used = model_.zone_is_used(at);
  const DAT_RETURN got = call(turn, [&] { return CALL(dat_pz_free, zone.handle); });
  if (!expect(used ? "dat.pz-free.invalid-state" : "dat.pz-free.success", got,
              used ? returns(DAT_INVALID_STATE) : succeeds))
    return;
  is_freed(Object::zone, zone.handle);
  zone = {};
}

// ---------------------------------------------------------------- regions

void Player::make_region(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % region_places, zone = step.other % zone_places;
  Region& region = model_.regions[at];
  const DAT_PZ_HANDLE pz = model_.zones[zone].handle;
  if (region.handle != DAT_HANDLE_NULL || pz == DAT_HANDLE_NULL || step.number < 1 ||
      turn.lane != 0)
    return;
  ++played_;
  Region made{.zone = zone, .privileges = step.flags & DAT_MEM_PRIV_ALL_FLAG};
  made.memory = model_.add_memory(static_cast<std::size_t>(step.number));
  DAT_REGION_DESCRIPTION description{};
  description.for_va = model_.memories[made.memory].octets->data();
  const bool zero_based = step.third % 2 == 1 && model_.able.zero_based;
  DAT_VLEN length = 0;
  DAT_VADDR address = 0;
  const DAT_RETURN got = call(turn, [&] {
    return CALL(dat_lmr_create, ia_->get(), DAT_MEM_TYPE_VIRTUAL, description,
                static_cast<DAT_VLEN>(step.number), pz,
                static_cast<DAT_MEM_PRIV_FLAGS>(made.privileges),
                zero_based ? DAT_VA_TYPE_ZB : DAT_VA_TYPE_VA, &made.handle, &made.local,
                &made.remote, &length, &address);
  });
  if (!expect("dat.lmr-create.success", got, succeeds)) return;
  region = made;
  const auto start = reinterpret_cast<DAT_VADDR>(description.for_va);
  if (zero_based) model_.memories[made.memory].base = 0;
  // What address a region has whose octets are addressed from zero, no text says.
  demand(zero_based ||
             (address <= start && address + length >= start + static_cast<DAT_VLEN>(step.number)),
         "dat.lmr-create.success", "all of the memory", "less of it");
  const bool remote = (made.privileges & remote_privileges) != 0;
  demand((made.remote != 0) == remote, "dat.lmr-create.remote-context",
         remote ? "a context for remote use" : "none", remote ? "none" : "one");
  for (std::uint32_t i = 0; i < region_places; ++i) {
    const Region& other = model_.regions[i];
    if (i == at || other.handle == DAT_HANDLE_NULL) continue;
    demand(other.local != made.local && (!remote || other.remote != made.remote),
           "dat.lmr-create.concurrent", "contexts of its own", "those of another region");
  }
}

void Player::free_region(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % region_places;
  Region& region = model_.regions[at];
  if (region.handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  // What the end of a region that a transfer uses does to the transfer is left open.
  if (model_.is_held(at)) settle(turn);
  if (model_.is_held(at)) return;
  ++played_;
  const auto bound = model_.region_is_bound(at);
  const Returns wanted = !bound   ? returns_one_of({DAT_SUCCESS, DAT_INVALID_STATE})
                         : *bound ? returns(DAT_INVALID_STATE)
                                  : succeeds;
  const DAT_RETURN got = call(turn, [&] { return CALL(dat_lmr_free, region.handle); });
  if (!expect(bound.value_or(false) ? "dat.lmr-free.invalid-state" : "dat.lmr-free.success", got,
              wanted))
    return;
  const Memory& memory = model_.memories[region.memory];
  model_.former.push_back({.local = region.local,
                           .remote = region.remote,
                           .address = memory.base,
                           .length = memory.size(),
                           .of_window = {}});
  is_freed(Object::region, region.handle);
  region = {};
}

void Player::query_region(const Step& step, Turn& turn) {
  const Region& region = model_.regions[step.object % region_places];
  if (region.handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  ++played_;
  DAT_LMR_PARAM param{};
  if (step.wrong == Wrong::fields) {
    expect("dat.lmr-query.invalid-parameter",
           call(turn,
                [&] {
                  return CALL(dat_lmr_query, region.handle,
                              dat_case::flags_of<DAT_LMR_PARAM_MASK>(0x1000), &param);
                }),
           returns(DAT_INVALID_PARAMETER));
    return;
  }
  const DAT_RETURN got =
      call(turn, [&] { return CALL(dat_lmr_query, region.handle, DAT_LMR_FIELD_ALL, &param); });
  if (!expect("dat.lmr-query.success", got, succeeds)) return;
  const Memory& memory = model_.memories[region.memory];
  const auto same = [](const char* what, bool is) {
    demand(is, "dat.lmr-query.success", what, "another value");
  };
  same("the IA", param.ia_handle == ia_->get());
  same("the zone", param.pz_handle == model_.zones[region.zone].handle);
  same("the length", param.length == memory.size());
  same("the privileges", static_cast<unsigned>(param.mem_priv) == region.privileges);
  same("the context", param.lmr_context == region.local);
  same("the context for peers", param.rmr_context == region.remote);
  same("the address", param.region_desc.for_va == memory.octets->data());
}

void Player::sync_memory(const Step& step, Turn& turn) {
  const std::uint32_t at = step.object % region_places;
  if (model_.regions[at].handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  ++played_;
  const Memory& memory = model_.memory_of(at);
  const std::size_t offset = step.offset % memory.size();
  DAT_LMR_TRIPLET segment{};
  segment.virtual_address = memory.base + offset;
  segment.segment_length = static_cast<DAT_SEG_LENGTH>(memory.size() - offset);
  segment.lmr_context = model_.regions[at].local;
  const bool outside = step.wrong == Wrong::beyond_end;
  if (outside) ++segment.segment_length;
  const bool writes = (step.flags & 1U) != 0;
  const DAT_RETURN got = call(turn, [&] {
    return writes ? CALL(dat_lmr_sync_rdma_write, ia_->get(), &segment, 1)
                  : CALL(dat_lmr_sync_rdma_read, ia_->get(), &segment, 1);
  });
  const char* success_rule =
      writes ? "dat.lmr-sync-rdma-write.success" : "dat.lmr-sync-rdma-read.success";
  const char* refusal_rule = writes ? "dat.lmr-sync-rdma-write.invalid-parameter"
                                    : "dat.lmr-sync-rdma-read.invalid-parameter";
  expect(outside ? refusal_rule : success_rule, got,
         outside ? returns(DAT_INVALID_PARAMETER) : succeeds);
}

// ---------------------------------------------------------------- contexts

DAT_HANDLE Player::handle_of(Object kind, std::uint32_t place) const {
  switch (kind) {
    case Object::zone:
      return model_.zones[place % zone_places].handle;
    case Object::region:
      return model_.regions[place % region_places].handle;
    case Object::window:
      return model_.windows[place % window_places].handle;
    case Object::dispatcher:
      return model_.dispatchers[place % dispatcher_places].handle;
    case Object::queue:
      return model_.queues[place % queue_places].handle;
    case Object::notifier:
      return model_.notifiers[place % notifier_places].handle;
    case Object::endpoint:
      return model_.endpoints[place % endpoint_places].handle;
  }
  return DAT_HANDLE_NULL;
}

void Player::set_context(const Step& step, Turn& turn) {
  const DAT_HANDLE handle = handle_of(static_cast<Object>(step.other % object_kinds), step.object);
  if (handle == DAT_HANDLE_NULL || turn.lane != 0) return;
  ++played_;
  DAT_CONTEXT context{};
  context.as_64 = static_cast<DAT_UINT64>(step.number);
  const DAT_RETURN got =
      call(turn, [&] { return CALL(dat_set_consumer_context, handle, context); });
  if (!expect("dat.set-consumer-context.success", got, succeeds)) return;
  forget_context(handle);
  contexts_.emplace_back(handle, static_cast<std::uintptr_t>(step.number));
}

// Of one of the objects that have a context, whichever it is.
void Player::get_context(const Step& step, Turn& turn) {
  if (contexts_.empty() || turn.lane != 0) return;
  ++played_;
  const auto [handle, set] = contexts_[static_cast<std::size_t>(step.number) % contexts_.size()];
  DAT_CONTEXT context{};
  const DAT_RETURN got =
      call(turn, [&] { return CALL(dat_get_consumer_context, handle, &context); });
  if (expect("dat.get-consumer-context.success", got, succeeds))
    demand(context.as_64 == set, "dat.get-consumer-context.success", fmt::format("{:#x}", set),
           fmt::format("{:#x}", context.as_64));
}

}  // namespace suite::sessions::dat
