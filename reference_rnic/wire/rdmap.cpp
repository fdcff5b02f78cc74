// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/wire/rdmap.hpp"

#include <fmt/format.h>

namespace rnic::wire {

std::string describe(const ReadRequestHeader& header) {
  return fmt::format("sink {:#010x}+{:#x} source {:#010x}+{:#x} length={}",
                     header.sink_stag.value(), header.sink_offset.value(),
                     header.source_stag.value(), header.source_offset.value(),
                     header.length.value());
}

std::string describe(const AtomicRequestHeader& header) {
  constexpr std::uint32_t code_mask = 0xF;
  const std::uint32_t code = header.operation.value() & code_mask;
  std::string text;
  const std::string target = fmt::format("id={:#x} {:#010x}+{:#x}", header.request_id.value(),
                                         header.remote_stag.value(), header.remote_offset.value());
  // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): the default below takes the rest
  switch (static_cast<AtomicOperation>(code)) {
    case AtomicOperation::fetch_add:
      text = fmt::format("FetchAdd {} add={:#x}/{:#x}", target, header.add_or_swap_data.value(),
                         header.add_or_swap_mask.value());
      break;
    case AtomicOperation::compare_swap:
      text = fmt::format("CmpSwap {} compare={:#x}/{:#x} swap={:#x}/{:#x}", target,
                         header.compare_data.value(), header.compare_mask.value(),
                         header.add_or_swap_data.value(), header.add_or_swap_mask.value());
      break;
    default:
      text = fmt::format("atomic operation {:#x} {} ! undefined", code, target);
  }
  if (const std::uint32_t reserved = header.operation.value() & ~code_mask; reserved != 0)
    text += fmt::format(" ! reserved bits {:#010x}", reserved);
  return text;
}

std::string describe(const AtomicResponseHeader& header) {
  return fmt::format("id={:#x} original={:#x}", header.original_request_id.value(),
                     header.original_data.value());
}

}  // namespace rnic::wire
