// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RNICs that report wrongly: completions, asynchronous events and their handlers.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "reference_rnic/deviants/faults.hpp"
#include "reference_rnic/deviants/rnic_tables.hpp"
#include "reference_rnic/verbs/work_rules.hpp"

namespace rnic::deviants {
namespace {

using verbs::AsyncEvent;
using verbs::Completion;
using verbs::Operation;
using verbs::QueuePairHandle;
using verbs::Status;
using verbs::StreamChange;
using verbs::WorkEvent;
using Completions = std::vector<Completion>;

bool is_message(const Completion& completion) {
  return completion.operation == Operation::receive && completion.status == Status::success;
}

// ---- completions of sends ----

struct ReadCompletesAsSend : verbs::Decisions {
  void work_reported(const WorkEvent&, Completions& completions) override {
    for (Completion& each : completions)
      if (each.operation == Operation::read) each.operation = Operation::send;
  }
};

struct UnsignaledFailureSilent : verbs::Decisions {
  void work_reported(const WorkEvent& event, Completions& completions) override {
    if (!event.signaled) completions.clear();
  }
};

bool is_local(Operation operation) {
  return operation == Operation::bind_window || operation == Operation::local_invalidate ||
         operation == Operation::register_region;
}

/// Heeds the flag of a request where all are to be signaled: of local work, or of other requests.
template <bool local>
struct AllSignaledIgnored : verbs::Decisions {
  void work_reported(const WorkEvent& event, Completions& completions) override {
    if (event.status == Status::success && !event.signaled_by_request &&
        is_local(event.operation) == local)
      completions.clear();
  }
};

/// Local work completes like any that is signaled.
struct UnsignaledLocalWorkCompletes : verbs::Decisions {
  void work_reported(const WorkEvent& event, Completions& completions) override {
    if (event.signaled || !is_local(event.operation) || !completions.empty()) return;
    completions.push_back({.id = event.id,
                           .queue_pair = event.queue_pair,
                           .operation = event.operation,
                           .status = event.status});
  }
};

struct FlushReportedAsSuccess : verbs::Decisions {
  void work_reported(const WorkEvent&, Completions& completions) override {
    for (Completion& each : completions)
      if (each.status == Status::flushed && each.operation != Operation::receive)
        each.status = Status::success;
  }
};

struct ReadFailureReportedAsSuccess : verbs::Decisions {
  void work_reported(const WorkEvent&, Completions& completions) override {
    for (Completion& each : completions)
      if (each.operation == Operation::read || each.operation == Operation::read_invalidate)
        each.status = Status::success;
  }
};

/// The stream's deviant of the same deviation reports the RTR indication to the RNIC.
struct RtrCompletionShown : verbs::Decisions {
  void work_reported(const WorkEvent& event, Completions& completions) override {
    if (event.moment == WorkEvent::Moment::own_work_done)
      completions.push_back(
          {.id = event.id, .queue_pair = event.queue_pair, .status = event.status});
  }
};

// ---- completions of receives ----

struct ReceiveLengthWrong : verbs::Decisions {
  void work_reported(const WorkEvent& event, Completions& completions) override {
    for (Completion& each : completions)
      if (is_message(each)) each.length = static_cast<std::uint32_t>(event.room);
  }
};

struct SolicitedEventLost : verbs::Decisions {
  void work_reported(const WorkEvent&, Completions& completions) override {
    for (Completion& each : completions) each.solicited = false;
  }
};

struct ImmediateDataWithheld : verbs::Decisions {
  void work_reported(const WorkEvent&, Completions& completions) override {
    for (Completion& each : completions) each.immediate.reset();
  }
};

struct ImmediateWithoutCompletion : verbs::Decisions {
  void work_reported(const WorkEvent&, Completions& completions) override {
    std::erase_if(completions, [](const Completion& each) { return each.immediate.has_value(); });
  }
};

struct ReceiveFlushLost : verbs::Decisions {
  void work_reported(const WorkEvent&, Completions& completions) override {
    std::erase_if(completions, [](const Completion& each) {
      return each.operation == Operation::receive && each.status == Status::flushed;
    });
  }
};

struct ReceiveCompletesBeforePlacement : verbs::Decisions {
  void work_reported(const WorkEvent& event, Completions& completions) override {
    if (event.moment == WorkEvent::Moment::receive_taken)
      completions.push_back({.id = event.id,
                             .queue_pair = event.queue_pair,
                             .operation = Operation::receive,
                             .length = static_cast<std::uint32_t>(event.room)});
    else if (event.taken)
      completions.clear();
  }
};

/// The stream's deviant of the same deviation reports the message twice to the RNIC.
struct MessageDeliveredTwice : verbs::Decisions {
  void work_reported(const WorkEvent&, Completions& completions) override {
    if (!completions.empty() && is_message(completions.back()))
      completions.push_back(Completion(completions.back()));
  }
};

/// Holds one message of each queue pair back until the next one has completed.
template <std::uint32_t Longest>
struct MessagesSwapped : verbs::Decisions {
  void work_reported(const WorkEvent& event, Completions& completions) override {
    if (completions.empty() || !is_message(completions.front())) return;
    const auto held = held_.find(event.queue_pair);
    if (held != held_.end()) {
      completions.push_back(held->second);
      held_.erase(held);
    } else if (completions.front().length >= Longest) {
      held_.emplace(event.queue_pair, completions.front());
      completions.clear();
    }
  }
  std::map<QueuePairHandle, Completion> held_;
};
using ReceivesCompleteOutOfOrder = MessagesSwapped<0>;
using LongMessageDeliveredLate = MessagesSwapped<1025>;

struct NotificationLost : verbs::Decisions {
  void handler_due(verbs::CompletionQueueHandle queue, const verbs::Arming&, const Completion&,
                   verbs::Wakeup& wakeup) override {
    wakeup.called = wakeup.called && woken_.insert(queue).second;
  }
  std::set<verbs::CompletionQueueHandle> woken_;
};

struct NotificationLostNowAndThen : verbs::Decisions {
  void handler_due(verbs::CompletionQueueHandle queue, const verbs::Arming&, const Completion&,
                   verbs::Wakeup& wakeup) override {
    if (wakeup.called && ++calls_[queue] % 100 == 0) wakeup.called = false;
  }
  std::map<verbs::CompletionQueueHandle, int> calls_;
};

struct SolicitedArmWakesForAll : verbs::Decisions {
  void handler_due(verbs::CompletionQueueHandle, const verbs::Arming&, const Completion&,
                   verbs::Wakeup& wakeup) override {
    wakeup.called = true;
  }
};

struct SolicitedArmNeverWakes : verbs::Decisions {
  void handler_due(verbs::CompletionQueueHandle, const verbs::Arming& arming,
                   const Completion& completion, verbs::Wakeup& wakeup) override {
    if (arming.in_force == verbs::Arm::solicited && completion.status == Status::success)
      wakeup.called = false;
  }
};

struct FailureIsNotSolicited : verbs::Decisions {
  void handler_due(verbs::CompletionQueueHandle, const verbs::Arming& arming,
                   const Completion& completion, verbs::Wakeup& wakeup) override {
    if (arming.in_force == verbs::Arm::solicited && completion.status != Status::success)
      wakeup.called = false;
  }
};

struct LaterArmOverrides : verbs::Decisions {
  void handler_due(verbs::CompletionQueueHandle, const verbs::Arming& arming,
                   const Completion& completion, verbs::Wakeup& wakeup) override {
    if (arming.asked_last == verbs::Arm::solicited && !completion.solicited &&
        completion.status == Status::success)
      wakeup.called = false;
  }
};

struct StaysArmed : verbs::Decisions {
  void handler_due(verbs::CompletionQueueHandle, const verbs::Arming&, const Completion&,
                   verbs::Wakeup& wakeup) override {
    wakeup.stays_armed = true;
  }
};

struct StaysArmedForSolicited : verbs::Decisions {
  void handler_due(verbs::CompletionQueueHandle, const verbs::Arming& arming, const Completion&,
                   verbs::Wakeup& wakeup) override {
    wakeup.stays_armed = arming.in_force == verbs::Arm::solicited;
  }
};

// ---- flushed work ----

bool is_flushed_send(const Completion& completion) {
  return completion.status == Status::flushed && completion.operation != Operation::receive;
}

/// Holds the first flushed request of each send queue back until another one is flushed.
struct FlushedOutOfOrder : verbs::Decisions {
  void work_reported(const WorkEvent& event, Completions& completions) override {
    if (completions.empty() || !is_flushed_send(completions.front())) return;
    const auto held = held_.find(event.queue_pair);
    if (held != held_.end()) {
      completions.push_back(held->second);
      held_.erase(held);
    } else if (turned_.insert(event.queue_pair).second) {
      held_.emplace(event.queue_pair, completions.front());
      completions.clear();
    }
  }
  std::map<QueuePairHandle, Completion> held_;
  std::set<QueuePairHandle> turned_;
};

/// Names the queue pair that was the first to report anything.
struct FlushNamesAnotherEndpoint : verbs::Decisions {
  void work_reported(const WorkEvent& event, Completions& completions) override {
    if (!first_) first_ = event.queue_pair;
    for (Completion& each : completions)
      if (each.status == Status::flushed) each.queue_pair = *first_;
  }
  std::optional<QueuePairHandle> first_;
};

struct AtomicFlushLost : verbs::Decisions {
  void work_reported(const WorkEvent&, Completions& completions) override {
    std::erase_if(completions, [](const Completion& each) {
      return is_flushed_send(each) &&
             (each.operation == Operation::fetch_add || each.operation == Operation::compare_swap);
    });
  }
};

/// Holds the first flushed request of each send queue back until later work has been flushed.
struct LaterWorkOvertakes : verbs::Decisions {
  void post_checked(const verbs::Posting& posting, std::optional<verbs::Error>&) override {
    if (posting.state == verbs::QueuePairState::error) late_.insert(posting.queue_pair);
  }
  void work_reported(const WorkEvent& event, Completions& completions) override {
    if (completions.empty() || !is_flushed_send(completions.front())) return;
    const auto held = held_.find(event.queue_pair);
    if (held == held_.end()) {
      held_.emplace(event.queue_pair, completions.front());
      completions.clear();
    } else if (late_.erase(event.queue_pair) != 0) {
      completions.push_back(held->second);
    }
  }
  std::set<QueuePairHandle> late_;
  std::map<QueuePairHandle, Completion> held_;
};

// ---- asynchronous events ----

struct TerminateNotReported : verbs::Decisions {
  void event_raised(QueuePairHandle, StreamChange change,
                    std::optional<AsyncEvent>& event) override {
    if (change == StreamChange::terminate_received) event.reset();
  }
};

/// Hides the faults that it finds on the stream itself, if `hidden` holds for their cause.
template <bool (*hidden)(wire::TerminateCause)>
struct FaultNotReported : verbs::Decisions {
  void event_raised(QueuePairHandle, StreamChange change,
                    std::optional<AsyncEvent>& event) override {
    if (change == StreamChange::fault_found && event && event->cause && hidden(*event->cause))
      event.reset();
  }
};

struct LlpLossNotReported : verbs::Decisions {
  void event_raised(QueuePairHandle, StreamChange change,
                    std::optional<AsyncEvent>& event) override {
    if (change == StreamChange::llp_lost) event.reset();
  }
};

struct LowSharedQueueNotReported : verbs::Decisions {
  void shared_receive_taken(bool& /*last*/, bool& limit_reported) override {
    limit_reported = false;
  }
};

struct EventNamesNothing : verbs::Decisions {
  void event_given(std::optional<AsyncEvent>& event) override {
    if (event) *event = {.kind = event->kind, .cause = event->cause, .detail = event->detail};
  }
};

/// Reports every error of a stream in one way.
template <verbs::AsyncKind Kind>
struct StreamErrorReportedAs : verbs::Decisions {
  void event_given(std::optional<AsyncEvent>& event) override {
    if (event && event->queue_pair && event->kind != verbs::AsyncKind::last_buffer)
      event->kind = Kind;
  }
};
using StreamErrorReportedAsDeviceError = StreamErrorReportedAs<verbs::AsyncKind::device_fatal>;
using EveryErrorIsAnAccessError = StreamErrorReportedAs<verbs::AsyncKind::queue_pair_access_error>;

template <verbs::AsyncKind Kind>
struct EventNotReported : verbs::Decisions {
  void event_given(std::optional<AsyncEvent>& event) override {
    if (event && event->kind == Kind) event.reset();
  }
};
using OverrunNotReported = EventNotReported<verbs::AsyncKind::completion_queue_error>;

/// Forgets that flushed work can be what a completion queue has no room for.
struct OverrunByFlushNotReported : verbs::Decisions {
  void work_reported(const WorkEvent&, Completions& completions) override {
    if (!completions.empty()) flushed_ = completions.back().status == Status::flushed;
  }
  void event_given(std::optional<AsyncEvent>& event) override {
    if (flushed_ && event && event->kind == verbs::AsyncKind::completion_queue_error) event.reset();
  }

