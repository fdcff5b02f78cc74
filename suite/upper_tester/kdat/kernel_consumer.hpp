// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The open /dev/rnic_kdat: calls of kDAPL that the module makes for us, its memory and its UpCalls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "suite/cases/kdat/kernel/rnic_kdat_uapi.h"
#include "suite/iut/messages.hpp"
#include "suite/upper_tester/dat/dat_api.hpp"
#include "suite/upper_tester/module_file.hpp"

namespace suite::upper_tester::kdat {

using Word = std::uint64_t;  ///< a number of a call; handles are numbers too, and 0 is none

/// What came back of a call.
struct Result {
  rnic_kdat_call record{};
  int error = 0;  ///< errno of the module itself, which then has made no call
  [[nodiscard]] bool good() const { return error == 0 && record.returned == DAT_SUCCESS; }
  [[nodiscard]] Word out(std::size_t n) const { return record.out[n]; }
};
/// What the agent replies where a call was not good.
[[nodiscard]] iut::Reply failed(const char* call, const Result& result);

class KernelConsumer : public ModuleFile {
 public:
  /// An error in one line, or nothing.
  [[nodiscard]] std::string open();

  [[nodiscard]] Result call(std::uint32_t number, std::initializer_list<Word> in,
                            const iut::Octets& data = {},
                            const std::vector<rnic_kdat_segment>& segments = {}) const;
  /// The next UpCall that has come, without waiting.
  [[nodiscard]] std::optional<rnic_kdat_upcall> next_upcall() const;

  /// New memory, mapped. 0 or an errno; then nothing was made.
  [[nodiscard]] int make(ModuleMemory& memory, std::size_t size) const;
  /// 0 or an errno; 0, which is none, is freed at once.
  [[nodiscard]] int free_memory(std::uint32_t handle) const;
};

}  // namespace suite::upper_tester::kdat
