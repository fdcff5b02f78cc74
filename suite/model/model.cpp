// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/model/model.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <unordered_map>

#include "suite/model/arriving.hpp"
#include "suite/model/commands.hpp"

namespace suite::model {

namespace {

/// How many inputs of each list have been processed.
using Taken = std::vector<std::size_t>;
struct Node {
  State state;
  Taken taken;
};

/// Which states there are already: there can be thousands. The states stay where they are.
class Index {
 public:
  /// Calls `keep`, which returns where the state stays, unless an equal one is there.
  void add(State state, const auto& keep) {
    if (first_ == nullptr) {
      first_ = &keep(std::move(state));
      return;
    }
    if (by_digest_.empty()) by_digest_[first_->digest()].push_back(first_);
    auto& alike = by_digest_[state.digest()];
    const auto is_it = [&](const State* each) { return *each == state; };
    if (std::ranges::none_of(alike, is_it)) alike.push_back(&keep(std::move(state)));
  }

 private:
  const State* first_ = nullptr;
  std::unordered_map<std::size_t, std::vector<const State*>> by_digest_;
};

/// Without duplicates, in the order of their coming.
class DistinctStates {
 public:
  void add(State state) {
    index_.add(std::move(state),
               [this](State kept) -> State& { return states_.emplace_back(std::move(kept)); });
  }
  [[nodiscard]] bool empty() const { return states_.empty(); }
  [[nodiscard]] States take() {
    return {std::move_iterator(states_.begin()), std::move_iterator(states_.end())};
  }

 private:
  std::deque<State> states_;
  Index index_;
};

/// A segment that waited for a receive is processed once there is one (docs/disputes.md D9).
void take_held(const State& state, Coverage& coverage, States& after) {
  for (std::size_t i = 0; i < state.streams.size(); ++i) {
    const Stream& stream = state.streams[i];
    if (stream.phase != Phase::holding || stream.held.empty() || !state.has_receive(stream))
      continue;
    State resumed = state;
    resumed.streams[i].phase = Phase::running;
    const std::vector<Sent> held = std::exchange(resumed.streams[i].held, {});
    coverage.took(Transition::held_taken);
    States now{std::move(resumed)};
    for (const Sent& each : held) {
      States next;
      for (const State& one : now) arrive(one, i, each, coverage, next);
      now = std::move(next);
    }
    std::ranges::move(now, std::back_inserter(after));
  }
}

/// What is seen of a stream in error is explained by an error that was not found, or not correctly.
Explained blame(const Stream& stream, Explained explained) {
  if (explained) return explained;
  std::vector<RuleId>& rules = explained.error().rules;
  if (stream.phase == Phase::refusing || stream.phase == Phase::holding)
    rules.insert(rules.begin(), stream.fault.rules.begin(), stream.fault.rules.end());
  rules.insert(rules.end(), stream.taken_by.begin(), stream.taken_by.end());
  return explained;
}

}  // namespace

void Model::windows_are_of_streams(bool yes) {
  for (State& state : states_) state.memory.stream_windows = yes;
}

void Model::add_stream(const StreamTerms& terms) {
  for (State& state : states_) {
    Stream stream;
    stream.terms = terms;
    stream.may_send = !terms.responder || terms.rtr.has_value();
    if (terms.rtr && !wire::is_tagged(*terms.rtr))
      ++stream.next_msn[static_cast<std::size_t>(wire::queue_of(*terms.rtr))];
    state.streams.push_back(std::move(stream));
  }
  sent_.emplace_back();
}

void Model::command(const iut::Command& command, const iut::Reply& reply) {
  done_.push_back({command, reply});
}

void Model::sent(std::size_t stream, Sent sent) { sent_[stream].push_back(std::move(sent)); }

/// What was done since the IUT last settled, in every order that keeps the order within each list:
/// a list is a connection or the consumer, and there is no order between lists.
void Model::take_inputs() {
  const auto is_empty = [](const auto& list) { return list.empty(); };
  if (done_.empty() && std::ranges::all_of(sent_, is_empty)) return;
  std::deque<Node> open;  // grows while references to its nodes are in use
  // With many inputs there are many nodes: a new one is compared only with those that have taken the same.
  std::map<Taken, Index> known;
  const auto add = [&](State state, const Taken& taken) {
    known[taken].add(std::move(state), [&](State kept) -> State& {
      return open.emplace_back(std::move(kept), taken).state;
    });
  };
  for (State& state : states_) {
    for (Stream& stream : state.streams) {
      stream.taken_by.clear();
      stream.passed_over.clear();
    }
    for (Region& region : state.memory.regions) region.placed.clear();
    open.emplace_back(std::move(state), Taken(sent_.size() + 1));
  }
  DistinctStates last;
  for (std::size_t at = 0; at < open.size(); ++at) {
    Node& node = open[at];
    bool is_last = true;
    const auto go_on = [&](std::size_t list, States after) {
      is_last = false;
      Taken taken = node.taken;
      ++taken[list];
      States refusing;
      for (const State& state : after) refuse_closed_sources(state, coverage_, refusing);
      for (State& state : after) add(std::move(state), taken);
      for (State& state : refusing) add(std::move(state), taken);
    };
    if (node.taken.back() < done_.size()) {
      const Done& done = done_[node.taken.back()];
      State performed = node.state;
      perform(performed, done.command, done.reply);
      States after{performed};
      take_held(performed, coverage_, after);
      go_on(sent_.size(), std::move(after));
    }
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      if (node.taken[i] >= sent_[i].size()) continue;
      States after;
      arrive(node.state, i, sent_[i][node.taken[i]], coverage_, after);
      go_on(i, std::move(after));
    }
    if (is_last) last.add(std::move(node.state));
    node.state = {};  // all that have taken as much are known by now
  }
  states_ = last.take();
  done_.clear();
  for (auto& list : sent_) list.clear();
  for (State& state : states_)
    for (std::size_t i = 0; i < state.streams.size(); ++i) run_local_work(state, i);
}

