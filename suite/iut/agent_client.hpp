// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An IUT reached through an agent: a process of ours (local or through ssh), or a connected unix
// socket such as the host's end of a guest's serial channel.
#pragma once

#include <deque>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/epoll_loop.hpp"
#include "base/file_descriptor.hpp"
#include "suite/iut/child_process.hpp"
#include "suite/iut/iut.hpp"
#include "suite/iut/message_lines.hpp"

namespace suite::iut {

/// How an agent is reached: a process, or a connected stream socket.
using AgentLink = std::variant<ChildProcess, base::FileDescriptor>;
/// Makes a new link to a new agent; called at the start and at each restart. The error is one line.
using AgentOpener = std::function<std::expected<AgentLink, std::string>()>;

/// Runs `argv` without a shell, e.g. {"ssh", "root@dut", "rnic-agent", "--driver", "verbs"}.
[[nodiscard]] AgentOpener agent_process(std::vector<std::string> argv);
/// The command line that runs a program on another host, to put before that of the program: without
/// a password prompt, and a dead connection is noticed within seconds, at the start and later.
[[nodiscard]] std::vector<std::string> through_ssh(const std::string& target);
/// Connects to a unix socket; the owner of its other end must make sure that a new agent listens
/// there.
[[nodiscard]] AgentOpener agent_socket(std::string path);

struct AgentDeadlines {
  base::Duration hello = std::chrono::seconds(20);
  base::Duration reply = std::chrono::seconds(30);  ///< from post() to the command's reply
};

/// After a GoneEvent nothing but GoneEvents come until restart().
class AgentClient final : public Iut {
 public:
  /// Waits for the hello. Without an agent, or with no hello or a wrong one, the error is that of a
  /// GoneEvent.
  [[nodiscard]] static std::expected<std::unique_ptr<AgentClient>, GoneEvent> start(
      base::EpollLoop& loop, AgentOpener opener, AgentDeadlines deadlines = {});
  ~AgentClient() override;

  [[nodiscard]] const Hello& hello() const override { return hello_; }
  std::uint64_t post(Command command) override;
  [[nodiscard]] std::optional<Event> next_event(base::TimePoint deadline) override;

  /// Ends this agent, discards its events, and waits for the hello of a new one.
  [[nodiscard]] std::expected<void, GoneEvent> restart();
  /// Why the agent is gone, if it is.
  [[nodiscard]] const std::optional<GoneEvent>& gone() const { return gone_; }
  [[nodiscard]] bool is_gone() const override { return gone_.has_value(); }
  /// For callers that learn of the agent's end in another way, e.g. from a guest's control channel:
  /// no effect if it is already gone.
  void report_gone(GoneEvent why);

  /// The end (64 KiB) of what the agents wrote to stderr since the last call.
  [[nodiscard]] std::string take_diagnostics();

 private:
  AgentClient(base::EpollLoop& loop, AgentOpener opener, AgentDeadlines deadlines);

  [[nodiscard]] std::expected<void, GoneEvent> open();
  void close();
  [[nodiscard]] int channel() const;
  [[nodiscard]] ChildProcess* child();

  void read_words();
  void write_words();
  void read_errors();
  void take_line(std::string_view line);
  void take_event(Event event, std::size_t size);
  void take_reply(const Reply& reply);
  void expire(std::uint64_t number);

  void input_ended();
  void conclude_if_over(bool timed_out);
  void stop_watching();
  [[nodiscard]] std::string last_words() const;

  base::EpollLoop& loop_;
  AgentOpener opener_;
  AgentDeadlines deadlines_;

  std::optional<AgentLink> link_;
  LineBuffer input_;
  std::string output_;  ///< what the agent's end did not take yet
  bool input_ended_ = false;
  std::optional<base::TimerId> timeout_;

  struct Outstanding {
    const char* type;
    base::TimerId deadline;
  };
  std::map<std::uint64_t, Outstanding> outstanding_;
  std::uint64_t next_number_ = 1;

  struct Waiting {
    Event event;
    std::size_t size;  ///< of its line
  };
  std::deque<Waiting> events_;
  std::size_t waiting_size_ = 0;
  Hello hello_;
  bool greeted_ = false;
  std::optional<GoneEvent> gone_;
  std::string diagnostics_;
};

}  // namespace suite::iut
