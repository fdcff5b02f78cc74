// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The descriptor of /dev/infiniband/rdma_cm, which librdmacm opens, writes commands to, polls and
// closes. It is an eventfd; the four calls of libc that librdmacm makes on it are answered here.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstring>
#include <span>

#include "reference_rnic/rdma_core/rdma_cm_commands.hpp"

namespace rnic::rdma_core {

namespace {

constexpr const char* path = "/dev/infiniband/rdma_cm";
constexpr int most = 65536;  ///< descriptors from here on are never channels

/// By descriptor. Set and cleared by open() and close(), which a program orders with its other uses.
std::array<std::atomic<CmChannel*>, most> channels;

/// The next definition: libc's, or that of another preloaded library.
template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

int open_channel(int flags) {
  CmChannel* channel = nullptr;
  const int error = call([&](Engine&, Engine::Lock&) {
    channel = new CmChannel;  // NOLINT: close() deletes it
    return 0;
  });
  const int descriptor = channel == nullptr ? -1 : channel->events.descriptor();
  if (descriptor < 0 || descriptor >= most) {
    delete channel;
    errno = error != 0 ? error : EMFILE;
    return -1;
  }
  if ((flags & O_CLOEXEC) == 0) fcntl(descriptor, F_SETFD, 0);
  if ((flags & O_NONBLOCK) != 0) fcntl(descriptor, F_SETFL, O_NONBLOCK);
  channels[static_cast<std::size_t>(descriptor)] = channel;
  return descriptor;
}

/// What the child of fork() closes is its descriptor only; the parent keeps identifiers and events.
void close_channel(CmChannel* channel) {
  if (!channel->events.inherited())
    call([&](Engine& shared, Engine::Lock&) {
      remove_ids(shared, *channel);
      return 0;
    });
  delete channel;  // closes the descriptor
}

}  // namespace

CmChannel* find_channel(int descriptor) {
  return descriptor < 0 || descriptor >= most
             ? nullptr
             : channels[static_cast<std::size_t>(descriptor)].load();
}

}  // namespace rnic::rdma_core

using rnic::rdma_core::next;

extern "C" {

[[gnu::visibility("default")]] int open(const char* name, int flags, ...) {
  if (std::strcmp(name, rnic::rdma_core::path) == 0) return rnic::rdma_core::open_channel(flags);
  mode_t mode = 0;
  if ((flags & (O_CREAT | __O_TMPFILE)) != 0) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    va_end(rest);
  }
  static auto* const real = next<int(const char*, int, ...)>("open");
  return real(name, flags, mode);
}

[[gnu::visibility("default")]] ssize_t write(int descriptor, const void* octets,
                                             std::size_t count) {
  rnic::rdma_core::CmChannel* channel = rnic::rdma_core::find_channel(descriptor);
  if (channel == nullptr) {
    static auto* const real = next<ssize_t(int, const void*, std::size_t)>("write");
    return real(descriptor, octets, count);
  }
  const int error =
      rnic::rdma_core::carry_out(*channel, {static_cast<const std::byte*>(octets), count});
  if (error == 0) return static_cast<ssize_t>(count);
  errno = error;
  return -1;
}

[[gnu::visibility("default")]] int fstat(int descriptor, struct stat* status) noexcept {
  static auto* const real = next<int(int, struct stat*)>("fstat");
  const int result = real(descriptor, status);
  if (result != 0 || rnic::rdma_core::find_channel(descriptor) == nullptr) return result;
  struct stat device{};
  status->st_mode = S_IFCHR | 0666;
  if (::stat(rnic::rdma_core::path, &device) == 0) status->st_rdev = device.st_rdev;
  return 0;
}

[[gnu::visibility("default")]] int close(int descriptor) {
  using rnic::rdma_core::channels;
  if (descriptor >= 0 && descriptor < rnic::rdma_core::most &&
      channels[static_cast<std::size_t>(descriptor)].load() != nullptr) {
    rnic::rdma_core::close_channel(
        channels[static_cast<std::size_t>(descriptor)].exchange(nullptr));
    return 0;
  }
  static auto* const real = next<int(int)>("close");
  return real(descriptor);
}

}  // extern "C"
