// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The software RNIC's stream: a sans-I/O machine joined with the queue pair that it serves, if it
// has one yet.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "reference_rnic/verbs/core.hpp"
#include "reference_rnic/verbs/queue_pair.hpp"

namespace rnic::verbs {

class SoftStream final : public RdmaStream, private stream::Memory, public StreamLink {
 public:
  SoftStream(Core& core, stream::Config config)
      : core_(core),
        machine_(stream::make_stream(std::move(config), *this, core.host.now(),
                                     core.decisions.for_stream())) {}
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

  std::span<const wire::MutableBytes> receive_targets() override {
    return machine_->receive_targets();
  }
  void received(std::size_t count) override {
    during([&] { machine_->received(count, now()); });
  }
  void peer_closed() override {
    during([&] { machine_->peer_closed(now()); });
  }
  void lost() override {
    during([&] { machine_->lost(now()); });
  }
  bool holding() const override { return machine_->holding(); }
  void gather(std::vector<wire::Bytes>& list, std::size_t limit,
              std::vector<std::size_t>* boundaries) override {
    if (!abandoned_) machine_->gather(list, limit, boundaries);
  }
  void transmitted(std::size_t count) override {
    during([&] { machine_->transmitted(count, now()); });
  }
  stream::Closing closing() const override {
    return abandoned_ ? stream::Closing::reset : machine_->closing();
  }
  void close_done() override {
    during([&] { machine_->close_done(now()); });
  }
  std::optional<stream::TimePoint> next_wakeup() const override { return machine_->next_wakeup(); }
  void wakeup() override {
    during([&] { machine_->wakeup(now()); });
  }
  void set_emss(std::size_t emss) override { machine_->set_emss(emss); }
  void accept(std::uint16_t ird, std::uint16_t ord, wire::Bytes private_data) override {
    during([&] { machine_->accept(ird, ord, private_data, now()); });
  }
  void reject(wire::Bytes private_data) override {
    during([&] { machine_->reject(private_data, now()); });
  }
  void disconnect() override {
    if (pair_ != nullptr) pair_->closing();
    during([&] { machine_->disconnect(now()); });
  }
  void abort() override {
    during([&] { machine_->abort(now()); });
  }
  std::optional<stream::Event> next_event() override {
    if (events_.empty()) return std::nullopt;
    stream::Event event = std::move(events_.front());
    events_.pop_front();
    return event;
  }
  stream::State state() const override { return machine_->state(); }
  const stream::Negotiated& negotiated() const override { return machine_->negotiated(); }

 private:
  [[nodiscard]] stream::TimePoint now() const { return core_.host.now(); }

  // StreamLink: what the queue pair asks of us. Its owner is told, and gathers.
  void post(stream::Work work) override { machine_->post(std::move(work), now()); }
  void posted() override {
    during([] {});
    attention();
  }
  void receives_posted() override {
    if (!machine_->holding()) return;
    during([&] { machine_->buffers_posted(now()); });
    attention();
  }
  void close_from_pair() override {
    disconnect();
    attention();
  }
  void abort_from_pair() override {
    bool ends = true;
    core_.decisions.ask(&Decisions::abort_asked, ends);
    if (!ends) return;
    abort();
    attention();
  }
  void abandon() override {
    pair_ = nullptr;
    abandoned_ = true;
    attention();
  }
  void attention() {
    if (observer_ != nullptr) observer_->attention();
  }

  /// Runs one call into the machine, then hands on what became of it.
  template <typename Call>
  void during(Call&& call) {
    std::forward<Call>(call)();
    if (pair_ != nullptr) pair_->go_on();
    hand_on();
    if (abort_due_ && machine_->state() == stream::State::operational) {
      machine_->abort(now());
      hand_on();
    }
    abort_due_ = false;
    if (pair_ != nullptr) pair_->flush_after_fault();
  }
  /// The end is told last: what the queue pair has held back behind work that ends now is posted
  /// then, and ends as well.
  void hand_on() {
    std::optional<stream::Event> end;
    while (auto event = machine_->next_event()) {
      if (std::holds_alternative<stream::Closed>(*event))
        end = std::move(event);
      else
        std::visit([&](auto& news) { handle(news); }, *event);
    }
    if (end) handle(std::get<stream::Closed>(*end));
  }
  void handle(stream::WorkDone& news) {
    // A failed request ends the stream, whichever side found the fault (RFC 5040 section 7.1).
    if (pair_ != nullptr && pair_->work_done(news)) abort_due_ = true;
  }
  void handle(stream::MessageReceived& news) {
    if (pair_ != nullptr) pair_->message_received(news);
  }
  void handle(stream::ReceiveFailed& news) {
    if (pair_ != nullptr) pair_->receive_failed(news);
  }
  void handle(stream::Established& news) {
    if (pair_ != nullptr) pair_->established();
    keep(std::move(news));
  }
  void handle(stream::TerminateReceived& news) {
    if (pair_ != nullptr) pair_->terminate_received(news.cause);
    keep(std::move(news));
  }
  void handle(stream::Failed& news) {
    if (pair_ != nullptr) pair_->stream_failed(news.cause, news.detail);
    keep(std::move(news));
  }
  void handle(stream::Lost& news) {
    if (pair_ != nullptr) pair_->stream_lost();
    keep(std::move(news));
  }
  void handle(stream::Closed& news) {
    end_pair();
    keep(std::move(news));
  }
  void handle(stream::Rejected& news) { keep(std::move(news)); }
  void handle(stream::StartupFailed& news) { keep(std::move(news)); }
  void handle(stream::ConnectRequest& news) { keep(std::move(news)); }
  void handle(stream::PeerClosed& news) { keep(std::move(news)); }
  template <typename News>
  void keep(News news) {
    events_.emplace_back(std::move(news));
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
  std::deque<stream::Event> events_;
  bool abandoned_ = false;  ///< the queue pair was destroyed under it
  bool ended_ = false;
  bool abort_due_ = false;
  std::unique_ptr<stream::Stream> machine_;  ///< last: it may call us while it dies
};

}  // namespace rnic::verbs
