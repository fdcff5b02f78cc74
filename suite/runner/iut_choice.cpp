// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/iut_choice.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/did_you_mean.hpp"
#include "suite/iut/agent_client.hpp"

namespace suite::runner {

namespace {

bool is_plain_name(std::string_view text) {
  return !text.empty() && text.front() != '-' && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("._:@-[]").contains(static_cast<char>(c));
  });
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::expected<OtherHost, std::string> parse_host(const std::string& host) {
  if (host.starts_with("ssh:")) {
    const std::string target = host.substr(4);
    if (!is_plain_name(target))
      return std::unexpected(fmt::format("--host: '{}' is no ssh target", target));
    return OtherHost{.ssh = target, .prefix = {}};
  }
  if (host.starts_with("argv:")) {
    auto prefix = words(host.substr(5));
    if (!prefix.empty()) return OtherHost{.ssh = {}, .prefix = std::move(prefix)};
  }
  if (host.starts_with("tls:")) {
    auto awaited = iut::tls::parse_awaited_agent(std::string_view(host).substr(4));
    if (awaited) return OtherHost{.ssh = {}, .prefix = {}, .tls = std::move(*awaited)};
  }
  return std::unexpected(fmt::format(
      "--host: '{}' is none of ssh:[USER@]HOST, tls:NAME@[ADDRESS:]PORT, argv:WORDS", host));
}

/// Its agent connects to us, with the driver that its own command line names.
std::expected<IutChoice, std::string> parse_awaited(IutChoice choice, const std::string& iut,
                                                    const std::string& host) {
  auto other = parse_host(host);
  if (!other) return std::unexpected(other.error());
  if (choice.kind == IutChoice::Kind::dat)
    return std::unexpected(fmt::format(
        "--iut {}: the cases of the DAT API start programs on the IUT's host, which --host tls: "
        "does not; give --host ssh:, or --iut agent for the cases on the wire",
        iut));
  choice.agent.clear();
  choice.host = std::move(*other);
  return choice;
}

std::expected<IutChoice, std::string> parse_device(IutChoice::Kind kind, const std::string& iut,
                                                   const std::string& host) {
  IutChoice choice;
  choice.kind = kind;
  choice.device = iut.substr(iut.find(':') + 1);
  if (!is_plain_name(choice.device))
    return std::unexpected(fmt::format("--iut {}: '{}' is no device name", iut, choice.device));
  if (host.starts_with("tls:")) return parse_awaited(std::move(choice), iut, host);
  if (!host.empty()) {
    auto other = parse_host(host);
    if (!other) return std::unexpected(other.error());
    choice.agent = other->ssh.empty() ? other->prefix : iut::through_ssh(other->ssh);
    choice.host = std::move(*other);
  }
  const auto add = [](std::vector<std::string>& argv, const std::vector<std::string>& words) {
    argv.insert(argv.end(), words.begin(), words.end());
  };
  if (choice.is_dat()) {
    choice.dat_cases = choice.agent;
    add(choice.dat_cases, {"rnic-dat-cases"});
  }
  const bool by_ia = kind == IutChoice::Kind::dat;
  const char* driver = kind == IutChoice::Kind::verbs    ? "verbs"
                       : kind == IutChoice::Kind::kverbs ? "kverbs"
                       : by_ia                           ? "dat"
                                                         : "kdat";
  add(choice.agent, {"rnic-agent", "--driver", driver, by_ia ? "--ia" : "--device", choice.device});
  return choice;
}

// Our own verbs library under the agent's driver for verbs.
IutChoice verbs_of_the_reference() {
  IutChoice choice;
  choice.kind = IutChoice::Kind::verbs;
  choice.device = "rnic0";
  choice.local_reference = true;
  return choice;
}

// A provider whose IA and dat.conf the lab makes: our own, or the one in the guest.
IutChoice provider_of_the_lab(std::string_view iut) {
  IutChoice choice;
  choice.kind = IutChoice::Kind::dat;
  choice.over_roce = iut == "dat:rxe-vm";
  choice.lab_guest = choice.over_roce || iut == "dat:siw-vm";
  choice.local_reference = !choice.lab_guest;
  choice.device = choice.local_reference ? "rnic0" : choice.over_roce ? "ofa-v2-rxe" : "ofa-v2-siw";
  return choice;
}

}  // namespace

