// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Runs in the siw guest: when /dev/rnic_kdat frees memory, and when it refuses that. Prints what
// differs; exit 0 if nothing does.
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "suite/upper_tester/kdat/kernel_consumer.hpp"

namespace {

using suite::upper_tester::ModuleMemory;
using suite::upper_tester::kdat::KernelConsumer;
using suite::upper_tester::kdat::Result;
using suite::upper_tester::kdat::Word;

constexpr std::size_t size = 8192;
constexpr Word local_rights = DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG;
int failures = 0;

void expect(const char* what, int got, int wanted) {
  if (got == wanted) return;
  std::printf("%s: %s, not %s\n", what, std::strerror(got), std::strerror(wanted));
  ++failures;
}

Word made(const char* call, const Result& result) {
  if (!result.good()) {
    std::printf("%s: %s\n", call, failed(call, result).error.c_str());
    ++failures;
  }
  return result.out(0);
}

struct Session {
  KernelConsumer kernel;
  Word ia = 0, zone = 0;

  Session() {
    if (const std::string error = kernel.open(); !error.empty()) {
      std::puts(error.c_str());
      ++failures;
    }
    const char name[] = {'s', 'i', 'w', '0'};
    const auto* start = reinterpret_cast<const std::byte*>(name);
    ia = made("dat_ia_open",
              kernel.call(RNIC_KDAT_IA_OPEN, {8, 2, 0, 1}, {start, start + sizeof name}));
    zone = made("dat_pz_create", kernel.call(RNIC_KDAT_PZ_CREATE, {ia}));
  }
  [[nodiscard]] ModuleMemory memory() const {
    ModuleMemory memory;
    expect("memory", kernel.make(memory, size), 0);
    return memory;
  }
  [[nodiscard]] Word region(Word type, Word object) const {
    return made("dat_lmr_kcreate",
                kernel.call(RNIC_KDAT_LMR_KCREATE,
                            {ia, type, size, zone, local_rights, DAT_VA_TYPE_VA, 0, object, 0, 0}));
  }
  void free_region(Word region) const {
    static_cast<void>(made("dat_lmr_free", kernel.call(RNIC_KDAT_LMR_FREE, {region})));
  }
};

void free_memory_is_freed_once(const Session& session) {
  const ModuleMemory memory = session.memory();
  memory.data()[0] = std::byte{1};
  expect("memory of no region", session.kernel.free_memory(memory.handle()), 0);
  expect("the same again", session.kernel.free_memory(memory.handle()), ENOENT);
  memory.data()[size - 1] = std::byte{1};  // what is mapped stays with the process
  expect("a domain", session.kernel.free_memory(static_cast<std::uint32_t>(session.zone)), ENOENT);
}

void memory_outlives_its_regions(const Session& session) {
  const ModuleMemory memory = session.memory();
  const Word first = session.region(DAT_MEM_TYPE_VIRTUAL, memory.handle());
  const Word second = session.region(DAT_MEM_TYPE_VIRTUAL, memory.handle());
  expect("memory of two regions", session.kernel.free_memory(memory.handle()), EBUSY);
  session.free_region(first);
  expect("memory of one region", session.kernel.free_memory(memory.handle()), EBUSY);
  session.free_region(second);
  expect("memory of regions that were freed", session.kernel.free_memory(memory.handle()), 0);
}

void memory_of_a_shared_region_is_kept(const Session& session) {
  const ModuleMemory memory = session.memory();
  const Word first = session.region(DAT_MEM_TYPE_VIRTUAL, memory.handle());
  const Word like_it = session.region(DAT_MEM_TYPE_LMR, first);
  session.free_region(first);
  expect("memory of a region like another", session.kernel.free_memory(memory.handle()), EBUSY);
  session.free_region(like_it);
}

}  // namespace

int main() {
  const Session session;
  free_memory_is_freed_once(session);
  memory_outlives_its_regions(session);
  memory_of_a_shared_region_is_kept(session);
  return failures == 0 ? 0 : 1;
}
