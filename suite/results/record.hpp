// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The records of a run: the schema in reports/schema/ as C++ values, member by member.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace suite::results {

using Json = nlohmann::ordered_json;

inline constexpr const char* schema_name = "rnic-results-1";

enum class Verdict : std::uint8_t { pass, fail, inconclusive, not_applicable, error };
enum class Judgement : std::uint8_t { pass, advisory, fail, inconclusive, error };
enum class Direction : std::uint8_t { to_iut, from_iut, none };
enum class GateResult : std::uint8_t { as_expected, known, new_failure, stale, superseded };
enum class PcapSource : std::uint8_t { capture, tester };
enum class CaptureMode : std::uint8_t { live, tester, none };
enum class LabKind : std::uint8_t { namespaces, loopback, memory, guest, external };
enum class Ending : std::uint8_t { running, finished, interrupted, aborted, killed };

/// The word of an enumerator in the document.
[[nodiscard]] std::string_view name(Verdict value);
[[nodiscard]] std::string_view name(Judgement value);
[[nodiscard]] std::string_view name(Direction value);
[[nodiscard]] std::string_view name(GateResult value);
[[nodiscard]] std::string_view name(PcapSource value);
[[nodiscard]] std::string_view name(CaptureMode value);
[[nodiscard]] std::string_view name(LabKind value);
[[nodiscard]] std::string_view name(Ending value);
/// The verdict of this word, or nothing.
[[nodiscard]] std::optional<Verdict> find_verdict(std::string_view word);

struct Advisory {
  std::string rule, text;
};

struct Expectation {
  std::string rule, row;
  std::vector<std::string> admissible;
  std::string actual, hex;
  Judgement verdict = Judgement::pass;
  Direction direction = Direction::none;
  double at = 0;  ///< seconds since the start of the attempt
  std::optional<std::uint32_t> frame;
};

struct Row {
  std::string name;
  Verdict verdict = Verdict::pass;
  std::string reason;
};

struct Step {
  double at = 0;  ///< seconds since the start of the attempt
  Direction direction = Direction::none;
  std::string text, hex;
  std::optional<std::uint32_t> frame;
};

struct Pcap {
  std::string file, sha256;
  std::uint64_t frames = 0, octets = 0;
  PcapSource source = PcapSource::capture;
  std::string note;
};

/// How the reason of a case begins that failed for nothing but what the IUT's kernel had to say.
inline constexpr std::string_view kernel_complained = "the IUT's kernel complained: ";

struct Gate {
  GateResult result = GateResult::as_expected;
  std::string entry, reason;
};

struct CaseRecord {
  std::string id;
  std::uint32_t attempt = 1;
  std::string title, layer, file, variant, configuration;
  std::vector<std::string> rules;
  Verdict verdict = Verdict::error;
  std::string reason;
  std::vector<Advisory> advisories;
  std::vector<Expectation> expectations;
  /// Rules that the judge evaluated on the frames that the IUT sent in the case.
  std::vector<std::string> judged_in_frames;
  std::vector<Row> rows;
  std::vector<Step> exchange;
  std::optional<Pcap> pcap;
  std::string start;
  double duration = 0;
  std::uint32_t worker = 0;
  Gate gate;
  std::string rerun, kernel_log, stderr_text;
  std::vector<std::string> seen_to_fail_by;
  /// By rule: the deviations that made an expectation of this rule fail in this case.
  std::map<std::string, std::vector<std::string>> seen_to_fail_at;
};

struct IutRecord {
  std::string kind, driver, driver_version, firmware, kernel, implementation;
  std::vector<std::string> capabilities;
  std::map<std::string, std::int64_t> limits;
  std::vector<std::string> addresses, deviations;
};

struct SuiteVersion {
  std::string version, commit;
};

struct Machine {
  std::string system, kernel, architecture;
  std::uint64_t processors = 0, memory = 0;
};

struct LabRecord {
  LabKind kind = LabKind::namespaces;
  std::string interface;
  std::uint64_t mtu = 0;
  std::vector<std::string> tester_addresses;
  std::string note;
};

struct CaptureRecord {
  CaptureMode mode = CaptureMode::none;
  std::string note;
  std::uint64_t received = 0, dropped = 0, interface_dropped = 0;
  bool closing_seen = false;
};

/// One start of the program for a run: the first one, one that goes on with what an earlier one
/// left, or one that adds attempts.
struct Session {
  std::string start;
  std::optional<std::string> end;
  std::vector<std::string> command;
  Json asked = Json::object();  ///< which cases it was to play
  Ending ending = Ending::running;
  std::string ending_reason;
};

struct RunRecord {
  std::string id, start;
  std::optional<std::string> end;
  bool complete = false;
  Ending ending = Ending::running;
  std::string ending_reason;
  std::optional<int> exit_code;
  SuiteVersion suite;
  std::string catalogue;
  std::vector<std::string> command;
  std::string host;
  Machine machine;
  Json options = Json::object();
  IutRecord iut;
  LabRecord lab;
  CaptureRecord capture;
  std::map<std::string, double> timings;
  std::map<std::string, std::uint64_t> seeds;
  std::uint64_t selected = 0;
  std::string expectations_file;
  std::vector<Session> sessions;
};

struct Summary {
  std::uint64_t cases = 0, attempts = 0;
  std::map<std::string, std::uint64_t> verdicts, gate;
  std::uint64_t advisories = 0, tester_pcaps = 0, without_pcap = 0;
  std::map<std::string, std::map<std::string, std::uint64_t>> layers;
  std::vector<std::string> stale_entries;
};

struct Document {
  RunRecord run;
  std::vector<CaseRecord> cases;
  Summary summary;
};

/// To and from JSON, exactly as the schema says. Reading throws nlohmann::json::exception or
/// std::invalid_argument, naming the member.
void to_json(Json& json, const CaseRecord& record);
void from_json(const Json& json, CaseRecord& record);
void to_json(Json& json, const RunRecord& record);
void from_json(const Json& json, RunRecord& record);
void to_json(Json& json, const Summary& summary);
void from_json(const Json& json, Summary& summary);
void to_json(Json& json, const Document& document);
void from_json(const Json& json, Document& document);

/// Marks all but the last attempt of each case as superseded and counts the others.
[[nodiscard]] Summary summarise(std::vector<CaseRecord>& cases);

/// One line of JSON, whatever octets an IUT put into the texts (invalid UTF-8 is replaced).
[[nodiscard]] std::string one_line(const Json& json);

}  // namespace suite::results
