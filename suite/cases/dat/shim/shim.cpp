// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// librnic_dat_shim.so: loaded before libdat2 (LD_PRELOAD), it intercepts every call of DAT and
// makes one go wrong, so that a case can be seen to fail. It works with any provider.
#include <dlfcn.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "suite/cases/dat/framework/dat_iwarp.hpp"
#include "suite/cases/dat/shim/fault.hpp"

namespace suite::cases::dat::shim {

namespace {

/// libdat2's own function of this name.
void* behind(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    std::fprintf(stderr, "librnic_dat_shim: libdat2 has no %s\n", name);
    std::_Exit(2);
  }
  return found;
}

template <typename Function>
Function* original_of(const char* name) {
  return reinterpret_cast<Function*>(behind(name));
}

template <typename Function, unsigned Position>
struct ParameterOf;
template <typename... Parameters, unsigned Position>
struct ParameterOf<DAT_RETURN(Parameters...), Position> {
  using Type = std::tuple_element_t<Position, std::tuple<Parameters...>>;
};
template <typename Function, unsigned Position>
using Parameter = typename ParameterOf<Function, Position>::Type;

/// The event that a dispatcher returns is changed. A dropped event is lost: the next one is
/// requested.
template <typename Next>
DAT_RETURN take_event(DAT_EVENT* event, Next next) {
  static std::mutex mutex;
  static std::optional<DAT_EVENT> again;
  if (the_fault().kind == Kind::event_again && event != nullptr) {
    const std::scoped_lock lock(mutex);
    if (again && again->evd_handle != nullptr) {
      *event = *again;
      again.reset();
      return DAT_SUCCESS;
    }
  }
  while (true) {
    const DAT_RETURN result = next();
    if (result != DAT_SUCCESS || event == nullptr || !strikes_event()) return result;
    if (the_fault().kind == Kind::event_drop) continue;
    if (the_fault().kind == Kind::event_again) {
      const std::scoped_lock lock(mutex);
      again = *event;
    }
    static_cast<void>(alter(*event, the_fault().kind));
    return result;
  }
}

template <typename... Parameters>
DAT_RETURN exported(const char* name, DAT_RETURN (*original)(Parameters...),
                    Parameters... arguments) {
  const auto go_on = [&] { return call_with_fault<Parameters...>(name, original, arguments...); };
  DAT_EVENT* event = nullptr;
  const auto note = [&event](auto argument) {
    if constexpr (std::is_same_v<decltype(argument), DAT_EVENT*>) event = argument;
  };
  (note(arguments), ...);
  return event == nullptr ? go_on() : take_event(event, go_on);
}

// ---------------------------------------------------------------- the provider's table

DAT_PROVIDER original_table{};

template <auto Member>
struct TableCall;
template <typename... Parameters, DAT_RETURN (*DAT_PROVIDER::*Member)(Parameters...)>
struct TableCall<Member> {
  static inline const char* name = nullptr;
  static DAT_RETURN call(Parameters... arguments) {
    return call_with_fault<Parameters...>(name, original_table.*Member, arguments...);
  }
  static void put_into(DAT_PROVIDER& table, const char* its_name) {
    if (table.*Member == nullptr) return;
    name = its_name;
    table.*Member = call;
  }
};

/// A provider registers once for each line of dat.conf; all its tables have the same calls.
void stand_between(DAT_PROVIDER& table) {
  static bool saved = false;
  if (!std::exchange(saved, true)) original_table = table;
#define EXPORTED_CALL(call, count)
#define TABLE_CALL(member, call) TableCall<&DAT_PROVIDER::member>::put_into(table, #call);
#include "suite/cases/dat/shim/calls.def"
#undef EXPORTED_CALL
#undef TABLE_CALL
}

// ---------------------------------------------------------------- the iWARP extension

auto* extension_behind() {
  static auto* const original = original_of<decltype(dat_extension_op)>("dat_extension_op");
  return original;
}

DAT_RETURN ssp_create(DAT_HANDLE handle, DAT_IA_HANDLE ia, int socket, DAT_EP_HANDLE ep,
                      DAT_EVD_HANDLE evd, DAT_PVOID message, DAT_COUNT length, iwarp::Ssp* ssp) {
  return extension_behind()(handle, iwarp::ssp_create_op, ia, socket, ep, evd, message, length,
                            ssp);
}
DAT_RETURN ssp_free(DAT_HANDLE ssp) { return extension_behind()(ssp, iwarp::ssp_free_op); }
DAT_RETURN ssp_query(DAT_HANDLE ssp, int mask, iwarp::SspParam* param) {
  return extension_behind()(ssp, iwarp::ssp_query_op, mask, param);
}
DAT_RETURN socket_connect(DAT_HANDLE ep, int socket, DAT_TIMEOUT timeout, DAT_COUNT size,
                          DAT_PVOID data) {
  return extension_behind()(ep, iwarp::socket_connect_op, socket, timeout, size, data);
}
DAT_RETURN unknown_operation(DAT_HANDLE handle, DAT_EXTENDED_OP operation) {
  return extension_behind()(handle, operation);
}

/// A fault may name the operation, or dat_extension_op for any of them.
template <typename... Parameters>
DAT_RETURN operation_called(const char* name, DAT_RETURN (*original)(Parameters...),
                            Parameters... arguments) {
  const bool any = the_fault().call == "dat_extension_op";
  return call_with_fault<Parameters...>(any ? "dat_extension_op" : name, original, arguments...);
}

/// The arguments are in the order in which dat_iwarp.hpp passes them.
DAT_RETURN extension_op(DAT_HANDLE handle, DAT_EXTENDED_OP operation, va_list arguments) {
  switch (operation) {
    case iwarp::ssp_create_op: {
      auto* ia = va_arg(arguments, DAT_IA_HANDLE);
      const int socket = va_arg(arguments, int);
      auto* ep = va_arg(arguments, DAT_EP_HANDLE);
      auto* evd = va_arg(arguments, DAT_EVD_HANDLE);
      auto* message = va_arg(arguments, DAT_PVOID);
      const auto length = va_arg(arguments, DAT_COUNT);
      auto* ssp = va_arg(arguments, iwarp::Ssp*);
      return operation_called("dat_iw_ssp_create", ssp_create, handle, ia, socket, ep, evd, message,
                              length, ssp);
    }
    case iwarp::ssp_free_op:
      return operation_called("dat_iw_ssp_free", ssp_free, handle);
    case iwarp::ssp_query_op: {
      const int mask = va_arg(arguments, int);
      auto* param = va_arg(arguments, iwarp::SspParam*);
      return operation_called("dat_iw_ssp_query", ssp_query, handle, mask, param);
    }
    case iwarp::socket_connect_op: {
      const int socket = va_arg(arguments, int);
      const auto timeout = va_arg(arguments, DAT_TIMEOUT);
      const auto size = va_arg(arguments, DAT_COUNT);
      auto* data = va_arg(arguments, DAT_PVOID);
      return operation_called("dat_iw_socket_connect", socket_connect, handle, socket, timeout,
                              size, data);
    }
    default:
      return operation_called("dat_extension_op", unknown_operation, handle, operation);
  }
}

}  // namespace

}  // namespace suite::cases::dat::shim

