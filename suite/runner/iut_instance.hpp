// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One copy of the IUT and its share of the cases: runs and captures each case, watches the log of
// the IUT's kernel, repeats attempts where needed, and restarts the IUT's host.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/epoll_loop.hpp"
#include "suite/jobs/schedule.hpp"
#include "suite/jobs/worker_pool.hpp"
#include "suite/runner/attempt_verdict.hpp"
#include "suite/runner/case_pcap.hpp"
#include "suite/runner/kernel_incident.hpp"
#include "suite/runner/outage_detector.hpp"
#include "suite/runner/plan.hpp"
#include "suite/runner/self_test_record.hpp"
#include "suite/runner/test_network.hpp"

namespace suite::runner {

class IutInstance final : jobs::WorkerPool::Client {
 public:
  /// Called from the event loop.
  class Observer {
   public:
    virtual ~Observer() = default;
    /// The first agent has reported what the IUT is.
    virtual void instance_met(IutInstance& instance) = 0;
    virtual void case_started(const std::string& id) = 0;
    /// The attempt ended without anything to judge, and runs again.
    virtual void case_returned(const std::string& id) = 0;
    enum class Again : std::uint8_t { no, beside_others, alone };
    /// An attempt has ended and its record is complete, except for the gate's judgement.
    /// `accompanied`: others ran meanwhile that share the IUT. Returns whether the case is to be
    /// attempted again.
    virtual Again case_judged(results::CaseRecord record, bool accompanied) = 0;
    /// There are this many more attempts than cases.
    virtual void more_to_do(std::size_t attempts) = 0;
    virtual void instance_reports(const std::string& line) = 0;
    /// The run cannot continue. One line.
    virtual void instance_lost(const std::string& why) = 0;
    /// Whether this is a known, occasional message of the IUT's kernel.
    [[nodiscard]] virtual bool is_known_kernel_message(const std::string& excerpt) const = 0;
  };
  /// What all instances of a run share, and what outlives them.
  struct RunContext {
    base::EpollLoop& loop;
    const SuiteParts& parts;
    const Options& options;
    const SelfTestRecord& self_test;
    const std::filesystem::path& folder;
    /// Attempts of earlier sessions, by the record's id.
    const std::map<std::string, std::uint32_t>& attempts;
  };
  /// `place` counts the instances of a run, from 0.
  IutInstance(const RunContext& around, std::size_t place, std::unique_ptr<TestNetwork> network,
              Plan plan, Observer& observer);
  ~IutInstance() override;

  /// Starts the IUT's host, and one agent, which reports what the IUT is.
  void meet();
  /// Lets the cases start, after `meet()` is done.
  void begin();
  /// Drops what has not started, and prevents further starts.
  void give_up();
  /// Ends all workers, either immediately or after they have ended their agents.
  void dismiss(bool at_once) { pool_.dismiss(at_once); }
  /// All attempts have ended or were given up, and every record is complete.
  [[nodiscard]] bool done() const;

  [[nodiscard]] const TestNetwork& network() const { return *network_; }
  /// What the IUT's agent has reported about the IUT, once it has.
  [[nodiscard]] const std::optional<iut::Hello>& hello() const { return hello_; }
  /// The waiting cases take at least this many seconds, if each case takes one.
  [[nodiscard]] double bound() const { return schedule_.bound(); }
  [[nodiscard]] std::size_t cases() const { return list_.size(); }
  /// The evidence of its cases; close it before reporting on the capture.
  [[nodiscard]] CasePcaps& evidence() { return *evidence_; }
  /// Why there is no capture; empty while there is one.
  [[nodiscard]] const std::string& no_capture() const { return no_capture_; }

 private:
  [[nodiscard]] std::unique_ptr<jobs::RunCapture> open_capture();
  [[nodiscard]] bool recovering();
  void bring_up(const std::function<void()>& then);
  void pump();

