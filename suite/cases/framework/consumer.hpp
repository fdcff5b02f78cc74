// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The consumer of an agent's RDMA API, as used by cases and by the scenarios of a plugfest: one
// call per step, which is complete when the call returns.
//
// A command that fails but must succeed ends the case with *error* and the message of the API; one
// that the agent does not have, or that exceeds a limit that it states, with *not applicable*
// (CaseStop). Events are kept until they are taken.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.hpp"
#include "base/event_loop.hpp"
#include "base/octets.hpp"
#include "suite/cases/framework/limits.hpp"
#include "suite/cases/framework/stop.hpp"
#include "suite/iut/iut.hpp"

namespace suite::cases {

using base::Octets;

/// Access rights of registrations, by the subject of the case. Remote writing implies local
/// writing, as verbs require.
namespace access {
inline constexpr iut::Access local{.local_write = true};
inline constexpr iut::Access remote_read{.local_write = true, .remote_read = true};
inline constexpr iut::Access remote_write{.local_write = true, .remote_write = true};
inline constexpr iut::Access remote_read_write{
    .local_write = true, .remote_read = true, .remote_write = true};
inline constexpr iut::Access remote_atomic{
    .local_write = true, .remote_read = true, .remote_write = true, .remote_atomic = true};
inline constexpr iut::Access windows{
    .local_write = true, .remote_read = true, .remote_write = true, .bind_window = true};
/// For a region that is accessible only through its windows.
inline constexpr iut::Access under_windows{.local_write = true, .bind_window = true};
}  // namespace access

/// Registered memory, and what the case knows of its contents.
struct Region {
  iut::Handle handle = 0;
  std::uint32_t stag = 0;
  /// Tagged offset of its first octet.
  std::uint64_t base = 0;
  std::uint64_t length = 0;
  /// As last written by the case itself; empty if they are not tracked.
  Octets contents;

  /// An STag with the same index and another key: it does not exist.
  [[nodiscard]] std::uint32_t stag_with_other_key() const { return stag ^ 0xFF; }
};

/// A bound window: the memory that its STag gives the peer access to.
struct Window {
  iut::Handle handle = 0;
  /// The endpoint on which it was bound.
  iut::Handle endpoint = 0;
  std::uint32_t stag = 0;
  /// Tagged offset of its first octet.
  std::uint64_t base = 0;
};

/// Work posted, and its buffer.
struct Work {
  iut::WorkId id = 0;
  iut::Handle endpoint = 0;
  Region buffer;
};

/// Work that an API may refuse, and did or did not.
struct Attempt {
  iut::Reply reply;
  Work work;
  [[nodiscard]] bool taken() const { return reply.outcome == iut::Outcome::ok; }
};

class Consumer {
 public:
  virtual ~Consumer() = default;
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  // -- memory --
  /// Registers as the command says; the handle is filled in. The contents are not tracked.
  [[nodiscard]] Region register_memory(iut::RegisterMemory command);
  /// Nothing if the IUT refuses it.
  [[nodiscard]] std::optional<Region> try_register(iut::RegisterMemory command);
  [[nodiscard]] Region register_memory(std::uint64_t length,
                                       const iut::Access& access = access::local,
                                       std::uint8_t fill = 0xA5, iut::Handle domain = 0);
  /// Registers memory that contains these octets.
  [[nodiscard]] Region register_octets(const Octets& octets,
                                       const iut::Access& access = access::local);
  [[nodiscard]] Region register_zero_based(std::uint64_t length, const iut::Access& access);
  /// Registers memory whose first octet has this tagged offset. Needs capability::chosen_base.
  [[nodiscard]] Region register_at(std::uint64_t base, std::uint64_t length,
                                   const iut::Access& access);
  /// Some APIs refuse it, which makes the case not applicable.
  [[nodiscard]] Region register_nothing(const iut::Access& access);
  /// Memory that begins with a page, and a region for so many pages of it: closed until it is
  /// registered. Needs capability::fast_registration.
  [[nodiscard]] Region allocate_region(std::uint64_t length, std::uint32_t pages);
  void deregister(const Region& region);
  [[nodiscard]] Octets read_memory(const Region& region);
  void write_memory(Region& region, const Octets& octets, std::uint64_t offset = 0);
  [[nodiscard]] iut::Handle create_domain();
  /// Local work on a connected endpoint, complete when the call returns; if it completes in error
  /// the case is inconclusive. A new window over `length` octets of the region at `offset` ...
  [[nodiscard]] Window bind_window(const Region& under, std::uint64_t offset, std::uint32_t length,
                                   const iut::Access& access, iut::Handle endpoint = 0);
  /// ... bound anew, whose STag may change ...
  [[nodiscard]] Window bind_again(const Window& window, const Region& under, std::uint64_t offset,
                                  std::uint32_t length, const iut::Access& access);
  /// ... unbound again ...
  void unbind(const Window& window);
  /// ... an STag invalidated by its owner ...
  void invalidate(std::uint32_t stag, iut::Handle endpoint = 0);
  /// ... and `length` octets at `offset` of an allocated region registered.
  void register_part(Region& region, const iut::Access& access, std::uint64_t offset,
                     std::uint32_t length, iut::Handle endpoint = 0);

