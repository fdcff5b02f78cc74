// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The Terminates that may answer an error: one table for all cases, so that none demands more than
// another.
#pragma once

#include <initializer_list>

#include "reference_rnic/wire/terminate.hpp"

namespace suite::cases {

struct Refusal {
  std::initializer_list<rnic::wire::TerminateCause> causes;
  /// Advisories.
  std::initializer_list<rnic::wire::TerminateCause> tolerated{};
};

namespace refusal {

namespace cause = rnic::wire::cause;

/// An MO beyond the buffer: the segment's end lies beyond it as well, and RFC 5041 section 7.1
/// gives no order of checks (docs/disputes.md D54). Its own code says more.
inline constexpr Refusal offset_beyond_buffer{{cause::ddp_untagged_invalid_offset},
                                              {cause::ddp_untagged_message_too_long}};
/// An MSN that is not expected has no buffer either (D54).
inline constexpr Refusal msn_out_of_range{
    {cause::ddp_untagged_msn_out_of_range, cause::ddp_untagged_no_buffer}};
/// An unknown queue has no buffer either (D54); its own code says more.
inline constexpr Refusal unknown_queue{{cause::ddp_untagged_invalid_queue},
                                       {cause::ddp_untagged_no_buffer}};
/// A range that wraps is also out of bounds (D15).
inline constexpr Refusal tagged_wrap{{cause::ddp_tagged_to_wrap, cause::ddp_tagged_base_or_bounds}};
inline constexpr Refusal read_wrap{{cause::rdmap_to_wrap, cause::rdmap_base_or_bounds}};
/// An STag of another domain: RFC 5040 section 4.8 and RFC 5041 section 7.2 have a code for it.
inline constexpr Refusal tagged_of_another_domain{{cause::ddp_tagged_stag_not_associated},
                                                  {cause::ddp_tagged_invalid_stag}};
inline constexpr Refusal read_of_another_domain{{cause::rdmap_stag_not_associated},
                                                {cause::rdmap_invalid_stag}};
/// An STag that the peer asks to invalidate and that is not associated with the stream: "the STag
/// Cannot be Invalidated Terminate Error Code" (RFC 5040 section 5.3), of either type (D1).
inline constexpr Refusal invalidation_of_another_domain{
    {cause::rdmap_protection_cannot_invalidate, cause::rdmap_operation_cannot_invalidate}};
/// One that does not exist is not valid either (RFC 5040 section 7.2, D1).
inline constexpr Refusal invalidation_of_nothing{{cause::rdmap_invalid_stag,
                                                  cause::rdmap_protection_cannot_invalidate,
                                                  cause::rdmap_operation_cannot_invalidate}};
/// An opcode on a queue that is not its own: the opcode is wrong there, or the queue for it (D55).
inline constexpr Refusal opcode_on_another_queue{
    {cause::rdmap_unexpected_opcode, cause::ddp_untagged_invalid_queue}};

}  // namespace refusal

}  // namespace suite::cases
