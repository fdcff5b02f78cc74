// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/upper_tester/kdat/kernel_consumer.hpp"

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

std::string KernelConsumer::open() {
  const std::string device = RNIC_KDAT_DEVICE;
  if (const int error = ModuleFile::open(RNIC_KDAT_DEVICE); error != 0)
    return device + ": " + std::strerror(error) +
           "; load the module rnic_kdat_agent (docs/kdapl.md)";
  std::uint32_t version = 0;
  if (ModuleFile::call(RNIC_KDAT_GET_VERSION, version) != 0 || version != RNIC_KDAT_VERSION)
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
  result.error = ModuleFile::call(RNIC_KDAT_CALL, record);
  return result;
}

std::optional<rnic_kdat_upcall> KernelConsumer::next_upcall() const {
  rnic_kdat_upcall one{};
  if (::read(descriptor(), &one, sizeof one) != static_cast<ssize_t>(sizeof one))
    return std::nullopt;
  return one;
}

int KernelConsumer::make(ModuleMemory& memory, std::size_t size) const {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  rnic_kdat_memory made{};
  made.length = (size + page - 1) / page * page;
  if (const int error = ModuleFile::call(RNIC_KDAT_ALLOC_MEMORY, made); error != 0) return error;
  const int error = memory.map(*this, made.handle, made.length);
  if (error != 0) static_cast<void>(free_memory(made.handle));
  return error;
}

int KernelConsumer::free_memory(std::uint32_t handle) const {
  return handle == 0 ? 0 : ModuleFile::call(RNIC_KDAT_FREE_MEMORY, handle);
}

}  // namespace suite::upper_tester::kdat
