// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/kdat/framework/consumer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "suite/cases/dat/framework/dat_call.hpp"
#include "suite/cases/framework/stop.hpp"
#include "suite/cases/kdat/framework/call_name.hpp"

namespace suite::cases::dat {

namespace {

[[noreturn]] void stop_for(Verdict verdict, const std::string& what) {
  throw CaseStop{.verdict = verdict,
                 .reason = fmt::format("{}: {}", what, std::strerror(errno)),
                 .silence = {}};
}

}  // namespace

CallOptions with_null(std::uint32_t pointer) {
  return {.nulls = static_cast<std::uint32_t>(RNIC_KDAT_NULL(pointer))};
}

CallOptions with_data(std::span<const std::byte> data, std::uint32_t nulls) {
  return {.nulls = nulls, .data = {data.begin(), data.end()}};
}

std::vector<std::byte> Result::data() const {
  const auto* start = reinterpret_cast<const std::byte*>(record.data);
  return {start, start + std::min<std::size_t>(record.data_length, RNIC_KDAT_DATA)};
}

std::vector<std::byte> data_of(const KernelEvent& event) {
  const auto* start = reinterpret_cast<const std::byte*>(event.data);
  return {start, start + std::min<std::size_t>(event.length, RNIC_KDAT_DATA)};
}

Consumer::Consumer() {
  fd_ = ::open(RNIC_KDAT_DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd_ < 0)
    stop_for(Verdict::not_applicable,
             RNIC_KDAT_DEVICE ": load the module rnic_kdat_agent (docs/kdapl.md)");
  std::uint32_t version = 0;
  if (::ioctl(fd_, RNIC_KDAT_GET_VERSION, &version) != 0 || version != RNIC_KDAT_VERSION)
    stop_for(Verdict::error, fmt::format("the module rnic_kdat_agent speaks version {} and this "
                                         "program version {}; build both from the same sources",
                                         version, RNIC_KDAT_VERSION));
}

Consumer::~Consumer() {
  if (fd_ >= 0) ::close(fd_);
}

Result Consumer::call(std::uint32_t number, std::initializer_list<Word> in,
                      const CallOptions& options) {
  Result result;
  rnic_kdat_call& record = result.record;
  record.number = number;
  record.context = options.context;
  record.nulls = options.nulls;
  std::ranges::copy(in, record.in);
  std::ranges::copy(options.segments, record.segment);
  std::ranges::copy(options.pages, record.page);
  record.data_length = static_cast<std::uint32_t>(options.data.size());
  std::ranges::copy(options.data, reinterpret_cast<std::byte*>(record.data));
  int error = 0;
  const char* name = call_name(number);
  static_cast<void>(called(name, [&] {
    error = ::ioctl(fd_, RNIC_KDAT_CALL, &record) == 0 ? 0 : errno;
    return static_cast<DAT_RETURN>(record.returned);
  }));
  errno = error;
  if (error != 0) stop_for(Verdict::error, fmt::format("the module does not make {}", name));
  return result;
}

KernelMemory Consumer::memory(std::size_t pages) {
  rnic_kdat_memory made{};
  made.length = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  if (::ioctl(fd_, RNIC_KDAT_ALLOC_MEMORY, &made) != 0)
    stop_for(Verdict::inconclusive, "the module has no memory");
  void* start = ::mmap(nullptr, made.length, PROT_READ | PROT_WRITE, MAP_SHARED, fd_,
                       static_cast<off_t>(made.handle) * made.page_size);
  if (start == MAP_FAILED) stop_for(Verdict::inconclusive, "mmap of the module's memory");
  return {.handle = made.handle,
          .address = made.address,
          .page_size = made.page_size,
          .octets = {static_cast<std::byte*>(start), made.length}};
}

void Consumer::hold_registry() {
  const InCall mark("the end of another case of the registry");
  while (::flock(fd_, LOCK_EX) != 0)
    if (errno != EINTR) stop_for(Verdict::error, "flock of the module's file");
}

void Consumer::read(bool wait) {
  if (wait) {
    const InCall mark("an UpCall");
    pollfd readable{fd_, POLLIN, 0};
    while (::poll(&readable, 1, -1) < 0 && errno == EINTR) {
    }
  }
  Upcall one{};
  while (::read(fd_, &one, sizeof one) == static_cast<ssize_t>(sizeof one)) unread_.push_back(one);
}

Upcall Consumer::next_upcall(Word evd) {
  const auto is_of_it = [evd](const Upcall& one) { return one.evd == evd; };
  while (true) {
    if (const auto found = std::ranges::find_if(unread_, is_of_it); found != unread_.end()) {
      const Upcall one = *found;
      unread_.erase(found);
      return one;
    }
    read(true);
  }
}

std::vector<Upcall> Consumer::upcalls_so_far(Word evd) {
  read(false);
  std::vector<Upcall> taken;
  for (const Upcall& one : unread_)
    if (one.evd == evd) taken.push_back(one);
  std::erase_if(unread_, [evd](const Upcall& one) { return one.evd == evd; });
  return taken;
}

}  // namespace suite::cases::dat
