// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The open /dev/rnic_kdat: calls of kDAPL that the module makes for us, its memory, and what it
// tells of UpCalls. Whatever a case leaves goes when the file is closed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <span>
#include <vector>

#include "suite/cases/dat/framework/dat_headers.hpp"
#include "suite/cases/kdat/kernel/rnic_kdat_uapi.h"

namespace suite::cases::dat {

using Word = std::uint64_t;  ///< a number of a call; handles are numbers too
using Upcall = rnic_kdat_upcall;
using KernelEvent = rnic_kdat_event;

/// The kDAPL numbers that no header of uDAPL has. The module's kdat.h has the same.
namespace kdapl {
constexpr Word physical = 0x10, platform = 0x20, of_ia = 0x40, bypass = 0x80, var_pages = 0x100;
constexpr Word disable = 0, single_instance = 1, notify = 2, many = 100, teardown = ~Word{0};
constexpr Word invoke_new = 0, invoke_any = 1;
constexpr Word scope_ep = 0, scope_pz = 1, scope_any = 2;
constexpr Word exact_exposure = 4;
}  // namespace kdapl

/// What a call has besides its numbers.
struct CallOptions {
  std::uint32_t context = RNIC_KDAT_PROCESS;
  std::uint32_t nulls = 0;
  std::vector<rnic_kdat_segment> segments{};
  std::vector<Word> pages{};
  std::vector<std::byte> data{};
};
[[nodiscard]] CallOptions with_null(std::uint32_t pointer);
[[nodiscard]] CallOptions with_data(std::span<const std::byte> data, std::uint32_t nulls = 0);

/// What came back. It reads as the return, for expectations.
struct Result {
  rnic_kdat_call record{};
  operator DAT_RETURN() const { return record.returned; }  // NOLINT(google-explicit-constructor)
  [[nodiscard]] Word out(std::size_t n) const { return record.out[n]; }
  [[nodiscard]] std::vector<std::byte> data() const;
  [[nodiscard]] const KernelEvent& event() const { return record.event; }
};
[[nodiscard]] std::vector<std::byte> data_of(const KernelEvent& event);

/// Pages of the module, mapped here. They live as long as the process.
struct KernelMemory {
  Word handle = 0;
  Word address = 0;  ///< in the kernel
  std::size_t page_size = 0;
  std::span<std::byte> octets{};
  [[nodiscard]] std::span<std::byte> part(std::size_t offset, std::size_t length) const {
    return octets.subspan(offset, length);
  }
};

class Consumer {
 public:
  /// Without the module the case ends: it is not applicable.
  Consumer();
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;
  ~Consumer();

  [[nodiscard]] Result call(std::uint32_t number, std::initializer_list<Word> in,
                            const CallOptions& options = {});
  [[nodiscard]] KernelMemory memory(std::size_t pages);
  /// Waits for other processes that have it. All of the kernel has one registry, and a case about it
  /// would see what cases beside it register.
  void hold_registry();
  /// The next that concerns this dispatcher; the process's deadline bounds the wait.
  [[nodiscard]] Upcall next_upcall(Word evd);
  /// Those that have come already, in order.
  [[nodiscard]] std::vector<Upcall> upcalls_so_far(Word evd);

 private:
  /// Reads what there is; waits for the first.
  void read(bool wait);

  int fd_ = -1;
  std::deque<Upcall> unread_;
};

}  // namespace suite::cases::dat
