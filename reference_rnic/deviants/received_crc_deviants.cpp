// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations of what is done with the CRCs of FPDUs that arrive (RFC 5044 sections 4.4 and 8).
#include <algorithm>

#include "reference_rnic/deviants/arrived_fpdu.hpp"
#include "reference_rnic/deviants/stream_tables.hpp"
#include "reference_rnic/wire/crc32c.hpp"

namespace rnic::deviants {
namespace {

using namespace stream;  // NOLINT(google-build-using-namespace): the words of what deviates
using wire::FpduError;

// ---- whether CRCs are checked ----

struct CrcUnchecked : Decisions {
  void crc_checked(const Config&, const Negotiated&, std::uint64_t, bool& checked) override {
    checked = false;
  }
};

struct CrcCheckedWhenOff : Decisions {
  void crc_checked(const Config&, const Negotiated&, std::uint64_t, bool& checked) override {
    checked = true;
  }
};

struct CrcPeerDemandIgnored : Decisions {
  void crc_checked(const Config& config, const Negotiated&, std::uint64_t, bool& checked) override {
    if (!config.crc) checked = false;
  }
};

struct CrcOfFirstFpduCheckedWhenOff : Decisions {
  void crc_checked(const Config&, const Negotiated&, std::uint64_t position,
                   bool& checked) override {
    if (position == 0) checked = true;
  }
};

// ---- FPDUs with a bad CRC ----

/// Does not report an FPDU with a bad CRC.
class OverlooksBadCrc : public Decisions {
 public:
  void fpdu_arrived(const ArrivedFpdu& arrived, FpduOutcome& outcome) final {
    if (failed_with(arrived, FpduError::bad_crc)) overlook(arrived, outcome);
  }

 protected:
  virtual void overlook(const ArrivedFpdu& arrived, FpduOutcome& outcome) = 0;

  /// The FPDU as if its CRC were right.
  [[nodiscard]] auto unchecked(const ArrivedFpdu& arrived) {
    wire::FpduOptions lenient = arrived.options;
    lenient.crc = false;
    return wire::parse_fpdu(octets_of(arrived), lenient, scratch());
  }
  void take_unchecked(const ArrivedFpdu& arrived, FpduOutcome& outcome) {
    if (const auto fpdu = unchecked(arrived)) take(outcome, fpdu->ulpdu, fpdu->consumed);
  }
  [[nodiscard]] wire::MutableBytes scratch() {
    stripped_.resize(wire::fpdu_size(wire::max_ulpdu));
    return stripped_;
  }

