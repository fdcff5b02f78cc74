// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The JSON form of the records of a run: the tables for reports/schema/results-1.schema.json.
#pragma once

#include "base/record/address.hpp"
#include "base/record/table.hpp"
#include "suite/results/record.hpp"

namespace suite::results {

using base::record::constant;
using base::record::defaulted;
using base::record::Form;
using base::record::inlined;
using base::record::internal;
using base::record::required;
using base::record::table;

constexpr auto table_of(const Advisory*) {
  return table("advisory", required("rule", &Advisory::rule), required("text", &Advisory::text));
}
constexpr auto table_of(const StreamPlace*) {
  return table("place", required("connection", &StreamPlace::connection),
               required("offset", &StreamPlace::offset));
}
constexpr auto table_of(const ExpectationRecord*) {
  using Record = ExpectationRecord;
  return table("expectation", required("rule", &Record::rule), required("row", &Record::row),
               required("admissible", &Record::admissible).nonempty(),
               required("actual", &Record::actual), required("hex", &Record::hex).form(Form::hex),
               required("verdict", &Record::judgement), required("direction", &Record::direction),
               required("at", &Record::at), internal("place", &Record::place),
               required("frame", &Record::frame).from(1));
}
constexpr auto table_of(const Lack*) {
  return table("lack", required("kind", &Lack::kind), required("name", &Lack::name));
}
constexpr auto table_of(const RowOutcome*) {
  return table("row", required("name", &RowOutcome::name),
               required("verdict", &RowOutcome::verdict), required("reason", &RowOutcome::reason),
               internal("lack", &RowOutcome::lack));
}
constexpr auto table_of(const Step*) {
  return table("step", required("at", &Step::at), required("direction", &Step::direction),
               required("text", &Step::text), required("hex", &Step::hex).form(Form::hex),
               required("frame", &Step::frame).from(1));
}
constexpr auto table_of(const ConnectionRecord::Mark*) {
  using Mark = ConnectionRecord::Mark;
  return table("mark", required("kind", &Mark::kind), required("direction", &Mark::direction),
               required("at", &Mark::at), required("octets", &Mark::octets));
}
constexpr auto table_of(const ConnectionRecord*) {
  using Record = ConnectionRecord;
  return table("connection", required("tester", &Record::tester), required("iut", &Record::iut),
               required("opened_by_tester", &Record::opened_by_tester),
               required("marks", &Record::marks));
}
constexpr auto table_of(const CaseOutcome*) {
  return table(
      "outcome", required("verdict", &CaseOutcome::verdict),
      required("reason", &CaseOutcome::reason),
      internal("deciding_rule", &CaseOutcome::deciding_rule), defaulted("lack", &CaseOutcome::lack),
      required("expectations", &CaseOutcome::expectations), required("rows", &CaseOutcome::rows),
      required("exchange", &CaseOutcome::exchange),
      defaulted("judged_in_frames", &CaseOutcome::judged_in_frames),
      internal("connections", &CaseOutcome::connections),
      required("duration", &CaseOutcome::duration), internal("silence", &CaseOutcome::silence));
}
constexpr auto table_of(const Pcap*) {
  return table("pcap", required("file", &Pcap::file),
               required("sha256", &Pcap::sha256).form(Form::sha256),
               required("frames", &Pcap::frames), required("octets", &Pcap::octets),
               required("source", &Pcap::source), required("note", &Pcap::note));
}
constexpr auto table_of(const Gate*) {
  return table("gate", required("result", &Gate::result), required("entry", &Gate::entry),
               required("reason", &Gate::reason));
}
constexpr auto table_of(const CaseRecord*) {
  return table(
      "case", required("id", &CaseRecord::id), required("attempt", &CaseRecord::attempt).from(1),
      required("title", &CaseRecord::title), required("layer", &CaseRecord::layer),
      required("file", &CaseRecord::file), required("variant", &CaseRecord::variant),
      required("configuration", &CaseRecord::configuration),
      required("rules", &CaseRecord::rules).nonempty(), inlined(&CaseRecord::outcome),
      required("advisories", &CaseRecord::advisories), required("pcap", &CaseRecord::pcap),
      required("start", &CaseRecord::start).form(Form::timestamp),
      required("worker", &CaseRecord::worker), required("gate", &CaseRecord::gate),
      defaulted("failed_beside_others", &CaseRecord::failed_beside_others),
      required("rerun", &CaseRecord::rerun), required("kernel_log", &CaseRecord::kernel_log),
      required("stderr", &CaseRecord::stderr_text),
      required("seen_to_fail_by", &CaseRecord::seen_to_fail_by),
      defaulted("seen_to_fail_at", &CaseRecord::seen_to_fail_at));
}
constexpr auto table_of(const FindingRecord*) {
  return table("finding", required("rule", &FindingRecord::rule),
               required("cases", &FindingRecord::cases).from(1),
               required("first_case", &FindingRecord::first_case),
               required("observed", &FindingRecord::observed).nonempty(),
               required("admissible", &FindingRecord::admissible).nonempty(),
               required("gate", &FindingRecord::gate), required("rerun", &FindingRecord::rerun));
}
constexpr auto table_of(const PortRecord*) {
  return table("port", required("number", &PortRecord::number),
               required("state", &PortRecord::state), required("rate", &PortRecord::rate),
               required("interface", &PortRecord::interface),
               required("driver", &PortRecord::driver),
               required("driver_version", &PortRecord::driver_version),
               required("firmware", &PortRecord::firmware), required("speed", &PortRecord::speed),
               required("mtu", &PortRecord::mtu), required("offloads", &PortRecord::offloads),
               required("gids", &PortRecord::gids));
}
constexpr auto table_of(const Identity*) {
  return table("identity", required("implementation", &Identity::implementation),
               required("driver", &Identity::driver),
               required("driver_version", &Identity::driver_version),
               required("firmware", &Identity::firmware), required("kernel", &Identity::kernel));
}
constexpr auto table_of(const IutRecord*) {
  return table("iut", required("kind", &IutRecord::kind), inlined(&IutRecord::identity),
               required("capabilities", &IutRecord::capabilities),
               required("limits", &IutRecord::limits), required("addresses", &IutRecord::addresses),
               required("deviations", &IutRecord::deviations),
               defaulted("ports", &IutRecord::ports));
}
constexpr auto table_of(const SuiteVersion*) {
  return table("suite", required("version", &SuiteVersion::version),
               required("commit", &SuiteVersion::commit));
}
constexpr auto table_of(const Machine*) {
  return table("machine", required("system", &Machine::system),
               required("kernel", &Machine::kernel),
               required("architecture", &Machine::architecture),
               required("processors", &Machine::processors), required("memory", &Machine::memory));
}
constexpr auto table_of(const LabRecord*) {
  return table("lab", required("kind", &LabRecord::kind),
               required("interface", &LabRecord::interface), required("mtu", &LabRecord::mtu),
               required("tester_addresses", &LabRecord::tester_addresses),
               required("note", &LabRecord::note));
}
constexpr auto table_of(const CaptureRecord*) {
  return table(
      "capture", required("mode", &CaptureRecord::mode), required("note", &CaptureRecord::note),
      required("received", &CaptureRecord::received), required("dropped", &CaptureRecord::dropped),
      required("interface_dropped", &CaptureRecord::interface_dropped),
      required("closing_seen", &CaptureRecord::closing_seen));
}
constexpr auto table_of(const Session*) {
  return table("session", required("start", &Session::start).form(Form::timestamp),
               required("end", &Session::end).form(Form::timestamp),
               required("command", &Session::command), required("asked", &Session::asked),
               required("ending", &Session::ending),
               required("ending_reason", &Session::ending_reason));
}
constexpr auto table_of(const RunRecord*) {
  return table("run", required("id", &RunRecord::id),
               required("start", &RunRecord::start).form(Form::timestamp),
               required("end", &RunRecord::end).form(Form::timestamp),
               required("complete", &RunRecord::complete), required("ending", &RunRecord::ending),
               required("ending_reason", &RunRecord::ending_reason),
               required("exit_code", &RunRecord::exit_code), required("suite", &RunRecord::suite),
               required("catalogue", &RunRecord::catalogue),
               required("command", &RunRecord::command), required("host", &RunRecord::host),
               required("machine", &RunRecord::machine), required("options", &RunRecord::options),
               required("iut", &RunRecord::iut), required("lab", &RunRecord::lab),
               required("capture", &RunRecord::capture), required("timings", &RunRecord::timings),
               required("seeds", &RunRecord::seeds), required("selected", &RunRecord::selected),
               required("expectations_file", &RunRecord::expectations_file),
               defaulted("sessions", &RunRecord::sessions));
}
constexpr auto table_of(const Summary*) {
  return table(
      "summary", required("cases", &Summary::cases), required("attempts", &Summary::attempts),
      required("verdicts", &Summary::verdicts), required("gate", &Summary::gate),
      required("advisories", &Summary::advisories), defaulted("findings", &Summary::findings),
      required("tester_pcaps", &Summary::tester_pcaps),
      required("without_pcap", &Summary::without_pcap), required("layers", &Summary::layers),
      required("stale_entries", &Summary::stale_entries));
}
constexpr auto table_of(const Document*) {
  return table("document", constant("schema", schema_name), required("run", &Document::run),
               required("cases", &Document::cases), defaulted("findings", &Document::findings),
               required("summary", &Document::summary));
}
constexpr auto table_of(const JournalLine::End*) {
  return table("end", required("run", &JournalLine::End::run),
               required("stale_entries", &JournalLine::End::stale_entries),
               defaulted("findings", &JournalLine::End::findings));
}
constexpr auto table_of(const JournalLine*) {
  return table("line", defaulted("run", &JournalLine::run),
               defaulted("case", &JournalLine::attempt), defaulted("end", &JournalLine::end));
}

}  // namespace suite::results
