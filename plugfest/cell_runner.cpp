// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/cell_runner.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/sha256.hpp"
#include "base/time_text.hpp"
#include "dissectors/capture/pcap_file.hpp"
#include "plugfest/capture_comparison.hpp"
#include "plugfest/capture_point.hpp"
#include "plugfest/scenarios/scenario.hpp"
#include "plugfest/wire_judge.hpp"
#include "suite/lab/namespaces.hpp"
#include "suite/results/suite_version.hpp"

namespace plugfest {

namespace {

using base::EpollLoop;
using suite::iut::AgentClient;
using suite::iut::AgentOpener;

constexpr std::chrono::seconds hello_timeout{20};
/// The octets of a scenario that takes minutes.
constexpr std::size_t long_capture = std::size_t{2} << 30;

class CellRun {
 public:
  explicit CellRun(const CellOrder& order)
      : order_(order),
        scenario_(*find_scenario(order.scenario)),
        record_{loop_, loop_.now(), loop_.now() + order.deadline, order.step_timeout} {}

  Outcome run();

 private:
  void start_capture();
  void launch_agents();
  [[nodiscard]] std::unique_ptr<AgentClient> start(Side side);
  void introduce(Side side, const suite::iut::Hello& hello);
  [[nodiscard]] bool able(Side side);
  void play(AgentClient& initiator, AgentClient& responder);
  [[nodiscard]] static std::size_t best_of(const std::vector<Captured>& all);
  [[nodiscard]] CaptureRecord keep(const Captured& captured, std::size_t at) const;
  [[nodiscard]] Captured take_captures();
  [[nodiscard]] CellTraffic traffic() const {
    return {order_.initiator.address, order_.responder.address, record_.listened};
  }
  void look_at_the_wire();

