// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/upper_tester/kdat/kernel_consumer.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "suite/upper_tester/common_replies.hpp"
#include "suite/upper_tester/dat/names.hpp"

namespace suite::upper_tester::kdat {

iut::Reply failed(const char* call, const Result& result) {
  if (result.error != 0)
    return refused(std::string(call) + ": " + std::strerror(result.error), result.error);
  return dat::failed(call, static_cast<DAT_RETURN>(result.record.returned));
}

KernelConsumer::~KernelConsumer() {
  if (fd_ >= 0) ::close(fd_);
}

std::string KernelConsumer::open() {
  const std::string device = RNIC_KDAT_DEVICE;
  fd_ = ::open(RNIC_KDAT_DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd_ < 0)
    return device + ": " + std::strerror(errno) +
           "; load the module rnic_kdat_agent (docs/kdapl.md)";
  std::uint32_t version = 0;
  if (::ioctl(fd_, RNIC_KDAT_GET_VERSION, &version) != 0 || version != RNIC_KDAT_VERSION)
    return device + " speaks version " + std::to_string(version) + " and this agent version " +
           std::to_string(RNIC_KDAT_VERSION) + ": build both from the same sources";
  return {};
}

Result KernelConsumer::call(std::uint32_t number, std::initializer_list<Word> in,
                            const iut::Octets& data,
                            const std::vector<rnic_kdat_segment>& segments) const {
  Result result;
  rnic_kdat_call& record = result.record;
  if (segments.size() > RNIC_KDAT_SEGMENTS || data.size() > RNIC_KDAT_DATA) {
    result.error = E2BIG;
    return result;
  }
  record.number = number;
  record.context = RNIC_KDAT_PROCESS;
  std::copy(in.begin(), in.end(), record.in);
  std::copy(segments.begin(), segments.end(), record.segment);
  record.data_length = static_cast<std::uint32_t>(data.size());
  std::copy(data.begin(), data.end(), reinterpret_cast<std::byte*>(record.data));
  if (::ioctl(fd_, RNIC_KDAT_CALL, &record) != 0) result.error = errno;
  return result;
}

std::optional<rnic_kdat_upcall> KernelConsumer::next_upcall() const {
  rnic_kdat_upcall one{};
  if (::read(fd_, &one, sizeof one) != static_cast<ssize_t>(sizeof one)) return std::nullopt;
  return one;
}

KernelMemory& KernelMemory::operator=(KernelMemory&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(start_, other.start_);
  std::swap(size_, other.size_);
  return *this;
}

KernelMemory::~KernelMemory() {
  if (start_ != nullptr) ::munmap(start_, size_);
}

int KernelMemory::make(const KernelConsumer& consumer, std::size_t size) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  rnic_kdat_memory made{};
  made.length = (size + page - 1) / page * page;
  if (::ioctl(consumer.descriptor(), RNIC_KDAT_ALLOC_MEMORY, &made) != 0) return errno;
  void* start = ::mmap(nullptr, made.length, PROT_READ | PROT_WRITE, MAP_SHARED,
                       consumer.descriptor(), static_cast<off_t>(made.handle * page));
  if (start == MAP_FAILED) return errno;
  handle_ = made.handle;
  start_ = static_cast<std::byte*>(start);
  size_ = made.length;
  return 0;
}

}  // namespace suite::upper_tester::kdat
