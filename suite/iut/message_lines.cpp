// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Converts messages to lines of JSON and back, by the message tables.
#include "suite/iut/message_lines.hpp"

#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>
#include <vector>

#include "base/record/json_reader.hpp"
#include "base/record/json_writer.hpp"
#include "suite/iut/message_tables.hpp"

namespace suite::iut {
namespace {

using base::record::Json;
using base::record::WriteOptions;
using base::record::Writer;

constexpr int max_depth = 6;

/// Thrown and caught within this file only.
struct Refused {
  std::string what;
};

/// Refuses what the parser itself accepts: deep nesting and repeated members.
class Strictness {
 public:
  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    using Kind = Json::parse_event_t;
    if (depth > max_depth) throw Refused{"nested too deeply"};
    if (event == Kind::object_start) {
      names_.emplace_back();
    } else if (event == Kind::object_end) {
      names_.pop_back();
    } else if (event == Kind::key && !names_.back().insert(parsed.get<std::string>()).second) {
      throw Refused{"member \"" + parsed.get<std::string>() + "\" is there twice"};
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> names_;
};

Json parse_object(std::string_view line) {
  if (line.size() > max_line)
    throw Refused{"the line is longer than " + std::to_string(max_line) + " octets"};
  if (line.empty()) throw Refused{"an empty line is not JSON"};
  Json object;
  try {
    Strictness strictness;
    object = Json::parse(line.begin(), line.end(), std::ref(strictness));
  } catch (const Json::exception& error) {
    const std::string_view what = error.what();  // begins with the library's own name of the error
    const std::size_t name_end = what.find("] ");
    throw Refused{"the line is not JSON: " +
                  std::string(name_end == what.npos ? what : what.substr(name_end + 2))};
  }
  if (!object.is_object())
    throw Refused{"the line is not a JSON object: " + base::record::shown(object)};
  return object;
}

/// Why the line is no such message, or nothing. What could be read until then is in `out`.
template <class Message>
std::optional<ParseError> read(std::string_view line, Message& out) {
  ParseError error;
  try {
    const auto fault = base::record::from_json(parse_object(line), out);
    if (!fault) return std::nullopt;
    error.what = fault->text;
    error.unknown_type = fault->unknown_type;
  } catch (const Refused& refused) {
    error.what = refused.what;
  }
  return error;
}

template <class Variant>
const char* type_of(const Variant& message) {
  return std::visit(
      [](const auto& each) { return base::record::table_for<std::decay_t<decltype(each)>>().name; },
      message);
}

}  // namespace

Parsed<NumberedCommand> parse_command(std::string_view line) {
  NumberedCommand command;
  if (auto error = read(line, command)) {
    error->number = command.number;
    return *error;
  }
  return command;
}

Parsed<Event> parse_event(std::string_view line) {
  Event event;
  if (const auto error = read(line, event)) return *error;
  if (std::holds_alternative<GoneEvent>(event)) {
    ParseError error;
    error.what = "an agent does not send the type \"gone\"";
    return error;
  }
  return event;
}

// Commands are written in full, so that an agent needs no defaults; events leave out empty texts.
std::string format(std::uint64_t number, const Command& command) {
  Json object = Json::object();
  object["number"] = number;
  Writer(WriteOptions{}).members(command, object);
  return base::record::one_line(object);
}

std::string format(const Event& event) {
  WriteOptions options;
  options.in_full = false;
  return base::record::one_line(base::record::to_json(event, options));
}

const char* type_name(const Command& command) { return type_of(command); }
const char* type_name(const Event& event) { return type_of(event); }

std::optional<std::string_view> LineBuffer::next() {
  if (oversize_) return std::nullopt;
  const std::size_t feed = buffer_.find('\n', searched_);
  const std::size_t end = feed == std::string::npos ? buffer_.size() : feed;
  if (end - start_ > max_line) {
    oversize_ = true;
    return std::nullopt;
  }
  if (feed == std::string::npos) {
    buffer_.erase(0, start_);
    start_ = 0;
    searched_ = buffer_.size();
    return std::nullopt;
  }
  const std::string_view line(buffer_.data() + start_, feed - start_);
  start_ = searched_ = feed + 1;
  return line;
}

}  // namespace suite::iut
