// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reads records from JSON, by their tables. C++17, for the agent's own build.
//
// Reading is strict: a value of the wrong type, out of range, or missing is a fault that names the
// member by its path, `cases[3].verdict`. Nothing is thrown for what a document holds.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/form.hpp"
#include "base/record/json_writer.hpp"

namespace base::record {

/// A value, shortened to fit a fault of one line.
[[nodiscard]] inline std::string shown(const Json& json) {
  std::string text = one_line(json);
  constexpr std::size_t enough = 40;
  if (text.size() > enough) {
    std::size_t cut = enough;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xc0U) == 0x80) --cut;
    text = text.substr(0, cut) + "...";
  }
  return text;
}

struct ReadOptions {
  /// False: a member that is not in the table is ignored, as in a document of a later version.
  bool refuse_unknown = true;
  bool internal = false;
  /// As it was written; null: octets are hexadecimal digits.
  const std::string* attachment = nullptr;
};

/// Why a document is not such a record.
struct ReadFault {
  /// One line that names the member.
  std::string text;
  /// The type of a message is not one of its variant.
  bool unknown_type = false;
};

class Reader {
 public:
  explicit Reader(const ReadOptions& options) : options_(options) {}

  /// The first fault, or nothing.
  template <class T>
  [[nodiscard]] std::optional<ReadFault> read(const Json& json, T& out) {
    fault_.reset();
    if (value(json, out, {}) && options_.attachment != nullptr &&
        taken_ != options_.attachment->size())
      fault_ = ReadFault{"the attachment is longer than the octets of the message"};
    return fault_;
  }

 private:
  bool refuse(const std::string& problem) {
    fault_ = ReadFault{path_.empty() ? "the document " + problem
                                     : type_ + "member \"" + path_ + "\" " + problem};
    return false;
  }
  bool refuse(const Json& json, const std::string& wanted) {
    return refuse("must be " + wanted + ", not " + shown(json));
  }

  /// Runs a step with a longer path; if the step finds a fault, the path stays that of the fault.
  template <class Step>
  bool within(const std::string& further, const Step& step) {
    const std::size_t size = path_.size();
    path_ += path_.empty() && further.front() == '.' ? further.substr(1) : further;
    const bool good = step();
    if (good) path_.resize(size);
    return good;
  }

  template <class T>
  bool value(const Json& json, T& out, const Constraint& constraint) {
    if constexpr (is_optional<T>) {
      return this->value(json, out.emplace(), constraint);
    } else if constexpr (std::is_same_v<T, Json>) {
      if (!json.is_object()) return refuse(json, "an object");
      out = json;
      return true;
    } else if constexpr (std::is_same_v<T, bool>) {
      if (!json.is_boolean()) return refuse(json, "true or false");
      out = json.get<bool>();
      return true;
    } else if constexpr (is_integer<T>) {
      return integer(json, out, constraint);
    } else if constexpr (std::is_floating_point_v<T> || is_duration<T>) {
      return number(json, out, constraint);
    } else if constexpr (std::is_same_v<T, std::string>) {
      return text(json, out, constraint);
    } else if constexpr (std::is_enum_v<T>) {
      const auto found =
          json.is_string() ? find<T>(json.get_ref<const std::string&>()) : std::nullopt;
      if (!found) return refuse(json, "one of " + quoted_list(names_of(T{})));
      out = *found;
      return true;
    } else if constexpr (is_octets<T> || octet_count<T> != 0) {
      return octets(json, out);
    } else if constexpr (is_list<T>) {
      return list(json, out, constraint);
    } else if constexpr (is_map<T>) {
      return map(json, out, constraint);
    } else if constexpr (has_flags<T>) {
      return flags(json, out);
    } else if constexpr (has_table<T> || is_variant<T>) {
      return object(json, out);
    } else {
      static_assert(always_false<T>, "a value of this kind does not travel");
    }
  }

  // Numbers and texts.

  template <class T>
  bool integer(const Json& json, T& out, const Constraint& constraint) {
    using Limits = std::numeric_limits<T>;
    const T least = constraint.minimum ? static_cast<T>(*constraint.minimum) : Limits::min();
    bool fits = false;
    if (json.is_number_unsigned()) {
      const auto given = json.get<std::uint64_t>();
      fits = given <= static_cast<std::uint64_t>(Limits::max()) && static_cast<T>(given) >= least;
    } else if (json.is_number_integer()) {  // a negative one
      if constexpr (std::is_signed_v<T>)
        fits = json.get<std::int64_t>() >= static_cast<std::int64_t>(least);
    }
    if (!fits)
      return refuse(json, "an integer from " + std::to_string(least) + " to " +
                              std::to_string(Limits::max()));
    out = json.get<T>();
    return true;
  }

