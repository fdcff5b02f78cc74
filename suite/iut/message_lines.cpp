// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Lines of JSON from and to messages, by walking the message tables.
#include "suite/iut/message_lines.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>
#include <vector>

#include "base/hex.hpp"
#include "suite/iut/message_tables.hpp"

namespace suite::iut {
namespace {

using Json = nlohmann::ordered_json;

constexpr int max_depth = 6;

constexpr std::array outcome_words{"ok", "failed", "unsupported", "cancelled"};
constexpr std::array why_words{"transport_lost", "bad_protocol", "crashed", "hung"};

/// The rights of Access by name, for reading and writing alike.
struct Right {
  const char* word;
  bool Access::* member;
};
constexpr std::array rights{
    Right{"local_write", &Access::local_write},   Right{"remote_read", &Access::remote_read},
    Right{"remote_write", &Access::remote_write}, Right{"remote_atomic", &Access::remote_atomic},
    Right{"bind_window", &Access::bind_window},
};

template <class>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class Words>
std::string any_of(const Words& words) {
  std::string text;
  for (const char* each : words) text += (text.empty() ? "\"" : ", \"") + std::string(each) + '"';
  return text;
}

// ---------------------------------------------------------------- writing

/// Writes members into an object. Commands are written in full, so that an agent needs no defaults;
/// events leave out empty texts.
class Writer {
 public:
  Writer(Json& object, bool in_full) : object_(object), in_full_(in_full) {}

  template <class T>
  void required(const char* name, const T& value) {
    object_[name] = encode(value);
  }
  template <class T>
  void defaulted(const char* name, const T& value) {
    if constexpr (IsOptional<T>::value) {
      if (value) object_[name] = encode(*value);
    } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, Octets>) {
      if (in_full_ || !value.empty()) object_[name] = encode(value);
    } else {
      object_[name] = encode(value);
    }
  }
  template <class Words>
  void choice(const char* name, const std::string& value, const Words&) {
    object_[name] = value;
  }
  template <class Words>
  void defaulted_choice(const char* name, const std::string& value, const Words&) {
    object_[name] = value;
  }

 private:
  static Json encode(Outcome value) { return word(value); }
  static Json encode(GoneEvent::Why value) { return word(value); }
  static Json encode(const Octets& value) { return base::to_hex(value.data(), value.size()); }
  static Json encode(const std::array<std::uint8_t, 8>& value) {
    return base::to_hex(value.data(), value.size());
  }
  static Json encode(const Access& value) {
    Json list = Json::array();
    for (const Right& right : rights)
      if (value.*right.member) list.push_back(right.word);
    return list;
  }
  Json encode(const std::vector<Piece>& value) const {
    Json list = Json::array();
    for (const Piece& piece : value) list.push_back(encode_object(piece));
    return list;
  }
  Json encode(const ConnectParameters& value) const { return encode_object(value); }
  template <class T>
  static Json encode(const T& value) {
    return value;
  }
  template <class T>
  Json encode_object(const T& value) const {
    Json object = Json::object();
    Writer writer(object, in_full_);
    Table<T>::walk(writer, value);
    return object;
  }

  Json& object_;
  bool in_full_;
};

std::string dump(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// ---------------------------------------------------------------- reading

/// Thrown and caught within this file only.
struct Refused {
  std::string what;
};

std::string quoted(const std::string& path) { return "member \"" + path + '"'; }

/// What stands there instead, short enough for one line.
std::string shown(const Json& value) {
  std::string text = dump(value);
  constexpr std::size_t enough = 40;
  if (text.size() > enough) {
    std::size_t cut = enough;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80) --cut;
    text = text.substr(0, cut) + "...";
  }
  return text;
}

/// Reads the members of one object and remembers which were asked for.
class Reader {
 public:
  Reader(const Json& object, std::string path) : object_(object), path_(std::move(path)) {}

  template <class T>
  void required(const char* name, T& value) {
    const Json* found = find(name);
    if (found == nullptr) throw Refused{quoted(path_ + name) + " is missing"};
    decode(*found, path_ + name, value);
  }
  template <class T>
  void defaulted(const char* name, T& value) {
    if (const Json* found = find(name)) decode(*found, path_ + name, value);
  }
  template <class Words>
  void choice(const char* name, std::string& value, const Words& words) {
    required(name, value);
    check(name, value, words);
  }
  template <class Words>
  void defaulted_choice(const char* name, std::string& value, const Words& words) {
    defaulted(name, value);
    check(name, value, words);
  }
  /// A member that was not asked for is most likely a misspelt one.
  void finish() const {
    for (const auto& [name, value] : object_.items())
      if (std::find(asked_.begin(), asked_.end(), name) == asked_.end())
        throw Refused{quoted(path_ + name) + " is unknown"};
  }

