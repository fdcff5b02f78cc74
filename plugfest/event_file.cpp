// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/event_file.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/did_you_mean.hpp"
#include "base/glob.hpp"
#include "base/sha256.hpp"
#include "plugfest/cell.hpp"
#include "plugfest/event_reader.hpp"
#include "plugfest/verdict.hpp"
#include "suite/expectations/harm.hpp"

namespace plugfest {

namespace {

constexpr std::size_t most_participants = 1000, longest_list = 10'000, longest_text = 4096;
constexpr std::string_view letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Only letters, digits and these characters; neither empty nor too long, and not an option of a
/// program.
bool plain(std::string_view text, std::string_view besides, std::size_t longest) {
  const std::string allowed = std::string(letters) + std::string(besides);
  return !text.empty() && text.size() <= longest && text.front() != '-' &&
         text.find_first_not_of(allowed) == std::string_view::npos;
}

}  // namespace

// ---------------------------------------------------------------- shapes

void EventReader::mapping(const Node& node, std::string_view what, const Keys& keys,
                          std::initializer_list<std::string_view> required) {
  std::set<std::string, std::less<>> seen;
  yaml_.each(node, what, [&](const std::string& key, const Node& value) {
    seen.insert(key);
    const auto known = keys.find(key);
    if (known != keys.end()) return known->second(value);
    std::vector<std::string_view> words;
    for (const auto& [word, take] : keys) words.push_back(word);
    const std::string said = key.substr(0, longest_text);
    yaml_.fault(value, fmt::format("{} has no key \"{}\"{}; it may have {}", what, said,
                                   base::did_you_mean(said, words), fmt::join(words, ", ")));
  });
  if (!node.IsMap() && !node.IsNull()) return;
  for (const std::string_view key : required)
    if (!seen.contains(key)) yaml_.fault(node, fmt::format("{} needs \"{}\"", what, key));
}

void EventReader::items(const Node& node, std::string_view what, const Take& take) {
  if (!node.IsSequence() || node.size() == 0)
    return yaml_.fault(node, fmt::format("{} must be a list that is not empty", what));
  if (node.size() > longest_list)
    return yaml_.fault(node, fmt::format("{}: more than {} entries", what, longest_list));
  for (const auto& item : node) take(item);
}

void EventReader::text(const Node& node, std::string_view key, std::string& into) {
  const auto value = yaml_.text(node, key);
  if (!value) return;
  const auto control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; };
  if (value->size() > longest_text || std::ranges::any_of(*value, control))
    return yaml_.fault(node,
                       fmt::format("{} must be one line of at most {} octets", key, longest_text));
  into = *value;
}

void EventReader::word(const Node& node, std::string_view key, std::string_view besides,
                       std::string& into) {
  const auto value = yaml_.text(node, key);
  if (!value) return;
  constexpr std::size_t longest = 200;
  if (!plain(*value, besides, longest))
    return yaml_.fault(
        node,
        fmt::format("{} must be made of letters, digits and any of \"{}\", and not begin with '-'",
                    key, besides));
  into = *value;
}

void EventReader::count(const Node& node, std::string_view key, int low, int high, int& into) {
  if (const auto value = yaml_.integer(node, key, low, high)) into = static_cast<int>(*value);
}

void EventReader::seconds(const Node& node, std::string_view key, std::chrono::seconds& into) {
  constexpr int longest = 86'400;
  if (const auto value = yaml_.integer(node, key, 1, longest)) into = std::chrono::seconds(*value);
}

void EventReader::flag(const Node& node, std::string_view key, bool& into) {
  const auto value = yaml_.text(node, key);
  if (!value) return;
  if (*value != "true" && *value != "false")
    return yaml_.fault(node, fmt::format("{} must be true or false", key));
  into = *value == "true";
}

std::vector<std::string> EventReader::texts(const Node& node, std::string_view what) {
  std::vector<std::string> all;
  items(node, what, [&](const Node& item) {
    all.emplace_back();
    text(item, what, all.back());
  });
  return all;
}

// ---------------------------------------------------------------- the rest

void EventReader::scenarios(const Node& node) {
  std::set<std::string_view> chosen;
  items(node, "scenarios", [&](const Node& item) {
    std::string glob;
    text(item, "a scenario", glob);
    const auto fits = [&glob](std::string_view name) {
      return base::matches_glob(glob, std::string(name));
    };
    const std::size_t before = chosen.size();
    bool any = false;
    for (const std::string_view name : options_.scenarios)
      if (fits(name)) {
        any = true;
        chosen.insert(name);
      }
    if (!any && before == chosen.size())
      yaml_.fault(
          item, fmt::format("there is no scenario \"{}\"{}; `rnic-plugfest list` names them", glob,
                            base::did_you_mean(glob, options_.scenarios)));
  });
  for (const std::string_view name : options_.scenarios)
    if (chosen.contains(name)) event_.scenarios.emplace_back(name);
}

