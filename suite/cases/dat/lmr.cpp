// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Local memory regions: dat_lmr_create, dat_lmr_query, dat_lmr_free; and what peers may do with them.
#include <sys/mman.h>

#include "suite/cases/dat/framework/dat_endpoint.hpp"
#include "suite/cases/dat/framework/dat_handle_cases.hpp"
#include "suite/cases/dat/framework/dat_threads.hpp"

namespace suite::cases::dat {

namespace {

/// A registration with all that it returns.
struct Made {
  Made() = default;
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  ~Made() {
    if (lmr != DAT_HANDLE_NULL) (void)dat_lmr_free(lmr);
  }
  DAT_RETURN create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_VLEN length = 64,
                    DAT_MEM_PRIV_FLAGS privileges = DAT_MEM_PRIV_ALL_FLAG,
                    DAT_VA_TYPE va_type = DAT_VA_TYPE_VA) {
    DAT_REGION_DESCRIPTION region{};
    region.for_va = memory.data();
    return create(ia, pz, DAT_MEM_TYPE_VIRTUAL, region, length, privileges, va_type);
  }
  DAT_RETURN create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_MEM_TYPE type,
                    DAT_REGION_DESCRIPTION region, DAT_VLEN length,
                    DAT_MEM_PRIV_FLAGS privileges = DAT_MEM_PRIV_ALL_FLAG,
                    DAT_VA_TYPE va_type = DAT_VA_TYPE_VA) {
    return CALL(dat_lmr_create, ia, type, region, length, pz, privileges, va_type, &lmr, &local,
                &remote, &size, &address);
  }
  std::vector<std::byte> memory{4096, std::byte{0x11}};
  DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT local = 0;
  DAT_RMR_CONTEXT remote = 0xDEAD;
  DAT_VLEN size = 0;
  DAT_VADDR address = 0;
};

DAT_VADDR address_of(const std::vector<std::byte>& memory) {
  return reinterpret_cast<DAT_VADDR>(memory.data());
}

DAT_RETURN query(DAT_HANDLE handle) {
  DAT_LMR_PARAM param{};
  return CALL(dat_lmr_query, handle, DAT_LMR_FIELD_ALL, &param);
}

DAT_DTO_COOKIE cookie_of(DAT_UINT64 value) {
  DAT_DTO_COOKIE cookie{};
  cookie.as_64 = value;
  return cookie;
}

enum class Rdma : std::uint8_t { read, write };

DAT_RETURN post(Rdma kind, const Pair& pair, DAT_LMR_TRIPLET local, DAT_RMR_TRIPLET remote) {
  DAT_EP_HANDLE ep = pair.active.ep.get();
  return kind == Rdma::write ? CALL(dat_ep_post_rdma_write, ep, 1, &local, cookie_of(5), &remote,
                                    DAT_COMPLETION_DEFAULT_FLAG)
                             : CALL(dat_ep_post_rdma_read, ep, 1, &local, cookie_of(5), &remote,
                                    DAT_COMPLETION_DEFAULT_FLAG);
}

/// The peer refuses the operation, and the connection ends. A Write may complete before the refusal
/// arrives.
void expect_closed_to_peers(DatBody& body, Rdma kind, const Pair& pair, DAT_LMR_TRIPLET local,
                            DAT_RMR_TRIPLET remote) {
  body.need(post(kind, pair, local, remote), "no RDMA");
  const auto event = body.expect_event(pair.active.requests, DAT_DTO_COMPLETION_EVENT);
  const DAT_DTO_COMPLETION_STATUS status = event.event_data.dto_completion_event_data.status;
  body.expect_that(
      status == DAT_DTO_ERR_REMOTE_ACCESS || (kind == Rdma::write && status == DAT_DTO_SUCCESS),
      status_text(DAT_DTO_ERR_REMOTE_ACCESS), status_text(status));
  const DAT_EVENT_NUMBER end = next_event(pair.active.connection).event_number;
  body.expect_that(end == DAT_CONNECTION_EVENT_BROKEN || end == DAT_CONNECTION_EVENT_DISCONNECTED,
                   event_text(DAT_CONNECTION_EVENT_BROKEN), event_text(end));
}

}  // namespace

