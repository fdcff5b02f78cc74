// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/seen_to_fail.hpp"

#include <fstream>

#include <nlohmann/json.hpp>

#include "base/shipped_file.hpp"

namespace suite::runner {

namespace {

using Json = nlohmann::json;

// The member, or null.
Json member(const Json& of, const char* name) {
  return of.is_object() && of.contains(name) ? of[name] : Json();
}

template <typename List>
List names_in(const Json& list) {
  List names;
  if (!list.is_array()) return names;
  for (const Json& name : list)
    if (name.is_string()) names.insert(names.end(), name.get<std::string>());
  return names;
}

SeenToFail lists_of(const Json& object) {
  SeenToFail lists;
  for (const auto& [name, list] : object.items())
    lists[name] = names_in<std::vector<std::string>>(list);
  return lists;
}

}  // namespace

void SelfTestRecord::merge(SelfTestRecord other) {
  by_case.merge(other.by_case);
  by_rule.merge(other.by_rule);
  judged.merge(other.judged);
  in_frames.merge(other.in_frames);
}

SelfTestRecord load_self_test(const std::filesystem::path& file) {
  std::ifstream stream(file);
  const Json whole = Json::parse(stream, nullptr, false);
  SelfTestRecord record;
  record.by_case = lists_of(member(whole, "seen_to_fail_by"));
  const Json by_rule = member(whole, "seen_to_fail_at"), cases = member(whole, "cases");
  for (const auto& [id, rules] : by_rule.items()) record.by_rule[id] = lists_of(rules);
  for (const auto& [id, one] : cases.items()) {
    record.judged[id] = names_in<std::set<std::string>>(member(one, "judged"));
    record.in_frames[id] = names_in<std::set<std::string>>(member(one, "in_frames"));
  }
  return record;
}

SelfTestRecord load_self_tests() {
  SelfTestRecord record = load_self_test(base::built_file("generated/suite/seen_to_fail.json"));
  record.merge(load_self_test(base::built_file("generated/suite/dat_seen_to_fail.json")));
  return record;
}

}  // namespace suite::runner