std::optional<std::size_t> EventReader::participant_named(const Node& node) {
  const auto name = yaml_.text(node, "a pair's participant");
  if (!name) return std::nullopt;
  const auto found = std::ranges::find(event_.participants, *name, &Participant::name);
  if (found != event_.participants.end())
    return static_cast<std::size_t>(found - event_.participants.begin());
  yaml_.fault(node, fmt::format("there is no participant \"{}\"", name->substr(0, longest_text)));
  return std::nullopt;
}

void EventReader::pair(const Node& node) {
  if (!node.IsSequence() || node.size() != 2)
    return yaml_.fault(node, "a pair is a list of two participants");
  const auto one = participant_named(node[0]), other = participant_named(node[1]);
  if (!one || !other) return;
  if (*one == *other) return yaml_.fault(node, "a participant does not play against itself");
  event_.pairs.emplace_back(*one, *other);
}

void EventReader::pairs(const Node& node) {
  if (!node.IsScalar()) {
    event_.pairing = Pairing::listed;
    return items(node, "pairs", [this](const Node& item) { pair(item); });
  }
  if (node.Scalar() == "all") return;
  if (node.Scalar() != "ring") yaml_.fault(node, "pairs must be all, ring, or a list of pairs");
  event_.pairing = Pairing::ring;
}

/// An interface of this host, or one of another host.
void EventReader::capture(const Node& node) {
  CapturePlace made;
  constexpr std::string_view signs_of_interface = "._-@";
  // ssh passes the words to a shell on the other host.
  if (node.IsMap())
    mapping(
        node, "a capture",
        {{"interface",
          [&](const Node& value) { word(value, "interface", signs_of_interface, made.interface); }},
         {"host", [&](const Node& value) { word(value, "host", "._-@:", made.host); }}},
        {"interface"});
  else
    word(node, "capture", signs_of_interface, made.interface);
  const auto same = [&](const CapturePlace& it) { return it.text() == made.text(); };
  if (std::ranges::any_of(event_.captures, same))
    yaml_.fault(node, fmt::format("{} is captured already", made.text()));
  event_.captures.push_back(std::move(made));
}

void EventReader::captures(const Node& node) {
  constexpr std::size_t most = 16;
  if (!node.IsSequence()) return capture(node);
  if (node.size() > most)
    return yaml_.fault(node, fmt::format("capture: more than {} places", most));
  items(node, "capture", [this](const Node& item) { capture(item); });
}

/// In place of a reason: the effect of a fault that is not public yet.
void EventReader::harm(const Node& node, std::string& reason) {
  std::string given;
  text(node, "harm", given);
  if (const auto* known = suite::expectations::find_harm(given))
    reason = known->sentence;
  else
    yaml_.fault(node, "harm is " + suite::expectations::harm_names());
}

/// An entry has a reason, or a harm, which is all that is said of a crash.
void EventReader::judge_reason(const Node& entry, const std::vector<std::string>& observed) {
  if (!entry.IsMap()) return;
  const bool harmful = entry["harm"].IsDefined();
  if (harmful == entry["reason"].IsDefined())
    yaml_.fault(entry, "an entry needs either a reason or a harm");
  else if (!harmful && std::ranges::any_of(observed, suite::expectations::is_crash))
    yaml_.fault(entry, "where a crash was observed, harm takes the place of the reason: " +
                           suite::expectations::harm_names());
}

/// An exception that fits no cell is probably a mistake.
void EventReader::exceptions(const Node& node) {
  const std::vector<Cell> all = cells_of(event_, [](std::string_view) { return 1.0; });
  items(node, "except", [&](const Node& item) {
    Exception made{.cells = "", .reason = "the event leaves it out"};
    if (item.IsMap())
      mapping(item, "an exception",
              {{"cells", [&](const Node& value) { text(value, "cells", made.cells); }},
               {"harm", [&](const Node& value) { harm(value, made.reason); }},
               {"reason", [&](const Node& value) { text(value, "reason", made.reason); }}},
              {"cells"});
    else
      text(item, "a glob of cells", made.cells);
    judge_reason(item);
    if (std::ranges::none_of(all, [&](const Cell& cell) { return fits(made.cells, cell.id); }))
      yaml_.fault(item, fmt::format("no cell fits \"{}\"", made.cells));
    event_.except.push_back(std::move(made));
  });
}