// ---------------------------------------------------------------- dat_lmr_create

DAT_CASE(region_covers_what_was_asked, calls(dat_lmr_create), rules("dat.lmr-create.success")) {
  const Pz pz = ia().pz();
  Made made;
  expect(made.create(ia().get(), pz.get(), 100), succeeds);
  expect_that(made.lmr != DAT_HANDLE_NULL, "a handle", "DAT_HANDLE_NULL");
  const DAT_VADDR start = address_of(made.memory);
  expect_that(made.address <= start, "a region from the address or before",
              value_text(made.address));
  expect_that(made.address + made.size >= start + 100, "a region to the last octet or beyond",
              value_text(made.address + made.size));
}

DAT_CASE(each_privilege_can_be_asked_alone, calls(dat_lmr_create),
         rules("dat.lmr-create.success", "dat.lmr-create.remote-context")) {
  const Pz pz = ia().pz();
  for (const unsigned privileges : {0x00U, 0x01U, 0x10U, 0x11U, 0x03U, 0x02U, 0x30U, 0x33U})
    row(fmt::format("privileges {:#04x}", privileges), [&] {
      Made made;
      expect(made.create(ia().get(), pz.get(), 64, static_cast<DAT_MEM_PRIV_FLAGS>(privileges)),
             succeeds);
      const bool open = (privileges & 0x22U) != 0;
      expect_that((made.remote != 0) == open, open ? "a remote context" : "no remote context",
                  value_text(made.remote), "dat.lmr-create.remote-context");
    });
}

DAT_CASE(sizes_from_one_octet_up_are_registered, calls(dat_lmr_create),
         rules("dat.lmr-create.success")) {
  const Pz pz = ia().pz();
  for (const DAT_VLEN length : {DAT_VLEN{1}, DAT_VLEN{4095}, DAT_VLEN{4096}})
    row(fmt::format("{} octets", length), [&] {
      Made made;
      expect(made.create(ia().get(), pz.get(), length), succeeds);
      at_least(*this, "registered size", made.size, length);
    });
}

DAT_CASE(many_pages_are_registered, calls(dat_lmr_create), rules("dat.lmr-create.success")) {
  const Pz pz = ia().pz();
  Made made;
  made.memory.resize(std::size_t{4} << 20);
  expect(made.create(ia().get(), pz.get(), made.memory.size()), succeeds);
  at_least(*this, "registered size", made.size, made.memory.size());
}

DAT_CASE(region_of_no_length_is_refused, calls(dat_lmr_create), rules("dat.lmr-create.length")) {
  const Pz pz = ia().pz();
  Made made;
  expect(made.create(ia().get(), pz.get(), 0),
         returns_one_of({DAT_LENGTH_ERROR, DAT_INVALID_PARAMETER}));
}

DAT_CASE(region_of_another_region_covers_the_same, calls(dat_lmr_create),
         rules("dat.lmr-create.of-lmr")) {
  const Pz pz = ia().pz(), other = ia().pz();
  const Lmr region(ia(), pz.get(), 128);
  Made made;
  DAT_REGION_DESCRIPTION description{};
  description.for_lmr_handle = region.get();
  expect(made.create(ia().get(), other.get(), DAT_MEM_TYPE_LMR, description, 7,
                     DAT_MEM_PRIV_LOCAL_READ_FLAG),
         succeeds);
  at_least(*this, "registered size", made.size, 128);
  same(*this, "remote context", made.remote, 0);
  expect_that(made.local != region.triplet().lmr_context, "a context of its own",
              "the same context");
}

