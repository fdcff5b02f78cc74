// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <nlohmann/json.hpp>

#include <utility>

#include "dissectors/analyzer/checked_rules.hpp"
#include "dissectors/lint/report.hpp"
#include "dissectors/lint/wording.hpp"
#include "rules/catalogue.hpp"

namespace dissectors::lint {

namespace {

using Json = nlohmann::ordered_json;

Json violations_of(const std::map<std::string_view, std::uint64_t>& violations) {
  Json counts = Json::object();
  for (const auto& [rule, count] : violations) counts[std::string(rule)] = count;
  return counts;
}

Json violations_of(const std::map<std::string_view, Broken>& violations) {
  Json counts = Json::object();
  for (const auto& [rule, broken] : violations) counts[std::string(rule)] = broken.times;
  return counts;
}

Json notes_of(const std::array<std::uint64_t, analyzer::note_kinds>& notes) {
  Json counts = Json::object();
  for (std::size_t kind = 0; kind < notes.size(); ++kind)
    if (notes[kind] > 0)
      counts[std::string(analyzer::name(static_cast<analyzer::NoteKind>(kind)))] = notes[kind];
  return counts;
}

template <typename Value>
Json optional(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json depths_of(const std::optional<rnic::wire::EnhancedWords::Values>& values) {
  if (!values) return nullptr;
  return {{"ird", values->ird},
          {"ord", values->ord},
          {"peer_to_peer", values->peer_to_peer},
          {"rtr_send", values->rtr_send},
          {"rtr_write", values->rtr_write},
          {"rtr_read", values->rtr_read}};
}

Json options_of(const analyzer::Negotiated& negotiated) {
  return {{"revision", optional(negotiated.revision)},
          {"crc", optional(negotiated.crc)},
          {"markers_from_first", optional(negotiated.markers_from_first)},
          {"markers_from_second", optional(negotiated.markers_from_second)},
          {"enhanced", negotiated.enhanced},
          {"peer_to_peer", negotiated.peer_to_peer},
          {"rejected", negotiated.rejected},
          {"request", depths_of(negotiated.request)},
          {"reply", depths_of(negotiated.reply)}};
}

Json end_of(const ConnectionSummary& summary, analyzer::Direction direction) {
  const Sent& sent = summary.sent(direction);
  Json operations = Json::object();
  for (std::size_t opcode = 0; opcode < sent.operations.size(); ++opcode)
    if (sent.operations[opcode] > 0)
      operations[rnic::wire::name(static_cast<rnic::wire::Opcode>(opcode))] =
          sent.operations[opcode];
  return {{"address", summary.connection.sender(direction).text()},
          {"role", name(summary.connection.role(direction))},
          {"operations", std::move(operations)},
          {"fpdus", sent.fpdus},
          {"octets", sent.payload},
          {"markers", sent.markers},
          {"ending", sent.ending ? Json(name(*sent.ending)) : Json(nullptr)}};
}

Json judged_rules(const analyzer::CheckSet& checks) {
  Json ids = Json::array();
  for (const rules::RuleId rule : analyzer::rules_of(checks)) ids.push_back(rule.id);
  return ids;
}

class JsonReport final : public Report {
 public:
  JsonReport(std::FILE* out, bool summary) : out_(out), summary_(summary) {}

  void record(const Record& record) override {
    std::visit([&](const auto& what) { print(record, what); }, record.what);
  }

  void finish(const Totals& totals) override {
    Json line{{"type", "summary"},
              {"violations", totals.violation_count()},
              {"by_rule", violations_of(totals.violations)},
              {"judged", judged_rules(totals.judged)},
              {"frames", totals.frames.frames},
              {"tcp", totals.frames.tcp},
              {"fragments", totals.frames.fragments},
              {"malformed", totals.frames.malformed},
              {"cut", totals.frames.cut},
              {"connections", totals.connections},
              {"iwarp_connections", totals.iwarp_connections},
              {"fpdus", totals.fpdus},
              {"notes", notes_of(totals.notes)},
              {"torn", nullptr},
              {"dropped", nullptr}};
    if (totals.tear)
      line["torn"] = {{"offset", totals.tear->offset},
                      {"frames", totals.tear->frames},
                      {"reason", totals.tear->reason},
                      {"unsupported", totals.tear->unsupported}};
    if (totals.live) line["dropped"] = totals.live->dropped + totals.live->interface_dropped;
    write(line);
  }

 private:
  // ASCII only, so that nothing in it can steer a terminal.
  void write(const Json& line) {
    const std::string text = line.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
    std::fwrite(text.data(), 1, text.size(), out_);
  }

  static Json begin(const Record& record, std::string_view type, const analyzer::Place& place) {
    const analyzer::Connection& connection = record.connection;
    return {{"type", type},
            {"frame", frame_of(record, place)},
            {"first_frame", place.first_frame != 0 ? place.first_frame : frame_of(record, place)},
            {"time", place.time != 0 ? place.time : record.time},
            {"connection", connection.number},
            {"from", connection.sender(place.direction).text()},
            {"to", connection.sender(analyzer::opposite(place.direction)).text()},
            {"role", name(connection.role(place.direction))},
            {"offset", place.offset},
            {"length", place.length}};
  }

  void print(const Record&, const Opened&) {}

  void print(const Record& record, const Violation& violation) {
    if (summary_) return;
    const analyzer::Finding& found = violation.finding;
    Json line = begin(record, "violation", found.place);
    line["rule"] = found.rule.id;
    if (const rules::Rule* rule = rules::find(found.rule.id)) {
      line["rfc"] = rule->rfc;
      line["section"] = rule->section;
      line["level"] = rules::name(rule->level);
    }
    line["also"] = violation.also;
    line["came"] = found.actual;
    line["admissible"] = found.admissible;
    line["octets"] = violation.octets;
    line["certainty"] = name(found.certainty);
    write(line);
  }

  void print(const Record& record, const analyzer::Note& note) {
    if (summary_) return;
    Json line = begin(record, "note", note.place);
    line["kind"] = analyzer::name(note.kind);
    line["text"] = note.text;
    write(line);
  }

  void print(const Record& record, const Message& message) {
    if (summary_) return;
    Json line = begin(record, "message", message.place);
    line["text"] = message.text;
    if (message.request_frame != 0) {
      line["request_frame"] = message.request_frame;
      line["response_time"] = message.response_time;
    }
    if (message.blamed_frame != 0) line["blamed_frame"] = message.blamed_frame;
    write(line);
  }

  void print(const Record& record, const ConnectionSummary& summary) {
    if (!summary.iwarp && summary.violations.empty()) return;
    write({{"type", "connection"},
           {"connection", record.connection.number},
           {"first_frame", summary.first_frame},
           {"last_frame", summary.last_frame},
           {"first_time", summary.first_time},
           {"last_time", summary.last_time},
           {"options", options_of(summary.negotiated)},
           {"first", end_of(summary, analyzer::Direction::from_first)},
           {"second", end_of(summary, analyzer::Direction::from_second)},
           {"violations", summary.violation_count()},
           {"by_rule", violations_of(summary.violations)},
           {"notes", notes_of(summary.notes)}});
  }

  std::FILE* out_;
  bool summary_;
};

}  // namespace

std::unique_ptr<Report> json_report(std::FILE* out, bool summary) {
  return std::make_unique<JsonReport>(out, summary);
}

}  // namespace dissectors::lint
