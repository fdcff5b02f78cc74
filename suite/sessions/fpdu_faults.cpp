// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/sessions/fpdu_faults.hpp"

#include <cstring>

#include "reference_rnic/wire/fpdu.hpp"
#include "reference_rnic/wire/markers.hpp"

namespace suite::sessions {

namespace {

namespace wire = rnic::wire;
using lower_tester::Fpdu;
using lower_tester::Framing;
using lower_tester::Octets;
using model::SentSegment;

void cut_short(std::vector<Fpdu>& fpdus, std::uint64_t value) {
  fpdus.resize(1);
  Octets& ulpdu = fpdus.front().ulpdu;
  const bool tagged = wire::DdpControl{static_cast<std::uint8_t>(ulpdu.front())}.tagged();
  ulpdu.resize(1 +
               value % (tagged ? wire::tagged_header_size - 1 : wire::untagged_header_size - 1));
}

/// The message ends with one more segment, which holds no octets.
void end_with_an_empty_segment(std::vector<Fpdu>& fpdus) {
  const auto segment = wire::parse_segment(fpdus.back().ulpdu);
  if (!segment || segment->payload.empty()) return;
  Fpdu end = fpdus.back();
  end.ulpdu.resize(segment->header().size());
  const std::size_t octets = segment->payload.size();
  if (segment->tagged) {
    wire::TaggedHeader header = segment->tagged_header;
    header.tagged_offset = header.tagged_offset.value() + octets;
    std::memcpy(end.ulpdu.data(), &header, sizeof header);
  } else {
    wire::UntaggedHeader header = segment->untagged_header;
    header.message_offset = header.message_offset.value() + static_cast<std::uint32_t>(octets);
    std::memcpy(end.ulpdu.data(), &header, sizeof header);
  }
  fpdus.back().ulpdu.front() &= ~std::byte{wire::DdpControl::l};
  fpdus.push_back(std::move(end));
}

/// RFC 5044 section 4: only the CRC checks the contents of the pad.
void fill_pad(Fpdu& fpdu) {
  fpdu.pad = Octets(wire::pad_length(fpdu.ulpdu.size()), std::byte{0xEE});
}

/// Noise on the path: a bit of the CRC field, or of what it covers.
void damage(Fpdu& fpdu, std::uint64_t value, const Framing& framing) {
  const bool anywhere = framing.crc && !framing.markers;
  fpdu.change_after_crc = [value, anywhere](wire::MutableBytes octets) {
    const std::size_t covered =
        anywhere && value % 2 == 0 ? octets.size() - wire::fpdu_length_size : wire::fpdu_crc_size;
    const std::size_t at = octets.size() - 1 - (value >> 4) % covered;
    octets[at] ^= std::byte{1} << ((value >> 1) % 8);
  };
}

struct MarkerPlace {
  std::size_t fpdu = 0;
  /// Of the Marker, from the first octet of its FPDU or of the Marker before it.
  std::size_t at = 0;
};

/// The Markers of all the FPDUs.
std::vector<MarkerPlace> markers_of(const std::vector<Fpdu>& fpdus, const Framing& framing) {
  std::vector<MarkerPlace> places;
  if (!framing.markers) return places;
  std::uint64_t position = framing.position;
  for (std::size_t i = 0; i < fpdus.size(); ++i) {
    const std::size_t length =
        wire::length_with_markers(position, wire::fpdu_size(fpdus[i].ulpdu.size()));
    for (std::size_t at = wire::octets_to_marker(position); at < length;
         at += wire::marker_interval)
      places.push_back({i, at});
    position += length;
  }
  return places;
}

/// RFC 5044 section 4.2: a Marker is two reserved octets, then FPDUPTR.
void change_marker(std::vector<Fpdu>& fpdus, std::vector<SentSegment>& sent, const Step& step,
                   const Framing& framing) {
  const auto places = markers_of(fpdus, framing);
  if (places.empty()) return;
  const MarkerPlace place = places[step.value % places.size()];
  const std::uint64_t value = step.value >> 6;
  const auto flip = [at = place.at](std::size_t octet, std::uint64_t bits) {
    return [=](wire::MutableBytes all) { all[at + octet] ^= static_cast<std::byte>(bits); };
  };
  Fpdu& fpdu = fpdus[place.fpdu];
  SentSegment& segment = sent[place.fpdu];
  switch (step.wrong) {
    case Wrong::marker_reserved:
      fpdu.change_before_crc = flip(value % 2, 1 + (value >> 1) % 255);
      segment.concerned = {"mpa.markers.reserved-ignored-on-receive"};
      break;
    case Wrong::marker_low_bits:
      fpdu.change_before_crc = flip(3, 1 + value % 3);
      segment.concerned = {"mpa.markers.pointer-low-bits-masked"};
      break;
    case Wrong::marker:
      fpdu.change_before_crc = flip(3, std::uint64_t{4} << value % 6);
      segment.marker_wrong = true;
      segment.concerned = {"mpa.markers.mismatch-delivered-as-error",
                           "mpa.markers.checked-against-known-fpdu"};
      break;
    default:
      fpdu.change_after_crc = flip(value % 2, std::uint64_t{1} << (value >> 1) % 8);
      segment.crc_wrong = true;
      segment.concerned = {"mpa.markers.reserved-checked-by-crc"};
      if (place.at == 0)
        segment.concerned.push_back("mpa.markers.between-marker-checked-with-next");
      break;
  }
}

}  // namespace

std::vector<SentSegment> disturb(std::vector<Fpdu>& fpdus, const Step& step,
                                 const Framing& framing) {
  if (step.wrong == Wrong::cut_short) cut_short(fpdus, step.value);
  if (step.wrong == Wrong::empty_last) end_with_an_empty_segment(fpdus);
  if (step.wrong == Wrong::pad) fill_pad(fpdus.back());
  std::vector<SentSegment> sent;
  for (const Fpdu& fpdu : fpdus) sent.push_back({.ulpdu = fpdu.ulpdu});
  if (step.wrong == Wrong::pad) sent.back().concerned = {"mpa.framing.pad-content-ignored"};
  switch (step.wrong) {
    case Wrong::crc: {
      const std::size_t damaged = step.value % fpdus.size();
      damage(fpdus[damaged], step.value >> 5, framing);
      sent[damaged].crc_wrong = true;
      break;
    }
    case Wrong::marker_reserved:
    case Wrong::marker_low_bits:
    case Wrong::marker:
    case Wrong::marker_on_path:
      change_marker(fpdus, sent, step, framing);
      break;
    default:
      break;
  }
  return sent;
}

}  // namespace suite::sessions
