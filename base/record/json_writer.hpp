// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Writes records as JSON, by their tables. C++17, for the agent's own build.
#pragma once

#include <string>
#include <variant>

#include <nlohmann/json.hpp>

#include "base/hex.hpp"
#include "base/record/kinds.hpp"

namespace base::record {

using Json = nlohmann::ordered_json;

/// One line of JSON. Invalid UTF-8 in a text is replaced with replacement characters.
[[nodiscard]] inline std::string one_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

struct WriteOptions {
  /// False: empty texts and octets that have a default are left out.
  bool in_full = true;
  /// With the members that are sent only between processes of one build.
  bool internal = false;
  /// Receives octets, one value after another, while the JSON has their number; null: they are
  /// written as hexadecimal digits.
  std::string* attachment = nullptr;
};

class Writer {
 public:
  explicit Writer(const WriteOptions& options) : options_(options) {}

  template <class T>
  [[nodiscard]] Json value(const T& value) const {
    if constexpr (is_optional<T>) {
      return value ? this->value(*value) : Json(nullptr);
    } else if constexpr (std::is_enum_v<T>) {
      return std::string(record::name(value));
    } else if constexpr (is_octets<T> || octet_count<T> != 0) {
      return octets(value.data(), value.size());
    } else if constexpr (is_duration<T>) {
      return std::chrono::duration<double>(value).count();
    } else if constexpr (is_list<T>) {
      Json list = Json::array();
      for (const auto& each : value) list.push_back(this->value(each));
      return list;
    } else if constexpr (is_map<T>) {
      Json object = Json::object();
      for (const auto& [key, each] : value) object[key_text(key)] = this->value(each);
      return object;
    } else if constexpr (has_flags<T>) {
      Json list = Json::array();
      for (const auto& flag : flags_for<T>())
        if (value.*flag.place) list.push_back(flag.name);
      return list;
    } else if constexpr (has_table<T> || is_variant<T>) {
      Json object = Json::object();
      members(value, object);
      return object;
    } else {
      return value;
    }
  }

  /// Adds the members of a record, or of the alternative that a variant holds, to an object.
  template <class T>
  void members(const T& record, Json& object) const {
    if constexpr (is_variant<T>) {
      std::visit(
          [&](const auto& alternative) {
            object["type"] = table_for<std::decay_t<decltype(alternative)>>().name;
            members(alternative, object);
          },
          record);
    } else {
      std::apply([&](const auto&... each) { (member(each, record, object), ...); },
                 table_for<T>().members);
    }
  }

 private:
  template <class Owner, class T>
  void member(const Member<Owner, T>& about, const Owner& owner, Json& object) const {
    const T& content = owner.*about.place;
    if (about.presence == Presence::internal && !options_.internal) return;
    if (about.presence == Presence::defaulted) {
      if constexpr (is_optional<T>) {
        if (!content) return;
      } else if constexpr (std::is_same_v<T, std::string> || is_octets<T>) {
        if (content.empty() && !options_.in_full) return;
      }
    }
    object[about.name] = value(content);
  }
  template <class Owner, class Part>
  void member(const Inlined<Owner, Part>& about, const Owner& owner, Json& object) const {
    members(owner.*about.place, object);
  }
  template <class Value, class Owner>
  void member(const Constant<Value>& about, const Owner&, Json& object) const {
    object[about.name] = about.value;
  }

  static const std::string& key_text(const std::string& key) { return key; }
  template <class Enumeration>
  static std::string key_text(Enumeration key) {
    return record::name(key);
  }

  [[nodiscard]] Json octets(const void* data, std::size_t count) const {
    if (options_.attachment == nullptr) return to_hex(data, count);
    options_.attachment->append(static_cast<const char*>(data), count);
    return count;
  }

  WriteOptions options_;
};

template <class T>
[[nodiscard]] Json to_json(const T& record, const WriteOptions& options = {}) {
  return Writer(options).value(record);
}

}  // namespace base::record