 private:
  std::vector<std::byte> stripped_;
};

struct AcceptsBadCrc : OverlooksBadCrc {
  void overlook(const ArrivedFpdu& arrived, FpduOutcome& outcome) override {
    take_unchecked(arrived, outcome);
  }
};

struct HalfOfCrcCompared : OverlooksBadCrc {
  void overlook(const ArrivedFpdu& arrived, FpduOutcome& outcome) override {
    const wire::Bytes octets = octets_of(arrived);
    const auto right = wire::crc32c_trailer(octets.first(octets.size() - wire::fpdu_crc_size));
    if (std::ranges::equal(octets.last(wire::fpdu_crc_size).first(2), std::span(right).first(2)))
      take_unchecked(arrived, outcome);
  }
};

struct CrcCheckLeavesReservedBitsOut : OverlooksBadCrc {
  void overlook(const ArrivedFpdu& arrived, FpduOutcome& outcome) override {
    const wire::Bytes octets = octets_of(arrived);
    std::vector<std::byte> cleared(octets.begin(), octets.end());
    if (arrived.options.markers)
      for (std::size_t at = wire::octets_to_marker(arrived.options.position);
           at + 2 <= cleared.size(); at += wire::marker_interval)
        cleared[at] = cleared[at + 1] = std::byte{0};
    if (wire::parse_fpdu(cleared, arrived.options, scratch())) take_unchecked(arrived, outcome);
  }
};

struct CrcCheckLeavesLeadingMarkerOut : OverlooksBadCrc {
  void overlook(const ArrivedFpdu& arrived, FpduOutcome& outcome) override {
    if (!arrived.options.markers || !wire::marker_at(arrived.options.position)) return;
    const wire::Bytes octets = octets_of(arrived);
    const auto crc = wire::crc32c_trailer(
        octets.first(octets.size() - wire::fpdu_crc_size).subspan(wire::marker_size));
    if (std::ranges::equal(octets.last(wire::fpdu_crc_size), crc)) take_unchecked(arrived, outcome);
  }
};

struct PlacesBeforeCrcCheck : OverlooksBadCrc {
  void overlook(const ArrivedFpdu& arrived, FpduOutcome& outcome) override {
    if (const auto fpdu = unchecked(arrived)) outcome.ulpdus.assign(1, fpdu->ulpdu);
  }
};

struct DropsBadCrcAndGoesOn : OverlooksBadCrc {
  void overlook(const ArrivedFpdu& arrived, FpduOutcome& outcome) override {
    drop(outcome, arrived.wire_size);
  }
};

struct ResynchronizesByGuess : OverlooksBadCrc {
  void overlook(const ArrivedFpdu& arrived, FpduOutcome& outcome) override {
    const wire::FpduOptions options{.crc = arrived.options.crc};
    for (std::size_t skipped = 4; skipped < arrived.octets.size(); skipped += 4)
      if (wire::parse_fpdu(arrived.octets.subspan(skipped), options, {}))
        return drop(outcome, skipped);
  }
};

// ---- CRC fields that are not used ----

/// A receiver for which an FPDU ends with its pad where CRCs are off.
struct CrcFieldNotExpected : Decisions {
  void crc_checked(const Config&, const Negotiated&, std::uint64_t, bool& checked) override {
    off_ = !checked;
    checked = true;  // so that each FPDU is shown in full
  }
  void fpdu_arrived(const ArrivedFpdu& arrived, FpduOutcome& outcome) override {
    if (!off_) return;
    wire::FpduOptions unchecked = arrived.options;
    unchecked.crc = false;
    stripped_.resize(wire::fpdu_size(wire::max_ulpdu));
    if (const auto fpdu = wire::parse_fpdu(arrived.octets, unchecked, stripped_))
      take(outcome, fpdu->ulpdu, fpdu->consumed - wire::fpdu_crc_size);
  }

 private:
  bool off_ = false;
  std::vector<std::byte> stripped_;
};

constexpr StreamRow rows[] = {
    stream_row<CrcUnchecked>(Deviation::crc_unchecked),
    stream_row<CrcCheckedWhenOff>(Deviation::crc_checked_when_off),
    stream_row<CrcPeerDemandIgnored>(Deviation::crc_peer_demand_ignored),
    stream_row<CrcOfFirstFpduCheckedWhenOff>(Deviation::crc_of_first_fpdu_checked_when_off),
    stream_row<AcceptsBadCrc>(Deviation::accepts_bad_crc),
    stream_row<HalfOfCrcCompared>(Deviation::crc_half_compared),
    stream_row<HalfOfCrcCompared>(Deviation::half_of_crc_checked),
    stream_row<CrcCheckLeavesReservedBitsOut>(Deviation::crc_check_leaves_reserved_bits_out),
    stream_row<CrcCheckLeavesLeadingMarkerOut>(Deviation::crc_check_leaves_leading_marker_out),
    stream_row<PlacesBeforeCrcCheck>(Deviation::places_before_crc_check),
    stream_row<DropsBadCrcAndGoesOn>(Deviation::drops_bad_crc_and_goes_on),
    stream_row<ResynchronizesByGuess>(Deviation::resynchronizes_by_guess),
    stream_row<CrcFieldNotExpected>(Deviation::crc_field_not_expected),
};

}  // namespace

std::span<const StreamRow> received_crc_deviants() { return rows; }

}  // namespace rnic::deviants
