// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/token.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <expected>
#include <filesystem>
#include <set>
#include <string>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/address.hpp"
#include "base/line_file.hpp"
#include "base/standard_streams.hpp"
#include "base/strict_yaml.hpp"
#include "plugfest/event_file.hpp"
#include "suite/iut/tls/authority.hpp"
#include "suite/iut/tls/endpoint.hpp"
#include "suite/iut/tls/join_token.hpp"

namespace plugfest {

using suite::jobs::ExitCode;

namespace {

namespace fs = std::filesystem;
namespace tls = suite::iut::tls;

template <class T>
using Or = std::expected<T, std::string>;

constexpr int first_port = 7471, last_port = 65'535;
constexpr const char* organiser = "organiser";  ///< the name of its certificate, if we make it

/// A new file that nobody else may read.
Or<void> write_secret(const fs::path& path, const std::string& text) {
  constexpr mode_t owner_only = 0600;
  const base::FileDescriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, owner_only));
  int fault = file ? base::write_all(file.get(), text) : errno;
  if (fault == 0 && ::fsync(file.get()) != 0) fault = errno;
  if (fault == 0) return {};
  if (file) ::unlink(path.c_str());
  return std::unexpected(fmt::format("{}: {}", path.string(), std::strerror(fault)));
}

Or<std::string> read(const fs::path& path) {
  auto text = base::read_text(path);
  if (!text) return std::unexpected(text.error().front());
  return std::move(*text);
}

// ---------------------------------------------------------------- who signs

struct Organiser {
  tls::Credentials authority;
  std::string name;  ///< that its certificate is for
};

/// Of the authority, beside its certificate.
fs::path authority_key(const TlsFiles& files) {
  return fs::path(files.authority).replace_extension(".key");
}

Or<void> make_organiser(const TlsFiles& files, int days) {
  const auto authority = tls::make_authority("plugfest", days);
  if (!authority) return std::unexpected(authority.error());
  const auto own = tls::sign_for(*authority, organiser, days);
  if (!own) return std::unexpected(own.error());
  const std::pair<fs::path, const std::string&> all[] = {{files.authority, authority->certificate},
                                                         {authority_key(files), authority->key},
                                                         {files.certificate, own->certificate},
                                                         {files.key, own->key}};
  for (const auto& [path, text] : all) {
    std::error_code error;
    if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
    if (auto written = write_secret(path, text); !written) return written;
  }
  base::say(stderr, "made {}, {}, {} and {}: keep the keys here\n", files.authority,
            authority_key(files).string(), files.certificate, files.key);
  return {};
}

Or<Organiser> organiser_of(const TlsFiles& files, int days) {
  std::string there, missing;
  for (const fs::path& file : {fs::path(files.authority), authority_key(files),
                               fs::path(files.certificate), fs::path(files.key)}) {
    std::error_code error;
    std::string& list = fs::exists(file, error) ? there : missing;
    list += (list.empty() ? "" : ", ") + file.string();
  }
  if (!there.empty() && !missing.empty())
    return std::unexpected(
        fmt::format("{}: not there, but {}: put it back, or remove them all to "
                    "begin anew (tokens that were made are void then)",
                    missing, there));
  if (there.empty())
    if (auto made = make_organiser(files, days); !made) return std::unexpected(made.error());
  const auto certificate = read(files.authority), key = read(authority_key(files)),
             own = read(files.certificate);
  for (const auto* one : {&certificate, &key, &own})
    if (!*one) return std::unexpected(one->error());
  const auto name = tls::dns_name_of(*own);
  if (!name) return std::unexpected(fmt::format("{}: {}", files.certificate, name.error()));
  return Organiser{.authority = {.certificate = *certificate, .key = *key}, .name = *name};
}

// ---------------------------------------------------------------- who joins

/// Of whom the token is; new if the event does not have it yet.
struct Joining {
  Participant participant;
  tls::Endpoint listen;
  bool is_new = false;
};

std::set<std::string> taken_ports(const Event& event) {
  std::set<std::string> taken;
  for (const Participant& one : event.participants)
    if (const auto* agent = std::get_if<TlsAgent>(&one.agent))
      if (const auto place = tls::parse_endpoint(agent->listen)) taken.insert(place->port);
  return taken;
}

std::string text_of(const tls::Endpoint& place) {
  const bool ipv6 = place.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", ipv6 ? "[" : "", place.host, ipv6 ? "]" : "", place.port);
}

/// --listen is [ADDRESS][:PORT] of this host.
Or<tls::Endpoint> place_for(const Event& event, const std::string& listen) {
  const auto taken = taken_ports(event);
  int free = first_port;
  while (free < last_port && taken.contains(std::to_string(free))) ++free;
  const bool bare = base::Address::parse(listen).has_value();
  const auto place = bare ? tls::Endpoint{listen, std::to_string(free)}
                          : tls::parse_endpoint(listen).value_or(tls::Endpoint{});
  if (place.host.empty() || !base::Address::parse(place.host))
    return std::unexpected(
        fmt::format("--listen: '{}' is no address of this host, nor ADDRESS:PORT: it is where the "
                    "agent reaches "
                    "this host",
                    listen));
  if (taken.contains(place.port))
    return std::unexpected(
        fmt::format("--listen: port {} is another participant's: leave it out, and a free one is "
                    "taken",
                    place.port));
  return place;
}

