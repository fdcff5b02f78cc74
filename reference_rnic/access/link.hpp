// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One LLP connection and the RDMA stream on it: octets in both directions, timers, and the closing
// that the stream asks for.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/event_loop.hpp"
#include "reference_rnic/access/decisions.hpp"
#include "reference_rnic/access/startup_options.hpp"
#include "reference_rnic/llp/network.hpp"
#include "reference_rnic/verbs/rnic.hpp"

namespace rnic::access {

class Link final : private llp::Connection::Observer, private verbs::RdmaStream::Observer {
 public:
  /// Called from the event loop or from inside a consumer's post. The link must not be destroyed
  /// in any of them.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void link_connected(Link& link) = 0;
    virtual void link_event(Link& link, stream::Event& event) = 0;
    /// The LLP connection could not be established.
    virtual void link_unreachable(Link& link, llp::Ending ending) = 0;
    /// No more octets or events follow: the link may be released, but not at once.
    virtual void link_finished(Link& link) = 0;
  };
  Link(base::EventLoop& loop, Owner& owner, std::unique_ptr<verbs::RdmaStream> stream,
       const StartupOptions& options, const ConnectionDecisions& decisions);
  ~Link() override;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// Opens the LLP connection. The stream's startup timeout runs from here.
  [[nodiscard]] std::expected<void, llp::Error> connect(llp::Network& network,
                                                        const base::Address& remote);
  /// Takes over an accepted LLP connection.
  void adopt(std::unique_ptr<llp::Connection> connection);
  /// Sends what the stream has, closes as the stream asks, passes on its events and sets the timer.
  void pump();
  /// Ends everything at once, with RST if there is a connection.
  void reset();
  /// The queue pair is about to go: no work or event follows. TCP closes in an orderly way if
  /// everything that the stream has begun to send is sent, otherwise with RST.
  void leave();
  /// Ends here without notifying the peer: the LLP connection continues with its new owner.
  [[nodiscard]] std::unique_ptr<llp::Connection> release();

  [[nodiscard]] verbs::RdmaStream& stream() { return *stream_; }
  [[nodiscard]] const llp::Connection* connection() const { return connection_.get(); }

 private:
  void connected() override;
  void readable() override;
  void writable() override;
  void ended(llp::Ending ending) override;
  void attention() override { pump(); }
  void posted(std::size_t octets) override;

  void read_some();
  [[nodiscard]] bool goes_on_after(PathNotice notice);
  void discard();
  void hand_on_events();
  void write_out();
  [[nodiscard]] std::size_t send_gathered();
  [[nodiscard]] std::size_t group_end(std::size_t first, bool aligned) const;
  void carry_out_closing();
  void refresh_emss();
  void set_timer();
  void timer_fired();
  void end_after_fault();
  void linger();
  [[nodiscard]] bool will_connect_again(llp::Ending ending) const;
  void connect_again();
  void give_up_connecting();
  void finish();

  enum class Phase : std::uint8_t {
    connecting,
    running,
    /// The stream has ended; the peer's octets are discarded until its FIN, so that it can read
    /// ours before any RST.
    lingering,
    finished,
  };

  base::EventLoop& loop_;
  Owner& owner_;
  stream::Duration close_timeout_, refused_for_, gathered_for_;
  const ConnectionDecisions& decisions_;
  std::unique_ptr<verbs::RdmaStream> stream_;
  std::unique_ptr<llp::Connection> connection_;
  Phase phase_ = Phase::connecting;
  bool pumping_ = false, pump_again_ = false;
  bool blocked_ = false;  ///< the LLP takes no more until writable()
  bool fin_sent_ = false;
  bool peer_closed_ = false;
  base::TimePoint linger_deadline_{};
  llp::Network* network_ = nullptr;  ///< connecting: to be tried again,
  base::Address remote_{};           ///< there
  base::TimePoint connecting_since_{};
  std::optional<base::TimePoint> connects_again_at_;
  std::optional<base::TimePoint> timer_at_;
  base::TimerId timer_{};
  base::TimePoint sent_at_{};
  std::uint64_t sent_before_wait_ = 0;      ///< of the loop
  std::optional<base::TimerId> gathering_;  ///< until this, work waits for more
  std::size_t gathered_octets_ = 0;         ///< of this work
  base::TimePoint emss_checked_{};
  std::vector<wire::Bytes> gathered_, pieces_;
  std::vector<std::size_t> ends_;
  bool inside_fpdu_ = false;  ///< its beginning has been sent
  std::size_t emss_ = 0;
};

}  // namespace rnic::access
