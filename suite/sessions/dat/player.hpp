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

/// Kinds of objects.
enum class Object : std::uint8_t { zone, region, window, dispatcher, queue, notifier, endpoint };
inline constexpr std::uint32_t object_kinds = 7;

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

  /// A service point that takes one request, for an endpoint of its own.
  struct Reserved {
    DAT_RSP_HANDLE handle = DAT_HANDLE_NULL;
    DAT_CONN_QUAL qualifier = 0;
    /// It has ended with its request.
    bool is_gone = false;
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
  /// Some endpoint is connected to another than its neighbour.
  [[nodiscard]] bool is_crossed() const;
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
  [[nodiscard]] DAT_HANDLE handle_of(Object kind, std::uint32_t place) const;
  void forget_context(DAT_HANDLE handle) {
    std::erase_if(contexts_, [handle](const auto& one) { return one.first == handle; });
  }
  void is_freed(Object kind, DAT_HANDLE handle) {
    forget_context(handle);
    freed_.emplace_back(kind, handle);
  }

  // -- freed_handles.cpp
  void use_freed(const Step& step, Turn& turn);
  void use_freed_now(const Step& step, Turn& turn);
  [[nodiscard]] bool is_live(DAT_HANDLE handle) const;

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
  void set_agent(const Step& step, Turn& turn);
  struct Agent;
  /// The notifier has this agent, or none.
  void has_agent(Turn& turn, std::uint32_t notifier, std::shared_ptr<Agent> agent,
                 const char* rule);
  void loses_agent(std::uint32_t notifier);
  /// A trigger calls it, with this handle.
  void calls_agent(Turn& turn, std::uint32_t notifier, DAT_EVD_HANDLE with, const char* rule);
  void may_call_agent(std::uint32_t notifier);
  static void judge_former(const Agent& agent);
  [[nodiscard]] static DAT_OS_WAIT_PROXY_AGENT proxy_of(Agent* agent);
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
  [[nodiscard]] DAT_COUNT hard_watermark(const Step& step, Turn& turn, const Endpoint& endpoint);
  void passes_hard_watermark(Turn& turn, std::uint32_t endpoint);
  void count_receives(const Step& step, Turn& turn);
  void get_status(const Step& step, Turn& turn);
  [[nodiscard]] DAT_EP_PARAM query_of(Turn& turn, DAT_EP_HANDLE endpoint);

  // -- connection_steps.cpp
  void connect(const Step& step, Turn& turn);
  void connect_two(const Step& step, Turn& turn);
  void establish(const Step& step, Turn& turn);
  [[nodiscard]] std::optional<DAT_CR_HANDLE> ask(const Step& step, Turn& turn,
                                                 std::optional<Reserved>& reserved);
  void judge_pending(const Step& step, Turn& turn);
  void accept(Turn& turn, std::pair<std::uint32_t, std::uint32_t> ends, DAT_CR_HANDLE request,
              DAT_EP_HANDLE with, std::vector<std::byte> data);
  void reject(const Step& step, Turn& turn, DAT_CR_HANDLE request);
  void give_up(const Step& step, Turn& turn, DAT_CR_HANDLE request);
  void disconnect(const Step& step, Turn& turn);
  void reset(const Step& step, Turn& turn);

  // -- requesting.cpp
  [[nodiscard]] static std::vector<std::byte> private_data_of(const Step& step);
  void judge_state(Turn& turn, DAT_EP_HANDLE endpoint, DAT_EP_STATE wanted, const char* rule);
  DAT_RETURN request_connection(Turn& turn, std::uint32_t at, DAT_CONN_QUAL to,
                                std::vector<std::byte> data);
  DAT_RETURN duplicate_connection(Turn& turn, std::uint32_t at, std::uint32_t model,
                                  std::vector<std::byte> data);
  [[nodiscard]] std::optional<std::uint32_t> model_of_duplicate() const;
  [[nodiscard]] DAT_CR_ARRIVAL_EVENT_DATA arrival(Turn& turn, DAT_CONN_QUAL at, const char* rule);
  [[nodiscard]] DAT_CR_PARAM query_of_request(Turn& turn, DAT_CR_HANDLE request);
  [[nodiscard]] static bool begins_with(const DAT_CR_PARAM& param,
                                        const std::vector<std::byte>& data);
  void judge_request(Turn& turn, const DAT_CR_ARRIVAL_EVENT_DATA& arrived,
                     const std::vector<std::byte>& data, const char* rule);
  [[nodiscard]] std::optional<Reserved> reserve(const Step& step, Turn& turn);
  void judge_reserved_request(const Step& step, Turn& turn, Reserved& reserved,
                              const DAT_CR_ARRIVAL_EVENT_DATA& arrived);
  void find_nobody(Turn& turn, std::uint32_t at, DAT_CONN_QUAL qualifier, const char* rule);
  void free_reserved(Turn& turn, const Reserved& reserved);
  void give_back(const Step& step, Turn& turn, const Reserved& reserved);
  [[nodiscard]] DAT_CR_HANDLE hand_off(const Step& step, Turn& turn, DAT_CR_HANDLE request);

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
  /// Those that notifiers have, and those that they had. The end of the IA may call them.
  std::array<std::shared_ptr<Agent>, notifier_places> agents_{};
  std::vector<std::shared_ptr<Agent>> former_agents_;
  std::optional<dat_case::Ia> ia_;
  Model model_;
  std::mutex mutex_;
  dat_case::Evd requests_;
  dat_case::Psp psp_;
  DAT_CONN_QUAL qualifier_ = 0;
  /// To which requests are handed off; made when the first one is.
  dat_case::Psp other_psp_;
  DAT_CONN_QUAL other_qualifier_ = 0;
  DAT_EP_ATTR usual_{};
  /// In the order in which they were set.
  std::vector<std::pair<DAT_HANDLE, std::uintptr_t>> contexts_;
  /// Handles of objects that are no more, and the steps that use them at the end.
  std::vector<std::pair<Object, DAT_HANDLE>> freed_;
  std::vector<Step> hostile_;
  /// Which rule put what there, the latest last.
  std::vector<std::pair<Range, const char*>> blamed_;
  std::uintptr_t last_software_ = 0;
  std::size_t played_ = 0;
};

}  // namespace suite::sessions::dat