/// The page names windows alone as what keeps a region from being freed.
DAT_CASE(region_of_another_region_outlives_it, calls(dat_lmr_create, dat_lmr_free),
         rules("dat.lmr-create.of-lmr")) {
  const Pair pair = connected();
  Lmr region(ia(), pair.pz.get(), 128);
  Made made;
  DAT_REGION_DESCRIPTION description{};
  description.for_lmr_handle = region.get();
  expect(made.create(ia().get(), pair.pz.get(), DAT_MEM_TYPE_LMR, description, 7), succeeds);
  expect(CALL(dat_lmr_free, region.release()), succeeds.or_tolerably(DAT_INVALID_STATE));
  const Lmr source(ia(), pair.pz.get(), 8, DAT_MEM_PRIV_ALL_FLAG, std::byte{0x77});
  DAT_RMR_TRIPLET to{};
  to.virtual_address = made.address;
  to.segment_length = 8;
  to.rmr_context = made.remote;
  for (const Rdma kind : {Rdma::write, Rdma::read}) {
    need(post(kind, pair, source.triplet(), to), "no RDMA");
    const auto status =
        next_event(pair.active.requests).event_data.dto_completion_event_data.status;
    advise_that(status == DAT_DTO_SUCCESS, status_text(DAT_DTO_SUCCESS), status_text(status));
    if (status != DAT_DTO_SUCCESS) return;
  }
}

DAT_CASE(region_of_no_region_is_refused, calls(dat_lmr_create),
         rules("dat.lmr-create.invalid-handle"), with_hostile_handles) {
  const LiveObjects live(ia());
  for (const auto& [name, handle] : live.except(DAT_HANDLE_TYPE_LMR))
    row(name, [&] {
      Made made;
      DAT_REGION_DESCRIPTION description{};
      description.for_lmr_handle = handle;
      expect(made.create(ia().get(), live.pz.get(), DAT_MEM_TYPE_LMR, description, 64),
             returns(DAT_INVALID_HANDLE));
    });
}

DAT_CASE(region_of_a_null_region_is_refused, calls(dat_lmr_create),
         rules("dat.lmr-create.invalid-handle"), with_hostile_handles) {
  const Pz pz = ia().pz();
  Made made;
  DAT_REGION_DESCRIPTION description{};
  expect(made.create(ia().get(), pz.get(), DAT_MEM_TYPE_LMR, description, 64),
         returns(DAT_INVALID_HANDLE).or_tolerably(DAT_INVALID_PARAMETER));
}

DAT_CASE(shared_memory_is_registered_under_its_cookie, calls(dat_lmr_create, dat_lmr_query),
         rules("dat.lmr-create.shared")) {
  const Pz pz = ia().pz();
  constexpr std::size_t size = 4096;
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) stop(Verdict::inconclusive, "no shared memory");
  std::array<char, DAT_LMR_COOKIE_SIZE> cookie{};  // zeroes do not end it
  cookie.back() = 'x';
  DAT_REGION_DESCRIPTION description{};
  description.for_shared_memory.virtual_address = memory;
  description.for_shared_memory.shared_memory_id = reinterpret_cast<DAT_LMR_COOKIE>(cookie.data());
  Made made;
  expect(made.create(ia().get(), pz.get(), DAT_MEM_TYPE_SHARED_VIRTUAL, description, size),
         succeeds);
  DAT_LMR_PARAM param{};
  expect(CALL(dat_lmr_query, made.lmr, DAT_LMR_FIELD_ALL, &param), succeeds);
  same(*this, "memory type", param.mem_type, DAT_MEM_TYPE_SHARED_VIRTUAL);
  const auto& shared = param.region_desc.for_shared_memory;
  same(*this, "address", shared.virtual_address, memory);
  expect_that(shared.shared_memory_id != nullptr &&
                  std::equal(cookie.begin(), cookie.end(), *shared.shared_memory_id),
              "all forty octets of the cookie", "other octets");
}

DAT_CASE(zero_based_region_is_addressed_from_zero, calls(dat_lmr_create),
         rules("dat.lmr-create.zero-based")) {
  need_zero_based(*this);
  Pair pair = connected();
  Made target_of_write;
  expect(
      target_of_write.create(ia().get(), pair.pz.get(), 64, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_ZB),
      succeeds);
  const Lmr source(ia(), pair.pz.get(), 8, DAT_MEM_PRIV_ALL_FLAG, std::byte{0x77});
  DAT_RMR_TRIPLET to{};
  to.virtual_address = 8;
  to.segment_length = 8;
  to.rmr_context = target_of_write.remote;
  need(post(Rdma::write, pair, source.triplet(), to), "no RDMA");
  expect_completion(pair.active.requests, 5, DAT_DTO_SUCCESS);
  // A Read after the Write is answered when the Write has been placed.
  to.segment_length = 1;
  need(post(Rdma::read, pair, source.triplet(0, 1), to), "no RDMA");
  expect_completion(pair.active.requests, 5, DAT_DTO_SUCCESS);
  const auto& memory = target_of_write.memory;
  expect_that(memory[7] == std::byte{0x11} && memory[8] == std::byte{0x77} &&
                  memory[15] == std::byte{0x77} && memory[16] == std::byte{0x11},
              "octets 8 to 15 written", "other octets");
}

