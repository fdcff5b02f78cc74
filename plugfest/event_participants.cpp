// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The participants of an event file.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "base/sha256.hpp"
#include "plugfest/event_reader.hpp"
#include "suite/iut/pics/pics.hpp"
#include "suite/iut/tls/endpoint.hpp"

namespace plugfest {

namespace {

constexpr std::size_t most_guests = 16;

std::string folded(const std::string& text) {
  std::string lower = text;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

/// Like `peer-2`, in any case.
bool is_numbered_peer(const std::string& text) {
  constexpr std::string_view start = "peer-";
  return text.size() > start.size() && folded(text).starts_with(start) &&
         text.find_first_not_of("0123456789", start.size()) == std::string::npos;
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

/// What is wrong with the driver of a reference; empty if nothing is.
std::string driver_fault(const Participant& one) {
  const auto* local = std::get_if<LocalReference>(&one.agent);
  if (local == nullptr || one.driver == "verbs") return {};
  if (one.driver != "dat" && one.driver != "dat_sockets")
    return "the driver of a reference is dat or dat_sockets; without one, it is driven directly";
  if (!local->deviations.empty()) return "a reference with a driver has no deviations";
  return {};
}

}  // namespace

void EventReader::participant(const Node& node) {
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
  for (const std::string& name : {made.name, made.alias})
    if (is_numbered_peer(name))
      yaml_.fault(node,
                  fmt::format("\"{}\": peer-1, peer-2, ... are what others see of participants "
                              "without an alias; give another name",
                              name));
  for (const Participant& other : event_.participants) judge_names(node, made, other);
  if (const std::string fault = driver_fault(made); !fault.empty()) yaml_.fault(node, fault);
  made.digest = digest_of(node, made);
  event_.participants.push_back(std::move(made));
  places_.push_back(node);
}

/// A matrix, a file system and a bundle have to tell them apart.
void EventReader::judge_names(const Node& node, const Participant& one, const Participant& other) {
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
void EventReader::join(const Node& node) {
  std::string folder;
  text(node, "join", folder);
  event_.join = options_.folder / folder;
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(event_.join, error))
    if (file.path().extension() == ".yaml") files.push_back(file.path());
  if (error && options_.unfinished && error == std::errc::no_such_file_or_directory) return;
  if (error)
    return yaml_.fault(node, fmt::format("join: {}: {}", event_.join.string(), error.message()));
  std::ranges::sort(files);
  for (const auto& file : files) {
    EventFileOptions options = options_;
    options.folder = file.parent_path();
    EventReader joining(file.string(), options);
    joining.event_.participants = std::move(event_.participants);
    joining.join_as(file);
    event_.participants = std::move(joining.event_.participants);
    // Later faults of theirs are shown where they were let in.
    places_.resize(event_.participants.size(), node);
    for (const std::string& fault : joining.yaml_.faults()) yaml_.fault(node, fault);
  }
}

void EventReader::join_as(const std::filesystem::path& file) {
  const auto content = base::read_text(file);
  content ? one_more(*content) : yaml_.fault(content.error().front());
}

void EventReader::one_more(const std::string& text_of_one) {
  if (text_of_one.size() > longest_event_file)
    return yaml_.fault("this is too long for a participant");
  if (const auto top = yaml_.parse(text_of_one)) participant(*top);
}

Faults EventReader::faults_of_one_more(const Event& event, const std::string& text_of_one) {
  event_.participants = event.participants;
  one_more(text_of_one);
  return yaml_.faults();
}

void EventReader::agent(const Node& node, Participant& into) {
  int kinds = 0;
  const auto one = [&](void (EventReader::*take)(const Node&, Participant&)) {
    return [this, &into, &kinds, take](const Node& value) {
      ++kinds;
      (this->*take)(value, into);
    };
  };
  mapping(node, "agent",
          {{"reference", one(&EventReader::reference)},
           {"ssh", one(&EventReader::ssh)},
           {"tls", one(&EventReader::tls)},
           {"argv", one(&EventReader::argv)},
           {"siw-vm", one(&EventReader::guest)}});
  if (kinds != 1)
    yaml_.fault(node, "agent must have exactly one of reference, ssh, tls, argv, siw-vm");
}

void EventReader::reference(const Node& node, Participant& into) {
  LocalReference made;
  mapping(node, "reference", {{"deviations", [&](const Node& list) {
                                 items(list, "deviations", [&](const Node& item) {
                                   word(item, "a deviation", "_", made.deviations.emplace_back());
                                 });
                               }}});
  into.agent = std::move(made);
}

void EventReader::ssh(const Node& node, Participant& into) {
  SshAgent made;
  // ssh passes the words to a shell on the other host.
  mapping(node, "ssh",
          {{"host", [&](const Node& value) { word(value, "host", "._-@:", made.host); }},
           {"program", [&](const Node& value) { word(value, "program", "._-/", made.program); }}},
          {"host"});
  into.agent = std::move(made);
}

void EventReader::tls(const Node& node, Participant& into) {
  TlsAgent made;
  mapping(node, "tls",
          {{"name", [&](const Node& value) { text(value, "name", made.name); }},
           {"listen", [&](const Node& value) { text(value, "listen", made.listen); }}},
          {"name", "listen"});
  if (!made.name.empty() && !suite::iut::tls::is_dns_name(made.name))
    yaml_.fault(node,
                fmt::format("\"{}\" cannot be the name of a certificate: letters, digits, '-' "
                            "and '.'",
                            made.name));
  if (!made.listen.empty() && !suite::iut::tls::parse_endpoint(made.listen))
    yaml_.fault(node, fmt::format("listen: \"{}\" is not [ADDRESS:]PORT", made.listen));
  into.agent = std::move(made);
}

void EventReader::argv(const Node& node, Participant& into) {
  ArgvAgent made{texts(node, "argv")};
  if (!options_.trust)
    yaml_.fault(
        node,
        "argv runs a program of the file's choice; give --trust-event if you trust its author");
  if (!made.argv.empty() && made.argv.front().empty())
    yaml_.fault(node, "argv begins with the program, which is empty");
  into.agent = std::move(made);
}

void EventReader::guest(const Node& node, Participant& into) {
  SiwGuest made;
  mapping(node, "siw-vm",
          {{"kernel", [&](const Node& value) { word(value, "kernel", ".", made.kernel); }},
           {"checks", [&](const Node& value) { flag(value, "checks", made.checks); }}},
          {"kernel"});
  into.agent = std::move(made);
}

void EventReader::pics(const Node& node, Participant& into) {
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

/// Relative to the event file.
void EventReader::tls_files(const Node& node) {
  const auto file = [this](std::string& into, const char* key) {
    return [this, &into, key](const Node& value) {
      text(value, key, into);
      if (!into.empty()) into = (options_.folder / into).string();
    };
  };
  TlsFiles& files = event_.tls;
  mapping(node, "tls",
          {{"certificate", file(files.certificate, "certificate")},
           {"key", file(files.key, "key")},
           {"ca", file(files.authority, "ca")}},
          {"certificate", "key", "ca"});
}

/// Each has a place of its own to connect to, which tells them apart.
void EventReader::judge_tls() {
  std::map<std::string, std::string> taken;
  for (std::size_t at = 0; at < places_.size(); ++at) {
    const Participant& one = event_.participants[at];
    const auto* agent = std::get_if<TlsAgent>(&one.agent);
    if (agent == nullptr) continue;
    if (event_.tls.key.empty())
      yaml_.fault(places_[at],
                  "the event needs \"tls\", with certificate, key and ca of this host");
    if (const auto [other, fresh] = taken.emplace(agent->listen, one.name); !fresh)
      yaml_.fault(places_[at], fmt::format("\"{}\" listens at {} too: give each its own port",
                                           other->second, agent->listen));
  }
}

/// Outside a lab a participant has the address that it states.
void EventReader::need_addresses() {
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

void EventReader::judge_guests() {
  std::size_t guests = 0;
  for (std::size_t at = 0; at < places_.size(); ++at) {
    const Participant& one = event_.participants[at];
    if (!std::holds_alternative<SiwGuest>(one.agent)) continue;
    if (++guests == most_guests + 1)
      yaml_.fault(places_[at], fmt::format("more than {} guests", most_guests));
    if (one.parallel != 1)
      yaml_.fault(places_[at],
                  "a guest is in one cell at a time: its configuration applies to the whole guest");
    constexpr std::array<std::string_view, 4> drivers{"verbs", "kverbs", "dat", "kdat"};
    if (std::ranges::find(drivers, one.driver) == drivers.end())
      yaml_.fault(places_[at], "the driver of a guest is verbs, kverbs, dat or kdat");
  }
}

}  // namespace plugfest
