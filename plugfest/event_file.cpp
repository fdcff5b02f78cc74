// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/event_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/glob.hpp"
#include "base/sha256.hpp"
#include "base/strict_yaml.hpp"
#include "plugfest/cell.hpp"
#include "plugfest/verdict.hpp"
#include "suite/iut/pics/pics.hpp"

namespace plugfest {

namespace {

using base::StrictYaml;

constexpr std::size_t longest_file = std::size_t{1} << 20;
constexpr std::size_t most_participants = 1000, most_guests = 16, longest_list = 10'000,
                      longest_text = 4096;
constexpr std::string_view letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Only letters, digits and these characters; neither empty nor too long, and not an option of a
/// program.
bool plain(std::string_view text, std::string_view besides, std::size_t longest) {
  const std::string allowed = std::string(letters) + std::string(besides);
  return !text.empty() && text.size() <= longest && text.front() != '-' &&
         text.find_first_not_of(allowed) == std::string_view::npos;
}

std::string folded(const std::string& text) {
  std::string lower = text;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

/// Of what the results of a participant depend on. Its vendor may be renamed while they stand.
std::string digest_of(const YAML::Node& node, const Participant& one) {
  YAML::Node played = YAML::Clone(node);
  if (played.IsMap())
    for (const char* key : {"vendor", "alias", "parallel", "node", "pics"}) played.remove(key);
  std::string text = YAML::Dump(played);
  for (const auto& [capability, usable] : one.claims)
    text += fmt::format("\n{} {}", capability, usable);
  return base::sha256(std::as_bytes(std::span(text)));
}

class Reader {
 public:
  Reader(const std::string& name, const EventFileOptions& options)
      : yaml_(name), options_(options) {}

  std::expected<Event, Faults> read(const std::string& text);

 private:
  using Node = YAML::Node;
  using Take = std::function<void(const Node&)>;
  using Keys = std::map<std::string_view, Take>;

  void mapping(const Node& node, std::string_view what, const Keys& keys,
               std::initializer_list<std::string_view> required = {});
  void items(const Node& node, std::string_view what, const Take& take);
  void text(const Node& node, std::string_view key, std::string& into);
  void word(const Node& node, std::string_view key, std::string_view besides, std::string& into);
  void count(const Node& node, std::string_view key, int low, int high, int& into);
  void seconds(const Node& node, std::string_view key, std::chrono::seconds& into);
  void flag(const Node& node, std::string_view key, bool& into);
  std::vector<std::string> texts(const Node& node, std::string_view what);

  void participant(const Node& node);
  void judge_names(const Node& node, const Participant& one, const Participant& other);
  void join(const Node& node);
  void join_as(const std::filesystem::path& file);
  void agent(const Node& node, Participant& into);
  void reference(const Node& node, Participant& into);
  void ssh(const Node& node, Participant& into);
  void argv(const Node& node, Participant& into);
  void guest(const Node& node, Participant& into);
  void pics(const Node& node, Participant& into);
  void scenarios(const Node& node);
  void pairs(const Node& node);
  void pair(const Node& node);
  std::optional<std::size_t> participant_named(const Node& node);
  void exceptions(const Node& node);
  void expectation(const Node& node);
  void need_addresses();
  void judge_guests();

  StrictYaml yaml_;
  const EventFileOptions& options_;
  Event event_;
  std::vector<YAML::Node> places_;  ///< of the participants
};

// ---------------------------------------------------------------- shapes

void Reader::mapping(const Node& node, std::string_view what, const Keys& keys,
                     std::initializer_list<std::string_view> required) {
  std::set<std::string, std::less<>> seen;
  yaml_.each(node, what, [&](const std::string& key, const Node& value) {
    seen.insert(key);
    const auto known = keys.find(key);
    if (known != keys.end()) return known->second(value);
    std::vector<std::string_view> words;
    for (const auto& [word, take] : keys) words.push_back(word);
    yaml_.fault(value, fmt::format("{} has no key \"{}\"; it may have {}", what,
                                   key.substr(0, longest_text), fmt::join(words, ", ")));
  });
  if (!node.IsMap() && !node.IsNull()) return;
  for (const std::string_view key : required)
    if (!seen.contains(key)) yaml_.fault(node, fmt::format("{} needs \"{}\"", what, key));
}

void Reader::items(const Node& node, std::string_view what, const Take& take) {
  if (!node.IsSequence() || node.size() == 0)
    return yaml_.fault(node, fmt::format("{} must be a list that is not empty", what));
  if (node.size() > longest_list)
    return yaml_.fault(node, fmt::format("{}: more than {} entries", what, longest_list));
  for (const auto& item : node) take(item);
}

void Reader::text(const Node& node, std::string_view key, std::string& into) {
  const auto value = yaml_.text(node, key);
  if (!value) return;
  const auto control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; };
  if (value->size() > longest_text || std::ranges::any_of(*value, control))
    return yaml_.fault(node,
                       fmt::format("{} must be one line of at most {} octets", key, longest_text));
  into = *value;
}

void Reader::word(const Node& node, std::string_view key, std::string_view besides,
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

void Reader::count(const Node& node, std::string_view key, int low, int high, int& into) {
  if (const auto value = yaml_.integer(node, key, low, high)) into = static_cast<int>(*value);
}

void Reader::seconds(const Node& node, std::string_view key, std::chrono::seconds& into) {
  constexpr int longest = 86'400;
  if (const auto value = yaml_.integer(node, key, 1, longest)) into = std::chrono::seconds(*value);
}

void Reader::flag(const Node& node, std::string_view key, bool& into) {
  const auto value = yaml_.text(node, key);
  if (!value) return;
  if (*value != "true" && *value != "false")
    return yaml_.fault(node, fmt::format("{} must be true or false", key));
  into = *value == "true";
}

std::vector<std::string> Reader::texts(const Node& node, std::string_view what) {
  std::vector<std::string> all;
  items(node, what, [&](const Node& item) {
    all.emplace_back();
    text(item, what, all.back());
  });
  return all;
}

// ---------------------------------------------------------------- participants

void Reader::participant(const Node& node) {
  Participant made;
  constexpr int most_parallel = 1000;
  mapping(node, "a participant",
          {{"name", [&](const Node& value) { word(value, "name", "._-", made.name); }},
           {"vendor", [&](const Node& value) { text(value, "vendor", made.vendor); }},
           {"alias", [&](const Node& value) { text(value, "alias", made.alias); }},
           {"agent", [&](const Node& value) { agent(value, made); }},
           {"driver", [&](const Node& value) { word(value, "driver", "._-", made.driver); }},
           {"device", [&](const Node& value) { word(value, "device", "._-", made.device); }},
           {"address", [&](const Node& value) { word(value, "address", ".:%", made.address); }},
           {"pics", [&](const Node& value) { pics(value, made); }},
           {"node", [&](const Node& value) { word(value, "node", "._-", made.node); }},
           {"parallel",
            [&](const Node& value) { count(value, "parallel", 1, most_parallel, made.parallel); }}},
          {"name", "agent"});
  for (const Participant& other : event_.participants) judge_names(node, made, other);
  made.digest = digest_of(node, made);
  event_.participants.push_back(std::move(made));
  places_.push_back(node);
}

/// A matrix, a file system and a bundle have to tell them apart.
void Reader::judge_names(const Node& node, const Participant& one, const Participant& other) {
  if (one.name.empty() || other.name.empty()) return;  // that fault is listed already
  if (one.name == other.name)
    return yaml_.fault(node, fmt::format("there is another participant \"{}\"", one.name));
  if (folded(one.name) == folded(other.name))
    return yaml_.fault(node,
                       fmt::format("\"{}\" and \"{}\" differ only in case", one.name, other.name));
  for (const auto& [alias, held] : {std::pair{&one.alias, &other}, {&other.alias, &one}})
    if (!alias->empty() &&
        (folded(*alias) == folded(held->alias) || folded(*alias) == folded(held->name)))
      yaml_.fault(node, fmt::format("the alias \"{}\" stands for \"{}\" and for \"{}\": give each "
                                    "its own",
                                    *alias, one.name, other.name));
}

/// Each file of the folder is one participant, so that a vendor can join without editing the event.
void Reader::join(const Node& node) {
  std::string folder;
  text(node, "join", folder);
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(options_.folder / folder, error))
    if (file.path().extension() == ".yaml") files.push_back(file.path());
  if (error)
    return yaml_.fault(
        node, fmt::format("join: {}: {}", (options_.folder / folder).string(), error.message()));
  std::ranges::sort(files);
  for (const auto& file : files) {
    EventFileOptions options = options_;
    options.folder = file.parent_path();
    Reader joining(file.string(), options);
    joining.event_.participants = std::move(event_.participants);
    joining.join_as(file);
    event_.participants = std::move(joining.event_.participants);
    // Later faults of theirs are shown where they were let in.
    places_.resize(event_.participants.size(), node);
    for (const std::string& fault : joining.yaml_.faults()) yaml_.fault(node, fault);
  }
}

void Reader::join_as(const std::filesystem::path& file) {
  const auto content = base::read_text(file);
  if (!content) return yaml_.fault(content.error().front());
  if (content->size() > longest_file) return yaml_.fault("this is too long for a participant");
  if (const auto top = yaml_.parse(*content)) participant(*top);
}

void Reader::agent(const Node& node, Participant& into) {
  int kinds = 0;
  const auto one = [&](void (Reader::*take)(const Node&, Participant&)) {
    return [this, &into, &kinds, take](const Node& value) {
      ++kinds;
      (this->*take)(value, into);
    };
  };
  mapping(node, "agent",
          {{"reference", one(&Reader::reference)},
           {"ssh", one(&Reader::ssh)},
           {"argv", one(&Reader::argv)},
           {"siw-vm", one(&Reader::guest)}});
  if (kinds != 1) yaml_.fault(node, "agent must have exactly one of reference, ssh, argv, siw-vm");
}

void Reader::reference(const Node& node, Participant& into) {
  LocalReference made;
  mapping(node, "reference", {{"deviations", [&](const Node& list) {
                                 items(list, "deviations", [&](const Node& item) {
                                   word(item, "a deviation", "_", made.deviations.emplace_back());
                                 });
                               }}});
  into.agent = std::move(made);
}

void Reader::ssh(const Node& node, Participant& into) {
  SshAgent made;
  // ssh passes the words to a shell on the other host.
  mapping(node, "ssh",
          {{"host", [&](const Node& value) { word(value, "host", "._-@:", made.host); }},
           {"program", [&](const Node& value) { word(value, "program", "._-/", made.program); }}},
          {"host"});
  into.agent = std::move(made);
}

void Reader::argv(const Node& node, Participant& into) {
  ArgvAgent made{texts(node, "argv")};
  if (!options_.trust)
    yaml_.fault(
        node,
        "argv runs a program of the file's choice; give --trust-event if you trust its author");
  if (!made.argv.empty() && made.argv.front().empty())
    yaml_.fault(node, "argv begins with the program, which is empty");
  into.agent = std::move(made);
}

void Reader::guest(const Node& node, Participant& into) {
  SiwGuest made;
  mapping(node, "siw-vm",
          {{"kernel", [&](const Node& value) { word(value, "kernel", ".", made.kernel); }},
           {"checks", [&](const Node& value) { flag(value, "checks", made.checks); }}},
          {"kernel"});
  into.agent = std::move(made);
}

void Reader::pics(const Node& node, Participant& into) {
  std::string file;
  text(node, "pics", file);
  if (file.empty()) return;
  const auto loaded = suite::iut::load_pics(options_.folder / file);
  if (loaded) {
    into.claims = loaded->usable();
    return;
  }
  for (const std::string& fault : loaded.error()) yaml_.fault(node, "pics: " + fault);
}

/// Outside a lab a participant has the address that it states.
void Reader::need_addresses() {
  if (plays_in_lab(event_)) return;
  for (std::size_t at = 0; at < places_.size(); ++at) {
    if (std::holds_alternative<SiwGuest>(event_.participants[at].agent))
      yaml_.fault(places_[at],
                  "a guest is on a network of this machine: it plays with references and "
                  "guests only");
    else if (event_.participants[at].address.empty())
      yaml_.fault(
          places_[at],
          "a participant needs \"address\" where not all are references or guests of this machine");
  }
}

void Reader::judge_guests() {
  std::size_t guests = 0;
  for (std::size_t at = 0; at < places_.size(); ++at) {
    const Participant& one = event_.participants[at];
    if (!std::holds_alternative<SiwGuest>(one.agent)) continue;
    if (++guests == most_guests + 1)
      yaml_.fault(places_[at], fmt::format("more than {} guests", most_guests));
    if (one.parallel != 1)
      yaml_.fault(places_[at],
                  "a guest is in one cell at a time: its configuration applies to the whole guest");
    if (one.driver != "verbs" && one.driver != "dat")
      yaml_.fault(places_[at], "the driver of a guest is verbs or dat");
  }
}

// ---------------------------------------------------------------- the rest

void Reader::scenarios(const Node& node) {
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
          item, fmt::format("there is no scenario \"{}\"; `rnic-plugfest list` names them", glob));
  });
  for (const std::string_view name : options_.scenarios)
    if (chosen.contains(name)) event_.scenarios.emplace_back(name);
}