  std::optional<jobs::Message> setup(std::uint32_t worker) override;
  jobs::Order order(const jobs::Attempt& attempt) override;
  std::optional<jobs::WorkerReport> read(const jobs::Message& message) override;
  void attempt_started(const jobs::Attempt& attempt) override;
  void attempt_ended(jobs::Attempt attempt, std::any result) override;
  void worker_died(jobs::Attempt attempt, const jobs::WorkerDeath& death) override;
  void pool_changed() override;
  [[nodiscard]] bool start_failed(const std::string& why) override;
  void pool_lost(const std::string& why) override { observer_.instance_lost(why); }
  [[nodiscard]] bool host_is_up() override { return network_->up(); }

  [[nodiscard]] const cases::Case& case_of(const jobs::Attempt& attempt) const {
    return *list_.at(attempt.job.number);
  }
  void attempt_over(jobs::Attempt attempt, cases::CaseOutcome outcome);
  void conclude(jobs::Attempt attempt, cases::CaseOutcome outcome);
  void look_for_leaks(jobs::Attempt attempt, cases::CaseOutcome outcome);
  [[nodiscard]] bool asks_for_contact();
  void ask_sentinel();
  void sentinel_answered(const jobs::Attempt& attempt, const cases::CaseOutcome& outcome);
  void contact_lost();
  void reset_host();
  void contact_restored();
  void wait_and_ask_again();
  void release_held();
  void release_after_outage();
  [[nodiscard]] std::string account_of_outage() const;

  [[nodiscard]] std::optional<Ruling> earlier_death(const jobs::Attempt& attempt,
                                                    const cases::CaseOutcome& outcome);
  [[nodiscard]] KernelEvidence look_at_kernel(const jobs::Attempt& attempt);
  [[nodiscard]] std::vector<std::size_t> flight(const jobs::Attempt& attempt) const;
  void repeat_alone(const jobs::Attempt& attempt);
  void repeat_suspect(const jobs::Attempt& attempt);
  [[nodiscard]] results::CaseRecord describe(const jobs::Attempt& attempt) const;
  [[nodiscard]] std::string sentinel_name(const jobs::Attempt& attempt) const;
  [[nodiscard]] std::string control_name(const jobs::Attempt& attempt) const;
  [[nodiscard]] const Control* control_of(const jobs::Attempt& attempt) const;
  void settle(results::CaseRecord record, const jobs::Job& job, bool complaint);
  void judge(results::CaseRecord record);

  const RunContext around_;
  const std::size_t place_;
  Observer& observer_;
  std::unique_ptr<TestNetwork> network_;
  const std::vector<const cases::Case*> list_;
  /// The attempts that were started last, by the record's id.
  std::map<std::string, jobs::Job> jobs_;
  jobs::Schedule schedule_;
  jobs::WorkerPool pool_;
  std::optional<iut::Hello> hello_;
  cases::Controls controls_;
  std::string no_capture_;
  std::optional<CasePcaps> evidence_;
  Incidents incidents_;
  /// The rulings of first attempts whose workers crashed, by case.
  std::map<std::size_t, Ruling> deaths_;
  struct Recent {
    jobs::Attempt attempt;
    base::TimePoint ended;
  };
  std::deque<Recent> recent_;  ///< recent enough for a kernel message to be about them
  OutageDetector outage_;
  struct Held {
    jobs::Attempt attempt;
    cases::CaseOutcome outcome;
  };
  std::vector<Held> held_;  ///< unanswered: the sentinel will show whether the IUT is at fault
  /// For each job, the number of outages in which it was unanswered.
  std::map<std::size_t, unsigned> outages_;
  /// What the IUT's kernel has complained of since contact was lost.
  std::string complaint_;
  std::set<std::size_t> accompanied_;  ///< the cases whose last attempt ran beside another one
  bool asking_ = false;                ///< the sentinel runs, or waits for a worker
  bool crashed_ = false;               ///< the IUT's kernel, since the last reset
  bool was_reset_ = false;             ///< the IUT's host, since its last answer
  std::optional<base::TimerId> next_question_, outage_timer_;
  std::string leaks_;  ///< what the last sentinel is to be failed by
  bool looking_for_leaks_ = false;
  bool met_ = false, begun_ = false, given_up_ = false;
  bool coming_up_ = false;  ///< the IUT's host
};

}  // namespace suite::runner
