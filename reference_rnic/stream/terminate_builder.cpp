// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/terminate_builder.hpp"

namespace rnic::stream {
namespace {

/// Which headers Figure 10 wants for an error of this layer and type.
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

}  // namespace

std::vector<std::byte> build_terminate(const Fault& fault, const StreamDecisions& decisions) {
  wire::Terminate terminate;
  terminate.cause = fault.cause;
  const Included included = figure_10(fault.cause);
  if (included.ddp && fault.offender) {
    terminate.m = terminate.d = true;
    terminate.segment_length = fault.offender->segment_length;
    terminate.ddp_header = fault.offender->ddp_header();
  }
  // Only a Read Request has an RDMA header to be copied (RFC 5040 section 4.8; docs/disputes.md on
  // Figure 10).
  if (included.rdmap && fault.request) {
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