std::optional<std::size_t> Reader::participant_named(const Node& node) {
  const auto name = yaml_.text(node, "a pair's participant");
  if (!name) return std::nullopt;
  const auto found = std::ranges::find(event_.participants, *name, &Participant::name);
  if (found != event_.participants.end())
    return static_cast<std::size_t>(found - event_.participants.begin());
  yaml_.fault(node, fmt::format("there is no participant \"{}\"", name->substr(0, longest_text)));
  return std::nullopt;
}

void Reader::pair(const Node& node) {
  if (!node.IsSequence() || node.size() != 2)
    return yaml_.fault(node, "a pair is a list of two participants");
  const auto one = participant_named(node[0]), other = participant_named(node[1]);
  if (!one || !other) return;
  if (*one == *other) return yaml_.fault(node, "a participant does not play against itself");
  event_.pairs.emplace_back(*one, *other);
}

void Reader::pairs(const Node& node) {
  if (!node.IsScalar()) {
    event_.pairing = Pairing::listed;
    return items(node, "pairs", [this](const Node& item) { pair(item); });
  }
  if (node.Scalar() == "all") return;
  if (node.Scalar() != "ring") yaml_.fault(node, "pairs must be all, ring, or a list of pairs");
  event_.pairing = Pairing::ring;
}

