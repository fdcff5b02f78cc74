// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The implementation of Stream: its state, and how its parts work together.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "reference_rnic/stream/context.hpp"
#include "reference_rnic/stream/deframer.hpp"
#include "reference_rnic/stream/llp_state.hpp"
#include "reference_rnic/stream/read_queue.hpp"
#include "reference_rnic/stream/segmenter.hpp"
#include "reference_rnic/stream/send_queue.hpp"
#include "reference_rnic/stream/set_up.hpp"
#include "reference_rnic/stream/startup.hpp"
#include "reference_rnic/stream/tagged_receive.hpp"
#include "reference_rnic/stream/transmitter.hpp"
#include "reference_rnic/stream/untagged_receive.hpp"

namespace rnic::stream {

class Machine final : public Stream, private SegmentSink {
 public:
  Machine(Config config, Memory& memory, TimePoint now, StreamDecisions decisions,
          std::shared_ptr<Scratch> scratch);

  [[nodiscard]] std::span<const wire::MutableBytes> receive_targets() override {
    return deframer_.targets();
  }
  void received(std::size_t count, TimePoint now) override;
  void peer_closed(TimePoint now) override;
  void lost(TimePoint now) override;
  void gather(std::vector<wire::Bytes>& list, std::size_t limit,
              std::vector<std::size_t>* boundaries) override;
  void transmitted(std::size_t count, TimePoint now) override;
  [[nodiscard]] Closing closing() const override;
  void close_done(TimePoint now) override;
  [[nodiscard]] std::optional<TimePoint> next_wakeup() const override { return deadline_; }
  void wakeup(TimePoint now) override;
  void accept(std::uint16_t ird, std::uint16_t ord, wire::Bytes private_data,
              TimePoint now) override;
  void reject(wire::Bytes private_data, TimePoint now) override;
  void post(Work work, TimePoint now) override;
  void disconnect(TimePoint now) override;
  void abort(TimePoint now) override;
  void reset(TimePoint now) override;
  void set_emss(std::size_t emss) override {
    context_.decisions.ask(&Decisions::emss, context_, emss);
    context_.config.emss = emss;
  }
  [[nodiscard]] std::optional<Event> next_event() override;
  void buffers_posted(TimePoint now) override;
  [[nodiscard]] bool holding() const override { return deframer_.holding(); }
  [[nodiscard]] State state() const override { return state_; }
  [[nodiscard]] const Negotiated& negotiated() const override { return context_.negotiated; }
  [[nodiscard]] StreamDecisions& decisions() override { return context_.decisions; }

 private:
  // executes the decisions of startup.cpp (machine_startup.cpp)
  void read_startup_frame();
  [[nodiscard]] bool request_overrun() const;
  void take_request(const wire::ParsedMpaFrame& parsed);
  void take_reply(const wire::ParsedMpaFrame& parsed);
  void enter_operation_after_reply(ReplyVerdict verdict);
  void fail_set_up(const ReplyVerdict& verdict);
  void fail_startup(StartupFault fault);
  void limit_startup(std::optional<TimePoint> deadline);
  void startup_frame_sent();
  void reply_sent();
  void end_startup(std::optional<StartupFault> fault);
  void send_rtr(RtrKind kind);
  void establish(std::vector<std::byte> private_data);
  void fpdus_are_exchanged();
  void set_up_is_reported();
  [[nodiscard]] bool in_startup() const;
  [[nodiscard]] bool awaits_rtr() const;
  [[nodiscard]] bool is_rtr(const IncomingSegment& incoming) const;

  // segments and messages that come in (machine_receive.cpp)
  [[nodiscard]] bool holds_back(const IncomingSegment& segment) override;
  std::span<const wire::MutableBytes> begin_segment(const IncomingSegment& segment) override;
  std::span<const wire::MutableBytes> rest_of_segment(std::size_t left) override;
  void end_segment() override;
  void framing_fault(Fault fault) override;
  [[nodiscard]] std::expected<std::span<const wire::MutableBytes>, Fault> check_segment(
      Incoming& incoming);
  void first_fpdu_validated();
  [[nodiscard]] bool passes_over(const Fault& fault) const;
  void deliver(const DeliveredMessage& message);
  void deliver_send(const DeliveredMessage& message);
  void deliver_request(const DeliveredMessage& message);
  void deliver_atomic_response(const DeliveredMessage& message);
  void deliver_terminate(const DeliveredMessage& message);
  [[nodiscard]] std::expected<std::optional<std::uint32_t>, Fault> invalidate_for(
      wire::Opcode opcode);
  void blame_terminated_read(const wire::Terminate& terminate);

  // messages that go out, and the end (machine.cpp)
  [[nodiscard]] bool produce();
  [[nodiscard]] bool begin_message();
  [[nodiscard]] std::expected<std::optional<OutgoingMessage>, Fault> next_message();
  [[nodiscard]] bool may_send_fpdus() const;
  void message_sent(const MessageTag& tag);
  void run_local_work();
  void keep_alive_while_closing();
  /// What of the queued output is still sent when the transfers end.
  enum class Leaves : std::uint8_t { all_queued, begun_message, begun_fpdu };
  void end_transfers(Leaves leaves, WorkStatus unfinished = WorkStatus::flushed);
  void report_failed_set_up(StartupFault fault);
  void give_up_receive();
  void finish();
  void finish_by_reset();
  [[nodiscard]] bool drained() const;
  [[nodiscard]] Ending ending() const;
  [[nodiscard]] Closing chosen(const Choice<Closing>& choice) const;

  // errors, and the Terminate that is sent (machine_terminate.cpp)
  void fail(const Fault& fault, Leaves leaves = Leaves::begun_message);
  [[nodiscard]] bool may_send_terminate() const;
  [[nodiscard]] Reaction reaction_to(const Fault& fault) const;
  [[nodiscard]] bool waiting_messages_first() const;
  void queue_terminate(const Fault& fault);
  [[nodiscard]] std::optional<OutgoingMessage> next_last_message();

  void llp_becomes(LlpState state);

  /// Where the messages to be sent come from.
  enum class Source : std::uint8_t { responses, posted_work };
  [[nodiscard]] static Source other(Source source) {
    return source == Source::responses ? Source::posted_work : Source::responses;
  }
  [[nodiscard]] bool waits_at(Source source) const {
    return source == Source::responses ? read_queue_.waiting() : send_queue_.waiting();
  }
  [[nodiscard]] std::expected<std::optional<OutgoingMessage>, Fault> next_from(Source source);

  std::shared_ptr<Scratch> scratch_;
  Context context_;
  State state_;
  Deframer deframer_;
  Transmitter transmitter_;
  Segmenter segmenter_;
  SendQueue send_queue_;
  ReadQueue read_queue_;
  UntaggedReceive untagged_;
  TaggedReceive tagged_;

  /// Responder: the Request that the consumer decides on, until it is rejected.
  std::optional<ConnectRequest> request_;
  std::vector<std::byte> reply_private_data_;  ///< initiator: for the Established event
  std::optional<Incoming> segment_;            ///< begun and not ended
  /// The fault of segment_, reported once its FPDU is complete.
  std::optional<Fault> segment_fault_;
  std::vector<OutgoingMessage> last_messages_;  ///< the Terminate that waits to be sent, if any
  bool terminate_queued_ = false;               ///< for the error that ends the stream
  std::optional<TimePoint> deadline_;
  TimePoint now_{};
  LlpState llp_ = LlpState::open;
  /// The source of the last message, or the one that was tried first.
  Source turn_ = Source::responses;
  SetUp set_up_ = SetUp::under_way;
};

}  // namespace rnic::stream