DAT_CASE(region_of_another_region_is_addressed_as_asked, calls(dat_lmr_create),
         rules("dat.lmr-create.zero-based")) {
  need_zero_based(*this);
  Pair pair = connected();
  Lmr region(ia(), pair.pz.get(), 64);
  Made made;
  DAT_REGION_DESCRIPTION description{};
  description.for_lmr_handle = region.get();
  expect(made.create(ia().get(), pair.pz.get(), DAT_MEM_TYPE_LMR, description, 64,
                     DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_ZB),
         succeeds);
  const Lmr source(ia(), pair.pz.get(), 8, DAT_MEM_PRIV_ALL_FLAG, std::byte{0x77});
  DAT_RMR_TRIPLET from{};
  from.virtual_address = 8;
  from.segment_length = 8;
  from.rmr_context = made.remote;
  need(post(Rdma::read, pair, source.triplet(), from), "no RDMA");
  expect_completion(pair.active.requests, 5, DAT_DTO_SUCCESS);
}

DAT_CASE(privileges_that_do_not_exist_are_refused, calls(dat_lmr_create),
         rules("dat.lmr-create.invalid-parameter")) {
  const Pz pz = ia().pz();
  Made made;
  expect(made.create(ia().get(), pz.get(), 64, no_such<DAT_MEM_PRIV_FLAGS>(0x8000)),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(kind_of_addresses_that_does_not_exist_is_refused, calls(dat_lmr_create),
         rules("dat.lmr-create.invalid-parameter")) {
  const Pz pz = ia().pz();
  Made made;
  expect(made.create(ia().get(), pz.get(), 64, DAT_MEM_PRIV_ALL_FLAG, no_such<DAT_VA_TYPE>(9)),
         returns(DAT_INVALID_PARAMETER).or_tolerably(DAT_MODEL_NOT_SUPPORTED));
}

DAT_CASE(kind_of_memory_that_does_not_exist_is_refused, calls(dat_lmr_create),
         rules("dat.lmr-create.model")) {
  const Pz pz = ia().pz();
  Made made;
  DAT_REGION_DESCRIPTION description{};
  description.for_va = made.memory.data();
  expect(made.create(ia().get(), pz.get(), no_such<DAT_MEM_TYPE>(0x55), description, 64),
         returns_one_of({DAT_INVALID_PARAMETER, DAT_MODEL_NOT_SUPPORTED}));
}

DAT_CASE(region_with_a_null_handle_output_is_refused, calls(dat_lmr_create),
         rules("dat.lmr-create.invalid-parameter"), with_hostile_handles) {
  const Pz pz = ia().pz();
  Made made;
  DAT_REGION_DESCRIPTION description{};
  description.for_va = made.memory.data();
  expect(CALL(dat_lmr_create, ia().get(), DAT_MEM_TYPE_VIRTUAL, description, 64, pz.get(),
              DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, nullptr, &made.local, &made.remote, &made.size,
              &made.address),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(region_with_an_invalid_ia_is_refused, calls(dat_lmr_create),
         rules("dat.lmr-create.invalid-handle")) {
  const Pz pz = ia().pz();
  expect_refusal_of_no_ia(*this, [&](DAT_IA_HANDLE handle) {
    Made made;
    return made.create(handle, pz.get());
  });
}

DAT_CASE(region_in_no_zone_is_refused, calls(dat_lmr_create),
         rules("dat.lmr-create.invalid-handle"), with_hostile_handles) {
  const LiveObjects live(ia());
  auto others = live.except(DAT_HANDLE_TYPE_PZ);
  others.insert(others.begin(), {"no handle", DAT_HANDLE_NULL});
  for (const auto& [name, handle] : others)
    row(name, [&] {
      Made made;
      expect(made.create(ia().get(), handle), returns(DAT_INVALID_HANDLE));
    });
}

DAT_CASE(region_in_a_freed_zone_is_refused, calls(dat_lmr_create),
         rules("dat.lmr-create.invalid-handle"), with_hostile_handles) {
  const DAT_PZ_HANDLE pz = freed(ia().pz());
  Made made;
  expect(made.create(ia().get(), pz), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(region_in_a_zone_of_another_ia_is_refused, calls(dat_lmr_create),
         rules("dat.lmr-create.invalid-handle"), with_hostile_handles) {
  const Ia other(target());
  const Pz pz = other.pz();
  Made made;
  expect(made.create(ia().get(), pz.get()), returns(DAT_INVALID_HANDLE));
}

DAT_CASE(several_threads_register_at_once, calls(dat_lmr_create),
         rules("dat.lmr-create.concurrent")) {
  constexpr std::size_t each = 16;
  const Pz pz = ia().pz();
  std::array<std::array<Made, each>, 4> made;
  std::array<std::array<DAT_RETURN, each>, 4> got{};
  const DAT_IA_HANDLE handle = ia().get();
  at_once(4, [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    for (std::size_t k = 0; k < each; ++k) got[at][k] = made[at][k].create(handle, pz.get());
  });
  std::vector<DAT_LMR_CONTEXT> seen;
  for (std::size_t i = 0; i < made.size(); ++i)
    for (std::size_t k = 0; k < each; ++k) {
      expect(got[i][k], succeeds);
      expect_that(std::ranges::find(seen, made[i][k].local) == seen.end(), "a context of its own",
                  "the same context twice");
      seen.push_back(made[i][k].local);
    }
}

// ---------------------------------------------------------------- what peers may do

DAT_CASE(peer_cannot_write_without_remote_write, calls(dat_lmr_create, dat_ep_post_rdma_write),
         rules("dat.lmr-create.no-remote-write")) {
  const Pair pair = connected();
  Lmr closed(ia(), pair.pz.get(), 64, static_cast<DAT_MEM_PRIV_FLAGS>(0x13));
  const Lmr source(ia(), pair.pz.get(), 64, DAT_MEM_PRIV_ALL_FLAG, std::byte{0x5A});
  expect_closed_to_peers(*this, Rdma::write, pair, source.triplet(), closed.remote());
  expect_that(closed.octets().front() == std::byte{0xA5}, "memory unchanged", "written");
}

DAT_CASE(peer_cannot_write_to_a_region_of_another_that_it_may_write_to,
         calls(dat_lmr_create, dat_ep_post_rdma_write), rules("dat.lmr-create.no-remote-write")) {
  const Pair pair = connected();
  Lmr open(ia(), pair.pz.get(), 64);
  const Lmr source(ia(), pair.pz.get(), 64, DAT_MEM_PRIV_ALL_FLAG, std::byte{0x5A});
  Made closed;
  DAT_REGION_DESCRIPTION description{};
  description.for_lmr_handle = open.get();
  const DAT_RETURN created = closed.create(ia().get(), pair.pz.get(), DAT_MEM_TYPE_LMR, description,
                                           64, static_cast<DAT_MEM_PRIV_FLAGS>(0x13));
  if (DAT_GET_TYPE(created) == DAT_NOT_IMPLEMENTED)
    stop(Verdict::not_applicable, "the provider makes no region of a region");
  need(created, "no region of a region");
  DAT_RMR_TRIPLET target = open.remote();
  target.rmr_context = closed.remote;
  expect_closed_to_peers(*this, Rdma::write, pair, source.triplet(), target);
  expect_that(open.octets().front() == std::byte{0xA5}, "memory unchanged", "written");
}

DAT_CASE(peer_cannot_read_without_remote_read, calls(dat_lmr_create, dat_ep_post_rdma_read),
         rules("dat.lmr-create.no-remote-read")) {
  const Pair pair = connected();
  const Lmr closed(ia(), pair.pz.get(), 64, static_cast<DAT_MEM_PRIV_FLAGS>(0x31));
  const Lmr sink(ia(), pair.pz.get(), 64);
  expect_closed_to_peers(*this, Rdma::read, pair, sink.triplet(), closed.remote());
}

DAT_CASE(peer_cannot_use_a_freed_region, calls(dat_lmr_free, dat_ep_post_rdma_write),
         rules("dat.lmr-free.remote-use")) {
  const Pair pair = connected();
  Lmr region(ia(), pair.pz.get(), 64);
  const Lmr source(ia(), pair.pz.get(), 64, DAT_MEM_PRIV_ALL_FLAG, std::byte{0x5A});
  const DAT_RMR_TRIPLET remote = region.remote();
  expect(CALL(dat_lmr_free, region.release()), succeeds);
  expect_closed_to_peers(*this, Rdma::write, pair, source.triplet(), remote);
  expect_that(region.octets().front() == std::byte{0xA5}, "memory unchanged", "written");
}

DAT_CASE(dto_cannot_use_a_freed_region, calls(dat_lmr_free, dat_ep_post_send),
         rules("dat.lmr-free.local-use")) {
  const Pair pair = connected();
  Lmr region(ia(), pair.pz.get(), 64);
  DAT_LMR_TRIPLET from = region.triplet();
  expect(CALL(dat_lmr_free, region.release()), succeeds);
  const DAT_RETURN got = CALL(dat_ep_post_send, pair.active.ep.get(), 1, &from, cookie_of(3),
                              DAT_COMPLETION_DEFAULT_FLAG);
  if (got != DAT_SUCCESS)  // reported immediately, or by the completion
    return expect(got, returns_one_of({DAT_PROTECTION_VIOLATION, DAT_PRIVILEGES_VIOLATION,
                                       DAT_INVALID_PARAMETER}));
  expect_completion(pair.active.requests, 3, DAT_DTO_ERR_LOCAL_PROTECTION);
}

// ---------------------------------------------------------------- dat_lmr_query, dat_lmr_free

DAT_CASE(query_returns_what_the_region_was_made_of, calls(dat_lmr_query),
         rules("dat.lmr-query.success")) {
  const Pz pz = ia().pz();
  Made made;
  const auto privileges =
      static_cast<DAT_MEM_PRIV_FLAGS>(DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG |
                                      DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
  need(made.create(ia().get(), pz.get(), 100, privileges), "no LMR");
  DAT_LMR_PARAM param{};
  expect(CALL(dat_lmr_query, made.lmr, DAT_LMR_FIELD_ALL, &param), succeeds);
  same(*this, "IA", param.ia_handle, ia().get());
  same(*this, "memory type", param.mem_type, DAT_MEM_TYPE_VIRTUAL);
  same(*this, "memory", param.region_desc.for_va, made.memory.data());
  same(*this, "length", param.length, 100);
  same(*this, "PZ", param.pz_handle, pz.get());
  same(*this, "privileges", param.mem_priv, privileges);
  same(*this, "kind of addresses", param.va_type, DAT_VA_TYPE_VA);
  same(*this, "local context", param.lmr_context, made.local);
  same(*this, "remote context", param.rmr_context, made.remote);
  same(*this, "registered size", param.registered_size, made.size);
  same(*this, "registered address", param.registered_address, made.address);
}

DAT_CASE(query_tells_regions_of_every_kind_apart, calls(dat_lmr_query),
         rules("dat.lmr-query.success")) {
  const Pz pz = ia().pz();
  const auto judge = [&](const char* name, DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type) {
    row(name, [&] {
      Made made;
      need(made.create(ia().get(), pz.get(), 100, privileges, va_type), "no LMR");
      DAT_LMR_PARAM param{};
      expect(CALL(dat_lmr_query, made.lmr, DAT_LMR_FIELD_ALL, &param), succeeds);
      same(*this, "privileges", param.mem_priv, privileges);
      same(*this, "kind of addresses", param.va_type, va_type);
      same(*this, "local context", param.lmr_context, made.local);
      // Without remote privileges there is none.
      advise_that(param.rmr_context == made.remote,
                  fmt::format("remote context {:#x}", made.remote),
                  fmt::format("remote context {:#x}", param.rmr_context));
      same(*this, "registered address", param.registered_address, made.address);
    });
  };
  judge(
      "local privileges alone",
      static_cast<DAT_MEM_PRIV_FLAGS>(DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG),
      DAT_VA_TYPE_VA);
  judge(
      "for the peer to read",
      static_cast<DAT_MEM_PRIV_FLAGS>(DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG),
      DAT_VA_TYPE_VA);
  if (ia().attributes().zb_supported != DAT_FALSE)
    judge("zero-based", DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_ZB);
}

DAT_CASE(query_of_fields_that_do_not_exist_is_refused, calls(dat_lmr_query),
         rules("dat.lmr-query.invalid-parameter")) {
  const Pz pz = ia().pz();
  const Lmr region(ia(), pz.get(), 64);
  DAT_LMR_PARAM param{};
  expect(CALL(dat_lmr_query, region.get(), no_such<DAT_LMR_PARAM_MASK>(0x1000), &param),
         returns(DAT_INVALID_PARAMETER));
}

DAT_CASE(query_with_a_null_output_is_refused, calls(dat_lmr_query),
         rules("dat.lmr-query.invalid-parameter"), with_hostile_handles) {
  const Pz pz = ia().pz();
  const Lmr region(ia(), pz.get(), 64);
  expect(CALL(dat_lmr_query, region.get(), DAT_LMR_FIELD_ALL, nullptr),
         returns(DAT_INVALID_PARAMETER));
}

DAT_HANDLE_CASES(query, dat_lmr_query, "dat.lmr-query.invalid-handle", DAT_HANDLE_TYPE_LMR,
                 freed(Lmr(ia(), ia().pz().release(), 64)), query(handle))

DAT_CASE(free_does_not_change_the_memory, calls(dat_lmr_free), rules("dat.lmr-free.success")) {
  const Pz pz = ia().pz();
  Lmr region(ia(), pz.get(), 64);
  expect(CALL(dat_lmr_free, region.release()), succeeds);
  expect_that(
      std::ranges::all_of(region.octets(), [](std::byte b) { return b == std::byte{0xA5}; }),
      "memory as it was", "changed");
  region.octets().front() = std::byte{1};  // the consumer may use it again
}

DAT_CASE(memory_can_be_registered_again, calls(dat_lmr_free), rules("dat.lmr-free.success")) {
  const Pz pz = ia().pz();
  Made made;
  for (int i = 0; i < 3; ++i) {
    expect(made.create(ia().get(), pz.get()), succeeds);
    expect(CALL(dat_lmr_free, std::exchange(made.lmr, DAT_HANDLE_NULL)), succeeds);
  }
}

DAT_CASE(same_memory_can_be_in_several_regions, calls(dat_lmr_create, dat_lmr_free),
         rules("dat.lmr-create.success", "dat.lmr-free.success")) {
  const Pz pz = ia().pz();
  Made one, other;
  other.memory.swap(one.memory);
  DAT_REGION_DESCRIPTION description{};
  description.for_va = other.memory.data();
  need(other.create(ia().get(), pz.get()), "no LMR");
  expect(one.create(ia().get(), pz.get(), DAT_MEM_TYPE_VIRTUAL, description, 64), succeeds);
  expect_that(one.local != other.local, "a context of its own", "the same context");
  expect(CALL(dat_lmr_free, std::exchange(other.lmr, DAT_HANDLE_NULL)), succeeds,
         "dat.lmr-free.success");
  expect(query(one.lmr), succeeds);
}

DAT_HANDLE_CASES(free, dat_lmr_free, "dat.lmr-free.invalid-handle", DAT_HANDLE_TYPE_LMR,
                 freed(Lmr(ia(), ia().pz().release(), 64)), CALL(dat_lmr_free, handle))

DAT_CASES_OF_FILE(lmr)

}  // namespace suite::cases::dat
