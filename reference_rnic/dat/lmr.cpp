// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Registration, the checks of local segments, and the calls on LMRs.
#include "reference_rnic/dat/lmr.hpp"

#include <cstring>

#include "reference_rnic/dat/calls.hpp"

namespace rnic::dat {

Lmr::~Lmr() {
  ia->by_context.erase(region.stag);
  static_cast<void>(ia->rnic().deregister(region.region));
}

bool Lmr::covers(DAT_VADDR address, DAT_VLEN length) const {
  const DAT_VADDR start = address - region.base;  // huge below the base
  return start <= region.length && length <= region.length - start;
}

wire::MutableBytes Lmr::at(DAT_VADDR address, DAT_SEG_LENGTH length) const {
  return memory.subspan(address - region.base, length);
}

DAT_RMR_CONTEXT Lmr::rmr_context() const {
  const bool open = has(privileges, DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
  return open ? region.stag : 0;
}

std::expected<LocalSegments, DAT_RETURN> read_segments(Ia& ia, const Pz& pz,
                                                       std::span<const DAT_LMR_TRIPLET> triplets,
                                                       LocalUse use) {
  LocalSegments segments;
  for (const DAT_LMR_TRIPLET& triplet : triplets) {
    if (triplet.segment_length == 0) continue;  // the rest of it may be anything
    const auto found = ia.by_context.find(triplet.lmr_context);
    if (found == ia.by_context.end())
      return std::unexpected(failure(DAT_PRIVILEGES_VIOLATION, use == LocalUse::source
                                                                   ? DAT_PRIVILEGES_READ
                                                                   : DAT_PRIVILEGES_WRITE));
    const Lmr& lmr = *found->second;
    if (lmr.pz.get() != &pz)
      return std::unexpected(failure(DAT_PROTECTION_VIOLATION, use == LocalUse::source
                                                                   ? DAT_PROTECTION_READ
                                                                   : DAT_PROTECTION_WRITE));
    if (!lmr.covers(triplet.virtual_address, triplet.segment_length))
      return std::unexpected(invalid_parameter(3));
    if (use == LocalUse::sink && !has(lmr.privileges, DAT_MEM_PRIV_LOCAL_WRITE_FLAG))
      return std::unexpected(failure(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE));
    segments.pieces.push_back({.stag = triplet.lmr_context,
                               .offset = triplet.virtual_address,
                               .length = triplet.segment_length});
    segments.total += triplet.segment_length;
  }
  return segments;
}

namespace calls {

namespace {

/// The memory to register, from the region description.
struct Source {
  wire::MutableBytes memory;
  std::array<char, DAT_LMR_COOKIE_SIZE> cookie{};
};

std::expected<Source, DAT_RETURN> find_source(const Ia& ia, DAT_MEM_TYPE type,
                                              const DAT_REGION_DESCRIPTION& region,
                                              DAT_VLEN length) {
  Source source;
  if (type == DAT_MEM_TYPE_LMR) {
    const Lmr* lmr = find<Lmr>(region.for_lmr_handle);
    if (lmr == nullptr || lmr->ia != &ia) return std::unexpected(invalid_handle(Lmr::subtype));
    source.memory = lmr->memory;
    return source;
  }
  DAT_PVOID start = region.for_va;
  if (type == DAT_MEM_TYPE_SHARED_VIRTUAL) {
    start = region.for_shared_memory.virtual_address;
    if (region.for_shared_memory.shared_memory_id == nullptr)
      return std::unexpected(invalid_parameter(3));
    std::memcpy(source.cookie.data(), region.for_shared_memory.shared_memory_id,
                DAT_LMR_COOKIE_SIZE);
  } else if (type != DAT_MEM_TYPE_VIRTUAL) {
    return std::unexpected(invalid_parameter(2));
  }
  if (length == 0 || length > limits::region) return std::unexpected(failure(DAT_LENGTH_ERROR));
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  if (start == nullptr || address + length < address) return std::unexpected(invalid_parameter(3));
  source.memory = wire::MutableBytes(static_cast<std::byte*>(start), length);
  return source;
}

verbs::Access access_of(DAT_MEM_PRIV_FLAGS privileges) {
  return {.local_write = has(privileges, DAT_MEM_PRIV_LOCAL_WRITE_FLAG),
          .remote_read = has(privileges, DAT_MEM_PRIV_REMOTE_READ_FLAG),
          .remote_write = has(privileges, DAT_MEM_PRIV_REMOTE_WRITE_FLAG),
          .remote_atomic = false,
          .bind_window = true};
}

/// The segments must be in LMRs; apart from this check there is nothing to synchronize.
DAT_RETURN synchronize(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET* segments, DAT_VLEN count) {
  return call_on<Ia>(ia_handle, [&](Ia& ia) -> DAT_RETURN {
    if (segments == nullptr && count > 0) return invalid_parameter(2);
    for (const DAT_LMR_TRIPLET& segment : std::span(segments, count)) {
      if (segment.segment_length == 0) continue;
      const auto found = ia.by_context.find(segment.lmr_context);
      if (found == ia.by_context.end() ||
          !found->second->covers(segment.virtual_address, segment.segment_length))
        return invalid_parameter(2);
    }
    return DAT_SUCCESS;
  });
}

}  // namespace

DAT_RETURN lmr_create(DAT_IA_HANDLE ia_handle, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION region,
                      DAT_VLEN length, DAT_PZ_HANDLE pz_handle, DAT_MEM_PRIV_FLAGS privileges,
                      DAT_VA_TYPE va_type, DAT_LMR_HANDLE* lmr_handle, DAT_LMR_CONTEXT* lmr_context,
                      DAT_RMR_CONTEXT* rmr_context, DAT_VLEN* registered_length,
                      DAT_VADDR* registered_address) {
  return call_on<Ia>(ia_handle, [&](Ia& ia) -> DAT_RETURN {
    const auto source = find_source(ia, type, region, length);
    if (!source) return source.error();
    Pz* pz = find<Pz>(pz_handle);
    if (pz == nullptr || pz->ia != &ia) return invalid_handle(Pz::subtype);
    if (exceeds(privileges, DAT_MEM_PRIV_ALL_FLAG)) return invalid_parameter(6);
    if (va_type != DAT_VA_TYPE_VA && va_type != DAT_VA_TYPE_ZB) return invalid_parameter(7);
    if (lmr_handle == nullptr) return invalid_parameter(8);
    const auto made =
        ia.rnic().register_memory(pz->domain, {.memory = source->memory,
                                               .access = access_of(privileges),
                                               .zero_based = va_type == DAT_VA_TYPE_ZB});
    // Neither is said of memory that the consumer itself may not access: it is a wrong description.
    if (!made && made.error() == verbs::Error::invalid_parameter) return invalid_parameter(3);
    if (!made) return failure(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY_REGION);
    Lmr& lmr = ia.add(std::make_unique<Lmr>(&ia, pz, *made, source->memory));
    lmr.mem_type = type;
    lmr.description = region;
    lmr.cookie = source->cookie;
    lmr.privileges = privileges;
    lmr.va_type = va_type;
    *lmr_handle = lmr.handle;
    if (lmr_context != nullptr) *lmr_context = lmr.region.stag;
    if (rmr_context != nullptr) *rmr_context = lmr.rmr_context();
    if (registered_length != nullptr) *registered_length = lmr.memory.size();
    if (registered_address != nullptr)
      *registered_address = reinterpret_cast<std::uintptr_t>(lmr.memory.data());
    return DAT_SUCCESS;
  });
}

DAT_RETURN lmr_query(DAT_LMR_HANDLE lmr_handle, DAT_LMR_PARAM_MASK mask, DAT_LMR_PARAM* param) {
  return call_on<Lmr>(lmr_handle, [&](Lmr& lmr) -> DAT_RETURN {
    if (exceeds(mask, DAT_LMR_FIELD_ALL)) return invalid_parameter(2);
    if (param == nullptr) return invalid_parameter(3);
    DAT_REGION_DESCRIPTION description = lmr.description;
    if (lmr.mem_type == DAT_MEM_TYPE_SHARED_VIRTUAL)
      description.for_shared_memory.shared_memory_id =
          reinterpret_cast<DAT_LMR_COOKIE>(lmr.cookie.data());
    *param = {.ia_handle = lmr.ia->consumers_handle(),
              .mem_type = lmr.mem_type,
              .region_desc = description,
              .length = lmr.memory.size(),
              .pz_handle = lmr.pz.handle(),
              .mem_priv = lmr.privileges,
              .va_type = lmr.va_type,
              .lmr_context = lmr.region.stag,
              .rmr_context = lmr.rmr_context(),
              .registered_size = lmr.memory.size(),
              .registered_address = reinterpret_cast<std::uintptr_t>(lmr.memory.data())};
    return DAT_SUCCESS;
  });
}

DAT_RETURN lmr_free(DAT_LMR_HANDLE lmr_handle) {
  return call_on<Lmr>(lmr_handle, [&](Lmr& lmr) -> DAT_RETURN {
    const auto gone = lmr.ia->rnic().deregister(lmr.region.region);
    if (!gone) return failure(DAT_INVALID_STATE, DAT_INVALID_STATE_LMR_IN_USE);
    engine().handles().destroy(lmr);
    return DAT_SUCCESS;
  });
}

DAT_RETURN lmr_sync_rdma_read(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET* segments, DAT_VLEN count) {
  return synchronize(ia, segments, count);
}

DAT_RETURN lmr_sync_rdma_write(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET* segments, DAT_VLEN count) {
  return synchronize(ia, segments, count);
}

}  // namespace calls

}  // namespace rnic::dat
