// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <utility>

#include "base/record/json_writer.hpp"
#include "dissectors/analyzer/checked_rules.hpp"
#include "dissectors/lint/json_lines.hpp"
#include "dissectors/lint/report.hpp"
#include "dissectors/lint/wording.hpp"
#include "rules/catalogue.hpp"

namespace dissectors::lint {

namespace {

json::Counts counts_of(const std::map<std::string_view, std::uint64_t>& violations) {
  return {violations.begin(), violations.end()};
}

json::Counts counts_of(const std::map<std::string_view, Broken>& violations) {
  json::Counts counts;
  for (const auto& [rule, broken] : violations) counts[std::string(rule)] = broken.times;
  return counts;
}

json::Counts counts_of(const std::array<std::uint64_t, analyzer::note_kinds>& notes) {
  json::Counts counts;
  for (std::size_t kind = 0; kind < notes.size(); ++kind)
    if (notes[kind] > 0)
      counts[std::string(analyzer::name(static_cast<analyzer::NoteKind>(kind)))] = notes[kind];
  return counts;
}

std::optional<json::Depths> depths_of(
    const std::optional<rnic::wire::EnhancedWords::Values>& values) {
  if (!values) return std::nullopt;
  return json::Depths{.ird = values->ird,
                      .ord = values->ord,
                      .peer_to_peer = values->peer_to_peer,
                      .rtr_send = values->rtr_send,
                      .rtr_write = values->rtr_write,
                      .rtr_read = values->rtr_read};
}

json::Options options_of(const analyzer::Negotiated& negotiated) {
  return {.revision = negotiated.revision,
          .crc = negotiated.crc,
          .markers_from_first = negotiated.markers_from_first,
          .markers_from_second = negotiated.markers_from_second,
          .enhanced = negotiated.enhanced,
          .peer_to_peer = negotiated.peer_to_peer,
          .rejected = negotiated.rejected,
          .request = depths_of(negotiated.request),
          .reply = depths_of(negotiated.reply)};
}

json::End end_of(const ConnectionSummary& summary, analyzer::Direction direction) {
  const Sent& sent = summary.sent(direction);
  json::End end{.address = summary.connection.sender(direction).text(),
                .role = std::string(name(summary.connection.role(direction))),
                .operations = {},
                .fpdus = sent.fpdus,
                .octets = sent.payload,
                .markers = sent.markers,
                .ending = {}};
  for (std::size_t opcode = 0; opcode < sent.operations.size(); ++opcode)
    if (sent.operations[opcode] > 0)
      end.operations[std::string(rnic::wire::name(static_cast<rnic::wire::Opcode>(opcode)))] =
          sent.operations[opcode];
  if (sent.ending) end.ending = name(*sent.ending);
  return end;
}

std::vector<std::string> judged_rules(const analyzer::CheckSet& checks) {
  std::vector<std::string> ids;
  for (const rules::RuleId rule : analyzer::rules_of(checks)) ids.emplace_back(rule.id);
  return ids;
}

json::Place place_of(const Record& record, const analyzer::Place& place) {
  const analyzer::Connection& connection = record.connection;
  const std::uint32_t frame = frame_of(record, place);
  return {.frame = frame,
          .first_frame = place.first_frame != 0 ? place.first_frame : frame,
          .time = place.time != 0 ? place.time : record.time,
          .connection = connection.number,
          .from = connection.sender(place.direction).text(),
          .to = connection.sender(analyzer::opposite(place.direction)).text(),
          .role = std::string(name(connection.role(place.direction))),
          .offset = place.offset,
          .length = place.length};
}

class JsonReport final : public Report {
 public:
  JsonReport(std::FILE* out, bool summary) : out_(out), summary_(summary) {}

  void record(const Record& record) override {
    std::visit([&](const auto& what) { print(record, what); }, record.what);
  }

  void finish(const Totals& totals) override {
    json::SummaryLine line{.violations = totals.violation_count(),
                           .by_rule = counts_of(totals.violations),
                           .judged = judged_rules(totals.judged),
                           .frames = totals.frames.frames,
                           .tcp = totals.frames.tcp,
                           .fragments = totals.frames.fragments,
                           .malformed = totals.frames.malformed,
                           .cut = totals.frames.cut,
                           .connections = totals.connections,
                           .iwarp_connections = totals.iwarp_connections,
                           .fpdus = totals.fpdus,
                           .notes = counts_of(totals.notes),
                           .torn = {},
                           .dropped = {}};
    if (const auto& tear = totals.tear)
      line.torn = {tear->offset, tear->frames, tear->reason, tear->unsupported};
    if (totals.live) line.dropped = totals.live->dropped + totals.live->interface_dropped;
    write(line);
  }

 private:
  // ASCII only, so that nothing in it can steer a terminal.
  template <typename Line>
  void write(const Line& line) {
    using base::record::Json;
    const std::string text =
        base::record::to_json(line).dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
    std::fwrite(text.data(), 1, text.size(), out_);
  }

  void print(const Record&, const Opened&) {}

  void print(const Record& record, const Violation& violation) {
    if (summary_) return;
    const analyzer::Finding& found = violation.finding;
    json::ViolationLine line{.place = place_of(record, found.place),
                             .rule = std::string(found.rule.id),
                             .rfc = {},
                             .section = {},
                             .level = {},
                             .also = {violation.also.begin(), violation.also.end()},
                             .came = found.actual,
                             .admissible = found.admissible,
                             .octets = violation.octets,
                             .certainty = std::string(name(found.certainty))};
    if (const rules::Rule* rule = rules::find(found.rule.id)) {
      line.rfc = rule->rfc;
      line.section = rule->section;
      line.level = rules::name(rule->level);
    }
    write(line);
  }

  void print(const Record& record, const analyzer::Note& note) {
    if (summary_) return;
    write(json::NoteLine{.place = place_of(record, note.place),
                         .kind = std::string(analyzer::name(note.kind)),
                         .text = note.text});
  }

  void print(const Record& record, const Message& message) {
    if (summary_) return;
    json::MessageLine line{.place = place_of(record, message.place),
                           .text = message.text,
                           .request_frame = {},
                           .response_time = {},
                           .blamed_frame = {}};
    if (message.request_frame != 0) {
      line.request_frame = message.request_frame;
      line.response_time = message.response_time;
    }
    if (message.blamed_frame != 0) line.blamed_frame = message.blamed_frame;
    write(line);
  }

  void print(const Record& record, const ConnectionSummary& summary) {
    if (!summary.iwarp && summary.violations.empty()) return;
    write(json::ConnectionLine{.connection = record.connection.number,
                               .first_frame = summary.first_frame,
                               .last_frame = summary.last_frame,
                               .first_time = summary.first_time,
                               .last_time = summary.last_time,
                               .options = options_of(summary.negotiated),
                               .first = end_of(summary, analyzer::Direction::from_first),
                               .second = end_of(summary, analyzer::Direction::from_second),
                               .violations = summary.violation_count(),
                               .by_rule = counts_of(summary.violations),
                               .notes = counts_of(summary.notes)});
  }

  std::FILE* out_;
  bool summary_;
};

}  // namespace

std::unique_ptr<Report> json_report(std::FILE* out, bool summary) {
  return std::make_unique<JsonReport>(out, summary);
}

}  // namespace dissectors::lint
