// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One host's lower layer protocol: listen, connect, and byte-stream connections with control over
// segments and endings.
//
// Implementations: `TcpNetwork` (kernel sockets in a network namespace) and `MemoryNetwork` (an
// in-memory link in any event loop).
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/address.hpp"
#include "reference_rnic/wire/bytes.hpp"

namespace rnic::llp {

struct Error {
  int code = 0;         ///< errno, 0 if none fits
  std::string message;  ///< one line: what failed on which address, and why
};

/// How a connection ended, or why it never came to be.
enum class Ending : std::uint8_t { refused, unreachable, timed_out, reset, failed };
[[nodiscard]] const char* name(Ending ending);

class Connection {
 public:
  /// Callbacks come from the event loop only. A connection may be destroyed in any of
  /// them. `readable` comes again as long as something is left to receive and receiving is not
  /// paused; nothing comes after `ended` or our own reset().
  class Observer {
   public:
    virtual ~Observer() = default;
    virtual void connected() {}   ///< only after connect()
    virtual void readable() = 0;  ///< receive() will yield octets or the peer's FIN
    virtual void
    writable() = 0;  ///< send() will take octets again, after it took fewer than offered
    virtual void ended(Ending ending) = 0;
  };

  virtual ~Connection() =
      default;  ///< closes gracefully in the background if neither shutdown nor reset was called
  virtual void set_observer(Observer& observer) = 0;

  struct Received {
    std::size_t count = 0;
    bool peer_closed = false;  ///< the peer's FIN; no octet follows
  };
  /// Takes what is there, up to the targets' size; count 0 and not peer_closed: nothing now.
  virtual Received receive(std::span<const wire::MutableBytes> targets) = 0;
  /// Offers octets; returns how many were taken. `end_segment` asks that the last of them end a TCP
  /// segment (MSG_EOR).
  virtual std::size_t send(std::span<const wire::Bytes> pieces, bool end_segment) = 0;
  virtual void shutdown_send() = 0;  ///< FIN after all that was sent
  virtual void reset() = 0;          ///< RST now

  [[nodiscard]] virtual base::Address local() const = 0;
  [[nodiscard]] virtual base::Address remote() const = 0;
  [[nodiscard]] virtual std::size_t emss() const = 0;  ///< effective maximum segment size now
  /// Octets sent and not yet acknowledged by the peer's LLP (0 on links without acknowledgements).
  [[nodiscard]] virtual std::size_t unacknowledged() const = 0;
  /// Data segments sent so far as the LLP counts them, to prove a wanted cut where no capture can.
  [[nodiscard]] virtual std::uint64_t data_segments_sent() const = 0;
  /// Data segments of the peer that came so far, to see how it cuts; a repetition counts again.
  [[nodiscard]] virtual std::uint64_t data_segments_received() const = 0;
  /// Changes the EMSS of what the peer sends from now on, as another path MTU would; on the
  /// in-memory link that of our direction too. False: this link cannot. Over TCP it takes a
  /// connection from the host's spare address (Network::use_spare_address) and CAP_NET_RAW.
  [[nodiscard]] virtual bool change_emss(std::size_t octets) = 0;
  /// Whether the two calls below do what they say. Over TCP they need CAP_NET_ADMIN and CAP_NET_RAW.
  [[nodiscard]] virtual bool can_disturb() const = 0;
  /// Sends a segment that is lost on its way: the LLP takes it for sent, and repeats it when nobody
  /// acknowledges it. False: it was not taken.
  virtual bool send_lost(wire::Bytes octets) = 0;
  /// Puts a segment on the wire past the LLP, whose octets begin `offset` behind all that was sent
  /// so far: out of turn, or once more. The LLP knows nothing of it, so what it brings first has to
  /// be sent in turn as well.
  virtual bool inject(std::int64_t offset, wire::Bytes octets) = 0;
  /// As an LLP that drops the segment received last, and those that follow, without acknowledging
  /// them: they come once more when it is turned off. Only the in-memory link can.
  virtual void leave_unacknowledged(bool /*unacknowledged*/) {}
  /// While paused nothing is read from the peer, so that its send window fills.
  virtual void pause_receiving(bool paused) = 0;
  /// Bounds what the LLP takes from the peer while nobody receives; as far as it can be changed on
  /// a live connection.
  virtual void set_receive_buffer(std::size_t octets) = 0;
};

class Listener {
 public:
  class Observer {
   public:
    virtual ~Observer() = default;
    virtual void accepted(std::unique_ptr<Connection> connection) = 0;
  };
  virtual ~Listener() = default;  ///< stops listening
  [[nodiscard]] virtual base::Address local() const = 0;
};

class Network {
 public:
  virtual ~Network() = default;
  /// Port 0 lets the LLP choose one.
  [[nodiscard]] virtual std::expected<std::unique_ptr<Listener>, Error> listen(
      const base::Address& local, Listener::Observer& observer) = 0;
  /// Starts connecting; `connected()` or `ended()` tells the outcome. The local address is the
  /// host's own choice unless given.
  [[nodiscard]] virtual std::expected<std::unique_ptr<Connection>, Error> connect(
      const base::Address& remote, Connection::Observer& observer) = 0;
  /// This host's own address of a family.
  [[nodiscard]] virtual base::Address address(base::Family family) const = 0;
  /// Bounds the EMSS, in both directions, of what is connected to and listened on from now on;
  /// nothing: no bound but the link's own. A bound too small for the link is raised.
  virtual void limit_segments(std::optional<std::size_t> octets) = 0;
  /// From now on this host connects from and listens on an address that it uses for nothing else,
  /// so that what a peer learns of the path to it bears on no other connection. False: it has none.
  [[nodiscard]] virtual bool use_spare_address() { return false; }
  virtual void use_usual_address() {}
};

}  // namespace rnic::llp
