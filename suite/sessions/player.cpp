// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/sessions/player.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rules/catalogue.hpp"
#include "suite/sessions/play.hpp"
#include "suite/sessions/related_rules.hpp"

namespace suite::sessions {

namespace {

/// Steps that do not wait for each other: the model follows every order of their effects.
constexpr std::size_t most_together = 4;

constexpr std::uint32_t most_times = 6;

bool is_of_tester(Action action) { return action <= Action::peer_reset; }

model::SeenMessage seen(const lower_tester::Message& message) {
  model::SeenMessage seen{.opcode = message.opcode(), .tagged = message.tagged, .payload = {}};
  if (message.tagged) {
    seen.stag = message.stag();
    seen.offset = message.tagged_offset();
  } else {
    seen.ulp_word = message.untagged_header.ulp_word.value();
  }
  seen.payload = message.payload;
  seen.cut_off = message.cut_off;
  if (const auto terminate = message.terminate()) seen.cause = terminate->cause;
  return seen;
}

std::string described(const iut::Event& event) {
  if (const auto* done = std::get_if<iut::CompletionEvent>(&event))
    return fmt::format("completion of work {} ({}): {}, {} octets", done->work, done->operation,
                       done->status, done->length);
  if (const auto* error = std::get_if<iut::AsynchronousEvent>(&event))
    return fmt::format("asynchronous event {}", error->kind);
  return std::holds_alternative<iut::DisconnectedEvent>(event) ? "a disconnected event"
                                                               : "an event";
}

}  // namespace

bool is_should(std::string_view id) {
  const rules::Rule* rule = rules::find(id);
  return rule != nullptr && rule->level != rules::Level::must;
}

const Found* Played::failure() const {
  const auto at = std::ranges::find(found, false, &Found::advisory);
  return at == found.end() ? nullptr : &*at;
}

Played play(const Session& session, const Environment& environment) {
  return Play(session, environment).run();
}

Play::Play(const Session& session, const Environment& environment)
    : session_(session),
      environment_(environment),
      context_{.loop = environment.loop,
               .network = environment.tester,
               .evidence = {},
               .start = environment.loop.now(),
               .deadline = environment.loop.now() + std::chrono::hours(1),
               .on_fault =
                   [this](const lower_tester::SenderFault& fault) {
                     if (fault.rule.starts_with("mpa.crc.") && writes_to_source()) {
                       stopped_ = true;
                       return;
                     }
                     take_fault(fault);
                   },
               .on_inconclusive = [](const std::string&) {},
               .records = environment.records},
      capabilities_(environment.iut.hello().capabilities.begin(),
                    environment.iut.hello().capabilities.end()) {
  model_.windows_are_of_streams(can(iut::capability::stream_windows));
}

// ---------------------------------------------------------------- the IUT

bool Play::can(const char* capability) const { return capabilities_.contains(capability); }

std::int64_t Play::limit(const char* name, std::int64_t usual) const {
  const auto& limits = environment_.iut.hello().limits;
  const auto at = limits.find(name);
  return at == limits.end() ? usual : std::min(usual, at->second);
}

iut::Reply Play::command(const iut::Command& command) {
  iut::Reply reply = ask(command);
  model_.command(command, reply);
  return reply;
}

iut::Reply Play::ask(const iut::Command& command) {
  const std::uint64_t number = environment_.iut.post(command);
  const base::TimePoint deadline = environment_.loop.now() + environment_.command_patience;
  while (auto event = next_event(deadline)) {
    const auto* reply = std::get_if<iut::Reply>(&*event);
    if (reply != nullptr && reply->command == number) return *reply;
    events_.push_back(std::move(*event));
  }
  found({.rules = {}, .admissible = "a reply", .came = "no reply of the upper tester"});
  iut::Reply none;
  none.outcome = iut::Outcome::failed;
  return none;
}

std::optional<iut::Event> Play::next_event(base::TimePoint deadline) {
  auto event = environment_.iut.next_event(deadline);
  const auto* gone = event ? std::get_if<iut::GoneEvent>(&*event) : nullptr;
  if (gone == nullptr) return event;
  // No other events come any more, and these without an end.
  if (!stopped_) played_.gone = *gone;
  const char* what = gone->why == iut::GoneEvent::Why::crashed ? "the IUT's code crashed: "
                                                               : "the upper tester is gone: ";
  found({.rules = {}, .admissible = "a reply", .came = what + gone->detail});
  return std::nullopt;
}

bool Play::gather_one(base::TimePoint deadline) {
  auto event = next_event(deadline);
  if (event) events_.push_back(std::move(*event));
  return event.has_value();
}

void Play::gather(base::TimePoint deadline) {
  while (gather_one(deadline)) {
  }
}

bool Play::share_receives() {
  if (!can(iut::capability::shared_receive_queue)) return false;
  if (has_shared_queue_) return true;
  iut::CreateSharedQueue create;
  create.queue = shared_queue;
  create.depth = static_cast<std::uint32_t>(limit("max_shared_depth", 16));
  create.max_pieces = static_cast<std::uint32_t>(limit("max_shared_pieces", 4));
  has_shared_queue_ = command(create).outcome == iut::Outcome::ok;
  return has_shared_queue_;
}

void Play::forget_events(iut::Handle endpoint) {
  std::erase_if(events_, [endpoint](const iut::Event& event) {
    return std::visit(
        [endpoint](const auto& each) {
          if constexpr (requires { each.endpoint; }) return each.endpoint == endpoint;
          return std::is_same_v<std::decay_t<decltype(each)>, iut::ConnectRequestEvent>;
        },
        event);
  });
}

Line& Play::stand_by() {
  bystanders_.push_back(std::make_unique<Line>(context_));
  return *bystanders_.back();
}

// ---------------------------------------------------------------- judging

/// docs/disputes.md D52: what is sent from memory that is written to meanwhile need not even have the
/// right CRC. Nothing can follow it that is worth judging.
bool Play::writes_to_source() {
  static_cast<void>(model_.owes_nothing(acknowledged()));  // it takes what was done
  return std::ranges::any_of(known().streams, [](const model::Stream& stream) {
    return std::ranges::any_of(stream.work, &model::Work::indeterminate);
  });
}

/// A fault of what the IUT sends, with the rules that it may break: those that speak about the same
/// octets, and the error that a stream did not find.
void Play::take_fault(const lower_tester::SenderFault& fault) {
  std::vector<std::string> rules{std::string(fault.rule)};
  for (const rules::RuleId& each : fault.also) rules.emplace_back(each.id);
  for (std::size_t i = 0, count = rules.size(); i < count; ++i)
    for (const rules::RuleId& each : related_rules(rules[i])) rules.emplace_back(each.id);
  if (stopped_) {
    // One frame may break several rules.
    if (fault_time_ == environment_.loop.now()) {
      auto& known = played_.found.back().rules;
      known.insert(known.end(), rules.begin(), rules.end());
    }
    return;
  }
  static_cast<void>(model_.owes_nothing(acknowledged()));  // it takes what was done
  for (const model::Stream& stream : this->known().streams)
    if (stream.phase == model::Phase::refusing || stream.phase == model::Phase::holding)
      for (const rules::RuleId& each : stream.fault.rules) rules.emplace_back(each.id);
  found({.rules = std::move(rules),
         .admissible = fault.expected,
         .came = fault.actual,
         .advisory = is_should(fault.rule)});
  if (stopped_) fault_time_ = environment_.loop.now();
}

void Play::found(Found found) {
  if (stopped_) return;
  found.step = played_.steps;
  stopped_ = !found.advisory;
  played_.found.push_back(std::move(found));
}

void Play::check(const std::optional<model::Finding>& finding) {
  if (!finding) return;
  Found found{.rules = {},
              .admissible = finding->admissible,
              .came = finding->came,
              .advisory = finding->advisory};
  for (const rules::RuleId& rule : finding->rules) found.rules.emplace_back(rule.id);
  this->found(std::move(found));
}

void Play::judge_wire(std::size_t stream) {
  Line& line = *lines_[stream];
  while (!stopped_) {
    const lower_tester::Arrival arrival = line.peer.next(environment_.loop.now());
    if (arrival.as<lower_tester::Nothing>() != nullptr) return;
    if (const auto* message = arrival.as<lower_tester::Message>()) {
      if (const auto request = message->read_request()) line.asked.emplace_back(*request);
      if (const auto request = message->atomic_request()) line.asked.emplace_back(*request);
      if (message->opcode() == rnic::wire::Opcode::terminate) line.terminate_came = true;
      check(model_.saw(stream, seen(*message), arrival.text()));
    } else if (arrival.as<lower_tester::PeerClosed>() != nullptr) {
      line.ended_by_iut = true;
      check(model_.saw(stream, model::SeenClose{}, arrival.text()));
    } else if (arrival.as<lower_tester::Broken>() != nullptr) {
      line.ended_by_iut = line.closed = true;
      check(model_.saw(stream, model::SeenReset{}, arrival.text()));
    }
    // Octets that cannot be read are for the judge of octets.
  }
}

void Play::judge_events(base::TimePoint until) {
  while (!events_.empty() && !stopped_) {
    // It may be about octets that are still under way in TCP.
    if (environment_.loop.now() < until && !model_.admits(events_.front())) return;
    const iut::Event event = std::move(events_.front());
    events_.pop_front();
    const std::string text = described(event);
    context_.note(lower_tester::Direction::none, text);
    check(model_.saw(event, text));
  }
}

void Play::settle_before(std::size_t inputs) {
  if (together_ > 0) settle();
  together_ = inputs;
}

std::vector<bool> Play::acknowledged() const {
  std::vector<bool> all;
  for (const auto& line : lines_) all.push_back(line->peer.connection().unacknowledged() == 0);
  return all;
}

void Play::wait() {
  gather(environment_.loop.now() + (in_real_time() ? environment_.quiet : environment_.patience));
}

/// What the IUT does within its time is judged.
void Play::let_it_act() {
  const base::TimePoint start = environment_.loop.now();
  const base::TimePoint deadline = in_real_time() ? start + environment_.patience : start;
  do {
    wait();
    for (std::size_t i = 0; i < lines_.size(); ++i) judge_wire(i);
    judge_events(deadline);
  } while (!stopped_ && environment_.loop.now() < deadline &&
           !(events_.empty() && model_.owes_nothing(acknowledged())));
  judge_events(start);  // what is not admissible by now is a finding
}

void Play::send_packed(std::size_t stream) {
  Line& line = *lines_[stream];
  if (line.packed.empty()) return;
  for (model::SentSegment& segment : std::exchange(line.packed_segments, {}))
    model_.sent(stream, std::move(segment));
  line.peer.send(std::exchange(line.packed, {}));
}

/// Work, answers and a Terminate of the IUT have to wait for TCP, and nothing is lost. In real time the
/// consumer would be told of the end of work long before its octets come.
void Play::stall(Line& line) {
  constexpr std::size_t small_window = 4096;
  if (!line.peer.is_open() || in_real_time()) return;
  line.peer.set_receive_buffer(small_window);
  line.peer.pause_receiving(true);
  line.stalled = true;
}

void Play::end_stalls() {
  if (std::ranges::none_of(lines_, &Line::stalled, [](const auto& line) -> Line& { return *line; }))
    return;
  wait();
  for (const auto& line : lines_)
    if (std::exchange(line->stalled, false)) line->peer.pause_receiving(false);
}

void Play::configured(const Configuration& configuration) {
  if (!in_real_time()) return;
  configuration_ = configuration;
  has_shared_queue_ = false;
}

namespace {

/// Local work that waits is about this STag.
bool is_awaited(const model::State& state, std::uint32_t stag) {
  const auto is_about = [&](const model::Work& work) {
    if (!work.is_local() || work.sent) return false;
    const model::Region* region = work.command.pieces.empty()
                                      ? nullptr
                                      : state.memory.find(work.command.pieces.front().region);
    const auto window =
        std::ranges::find(state.memory.windows, work.command.window, &model::Window::handle);
    return work.command.invalidate_stag == stag || (region != nullptr && region->stag == stag) ||
           (window != state.memory.windows.end() && window->stag == stag);
  };
  return std::ranges::any_of(state.streams, [&](const model::Stream& stream) {
    return std::ranges::any_of(stream.work, is_about);
  });
}

}  // namespace

bool Play::awaits(std::uint32_t stag) const {
  return is_awaited(known(), stag) || !model_.is_certain(stag) ||
         std::ranges::find(local_work_, stag) != local_work_.end();
}

void Play::settle() {
  for (std::size_t i = 0; i < lines_.size(); ++i) send_packed(i);
  end_stalls();
  do {
    together_ = 0;
    let_it_act();
    local_work_.clear();
    if (stopped_) return;
    for (const auto& line : lines_) line->reads_under_way = 0;
    check(model_.settled(acknowledged()));
    if (has_shared_queue_ && !stopped_)
      shared_receives_.assign(known().shared_queues.front().waiting.size(), shared_receive_length);
  } while (!stopped_ && close_what_has_ended());
  if (in_real_time()) look_at_what_was_placed();
}

/// A consumer that is told about an error closes its half as well (RFC 5040 section 6.2.1).
bool Play::close_what_has_ended() {
  bool any = false;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    Line& line = *lines_[i];
    if (line.closed || !(line.terminate_came || (line.ended_by_iut && !line.disconnecting)))
      continue;
    line.closed = true;
    line.peer.half_close();
    model_.sent(i, model::SentFin{});
    any = true;
  }
  return any;
}