  template <class T>
  bool number(const Json& json, T& out, const Constraint& constraint) {
    if (!json.is_number()) return refuse(json, "a number");
    const double given = json.get<double>();
    if (constraint.minimum && given < static_cast<double>(*constraint.minimum))
      return refuse(json, "a number from " + std::to_string(*constraint.minimum));
    if constexpr (is_duration<T>) {
      constexpr double most = 1e9;  // some 30 years: no overflow of the nanoseconds
      if (!(std::abs(given) <= most)) return refuse(json, "a number of seconds");
      out = T(std::llround(given * 1e9));
    } else {
      out = given;
    }
    return true;
  }

  bool text(const Json& json, std::string& out, const Constraint& constraint) {
    if (!json.is_string()) return refuse(json, "a string");
    const auto& given = json.get_ref<const std::string&>();
    if (constraint.words != nullptr) {
      bool known = false;
      std::vector<const char*> words;
      for_each_word(constraint, [&](const char* word) {
        known = known || given == word;
        words.push_back(word);
      });
      if (!known) return refuse(json, "one of " + quoted_list(words));
    }
    if (!has_form(given, constraint.form)) return refuse(json, wanted(constraint.form));
    out = given;
    return true;
  }

  template <class Octets>
  bool octets(const Json& json, Octets& out) {
    if (options_.attachment != nullptr) return attached(json, out);
    const std::string* digits = json.get_ptr<const std::string*>();
    const bool good = digits != nullptr && is_hex(*digits);
    if constexpr (is_octets<Octets>) {
      if (!good) return refuse(json, wanted(Form::hex));
      out.resize(digits->size() / 2);
    } else {
      if (!good || digits->size() != 2 * out.size())
        return refuse(json, std::to_string(out.size()) + " octets as " +
                                std::to_string(2 * out.size()) + " hexadecimal digits");
    }
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<typename Octets::value_type>(nibble((*digits)[2 * i]) * 16 +
                                                        nibble((*digits)[2 * i + 1]));
    return true;
  }

  template <class Octets>
  bool attached(const Json& json, Octets& out) {
    const std::string& from = *options_.attachment;
    std::uint64_t count = 0;
    if (!integer(json, count, {})) return false;
    if (count > from.size() - taken_) return refuse("is longer than what is attached");
    if constexpr (is_octets<Octets>) out.resize(count);
    if (count != out.size()) return refuse(json, std::to_string(out.size()));
    std::transform(from.begin() + static_cast<std::ptrdiff_t>(taken_),
                   from.begin() + static_cast<std::ptrdiff_t>(taken_ + count), out.begin(),
                   [](char octet) { return static_cast<typename Octets::value_type>(octet); });
    taken_ += count;
    return true;
  }

  // Values that hold values.

  /// "strings", for a fault that shows a list of something else.
  template <class T>
  static std::string plural() {
    if constexpr (is_integer<T>) return "integers";
    if constexpr (std::is_floating_point_v<T> || is_duration<T>) return "numbers";
    if constexpr (std::is_same_v<T, std::string> || std::is_enum_v<T>) return "strings";
    if constexpr (std::is_same_v<T, bool>) return "true or false";
    return "objects";
  }
  template <class Words>
  static std::string quoted_list(const Words& words) {
    std::string text;
    for (const char* each : words) {
      if (!text.empty()) text += ", ";
      text += '"';
      text += each;
      text += '"';
    }
    return text;
  }

  template <class T>
  bool list(const Json& json, std::vector<T>& out, const Constraint& constraint) {
    if (!json.is_array()) return refuse(json, "a list of " + plural<T>());
    if (constraint.nonempty && json.empty()) return refuse("must not be empty");
    out.clear();
    for (std::size_t i = 0; i < json.size(); ++i) {
      if (!within('[' + std::to_string(i) + ']',
                  [&] { return this->value(json[i], out.emplace_back(), {}); }))
        return false;
    }
    return true;
  }