/// An exception that fits no cell is probably a mistake.
void Reader::exceptions(const Node& node) {
  const std::vector<Cell> all = cells_of(event_, [](std::string_view) { return 1.0; });
  items(node, "except", [&](const Node& item) {
    Exception made{.cells = "", .reason = "the event leaves it out"};
    if (item.IsMap())
      mapping(item, "an exception",
              {{"cells", [&](const Node& value) { text(value, "cells", made.cells); }},
               {"reason", [&](const Node& value) { text(value, "reason", made.reason); }}},
              {"cells", "reason"});
    else
      text(item, "a glob of cells", made.cells);
    if (std::ranges::none_of(all, [&](const Cell& cell) { return fits(made.cells, cell.id); }))
      yaml_.fault(item, fmt::format("no cell fits \"{}\"", made.cells));
    event_.except.push_back(std::move(made));
  });
}

void Reader::expectation(const Node& node) {
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
       {"observed", observed},
       {"again",
        [&](const Node& value) { count(value, "again", fewest_tries, most_tries, made.again); }},
       {"tries",
        [&](const Node& value) { count(value, "tries", fewest_tries, most_tries, made.tries); }},
       {"intermittent",
        [&](const Node& value) { flag(value, "intermittent", made.intermittent); }}},
      {"cells", "verdict", "reason"});
  made.intermittent |= made.tries > 1;
  if (made.again > 1 && made.intermittent)
    yaml_.fault(node, "again is for rare outcomes: it goes with neither tries nor intermittent");
  if (const auto known = base::record::find<Verdict>(verdict))
    made.verdict = *known;
  else if (!verdict.empty())
    yaml_.fault(node, fmt::format("there is no verdict \"{}\"", verdict));
  event_.expectations.push_back(std::move(made));
}