  const CellOrder& order_;
  const Scenario& scenario_;
  EpollLoop loop_;
  Record record_;
  std::optional<CellCapture> capture_;
  std::map<Side, std::expected<suite::iut::AgentLink, std::string>> launched_;
  std::unique_ptr<AgentClient> initiator_, responder_;
  Outcome outcome_;
  WireExpectation expectation_;
  std::optional<ScenarioStop> stopped_;
};

/// Both at the same time: the first output of an agent waits until it is read.
void CellRun::launch_agents() {
  for (const Side side : {Side::initiator, Side::responder})
    launched_.emplace(side, agent_at(order_.of(side).network_namespace, order_.of(side).command)());
}

std::unique_ptr<AgentClient> CellRun::start(Side side) {
  auto client =
      AgentClient::start(loop_, [&] { return std::move(launched_.at(side)); },
                         {.hello = std::min<base::Duration>(hello_timeout, order_.deadline),
                          .reply = order_.step_timeout});
  if (client) return std::move(*client);
  outcome_.absent = side;
  throw ScenarioStop{
      Verdict::error, Fault::unknown,
      fmt::format("the {}'s agent does not start: {}", name(side), client.error().detail)};
}

void CellRun::introduce(Side side, const suite::iut::Hello& hello) {
  outcome_.hosts.push_back({.side = side,
                            .identity = {.implementation = hello.implementation,
                                         .driver = hello.driver,
                                         .driver_version = hello.driver_version,
                                         .firmware = hello.firmware,
                                         .kernel = hello.kernel}});
}

/// Checked, not assumed: by the hello, unless the PICS denies it.
bool CellRun::able(Side side) {
  const auto& hello = (side == Side::initiator ? *initiator_ : *responder_).hello();
  for (const std::string_view need :
       side == Side::initiator ? scenario_.initiator : scenario_.responder) {
    const auto claim = order_.of(side).claims.find(std::string(need));
    const bool denied = claim != order_.of(side).claims.end() && !claim->second;
    if (!denied && std::ranges::find(hello.capabilities, need) != hello.capabilities.end())
      continue;
    stopped_ = {Verdict::not_applicable, Fault::none,
                fmt::format("the {} has no {} ({})", name(side), need,
                            denied ? "its PICS denies it" : "its hello does not list it")};
    return false;
  }
  return true;
}

void CellRun::play(AgentClient& initiator, AgentClient& responder) {
  ScenarioRun run(initiator, order_.initiator.address, responder, order_.responder.address,
                  record_);
  for (AgentSide* side : {&run.initiator, &run.responder}) side->call(iut::Reset{}, "reset");
  stopped_ = stop_of([&] { scenario_.play(run); });
  expectation_ = run.expectation;
  // What both sides still have open ends on the wire before the capture does.
  for (AgentSide* side : {&run.initiator, &run.responder}) {
    const auto end = stop_of([&] { side->call(iut::Reset{}, "reset"); });
    if (!stopped_) stopped_ = end;
  }
}

/// The first that is complete; if none is, the first.
std::size_t CellRun::best_of(const std::vector<Captured>& all) {
  const auto whole =
      std::ranges::find_if(all, [](const Captured& it) { return it.trouble.empty(); });
  return whole == all.end() ? 0 : static_cast<std::size_t>(whole - all.begin());
}

CaptureRecord CellRun::keep(const Captured& captured, std::size_t at) const {
  CaptureRecord made{.place = captured.place,
                     .pcap = {},
                     .pcap_sha256 = {},
                     .frames = captured.frames.size(),
                     .dropped = captured.dropped,
                     .trouble = captured.trouble};
  const auto octets = dissectors::capture::pcap_file(captured.link, captured.frames);
  std::filesystem::path name = order_.pcap;
  if (at > 0) name.replace_extension(fmt::format(".{}.pcap", at + 1));
  std::ofstream file(std::filesystem::path(order_.folder) / name, std::ios::binary);
  file.write(reinterpret_cast<const char*>(octets.data()),
             static_cast<std::streamsize>(octets.size()));
  file.close();
  if (file) {
    made.pcap = name.string();
    made.pcap_sha256 = base::sha256(octets);
  } else
    made.trouble = "the pcap file cannot be written";
  return made;
}

/// Keeps all captures, and compares the others with the one that is judged.
Captured CellRun::take_captures() {
  std::vector<Captured> all = capture_->finish();
  const std::size_t best = best_of(all);
  for (std::size_t at = 0; at < all.size(); ++at) outcome_.captures.push_back(keep(all[at], at));
  CaptureRecord& judged = outcome_.captures[best];
  judged.judged = true;
  outcome_.pcap = judged.pcap;
  outcome_.pcap_sha256 = judged.pcap_sha256;
  outcome_.frames = judged.frames;
  outcome_.dropped = judged.dropped;
  outcome_.capture_trouble = judged.trouble;
  const CellTraffic cell = traffic();
  for (std::size_t at = 0; at < all.size() && outcome_.capture_trouble.empty(); ++at)
    if (at != best) outcome_.capture_trouble = difference(all[best], all[at], cell);
  if (all.size() == 1) outcome_.captures.clear();
  return std::move(all[best]);
}

void CellRun::look_at_the_wire() {
  const Captured captured = take_captures();
  judge_wire(captured.frames,
             {.link = captured.link,
              .cell = traffic(),
              .expectation = expectation_,
              .played_to_the_end = !stopped_},
             outcome_);
}

void CellRun::start_capture() {
  if (order_.captures.empty()) {
    outcome_.capture_trouble = "the event names no interface to capture on";
    return;
  }
  capture_.emplace(loop_, order_.captures, scenario_.on_request ? long_capture : usual_capture);
  if (const std::string fault = capture_->fault(); !fault.empty())
    throw ScenarioStop{Verdict::error, Fault::unknown, "no capture: " + fault};
}

Outcome CellRun::run() {
  outcome_.start = base::time_text(std::chrono::system_clock::now());
  outcome_.suite = suite::results::suite_version();
  const auto end = stop_of([this] {
    start_capture();
    launch_agents();
    initiator_ = start(Side::initiator);
    introduce(Side::initiator, initiator_->hello());
    responder_ = start(Side::responder);
    introduce(Side::responder, responder_->hello());
    if (able(Side::initiator) && able(Side::responder)) play(*initiator_, *responder_);
  });
  if (end) stopped_ = end;
  outcome_.checks = std::move(record_.checks);
  if (capture_ && !record_.steps.empty()) look_at_the_wire();
  outcome_.steps = std::move(record_.steps);
  outcome_.seconds = std::chrono::duration<double>(loop_.now() - record_.begun).count();
  for (const auto& [side, client] :
       {std::pair{Side::initiator, initiator_.get()}, std::pair{Side::responder, responder_.get()}})
    if (client != nullptr)
      if (std::string text = client->take_diagnostics(); !text.empty())
        outcome_.said.push_back({side, std::move(text)});
  judge(outcome_, stopped_);
  return std::move(outcome_);
}

}  // namespace

AgentOpener agent_at(const std::string& network_namespace,
                     const std::vector<std::string>& command) {
  AgentOpener open = suite::iut::agent_process(command);
  if (network_namespace.empty()) return open;
  return [open, network_namespace]() -> std::expected<suite::iut::AgentLink, std::string> {
    std::expected<suite::iut::AgentLink, std::string> link = std::unexpected("not tried");
    const auto done = suite::lab::in_network_namespace(network_namespace,
                                                       [&]() -> std::expected<void, std::string> {
                                                         auto made = open();
                                                         if (!made)
                                                           return std::unexpected(made.error());
                                                         link.emplace(std::move(*made));
                                                         return {};
                                                       });
    if (!done) return std::unexpected(done.error());
    return link;
  };
}

Outcome play(const CellOrder& order) { return CellRun(order).run(); }

}  // namespace plugfest
