// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/expectations/expectations_file.hpp"

#include <algorithm>
#include <array>
#include <ranges>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include "base/strict_yaml.hpp"
#include "suite/expectations/harm.hpp"

namespace suite::expectations {

namespace {

constexpr std::uint32_t most_tries = 40;
constexpr std::array<std::string_view, 14> members{
    "case",  "tries", "verdict",  "observed", "rule",   "also", "intermittent",
    "hangs", "iut",   "versions", "harm",     "reason", "date", "link"};
constexpr std::array<std::string_view, 7> isolation_members{"case",   "iut",  "versions", "harm",
                                                            "reason", "date", "link"};
constexpr std::array<std::string_view, 7> incident_members{"observed", "iut",  "versions", "harm",
                                                           "reason",   "date", "link"};
constexpr std::array<std::string_view, 3> include_members{"file", "iut", "except"};
constexpr std::array<std::string_view, 10> finding_members{
    "rule",     "observed", "case",   "intermittent", "iut",
    "versions", "harm",     "reason", "date",         "link"};

bool is_date(std::string_view text) {
  const auto digits = [&](std::size_t begin, std::size_t count) {
    return std::ranges::all_of(text.substr(begin, count),
                               [](char c) { return c >= '0' && c <= '9'; });
  };
  if (text.size() != 10 || text[4] != '-' || text[7] != '-' || !digits(0, 4) || !digits(5, 2) ||
      !digits(8, 2))
    return false;
  const int month = std::stoi(std::string(text.substr(5, 2))),
            day = std::stoi(std::string(text.substr(8, 2)));
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

class Loader {
 public:
  Loader(const std::filesystem::path& file, const Known& known)
      : file_(file), known_(known), yaml_(file.string()) {}

  std::expected<KnownIssues, std::vector<Fault>> load() {
    const auto text = base::read_text(file_);
    if (!text) return std::unexpected(text.error());
    try {
      if (const auto root = yaml_.parse(*text)) take(*root);
    } catch (const YAML::Exception& problem) {  // a requested node is missing
      fault(problem.mark.line + 1, "this is not YAML: " + problem.msg);
    }
    if (!yaml_.faults().empty()) return std::unexpected(yaml_.faults());
    return std::move(listed_);
  }

 private:
  void fault(int line, const std::string& what) { yaml_.fault(line, what); }
  static int line(const YAML::Node& node) { return node.Mark().line + 1; }

  void take(const YAML::Node& root) {
    const auto lists = [&](const char* name) { return is_list(root[name]) ? 1U : 0U; };
    const bool good = root.IsMap() && lists("entries") == 1 &&
                      root.size() == 1 + lists("kernel_messages") + lists("random_crashes") +
                                         lists("findings") + lists("isolated") + lists("includes") +
                                         (root["private"] ? 1U : 0U);
    if (!good)
      return fault(
          1,
          "must hold a list named `entries`, maybe ones named `kernel_messages`, `random_crashes`, "
          "`findings`, `isolated` and `includes`, maybe `private: true`, and nothing else");
    listed_.is_private = flag(root, "private");
    for (const YAML::Node& node : root["entries"]) take_entry(node);
    if (lists("kernel_messages"))
      for (const YAML::Node& node : root["kernel_messages"])
        take_incident(node, listed_.kernel_messages);
    if (lists("random_crashes"))
      for (const YAML::Node& node : root["random_crashes"])
        take_incident(node, listed_.random_crashes);
    if (lists("findings"))
      for (const YAML::Node& node : root["findings"]) take_finding(node);
    if (lists("isolated"))
      for (const YAML::Node& node : root["isolated"]) take_isolation(node);
    if (lists("includes"))
      for (const YAML::Node& node : root["includes"]) take_include(node);
  }

  // What another file lists, but for the cases that are excepted, as if it were said of this IUT.
  // An included file includes none itself.
  void take_include(const YAML::Node& node) {
    const std::size_t before = yaml_.faults().size();
    if (!check_members(node, include_members)) return;
    const std::string name = word(node, "file"), iut = word(node, "iut");
    const std::vector<std::string> except = words(node, "except");
    if (yaml_.faults().size() != before) return;
    if (is_included_) return fault(line(node), "a file that is included includes none itself");
    Loader other(file_.parent_path() / name, known_);
    other.is_included_ = true;
    auto loaded = other.load();
    if (!loaded) {
      for (const Fault& each : loaded.error()) fault(line(node), each);
      return;
    }
    for (const std::string& id : except)
      if (!concerns(*loaded, id))
        fault(line(node["except"]), fmt::format("{} lists nothing of case '{}'", name, id));
    listed_.is_private |= loaded->is_private;
    for (const Entry& own : listed_.entries)
      if (std::ranges::find(except, own.case_id) == except.end() && has_entry(*loaded, own.case_id))
        fault(line(node),
              fmt::format("{} lists case '{}' too, which has an entry at {}: name it in "
                          "`except`",
                          name, own.case_id, own.place));
    const auto take = [&](auto& to, auto& from) {
      for (auto& one : from) {
        if constexpr (requires { one.case_id; })
          if (std::ranges::find(except, one.case_id) != except.end()) continue;
        one.iut = iut;
        to.push_back(std::move(one));
      }
    };
    take(listed_.entries, loaded->entries);
    take(listed_.kernel_messages, loaded->kernel_messages);
    take(listed_.random_crashes, loaded->random_crashes);
    take(listed_.findings, loaded->findings);
    take(listed_.isolated, loaded->isolated);
  }

  static bool has_entry(const KnownIssues& listed, const std::string& id) {
    return std::ranges::find(listed.entries, id, &Entry::case_id) != listed.entries.end();
  }

  static bool concerns(const KnownIssues& listed, const std::string& id) {
    const auto is_it = [&](const auto& one) { return one.case_id == id; };
    return has_entry(listed, id) || std::ranges::any_of(listed.findings, is_it) ||
           std::ranges::any_of(listed.isolated, is_it);
  }

  // The present id of a case: files may still have an earlier one.
  std::string case_id(const YAML::Node& node) {
    std::string id = word(node, "case");
    if (!known_.current_id) return id;
    std::string current = known_.current_id(id);
    if (current != id)
      listed_.notices.push_back(fmt::format("{}:{}: case '{}' was renamed; it is now '{}'",
                                            file_.string(), line(node["case"]), id, current));
    return current;
  }

  static bool is_list(const YAML::Node& node) { return node && node.IsSequence(); }

  // Whether the node is a map of these members, each once.
  bool check_members(const YAML::Node& node, std::span<const std::string_view> allowed) {
    if (!node.IsMap()) {
      fault(line(node), fmt::format("must be a map with `{}`, ...", allowed.front()));
      return false;
    }
    yaml_.each(node, "an entry", [&](const std::string& key, const YAML::Node&) {
      if (std::ranges::find(allowed, key) == allowed.end())
        yaml_.fault_of_key(fmt::format("unknown member `{}`", key));
    });
    return true;
  }

  // The members that a KnownIncident and a KnownFinding have in common; false if they are faulty.
  bool take_pattern(const YAML::Node& node, std::span<const std::string_view> allowed, auto& one) {
    const std::size_t before = yaml_.faults().size();
    if (!check_members(node, allowed)) return false;
    one.observed = words(node, "observed");
    one.iut = word(node, "iut");
    one.reason = reason(node);
    one.date = word(node, "date");
    if (node["link"]) one.link = word(node, "link");
    if (one.observed.empty()) fault(line(node), "`observed` is missing");
    const std::string versions = word(node, "versions");
    if (yaml_.faults().size() == before) check_when(node, versions, one.versions, one.date);
    return yaml_.faults().size() == before;
  }

  void take_incident(const YAML::Node& node, std::vector<KnownIncident>& list) {
    KnownIncident incident;
    incident.place = fmt::format("{}:{}", file_.string(), line(node));
    if (node.IsMap() && !node["harm"]) fault(line(node), "`harm` is missing: " + harm_names());
    if (take_pattern(node, incident_members, incident)) list.push_back(std::move(incident));
  }

  void take_finding(const YAML::Node& node) {
    KnownFinding finding;
    if (!take_pattern(node, finding_members, finding)) return;
    const std::size_t before = yaml_.faults().size();
    finding.rule = word(node, "rule");
    finding.case_id = case_id(node);
    finding.intermittent = flag(node, "intermittent");
    if (yaml_.faults().size() != before) return;
    if (!known_.is_rule(finding.rule))
      return fault(line(node["rule"]), fmt::format("there is no rule '{}'", finding.rule));
    if (!known_.is_case(finding.case_id))
      return fault(line(node["case"]), fmt::format("there is no case '{}'", finding.case_id));
    finding.place = fmt::format("{}:{}", file_.string(), line(node));
    listed_.findings.push_back(std::move(finding));
  }

  void take_isolation(const YAML::Node& node) {
    const std::size_t before = yaml_.faults().size();
    if (!check_members(node, isolation_members)) return;
    Isolation isolation{.case_id = case_id(node),
                        .iut = word(node, "iut"),
                        .versions = {},
                        .reason = reason(node),
                        .date = word(node, "date"),
                        .link = node["link"] ? word(node, "link") : ""};
    const std::string versions = word(node, "versions");
    if (yaml_.faults().size() != before) return;
    check_when(node, versions, isolation.versions, isolation.date);
    if (!known_.is_case(isolation.case_id))
      fault(line(node["case"]), fmt::format("there is no case '{}'", isolation.case_id));
    if (yaml_.faults().size() == before) listed_.isolated.push_back(std::move(isolation));
  }

  void check_when(const YAML::Node& node, const std::string& versions, VersionRange& range,
                  const std::string& date) {
    const auto parsed = VersionRange::parse(versions);
    if (!parsed) {
      fault(line(node["versions"]), "`versions`: " + parsed.error());
    } else {
      range = *parsed;
    }
    if (!is_date(date))
      fault(line(node["date"]), fmt::format("`date` is YYYY-MM-DD, not '{}'", date));
  }

  void take_entry(const YAML::Node& node) {
    const std::size_t before = yaml_.faults().size();
    if (!check_members(node, members)) return;
    Entry entry;
    entry.place = fmt::format("{}:{}", file_.string(), line(node));
    entry.case_id = case_id(node);
    entry.observed = words(node, "observed");
    entry.rule = word(node, "rule");
    entry.iut = word(node, "iut");
    entry.reason = reason(node);
    entry.date = word(node, "date");
    if (node["link"]) entry.link = word(node, "link");
    entry.tries = number(node, "tries");
    entry.intermittent = flag(node, "intermittent") || entry.tries > 1;
    entry.hangs = flag(node, "hangs");
    entry.also = words(node, "also");
    entry.versions_text = word(node, "versions");
    const std::string verdict = word(node, "verdict");
    if (entry.observed.empty()) fault(line(node), "`observed` is missing");
    if (!node["harm"] && std::ranges::any_of(entry.observed, is_crash))
      fault(line(node), "`harm` is missing where a crash was observed: " + harm_names());
    if (yaml_.faults().size() != before) return;
    check(node, entry, verdict);
    if (yaml_.faults().size() == before) listed_.entries.push_back(std::move(entry));
  }

  std::string word(const YAML::Node& node, const char* key) {
    const YAML::Node value = node[key];
    if (!value) {
      fault(line(node), fmt::format("`{}` is missing", key));
    } else if (!value.IsScalar() ||
               value.Scalar().find_first_not_of(" \t\n") == std::string::npos) {
      fault(line(value), fmt::format("`{}` must be a text", key));
    } else {
      return value.Scalar();
    }
    return {};
  }

  // The reason in the report: of a harm no more than its effect, until it is public.
  std::string reason(const YAML::Node& node) {
    if (!node["harm"]) return word(node, "reason");
    const Harm* harm = find_harm(word(node, "harm"));
    if (harm == nullptr) {
      fault(line(node["harm"]), "`harm` is " + harm_names());
      return {};
    }
    if (!node["reason"]) return std::string(harm->sentence);
    if (!node["link"] && !listed_.is_private)
      fault(line(node["reason"]),
            "`reason` beside `harm` needs a `link` to the public report; keep it in a file of your "
            "own with `private: true` until there is one");
    return word(node, "reason");
  }

  bool flag(const YAML::Node& node, const char* key) {
    bool value = false;
    if (node[key] && !YAML::convert<bool>::decode(node[key], value))
      fault(line(node[key]), fmt::format("`{}` is true or false", key));
    return value;
  }

  // The number of attempts: 1 if the file does not state it.
  std::uint32_t number(const YAML::Node& node, const char* key) {
    std::uint32_t value = 1;
    if (!node[key]) return value;
    if (!YAML::convert<std::uint32_t>::decode(node[key], value) || value < 2 || value > most_tries)
      fault(line(node[key]), fmt::format("`{}` is a number from 2 to {}", key, most_tries));
    return value;
  }

  // A list; a single element may be written without brackets.
  std::vector<std::string> words(const YAML::Node& node, const char* key) {
    std::vector<std::string> list;
    if (node[key] && node[key].IsScalar()) return {word(node, key)};
    if (node[key] && !YAML::convert<std::vector<std::string>>::decode(node[key], list))
      fault(line(node[key]), fmt::format("`{}` must be a list of texts", key));
    return list;
  }

  void check(const YAML::Node& node, Entry& entry, const std::string& verdict) {
    const auto found = base::record::find<results::Verdict>(verdict);
    if (!found || (*found != results::Verdict::fail && *found != results::Verdict::inconclusive)) {
      fault(line(node["verdict"]),
            fmt::format("`verdict` is fail or inconclusive, not '{}'", verdict));
    } else {
      entry.verdict = *found;
    }
    check_when(node, entry.versions_text, entry.versions, entry.date);
    if (!known_.is_case(entry.case_id))
      fault(line(node["case"]), fmt::format("there is no case '{}'", entry.case_id));
    if (!known_.is_rule(entry.rule))
      fault(line(node["rule"]), fmt::format("there is no rule '{}'", entry.rule));
    for (const std::string& rule : entry.also) {
      if (!known_.is_rule(rule))
        fault(line(node["also"]), fmt::format("there is no rule '{}'", rule));
    }
    const auto same = std::ranges::find_if(listed_.entries, [&](const Entry& other) {
      return other.case_id == entry.case_id && other.iut == entry.iut &&
             other.versions_text == entry.versions_text;
    });
    if (same != listed_.entries.end())
      fault(line(node),
            fmt::format("case {} has an entry at {} already", entry.case_id, same->place));
  }

  std::filesystem::path file_;
  const Known& known_;
  bool is_included_ = false;
  base::StrictYaml yaml_;
  KnownIssues listed_;
};

}  // namespace

std::expected<KnownIssues, std::vector<Fault>> load(const std::filesystem::path& file,
                                                    const Known& known) {
  return Loader(file, known).load();
}

}  // namespace suite::expectations
