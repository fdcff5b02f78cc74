// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/guests.hpp"

#include <poll.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace plugfest {

namespace {

namespace fs = std::filesystem;
namespace lab = suite::lab;
using namespace std::chrono_literals;

constexpr std::size_t first_address = 10;  ///< the last octet of the first guest's
constexpr std::chrono::seconds order_time{10};

lab::GuestOptions guest_options(const Participant& participant, std::size_t place,
                                const fs::path& log, const std::string& agent) {
  const auto& wanted = std::get<SiwGuest>(participant.agent);
  const std::size_t number = first_address + place;
  lab::GuestOptions options;
  options.series = wanted.kernel;
  options.programs = {agent};
  options.agent_channels = 2;  // the second one is for people who want to examine the guest
  options.variant = "tunable";
  options.kernel_agent = participant.driver == "kverbs";
  options.kdat = participant.driver == "kdat";
  options.slab_checks = wanted.checks;
  options.ipv4 = fmt::format("10.77.0.{}/24", number);
  options.ipv6 = fmt::format("fd77::{}/64", number);
  options.mac = fmt::format("52:54:00:77:00:{:02x}", number);
  options.log_file = log;
  return options;
}

}  // namespace

Guests::Guests(const Event& event, const fs::path& folder, const std::string& agent) {
  for (std::size_t at = 0; at < event.participants.size(); ++at) {
    const Participant& participant = event.participants[at];
    if (!std::holds_alternative<SiwGuest>(participant.agent)) continue;
    One one;
    one.name = participant.name;
    one.place = guests_.size();
    one.address = fmt::format("10.77.0.{}", first_address + one.place);
    one.guest = std::make_unique<lab::Guest>(guest_options(
        participant, one.place,
        folder.empty() ? fs::path() : folder / (participant.name + ".kernel.log"), agent));
    one.kernel_log.emplace(*one.guest);
    guests_.emplace(at, std::move(one));
  }
}

std::expected<void, std::string> Guests::prepare(
    const std::function<void(const std::string&)>& tell) {
  for (auto& [participant, one] : guests_)
    if (auto done = one.guest->prepare([&](std::string_view line) { tell(std::string(line)); });
        !done)
      return std::unexpected(fmt::format("{}: {}", one.name, done.error()));
  return {};
}

std::expected<void, std::string> Guests::connect() {
  auto made = lab::Bridge::with_taps(guests_.size());
  if (!made) return std::unexpected(made.error());
  bridge_.emplace(std::move(*made));
  return {};
}

bool Guests::One::wants_boot() {
  return !starting && !guest->alive() && failed_boots < lab::Guest::most_failed_boots;
}

void Guests::One::start(int tap) {
  if (const auto started = guest->start(tap))
    starting = Clock::now();
  else
    came_up(started);
}

void Guests::One::await(std::chrono::milliseconds time_limit) {
  starting.reset();
  came_up(guest->await_boot(time_limit));
}

void Guests::One::came_up(const std::expected<void, std::string>& booted) {
  kernel_log->begin();
  trouble = booted ? "" : fmt::format("{}: {}", name, booted.error());
  failed_boots = booted ? 0 : failed_boots + 1;
}

bool Guests::away(std::size_t participant) {
  const auto found = guests_.find(participant);
  if (found == guests_.end()) return false;
  One& one = found->second;
  if (one.starting) {
    pollfd answer{one.guest->answer_descriptor(), POLLIN, 0};
    const bool answers = answer.fd < 0 || ::poll(&answer, 1, 0) > 0;
    const bool late = Clock::now() - *one.starting >= lab::Guest::boot_time;
    if (!answers && !late) return true;
    one.await(answers ? order_time : 0s);
  }
  while (one.wants_boot()) one.start(bridge_->tap(one.place));
  return one.starting.has_value();
}

void Guests::bring_up(std::size_t participant) {
  const auto found = guests_.find(participant);
  if (found == guests_.end()) return;
  One& one = found->second;
  if (one.wants_boot()) one.start(bridge_->tap(one.place));
  if (one.starting) one.await(lab::Guest::boot_time);
}

std::string Guests::trouble(std::size_t participant) const {
  const auto found = guests_.find(participant);
  return found == guests_.end() ? "" : found->second.trouble;
}

std::string Guests::complaints(One& one, bool agent_may_hang) {
  lab::Guest& guest = *one.guest;
  // An agent that the kernel does not release would keep the next one from starting.
  const bool let_go = !agent_may_hang || guest.control("kill-agent 0", order_time).has_value();
  const auto [complaint, log, answers] = one.kernel_log->look();
  if (!guest.alive() || !answers || !let_go) guest.shutdown(std::chrono::milliseconds(0));
  if (!complaint.empty()) return complaint;
  return answers && let_go ? "" : "the guest no longer answers\n" + log;
}

void Guests::look_back(const Cell& cell, Outcome& outcome) {
  if (!trouble(cell.initiator).empty() || !trouble(cell.responder).empty()) return;
  const bool agent_may_hang = outcome.verdict == Verdict::error;
  for (const auto& [side, at] :
       {std::pair{Side::initiator, cell.initiator}, std::pair{Side::responder, cell.responder}}) {
    const auto found = guests_.find(at);
    if (found == guests_.end()) continue;
    const std::string complaint = complaints(found->second, agent_may_hang);
    if (!complaint.empty()) add_kernel_complaint(outcome, side, complaint);
  }
}

const std::string& Guests::address(std::size_t participant) const {
  return guests_.at(participant).address;
}

std::string Guests::interface(std::size_t participant) const {
  return lab::Bridge::tap_interface(guests_.at(participant).place);
}

std::vector<std::string> Guests::agent_command(const Participant& participant,
                                               std::size_t at) const {
  const One& one = guests_.at(at);
  // The configuration of an earlier cell is still in the module's parameters.
  std::vector<std::string> argv{
      "/bin/sh", "-c",
      "/bin/siw-configure revision=2 crc=off peer_to_peer=off rtr=write,read && exec \"$@\"", "sh",
      "/bin/rnic-agent", "--configure-script", "/bin/siw-configure", "--driver", participant.driver,
      // What no call of verbs reports of siw.
      "--claim", "enhanced_startup", "--claim", "peer_to_peer"};
  if (participant.driver == "dat")
    argv.insert(argv.end(), {"--ia", "ofa-v2-siw"});
  else
    argv.insert(argv.end(), {"--device", "siw0"});
  // An IA of DAT knows its own.
  if (participant.driver == "verbs" || participant.driver == "kverbs")
    argv.insert(argv.end(), {"--address", one.address});
  return one.guest->agent_command(0, argv);
}

}  // namespace plugfest
