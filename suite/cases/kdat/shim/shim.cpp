// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// librnic_kdat_shim.so: loaded before the C library (LD_PRELOAD), it stands between a case of kDAPL
// and /dev/rnic_kdat, and makes one call or event go wrong, so that the case can be seen to fail.
// The faults are those of the shim of uDAPL (fault.hpp), asked for in the same way.
#include <dlfcn.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "suite/cases/dat/shim/fault.hpp"
#include "suite/cases/kdat/framework/call_name.hpp"

namespace suite::cases::dat::shim {

namespace {

template <typename Function>
Function* behind(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    std::fprintf(stderr, "librnic_kdat_shim: the C library has no %s\n", name);
    std::_Exit(2);
  }
  return reinterpret_cast<Function*>(found);
}

// ---------------------------------------------------------------- events

bool is_connection(const rnic_kdat_event& event) {
  return (event.number & 0xFF000U) == static_cast<unsigned>(0x4000);
}

/// False: there is nothing in it that this kind of fault could alter.
bool alter(rnic_kdat_event& event, Kind kind) {
  switch (kind) {
    case Kind::event_number:
      event.number = event.number == DAT_CONNECTION_EVENT_DISCONNECTED
                         ? DAT_CONNECTION_EVENT_BROKEN
                         : DAT_CONNECTION_EVENT_DISCONNECTED;
      return true;
    case Kind::event_status:
      event.status = event.status == DAT_DTO_SUCCESS ? DAT_DTO_ERR_TRANSPORT : DAT_DTO_SUCCESS;
      event.truncated ^= 1U;
      ++event.reason;
      return true;
    case Kind::event_cookie:
      ++event.cookie;
      return true;
    case Kind::event_length:
      event.length = is_connection(event) && event.length > 0 ? event.length - 1 : event.length + 1;
      return true;
    case Kind::event_operation:
      event.operation = event.operation == DAT_DTO_SEND ? DAT_DTO_RDMA_WRITE : DAT_DTO_SEND;
      return true;
    case Kind::event_context:
      ++event.rmr_context;
      ++event.qualifier;
      return true;
    case Kind::event_handle:
      event.ep = event.psp = event.evd = 0;
      return true;
    case Kind::event_data:
      event.data[0] ^= 1U;
      return true;
    default:
      return false;
  }
}

// ---------------------------------------------------------------- calls

void spoil(rnic_kdat_call& call, Kind kind) {
  if (kind == Kind::out_zero) {
    std::memset(call.out, 0, sizeof call.out);
    std::memset(call.data, 0, sizeof call.data);
    return;
  }
  for (auto& each : call.out) each ^= 1U;
  call.data[0] ^= 1U;
}

int make_call(int fd, unsigned long request, rnic_kdat_call& call) {
  static auto* const original = behind<int(int, unsigned long, ...)>("ioctl");
  if (!strikes(call_name(call.number))) {
    const int result = original(fd, request, &call);
    if (result == 0 && call.number == RNIC_KDAT_EVD_DEQUEUE && call.returned == DAT_SUCCESS &&
        strikes_event())
      alter(call.event, the_fault().kind);
    return result;
  }
  const Kind kind = the_fault().kind;
  if (kind == Kind::swallow || kind == Kind::answers) {
    spoil(call, Kind::out_zero);
    call.returned = kind == Kind::swallow
                        ? static_cast<DAT_RETURN>(DAT_SUCCESS)
                        : static_cast<DAT_RETURN>(DAT_CLASS_ERROR | the_fault().code);
    return 0;
  }
  if (kind == Kind::in_other) ++call.segment[0].address;
  const int result = original(fd, request, &call);
  if (kind == Kind::out_zero || kind == Kind::out_other) spoil(call, kind);
  if (kind == Kind::error) call.returned = undocumented_error;
  if (kind == Kind::returns) call.returned = another_class(call.returned);
  return result;
}

// ---------------------------------------------------------------- UpCalls

ssize_t read_upcall(int fd, rnic_kdat_upcall& upcall) {
  static auto* const original = behind<ssize_t(int, void*, std::size_t)>("read");
  static std::optional<rnic_kdat_upcall> again;
  if (again) {
    upcall = *again;
    again.reset();
    return sizeof upcall;
  }
  while (true) {
    const ssize_t result = original(fd, &upcall, sizeof upcall);
    if (result != static_cast<ssize_t>(sizeof upcall) || !strikes_event()) return result;
    switch (the_fault().kind) {
      case Kind::event_drop:
        continue;
      case Kind::event_again:
        again = upcall;
        return result;
      case Kind::event_operation:
        // Of an UpCall itself: whether it brought the event, and whether there are more.
        upcall.has_event ^= 1U;
        upcall.more ^= 1U;
        [[fallthrough]];
      default:
        alter(upcall.event, the_fault().kind);
        return result;
    }
  }
}

}  // namespace

}  // namespace suite::cases::dat::shim

extern "C" __attribute__((visibility("default"))) int ioctl(int fd, unsigned long request,
                                                            ...) noexcept {
  std::va_list list;
  va_start(list, request);
  void* argument = va_arg(list, void*);
  va_end(list);
  if (request == RNIC_KDAT_CALL)
    return suite::cases::dat::shim::make_call(fd, request, *static_cast<rnic_kdat_call*>(argument));
  static auto* const original =
      suite::cases::dat::shim::behind<int(int, unsigned long, ...)>("ioctl");
  return original(fd, request, argument);
}

/// Nothing else of a case reads so many octets at once.
extern "C" __attribute__((visibility("default"))) ssize_t read(int fd, void* place,
                                                               std::size_t size) {
  if (size == sizeof(rnic_kdat_upcall))
    return suite::cases::dat::shim::read_upcall(fd, *static_cast<rnic_kdat_upcall*>(place));
  static auto* const original =
      suite::cases::dat::shim::behind<ssize_t(int, void*, std::size_t)>("read");
  return original(fd, place, size);
}
