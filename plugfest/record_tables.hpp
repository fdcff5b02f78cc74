// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The JSON form of the records of a plugfest: the tables for reports/schema/plugfest-2.schema.json.
// `defaulted` members were added to the format later, or are only in records of cells that were
// played.
#pragma once

#include "base/record/table.hpp"
#include "plugfest/record.hpp"
#include "suite/results/record_tables.hpp"

namespace plugfest {

using base::record::constant;
using base::record::defaulted;
using base::record::inlined;
using base::record::required;
using base::record::table;

inline constexpr std::array levels{"must", "should", "may"};
/// Of a document: the list that is too long to be in memory.
inline constexpr const char* cells_name = "cells";
/// In the order of AgentKind.
inline constexpr std::array agent_kinds{"reference", "ssh", "tls", "argv", "siw-vm"};

constexpr auto table_of(const Check*) {
  return table("check", required("side", &Check::side), required("what", &Check::what),
               required("expected", &Check::expected), required("actual", &Check::actual),
               required("good", &Check::good), defaulted("times", &Check::times).from(1));
}
constexpr auto table_of(const WireFinding*) {
  return table(
      "finding", required("rule", &WireFinding::rule),
      required("level", &WireFinding::level).one_of(levels), required("also", &WireFinding::also),
      required("side", &WireFinding::side), required("frame", &WireFinding::frame),
      required("actual", &WireFinding::actual), required("admissible", &WireFinding::admissible),
      required("certain", &WireFinding::certain), required("provoked", &WireFinding::provoked));
}
constexpr auto table_of(const Cuts*) {
  return table("cuts", required("side", &Cuts::side), required("segments", &Cuts::segments).from(1),
               required("within", &Cuts::within), required("frame", &Cuts::frame));
}
constexpr auto table_of(const Step*) {
  return table("step", required("at", &Step::at).from(0), required("side", &Step::side),
               required("text", &Step::text));
}
constexpr auto table_of(const WireLine*) {
  return table("wire", required("frame", &WireLine::frame).from(1),
               required("side", &WireLine::side), required("text", &WireLine::text));
}
constexpr auto table_of(const AgentOutput*) {
  return table("output", required("side", &AgentOutput::side),
               required("text", &AgentOutput::text));
}
constexpr auto table_of(const HostFacts*) {
  return table("host", required("side", &HostFacts::side), inlined(&HostFacts::identity));
}
constexpr auto table_of(const CaptureRecord*) {
  return table(
      "capture", required("place", &CaptureRecord::place), required("pcap", &CaptureRecord::pcap),
      required("pcap_sha256", &CaptureRecord::pcap_sha256),
      required("frames", &CaptureRecord::frames), required("dropped", &CaptureRecord::dropped),
      required("trouble", &CaptureRecord::trouble), required("judged", &CaptureRecord::judged));
}
constexpr auto table_of(const Outcome*) {
  return table(
      "outcome", required("verdict", &Outcome::verdict), defaulted("start", &Outcome::start),
      defaulted("suite", &Outcome::suite), defaulted("hosts", &Outcome::hosts),
      defaulted("absent", &Outcome::absent), defaulted("pcap_sha256", &Outcome::pcap_sha256),
      defaulted("advisory", &Outcome::advisory), required("fault", &Outcome::fault),
      required("reason", &Outcome::reason), required("seconds", &Outcome::seconds).from(0),
      defaulted("frames", &Outcome::frames), defaulted("dropped", &Outcome::dropped),
      defaulted("pcap", &Outcome::pcap), defaulted("capture_trouble", &Outcome::capture_trouble),
      defaulted("captures", &Outcome::captures), defaulted("checks", &Outcome::checks),
      defaulted("findings", &Outcome::findings), defaulted("cuts", &Outcome::cuts),
      defaulted("steps", &Outcome::steps), defaulted("wire", &Outcome::wire),
      defaulted("said", &Outcome::said));
}
constexpr auto table_of(const ParticipantRecord*) {
  return table("participant", required("name", &ParticipantRecord::name),
               required("vendor", &ParticipantRecord::vendor),
               required("alias", &ParticipantRecord::alias),
               required("agent", &ParticipantRecord::agent).one_of(agent_kinds),
               defaulted("deviations", &ParticipantRecord::deviations),
               defaulted("kernel", &ParticipantRecord::kernel),
               defaulted("digest", &ParticipantRecord::digest));
}
constexpr auto table_of(const ScenarioRecord*) {
  return table("scenario", required("name", &ScenarioRecord::name),
               required("title", &ScenarioRecord::title));
}
constexpr auto table_of(const EventRecord*) {
  return table("event", required("name", &EventRecord::name),
               required("digest", &EventRecord::digest),
               required("repeats", &EventRecord::repeats).from(1),
               required("participants", &EventRecord::participants),
               required("scenarios", &EventRecord::scenarios));
}
constexpr auto table_of(const CellRecord*) {
  return table(
      "cell", required("id", &CellRecord::id), required("initiator", &CellRecord::initiator),
      required("responder", &CellRecord::responder), required("scenario", &CellRecord::scenario),
      required("repeat", &CellRecord::repeat).from(1),
      required("attempt", &CellRecord::attempt).from(1), inlined(&CellRecord::outcome));
}
constexpr auto table_of(const ListedCell*) {
  return table("listed_cell", inlined(&ListedCell::record), required("gate", &ListedCell::gate),
               defaulted("varies", &ListedCell::varies));
}
constexpr auto table_of(const LeftOutRecord*) {
  return table("left_out", required("id", &LeftOutRecord::id),
               required("initiator", &LeftOutRecord::initiator),
               required("responder", &LeftOutRecord::responder),
               required("scenario", &LeftOutRecord::scenario),
               required("reason", &LeftOutRecord::reason));
}
constexpr auto table_of(const Tally*) {
  return table("summary", required("cells", &Tally::cells), required("played", &Tally::played),
               required("verdicts", &Tally::verdicts).from(1),
               required("advisories", &Tally::advisories),
               required("new_failures", &Tally::new_failures), required("stale", &Tally::stale));
}
constexpr auto table_of(const JournalLine*) {
  return table("line", defaulted("run", &JournalLine::run),
               defaulted("case", &JournalLine::attempt), defaulted("end", &JournalLine::end));
}
constexpr auto table_of(const Document*) {
  return table("document", constant("plugfest", format_version),
               required("complete", &Document::complete), required("event", &Document::event),
               required("summary", &Document::summary), required(cells_name, &Document::cells),
               defaulted("left_out", &Document::left_out));
}

}  // namespace plugfest
