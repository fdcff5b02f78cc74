// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Plays a session against a DAT provider in this process, and judges it by the model.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "suite/cases/dat/framework/dat_endpoint.hpp"
#include "suite/sessions/dat/model.hpp"

namespace suite::sessions::dat {

namespace dat_case = suite::cases::dat;
using dat_case::returns;
using dat_case::Returns;
using dat_case::returns_one_of;
using dat_case::succeeds;

/// How long it is waited for what may come, or not: of microseconds.
inline constexpr DAT_TIMEOUT a_moment = 3'000;

/// What a step is called with for the exchange.
using Note = std::function<void(std::string_view)>;

class Player {
 public:
  Player(const dat_case::DatTarget& target, Note note);
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  /// Throws what it finds; advisories are in model().
  void play(const Session& session);
  [[nodiscard]] const Model& model() const { return model_; }
  /// How many steps had what they need.
  [[nodiscard]] std::size_t steps_played() const { return played_; }

 private:
  /// The turn of a thread of the session. It has the model, but for the time of a call.
  struct Turn {
    std::unique_lock<std::mutex> lock;
    std::uint32_t lane = 0;
  };
  struct Posting;
  struct Segments {
    std::vector<DAT_LMR_TRIPLET> triplets;
    std::vector<Range> ranges;
  };
  /// Memory of the peer that a request names.
  struct Remote {
    DAT_RMR_TRIPLET triplet{};
    Range range{};
    /// Where it is not open: the rule that says so.
    const char* closed = nullptr;
  };

  // -- player.cpp: steps, lanes, events
  struct Performance;
  static const Performance& performance_of(Action action);
  void perform(const Step& step, Turn& turn);
  void together(const std::vector<Step>& steps);
  template <typename Function>
  DAT_RETURN call(Turn& turn, Function function) {
    turn.lock.unlock();
    const DAT_RETURN got = function();
    turn.lock.lock();
    return got;
  }
  /// False: the call had no effect. A return that is not admissible is a finding.
  bool expect(const char* rule, DAT_RETURN got, const Returns& wanted);
  void settle(Turn& turn);
  void settle_as_step(const Step& step, Turn& turn);
  void compare_memory(Turn& turn);
  /// Takes all that has to come, then all that is there.
  void drain(Turn& turn, std::uint32_t dispatcher);
  void drain_async(Turn& turn);
  void take(Turn& turn, std::uint32_t dispatcher);
  void sweep(Turn& turn, std::uint32_t dispatcher);
  /// Until the connection of this endpoint is in a state that is known.
  void come_to_rest(Turn& turn, std::uint32_t endpoint);
  bool make_room(Turn& turn, std::uint32_t dispatcher, DAT_COUNT events);
  [[nodiscard]] bool may_touch(const Turn& turn, std::uint32_t endpoint) const;
  [[nodiscard]] bool may_take(const Turn& turn, std::uint32_t dispatcher) const;
  void finish(Turn& turn);
  [[nodiscard]] bool is_empty() const;
  void free_everything(Turn& turn);

  // -- object_steps.cpp
  void make_zone(const Step& step, Turn& turn);
  void free_zone(const Step& step, Turn& turn);
  void make_region(const Step& step, Turn& turn);
  void free_region(const Step& step, Turn& turn);
  void query_region(const Step& step, Turn& turn);
  void sync_memory(const Step& step, Turn& turn);
  void set_context(const Step& step, Turn& turn);
  void get_context(const Step& step, Turn& turn);
  [[nodiscard]] DAT_HANDLE handle_of(std::uint32_t kind, std::uint32_t place) const;
  void forget_context(DAT_HANDLE handle) {
    std::erase_if(contexts_, [handle](const auto& one) { return one.first == handle; });
  }

  // -- window_steps.cpp
  void make_window(const Step& step, Turn& turn);
  void bind_window(const Step& step, Turn& turn);
  void query_window(const Step& step, Turn& turn);
  void free_window(const Step& step, Turn& turn);

  // -- dispatcher_steps.cpp
  void make_dispatcher(const Step& step, Turn& turn);
  void free_dispatcher(const Step& step, Turn& turn);
  void query_dispatcher(const Step& step, Turn& turn);
  void resize_dispatcher(const Step& step, Turn& turn);
  void post_software(const Step& step, Turn& turn);
  void post_software_once(Turn& turn, std::uint32_t dispatcher);
  void switch_dispatcher(const Step& step, Turn& turn);
  void wait(const Step& step, Turn& turn);
  void dequeue(const Step& step, Turn& turn);
  void wait_blocked(const Step& step, Turn& turn);
  void make_notifier(const Step& step, Turn& turn);
  void free_notifier(const Step& step, Turn& turn);
  void wait_for_notifier(const Step& step, Turn& turn);
  void move_dispatcher(const Step& step, Turn& turn);
  [[nodiscard]] DAT_COUNT length_of(Turn& turn, DAT_EVD_HANDLE handle);

