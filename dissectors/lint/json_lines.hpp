// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The lines of rnic-lint's report in JSON, each a record; docs/reading-traces.md explains their
// members.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/record/table.hpp"

namespace dissectors::lint::json {

using base::record::constant;
using base::record::defaulted;
using base::record::inlined;
using base::record::required;
using base::record::table;

using Counts = std::map<std::string, std::uint64_t>;

/// Where something was sent.
struct Place {
  std::uint32_t frame = 0, first_frame = 0;
  std::uint64_t time = 0;
  std::uint64_t connection = 0;
  std::string from, to, role;
  std::uint64_t offset = 0, length = 0;
};
constexpr auto table_of(const Place*) {
  return table("place", required("frame", &Place::frame),
               required("first_frame", &Place::first_frame), required("time", &Place::time),
               required("connection", &Place::connection), required("from", &Place::from),
               required("to", &Place::to), required("role", &Place::role),
               required("offset", &Place::offset), required("length", &Place::length));
}

struct ViolationLine {
  Place place;
  std::string rule;
  /// Of a rule in the catalogue.
  std::optional<int> rfc;
  std::optional<std::string> section, level;
  std::vector<std::string> also;
  std::string came, admissible, octets, certainty;
};
constexpr auto table_of(const ViolationLine*) {
  using Line = ViolationLine;
  return table("violation", constant("type", "violation"), inlined(&Line::place),
               required("rule", &Line::rule), defaulted("rfc", &Line::rfc),
               defaulted("section", &Line::section), defaulted("level", &Line::level),
               required("also", &Line::also), required("came", &Line::came),
               required("admissible", &Line::admissible), required("octets", &Line::octets),
               required("certainty", &Line::certainty));
}

struct NoteLine {
  Place place;
  std::string kind, text;
};
constexpr auto table_of(const NoteLine*) {
  return table("note", constant("type", "note"), inlined(&NoteLine::place),
               required("kind", &NoteLine::kind), required("text", &NoteLine::text));
}

struct MessageLine {
  Place place;
  std::string text;
  /// Of a response.
  std::optional<std::uint32_t> request_frame;
  std::optional<std::uint64_t> response_time;
  /// Of a Terminate.
  std::optional<std::uint32_t> blamed_frame;
};
constexpr auto table_of(const MessageLine*) {
  using Line = MessageLine;
  return table("message", constant("type", "message"), inlined(&Line::place),
               required("text", &Line::text), defaulted("request_frame", &Line::request_frame),
               defaulted("response_time", &Line::response_time),
               defaulted("blamed_frame", &Line::blamed_frame));
}

/// The enhanced words of a startup frame.
struct Depths {
  std::uint16_t ird = 0, ord = 0;
  bool peer_to_peer = false, rtr_send = false, rtr_write = false, rtr_read = false;
};
constexpr auto table_of(const Depths*) {
  return table("depths", required("ird", &Depths::ird), required("ord", &Depths::ord),
               required("peer_to_peer", &Depths::peer_to_peer),
               required("rtr_send", &Depths::rtr_send), required("rtr_write", &Depths::rtr_write),
               required("rtr_read", &Depths::rtr_read));
}

/// What startup agreed on; null: not seen.
struct Options {
  std::optional<std::uint8_t> revision;
  std::optional<bool> crc, markers_from_first, markers_from_second;
  bool enhanced = false, peer_to_peer = false, rejected = false;
  std::optional<Depths> request, reply;
};
constexpr auto table_of(const Options*) {
  return table("options", required("revision", &Options::revision), required("crc", &Options::crc),
               required("markers_from_first", &Options::markers_from_first),
               required("markers_from_second", &Options::markers_from_second),
               required("enhanced", &Options::enhanced),
               required("peer_to_peer", &Options::peer_to_peer),
               required("rejected", &Options::rejected), required("request", &Options::request),
               required("reply", &Options::reply));
}

/// What one end of a connection sent.
struct End {
  std::string address, role;
  Counts operations;
  std::uint64_t fpdus = 0, octets = 0, markers = 0;
  std::optional<std::string> ending;
};
constexpr auto table_of(const End*) {
  return table("end", required("address", &End::address), required("role", &End::role),
               required("operations", &End::operations), required("fpdus", &End::fpdus),
               required("octets", &End::octets), required("markers", &End::markers),
               required("ending", &End::ending));
}

struct ConnectionLine {
  std::uint64_t connection = 0;
  std::uint32_t first_frame = 0, last_frame = 0;
  std::uint64_t first_time = 0, last_time = 0;
  Options options;
  End first, second;
  std::uint64_t violations = 0;
  Counts by_rule, notes;
};
constexpr auto table_of(const ConnectionLine*) {
  using Line = ConnectionLine;
  return table(
      "connection", constant("type", "connection"), required("connection", &Line::connection),
      required("first_frame", &Line::first_frame), required("last_frame", &Line::last_frame),
      required("first_time", &Line::first_time), required("last_time", &Line::last_time),
      required("options", &Line::options), required("first", &Line::first),
      required("second", &Line::second), required("violations", &Line::violations),
      required("by_rule", &Line::by_rule), required("notes", &Line::notes));
}

/// Where a capture file is torn.
struct Torn {
  std::uint64_t offset = 0, frames = 0;
  std::string reason;
  bool unsupported = false;
};
constexpr auto table_of(const Torn*) {
  return table("torn", required("offset", &Torn::offset), required("frames", &Torn::frames),
               required("reason", &Torn::reason), required("unsupported", &Torn::unsupported));
}

struct SummaryLine {
  std::uint64_t violations = 0;
  Counts by_rule;
  std::vector<std::string> judged;
  std::uint64_t frames = 0, tcp = 0, fragments = 0, malformed = 0, cut = 0;
  std::uint64_t connections = 0, iwarp_connections = 0, fpdus = 0;
  Counts notes;
  std::optional<Torn> torn;
  std::optional<std::uint64_t> dropped;
};
constexpr auto table_of(const SummaryLine*) {
  using Line = SummaryLine;
  return table("summary", constant("type", "summary"), required("violations", &Line::violations),
               required("by_rule", &Line::by_rule), required("judged", &Line::judged),
               required("frames", &Line::frames), required("tcp", &Line::tcp),
               required("fragments", &Line::fragments), required("malformed", &Line::malformed),
               required("cut", &Line::cut), required("connections", &Line::connections),
               required("iwarp_connections", &Line::iwarp_connections),
               required("fpdus", &Line::fpdus), required("notes", &Line::notes),
               required("torn", &Line::torn), required("dropped", &Line::dropped));
}

}  // namespace dissectors::lint::json
