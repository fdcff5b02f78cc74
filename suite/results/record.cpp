// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/results/record.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace suite::results {

namespace {

using namespace std::string_view_literals;

// The words in the order of the enumerators.
template <typename Enumeration>
struct Words;
template <>
struct Words<Verdict> {
  static constexpr std::array list{"pass"sv, "fail"sv, "inconclusive"sv, "not_applicable"sv,
                                   "error"sv};
};
template <>
struct Words<Judgement> {
  static constexpr std::array list{"pass"sv, "advisory"sv, "fail"sv, "inconclusive"sv, "error"sv};
};
template <>
struct Words<Direction> {
  static constexpr std::array list{"to_iut"sv, "from_iut"sv, "none"sv};
};
template <>
struct Words<GateResult> {
  static constexpr std::array list{"as_expected"sv, "known"sv, "new_failure"sv, "stale"sv,
                                   "superseded"sv};
};
template <>
struct Words<PcapSource> {
  static constexpr std::array list{"capture"sv, "tester"sv};
};
template <>
struct Words<CaptureMode> {
  static constexpr std::array list{"live"sv, "tester"sv, "none"sv};
};
template <>
struct Words<LabKind> {
  static constexpr std::array list{"namespaces"sv, "loopback"sv, "memory"sv, "guest"sv,
                                   "external"sv};
};
template <>
struct Words<Ending> {
  static constexpr std::array list{"running"sv, "finished"sv, "interrupted"sv, "aborted"sv,
                                   "killed"sv};
};

template <typename Enumeration>
constexpr std::string_view word(Enumeration value) {
  return Words<Enumeration>::list.at(static_cast<std::size_t>(value));
}

template <typename Enumeration>
std::optional<Enumeration> find_word(std::string_view text) {
  const auto& list = Words<Enumeration>::list;
  const auto found = std::ranges::find(list, text);
  if (found == list.end()) return std::nullopt;
  return static_cast<Enumeration>(found - list.begin());
}

// A Writer or Reader visits the members of a record in the order of the schema, so that each record
// lists its members only once.
class Writer {
 public:
  explicit Writer(Json& json) : json_(json) { json_ = Json::object(); }
  template <typename Value>
  void operator()(const char* key, const Value& value) {
    json_[key] = encode(value);
  }
  template <typename Value>
  void since(const char* key, const Value& value) {
    operator()(key, value);
  }

 private:
  template <typename Value>
  static Json encode(const Value& value);
  Json& json_;
};

class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {}
  template <typename Value>
  void operator()(const char* key, Value& value) {
    try {
      decode(json_.at(key), value);
    } catch (const std::exception& problem) {
      throw std::invalid_argument(std::string(key) + ": " + problem.what());
    }
  }
  // A member that was added to the schema: what is older has none.
  template <typename Value>
  void since(const char* key, Value& value) {
    if (json_.contains(key)) operator()(key, value);
  }

 private:
  template <typename Value>
  static void decode(const Json& json, Value& value);
  const Json& json_;
};

// `const` or not, by whether the record is written or read.
template <typename Record, typename Plain>
concept Is = std::same_as<std::remove_const_t<Record>, Plain>;

