// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The JSON Schema (2020-12) of a record, from its table, and its differences from a published one.
// The published schemas in reports/schema also have descriptions; tests compare the rest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/record/kinds.hpp"

namespace base::record {

/// Not ordered: two schemas are equal whatever the order of their members.
using Schema = nlohmann::json;

namespace detail {

inline Schema nullable(const Schema& schema) {
  return {{"oneOf", Schema::array({Schema{{"type", "null"}}, schema})}};
}

inline const char* pattern_of(Form form) {
  switch (form) {
    case Form::any:
      break;
    case Form::hex:
      return "^([0-9a-f]{2})*$";
    case Form::sha256:
      return "^[0-9a-f]{64}$";
    case Form::timestamp:
      return R"(^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$)";
  }
  return nullptr;
}

template <class T>
Schema object_schema();

inline Schema text_schema(const Constraint& constraint) {
  if (constraint.words != nullptr) {
    Schema words = Schema::array();
    for_each_word(constraint, [&](const char* word) { words.push_back(word); });
    return {{"enum", words}};
  }
  Schema schema{{"type", "string"}};
  if (const char* pattern = pattern_of(constraint.form)) schema["pattern"] = pattern;
  return schema;
}

template <class T>
Schema number_schema(const Constraint& constraint) {
  Schema schema{{"type", is_integer<T> ? "integer" : "number"}};
  if (constraint.minimum) {
    schema["minimum"] = *constraint.minimum;
  } else if (std::is_unsigned_v<T>) {
    schema["minimum"] = 0;
  }
  if constexpr (is_integer<T> && sizeof(T) < sizeof(std::uint32_t))
    schema["maximum"] = std::numeric_limits<T>::max();
  return schema;
}

template <class Words>
Schema enum_schema(const Words& words) {
  Schema list = Schema::array();
  for (const char* word : words) list.push_back(word);
  return {{"enum", list}};
}

template <class T>
Schema value_schema(const Constraint& constraint) {
  if constexpr (is_optional<T>) {
    return nullable(value_schema<typename T::value_type>(constraint));
  } else if constexpr (std::is_same_v<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (is_integer<T> || std::is_floating_point_v<T> || is_duration<T>) {
    return number_schema<T>(constraint);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return text_schema(constraint);
  } else if constexpr (std::is_enum_v<T>) {
    return enum_schema(names_of(T{}));
  } else if constexpr (is_octets<T>) {
    return {{"type", "string"}, {"pattern", pattern_of(Form::hex)}};
  } else if constexpr (octet_count<T> != 0) {
    return {{"type", "string"},
            {"pattern", "^([0-9a-f]{2}){" + std::to_string(octet_count<T>) + "}$"}};
  } else if constexpr (is_list<T>) {
    Schema schema{{"type", "array"}, {"items", value_schema<typename T::value_type>({})}};
    if (constraint.nonempty) schema["minItems"] = 1;
    return schema;
  } else if constexpr (is_map<T>) {
    Schema schema{{"type", "object"},
                  {"additionalProperties", value_schema<typename T::mapped_type>(constraint)}};
    if constexpr (std::is_enum_v<typename T::key_type>)
      schema["propertyNames"] = enum_schema(names_of(typename T::key_type{}));
    return schema;
  } else if constexpr (has_flags<T>) {
    std::vector<const char*> words;
    for (const auto& flag : flags_for<T>()) words.push_back(flag.name);
    return {{"type", "array"}, {"items", enum_schema(words)}};
  } else if constexpr (has_table<T> || is_variant<T>) {
    return object_schema<T>();
  } else {
    return {{"type", "object"}};
  }
}

/// The properties of one object while they are collected.
struct Properties {
  Schema properties = Schema::object();
  std::vector<std::string> required;
  /// Of an object that holds the members of a variant: the further properties of each alternative.
  std::vector<Properties> alternatives;

  template <class Owner, class T>
  void add(const Member<Owner, T>& about) {
    if (about.presence == Presence::internal) return;
    if (about.presence == Presence::required) {
      required.emplace_back(about.name);
      properties[about.name] = value_schema<T>(about.constraint);
    } else if constexpr (is_optional<T>) {
      properties[about.name] = value_schema<typename T::value_type>(about.constraint);
    } else {
      properties[about.name] = value_schema<T>(about.constraint);
    }
  }
  template <class Owner, class Part>
  void add(const Inlined<Owner, Part>&) {
    add_all<Part>();
  }
  template <class Value>
  void add(const Constant<Value>& about) {
    required.emplace_back(about.name);
    properties[about.name] = {{"const", about.value}};
  }
  template <class T>
  void add_all() {
    if constexpr (is_variant<T>) {
      add_alternatives(static_cast<const T*>(nullptr));
    } else {
      std::apply([this](const auto&... each) { (add(each), ...); }, table_for<T>().members);
    }
  }
  template <class... T>
  void add_alternatives(const std::variant<T...>*) {
    (add_alternative<T>(), ...);
  }
  template <class T>
  void add_alternative() {
    Properties one;
    one.add(constant("type", table_for<T>().name));
    one.add_all<T>();
    alternatives.push_back(std::move(one));
  }

  Schema schema() {
    if (alternatives.empty()) return object();
    Schema list = Schema::array();
    for (Properties& one : alternatives) {
      one.properties.update(properties);
      one.required.insert(one.required.end(), required.begin(), required.end());
      list.push_back(one.object());
    }
    return {{"oneOf", list}};
  }
  Schema object() {
    std::sort(required.begin(), required.end());
    Schema made{{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
    if (!required.empty()) made["required"] = required;
    return made;
  }
};

template <class T>
Schema object_schema() {
  Properties properties;
  properties.add_all<T>();
  return properties.schema();
}

/// A published schema without references and descriptions, in the form in which schemas are
/// generated.
inline Schema plain(const Schema& published, const Schema& root) {
  if (published.is_array()) {
    Schema list = Schema::array();
    for (const Schema& each : published) list.push_back(plain(each, root));
    return list;
  }
  if (!published.is_object()) return published;
  if (const auto to = published.find("$ref"); to != published.end() && to->is_string())
    return plain(root.at(Schema::json_pointer(to->get<std::string>().substr(1))), root);
  Schema made = Schema::object();
  for (const auto& [name, content] : published.items()) {
    const bool is_keyword = name == "description" || name == "title" || name.front() == '$';
    if (!is_keyword || content.is_object()) made[name] = plain(content, root);
  }
  made.erase("$defs");
  if (const auto names = made.find("required"); names != made.end() && names->is_array())
    std::sort(names->begin(), names->end());
  for (const char* keyword : {"type", "enum"}) {
    const auto options = made.find(keyword);
    if (options == made.end() || !options->is_array()) continue;
    const auto null = std::find_if(options->begin(), options->end(), [](const Schema& option) {
      return option.is_null() || option == "null";
    });
    if (null == options->end()) continue;
    options->erase(null);
    if (std::string(keyword) == "type") *options = Schema(options->front());
    return nullable(made);
  }
  return made;
}

}  // namespace detail

/// The schema of a record's document.
template <class T>
[[nodiscard]] Schema schema_of() {
  return detail::object_schema<T>();
}

/// Where a published schema differs from a generated one: a JSON patch, one line per difference;
/// empty: nowhere.
[[nodiscard]] inline std::vector<std::string> differences(const Schema& published,
                                                          const Schema& generated) {
  std::vector<std::string> lines;
  for (const Schema& each : Schema::diff(detail::plain(published, published), generated))
    lines.push_back(each.dump());
  return lines;
}

}  // namespace base::record
