// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <nlohmann/json.hpp>

#include <utility>

#include <fmt/format.h>

#include "dissectors/lint/report.hpp"
#include "dissectors/lint/wording.hpp"
#include "rules/catalogue.hpp"

namespace dissectors::lint {

namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& value) {
  return value.dump(-1, ' ', true, Json::error_handler_t::replace);
}

// RFC 3986 section 2.3: what needs no escape, and the slash between folders.
std::string uri_of(const std::string& path) {
  std::string uri;
  for (const char c : path) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '.' || c == '_' || c == '~' || c == '/';
    uri += kept ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

std::string_view level_of(std::string_view id) {
  const rules::Rule* rule = rules::find(id);
  if (rule == nullptr || rule->level == rules::Level::must) return "error";
  return rule->level == rules::Level::should ? "warning" : "note";
}

// For who opens the rule of a result: its place, what it says, and in which words.
std::string help_of(const rules::Rule& rule) {
  std::string text = fmt::format("{}\n\n{}", describe_rule(rule.id), rule.text);
  if (!rule.quote.empty()) text += fmt::format("\n\n\"{}\"", rule.quote);
  return text;
}

// SARIF has a published schema of its own, of which this writes a small part: no record tables.
// Results are written as they come, so that the document needs no memory; the rules and what was
// not judged follow at its end.
class SarifReport final : public Report {
 public:
  SarifReport(std::FILE* out, const std::string& artifact) : out_(out), artifact_(artifact) {
    write(
        R"({"version":"2.1.0","$schema":"https://json.schemastore.org/sarif-2.1.0.json","runs":[{"results":[)");
  }

  void record(const Record& record) override {
    const auto* violation = std::get_if<Violation>(&record.what);
    if (violation == nullptr) return;
    const analyzer::Finding& found = violation->finding;
    const Json connection{
        {"fullyQualifiedName",
         fmt::format("connection {}: {}", record.connection.number,
                     describe_direction(record.connection, found.place.direction))}};
    const Json location{{"physicalLocation", {{"artifactLocation", {{"uri", uri_of(artifact_)}}}}},
                        {"logicalLocations", Json::array({connection})},
                        {"message", {{"text", describe_frames(record, found.place)}}}};
    const Json result{
        {"ruleId", found.rule.id},
        {"level", level_of(found.rule.id)},
        {"message",
         {{"text", fmt::format("{}: came {}; admissible: {}", describe_frames(record, found.place),
                               found.actual, found.admissible)}}},
        {"locations", Json::array({location})},
        {"properties",
         {{"frame", frame_of(record, found.place)},
          {"connection", record.connection.number},
          {"offset", found.place.offset},
          {"length", found.place.length},
          {"also", violation->also},
          {"octets", violation->octets},
          {"certainty", name(found.certainty)}}}};
    write(fmt::format("{}\n{}", any_ ? "," : "", text_of(result)));
    any_ = true;
  }

  void finish(const Totals& totals) override {
    Json rules = Json::array();
    for (const auto& [id, broken] : totals.violations) rules.push_back(rule_of(id));
    const Json driver{{"name", "rnic-lint"}, {"rules", std::move(rules)}};
    Json notifications = Json::array();
    const auto notify = [&](const std::string& text) {
      notifications.push_back({{"level", "warning"}, {"message", {{"text", text}}}});
    };
    if (totals.tear) notify("the capture is torn at " + describe_tear(*totals.tear));
    const std::string notes = describe_notes(totals.notes);
    if (!notes.empty()) notify("what could not be judged: " + notes);
    if (totals.frames.fragments > 0)
      notify(fmt::format("IP fragments, not judged: {}", totals.frames.fragments));
    const Json invocation{{"executionSuccessful", !(totals.tear && totals.tear->unsupported)},
                          {"toolExecutionNotifications", std::move(notifications)}};
    write(fmt::format("\n],\"tool\":{},\"invocations\":{}}}]}}\n", text_of({{"driver", driver}}),
                      text_of(Json::array({invocation}))));
  }

 private:
  void write(std::string_view text) { std::fwrite(text.data(), 1, text.size(), out_); }

  static Json rule_of(std::string_view id) {
    Json rule{{"id", id}, {"defaultConfiguration", {{"level", level_of(id)}}}};
    if (const rules::Rule* known = rules::find(id)) {
      rule["shortDescription"] = {{"text", known->text}};
      rule["help"] = {{"text", help_of(*known)}};
      rule["helpUri"] = rules::href(*known);
    }
    return rule;
  }

  std::FILE* out_;
  std::string artifact_;
  bool any_ = false;
};

}  // namespace

std::unique_ptr<Report> sarif_report(std::FILE* out, const std::string& artifact) {
  return std::make_unique<SarifReport>(out, artifact);
}

}  // namespace dissectors::lint