 private:
  bool flushed_ = false;  ///< the last completion
};
using LastBufferNotReported = EventNotReported<verbs::AsyncKind::last_buffer>;

struct GracefulCloseRaisesError : verbs::Decisions {
  void event_raised(QueuePairHandle queue_pair, StreamChange change,
                    std::optional<AsyncEvent>& event) override {
    if (change == StreamChange::closed)
      event = AsyncEvent{.kind = verbs::AsyncKind::queue_pair_fatal,
                         .queue_pair = queue_pair,
                         .detail = "the stream has been closed"};
  }
};

constexpr RnicRow rows[] = {
    rnic_row<ReadCompletesAsSend>(Deviation::read_completes_as_send),
    rnic_row<UnsignaledFailureSilent>(Deviation::unsignaled_failure_silent),
    rnic_row<AllSignaledIgnored<false>>(Deviation::all_signaled_ignored),
    rnic_row<AllSignaledIgnored<true>>(Deviation::all_signaled_ignored_for_local_work),
    rnic_row<UnsignaledLocalWorkCompletes>(Deviation::unsignaled_local_work_completes),
    rnic_row<FlushReportedAsSuccess>(Deviation::flush_reported_as_success),
    rnic_row<ReadFailureReportedAsSuccess>(Deviation::read_failure_reported_as_success),
    rnic_row<RtrCompletionShown>(Deviation::rtr_completion_shown),
    rnic_row<ReceiveLengthWrong>(Deviation::receive_length_wrong),
    rnic_row<SolicitedEventLost>(Deviation::solicited_event_lost),
    rnic_row<ImmediateDataWithheld>(Deviation::immediate_data_withheld),
    rnic_row<ImmediateWithoutCompletion>(Deviation::immediate_without_completion),
    rnic_row<ReceiveFlushLost>(Deviation::receive_flush_lost),
    rnic_row<ReceiveCompletesBeforePlacement>(Deviation::receive_completes_before_placement),
    rnic_row<MessageDeliveredTwice>(Deviation::message_delivered_twice),
    rnic_row<ReceivesCompleteOutOfOrder>(Deviation::receives_complete_out_of_order),
    rnic_row<LongMessageDeliveredLate>(Deviation::long_message_delivered_late),
    rnic_row<NotificationLost>(Deviation::notification_lost),
    rnic_row<NotificationLostNowAndThen>(Deviation::notification_lost_now_and_then),
    rnic_row<SolicitedArmWakesForAll>(Deviation::solicited_arm_wakes_for_all),
    rnic_row<SolicitedArmNeverWakes>(Deviation::solicited_arm_never_wakes),
    rnic_row<FailureIsNotSolicited>(Deviation::failure_is_not_solicited),
    rnic_row<LaterArmOverrides>(Deviation::later_arm_overrides),
    rnic_row<StaysArmed>(Deviation::queue_stays_armed),
    rnic_row<StaysArmedForSolicited>(Deviation::queue_stays_armed_for_solicited),
    rnic_row<FlushedOutOfOrder>(Deviation::flushed_out_of_order),
    rnic_row<FlushNamesAnotherEndpoint>(Deviation::flush_names_another_endpoint),
    rnic_row<AtomicFlushLost>(Deviation::atomic_flush_lost),
    rnic_row<LaterWorkOvertakes>(Deviation::later_work_overtakes),
    rnic_row<EventNamesNothing>(Deviation::event_names_nothing),
    rnic_row<StreamErrorReportedAsDeviceError>(Deviation::stream_error_reported_as_device_error),
    rnic_row<EveryErrorIsAnAccessError>(Deviation::every_error_is_an_access_error),
    rnic_row<OverrunNotReported>(Deviation::overrun_not_reported),
    rnic_row<OverrunByFlushNotReported>(Deviation::overrun_by_flush_not_reported),
    rnic_row<LastBufferNotReported>(Deviation::last_buffer_not_reported),
    rnic_row<TerminateNotReported>(Deviation::terminate_not_reported),
    rnic_row<FaultNotReported<is_any_fault>>(Deviation::stream_fault_not_reported),
    rnic_row<FaultNotReported<is_llp_fault>>(Deviation::llp_fault_not_reported),
    rnic_row<FaultNotReported<is_crc_fault>>(Deviation::crc_fault_not_reported),
    rnic_row<FaultNotReported<is_ddp_version_fault>>(Deviation::ddp_version_fault_not_reported),
    rnic_row<FaultNotReported<is_read_refusal>>(Deviation::read_refusal_not_reported),
    rnic_row<LlpLossNotReported>(Deviation::llp_loss_not_reported),
    rnic_row<LowSharedQueueNotReported>(Deviation::low_shared_queue_not_reported),
    rnic_row<GracefulCloseRaisesError>(Deviation::graceful_close_raises_error),
};

}  // namespace

std::span<const RnicRow> completion_deviants() { return rows; }

}  // namespace rnic::deviants
