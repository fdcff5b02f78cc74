// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/terminate_builder.hpp"

#include <array>
#include <span>
#include <vector>

namespace rnic::stream {
namespace {

/// Which headers Figure 10 demands for an error of this layer and type.
struct Included {
  bool ddp = false, rdmap = false;
};
Included figure_10(wire::TerminateCause cause) {
  namespace type = wire::error_type;
  if (cause.layer == wire::layer::ddp) return {true, false};
  if (cause.layer != wire::layer::rdmap) return {};
  return {cause.type == type::rdmap_protection || cause.type == type::rdmap_operation,
          cause.type == type::rdmap_protection};
}

/// The other causes of an error: another check finds it too, and no text gives their order, or the
/// texts name two codes for it (docs/disputes.md D1, D15, D54).
std::span<const wire::TerminateCause> describing_too(wire::TerminateCause cause) {
  namespace c = wire::cause;
  using Pair = std::array<wire::TerminateCause, 2>;
  static constexpr std::array<Pair, 9> table{
      {{c::ddp_tagged_to_wrap, c::ddp_tagged_base_or_bounds},
       {c::rdmap_to_wrap, c::rdmap_base_or_bounds},
       {c::ddp_untagged_msn_out_of_range, c::ddp_untagged_no_buffer},
       {c::ddp_untagged_invalid_queue, c::ddp_untagged_no_buffer},
       {c::ddp_untagged_invalid_offset, c::ddp_untagged_message_too_long},
       {c::rdmap_protection_cannot_invalidate, c::rdmap_operation_cannot_invalidate},
       {c::ddp_tagged_stag_not_associated, c::ddp_tagged_invalid_stag},
       {c::rdmap_stag_not_associated, c::rdmap_invalid_stag},
       {c::rdmap_operation_cannot_invalidate, c::rdmap_protection_cannot_invalidate}}};
  for (const Pair& pair : table)
    if (pair[0] == cause) return std::span(pair).subspan(1);
  return {};
}

wire::TerminateCause chosen_cause(const Fault& fault, const StreamDecisions& decisions) {
  if (decisions.empty()) return fault.cause;
  std::vector<wire::TerminateCause> permitted{fault.cause};
  const auto too = describing_too(fault.cause);
  permitted.insert(permitted.end(), too.begin(), too.end());
  permitted.insert(permitted.end(), fault.also.begin(), fault.also.end());
  const Choice<wire::TerminateCause> choice{"rdmap.terminate.control-values-defined", fault.cause,
                                            permitted};
  return decisions.decide(choice, &Decisions::cause_named, fault);
}

/// Only a Read Request has an RDMA header to be copied (RFC 5040 section 4.8). For remote operation
/// errors Figure 10 leaves it out, section 7.1, case 3 does not (docs/disputes.md D57).
bool includes_request(const Fault& fault, Included included, const StreamDecisions& decisions) {
  if (!fault.request || included.rdmap) return fault.request.has_value();
  const bool is_operation_error = fault.cause.layer == wire::layer::rdmap &&
                                  fault.cause.type == wire::error_type::rdmap_operation;
  if (!is_operation_error) return false;
  return decisions.decide(
      Choice<bool>{"rdmap.terminate.operation-error-no-rdma-header", false, either},
      &Decisions::read_request_included, fault);
}

}  // namespace

std::vector<std::byte> build_terminate(const Fault& fault, const StreamDecisions& decisions) {
  wire::Terminate terminate;
  terminate.cause = chosen_cause(fault, decisions);
  const Included included = figure_10(terminate.cause);
  if (included.ddp && fault.offender) {
    terminate.m = terminate.d = true;
    terminate.segment_length = fault.offender->segment_length;
    terminate.ddp_header = fault.offender->ddp_header();
  }
  if (includes_request(fault, included, decisions)) {
    terminate.r = true;
    terminate.rdmap_header = wire::octets_of(*fault.request);
  }
  decisions.ask(&Decisions::terminate, fault, terminate);

  std::vector<std::byte> octets(wire::max_terminate_size);
  wire::Writer writer(octets);
  wire::format_terminate(writer, terminate);
  octets.resize(writer.size());
  return octets;
}

}  // namespace rnic::stream
