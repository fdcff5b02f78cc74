// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "dissectors/lint/plain_text.hpp"
#include "dissectors/lint/report.hpp"
#include "dissectors/lint/wording.hpp"

namespace dissectors::lint {

namespace {

// The number of notes of one kind that are shown for a connection; further ones are only counted.
constexpr std::uint32_t notes_said = 3;
// The number of violations of one rule that are shown in full; a repeated fault of a sender would
// hide everything else.
constexpr std::uint64_t violations_shown = 5;

constexpr std::string_view red = "\x1b[31m", yellow = "\x1b[33m", bold = "\x1b[1m", end = "\x1b[0m";

std::string plural(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

class TextReport final : public Report {
 public:
  TextReport(std::FILE* out, const TextReportOptions& options) : out_(out), options_(options) {}

  void record(const Record& record) override {
    std::visit([&](const auto& what) { print(record, what); }, record.what);
  }

  void finish(const Totals& totals) override {
    print_violations(totals);
    const FrameCounts& frames = totals.frames;
    print("{}: {} TCP, {} other\n", plural(frames.frames, "frame"), frames.tcp,
          frames.frames - frames.tcp - frames.fragments - frames.malformed);
    if (frames.fragments > 0)
      print("not judged: {} of IP packets, whose octets lie in several frames\n",
            plural(frames.fragments, "fragment"));
    if (frames.malformed > 0)
      print("not judged: {} with headers that do not fit or that the capture cut\n",
            plural(frames.malformed, "frame"));
    if (frames.cut > 0)
      print("not judged where octets are missing: {} cut by the capture (capture with -s 0)\n",
            plural(frames.cut, "frame"));
    print("{}, {} iWARP: {}\n", plural(totals.connections, "TCP connection"),
          totals.iwarp_connections, plural(totals.fpdus, "FPDU"));
    const std::string notes = describe_notes(totals.notes);
    if (!notes.empty()) print("notes: {}\n", notes);
    print_source(totals);
    const std::uint64_t count = totals.violation_count();
    print("{}{}{}\n", colour(count > 0 ? red : bold),
          count > 0                      ? plural(count, "violation")
          : totals.iwarp_connections > 0 ? "no violation"
                                         : "no iWARP in this capture: nothing was judged",
          colour(end));
  }

 private:
  template <typename... Values>
  void print(fmt::format_string<Values...> format, Values&&... values) {
    const std::string text = fmt::format(format, std::forward<Values>(values)...);
    std::fwrite(text.data(), 1, text.size(), out_);
  }
  [[nodiscard]] std::string_view colour(std::string_view sequence) const {
    return options_.colour ? sequence : std::string_view{};
  }

  void print(const Record& record, const Opened&) {
    if (base_ == 0) base_ = record.time;
  }

  void print(const Record& record, const Violation& violation) {
    if (options_.summary) return;
    const analyzer::Finding& found = violation.finding;
    const std::uint64_t said = ++violations_said_[found.rule.id];
    if (said > violations_shown) return;
    const analyzer::Place& place = found.place;
    const analyzer::Role role = record.connection.role(place.direction);
    print("{}{}{}  {}\n", colour(red), found.rule.id, colour(end), describe_rule(found.rule.id));
    print("  {}, connection {}, {}", describe_frames(record, place), record.connection.number,
          describe_direction(record.connection, place.direction));
    if (role != analyzer::Role::unknown) print(" ({})", name(role));
    print("\n  came        {}\n  admissible  {}\n", plain(found.actual), plain(found.admissible));
    for (const std::string_view id : violation.also)
      print("  also        {}  {}\n", id, describe_rule(id));
    if (place.length > 0)
      print("  octets      {} to {} of the stream{}{}\n", place.offset,
            place.offset + place.length - 1, violation.octets.empty() ? "" : ": ",
            plain(violation.octets));
    if (found.certainty == analyzer::Certainty::likely)
      print("  certainty   likely: the capture does not prove it\n");
    if (said == violations_shown)
      print("  further violations of this rule are only counted; --json has each\n");
  }

  void print(const Record& record, const analyzer::Note& note) {
    // A connection that is not iWARP is only counted; a line for each would hide the rest.
    if (options_.summary || note.kind == analyzer::NoteKind::not_iwarp) return;
    auto& said = said_[record.connection.number][std::to_underlying(note.kind)];
    if (said >= notes_said) return;
    ++said;
    print("{}note{}  {}, connection {}, {}: {} ({}){}\n", colour(yellow), colour(end),
          describe_frames(record, note.place), record.connection.number,
          describe_direction(record.connection, note.place.direction), plain(note.text),
          analyzer::name(note.kind),
          said == notes_said ? "; further ones of this connection are only counted" : "");
  }

  void print(const Record& record, const Message& message) {
    if (options_.summary) return;
    const std::uint64_t since = record.time >= base_ ? record.time - base_ : 0;
    print("{}.{:06} #{} frame {} {} {}", since / 1'000'000'000, since % 1'000'000'000 / 1000,
          record.connection.number, frame_of(record, message.place),
          message.place.direction == analyzer::Direction::from_first ? '>' : '<',
          plain(message.text));
    if (message.request_frame != 0)
      print("  (answers frame {} after {:.3f} ms)", message.request_frame,
            static_cast<double>(message.response_time) / 1e6);
    if (message.blamed_frame != 0) print("  (reports frame {})", message.blamed_frame);
    print("\n");
  }

  void print(const Record& record, const ConnectionSummary& summary) {
    said_.erase(record.connection.number);
    if (!summary.iwarp && summary.violations.empty()) return;
    print("{}connection {}{}  {} - {}, frames {} to {}\n", colour(bold), record.connection.number,
          colour(end), summary.connection.first.text(), summary.connection.second.text(),
          summary.first_frame, summary.last_frame);
    print("  options     {}\n", plain(describe_options(summary.negotiated)));
    report_end(summary, analyzer::Direction::from_first);
    report_end(summary, analyzer::Direction::from_second);
    const std::string notes = describe_notes(summary.notes);
    if (!notes.empty()) print("  not judged  {}\n", notes);
    for (const auto& [rule, count] : summary.violations)
      print("  {}{} x {}{}\n", colour(red), count, rule, colour(end));
  }

  void report_end(const ConnectionSummary& summary, analyzer::Direction direction) {
    const Sent& sent = summary.sent(direction);
    print("  {:<10}  {}: {}; {}, {}", name(summary.connection.role(direction)),
          summary.connection.sender(direction).text(), describe_operations(sent),
          plural(sent.fpdus, "FPDU"), plural(sent.payload, "octet"));
    if (sent.markers > 0) print(", {}", plural(sent.markers, "Marker"));
    if (sent.ending) print("; {}", name(*sent.ending));
    print("\n");
  }

  void print_violations(const Totals& totals) {
    for (const auto& [rule, broken] : totals.violations)
      print("{:>8} x {}{}{}  {}, first at frame {}\n", broken.times, colour(red), rule, colour(end),
            describe_rule(rule), broken.first_frame);
  }

  void print_source(const Totals& totals) {
    if (totals.tear)
      print("{}the capture is {}{} at {}\n", colour(yellow),
            totals.tear->unsupported ? "not read further" : "torn", colour(end),
            plain(describe_tear(*totals.tear)));
    if (totals.live && totals.live->dropped + totals.live->interface_dropped > 0)
      print("{}{} dropped by the capture{}: what they carried is not judged\n", colour(yellow),
            plural(totals.live->dropped + totals.live->interface_dropped, "frame"), colour(end));
  }

  std::FILE* out_;
  TextReportOptions options_;
  std::uint64_t base_ = 0;  ///< time of the first connection's first frame
  std::map<std::uint64_t, std::array<std::uint32_t, analyzer::note_kinds>> said_;
  std::map<std::string_view, std::uint64_t> violations_said_;  ///< by rule
};

}  // namespace

std::unique_ptr<Report> text_report(std::FILE* out, const TextReportOptions& options) {
  return std::make_unique<TextReport>(out, options);
}

}  // namespace dissectors::lint