template <Is<Advisory> Record, typename Fields>
void members(Record& r, Fields& f) {
  f("rule", r.rule), f("text", r.text);
}
template <Is<Expectation> Record, typename Fields>
void members(Record& r, Fields& f) {
  f("rule", r.rule), f("row", r.row), f("admissible", r.admissible), f("actual", r.actual),
      f("hex", r.hex);
  f("verdict", r.verdict), f("direction", r.direction), f("at", r.at), f("frame", r.frame);
}
template <Is<Row> Record, typename Fields>
void members(Record& r, Fields& f) {
  f("name", r.name), f("verdict", r.verdict), f("reason", r.reason);
}
template <Is<Step> Record, typename Fields>
void members(Record& r, Fields& f) {
  f("at", r.at), f("direction", r.direction), f("text", r.text), f("hex", r.hex),
      f("frame", r.frame);
}
template <Is<Pcap> Record, typename Fields>
void members(Record& r, Fields& f) {
  f("file", r.file), f("sha256", r.sha256), f("frames", r.frames), f("octets", r.octets);
  f("source", r.source), f("note", r.note);
}
template <Is<Gate> Record, typename Fields>
void members(Record& r, Fields& f) {
  f("result", r.result), f("entry", r.entry), f("reason", r.reason);
}
template <Is<CaseRecord> Record, typename Fields>
void members(Record& r, Fields& f) {
  f("id", r.id), f("attempt", r.attempt), f("title", r.title), f("layer", r.layer),
      f("file", r.file);
  f("variant", r.variant), f("configuration", r.configuration), f("rules", r.rules),
      f("verdict", r.verdict);
  f("reason", r.reason), f("advisories", r.advisories), f("expectations", r.expectations),
      f("rows", r.rows);
  f("exchange", r.exchange), f("pcap", r.pcap), f("start", r.start), f("duration", r.duration);
  f("worker", r.worker), f("gate", r.gate), f("rerun", r.rerun), f("kernel_log", r.kernel_log);
  f("stderr", r.stderr_text), f("seen_to_fail_by", r.seen_to_fail_by);
  f.since("seen_to_fail_at", r.seen_to_fail_at);
  f.since("judged_in_frames", r.judged_in_frames);
}
template <Is<IutRecord> Record, typename Fields>
void members(Record& r, Fields& f) {
  f("kind", r.kind), f("driver", r.driver), f("driver_version", r.driver_version),
      f("firmware", r.firmware);
  f("kernel", r.kernel), f("implementation", r.implementation), f("capabilities", r.capabilities);
  f("limits", r.limits), f("addresses", r.addresses), f("deviations", r.deviations);
}
template <Is<SuiteVersion> Record, typename Fields>
void members(Record& r, Fields& f) {
  f("version", r.version), f("commit", r.commit);
}
template <Is<Machine> Record, typename Fields>
void members(Record& r, Fields& f) {
  f("system", r.system), f("kernel", r.kernel), f("architecture", r.architecture);
  f("processors", r.processors), f("memory", r.memory);
}
template <Is<LabRecord> Record, typename Fields>
void members(Record& r, Fields& f) {
  f("kind", r.kind), f("interface", r.interface), f("mtu", r.mtu);
  f("tester_addresses", r.tester_addresses), f("note", r.note);
}
template <Is<CaptureRecord> Record, typename Fields>
void members(Record& r, Fields& f) {
  f("mode", r.mode), f("note", r.note), f("received", r.received), f("dropped", r.dropped);
  f("interface_dropped", r.interface_dropped), f("closing_seen", r.closing_seen);
}
template <Is<Session> Record, typename Fields>
void members(Record& r, Fields& f) {
  f("start", r.start), f("end", r.end), f("command", r.command), f("asked", r.asked);
  f("ending", r.ending), f("ending_reason", r.ending_reason);
}
template <Is<RunRecord> Record, typename Fields>
void members(Record& r, Fields& f) {
  f("id", r.id), f("start", r.start), f("end", r.end), f("complete", r.complete),
      f("ending", r.ending);
  f("ending_reason", r.ending_reason), f("exit_code", r.exit_code), f("suite", r.suite);
  f("catalogue", r.catalogue), f("command", r.command), f("host", r.host), f("machine", r.machine);
  f("options", r.options), f("iut", r.iut), f("lab", r.lab), f("capture", r.capture);
  f("timings", r.timings), f("seeds", r.seeds), f("selected", r.selected);
  f("expectations_file", r.expectations_file);
  f.since("sessions", r.sessions);
}
template <Is<Summary> Record, typename Fields>
void members(Record& r, Fields& f) {
  f("cases", r.cases), f("attempts", r.attempts), f("verdicts", r.verdicts), f("gate", r.gate);
  f("advisories", r.advisories), f("tester_pcaps", r.tester_pcaps),
      f("without_pcap", r.without_pcap);
  f("layers", r.layers), f("stale_entries", r.stale_entries);
}

template <typename Value>
concept Walkable = requires(Value& value, Writer& writer) { members(value, writer); };
template <typename Value>
constexpr bool is_optional = false;
template <typename Value>
constexpr bool is_optional<std::optional<Value>> = true;
template <typename Value>
constexpr bool is_record_list = false;
template <Walkable Value>
constexpr bool is_record_list<std::vector<Value>> = true;

