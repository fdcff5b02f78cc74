// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The standard streams of a program on another host, over one TLS connection. C++17, for the
// agent's own build.
//
// A frame is its type (one octet), the length of its content (four octets, the most significant
// first) and the content. The tester's first frame is `start`; the last of the agent's end is
// `ended`. Anything else than these frames, in their direction, ends the connection.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit_status.hpp"
#include "suite/iut/tls/tls_channel.hpp"

namespace suite::iut::tls {

enum class Frame : char {
  start = 's',   ///< to the agent's end: its content is the version of these frames
  input = 'i',   ///< to the agent's end: for standard input, whose end is an empty frame
  output = 'o',  ///< from there: of standard output
  errors = 'e',  ///< from there: of standard error
  ended = 'x',   ///< from there: the program's exit status, as a shell reports it
};

inline constexpr std::string_view frames_version = "1";
inline constexpr std::size_t longest_frame = 16384;

/// Moves octets between local descriptors and the frames of a channel, holding a bounded number of
/// them. No descriptor is owned, and none is made non-blocking.
class StreamRelay {
 public:
  /// The channel's handshake is done.
  explicit StreamRelay(TlsChannel& channel) : channel_(channel) {}

  /// What is read from `source` is sent in frames of this type, and if `tell_end`, its end too.
  void send_from(int source, Frame type, bool tell_end);
  /// What comes in frames of this type is written to `target`; `ended` is called once, when an
  /// empty frame has come and everything is written, or nobody takes what is written.
  void write_to(int target, Frame type, std::function<void()> ended);
  void send(Frame type, std::string_view content);

  enum class Why {
    frame,     ///< of a type without a target: see arrived()
    event,     ///< the descriptor polls readable
    lost,      ///< the connection has ended: fault() says how
    too_late,  ///< the deadline
  };
  /// Moves octets until one of these happens. `event`: -1 for none.
  [[nodiscard]] Why run(int event, std::optional<Clock::time_point> deadline);
  /// Reads what the sources have at the moment, without waiting for more, and sends it.
  void finish_sources();
  /// Waits until everything is sent and written. False: it is too late for some of it, or the
  /// connection was lost.
  [[nodiscard]] bool flush(Clock::time_point deadline);

  struct Arrived {
    Frame type = Frame::start;
    std::string content;
  };
  [[nodiscard]] const Arrived& arrived() const { return arrived_; }
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  struct Source {
    int fd;
    Frame type;
    bool tell_end, open = true;
  };
  struct Target {
    int fd;
    std::string waiting{};
    bool ending = false, open = true;
    std::function<void()> ended;
  };
  /// What one poll waits for.
  struct Wanted;

  [[nodiscard]] std::optional<Why> turn(int event, std::optional<Clock::time_point> deadline);
  [[nodiscard]] Wanted wanted(int event) const;
  void read_source(Source& source);
  void write_target(Target& target);
  void close_target(Target& target);
  void write_channel();
  void read_channel();
  [[nodiscard]] std::optional<Arrived> next_frame();
  /// True: a frame came that arrived() has.
  [[nodiscard]] bool take_frames();
  void lose(const std::string& why);

  TlsChannel& channel_;
  std::vector<Source> sources_;
  std::map<Frame, Target> targets_;
  std::string outgoing_, incoming_;
  /// What the channel waits for before it can write or read on; 0: nothing but octets of ours, or
  /// of the peer.
  short write_waits_ = 0, read_waits_ = 0;
  Arrived arrived_;
  bool lost_ = false;
  std::string fault_;
};

/// The exit status of a program as a shell reports it: that of a signal is 128 and its number.
[[nodiscard]] std::string shell_status(const base::ExitStatus& status);
/// The reverse, for a whole `ended` frame; nothing if it is none.
[[nodiscard]] std::optional<int> parse_shell_status(std::string_view content);

}  // namespace suite::iut::tls