// ---------------------------------------------------------------- the session

Played Play::run() {
  for (const StreamSetup& setup : session_.streams)
    if (!open_stream(*this, setup)) break;
  if (!stopped_) settle();
  for (const Step& step : session_.steps) {
    if (stopped_) break;
    play(step);
    ++played_.steps;
  }
  if (!stopped_) finish();
  for (auto& line : lines_) {
    line->peer.finish_judging();
    if (!line->closed) line->peer.reset();
  }
  for (const model::Finding& advisory : model_.advisories()) {
    stopped_ = false;
    check(advisory);
  }
  played_.coverage = model_.coverage();
  // Their destructors write the last marks.
  lines_.clear();
  bystanders_.clear();
  played_.exchange = std::move(context_.evidence.exchange);
  played_.connections = std::move(context_.evidence.connections);
  played_.judged = std::move(context_.evidence.judged);
  return std::move(played_);
}

void Play::note(const Step& step, std::size_t stream) {
  context_.note(lower_tester::Direction::none,
                fmt::format("step {}, stream {}: {} {}{}", played_.steps, stream, name(step.action),
                            step.wrong == Wrong::nothing ? "" : name(step.wrong),
                            step.together ? ", and at once" : ""));
}

void Play::play(const Step& step) {
  if (lines_.empty()) return;
  const std::size_t stream = step.stream % lines_.size();
  if (context_.records) note(step, stream);
  if (step.times > 1) settle();
  if (step.stalled) stall(*lines_[stream]);
  Step once = step;
  for (std::uint32_t i = 0; i < std::clamp(step.times, 1U, most_times) && !stopped_; ++i) {
    play_once(stream, once);
    ++once.value;
    // Equal ones cannot be told apart if they change places.
    once.length -= once.length / 4;
  }
  if (stopped_) return;
  if (step.times > 1 || !step.together || ++together_ >= most_together) settle();
}