std::string IutChoice::name() const {
  switch (kind) {
    case Kind::reference:
      return "reference";
    case Kind::agent:
      return local_reference ? "reference" : "agent";
    case Kind::siw_vm:
      return "siw-vm";
    case Kind::verbs:
      return local_reference ? "verbs-reference" : "verbs";
    case Kind::kverbs:
      return over_roce ? "kverbs-rxe-vm" : lab_guest ? "kverbs-siw-vm" : "kverbs";
    case Kind::kdat:
      return over_roce ? "kdat-rxe-vm" : lab_guest ? "kdat-siw-vm" : "kdat";
    case Kind::dat:
      if (over_roce) return "dat-rxe-vm";
      return lab_guest ? "dat-siw-vm" : local_reference ? "dat-reference" : "dat";
  }
  return "?";
}

std::expected<IutChoice, std::string> parse_iut(const std::string& iut, const std::string& host) {
  IutChoice choice;
  const bool own_verbs = iut == "verbs:reference";
  if (iut.starts_with("verbs:") && !own_verbs)
    return parse_device(IutChoice::Kind::verbs, iut, host);
  if (iut.starts_with("kverbs:") && iut != "kverbs:siw-vm" && iut != "kverbs:rxe-vm")
    return parse_device(IutChoice::Kind::kverbs, iut, host);
  if (iut.starts_with("kdat:") && iut != "kdat:siw-vm" && iut != "kdat:rxe-vm")
    return parse_device(IutChoice::Kind::kdat, iut, host);
  const bool dat_of_the_lab = iut == "dat:reference" || iut == "dat:siw-vm" || iut == "dat:rxe-vm";
  choice.over_roce = iut.ends_with(":rxe-vm");
  if (iut.starts_with("dat:") && !dat_of_the_lab)
    return parse_device(IutChoice::Kind::dat, iut, host);
  if (iut == "agent") {
    choice.kind = IutChoice::Kind::agent;
    return host.starts_with("tls:") ? parse_awaited(std::move(choice), iut, host)
                                    : std::expected<IutChoice, std::string>(choice);
  }
  if (!host.empty())
    return std::unexpected(fmt::format(
        "--host goes with --iut verbs:DEVICE, kverbs:DEVICE, dat:IA or kdat:DEVICE, not with '{}'",
        iut));
  if (own_verbs) return verbs_of_the_reference();
  if (dat_of_the_lab) return provider_of_the_lab(iut);
  if (iut == "reference") return choice;
  if (iut == "kverbs:siw-vm" || iut == "kverbs:rxe-vm" || iut == "kdat:siw-vm" ||
      iut == "kdat:rxe-vm") {
    choice.kind = iut.starts_with("kdat") ? IutChoice::Kind::kdat : IutChoice::Kind::kverbs;
    choice.lab_guest = true;
    choice.device = choice.over_roce ? "rxe0" : "siw0";
    return choice;
  }
  if (iut == "siw-vm") {
    choice.kind = IutChoice::Kind::siw_vm;
    return choice;
  }
  if (iut.starts_with("agent:")) {
    choice.kind = IutChoice::Kind::agent;
    choice.local_reference = iut == "agent:reference";
    choice.agent = words(iut.substr(6));
    if (!choice.agent.empty()) return choice;
  }
  return std::unexpected(fmt::format(
      "--iut: '{}' is none of reference, agent:reference, siw-vm, verbs:DEVICE, "
      "verbs:reference, kverbs:siw-vm, kverbs:rxe-vm, kverbs:DEVICE, dat:IA, dat:reference, "
      "dat:siw-vm, dat:rxe-vm, kdat:DEVICE, kdat:siw-vm, kdat:rxe-vm, agent:ARGV, agent{}",
      iut, like_a_known_iut(iut)));
}

std::string like_a_known_iut(std::string_view iut) {
  constexpr std::array<std::string_view, 12> whole{
      "reference",   "agent:reference", "siw-vm",          "kverbs:siw-vm",
      "agent",       "dat:reference",   "verbs:reference", "dat:siw-vm",
      "kdat:siw-vm", "dat:rxe-vm",      "kdat:rxe-vm",     "kverbs:rxe-vm"};
  if (std::string meant = base::did_you_mean(iut, whole); !meant.empty()) return meant;
  // A device, whose name may be anything.
  const std::size_t colon = iut.find(':');
  constexpr std::array<std::string_view, 5> kinds{"verbs", "kverbs", "dat", "kdat", "agent"};
  if (colon == std::string_view::npos) return "";
  const std::string_view kind = iut.substr(0, colon);
  if (std::ranges::find(kinds, kind) != kinds.end()) return "";
  std::string meant = base::did_you_mean(kind, kinds);
  if (!meant.empty()) meant.insert(meant.rfind('\''), iut.substr(colon));
  return meant;
}

}  // namespace suite::runner