  // -- connections --
  /// The default endpoint; made at the first call.
  [[nodiscard]] iut::Handle endpoint();
  [[nodiscard]] iut::Handle create_endpoint(iut::CreateEndpoint wanted = {});
  [[nodiscard]] std::string state(iut::Handle endpoint);
  /// Listens on this address of the IUT, and returns the port; one listener per address and case.
  [[nodiscard]] std::uint16_t listen(const std::string& own, base::Family family);
  [[nodiscard]] base::Address listen(const base::Address& own) {
    return own.with_port(listen(own.host(), own.family));
  }
  void connect(iut::Handle endpoint, const std::string& remote, std::uint16_t port,
               const iut::ConnectParameters& parameters = {});
  void connect(iut::Handle endpoint, const base::Address& remote,
               const iut::ConnectParameters& parameters = {}) {
    connect(endpoint, remote.host(), remote.port, parameters);
  }
  void accept(iut::Handle request, iut::Handle endpoint,
              const iut::ConnectParameters& parameters = {});
  void reject(iut::Handle request, const Octets& private_data = {});
  void disconnect(bool abortive = false) { disconnect(endpoint(), abortive); }
  void disconnect(iut::Handle endpoint, bool abortive);

  // -- work --
  /// A receive with a buffer of its own.
  [[nodiscard]] Work post_receive(std::uint32_t length);
  [[nodiscard]] Work post_receive(std::uint32_t length, iut::Handle endpoint);
  /// A receive that scatters into these pieces.
  [[nodiscard]] Work post_receive(std::vector<iut::Piece> pieces);
  /// Posts as the command says; the id is filled in.
  [[nodiscard]] Work post_receive(iut::PostReceive command);
  [[nodiscard]] iut::Handle create_shared_queue(std::uint32_t depth);
  /// Work with `data` as its source, registered for it. `change` sets the other members that the
  /// operation needs.
  [[nodiscard]] Work post_send(const Octets& data, const char* operation = iut::operation::send,
                               const std::function<void(iut::PostWork&)>& change = {});
  [[nodiscard]] Work post_write(const Octets& data, std::uint32_t remote_stag,
                                std::uint64_t remote_offset, iut::Handle endpoint = 0);
  /// A Read of `length` octets into a buffer of its own.
  [[nodiscard]] Work post_read(std::uint32_t length, std::uint32_t remote_stag,
                               std::uint64_t remote_offset, iut::Handle endpoint = 0);
  /// Posts the registration of `length` octets at `offset` of an allocated region, under another key
  /// than before; if it is taken, `stag` and `base` become those of its first octet.
  [[nodiscard]] Attempt try_registration(Region& region, const iut::Access& access,
                                         std::uint64_t offset, std::uint32_t length,
                                         bool fence = false, iut::Handle endpoint = 0);
  /// The same, where it must be taken.
  [[nodiscard]] Work post_registration(Region& region, const iut::Access& access,
                                       std::uint64_t offset, std::uint32_t length,
                                       bool fence = false, iut::Handle endpoint = 0);
  /// Posts as the work says; endpoint and id are filled in where they are 0.
  [[nodiscard]] Work post(iut::PostWork work);
  /// Posts what the API may refuse: beyond a limit, too late, or with what it is not to touch.
  [[nodiscard]] Attempt try_post(iut::PostWork work);
  [[nodiscard]] Attempt try_post(iut::PostReceive command);

  // -- any command --
  /// The reply, successful or not. If the agent has no such command the case is not applicable.
  [[nodiscard]] iut::Reply try_call(iut::Command command, std::string_view what);
  /// The reply of a command that must succeed.
  iut::Reply call(iut::Command command, std::string_view what);
  /// The same whether it has that command or not.
  [[nodiscard]] iut::Reply try_call(iut::Command command, std::string_view what,
                                    base::TimePoint deadline);

