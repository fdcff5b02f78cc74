// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/header_checks.hpp"

#include <array>
#include <span>

namespace rnic::stream {
namespace {

constexpr std::uint32_t queue_count = 3;
constexpr std::uint32_t queue_count_with_extensions = 4;

/// RFC 7306 extends RDMAP for implementations that support it.
bool has_extensions(const Incoming& incoming) {
  return incoming.context.decisions.decide(
      Choice<bool>{"rdmap.atomic.unsupported-aopcode-surfaced", true, either},
      &Decisions::has_extensions);
}

bool is_extension(wire::Opcode opcode) {
  return wire::is_immediate(opcode) || opcode == wire::Opcode::atomic_request ||
         opcode == wire::Opcode::atomic_response;
}

/// The version field DV (RFC 5041 section 4.1); each buffer model has a code of its own for it
/// (RFC 5041 section 7.2).
std::optional<Fault> check_ddp_version(const Incoming& incoming) {
  const bool good = incoming.segment.ddp().version() == wire::ddp_version;
  const char* detail = "DDP version is not 1";
  if (incoming.segment.tagged)
    return incoming.check("ddp.terminate.tagged-invalid-version", good,
                          wire::cause::ddp_tagged_invalid_version, detail);
  return incoming.check("ddp.terminate.untagged-invalid-version", good,
                        wire::cause::ddp_untagged_invalid_version, detail);
}

std::optional<Fault> check_ddp(const Incoming& incoming) {
  const wire::Segment& segment = incoming.segment;
  if (auto fault = check_ddp_version(incoming)) return fault;
  // RFC 5041 section 4.1
  if (auto fault = incoming.check("ddp.header.rsvd-ignored-on-receive")) return fault;
  if (segment.tagged) return std::nullopt;
  // RFC 5041 section 7.1
  const std::uint32_t queues = has_extensions(incoming) ? queue_count_with_extensions : queue_count;
  return incoming.check("ddp.untagged.check-qn-valid",
                        segment.untagged_header.queue_number.value() < queues,
                        wire::cause::ddp_untagged_invalid_queue, "no such queue");
}

/// Whether opcode, T bit and queue belong together (RFC 5040 Figure 4, RFC 7306 Figure 2).
bool fits(const wire::Segment& segment) {
  const wire::Opcode opcode = segment.rdmap().opcode();
  if (!wire::is_defined(opcode) || wire::is_tagged(opcode) != segment.tagged) return false;
  return segment.tagged || segment.untagged_header.queue_number.value() ==
                               static_cast<std::uint32_t>(wire::queue_of(opcode));
}

std::optional<Fault> check_rdmap(const Incoming& incoming) {
  const wire::Segment& segment = incoming.segment;
  // RFC 5040 section 7.2; version 0 may be accepted (section 4.1).
  const std::uint8_t version = segment.rdmap().version();
  const bool good = version == wire::rdmap_version;
  const char* detail = "RDMAP version is not 1";
  if (auto fault = version == 0 ? incoming.check_if_made("rdmap.header.version-zero-admissible",
                                                         "rdmap.error.version-validated", good,
                                                         wire::cause::rdmap_invalid_version, detail)
                                : incoming.check("rdmap.error.version-validated", good,
                                                 wire::cause::rdmap_invalid_version, detail))
    return fault;
  // RFC 5040 section 4.1
  if (auto fault = incoming.check("rdmap.header.reserved-bits-ignored")) return fault;
  // RFC 5040 sections 4.1 and 7.2
  const bool known = !is_extension(segment.rdmap().opcode()) || has_extensions(incoming);
  // If an opcode belongs to another queue, the queue may be what is wrong (docs/disputes.md D55).
  static constexpr std::array wrong_queue{wire::cause::ddp_untagged_invalid_queue};
  const bool queue_may_be_blamed = known && !segment.tagged &&
                                   wire::is_defined(segment.rdmap().opcode()) &&
                                   !wire::is_tagged(segment.rdmap().opcode());
  return incoming.check("rdmap.error.opcode-validated", known && fits(segment),
                        wire::cause::rdmap_unexpected_opcode,
                        "opcode is unknown or does not fit the queue",
                        queue_may_be_blamed ? std::span<const wire::TerminateCause>(wrong_queue)
                                            : std::span<const wire::TerminateCause>());
}

}  // namespace

std::optional<Fault> check_header(const Incoming& incoming) {
  if (auto fault = check_ddp(incoming)) return fault;
  return check_rdmap(incoming);
}

}  // namespace rnic::stream
