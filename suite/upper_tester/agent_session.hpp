// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One agent's conversation: lines of commands in, a driver that executes them, lines of events out.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "suite/iut/message_lines.hpp"
#include "suite/upper_tester/driver.hpp"
#include "suite/upper_tester/output.hpp"

namespace suite::upper_tester {

class AgentSession {
 public:
  enum class State {
    talking,
    client_gone,    ///< end of input, or nobody reads the output
    bad_client,     ///< a line was no command; `complaint()` says why
    reconfiguring,  ///< all is released and a script must run: see `reconfiguration()`
  };
  /// A Configure command that a script carries out while no device is open.
  struct Reconfiguration {
    std::uint64_t number = 0;
    std::vector<std::string> arguments;  ///< "revision=2", "crc=on", ...
  };

  /// `input` is not owned. With `configure_by_script`, Configure does not reach the driver but ends
  /// the session in state `reconfiguring`.
  AgentSession(int input, int output, bool configure_by_script);

  /// To be given to the driver at its construction.
  [[nodiscard]] Sink sink();
  /// The driver must outlive the session's last call.
  /// Sends the hello, unless this process resumes the work of another.
  void begin(Driver& driver, bool say_hello);
  /// Handles octets that another process read but did not get to.
  void resume_with(std::string_view octets);

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] const std::string& complaint() const { return complaint_; }
  [[nodiscard]] const Reconfiguration& reconfiguration() const { return reconfiguration_; }
  /// Octets that were read, and of which no command was handled yet.
  [[nodiscard]] std::string_view unhandled() const { return input_buffer_.rest(); }

  /// Changes with each iteration of the loop.
  [[nodiscard]] const std::atomic<unsigned>& turns() const { return turns_; }
  [[nodiscard]] int input() const { return input_; }
  [[nodiscard]] Output& output() { return output_; }
  /// False while the client does not read the output, or a reconfiguration is being prepared.
  [[nodiscard]] bool wants_input() const;
  /// To be called when the input polls readable, and when the output polls writable.
  void read_some();
  void write_some();
  /// Handles what was read; to be called once in each iteration of the loop.
  void proceed();

 private:
  void handle_line(std::string_view line);
  void take_event(iut::Event event);

  int input_;
  Output output_;
  bool configure_by_script_;
  Driver* driver_ = nullptr;
  State state_ = State::talking;
  std::string complaint_;
  iut::LineBuffer input_buffer_;
  bool releasing_ = false;  ///< for a reconfiguration; ended by the reply to command 0
  Reconfiguration reconfiguration_;
  std::atomic<unsigned> turns_{0};
};

/// The members of a Configure as arguments of the script.
[[nodiscard]] std::vector<std::string> script_arguments(const iut::Configure& configure);

/// Waits once: for `fd` (-1: none) to poll for `events`, or for the client, whose commands are then
/// read and not yet handled. True if it was `fd`.
[[nodiscard]] bool wait_once(AgentSession& session, int fd, short events);

/// Serves the client until the session leaves the state `talking`, waiting with poll. For drivers
/// that have an event_fd. All output is flushed.
///
/// A driver whose API blocks within a call waits there with `wait_once` and then `proceed`, until
/// the descriptor that its API needs is ready: commands, such as the Reset that breaks the call
/// off, reach `execute` meanwhile.
void run_polled(AgentSession& session, Driver& driver);

}  // namespace suite::upper_tester
