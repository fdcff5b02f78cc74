// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Posts on a connected pair with memory on both sides: what the cases of DTOs share.
#pragma once

#include <algorithm>
#include <cstddef>

#include "suite/cases/dat/framework/dat_case.hpp"
#include "suite/cases/dat/framework/dat_endpoint.hpp"

namespace suite::cases::dat {

/// What the memory of PairWithMemory is filled with.
inline constexpr std::byte own_octet{0xA5}, peer_octet{0x3C};

struct PairWithMemory {
  explicit PairWithMemory(DatBody& body, const PairOptions& options = {})
      : pair(body.connected(options)),
        own(body.ia(), pair.pz.get(), 256, DAT_MEM_PRIV_ALL_FLAG, own_octet),
        peer(body.ia(), pair.pz.get(), 256, DAT_MEM_PRIV_ALL_FLAG, peer_octet) {}
  Pair pair;
  Lmr own, peer;
};

[[nodiscard]] inline DAT_EP_ATTR attributes_of(const DatBody& body, const Ep& ep) {
  DAT_EP_PARAM param{};
  body.need(CALL(dat_ep_query, ep.get(), DAT_EP_FIELD_ALL, &param), "no EP query");
  return param.ep_attr;
}

/// The octets of a region from `offset` on are all `octet`.
inline void expect_octets(DatBody& body, Lmr& lmr, std::size_t offset, std::size_t length,
                          std::byte octet, RuleRef rule = {}) {
  const auto& octets = lmr.octets();
  const bool all = std::all_of(octets.begin() + static_cast<std::ptrdiff_t>(offset),
                               octets.begin() + static_cast<std::ptrdiff_t>(offset + length),
                               [octet](std::byte each) { return each == octet; });
  body.expect_that(all, fmt::format("octets {:#x}", std::to_integer<int>(octet)), "other octets",
                   rule);
}

}  // namespace suite::cases::dat