void EventReader::expectation(const Node& node) {
  Expectation made;
  std::string verdict;
  made.line = node.Mark().line + 1;
  constexpr int fewest_tries = 2, most_tries = 20;
  const auto observed = [&](const Node& value) {
    if (value.IsSequence())
      made.observed = texts(value, "observed");
    else
      text(value, "observed", made.observed.emplace_back());
  };
  mapping(
      node, "an expectation",
      {{"cells", [&](const Node& value) { text(value, "cells", made.cells); }},
       {"verdict", [&](const Node& value) { text(value, "verdict", verdict); }},
       {"reason", [&](const Node& value) { text(value, "reason", made.reason); }},
       {"harm", [&](const Node& value) { harm(value, made.reason); }},
       {"observed", observed},
       {"again",
        [&](const Node& value) { count(value, "again", fewest_tries, most_tries, made.again); }},
       {"tries",
        [&](const Node& value) { count(value, "tries", fewest_tries, most_tries, made.tries); }},
       {"intermittent",
        [&](const Node& value) { flag(value, "intermittent", made.intermittent); }}},
      {"cells", "verdict"});
  judge_reason(node, made.observed);
  made.intermittent |= made.tries > 1;
  if (made.again > 1 && made.intermittent)
    yaml_.fault(node, "again is for rare outcomes: it goes with neither tries nor intermittent");
  if (const auto known = base::record::find<Verdict>(verdict))
    made.verdict = *known;
  else if (!verdict.empty())
    yaml_.fault(node, fmt::format("there is no verdict \"{}\"", verdict));
  event_.expectations.push_back(std::move(made));
}

namespace {

/// The digest of everything that says what is played: expectations, and the certificates with which
/// agents are met, may change while results stand.
std::string digest_of(const YAML::Node& top) {
  YAML::Node played = YAML::Clone(top);
  for (const char* key : {"expectations", "tls"}) played.remove(key);
  const std::string text = YAML::Dump(played);
  return base::sha256(std::as_bytes(std::span(text)));
}

}  // namespace

std::expected<Event, Faults> EventReader::read(const std::string& text_of_file) {
  if (text_of_file.size() > longest_event_file) {
    yaml_.fault(fmt::format("an event file has at most {} octets", longest_event_file));
    return std::unexpected(yaml_.faults());
  }
  const auto top = yaml_.parse(text_of_file);
  if (!top) return std::unexpected(yaml_.faults());
  constexpr int most_repeats = 1000;
  Node pairs_node, except_node, join_node;
  mapping(
      *top, "an event",
      {{"event", [&](const Node& value) { word(value, "event", "._-", event_.name); }},
       {"participants",
        [&](const Node& list) {
          if (list.IsSequence() && list.size() > most_participants)
            return yaml_.fault(list, fmt::format("more than {} participants", most_participants));
          items(list, "participants", [this](const Node& item) { participant(item); });
        }},
       {"tls", [&](const Node& value) { tls_files(value); }},
       {"join", [&](const Node& value) { join_node.reset(value); }},
       {"scenarios", [&](const Node& value) { scenarios(value); }},
       {"pairs", [&](const Node& value) { pairs_node.reset(value); }},
       {"except", [&](const Node& value) { except_node.reset(value); }},
       {"repeats",
        [&](const Node& value) { count(value, "repeats", 1, most_repeats, event_.repeats); }},
       {"deadline", [&](const Node& value) { seconds(value, "deadline", event_.deadline); }},
       {"patience", [&](const Node& value) { seconds(value, "patience", event_.step_timeout); }},
       {"capture", [&](const Node& value) { captures(value); }},
       {"expectations",
        [&](const Node& list) {
          items(list, "expectations", [this](const Node& item) { expectation(item); });
        }}},
      {"event", "scenarios"});
  if (!top->IsMap())
    yaml_.fault("an event file is a mapping with event, participants and scenarios");
  if (join_node.IsDefined() && !join_node.IsNull()) join(join_node);
  if (pairs_node.IsDefined() && !pairs_node.IsNull()) pairs(pairs_node);  // they name participants
  constexpr std::size_t fewest = 2;
  if (event_.participants.size() < fewest && !options_.unfinished && yaml_.faults().empty())
    yaml_.fault(*top, "an event has two participants or more");
  // What is left out may bring it below the limit, but not from where they are too many to be listed.
  constexpr std::size_t most_listed = 10 * most_cells;
  if (const std::size_t count = count_of_all(event_); count > most_listed)
    yaml_.fault(*top, too_many_cells(count));
  else if (except_node.IsDefined() && !except_node.IsNull())
    exceptions(except_node);
  need_addresses();
  judge_guests();
  judge_tls();
  if (!yaml_.faults().empty()) return std::unexpected(yaml_.faults());
  event_.digest = digest_of(*top);
  return event_;
}

bool plays_in_lab(const Event& event) {
  return std::ranges::all_of(event.participants, [](const Participant& one) {
    return std::holds_alternative<LocalReference>(one.agent) ||
           std::holds_alternative<SiwGuest>(one.agent);
  });
}

std::expected<Event, Faults> parse_event(const std::string& text, const std::string& name,
                                         const EventFileOptions& options) {
  return EventReader(name, options).read(text);
}

Faults faults_of_participant(const std::string& text, const std::string& name,
                             const Event& beside) {
  const EventFileOptions options;
  return EventReader(name, options).faults_of_one_more(beside, text);
}

std::expected<Event, Faults> load_event(const std::filesystem::path& file,
                                        EventFileOptions options) {
  const auto text = base::read_text(file);
  if (!text) return std::unexpected(text.error());
  options.folder = file.parent_path();
  return parse_event(*text, file.string(), options);
}

}  // namespace plugfest
