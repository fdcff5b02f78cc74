// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/worker_messages.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "suite/iut/message_lines.hpp"

namespace suite::runner {

namespace {

using Json = nlohmann::json;
using cases::ConnectionRecord;

// Enumerators travel as numbers: both ends are the same build.
template <typename Enumeration>
int number(Enumeration value) {
  return static_cast<int>(value);
}
template <typename Enumeration>
Enumeration enumerator(const Json& json) {
  return static_cast<Enumeration>(json.get<int>());
}

Json encode(const HostSetup& host) {
  return {{"namespace", host.network_namespace},
          {"ipv4", host.ipv4},
          {"ipv6", host.ipv6},
          {"max_segment", host.max_segment},
          {"spare_ipv4", host.spare_ipv4},
          {"spare_count", host.spare_count}};
}
HostSetup decode_host(const Json& json) {
  return {json.at("namespace"),   json.at("ipv4"),       json.at("ipv6"),
          json.at("max_segment"), json.at("spare_ipv4"), json.at("spare_count")};
}

Json encode(const std::optional<cases::DatAccess>& dat) {
  if (!dat) return nullptr;
  return {{"program", dat->program}, {"ia", dat->ia}, {"address", dat->address}};
}
std::optional<cases::DatAccess> decode_dat(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return cases::DatAccess{json.at("program"), json.at("ia"), json.at("address")};
}

Json encode(const WorkerSetup& setup) {
  return {{"reach", number(setup.reach)},
          {"agent", setup.agent},
          {"socket", setup.socket},
          {"deviations", setup.deviations},
          {"lawful", setup.lawful},
          {"memory_link", setup.memory_link},
          {"tester", encode(setup.tester)},
          {"iut", encode(setup.iut)},
          {"deadline_scale", setup.deadline_scale},
          {"quiet_window", setup.quiet_window},
          {"hello_deadline", setup.hello_deadline},
          {"reply_deadline", setup.reply_deadline},
          {"pics", setup.pics},
          {"strict", setup.strict},
          {"dat", encode(setup.dat)}};
}
WorkerSetup decode_setup(const Json& json) {
  WorkerSetup setup;
  setup.reach = enumerator<WorkerSetup::Reach>(json.at("reach"));
  json.at("agent").get_to(setup.agent);
  json.at("socket").get_to(setup.socket);
  json.at("deviations").get_to(setup.deviations);
  json.at("lawful").get_to(setup.lawful);
  json.at("memory_link").get_to(setup.memory_link);
  setup.tester = decode_host(json.at("tester"));
  setup.iut = decode_host(json.at("iut"));
  json.at("deadline_scale").get_to(setup.deadline_scale);
  json.at("quiet_window").get_to(setup.quiet_window);
  json.at("hello_deadline").get_to(setup.hello_deadline);
  json.at("reply_deadline").get_to(setup.reply_deadline);
  json.at("pics").get_to(setup.pics);
  json.at("strict").get_to(setup.strict);
  setup.dat = decode_dat(json.at("dat"));
  return setup;
}

Json encode(const std::optional<cases::StreamPlace>& place) {
  if (!place) return nullptr;
  return {{"connection", place->connection}, {"offset", place->offset}};
}
std::optional<cases::StreamPlace> decode_place(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return cases::StreamPlace{json.at("connection"), json.at("offset")};
}

Json encode(const cases::ExpectationRecord& record) {
  return {{"rule", record.rule},
          {"row", record.row},
          {"admissible", record.admissible},
          {"actual", record.actual},
          {"hex", record.hex},
          {"judgement", number(record.judgement)},
          {"direction", number(record.direction)},
          {"at", record.at.count()},
          {"place", encode(record.place)}};
}
cases::ExpectationRecord decode_expectation(const Json& json) {
  cases::ExpectationRecord record;
  json.at("rule").get_to(record.rule);
  json.at("row").get_to(record.row);
  json.at("admissible").get_to(record.admissible);
  json.at("actual").get_to(record.actual);
  json.at("hex").get_to(record.hex);
  record.judgement = enumerator<cases::Judgement>(json.at("judgement"));
  record.direction = enumerator<cases::Direction>(json.at("direction"));
  record.at = cases::Offset(json.at("at").get<std::int64_t>());
  record.place = decode_place(json.at("place"));
  return record;
}

Json encode(const cases::RowOutcome& row) {
  return {{"name", row.name}, {"verdict", number(row.verdict)}, {"reason", row.reason}};
}
cases::RowOutcome decode_row(const Json& json) {
  return {json.at("name"), enumerator<cases::Verdict>(json.at("verdict")), json.at("reason")};
}

Json encode(const cases::Step& step) {
  return {{"at", step.at.count()},
          {"direction", number(step.direction)},
          {"text", step.text},
          {"hex", step.hex}};
}
cases::Step decode_step(const Json& json) {
  return {cases::Offset(json.at("at").get<std::int64_t>()),
          enumerator<cases::Direction>(json.at("direction")), json.at("text"), json.at("hex")};
}

Json encode(const base::Address& address) {
  return {{"host", address.host()}, {"port", address.port}};
}
base::Address decode_address(const Json& json) {
  return base::Address::parse(json.at("host").get<std::string>(), json.at("port")).value();
}

Json encode(const ConnectionRecord::Mark& mark) {
  return {{"kind", number(mark.kind)},
          {"direction", number(mark.direction)},
          {"at", mark.at.count()},
          {"octets", mark.octets.size()}};
}
ConnectionRecord::Mark decode_mark(const Json& json) {
  return {enumerator<ConnectionRecord::Mark::Kind>(json.at("kind")),
          enumerator<cases::Direction>(json.at("direction")),
          cases::Offset(json.at("at").get<std::int64_t>()),
          std::vector<std::byte>(json.at("octets").get<std::size_t>())};
}

template <typename Record>
Json encode_list(const std::vector<Record>& list, Json (*encode_one)(const Record&)) {
  Json json = Json::array();
  for (const Record& record : list) json.push_back(encode_one(record));
  return json;
}
template <typename Record>
std::vector<Record> decode_list(const Json& json, Record (*decode)(const Json&)) {
  std::vector<Record> list;
  for (const Json& element : json) list.push_back(decode(element));
  return list;
}

Json encode(const ConnectionRecord& record) {
  return {{"tester", encode(record.tester)},
          {"iut", encode(record.iut)},
          {"opened_by_tester", record.opened_by_tester},
          {"marks", encode_list(record.marks, encode)}};
}
ConnectionRecord decode_connection(const Json& json) {
  return {decode_address(json.at("tester")), decode_address(json.at("iut")),
          json.at("opened_by_tester"), decode_list(json.at("marks"), decode_mark)};
}

Json encode(const cases::CaseOutcome& outcome) {
  return {{"verdict", number(outcome.verdict)},
          {"reason", outcome.reason},
          {"expectations", encode_list(outcome.expectations, encode)},
          {"rows", encode_list(outcome.rows, encode)},
          {"exchange", encode_list(outcome.exchange, encode)},
          {"connections", encode_list(outcome.connections, encode)},
          {"duration", outcome.duration.count()}};
}
cases::CaseOutcome decode_outcome(const Json& json) {
  cases::CaseOutcome outcome;
  outcome.verdict = enumerator<cases::Verdict>(json.at("verdict"));
  json.at("reason").get_to(outcome.reason);
  outcome.expectations = decode_list(json.at("expectations"), decode_expectation);
  outcome.rows = decode_list(json.at("rows"), decode_row);
  outcome.exchange = decode_list(json.at("exchange"), decode_step);
  outcome.connections = decode_list(json.at("connections"), decode_connection);
  outcome.duration = std::chrono::nanoseconds(json.at("duration").get<std::int64_t>());
  return outcome;
}

// What went over the wire is attached, mark behind mark: much of it would be slow as text.
std::string octets_of(const cases::CaseOutcome& outcome) {
  std::string octets;
  for (const ConnectionRecord& connection : outcome.connections) {
    for (const ConnectionRecord::Mark& mark : connection.marks)
      octets.append(reinterpret_cast<const char*>(mark.octets.data()), mark.octets.size());
  }
  return octets;
}
/// Fills the marks, whose sizes are known. False: there are fewer octets than they take, or more.
bool give_octets(cases::CaseOutcome& outcome, std::string_view attached) {
  auto left = std::as_bytes(std::span(attached));
  for (ConnectionRecord& connection : outcome.connections) {
    for (ConnectionRecord::Mark& mark : connection.marks) {
      if (mark.octets.size() > left.size()) return false;
      std::ranges::copy(left.first(mark.octets.size()), mark.octets.begin());
      left = left.subspan(mark.octets.size());
    }
  }
  return left.empty();
}

// The hello travels as the agent's own line.
iut::Hello decode_hello(const Json& json) {
  auto event = iut::parse_event(json.get_ref<const std::string&>());
  return std::get<iut::Hello>(event.value());
}

struct Encoder {
  Json operator()(const WorkerSetup& setup) const { return {{"setup", encode(setup)}}; }
  Json operator()(const RunMessage& run) const {
    return {{"run",
             {{"id", run.id},
              {"attempt", run.attempt},
              {"group", run.group},
              {"deadline_scale", run.deadline_scale}}}};
  }
  Json operator()(const ReadyMessage& ready) const {
    return {{"ready", iut::format(iut::Event(ready.hello))}};
  }
  Json operator()(const UnreachableMessage& word) const { return {{"unreachable", word.why}}; }
  Json operator()(const AliveMessage&) const { return {{"alive", true}}; }
  Json operator()(const OutcomeMessage& word) const {
    return {{"outcome", encode(word.outcome)}, {"stderr", word.stderr_text}};
  }
  Json operator()(const DiedMessage& died) const {
    return {{"died", {{"signal", died.signal}, {"in_iut", died.in_iut}}}};
  }
};

struct Attachment {
  std::string operator()(const OutcomeMessage& word) const { return octets_of(word.outcome); }
  std::string operator()(const auto&) const { return {}; }
};

template <typename Word>
Message message(const Word& word) {
  return {.line = std::visit(Encoder{}, word).dump(-1, ' ', false, Json::error_handler_t::replace),
          .attachment = std::visit(Attachment{}, word)};
}

}  // namespace

Message format(const ParentMessage& word) { return message(word); }
Message format(const WorkerMessage& word) { return message(word); }

std::optional<ParentMessage> parse_parent_message(const Message& message) try {
  const Json json = Json::parse(message.line);
  if (json.contains("setup")) return decode_setup(json["setup"]);
  const Json& run = json.at("run");
  return RunMessage{run.at("id"), run.at("attempt"), run.at("group"), run.at("deadline_scale")};
} catch (const std::exception&) {
  return std::nullopt;
}

std::optional<WorkerMessage> parse_worker_message(const Message& message) try {
  const Json json = Json::parse(message.line);
  if (json.contains("ready")) return ReadyMessage{decode_hello(json["ready"])};
  if (json.contains("unreachable")) return UnreachableMessage{json["unreachable"]};
  if (json.contains("alive")) return AliveMessage{};
  if (json.contains("outcome")) {
    OutcomeMessage word{decode_outcome(json["outcome"]), json.at("stderr")};
    if (!give_octets(word.outcome, message.attachment)) return std::nullopt;
    return word;
  }
  const Json& died = json.at("died");
  return DiedMessage{died.at("signal"), died.at("in_iut")};
} catch (const std::exception&) {
  return std::nullopt;
}

}  // namespace suite::runner