 private:
  const Json* find(const char* name) {
    asked_.emplace_back(name);
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }

  template <class Words>
  void check(const char* name, const std::string& value, const Words& words) const {
    for (const char* each : words)
      if (value == each) return;
    throw Refused{quoted(path_ + name) + " must be one of " + any_of(words) + ", not " +
                  shown(value)};
  }

  [[noreturn]] static void refuse(const Json& value, const std::string& path,
                                  const std::string& wanted) {
    throw Refused{quoted(path) + " must be " + wanted + ", not " + shown(value)};
  }

  template <class T>
  static void decode(const Json& value, const std::string& path, std::optional<T>& out) {
    T content{};
    decode(value, path, content);
    out = std::move(content);
  }

  static void decode(const Json& value, const std::string& path, bool& out) {
    if (!value.is_boolean()) refuse(value, path, "true or false");
    out = value.get<bool>();
  }
  static void decode(const Json& value, const std::string& path, std::string& out) {
    if (!value.is_string()) refuse(value, path, "a string");
    out = value.get_ref<const std::string&>();
  }
  template <class Int, std::enable_if_t<std::is_integral_v<Int>, int> = 0>
  static void decode(const Json& value, const std::string& path, Int& out) {
    using Limits = std::numeric_limits<Int>;
    bool fits = false;
    if (value.is_number_unsigned()) {
      fits = value.get<std::uint64_t>() <= static_cast<std::uint64_t>(Limits::max());
    } else if (value.is_number_integer()) {  // a negative one
      if constexpr (std::is_signed_v<Int>)
        fits = value.get<std::int64_t>() >= static_cast<std::int64_t>(Limits::min());
    }
    if (!fits)
      refuse(value, path,
             "an integer from " + std::to_string(Limits::min()) + " to " +
                 std::to_string(Limits::max()));
    out = value.get<Int>();
  }

  static int nibble(char digit) {
    return digit >= 'A' && digit <= 'F' ? -1 : base::hex_digit(digit);
  }
  static void decode(const Json& value, const std::string& path, Octets& out) {
    constexpr const char* wanted = "octets as pairs of lower-case hexadecimal digits";
    if (!value.is_string()) refuse(value, path, wanted);
    const auto& text = value.get_ref<const std::string&>();
    if (text.size() % 2 != 0) refuse(value, path, wanted);
    out.resize(text.size() / 2);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const int high = nibble(text[2 * i]), low = nibble(text[2 * i + 1]);
      if (high < 0 || low < 0) refuse(value, path, wanted);
      out[i] = static_cast<std::uint8_t>(high << 4 | low);
    }
  }
  static void decode(const Json& value, const std::string& path, std::array<std::uint8_t, 8>& out) {
    Octets octets;
    decode(value, path, octets);
    if (octets.size() != out.size()) refuse(value, path, "8 octets as 16 hexadecimal digits");
    std::copy(octets.begin(), octets.end(), out.begin());
  }
  static void decode(const Json& value, const std::string& path, std::vector<std::string>& out) {
    if (!value.is_array()) refuse(value, path, "a list of strings");
    out.clear();
    for (const Json& each : value) decode(each, path, out.emplace_back());
  }
  static void decode(const Json& value, const std::string& path, Access& out) {
    if (!value.is_array()) refuse(value, path, "a list of access rights");
    out = Access{};
    for (const Json& each : value) {
      const auto right = std::find_if(rights.begin(), rights.end(), [&](const Right& candidate) {
        return each.is_string() && each.get_ref<const std::string&>() == candidate.word;
      });
      if (right == rights.end()) {
        std::vector<const char*> words;
        for (const Right& known : rights) words.push_back(known.word);
        refuse(each, path, "a list of " + any_of(words));
      }
      out.*(right->member) = true;
    }
  }
  static void decode(const Json& value, const std::string& path,
                     std::map<std::string, std::int64_t>& out) {
    if (!value.is_object()) refuse(value, path, "an object of integers");
    for (const auto& [name, each] : value.items()) decode(each, path + '.' + name, out[name]);
  }
  static void decode(const Json& value, const std::string& path, std::vector<Piece>& out) {
    if (!value.is_array()) refuse(value, path, "a list of pieces");
    out.clear();
    for (std::size_t i = 0; i < value.size(); ++i)
      decode_object(value[i], path + '[' + std::to_string(i) + ']', out.emplace_back());
  }
  static void decode(const Json& value, const std::string& path, ConnectParameters& out) {
    decode_object(value, path, out);
  }
  static void decode(const Json& value, const std::string& path, Outcome& out) {
    out = static_cast<Outcome>(index(value, path, outcome_words));
  }
  static void decode(const Json& value, const std::string& path, GoneEvent::Why& out) {
    out = static_cast<GoneEvent::Why>(index(value, path, why_words));
  }

