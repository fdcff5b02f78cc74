// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lab/kernel_log.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace suite::lab {
namespace {

using Kind = KernelFaultKind;

struct Pattern {
  std::string_view words;
  Kind kind;
};

/// The beginnings of messages. The first that matches counts, so the more specific ones come first.
constexpr std::array patterns{
    Pattern{"Kernel panic - not syncing", Kind::panic},
    Pattern{"BUG: KASAN:", Kind::sanitizer},
    Pattern{"BUG: KFENCE:", Kind::sanitizer},
    Pattern{"BUG: KCSAN:", Kind::sanitizer},
    Pattern{"BUG: KMSAN:", Kind::sanitizer},
    Pattern{"KASAN:", Kind::sanitizer},
    Pattern{"UBSAN:", Kind::sanitizer},
    Pattern{"watchdog: BUG: soft lockup", Kind::stall},
    Pattern{"watchdog: Watchdog detected hard LOCKUP", Kind::stall},
    Pattern{"NMI watchdog: Watchdog detected hard LOCKUP", Kind::stall},
    Pattern{"BUG: workqueue lockup", Kind::stall},
    Pattern{"BUG: spinlock", Kind::lockdep},
    Pattern{"BUG: sleeping function called", Kind::lockdep},
    Pattern{"BUG: scheduling while atomic", Kind::lockdep},
    Pattern{"BUG: MAX_LOCKDEP", Kind::lockdep},
    Pattern{"BUG: Bad page", Kind::memory},
    Pattern{"BUG: Bad rss", Kind::memory},
    Pattern{"BUG: ", Kind::bug},
    Pattern{"BUG ", Kind::memory},  // the slab allocator: "BUG kmalloc-64 (Not tainted): ..."
    Pattern{"kernel BUG at ", Kind::bug},
    Pattern{"Oops: ", Kind::bug},
    Pattern{"general protection fault", Kind::bug},
    Pattern{"stack segment: ", Kind::bug},
    Pattern{"invalid opcode: ", Kind::bug},
    Pattern{"divide error: ", Kind::bug},
    Pattern{"int3: ", Kind::bug},
    Pattern{"double fault: ", Kind::bug},
    Pattern{"Internal error: Oops", Kind::bug},
    Pattern{"Unable to handle kernel ", Kind::bug},
    Pattern{"WARNING: possible circular locking dependency", Kind::lockdep},
    Pattern{"WARNING: possible recursive locking", Kind::lockdep},
    Pattern{"WARNING: possible irq lock inversion", Kind::lockdep},
    Pattern{"WARNING: inconsistent lock state", Kind::lockdep},
    Pattern{"WARNING: suspicious RCU usage", Kind::lockdep},
    Pattern{"WARNING: bad unlock balance", Kind::lockdep},
    Pattern{"WARNING: held lock freed", Kind::lockdep},
    Pattern{"WARNING: lock held when returning", Kind::lockdep},
    Pattern{"WARNING: ", Kind::warning},
    Pattern{"refcount_t: ", Kind::memory},
    Pattern{"list_add corruption", Kind::memory},
    Pattern{"list_del corruption", Kind::memory},
    Pattern{"page dumped because:", Kind::memory},
    Pattern{"kmemleak: ", Kind::memory},
    Pattern{"Out of memory: ", Kind::memory},
    Pattern{"unregister_netdevice: waiting for ", Kind::memory},
    Pattern{"INFO: task ", Kind::stall},
    Pattern{"INFO: rcu", Kind::stall},
    Pattern{"rcu: INFO: rcu", Kind::stall},
    Pattern{"INFO: possible recursive locking", Kind::lockdep},
};

/// "2026-11-25T14:16:18.951Z message" -> "message".
std::string_view without_time_of_day(std::string_view line) {
  constexpr std::string_view form = "dddd-dd-ddTdd:dd:dd";
  const auto fits = [](char c, char wanted) {
    return wanted == 'd' ? std::isdigit(static_cast<unsigned char>(c)) != 0 : c == wanted;
  };
  const std::size_t end = line.find(' ');
  if (end == line.npos || end < form.size() ||
      !std::ranges::equal(line.substr(0, form.size()), form, fits))
    return line;
  return line.substr(end + 1);
}

/// "[   12.345678][  T17] message" -> "message"; a level mark "<4>" in front is removed, too, and
/// the time of day that whoever writes a console to a file puts before each line.
std::string_view message_of(std::string_view line) {
  line = without_time_of_day(line);
  if (line.starts_with('<')) {
    const auto end = line.find('>');
    if (end != std::string_view::npos && end <= 4) line.remove_prefix(end + 1);
  }
  for (int bracket = 0; bracket < 2 && line.starts_with('['); ++bracket) {
    const auto end = line.find(']');
    const std::string_view inside = line.substr(1, end == std::string_view::npos ? 0 : end - 1);
    const bool stamp = !inside.empty() && std::ranges::all_of(inside, [](char c) {
      return std::isdigit(static_cast<unsigned char>(c)) || c == '.' || c == ' ' || c == 'T' ||
             c == 'C';
    });
    if (!stamp) break;
    line.remove_prefix(end + 1);
    while (line.starts_with(' ')) line.remove_prefix(1);
  }
  while (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// What the checks say of themselves.
constexpr std::array<std::string_view, 2> announcements{
    "kmemleak: Kernel memory leak detector initialized",
    "kmemleak: Automatic memory scanning thread"};

std::optional<Kind> kind_of(std::string_view message) {
  for (const std::string_view words : announcements)
    if (message.starts_with(words)) return std::nullopt;
  for (const Pattern& pattern : patterns)
    if (message.starts_with(pattern.words)) return pattern.kind;
  return std::nullopt;
}

}  // namespace

std::string_view name_of(KernelFaultKind kind) {
  switch (kind) {
    case Kind::panic:
      return "panic";
    case Kind::bug:
      return "BUG";
    case Kind::warning:
      return "WARNING";
    case Kind::lockdep:
      return "lock checker";
    case Kind::sanitizer:
      return "sanitizer";
    case Kind::memory:
      return "memory check";
    case Kind::stall:
      return "stall";
  }
  return "fault";
}

std::vector<KernelFault> find_kernel_faults(std::string_view log) {
  std::vector<KernelFault> found;
  for (std::size_t start = 0; start < log.size();) {
    const std::size_t end = std::min(log.find('\n', start), log.size());
    const std::string_view message = message_of(log.substr(start, end - start));
    if (const auto kind = kind_of(message)) found.push_back({*kind, start, std::string(message)});
    start = end + 1;
  }
  return found;
}

bool tells_of_crash(std::string_view log) {
  return std::ranges::any_of(find_kernel_faults(log), [](const KernelFault& fault) {
    return fault.kind == Kind::bug || fault.kind == Kind::panic;
  });
}

std::string kernel_log_excerpt(std::string_view log, std::size_t offset, std::size_t lines) {
  if (offset >= log.size()) return {};
  std::size_t end = offset;
  for (std::size_t line = 0; line < lines && end < log.size(); ++line)
    end = std::min(log.find('\n', end), log.size() - 1) + 1;
  return std::string(log.substr(offset, end - offset));
}

}  // namespace suite::lab
