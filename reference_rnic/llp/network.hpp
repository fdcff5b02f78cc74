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

/// The ECN field of an IP packet (RFC 3168 section 5).
enum class Ecn : std::uint8_t { not_capable, ect_1, ect_0, congestion_experienced };

class Connection {
 public:
  /// Callbacks come from the event loop only. A connection may be destroyed in any of them.
  /// `readable` is called again as long as something is left to receive and receiving is not
  /// paused; nothing comes after `ended` or our own reset().
  class Observer {
   public:
    virtual ~Observer() = default;
    virtual void connected() {}   ///< only after connect()
    virtual void readable() = 0;  ///< receive() will yield octets or the peer's FIN
    virtual void
    writable() = 0;  ///< send() will accept octets again, after it accepted fewer than offered
    virtual void ended(Ending ending) = 0;
  };

  virtual ~Connection() =
      default;  ///< closes gracefully in the background if neither shutdown nor reset was called
  virtual void set_observer(Observer& observer) = 0;

  struct Received {
    std::size_t count = 0;
    bool peer_closed = false;  ///< the peer's FIN; no octet follows
    /// A segment has come with an ECN mark. Only the in-memory link shows it.
    bool ecn_marked = false;
  };
  /// Takes what has arrived, up to the targets' size; count 0 and not peer_closed: nothing at the
  /// moment.
  virtual Received receive(std::span<const wire::MutableBytes> targets) = 0;
  /// Offers octets; returns how many were accepted. `end_segment` asks that the last of them end a
  /// TCP segment (MSG_EOR).
  virtual std::size_t send(std::span<const wire::Bytes> pieces, bool end_segment) = 0;
  virtual void shutdown_send() = 0;  ///< FIN after all that was sent
  virtual void reset() = 0;          ///< RST now

  [[nodiscard]] virtual base::Address local() const = 0;
  [[nodiscard]] virtual base::Address remote() const = 0;
  [[nodiscard]] virtual std::size_t emss() const = 0;  ///< effective maximum segment size now
  /// Octets sent and not yet acknowledged by the peer's LLP (0 on links without acknowledgements).
  [[nodiscard]] virtual std::size_t unacknowledged() const = 0;
  /// Data segments sent so far as the LLP counts them, to prove a wanted cut where there is no
  /// capture.
  [[nodiscard]] virtual std::uint64_t data_segments_sent() const = 0;
  /// Data segments received from the peer so far, to see how it cuts; a repetition counts again.
  [[nodiscard]] virtual std::uint64_t data_segments_received() const = 0;
  /// Changes the EMSS of what the peer sends from here on, as another path MTU would; on the
  /// in-memory link that of our direction too. False: this link cannot. Over TCP it needs a
  /// connection from the host's spare address (Network::use_spare_address) and CAP_NET_RAW.
  [[nodiscard]] virtual bool change_emss(std::size_t octets) = 0;
  /// Whether the two calls below work. Over TCP they need CAP_NET_ADMIN and CAP_NET_RAW.
  [[nodiscard]] virtual bool can_disturb() const = 0;
  /// Sends a segment that is lost on the path: the LLP treats it as sent, and repeats it when it is
  /// not acknowledged. False: it was not accepted.
  virtual bool send_lost(wire::Bytes octets) = 0;
  /// Sends a segment that bypasses the LLP; its octets begin `offset` after everything sent so far:
  /// out of turn, or repeated. The LLP does not know of it, so octets that it sends first must be
  /// sent in turn as well.
  virtual bool inject(std::int64_t offset, wire::Bytes octets, Ecn ecn) = 0;
  /// Acts like an LLP that drops the segment received last, and those that follow, without
  /// acknowledging them: they arrive again when this is turned off. Only the in-memory link can.
  virtual void leave_unacknowledged(bool /*unacknowledged*/) {}
  /// While paused nothing is read from the peer, so that its send window fills.
  virtual void pause_receiving(bool paused) = 0;
  /// Limits what the LLP accepts from the peer while receiving is paused, as far as that can be
  /// changed on a live connection.
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
  /// Starts connecting; `connected()` or `ended()` reports the outcome. The host chooses the local
  /// address unless it is given.
  [[nodiscard]] virtual std::expected<std::unique_ptr<Connection>, Error> connect(
      const base::Address& remote, Connection::Observer& observer) = 0;
  /// This host's own address of a family.
  [[nodiscard]] virtual base::Address address(base::Family family) const = 0;
  /// Limits the EMSS, in both directions, of later connections and listeners; nothing: only the
  /// link's own limit. A limit that is too small for the link is raised.
  virtual void limit_segments(std::optional<std::size_t> octets) = 0;
  /// From here on this host connects from and listens on an address that it uses for nothing else,
  /// so that what a peer learns of the path to it affects no other connection. False: it has none.
  [[nodiscard]] virtual bool use_spare_address() { return false; }
  virtual void use_usual_address() {}
};

}  // namespace rnic::llp
