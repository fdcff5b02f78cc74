// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One TCP connection on a non-blocking kernel socket in an EpollLoop.
#pragma once

#include <memory>
#include <optional>

#include "base/epoll_loop.hpp"
#include "base/file_descriptor.hpp"
#include "reference_rnic/llp/network.hpp"
#include "reference_rnic/llp/observer_caller.hpp"

namespace rnic::llp {

class TcpConnection : public Connection {
 public:
  enum class State : std::uint8_t { connecting, open, ended };

  /// `open`: an accepted socket; it is not watched before it has an observer. `own_path`: no other
  /// connection has our address, so its path MTU may be changed.
  TcpConnection(base::EpollLoop& loop, base::FileDescriptor fd, State state, bool own_path = false,
                ObserverCaller caller = {});
  ~TcpConnection() override;
  TcpConnection(const TcpConnection&) = delete;
  TcpConnection& operator=(const TcpConnection&) = delete;

  /// The connection cannot come up, as is known immediately: the observer is told from the dispatch
  /// loop.
  void fail_later(Ending ending);
  /// Closes our descriptor and leaves the connection to the holder of another descriptor of it.
  void give_up();
  /// -1 once it has ended.
  [[nodiscard]] int descriptor() const { return fd_.get(); }

  void set_observer(Observer& observer) override;
  Received receive(std::span<const wire::MutableBytes> targets) override;
  std::size_t send(std::span<const wire::Bytes> pieces, bool end_segment) override;
  void shutdown_send() override;
  void reset() override;
  [[nodiscard]] base::Address local() const override;
  [[nodiscard]] base::Address remote() const override;
  [[nodiscard]] std::size_t emss() const override;
  [[nodiscard]] std::uint64_t data_segments_received() const override;
  [[nodiscard]] bool change_emss(std::size_t octets) override;
  [[nodiscard]] std::size_t unacknowledged() const override;
  [[nodiscard]] std::uint64_t data_segments_sent() const override;
  [[nodiscard]] bool can_disturb() const override;
  bool send_lost(wire::Bytes octets) override;
  bool inject(std::int64_t offset, wire::Bytes octets, Ecn ecn) override;
  void pause_receiving(bool paused) override;
  void set_receive_buffer(std::size_t octets) override;

 protected:
  /// Calls the observer, which may destroy this connection.
  void report_readable() {
    caller_([this] { observer_->readable(); });
  }
  /// The connection has ended by itself; the observer hears of it next.
  virtual void on_ended() {}

 private:
  struct Sent {
    std::size_t taken;
    bool whole;
  };
  Sent send_once(std::span<const wire::Bytes> pieces, int flags);
  void update_watch();
  void on_events(std::uint32_t events);
  void finish_connecting();
  void end_now(Ending ending);
  void linger_and_close();
  void remember_facts();

  base::EpollLoop& loop_;
  base::FileDescriptor fd_;
  State state_;
  bool own_path_;
  ObserverCaller caller_;
  Observer* observer_ = nullptr;
  bool watched_ = false;
  bool paused_ = false;
  bool wants_writable_ = false;
  bool peer_closed_ = false;
  bool send_shut_ = false;
  base::Address local_, remote_;  ///< as last known; they outlive the socket
  std::uint64_t segments_at_end_ = 0;
  std::uint64_t segments_received_at_end_ = 0;
  std::size_t emss_at_end_ = 0;
  std::optional<base::TimerId> ending_timer_;
  std::shared_ptr<bool> alive_ =
      std::make_shared<bool>(true);  ///< false once destroyed, for callbacks on the stack
};

}  // namespace rnic::llp