  template <class Words>
  static int index(const Json& value, const std::string& path, const Words& words) {
    for (std::size_t i = 0; i < words.size(); ++i)
      if (value.is_string() && value.get_ref<const std::string&>() == words[i])
        return static_cast<int>(i);
    refuse(value, path, "one of " + any_of(words));
  }
  template <class T>
  static void decode_object(const Json& value, const std::string& path, T& out) {
    if (!value.is_object()) refuse(value, path, "an object");
    Reader reader(value, path + '.');
    Table<T>::walk(reader, out);
    reader.finish();
  }

  const Json& object_;
  std::string path_;
  std::vector<std::string> asked_;
};

/// Refuses what the parser itself lets pass: deep nesting and members that are there twice.
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
      throw Refused{quoted(parsed.get<std::string>()) + " is there twice"};
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
  if (!object.is_object()) throw Refused{"the line is not a JSON object: " + shown(object)};
  return object;
}

/// Reads the message if it is of the type that `Alternative` of the variant has.
template <class Variant, std::size_t Alternative = 0>
bool read_alternative(const std::string& type, Reader& reader, Variant& out) {
  if constexpr (Alternative == std::variant_size_v<Variant>) {
    return false;
  } else {
    using Message = std::variant_alternative_t<Alternative, Variant>;
    if (type != Table<Message>::type)
      return read_alternative<Variant, Alternative + 1>(type, reader, out);
    Table<Message>::walk(reader, out.template emplace<Alternative>());
    return true;
  }
}

/// Puts the message's type before what is said of it.
template <class Variant>
Parsed<Variant> read_typed(Reader& reader, ParseError& error) {
  std::string type;
  Variant message;
  try {
    reader.required("type", type);
    if (!read_alternative(type, reader, message)) {
      error.unknown_type = true;
      throw Refused{"type \"" + type + "\" is unknown"};
    }
    reader.finish();
  } catch (const Refused& refused) {
    error.what = error.unknown_type || type.empty() ? refused.what : type + ": " + refused.what;
    return error;
  }
  return message;
}

}  // namespace

Parsed<NumberedCommand> parse_command(std::string_view line) {
  ParseError error;
  try {
    const Json object = parse_object(line);
    Reader reader(object, "");
    std::uint64_t number = 0;
    reader.required("number", number);
    if (number == 0) throw Refused{quoted("number") + " must be an integer from 1, not 0"};
    error.number = number;
    auto command = read_typed<Command>(reader, error);
    if (!command) return command.error();
    return NumberedCommand{number, std::move(command.value())};
  } catch (const Refused& refused) {
    error.what = refused.what;
    return error;
  }
}

Parsed<Event> parse_event(std::string_view line) {
  ParseError error;
  try {
    const Json object = parse_object(line);
    Reader reader(object, "");
    auto event = read_typed<Event>(reader, error);
    if (event && std::holds_alternative<GoneEvent>(event.value()))
      throw Refused{"type \"gone\" is no word of an agent"};
    return event;
  } catch (const Refused& refused) {
    error.what = refused.what;
    return error;
  }
}

std::string format(std::uint64_t number, const Command& command) {
  Json object = Json::object();
  object["number"] = number;
  object["type"] = type_name(command);
  std::visit(
      [&object](const auto& message) {
        Writer writer(object, true);
        Table<std::decay_t<decltype(message)>>::walk(writer, message);
      },
      command);
  return dump(object);
}

std::string format(const Event& event) {
  Json object = Json::object();
  object["type"] = type_name(event);
  std::visit(
      [&object](const auto& message) {
        Writer writer(object, false);
        Table<std::decay_t<decltype(message)>>::walk(writer, message);
      },
      event);
  return dump(object);
}

const char* type_name(const Command& command) {
  return std::visit(
      [](const auto& message) { return Table<std::decay_t<decltype(message)>>::type; }, command);
}

const char* type_name(const Event& event) {
  return std::visit(
      [](const auto& message) { return Table<std::decay_t<decltype(message)>>::type; }, event);
}

const char* word(Outcome outcome) { return outcome_words.at(static_cast<std::size_t>(outcome)); }
const char* word(GoneEvent::Why why) { return why_words.at(static_cast<std::size_t>(why)); }

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
