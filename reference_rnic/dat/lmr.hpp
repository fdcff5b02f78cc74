// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A Local Memory Region: memory that the RNIC may use, and its context, the STag.
#pragma once

#include <array>
#include <expected>
#include <span>

#include "reference_rnic/dat/pz.hpp"

namespace rnic::dat {

class Lmr final : public Object {
 public:
  static constexpr Kind its_kind = Kind::lmr;
  static constexpr DAT_RETURN_SUBTYPE subtype = DAT_INVALID_HANDLE_LMR;

  Lmr(Ia* the_ia, Pz* the_pz, const verbs::RegionInfo& the_region, wire::MutableBytes the_memory)
      : Object(its_kind, the_ia), pz(the_pz), region(the_region), memory(the_memory) {
    ia->by_context[region.stag] = this;
  }
  ~Lmr() override;

  [[nodiscard]] bool covers(DAT_VADDR address, DAT_VLEN length) const;
  /// The memory at a triplet that covers() admits.
  [[nodiscard]] wire::MutableBytes at(DAT_VADDR address, DAT_SEG_LENGTH length) const;
  /// 0 if the region is open to no peer.
  [[nodiscard]] DAT_RMR_CONTEXT rmr_context() const;

  Use<Pz> pz;
  verbs::RegionInfo region;
  wire::MutableBytes memory;
  DAT_MEM_TYPE mem_type = DAT_MEM_TYPE_VIRTUAL;
  DAT_REGION_DESCRIPTION description{};
  std::array<char, DAT_LMR_COOKIE_SIZE> cookie{};  ///< of shared memory
  DAT_MEM_PRIV_FLAGS privileges = DAT_MEM_PRIV_NONE_FLAG;
  DAT_VA_TYPE va_type = DAT_VA_TYPE_VA;
};

/// What a DTO does with its local segments.
enum class LocalUse : std::uint8_t { source, sink };

/// The segments of a DTO as pieces, each in an LMR of `pz` that allows the use. Reading is always
/// allowed. `total` is the sum of their lengths.
struct LocalSegments {
  verbs::Pieces pieces;
  DAT_VLEN total = 0;
};
[[nodiscard]] std::expected<LocalSegments, DAT_RETURN> read_segments(
    Ia& ia, const Pz& pz, std::span<const DAT_LMR_TRIPLET> triplets, LocalUse use);

}  // namespace rnic::dat