/// As a participant of the event; JSON is YAML.
std::string entry_of(const Joining& joining) {
  const Participant& one = joining.participant;
  const auto& agent = std::get<TlsAgent>(one.agent);
  nlohmann::ordered_json entry{{"name", one.name}};
  if (!one.vendor.empty()) entry["vendor"] = one.vendor;
  if (!one.alias.empty()) entry["alias"] = one.alias;
  entry["address"] = one.address;
  entry["agent"] = {{"tls", {{"name", agent.name}, {"listen", agent.listen}}}};
  return entry.dump(2) + "\n";
}

Or<Joining> new_participant(const Event& event, const TokenOptions& options) {
  if (event.join.empty())
    return std::unexpected(fmt::format(
        "the event has no participant {}: add it to the file, or add a line like `join: joined`",
        options.name));
  for (const auto& [option, value] :
       {std::pair{"--listen", &options.listen}, {"--address", &options.address}})
    if (value->empty())
      return std::unexpected(
          fmt::format("{} is missing: {} is new to the event; see --help", option, options.name));
  const auto place = place_for(event, options.listen);
  if (!place) return std::unexpected(place.error());
  Joining made{.participant = {}, .listen = *place, .is_new = true};
  made.participant.name = options.name;
  made.participant.vendor = options.vendor;
  made.participant.alias = options.alias;
  made.participant.agent = TlsAgent{.name = options.name, .listen = text_of(*place)};
  made.participant.address = options.address;
  if (const Faults faults = faults_of_participant(entry_of(made), options.name, event);
      !faults.empty())
    return std::unexpected(faults.front());
  return made;
}

Or<Joining> joining(const Event& event, const TokenOptions& options) {
  const auto found = std::ranges::find(event.participants, options.name, &Participant::name);
  if (found == event.participants.end()) return new_participant(event, options);
  const auto* agent = std::get_if<TlsAgent>(&found->agent);
  if (agent == nullptr)
    return std::unexpected(
        fmt::format("{}'s agent does not connect over TLS: the event file says how it is started",
                    options.name));
  for (const auto& [option, value] : {std::pair{"--listen", &options.listen},
                                      {"--address", &options.address},
                                      {"--vendor", &options.vendor},
                                      {"--alias", &options.alias}})
    if (!value->empty())
      return std::unexpected(
          fmt::format("{}: {} is a participant already: its entry says it", option, options.name));
  auto place = *tls::parse_endpoint(agent->listen);
  if (place.host.empty()) place.host = "127.0.0.1";
  return Joining{.participant = *found, .listen = place};
}

Or<void> add_to_event(const Event& event, const Joining& joining) {
  std::error_code error;
  fs::create_directories(event.join, error);
  const fs::path file = event.join / (joining.participant.name + ".yaml");
  if (const int fault = base::replace_file(file, entry_of(joining)); fault != 0)
    return std::unexpected(fmt::format("{}: {}", file.string(), std::strerror(fault)));
  base::say(stderr, "made {}: {} is a participant now\n", file.string(), joining.participant.name);
  return {};
}

Or<void> make(const Event& event, const TokenOptions& options, const fs::path& file) {
  if (event.tls.key.empty())
    return std::unexpected(
        "the event needs a line like `tls: {certificate: organiser.pem, key: organiser.key, ca: "
        "ca.pem}`; what is not there is made");
  const auto who = joining(event, options);
  if (!who) return std::unexpected(who.error());
  const auto& agent = std::get<TlsAgent>(who->participant.agent);
  const auto signer = organiser_of(event.tls, options.days);
  if (!signer) return std::unexpected(signer.error());
  const auto own = tls::sign_for(signer->authority, agent.name, options.days);
  if (!own) return std::unexpected(own.error());
  const tls::JoinToken token{.event = event.name,
                             .participant = who->participant.name,
                             .connect = text_of(who->listen),
                             .peer = signer->name,
                             .address = who->participant.address};
  const auto written = write_secret(
      file, head_of(token) + own->certificate + own->key + signer->authority.certificate);
  if (!written) return written;
  // Last: whoever plays the event meanwhile awaits its agent from now on.
  return who->is_new ? add_to_event(event, *who) : Or<void>{};
}

}  // namespace

ExitCode make_token(const Event& event, const TokenOptions& options) {
  const fs::path file = options.to.empty() ? options.name + ".token" : options.to;
  if (const auto made = make(event, options, file); !made) {
    base::say(stderr, "rnic-plugfest: {}\n", made.error());
    return ExitCode::usage;
  }
  base::say(stdout,
            "{}: bring it to {} so that nobody else reads it, and start there:\n"
            "  rnic-agent --driver verbs --device DEVICE --join {}\n",
            file.string(), options.name, file.filename().string());
  return ExitCode::good;
}

}  // namespace plugfest
