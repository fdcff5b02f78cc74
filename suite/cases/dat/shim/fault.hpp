// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One fault of a DAT provider: which call goes wrong, when, and how.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "suite/cases/dat/framework/dat_headers.hpp"

namespace suite::cases::dat::shim {

enum class Kind : std::uint8_t {
  returns,    ///< another class of return: success for a failure, an error for success
  error,      ///< an error that no document states for the call
  out_zero,   ///< what the call gives out is zeroed
  out_other,  ///< what the call gives out is altered
  in_other,   ///< segments begin an octet later than the consumer said
  swallow,    ///< the call succeeds and does nothing
  answers,    ///< the call does nothing and returns Fault::code
  // of events, as they are handed out:
  event_drop,
  event_again,
  event_number,
  event_status,
  event_cookie,
  event_length,
  event_operation,
  event_context,
  event_handle,
  event_data,
};

/// `call=dat_pz_free,kind=returns,nth=1`: the nth call of it that this process makes, or every one
/// (0). Faults of events name no call. `kind=answers` has the type of an error besides:
/// `code=0x00030000`.
struct Fault {
  std::string_view call;
  Kind kind = Kind::returns;
  unsigned nth = 0;
  DAT_RETURN code = 0;
};
[[nodiscard]] std::optional<Fault> parse_fault(std::string_view text);
/// The fault that the environment asks for: RNIC_DAT_FAULT. Ends the process if it is none.
[[nodiscard]] const Fault& the_fault();

/// Whether this call of `name` goes wrong; counts it.
[[nodiscard]] bool strikes(std::string_view name);
/// Whether this event goes wrong; counts it.
[[nodiscard]] bool strikes_event();
/// Alters it. False: there is nothing in it that this kind of fault could alter.
bool alter(DAT_EVENT& event, Kind kind);

// ---------------------------------------------------------------- arguments of calls

template <typename Pointed>
constexpr bool goes_out =
    !std::is_const_v<Pointed> && !std::is_void_v<Pointed> && !std::is_function_v<Pointed> &&
    !std::is_same_v<Pointed, DAT_LMR_TRIPLET> && !std::is_same_v<Pointed, DAT_SOCK_ADDR> &&
    !std::is_same_v<Pointed, DAT_COMM> && !std::is_same_v<Pointed, DAT_SRQ_ATTR> &&
    !std::is_same_v<Pointed, char>;

template <typename Argument>
void spoil_out(Argument argument, Kind kind) {
  if constexpr (std::is_pointer_v<Argument>) {
    using Pointed = std::remove_pointer_t<Argument>;
    if constexpr (goes_out<Pointed>) {
      if (argument == nullptr) return;
      // A handle that is none of the provider's would be followed by libdat2.
      if (kind == Kind::out_zero || std::is_pointer_v<Pointed>) {
        std::memset(static_cast<void*>(argument), 0, sizeof(Pointed));
      } else {
        auto* octets = reinterpret_cast<unsigned char*>(argument);
        for (std::size_t i = 0; i < sizeof(Pointed); ++i) octets[i] ^= 1U;
      }
    }
  }
}

/// Segments that a call takes in, an octet further on.
class ShiftedSegments {
 public:
  template <typename Argument>
  explicit ShiftedSegments(Argument argument) {
    if constexpr (std::is_same_v<Argument, DAT_LMR_TRIPLET*>) {
      if (argument == nullptr) return;
      first_ = argument;
      ++first_->virtual_address;
    }
  }
  ShiftedSegments(const ShiftedSegments&) = delete;
  ShiftedSegments& operator=(const ShiftedSegments&) = delete;
  ~ShiftedSegments() {
    if (first_ != nullptr) --first_->virtual_address;
  }

 private:
  DAT_LMR_TRIPLET* first_ = nullptr;
};

// ---------------------------------------------------------------- a call

constexpr auto undocumented_error = static_cast<DAT_RETURN>(DAT_CLASS_ERROR | DAT_INTERNAL_ERROR);
/// An error for a success, and the other way round.
[[nodiscard]] DAT_RETURN another_class(DAT_RETURN code);

template <typename... Parameters>
DAT_RETURN call_with_fault(std::string_view name, DAT_RETURN (*original)(Parameters...),
                           Parameters... arguments) {
  if (!strikes(name)) return original(arguments...);
  const Kind kind = the_fault().kind;
  if (kind == Kind::swallow) {
    (spoil_out(arguments, Kind::out_zero), ...);
    return DAT_SUCCESS;
  }
  if (kind == Kind::answers) return static_cast<DAT_RETURN>(DAT_CLASS_ERROR | the_fault().code);
  const DAT_RETURN result = [&] {
    if (kind != Kind::in_other) return original(arguments...);
    const std::tuple<std::conditional_t<true, ShiftedSegments, Parameters>...> shifted(
        arguments...);
    return original(arguments...);
  }();
  if (kind == Kind::out_zero || kind == Kind::out_other) (spoil_out(arguments, kind), ...);
  if (kind == Kind::error) return undocumented_error;
  return kind == Kind::returns ? another_class(result) : result;
}

}  // namespace suite::cases::dat::shim