template <typename Value>
Json Writer::encode(const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return word(value);
  } else if constexpr (is_optional<Value>) {
    return value ? encode(*value) : Json(nullptr);
  } else if constexpr (is_record_list<Value>) {
    Json list = Json::array();
    for (const auto& element : value) list.push_back(encode(element));
    return list;
  } else if constexpr (Walkable<const Value>) {
    Json json;
    Writer writer(json);
    members(value, writer);
    return json;
  } else {
    return value;
  }
}

template <typename Value>
void Reader::decode(const Json& json, Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    const auto found = find_word<Value>(json.get_ref<const std::string&>());
    if (!found) throw std::invalid_argument("unknown word");
    value = *found;
  } else if constexpr (is_optional<Value>) {
    value.reset();
    if (!json.is_null()) decode(json, value.emplace());
  } else if constexpr (is_record_list<Value>) {
    value.clear();
    if (!json.is_array()) throw std::invalid_argument("not an array");
    for (const auto& element : json) decode(element, value.emplace_back());
  } else if constexpr (Walkable<Value>) {
    if (!json.is_object()) throw std::invalid_argument("not an object");
    Reader reader(json);
    members(value, reader);
  } else {
    json.get_to(value);
  }
}

template <typename Record>
void write(Json& json, const Record& record) {
  Writer writer(json);
  members(record, writer);
}
template <typename Record>
void read(const Json& json, Record& record) {
  Reader reader(json);
  members(record, reader);
}

void count(Summary& summary, const CaseRecord& record) {
  const std::string verdict(name(record.verdict));
  ++summary.cases;
  ++summary.verdicts[verdict];
  ++summary.gate[std::string(name(record.gate.result))];
  ++summary.layers[record.layer][verdict];
  summary.advisories += record.advisories.size();
  if (!record.pcap) {
    ++summary.without_pcap;
  } else if (record.pcap->source == PcapSource::tester) {
    ++summary.tester_pcaps;
  }
}

}  // namespace

std::string_view name(Verdict value) { return word(value); }
std::string_view name(Judgement value) { return word(value); }
std::string_view name(Direction value) { return word(value); }
std::string_view name(GateResult value) { return word(value); }
std::string_view name(PcapSource value) { return word(value); }
std::string_view name(CaptureMode value) { return word(value); }
std::string_view name(LabKind value) { return word(value); }
std::string_view name(Ending value) { return word(value); }
std::optional<Verdict> find_verdict(std::string_view text) { return find_word<Verdict>(text); }

void to_json(Json& json, const CaseRecord& record) { write(json, record); }
void from_json(const Json& json, CaseRecord& record) { read(json, record); }
void to_json(Json& json, const RunRecord& record) { write(json, record); }
void from_json(const Json& json, RunRecord& record) { read(json, record); }
void to_json(Json& json, const Summary& summary) { write(json, summary); }
void from_json(const Json& json, Summary& summary) { read(json, summary); }

void to_json(Json& json, const Document& document) {
  json = Json::object();
  json["schema"] = schema_name;
  json["run"] = document.run;
  json["cases"] = document.cases;
  json["summary"] = document.summary;
}

void from_json(const Json& json, Document& document) {
  if (json.at("schema") != schema_name)
    throw std::invalid_argument("schema: not " + std::string(schema_name));
  json.at("run").get_to(document.run);
  json.at("cases").get_to(document.cases);
  json.at("summary").get_to(document.summary);
}

Summary summarise(std::vector<CaseRecord>& cases) {
  std::map<std::string_view, const CaseRecord*> last;
  for (const CaseRecord& record : cases) {
    const CaseRecord*& held = last[record.id];
    if (held == nullptr || held->attempt <= record.attempt) held = &record;
  }
  Summary summary;
  summary.attempts = cases.size();
  for (CaseRecord& record : cases) {
    if (last[record.id] == &record) {
      count(summary, record);
      if (record.gate.result == GateResult::stale)
        summary.stale_entries.push_back(record.gate.entry + " " + record.id);
    } else {
      record.gate.result = GateResult::superseded;
    }
  }
  return summary;
}

std::string one_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace suite::results
