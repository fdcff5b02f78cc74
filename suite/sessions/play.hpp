// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One session being played: the tester's ends, the IUT's consumer, and the model between them.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "suite/lower_tester/peer.hpp"
#include "suite/model/model.hpp"
#include "suite/sessions/player.hpp"
#include "suite/sessions/stag_watch.hpp"

namespace suite::sessions {

using base::Octets;
using lower_tester::AtomicRequestFields;
using lower_tester::Outgoing;
using lower_tester::Peer;
using lower_tester::ReadRequestFields;

/// Breaking the rule is no failure.
[[nodiscard]] bool is_should(std::string_view id);

/// One stream of the session, as the tester has it.
struct Line {
  explicit Line(lower_tester::Context& context) : peer(context) {}

  Peer peer;
  iut::Handle endpoint = 0, domain = 0;
  /// Requests of the IUT that the tester has not answered.
  std::deque<std::variant<ReadRequestFields, AtomicRequestFields>> asked;
  /// Lengths of the receives that no message of the tester has taken.
  std::deque<std::uint64_t> receives;
  /// It takes its receives from the shared queue, in place of these.
  bool shares_receives = false;
  /// Read Requests of the tester since the IUT had time to answer.
  std::uint32_t reads_under_way = 0;
  /// FPDUs that are sent together with those that follow, and as the model has them.
  std::vector<lower_tester::Fpdu> packed;
  std::vector<model::SentSegment> packed_segments;
  bool closed = false;
  /// The tester takes nothing from TCP, so that the IUT may find its window full.
  bool stalled = false;
  /// The IUT's consumer has asked to end the stream.
  bool disconnecting = false;
  bool ended_by_iut = false, terminate_came = false;
  /// Its endpoint is destroyed.
  bool gone = false;
  [[nodiscard]] bool can_send() const { return peer.is_open() && !closed; }
};

class Play {
 public:
  Play(const Session& session, const Environment& environment);
  Play(const Play&) = delete;
  Play& operator=(const Play&) = delete;

  [[nodiscard]] Played run();

  // -- for the parts of the play --
  [[nodiscard]] const Environment& environment() const { return environment_; }
  [[nodiscard]] lower_tester::Context& context() { return context_; }
  [[nodiscard]] model::Model& model() { return model_; }
  /// What a line has held back leaves: until then it is no input of the IUT.
  void send_packed(std::size_t stream);
  [[nodiscard]] const model::State& known() const { return model_.a_state(); }
  /// Executes a command; command() also informs the model.
  iut::Reply ask(const iut::Command& command);
  iut::Reply command(const iut::Command& command);
  /// Gives the IUT its time; events are kept.
  void wait();
  /// The next event of this kind, within the IUT's time; others are kept.
  template <typename Event>
  [[nodiscard]] std::optional<Event> await();
  /// Events about an endpoint that is gone.
  void forget_events(iut::Handle endpoint);
  /// A connection that does not become a stream, kept until the session ends.
  Line& stand_by();
  [[nodiscard]] Line& stood_by() { return *bystanders_.back(); }
  void found(Found found);
  [[nodiscard]] bool is_stopped() const { return stopped_; }
  [[nodiscard]] std::int64_t limit(const char* name, std::int64_t usual) const;
  [[nodiscard]] bool can(const char* capability) const;
  /// Makes the shared queue, if there is none yet. False: the IUT has none.
  [[nodiscard]] bool share_receives();
  /// Lengths of the receives for the messages of this line.
  [[nodiscard]] std::deque<std::uint64_t>& receives_of(Line& line) {
    return line.shares_receives ? shared_receives_ : line.receives;
  }
  [[nodiscard]] iut::WorkId next_work() { return ++last_work_; }
  [[nodiscard]] StagWatch& stags() { return stags_; }
  [[nodiscard]] std::vector<std::unique_ptr<Line>>& lines() { return lines_; }
  /// Compares the memory of the region with what the model knows of it.
  void look_at(iut::Handle region);
  /// In real time: how the IUT was configured in this session. To configure it anew may cost all that it
  /// has made (docs/porting.md), so that it is done only where something differs.
  struct Configuration {
    StreamSetup setup;
    /// The kinds of RTR indications were, too.
    bool rtr = false;
  };
  [[nodiscard]] const std::optional<Configuration>& configuration() const { return configuration_; }
  void configured(const Configuration& configuration);
  /// The IUT gets its time, and what it has done is judged.
  void settle();
  /// Local work about this STag has been posted: the model takes that in only with the next input.
  void note_local_work(std::uint32_t stag) { local_work_.push_back(stag); }
  /// Local work about this STag waits, or may have been done: any other use would race with it.
  [[nodiscard]] bool awaits(std::uint32_t stag) const;
  /// Lets the IUT settle earlier inputs first; `inputs` new ones are about to follow.
  void settle_before(std::size_t inputs);

