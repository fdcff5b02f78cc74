// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The connection of one endpoint, from its Connect or Accept to its end: its state, the work that
// its end waits for, and what follows from each event of the connection manager. The driver over
// libibverbs and the one over the kernel's verbs share it; it calls neither.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <sys/socket.h>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "suite/iut/messages.hpp"

namespace suite::upper_tester::verbs {

/// An event of the connection manager.
struct LinkEvent {
  rdma_cm_event_type type = RDMA_CM_EVENT_ADDR_RESOLVED;
  int error = 0;  ///< an errno, positive
  iut::Octets private_data;
  std::optional<int> ird, ord;
};

/// Work in the send queue that is not known to be done.
struct SendWork {
  std::uint64_t number = 0;  ///< of its completion; later work has a greater one
  iut::WorkId work = 0;
  std::string operation;
  bool signaled = true;
};

struct WorkCompletion {
  std::uint64_t number = 0;
  ibv_wc_status status = IBV_WC_SUCCESS;
  int opcode = IBV_WC_SEND;  ///< an ibv_wc_opcode if `status` is success
  std::uint32_t length = 0;
  std::optional<std::uint32_t> invalidated_stag;
};

class Link {
 public:
  enum class State { idle, resolving, connecting, connected, closing, disconnected };
  using Answer = std::optional<iut::Reply>;
  using Events = std::vector<iut::Event>;
  /// What the driver does before it reports the events.
  enum class Step { none, resolve_address, resolve_route, connect, disconnect };
  struct Reaction {
    Step step = Step::none;
    Events events{};
  };

  explicit Link(iut::Handle endpoint = 0) : endpoint_(endpoint) {}

  [[nodiscard]] iut::Handle endpoint() const { return endpoint_; }
  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] const char* state_name() const;
  [[nodiscard]] const iut::ConnectParameters& parameters() const { return parameters_; }
  [[nodiscard]] bool has_been_connected() const { return has_been_connected_; }

  // -- what a command may do: an answer if it ends there --
  /// Accept needs an endpoint without a connection; Connect and Reset also take one whose connection
  /// has ended.
  [[nodiscard]] Answer refuse_accept() const;
  [[nodiscard]] Answer refuse_connect() const;
  [[nodiscard]] Answer refuse_reset() const { return refuse_connect(); }
  [[nodiscard]] Answer answer_disconnect() const;

  // -- what a command has done --
  void set_remote(const sockaddr_storage& remote);
  /// The address to resolve, once more.
  [[nodiscard]] sockaddr_storage& next_attempt();
  /// Resolves its address for the Connect of this number, which is answered later.
  void resolving(std::uint64_t connect_number, const iut::ConnectParameters& parameters);
  void accepting() { state_ = State::connecting; }
  /// Asks for an orderly end now.
  void disconnecting();
  /// Asks for an abortive end, by a Disconnect; or by an Abort, which takes any state.
  void disconnecting_abortively() { state_ = State::closing; }
  void aborted();
  void broken() { state_ = State::disconnected; }
  void cancel() { state_ = State::idle; }
  void reset();
  /// Whether the Connect of this number is not answered yet.
  [[nodiscard]] bool awaits(std::uint64_t connect_number) const;
  /// The answer to a Connect that is cancelled, if there is one.
  [[nodiscard]] Answer cancelled() const;

  // -- the outcome of a call on the way to the connection --
  [[nodiscard]] Events connect_called(int error);
  [[nodiscard]] Events refused_after_resolving(iut::Reply reply);
  [[nodiscard]] Events unreachable();

  [[nodiscard]] Reaction take(const LinkEvent& event);

  // -- the send queue --
  /// Whether each request completes, signaled or not.
  void signal_all(bool all) { signal_all_ = all; }
  void posted(SendWork work) {
    work.signaled = work.signaled || signal_all_;
    sends_.push_back(std::move(work));
  }
  /// The event that reports a completion. `receives`: those that are posted to any receive queue, by
  /// number.
  [[nodiscard]] iut::Event completed(const WorkCompletion& completion,
                                     std::map<std::uint64_t, iut::WorkId>& receives);
  /// An orderly end is asked for. To disconnect with work in the send queue is an error in iWARP
  /// verbs: false while signaled work is not reported, and then end_is_due() once it is.
  [[nodiscard]] bool may_disconnect();
  [[nodiscard]] bool end_is_due() const { return disconnect_when_done_ && !has_signaled_work(); }

 private:
  [[nodiscard]] iut::Event answer(iut::Reply reply) const;
  [[nodiscard]] Events fail(const char* reason);
  [[nodiscard]] Reaction take_address_error(int error);
  [[nodiscard]] Events take_established(const LinkEvent& event);
  [[nodiscard]] Reaction take_end(const LinkEvent& event);
  [[nodiscard]] Reaction take_disconnected();
  [[nodiscard]] bool has_signaled_work() const;
  [[nodiscard]] std::optional<SendWork> take_sent(std::uint64_t number);

  iut::Handle endpoint_;
  State state_ = State::idle;
  bool has_been_connected_ = false, disconnect_when_done_ = false, signal_all_ = false;
  std::uint64_t connect_number_ = 0;
  int attempts_ = 0;
  sockaddr_storage remote_{};
  iut::ConnectParameters parameters_;
  std::deque<SendWork> sends_;
};

}  // namespace suite::upper_tester::verbs