/// The digest of everything that says what is played: expectations may change while results stand.
std::string digest_of(const YAML::Node& top) {
  YAML::Node played = YAML::Clone(top);
  played.remove("expectations");
  const std::string text = YAML::Dump(played);
  return base::sha256(std::as_bytes(std::span(text)));
}

std::expected<Event, Faults> Reader::read(const std::string& text_of_file) {
  if (text_of_file.size() > longest_file) {
    yaml_.fault(fmt::format("an event file has at most {} octets", longest_file));
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
       {"join", [&](const Node& value) { join_node.reset(value); }},
       {"scenarios", [&](const Node& value) { scenarios(value); }},
       {"pairs", [&](const Node& value) { pairs_node.reset(value); }},
       {"except", [&](const Node& value) { except_node.reset(value); }},
       {"repeats",
        [&](const Node& value) { count(value, "repeats", 1, most_repeats, event_.repeats); }},
       {"deadline", [&](const Node& value) { seconds(value, "deadline", event_.deadline); }},
       {"patience", [&](const Node& value) { seconds(value, "patience", event_.step_timeout); }},
       {"capture",
        [&](const Node& value) { word(value, "capture", "._-@", event_.capture_interface); }},
       {"expectations",
        [&](const Node& list) {
          items(list, "expectations", [this](const Node& item) { expectation(item); });
        }}},
      {"event", "participants", "scenarios"});
  if (!top->IsMap())
    yaml_.fault("an event file is a mapping with event, participants and scenarios");
  if (join_node.IsDefined() && !join_node.IsNull()) join(join_node);
  if (pairs_node.IsDefined() && !pairs_node.IsNull()) pairs(pairs_node);  // they name participants
  if (event_.participants.size() == 1)
    yaml_.fault(places_.front(), "an event has two participants or more");
  if (except_node.IsDefined() && !except_node.IsNull()) exceptions(except_node);  // of all these
  need_addresses();
  judge_guests();
  if (!yaml_.faults().empty()) return std::unexpected(yaml_.faults());
  event_.digest = digest_of(*top);
  return event_;
}

}  // namespace

bool plays_in_lab(const Event& event) {
  return std::ranges::all_of(event.participants, [](const Participant& one) {
    return std::holds_alternative<LocalReference>(one.agent) ||
           std::holds_alternative<SiwGuest>(one.agent);
  });
}

std::expected<Event, Faults> parse_event(const std::string& text, const std::string& name,
                                         const EventFileOptions& options) {
  return Reader(name, options).read(text);
}

std::expected<Event, Faults> load_event(const std::filesystem::path& file,
                                        EventFileOptions options) {
  const auto text = base::read_text(file);
  if (!text) return std::unexpected(text.error());
  options.folder = file.parent_path();
  return parse_event(*text, file.string(), options);
}

}  // namespace plugfest
