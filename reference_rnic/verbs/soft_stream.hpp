// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The stream of the software RNIC: a sans-I/O machine joined with the queue pair that it serves,
// once it has one.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "base/fifo.hpp"
#include "reference_rnic/verbs/core.hpp"
#include "reference_rnic/verbs/queue_pair.hpp"

namespace rnic::verbs {

class SoftStream final : public RdmaStream, private stream::Memory, public StreamLink {
 public:
  SoftStream(Core& core, stream::Config config)
      : core_(core),
        machine_(stream::make_stream(std::move(config), *this, core.host.now(),
                                     core.decisions.for_stream(), core.scratch)) {}
  ~SoftStream() override {
    if (pair_ != nullptr) pair_->stream_ended(false);
  }
  SoftStream(const SoftStream&) = delete;
  SoftStream& operator=(const SoftStream&) = delete;

  void set_observer(Observer* observer) override { observer_ = observer; }
  [[nodiscard]] bool attach(QueuePair& pair) {
    if (pair_ != nullptr || ended_ || !pair.attach(*this)) return false;
    pair_ = &pair;
    return true;
  }

  stream::Stream& machine() override { return *machine_; }
  void disconnect() override {
    if (pair_ != nullptr) pair_->closing();
    call(&stream::Stream::disconnect, now());
  }
  std::optional<stream::Event> next_event() override {
    if (events_.empty()) return std::nullopt;
    stream::Event event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

 private:
  [[nodiscard]] stream::TimePoint now() const { return core_.host.now(); }

  // StreamLink: what the queue pair asks of us. The observer is notified, and gathers.
  void post(stream::Work&& work, stream::TimePoint now) override {
    posted_octets_ += wire::fpdu_size(wire::untagged_header_size);
    for (const wire::Bytes piece : work.gather) posted_octets_ += piece.size();
    machine_->post(std::move(work), now);
  }
  void posted() override {
    hand_on();
    const std::size_t octets = std::exchange(posted_octets_, 0);
    if (observer_ != nullptr) observer_->posted(octets);
  }
  void receives_posted() override {
    if (!machine_->holding()) return;
    call(&stream::Stream::buffers_posted, now());
    attention();
  }
  void close_from_pair() override {
    disconnect();
    attention();
  }
  void abort_from_pair() override {
    bool ends = true;
    core_.decisions.ask(&Decisions::pair_ending, Decisions::PairEnd::aborted, ends);
    if (!ends) return;
    call(&stream::Stream::abort, now());
    attention();
  }
  void abandon() override {
    pair_ = nullptr;
    call(&stream::Stream::reset, now());
    attention();
  }
  void attention() {
    if (observer_ != nullptr) observer_->attention();
  }

  void hand_on() override {
    if (pair_ != nullptr) pair_->go_on();
    hand_on_events();
    if (abort_due_ && machine_->state() == stream::State::operational) {
      machine_->abort(now());
      hand_on_events();
    }
    abort_due_ = false;
    if (pair_ != nullptr) pair_->flush_after_fault();
  }
  /// The end is reported last: work that the queue pair has held back until other work ends is
  /// posted after that work, and ends as well.
  void hand_on_events() {
    std::optional<stream::Event> end;
    while (auto next = machine_->next_event()) {
      if (std::holds_alternative<stream::Closed>(*next))
        end = std::move(next);
      else
        std::visit([&](auto& event) { handle(event); }, *next);
    }
    if (end) handle(std::get<stream::Closed>(*end));
  }
  void handle(stream::WorkDone& event) {
    // A failed request ends the stream, whichever side found the fault (RFC 5040 section 7.1).
    if (pair_ != nullptr && pair_->work_done(event)) abort_due_ = true;
  }
  void handle(stream::MessageReceived& event) {
    if (pair_ != nullptr) pair_->message_received(event);
  }
  void handle(stream::ReceiveFailed& event) {
    if (pair_ != nullptr) pair_->receive_failed(event);
  }
  void handle(stream::Established& event) {
    if (pair_ != nullptr) pair_->established();
    keep(std::move(event));
  }
  void handle(stream::TerminateReceived& event) {
    if (pair_ != nullptr) pair_->terminate_received(event.cause);
    keep(std::move(event));
  }
  void handle(stream::Failed& event) {
    if (pair_ != nullptr) pair_->stream_failed(event.cause, event.detail);
    keep(std::move(event));
  }
  void handle(stream::Lost& event) {
    if (pair_ != nullptr) pair_->stream_lost();
    keep(std::move(event));
  }
  void handle(stream::Closed& event) {
    end_pair();
    keep(std::move(event));
  }
  void handle(stream::Rejected& event) { keep(std::move(event)); }
  void handle(stream::StartupFailed& event) { keep(std::move(event)); }
  void handle(stream::ConnectRequest& event) { keep(std::move(event)); }
  void handle(stream::PeerClosed& event) { keep(std::move(event)); }
  template <typename Event>
  void keep(Event event) {
    events_.emplace_back(std::move(event));
  }
  void end_pair() {
    ended_ = true;
    if (pair_ != nullptr) std::exchange(pair_, nullptr)->stream_ended(true);
  }

  // stream::Memory: called from inside the machine.
  std::expected<wire::MutableBytes, stream::MemoryFault> resolve(
      std::uint32_t stag, std::uint64_t offset, std::size_t length,
      stream::MemoryAccess access) override {
    if (pair_ == nullptr) return std::unexpected(stream::MemoryFault::invalid_stag);
    return core_.tags.resolve(pair_->requester(), stag, offset, length, need_of(access));
  }
  std::expected<void, stream::MemoryFault> invalidate_by_peer(std::uint32_t stag) override {
    if (pair_ == nullptr) return std::unexpected(stream::MemoryFault::invalid_stag);
    return pair_->invalidate_by_peer(stag);
  }
  std::optional<stream::ReceiveBuffer> take_receive() override {
    return pair_ == nullptr ? std::nullopt : pair_->take_receive();
  }
  bool perform_local(std::uint64_t work_id) override {
    return pair_ != nullptr && pair_->perform_local(work_id);
  }

  Core& core_;
  QueuePair* pair_ = nullptr;
  Observer* observer_ = nullptr;
  base::Fifo<stream::Event> events_;
  std::size_t posted_octets_ = 0;
  bool ended_ = false;
  bool abort_due_ = false;
  std::unique_ptr<stream::Stream> machine_;  ///< last: it may call us in its destructor
};

}  // namespace rnic::verbs
