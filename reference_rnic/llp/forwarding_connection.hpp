// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A connection that forwards each call to the connection below it, and each event of that one to
// its own observer. A derived class overrides what differs.
#pragma once

#include <memory>
#include <utility>

#include "reference_rnic/llp/network.hpp"

namespace rnic::llp {

template <typename Below>
class ForwardingConnection : public Connection, protected Connection::Observer {
 public:
  explicit ForwardingConnection(std::unique_ptr<Below> below) : below_(std::move(below)) {}
  /// For Network::connect(), which wants the observer first: relay() is the observer of the
  /// connection below, and take() gets that connection before any other call.
  explicit ForwardingConnection(Connection::Observer& observer) : observer_(&observer) {}
  [[nodiscard]] Connection::Observer& relay() { return *this; }
  void take(std::unique_ptr<Below> below) { below_ = std::move(below); }

  void set_observer(Connection::Observer& observer) override {
    observer_ = &observer;
    below_->set_observer(*this);
  }
  Received receive(std::span<const wire::MutableBytes> targets) override {
    return below_->receive(targets);
  }
  std::size_t send(std::span<const wire::Bytes> pieces, bool end_segment) override {
    return below_->send(pieces, end_segment);
  }
  void shutdown_send() override { below_->shutdown_send(); }
  void reset() override { below_->reset(); }
  [[nodiscard]] base::Address local() const override { return below_->local(); }
  [[nodiscard]] base::Address remote() const override { return below_->remote(); }
  [[nodiscard]] std::size_t emss() const override { return below_->emss(); }
  [[nodiscard]] std::size_t unacknowledged() const override { return below_->unacknowledged(); }
  [[nodiscard]] std::uint64_t data_segments_sent() const override {
    return below_->data_segments_sent();
  }
  [[nodiscard]] std::uint64_t data_segments_received() const override {
    return below_->data_segments_received();
  }
  [[nodiscard]] bool change_emss(std::size_t octets) override {
    return below_->change_emss(octets);
  }
  [[nodiscard]] bool can_disturb() const override { return below_->can_disturb(); }
  bool send_lost(wire::Bytes octets) override { return below_->send_lost(octets); }
  bool inject(std::int64_t offset, wire::Bytes octets) override {
    return below_->inject(offset, octets);
  }
  void leave_unacknowledged(bool unacknowledged) override {
    below_->leave_unacknowledged(unacknowledged);
  }
  void pause_receiving(bool paused) override { below_->pause_receiving(paused); }
  void set_receive_buffer(std::size_t octets) override { below_->set_receive_buffer(octets); }

 protected:
  [[nodiscard]] Below& below() { return *below_; }
  [[nodiscard]] const Below& below() const { return *below_; }

  // The observer may destroy this connection in any of these: nothing of it is touched after the
  // call.
  void connected() override { observer_->connected(); }
  void readable() override { observer_->readable(); }
  void writable() override { observer_->writable(); }
  void ended(Ending ending) override { observer_->ended(ending); }

 private:
  std::unique_ptr<Below> below_;
  Connection::Observer* observer_ = nullptr;
};

}  // namespace rnic::llp