void Play::play_once(std::size_t stream, const Step& step) {
  if (is_of_tester(step.action))
    play_tester_step(*this, stream, step);
  else
    play_consumer_step(*this, stream, step);
}

/// TCP acknowledges octets before they are placed. In real time the IUT has its patience for that, anew
/// whenever some more have come, and as long as for a reply of the upper tester at most.
void Play::look_at(iut::Handle region) {
  const base::Duration patience = in_real_time() ? environment_.patience : base::Duration{};
  const std::uint64_t length = known().memory.find(region)->length();
  const base::TimePoint last = environment_.loop.now() + environment_.command_patience;
  base::TimePoint deadline = environment_.loop.now() + patience;
  Octets before;
  while (!stopped_) {
    const iut::Reply reply = command(iut::ReadMemory{region, 0, length});
    if (stopped_ || !reply.octets) return;
    if (std::exchange(before, *reply.octets) != *reply.octets)
      deadline = std::min(last, environment_.loop.now() + patience);
    if (environment_.loop.now() >= deadline || model_.admits(region, *reply.octets)) {
      check(model_.saw_memory(region, *reply.octets));
      looked_at_[region] = known().memory.find(region)->contents.digest();
      return;
    }
    wait();
  }
}

/// Before anything else is done with it: what is sent from there has to be known.
void Play::look_at_what_was_placed() {
  std::vector<iut::Handle> changed;
  for (const model::Region& region : known().memory.regions) {
    const auto before = looked_at_.find(region.handle);
    if (region.registered && known().is_known(region) &&
        (before == looked_at_.end() || before->second != region.contents.digest()))
      changed.push_back(region.handle);
  }
  for (const iut::Handle region : changed)
    if (!stopped_) look_at(region);
}

void Play::look_at_all_memory() {
  std::vector<iut::Handle> regions;
  for (const model::Region& region : known().memory.regions) regions.push_back(region.handle);
  for (const iut::Handle region : regions)
    if (!stopped_) look_at(region);
}

/// Open requests are answered, memory is compared, and every connection closed.
void Play::finish() {
  settle();
  for (std::size_t i = 0; i < lines_.size() && !stopped_; ++i) {
    while (!stopped_ && !lines_[i]->asked.empty() && lines_[i]->can_send()) {
      play_tester_step(*this, i, {.action = Action::peer_answer});
      settle();
    }
  }
  if (!stopped_) look_at_all_memory();
  for (Found& each : stags_.findings()) found(std::move(each));
  for (std::size_t i = 0; i < lines_.size() && !stopped_; ++i) {
    play_tester_step(*this, i, {.action = Action::peer_close});
    settle();
  }
}

}  // namespace suite::sessions
