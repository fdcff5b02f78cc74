// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What can be wrong with a segment that arrives: the rules by which it is checked, and the
// Terminates that may report it (RFC 5044 section 8, RFC 5041 section 7, RFC 5040 sections 4.8 and
// 7).
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "reference_rnic/wire/terminate.hpp"
#include "suite/model/finding.hpp"

namespace suite::model {

namespace wire = rnic::wire;

struct Fault {
  const char* what = "";
  /// The causes that a Terminate may state; empty: any registered one.
  std::vector<wire::TerminateCause> causes;
  std::vector<RuleId> rules;
  /// The LLP may drop the segment, so that nothing follows from it (docs/disputes.md D8, D9).
  bool may_be_dropped = false;

  bool operator==(const Fault& other) const {
    return causes == other.causes && may_be_dropped == other.may_be_dropped;
  }
};

/// All checks that a segment fails. No sentence gives the checks an order (docs/disputes.md D54), so
/// any of them may be reported.
class Faults {
 public:
  void add(const Fault& fault);
  [[nodiscard]] bool any() const { return found_; }
  [[nodiscard]] const Fault& all() const { return all_; }
  /// Adds the rules that concern the kind of message.
  void concern(std::initializer_list<RuleId> rules) { all_.rules.insert(all_.rules.end(), rules); }

 private:
  bool found_ = false;
  Fault all_;
};

[[nodiscard]] bool admits(const Fault& fault, wire::TerminateCause cause);
/// A cause of it has this code, in some layer and type.
[[nodiscard]] bool has_code(const Fault& fault, std::uint8_t code);
/// `1/1/0x00 or 0/1/0x02`
[[nodiscard]] std::string text_of(const Fault& fault);

/// Each of them, for reports.
[[nodiscard]] std::vector<const Fault*> all_faults();

namespace fault {

// ---- MPA (RFC 5044 section 8) ----
extern const Fault bad_crc, bad_marker;

// ---- DDP (RFC 5041 section 7.1) ----
extern const Fault truncated, tagged_version, untagged_version, unknown_queue, no_buffer,
    sequence_number, offset, too_long, incomplete;
extern const Fault tagged_stag, tagged_association, tagged_rights, tagged_start, tagged_end,
    tagged_wrap;

// ---- RDMAP (RFC 5040 section 7.2) ----
extern const Fault rdmap_version, opcode, opcode_on_queue, opcode_when_tagged;
extern const Fault read_stag, read_association, read_rights, read_start, read_end, read_wrap;
extern const Fault too_many_reads, request_length, unasked_response, response_elsewhere;
extern const Fault atomic_protection, atomic_unaligned, atomic_operation, unasked_atomic_response;
extern const Fault immediate_length;
extern const Fault nothing_to_invalidate, foreign_invalidation, shared_invalidation,
    rightless_invalidation;

}  // namespace fault

}  // namespace suite::model
