// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Protection domains, memory regions and windows.
#include <infiniband/verbs.h>
#undef ibv_reg_mr

#include "reference_rnic/rdma_core/objects.hpp"

namespace rnic::rdma_core {

namespace {

constexpr unsigned known_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
                                  IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED;

}  // namespace

verbs::Access access_of(unsigned flags) {
  return {.local_write = (flags & IBV_ACCESS_LOCAL_WRITE) != 0,
          .remote_read = (flags & IBV_ACCESS_REMOTE_READ) != 0,
          .remote_write = (flags & IBV_ACCESS_REMOTE_WRITE) != 0,
          .remote_atomic = (flags & IBV_ACCESS_REMOTE_ATOMIC) != 0,
          .bind_window = (flags & IBV_ACCESS_MW_BIND) != 0};
}

ibv_pd* alloc_pd(ibv_context* context) {
  return make<Pd>([&](Engine& shared, Pd& pd) {
    const auto domain = shared.rnic().create_domain();
    if (!domain) return errno_of(domain.error());
    pd.domain = *domain;
    pd.context = context;
    pd.handle = shared.next_number++;
    return 0;
  });
}

int dealloc_pd(ibv_pd* pd) {
  const int result = call([&](Engine& shared, Engine::Lock&) {
    const auto done = shared.rnic().destroy_domain(of(pd).domain);
    return done ? 0 : errno_of(done.error());
  });
  if (result == 0) delete &of(pd);
  return result;
}

ibv_mr* reg_mr(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova, unsigned access) {
  const unsigned must = access & ~static_cast<unsigned>(IBV_ACCESS_OPTIONAL_RANGE);
  const bool writes = (must & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) != 0;
  // As the kernel checks: who lets others write may write.
  if ((must & ~known_access) != 0 || (writes && (must & IBV_ACCESS_LOCAL_WRITE) == 0)) {
    errno = EINVAL;
    return nullptr;
  }
  return make<Mr>([&](Engine& shared, Mr& mr) {
    const bool zero_based = (must & IBV_ACCESS_ZERO_BASED) != 0;
    verbs::RegionAttributes attributes{.memory = {static_cast<std::byte*>(address), length},
                                       .access = access_of(must),
                                       .zero_based = zero_based};
    if (!zero_based) attributes.base = iova;
    const auto region = shared.rnic().register_memory(of(pd).domain, attributes);
    if (!region) return errno_of(region.error());
    mr.region = region->region;
    mr.context = pd->context;
    mr.pd = pd;
    mr.addr = address;
    mr.length = length;
    mr.handle = shared.next_number++;
    mr.lkey = mr.rkey = region->stag;
    return 0;
  });
}

int dereg_mr(ibv_mr* mr) {
  const int result = call([&](Engine& shared, Engine::Lock&) {
    const auto done = shared.rnic().deregister(of(mr).region);
    return done ? 0 : errno_of(done.error());
  });
  if (result == 0) delete &of(mr);
  return result;
}

ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type) {
  if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2) {
    errno = EINVAL;
    return nullptr;
  }
  return make<Mw>([&](Engine& shared, Mw& mw) {
    // Type 2 is used by the queue pair that has bound it (2B), type 1 by its domain.
    const auto window = shared.rnic().allocate_window(
        of(pd).domain,
        type == IBV_MW_TYPE_1 ? verbs::WindowScope::domain : verbs::WindowScope::queue_pair);
    if (!window) return errno_of(window.error());
    mw.window = window->window;
    mw.context = pd->context;
    mw.pd = pd;
    mw.rkey = window->stag;
    mw.handle = shared.next_number++;
    mw.type = type;
    return 0;
  });
}

int dealloc_mw(ibv_mw* mw) {
  const int result = call([&](Engine& shared, Engine::Lock&) {
    const auto done = shared.rnic().free_window(of(mw).window);
    return done ? 0 : errno_of(done.error());
  });
  if (result == 0) delete &of(mw);
  return result;
}

}  // namespace rnic::rdma_core
