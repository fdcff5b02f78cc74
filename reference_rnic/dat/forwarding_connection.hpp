// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A connection that is all that the TCP connection below it is: each call goes down to it, its news
// go up. Whoever derives from it says only what differs.
#pragma once

#include <utility>

#include "reference_rnic/llp/tcp_connection.hpp"

namespace rnic::dat {

class ForwardingConnection : public llp::Connection, protected llp::Connection::Observer {
 public:
  ForwardingConnection(base::EpollLoop& loop, base::FileDescriptor connected)
      : tcp_(loop, std::move(connected), llp::TcpConnection::State::open) {}

  void set_observer(llp::Connection::Observer& observer) override {
    observer_ = &observer;
    tcp_.set_observer(*this);
  }
  Received receive(std::span<const wire::MutableBytes> targets) override {
    return tcp_.receive(targets);
  }
  std::size_t send(std::span<const wire::Bytes> pieces, bool end_segment) override {
    return tcp_.send(pieces, end_segment);
  }
  void shutdown_send() override { tcp_.shutdown_send(); }
  void reset() override { tcp_.reset(); }
  [[nodiscard]] base::Address local() const override { return tcp_.local(); }
  [[nodiscard]] base::Address remote() const override { return tcp_.remote(); }
  [[nodiscard]] std::size_t emss() const override { return tcp_.emss(); }
  [[nodiscard]] std::size_t unacknowledged() const override { return tcp_.unacknowledged(); }
  [[nodiscard]] std::uint64_t data_segments_sent() const override {
    return tcp_.data_segments_sent();
  }
  [[nodiscard]] std::uint64_t data_segments_received() const override {
    return tcp_.data_segments_received();
  }
  [[nodiscard]] bool can_disturb() const override { return tcp_.can_disturb(); }
  bool send_lost(wire::Bytes octets) override { return tcp_.send_lost(octets); }
  bool inject(std::int64_t offset, wire::Bytes octets) override {
    return tcp_.inject(offset, octets);
  }
  [[nodiscard]] bool change_emss(std::size_t octets) override { return tcp_.change_emss(octets); }
  void pause_receiving(bool paused) override { tcp_.pause_receiving(paused); }
  void set_receive_buffer(std::size_t octets) override { tcp_.set_receive_buffer(octets); }

 protected:
  [[nodiscard]] llp::TcpConnection& below() { return tcp_; }
  [[nodiscard]] const llp::TcpConnection& below() const { return tcp_; }

  void readable() override { observer_->readable(); }
  void writable() override { observer_->writable(); }
  void ended(llp::Ending ending) override { observer_->ended(ending); }

 private:
  llp::TcpConnection tcp_;
  llp::Connection::Observer* observer_ = nullptr;
};

}  // namespace rnic::dat
