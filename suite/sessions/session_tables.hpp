// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The members of a session's file.
#pragma once

#include "suite/sessions/session_file.hpp"

namespace suite::sessions {

/// More would show nothing new, and each has an endpoint.
inline constexpr std::size_t most_streams = 16;

constexpr auto table_of(const Step*) {
  using base::record::defaulted;
  return base::record::table(
      "step", base::record::required("action", &Step::action), defaulted("stream", &Step::stream),
      defaulted("object", &Step::object), defaulted("length", &Step::length),
      defaulted("offset", &Step::offset), defaulted("segment", &Step::segment),
      defaulted("cut", &Step::cut), defaulted("rest", &Step::rest),
      defaulted("packed", &Step::packed), defaulted("wrong", &Step::wrong),
      defaulted("value", &Step::value), defaulted("solicited", &Step::solicited),
      defaulted("invalidate", &Step::invalidate), defaulted("fence", &Step::fence),
      defaulted("unsignaled", &Step::unsignaled), defaulted("times", &Step::times),
      defaulted("stalled", &Step::stalled), defaulted("together", &Step::together));
}

constexpr auto table_of(const StreamSetup*) {
  using base::record::defaulted;
  return base::record::table(
      "stream", defaulted("iut_initiates", &StreamSetup::iut_initiates),
      defaulted("revision", &StreamSetup::revision), defaulted("plain", &StreamSetup::plain),
      defaulted("default_crc", &StreamSetup::default_crc),
      defaulted("iut_crc", &StreamSetup::iut_crc), defaulted("peer_crc", &StreamSetup::peer_crc),
      defaulted("iut_markers", &StreamSetup::iut_markers),
      defaulted("peer_markers", &StreamSetup::peer_markers), defaulted("ird", &StreamSetup::ird),
      defaulted("ord", &StreamSetup::ord), defaulted("peer_ird", &StreamSetup::peer_ird),
      defaulted("peer_ord", &StreamSetup::peer_ord),
      defaulted("peer_to_peer", &StreamSetup::peer_to_peer), defaulted("rtr", &StreamSetup::rtr),
      defaulted("iut_rtr", &StreamSetup::iut_rtr),
      defaulted("rtr_choice", &StreamSetup::rtr_choice), defaulted("early", &StreamSetup::early),
      defaulted("emss", &StreamSetup::emss), defaulted("own_domain", &StreamSetup::own_domain),
      defaulted("shared_receives", &StreamSetup::shared_receives),
      defaulted("private_data", &StreamSetup::private_data),
      defaulted("fault", &StreamSetup::fault), defaulted("fault_value", &StreamSetup::fault_value));
}

constexpr auto table_of(const Session*) {
  return base::record::table("session", base::record::defaulted("seed", &Session::seed),
                             base::record::required("streams", &Session::streams),
                             base::record::required("steps", &Session::steps));
}

constexpr auto table_of(const SessionFile*) {
  return base::record::table("session_file", base::record::constant("version", 1),
                             base::record::inlined(&SessionFile::session),
                             base::record::defaulted("deviations", &SessionFile::deviations),
                             base::record::defaulted("lawful", &SessionFile::lawful),
                             base::record::defaulted("rules", &SessionFile::rules));
}

}  // namespace suite::sessions