/// Keeps the states that explain what was seen. If none is left, the first state names the rule, which has
/// the simplest reading, or one whose error a Terminate almost reports.
template <typename Explain>
std::optional<Finding> Model::filter(const Explain& explain, const std::string& came) {
  take_inputs();
  DistinctStates left;
  std::optional<Contradiction> first;
  std::vector<Finding> advisories;
  for (State& state : states_) {
    std::vector<Finding> own;
    const auto explained = explain(state, Watch{coverage_, own});
    if (explained) {
      if (left.empty()) advisories = std::move(own);
      left.add(std::move(state));
    } else if (!first || (explained.error().has_its_code && !first->has_its_code)) {
      first = explained.error();
    }
  }
  // After a finding the states are of no more use than to describe what was known.
  if (left.empty()) return Finding{first->rules, first->admissible, came, false};
  advisories_.insert(advisories_.end(), advisories.begin(), advisories.end());
  states_ = left.take();
  return std::nullopt;
}

std::optional<Finding> Model::saw(std::size_t stream, const SeenOnWire& seen,
                                  const std::string& text) {
  return filter(
      [&](State& state, const Watch& watch) {
        auto explained = explain(state, stream, seen, watch);
        return blame(state.streams[stream], std::move(explained));
      },
      text);
}

std::optional<Finding> Model::saw(const iut::Event& event, const std::string& text) {
  const auto about = [&](iut::Handle endpoint, const auto& each) -> std::optional<Finding> {
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      if (a_state().streams[i].terms.endpoint != endpoint) continue;
      return filter(
          [&](State& state, const Watch& watch) {
            auto explained = explain(state, i, each, watch);
            return blame(state.streams[i], std::move(explained));
          },
          text);
    }
    return std::nullopt;
  };
  if (const auto* done = std::get_if<iut::CompletionEvent>(&event))
    return about(done->endpoint, *done);
  // The connection was reported to it before.
  if (std::holds_alternative<iut::EstablishedEvent>(event))
    return Finding{{"mpa.startup.initiator-validates-reply"}, "one report of the connection", text};
  if (const auto* ended = std::get_if<iut::DisconnectedEvent>(&event))
    return about(ended->endpoint, *ended);
  if (const auto* error = std::get_if<iut::AsynchronousEvent>(&event)) {
    if (error->kind == "srq_limit")
      return filter([](State& state, const Watch& watch) { return explain_low(state, watch); },
                    text);
    return about(error->endpoint, *error);
  }
  return std::nullopt;
}

bool Model::admits(const iut::Event& event) const { return !Model(*this).saw(event, ""); }

bool Model::admits(iut::Handle region, const Octets& octets) const {
  return !Model(*this).saw_memory(region, octets);
}

std::optional<Finding> Model::saw_memory(iut::Handle region, const Octets& octets) {
  return filter([&](State& state, const Watch&) { return explain(state, region, octets); },
                "other octets in it");
}

bool Model::owes_nothing(const std::vector<bool>& acknowledged) {
  take_inputs();
  return std::ranges::all_of(states_, [&](const State& state) {
    for (std::size_t i = 0; i < state.streams.size(); ++i)
      if (!model::owes_nothing(state, i, acknowledged[i])) return false;
    return true;
  });
}

bool Model::is_certain(std::uint32_t stag) const {
  const bool open = a_state().memory.is_open(stag);
  return std::ranges::all_of(
      states_, [&](const State& state) { return state.memory.is_open(stag) == open; });
}

/// No state is left in which the IUT followed these SHOULDs.
void Model::advise_of_passed_over() {
  const auto is_low = [](const State& state) {
    return std::ranges::any_of(state.shared_queues, &SharedQueue::is_low);
  };
  if (std::ranges::all_of(states_, is_low)) {
    // A limit is one means of several to find out (RFC 5042 section 6.4.3.1).
    advisories_.push_back({{"sec.resources.shared-receive-overuse-detected"},
                           "an event: fewer receives wait than the limit",
                           "none",
                           true});
    for (State& state : states_)
      for (SharedQueue& queue : state.shared_queues) queue.is_low = false;
  }
  for (std::size_t i = 0; i < sent_.size(); ++i) {
    const auto passed = [i](const State& state) { return !state.streams[i].passed_over.empty(); };
    if (!std::ranges::all_of(states_, passed)) continue;
    advisories_.push_back({a_state().streams[i].passed_over, "the error found", "no error", true});
  }
}

std::optional<Finding> Model::settled(const std::vector<bool>& acknowledged) {
  auto finding = filter(
      [&](State& state, const Watch& watch) -> Explained {
        for (std::size_t i = 0; i < state.streams.size(); ++i)
          if (auto owes = model::owes_nothing(state, i, acknowledged[i]); !owes) return owes;
        for (const Stream& stream : state.streams)
          if (stream.phase == Phase::holding)
            watch.coverage.reacted(stream.fault.what, Reaction::left_out);
        return {};
      },
      "nothing like that");
  if (!finding) advise_of_passed_over();
  return finding;
}

}  // namespace suite::model