 private:
  void take_fault(const lower_tester::SenderFault& fault);
  void play(const Step& step);
  void note(const Step& step, std::size_t stream);
  void play_once(std::size_t stream, const Step& step);
  void stall(Line& line);
  void end_stalls();
  void finish();
  void gather(base::TimePoint deadline);
  /// Nothing once the upper tester is gone, which is noted.
  std::optional<iut::Event> next_event(base::TimePoint deadline);
  bool gather_one(base::TimePoint deadline);
  void judge_wire(std::size_t stream);
  /// Until then an event that is not admissible yet may become so.
  void judge_events(base::TimePoint until);
  void let_it_act();
  [[nodiscard]] std::vector<bool> acknowledged() const;
  [[nodiscard]] bool writes_to_source();
  bool close_what_has_ended();
  void look_at_all_memory();
  void look_at_what_was_placed();
  [[nodiscard]] bool in_real_time() const { return environment_.quiet > base::Duration{}; }
  void check(const std::optional<model::Finding>& finding);

  const Session& session_;
  const Environment& environment_;
  lower_tester::Context context_;
  model::Model model_;
  std::vector<std::unique_ptr<Line>> lines_;
  std::vector<std::unique_ptr<Line>> bystanders_;
  std::deque<iut::Event> events_;
  std::set<std::string> capabilities_;
  std::deque<std::uint64_t> shared_receives_;
  bool has_shared_queue_ = false;
  iut::WorkId last_work_ = 0;
  StagWatch stags_;
  std::optional<base::TimePoint> fault_time_;
  std::size_t together_ = 0;
  bool stopped_ = false;
  Played played_;
  std::optional<Configuration> configuration_;
  std::vector<std::uint32_t> local_work_;
  /// The contents of regions when they were looked at last: digests.
  std::map<iut::Handle, std::size_t> looked_at_;
};

/// Brings up a stream; false: it did not come up, which was recorded as a finding.
[[nodiscard]] bool open_stream(Play& play, const StreamSetup& setup);

/// The tester's part: sends what the step says, or nothing if that is not possible now.
void play_tester_step(Play& play, std::size_t stream, const Step& step);
/// The consumer's part.
void play_consumer_step(Play& play, std::size_t stream, const Step& step);

inline constexpr iut::Handle shared_queue = 1;
/// All receives in it are equal: which one a message takes is the IUT's choice.
inline constexpr std::uint32_t shared_receive_length = 64;
inline constexpr std::size_t most_shared_receives = 4;

/// The region of a receive that is posted before its stream is up.
inline constexpr iut::Handle first_early_region = 1000;
[[nodiscard]] constexpr iut::Handle early_region(iut::Handle endpoint) {
  return first_early_region + endpoint;
}
/// Where receives, sources and sinks lie: memory that is never taken away while it is in use.
[[nodiscard]] inline bool is_for_work(const model::Region& region) {
  return region.handle % 2 == 1 || region.handle >= first_early_region;
}

/// Local work of the stream waits for Reads.
[[nodiscard]] inline bool has_local_work(const model::Stream& stream) {
  return std::ranges::any_of(stream.work,
                             [](const model::Work& each) { return each.is_local() && !each.sent; });
}

template <typename Event>
std::optional<Event> Play::await() {
  const base::TimePoint deadline = environment_.loop.now() + environment_.patience;
  std::size_t at = 0;
  while (at < events_.size() || gather_one(deadline)) {
    if (const Event* event = std::get_if<Event>(&events_[at])) {
      Event found = *event;
      events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(at));
      return found;
    }
    ++at;
  }
  return std::nullopt;
}

}  // namespace suite::sessions