  // -- events --
  /// The first event that `wanted` accepts, from those that have come or come by the deadline. It
  /// is removed; the others stay.
  [[nodiscard]] std::optional<iut::Event> take(const std::function<bool(const iut::Event&)>& wanted,
                                               base::TimePoint deadline);
  template <typename T>
  [[nodiscard]] std::optional<T> take(base::TimePoint deadline) {
    auto event = take([](const iut::Event& e) { return std::holds_alternative<T>(e); }, deadline);
    if (!event) return std::nullopt;
    return std::get<T>(*event);
  }
  /// Fetches the events that have come, without waiting.
  void poll();
  /// One line for the events that were not taken.
  [[nodiscard]] std::string untaken() const;

  [[nodiscard]] iut::Handle new_handle() { return next_handle_++; }
  [[nodiscard]] bool can(std::string_view capability) const;
  /// The limits that the IUT states.
  [[nodiscard]] const Limits& limits() const { return iut_.hello().limits; }

 protected:
  Consumer(iut::Iut& iut, base::EventLoop& loop) : iut_(iut), loop_(loop) {}

  /// Called before a command is given.
  virtual void giving(const iut::Command& command) = 0;
  /// What was waited for since then has come.
  virtual void came(base::TimePoint /*since*/) {}
  /// The agent has replied to a command given then.
  virtual void replied(base::TimePoint /*since*/) {}
  /// The end of a look at whether an event comes by then.
  [[nodiscard]] virtual base::TimePoint end_of_look(base::TimePoint until) const { return until; }
  /// Records what happens at the API, one line each.
  virtual void note(std::string text) = 0;
  /// The deadline for the reply to a command that is given now.
  [[nodiscard]] virtual base::TimePoint reply_due() const = 0;
  /// The deadline for the completion of work that is posted now, if a call waits for it.
  [[nodiscard]] virtual base::TimePoint completion_due() const = 0;
  /// The name for messages about a failure.
  [[nodiscard]] virtual std::string_view who() const = 0;
  /// The agent is gone, which ends the case.
  [[noreturn]] virtual void stop_as_gone(const iut::GoneEvent& gone) const = 0;

  /// Ends the case unless the reply is good.
  iut::Reply checked(iut::Reply reply, std::string_view what) const;
  /// The agent was reset: none of its objects is left.
  void forget_all();
  [[nodiscard]] base::TimePoint now() const { return loop_.now(); }
  /// Those that have not been taken.
  [[nodiscard]] const std::list<iut::Event>& events() const { return events_; }

 private:
  void keep(iut::Event event);
  bool fetch(base::TimePoint deadline);
  /// The case is not applicable if the agent has no such command.
  iut::Reply supported(iut::Reply reply, std::string_view what) const;
  /// ... and tracks its contents.
  [[nodiscard]] static Region registered(const iut::RegisterMemory& command,
                                         const iut::Reply& reply);
  [[nodiscard]] Region register_filled(const iut::RegisterMemory& command);
  iut::Reply carry_out(iut::PostWork work);
  void await_success(const Work& work, std::string_view operation);

  /// The posts to a queue that is less deep than usual because of a limit of the IUT.
  struct Posts {
    const char* limit;
    std::uint32_t depth = 0;
    std::uint32_t count = 0;
  };
  [[nodiscard]] static Posts* posts_to(std::map<iut::Handle, Posts>& queues, iut::Handle endpoint);
  /// `change`: how many more of what `limit` limits there are after a command.
  struct ObjectChange {
    const char* limit = nullptr;
    int change = 0;
  };
  [[nodiscard]] static ObjectChange change_of(const iut::Command& command);
  static void count(Posts& posts, const iut::Reply& reply, std::string_view what);

  iut::Iut& iut_;
  base::EventLoop& loop_;
  std::list<iut::Event> events_;
  std::map<std::string, std::uint16_t> listening_;
  iut::Handle next_handle_ = 1;
  iut::WorkId next_work_ = 1;
  iut::Handle endpoint_ = 0;
  std::map<iut::Handle, Posts> sends_, receives_;
  /// Regions and endpoints that there are.
  std::map<std::string, std::int64_t> objects_;
};

/// The registration of `length` octets at `offset` of an allocated region, under another key than
/// before.
[[nodiscard]] iut::PostWork registration_of(const Region& region, const iut::Access& access,
                                            std::uint64_t offset, std::uint32_t length);

/// One line for an event of the API.
[[nodiscard]] std::string describe(const iut::Event& event);

}  // namespace suite::cases
