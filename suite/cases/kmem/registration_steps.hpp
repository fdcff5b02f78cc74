// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Steps of cases about regions that work requests register.
#pragma once

#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

inline constexpr iut::Access remote_use{
    .local_write = true, .remote_read = true, .remote_write = true};

/// Registers `length` octets at `offset`; that the API takes it and that it completes is judged.
inline void expect_registered(Body& body, Region& region, std::uint64_t offset,
                              std::uint32_t length, RuleRef rule) {
  const auto [reply, work] = body.iut.try_registration(region, remote_use, offset, length);
  body.expect_that(reply.outcome == iut::Outcome::ok, "the registration accepted", reply.error,
                   rule);
  body.expect(work, completes(), rule);
}

/// The peer reads `length` octets at `offset` of what is registered.
inline void expect_readable(Body& body, const Region& region, std::uint64_t offset,
                            const Octets& wanted, RuleRef rule) {
  body.peer.send(
      read_of(region.stag, region.base + offset, static_cast<std::uint32_t>(wanted.size())));
  body.expect(body.peer, message(Opcode::read_response, wanted), rule);
}

/// Octets of a page; the smallest that Linux has where the IUT does not say.
inline std::uint32_t page_of(Body& body) {
  constexpr std::int64_t usual = 4096;
  const auto stated = body.iut.limits().find("page_size");
  return static_cast<std::uint32_t>(stated == body.iut.limits().end() ? usual : stated->second);
}

}  // namespace suite::cases