  template <class Key, class T>
  bool map(const Json& json, std::map<Key, T>& out, const Constraint& constraint) {
    if (!json.is_object()) return refuse(json, "an object of " + plural<T>());
    out.clear();
    for (const auto& [name, each] : json.items()) {
      const Json& given = each;
      const auto key = key_of<Key>(name);
      const bool good = within('.' + name, [&] {
        return key ? this->value(given, out[*key], constraint) : refuse("is unknown");
      });
      if (!good) return false;
    }
    return true;
  }
  template <class Key>
  static std::optional<Key> key_of(const std::string& name) {
    if constexpr (std::is_enum_v<Key>) {
      return find<Key>(name);
    } else {
      return name;
    }
  }

  template <class T>
  bool flags(const Json& json, T& out) {
    std::vector<const char*> words;
    for (const auto& flag : flags_for<T>()) words.push_back(flag.name);
    const std::string wanted = "a list of " + quoted_list(words);
    if (!json.is_array()) return refuse(json, wanted);
    out = T{};
    for (const Json& each : json) {
      bool known = false;
      for (const auto& flag : flags_for<T>()) {
        if (!each.is_string() || each.get_ref<const std::string&>() != flag.name) continue;
        out.*flag.place = known = true;
      }
      if (!known) return refuse(each, wanted);
    }
    return true;
  }

  /// The names of an object's members that are in a table.
  using Seen = std::vector<std::string_view>;

  template <class T>
  bool object(const Json& json, T& out) {
    if (!json.is_object()) return refuse(json, "an object");
    Seen seen;
    if (!members(json, out, seen)) return false;
    if (!options_.refuse_unknown) return true;
    for (const auto& [name, each] : json.items()) {
      if (std::find(seen.begin(), seen.end(), name) == seen.end())
        return within('.' + name, [&] { return refuse("is unknown"); });
    }
    return true;
  }

  template <class T>
  bool members(const Json& json, T& out, Seen& seen) {
    if constexpr (is_variant<T>) {
      std::string type;
      if (!find_member("type", json, seen, true,
                       [&](const Json& given) { return text(given, type, {}); }))
        return false;
      return alternative<0>(type, json, out, seen);
    } else {
      return std::apply([&](const auto&... each) { return (member(each, json, out, seen) && ...); },
                        table_for<T>().members);
    }
  }

  template <std::size_t I, class Variant>
  bool alternative(const std::string& type, const Json& json, Variant& out, Seen& seen) {
    if constexpr (I == std::variant_size_v<Variant>) {
      fault_ = ReadFault{"type \"" + type + "\" is unknown", true};
      return false;
    } else {
      if (type != table_for<std::variant_alternative_t<I, Variant>>().name)
        return alternative<I + 1>(type, json, out, seen);
      type_ = type + ": ";
      return members(json, out.template emplace<I>(), seen);
    }
  }

  /// Reads the member of this name by `read`, if there is one.
  template <class Read>
  bool find_member(const char* name, const Json& json, Seen& seen, bool is_required,
                   const Read& read) {
    seen.emplace_back(name);
    const auto found = json.find(name);
    if (found == json.end() && !is_required) return true;
    return within('.' + std::string(name),
                  [&] { return found == json.end() ? refuse("is missing") : read(*found); });
  }

  template <class Owner, class T>
  bool member(const Member<Owner, T>& about, const Json& json, Owner& owner, Seen& seen) {
    if (about.presence == Presence::internal && !options_.internal) return true;
    const bool is_required = about.presence != Presence::defaulted;
    return find_member(about.name, json, seen, is_required, [&](const Json& given) {
      if constexpr (is_optional<T>) {
        if (is_required && given.is_null()) {
          (owner.*about.place).reset();
          return true;
        }
      }
      return value(given, owner.*about.place, about.constraint);
    });
  }
  template <class Owner, class Part>
  bool member(const Inlined<Owner, Part>& about, const Json& json, Owner& owner, Seen& seen) {
    return members(json, owner.*about.place, seen);
  }
  template <class Value, class Owner>
  bool member(const Constant<Value>& about, const Json& json, Owner&, Seen& seen) {
    return find_member(about.name, json, seen, true, [&](const Json& given) {
      const Json wanted = about.value;
      return given == wanted || refuse(given, one_line(wanted));
    });
  }

  ReadOptions options_;
  std::string path_;
  /// Of the message, for the beginning of a fault.
  std::string type_;
  std::optional<ReadFault> fault_;
  /// Octets of the attachment that were read.
  std::size_t taken_ = 0;
};

/// Reads a record; the fault is the first one found, and then `out` is incomplete.
template <class T>
[[nodiscard]] std::optional<ReadFault> from_json(const Json& json, T& out,
                                                 const ReadOptions& options = {}) {
  return Reader(options).read(json, out);
}

}  // namespace base::record
