// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Permissions of MPA framing (RFC 5044 sections 3 to 5 and 8), and of where TCP segments begin.
#include "reference_rnic/lawful/table.hpp"

namespace rnic::lawful {
namespace {

using stream::Choice;
using stream::Config;
using stream::Context;
using stream::Decisions;
using stream::Range;

struct CrcSentUnasked : Decisions {
  void crc_computed(const Choice<bool>&, bool& computed) override { computed = true; }
};

struct BadSegmentDropped : Decisions {
  void bad_segment_dropped(const Choice<bool>&, bool& dropped) override { dropped = true; }
};

struct MarkersUnchecked : Decisions {
  void markers_compared(const Choice<bool>&, bool& compared) override { compared = false; }
};

struct JumboFpdusRefused : Decisions {
  void longest_fpdu(const Config&, const Range<std::size_t>& range, std::size_t& octets) override {
    octets = range.least;
  }
};

struct SmallestFpdus : Decisions {
  void mulpdu(const Context&, const Range<std::size_t>& range, std::size_t& octets) override {
    octets = range.least;
  }
};

struct FpdusOfVaryingSize : Decisions {
  void mulpdu(const Context&, const Range<std::size_t>& range, std::size_t& octets) override {
    constexpr std::size_t sizes = 5;
    octets = range.most - (range.most - range.least) * (segments_++ % sizes) / (sizes - 1);
  }
  std::size_t segments_ = 0;
};

struct SegmentsNotAligned : access::Decisions {
  void segments_aligned(const Choice<bool>&, bool& aligned) override { aligned = false; }
};

constexpr Row<Decisions> rows[] = {
    row<Decisions, CrcSentUnasked>(Lawful::crc_sent_unasked),
    row<Decisions, BadSegmentDropped>(Lawful::bad_segment_dropped),
    row<Decisions, MarkersUnchecked>(Lawful::markers_unchecked),
    row<Decisions, JumboFpdusRefused>(Lawful::jumbo_fpdus_refused),
    row<Decisions, SmallestFpdus>(Lawful::smallest_fpdus),
    row<Decisions, FpdusOfVaryingSize>(Lawful::fpdus_of_varying_size),
};

constexpr Row<access::Decisions> connection_rows[] = {
    row<access::Decisions, SegmentsNotAligned>(Lawful::segments_not_aligned),
};

}  // namespace

std::span<const Row<stream::Decisions>> framing_variants() { return rows; }
std::span<const Row<access::Decisions>> connection_variants() { return connection_rows; }

}  // namespace rnic::lawful
