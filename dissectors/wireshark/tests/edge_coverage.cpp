// SPDX-License-Identifier: GPL-2.0-or-later
// What clang's instrumentation for fuzzing requires of a program, for a module that tshark loads:
// which edges were passed is written to the file that RNIC_EDGES names when tshark ends.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

struct Counters {
  const char *begin = nullptr, *end = nullptr;
};
// One range for the whole module.
Counters counters;

struct AtEnd {
  AtEnd() = default;
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;
  ~AtEnd() {
    const char* path = std::getenv("RNIC_EDGES");
    std::FILE* file = path != nullptr ? std::fopen(path, "wb") : nullptr;
    if (file == nullptr) return;
    for (const char* at = counters.begin; at != counters.end; ++at)
      std::fputc(*at != 0 ? 1 : 0, file);
    std::fclose(file);
  }
} at_end;

}  // namespace

extern "C" {
// NOLINTBEGIN: the names are clang's
void __sanitizer_cov_8bit_counters_init(char* begin, char* end) { counters = {begin, end}; }
void __sanitizer_cov_pcs_init(const std::uintptr_t*, const std::uintptr_t*) {}
void __sanitizer_cov_trace_pc_indir(std::uintptr_t) {}
void __sanitizer_cov_trace_cmp1(std::uint8_t, std::uint8_t) {}
void __sanitizer_cov_trace_cmp2(std::uint16_t, std::uint16_t) {}
void __sanitizer_cov_trace_cmp4(std::uint32_t, std::uint32_t) {}
void __sanitizer_cov_trace_cmp8(std::uint64_t, std::uint64_t) {}
void __sanitizer_cov_trace_const_cmp1(std::uint8_t, std::uint8_t) {}
void __sanitizer_cov_trace_const_cmp2(std::uint16_t, std::uint16_t) {}
void __sanitizer_cov_trace_const_cmp4(std::uint32_t, std::uint32_t) {}
void __sanitizer_cov_trace_const_cmp8(std::uint64_t, std::uint64_t) {}
void __sanitizer_cov_trace_switch(std::uint64_t, std::uint64_t*) {}
void __sanitizer_cov_trace_div4(std::uint32_t) {}
void __sanitizer_cov_trace_div8(std::uint64_t) {}
void __sanitizer_cov_trace_gep(std::uintptr_t) {}
thread_local std::uintptr_t __sancov_lowest_stack = ~std::uintptr_t{0};
// NOLINTEND
}
