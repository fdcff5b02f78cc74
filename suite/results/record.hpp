// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The records of a run: the schema in reports/schema/ as C++ values, member by member.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "suite/results/outcome.hpp"

namespace suite::results {

using Json = nlohmann::ordered_json;

inline constexpr const char* schema_name = "rnic-results-1";

// names_of gives the names of the enumerators in the document, in the order of the enumeration.

enum class GateResult : std::uint8_t { as_expected, known, new_failure, stale, superseded };
constexpr auto names_of(GateResult) {
  return std::array{"as_expected", "known", "new_failure", "stale", "superseded"};
}
enum class PcapSource : std::uint8_t { capture, tester };
constexpr auto names_of(PcapSource) { return std::array{"capture", "tester"}; }
enum class CaptureMode : std::uint8_t { live, tester, none };
constexpr auto names_of(CaptureMode) { return std::array{"live", "tester", "none"}; }
enum class LabKind : std::uint8_t { namespaces, loopback, memory, guest, external };
constexpr auto names_of(LabKind) {
  return std::array{"namespaces", "loopback", "memory", "guest", "external"};
}
enum class Ending : std::uint8_t { running, finished, interrupted, aborted, killed };
constexpr auto names_of(Ending) {
  return std::array{"running", "finished", "interrupted", "aborted", "killed"};
}

struct Advisory {
  std::string rule, text;
};

struct Pcap {
  std::string file, sha256;
  std::uint64_t frames = 0, octets = 0;
  PcapSource source = PcapSource::capture;
  std::string note;
  /// The capture was not late, and had no frame of the case. Not part of the document.
  bool unseen = false;
};

/// What decided the verdict of an attempt. Known to the run that judges it, and not part of the
/// document.
enum class DecidedBy : std::uint8_t { the_case, kernel_log };

struct Gate {
  GateResult result = GateResult::as_expected;
  std::string entry, reason;
};

/// One attempt at one case.
struct CaseRecord {
  std::string id;
  std::uint32_t attempt = 1;
  std::string title, layer, file, variant, configuration;
  std::vector<std::string> rules;
  CaseOutcome outcome;
  std::vector<Advisory> advisories;
  std::optional<Pcap> pcap;
  std::string start;
  std::uint32_t worker = 0;
  Gate gate;
  /// The failure may have come of what ran beside the case: it is played again alone.
  bool failed_beside_others = false;
  std::string rerun, kernel_log, stderr_text;
  std::vector<std::string> seen_to_fail_by;
  /// By rule: the deviations that made an expectation of this rule fail in this case.
  std::map<std::string, std::vector<std::string>> seen_to_fail_at;
  DecidedBy decided_by = DecidedBy::the_case;
};

/// A rule that the IUT certainly broke in cases that are about something else: one fault of the
/// run, however many cases show it. Its name at the gate is `finding:RULE`.
struct FindingRecord {
  std::string rule;
  std::uint64_t cases = 0;  ///< that show it
  std::string first_case;   ///< has the octets and the frame
  /// Each text once, in the order in which they were first seen.
  std::vector<std::string> observed, admissible;
  Gate gate;
  std::string rerun;  ///< of the first case
};

/// A port of an RDMA device, numbered from 1, and its network interface. Empty or 0: the IUT's host
/// does not say. `state` and `rate` are as sysfs has them (`4: ACTIVE`, `100 Gb/sec (4X EDR)`);
/// `offloads` are those that are on, as `ethtool -K` names them.
struct PortRecord {
  std::uint64_t number = 0;
  std::string state, rate, interface, driver, driver_version, firmware;
  std::uint64_t speed = 0;  ///< of the interface, in Mb/s
  std::uint64_t mtu = 0;    ///< of the interface
  std::vector<std::string> offloads, gids;
};

struct IutRecord {
  std::string kind;
  Identity identity;
  std::vector<std::string> capabilities;
  std::map<std::string, std::int64_t> limits;
  std::vector<std::string> addresses, deviations;
  std::vector<PortRecord> ports{};  ///< if its host can be asked
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

/// One start of the program for a run: the first one, one that continues what an earlier one left,
/// or one that adds attempts.
struct Session {
  std::string start;
  std::optional<std::string> end;
  std::vector<std::string> command;
  Json asked = Json::object();  ///< which cases it was to run
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
  std::uint64_t advisories = 0, findings = 0, tester_pcaps = 0, without_pcap = 0;
  std::map<std::string, std::map<std::string, std::uint64_t>> layers;
  std::vector<std::string> stale_entries;
};

struct Document {
  RunRecord run;
  std::vector<CaseRecord> cases;
  std::vector<FindingRecord> findings;
  Summary summary;
};

/// One line of the journal of a run: one of these.
struct JournalLine {
  struct End {
    RunRecord run;
    std::vector<std::string> stale_entries;
    std::vector<FindingRecord> findings;
  };
  std::optional<RunRecord> run;
  std::optional<CaseRecord> attempt;
  std::optional<End> end;
};

/// Marks all but the last attempt of each case as superseded and counts the others.
[[nodiscard]] Summary summarise(std::vector<CaseRecord>& cases);

/// The findings of the attempts that count about other matters than those of their cases, in the
/// order in which they were first seen. They have not been compared with the known issues yet: each
/// is a new failure.
[[nodiscard]] std::vector<FindingRecord> gather_findings(const std::vector<CaseRecord>& cases);

}  // namespace suite::results
