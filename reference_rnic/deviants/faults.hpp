// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Faults of a stream that deviants of higher layers hide from its consumer.
#pragma once

#include "reference_rnic/wire/terminate.hpp"

namespace rnic::deviants {

[[nodiscard]] inline bool is_any_fault(wire::TerminateCause) { return true; }
[[nodiscard]] inline bool is_llp_fault(wire::TerminateCause cause) {
  return cause.layer == wire::layer::mpa;
}
[[nodiscard]] inline bool is_crc_fault(wire::TerminateCause cause) {
  return cause == wire::cause::mpa_crc;
}
[[nodiscard]] inline bool is_ddp_version_fault(wire::TerminateCause cause) {
  return cause == wire::cause::ddp_tagged_invalid_version ||
         cause == wire::cause::ddp_untagged_invalid_version;
}
/// A Read Request, or something checked like one, could not be served.
[[nodiscard]] inline bool is_read_refusal(wire::TerminateCause cause) {
  return cause.layer == wire::layer::rdmap && cause.type == wire::error_type::rdmap_protection;
}

}  // namespace rnic::deviants