  // -- queue_steps.cpp
  void make_queue(const Step& step, Turn& turn);
  void free_queue(const Step& step, Turn& turn);
  void query_queue(const Step& step, Turn& turn);
  void resize_queue(const Step& step, Turn& turn);
  void set_low_watermark(const Step& step, Turn& turn);
  void receive_shared(const Step& step, Turn& turn);
  [[nodiscard]] DAT_SRQ_PARAM query_of(Turn& turn, const SharedQueue& queue);

  // -- endpoint_steps.cpp
  void make_endpoint(const Step& step, Turn& turn);
  void free_endpoint(const Step& step, Turn& turn);
  void query_endpoint(const Step& step, Turn& turn);
  void modify_endpoint(const Step& step, Turn& turn);
  void set_watermark(const Step& step, Turn& turn);
  void count_receives(const Step& step, Turn& turn);
  void get_status(const Step& step, Turn& turn);
  [[nodiscard]] DAT_EP_PARAM query_of(Turn& turn, DAT_EP_HANDLE endpoint);

  // -- connection_steps.cpp
  void connect(const Step& step, Turn& turn);
  void establish(const Step& step, Turn& turn);
  [[nodiscard]] std::optional<DAT_CR_HANDLE> ask(const Step& step, Turn& turn);
  void judge_pending(const Step& step, Turn& turn);
  void accept(const Step& step, Turn& turn, DAT_CR_HANDLE request);
  void reject(const Step& step, Turn& turn, DAT_CR_HANDLE request);
  void give_up(const Step& step, Turn& turn, DAT_CR_HANDLE request);
  void disconnect(const Step& step, Turn& turn);
  void reset(const Step& step, Turn& turn);

  // -- posting.cpp and transfer_steps.cpp
  void receive(const Step& step, Turn& turn);
  void send(const Step& step, Turn& turn);
  void write(const Step& step, Turn& turn);
  void read(const Step& step, Turn& turn);
  void request(const Step& step, Turn& turn, Kind kind);
  [[nodiscard]] std::optional<Posting> prepare(const Step& step, Turn& turn, Kind kind);
  bool choose_length(const Step& step, Turn& turn, Posting& posting);
  bool choose_memory(const Step& step, Posting& posting);
  void choose_returns(Posting& posting);
  void announce(Posting& posting);
  DAT_RETURN post(const Step& step, Turn& turn, Posting& posting);
  void withdraw(Posting& posting);
  [[nodiscard]] std::optional<std::size_t> room_at_peer(const Endpoint& endpoint) const;
  [[nodiscard]] std::optional<std::uint32_t> region_for(std::uint32_t start, std::uint32_t zone,
                                                        unsigned privileges, bool other_zone) const;
  [[nodiscard]] std::optional<Segments> segments_for(const Step& step, std::uint32_t zone,
                                                     std::size_t length, std::size_t most,
                                                     bool sink, std::uint64_t hold);
  /// Makes a segment wrong as the step says: what the call then returns, or nothing if it cannot be
  /// made so.
  [[nodiscard]] std::optional<std::pair<const char*, Returns>> spoil(const Step& step,
                                                                     Segments& segments,
                                                                     std::uint32_t zone, bool sink,
                                                                     const char* call,
                                                                     DAT_COUNT most);
  [[nodiscard]] std::optional<Remote> remote_for(const Step& step, const Endpoint& endpoint,
                                                 std::size_t length, unsigned privilege);
  [[nodiscard]] std::optional<Remote> closed_remote(const Step& step, const Endpoint& endpoint,
                                                    std::size_t length, unsigned privilege);
  [[nodiscard]] Returns of_a_request(const Endpoint& endpoint) const;
  [[nodiscard]] Statuses of_a_request_posted(const Endpoint& endpoint) const;
  void blame(const std::vector<Range>& ranges, const char* rule);

  dat_case::DatTarget target_;
  /// For what has to come: of microseconds.
  DAT_TIMEOUT patience_;
  Note note_;
  std::optional<dat_case::Ia> ia_;
  Model model_;
  std::mutex mutex_;
  dat_case::Evd requests_;
  dat_case::Psp psp_;
  DAT_CONN_QUAL qualifier_ = 0;
  DAT_EP_ATTR usual_{};
  /// In the order in which they were set.
  std::vector<std::pair<DAT_HANDLE, std::uintptr_t>> contexts_;
  /// Which rule put what there, the latest last.
  std::vector<std::pair<Range, const char*>> blamed_;
  std::uintptr_t last_software_ = 0;
  std::size_t played_ = 0;
};

}  // namespace suite::sessions::dat