// ---------------------------------------------------------------- what libdat2 exports

#define PARAMETER(function, position) \
  ::suite::cases::dat::shim::Parameter<decltype(function), position> a##position
#define PARAMETERS_1(f) PARAMETER(f, 0)
#define PARAMETERS_2(f) PARAMETERS_1(f), PARAMETER(f, 1)
#define PARAMETERS_3(f) PARAMETERS_2(f), PARAMETER(f, 2)
#define PARAMETERS_4(f) PARAMETERS_3(f), PARAMETER(f, 3)
#define PARAMETERS_5(f) PARAMETERS_4(f), PARAMETER(f, 4)
#define PARAMETERS_6(f) PARAMETERS_5(f), PARAMETER(f, 5)
#define PARAMETERS_7(f) PARAMETERS_6(f), PARAMETER(f, 6)
#define PARAMETERS_8(f) PARAMETERS_7(f), PARAMETER(f, 7)
#define PARAMETERS_9(f) PARAMETERS_8(f), PARAMETER(f, 8)
#define PARAMETERS_12(f) PARAMETERS_9(f), PARAMETER(f, 9), PARAMETER(f, 10), PARAMETER(f, 11)
#define ARGUMENTS_1 a0
#define ARGUMENTS_2 ARGUMENTS_1, a1
#define ARGUMENTS_3 ARGUMENTS_2, a2
#define ARGUMENTS_4 ARGUMENTS_3, a3
#define ARGUMENTS_5 ARGUMENTS_4, a4
#define ARGUMENTS_6 ARGUMENTS_5, a5
#define ARGUMENTS_7 ARGUMENTS_6, a6
#define ARGUMENTS_8 ARGUMENTS_7, a7
#define ARGUMENTS_9 ARGUMENTS_8, a8
#define ARGUMENTS_12 ARGUMENTS_9, a9, a10, a11

extern "C" {

#define EXPORTED_CALL(function, count)                                                  \
  [[gnu::visibility("default")]] DAT_RETURN function(PARAMETERS_##count(function)) {    \
    static auto* const original =                                                       \
        ::suite::cases::dat::shim::original_of<decltype(function)>(#function);          \
    return ::suite::cases::dat::shim::exported(#function, original, ARGUMENTS_##count); \
  }
#define TABLE_CALL(member, call)
#include "suite/cases/dat/shim/calls.def"
#undef EXPORTED_CALL
#undef TABLE_CALL

[[gnu::visibility("default")]] DAT_RETURN dat_extension_op(DAT_HANDLE handle,
                                                           DAT_EXTENDED_OP operation, ...) {
  va_list arguments;
  va_start(arguments, operation);
  const DAT_RETURN result = suite::cases::dat::shim::extension_op(handle, operation, arguments);
  va_end(arguments);
  return result;
}

[[gnu::visibility("default")]] DAT_RETURN dat_registry_add_provider(const DAT_PROVIDER* table,
                                                                    const DAT_PROVIDER_INFO* info) {
  namespace shim = suite::cases::dat::shim;
  static auto* const original =
      shim::original_of<decltype(dat_registry_add_provider)>("dat_registry_add_provider");
  if (table != nullptr) shim::stand_between(const_cast<DAT_PROVIDER&>(*table));
  return shim::call_with_fault("dat_registry_add_provider", original, table, info);
}

}  // extern "C"
