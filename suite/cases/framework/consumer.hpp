// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The consumer of an agent's RDMA API, as cases and the scenarios of a plugfest write it: one call per
// step, each done when it returns.
//
// A command that fails where it has to succeed ends the case with *error* and the message of the API;
// one that the agent does not have, or that goes beyond a limit that it states, with *not applicable*
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

/// Access rights of registrations, by what the case is about. Remote writing implies local writing,
/// as verbs want it.
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
/// Of a region that is opened by its windows only.
inline constexpr iut::Access under_windows{.local_write = true, .bind_window = true};
}  // namespace access

/// Registered memory, and what the case knows of its contents.
struct Region {
  iut::Handle handle = 0;
  std::uint32_t stag = 0;
  /// Tagged offset of its first octet.
  std::uint64_t base = 0;
  std::uint64_t length = 0;
  /// As they were when last written by the case itself; empty where it keeps no account of them.
  Octets contents;

  /// An STag of the same index with another key: it does not exist.
  [[nodiscard]] std::uint32_t stag_with_other_key() const { return stag ^ 0xFF; }
};

/// A bound window: what its STag opens to the peer.
struct Window {
  iut::Handle handle = 0;
  /// On which it was bound.
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

class Consumer {
 public:
  virtual ~Consumer() = default;
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  // -- memory --
  /// As it is; the handle is filled in. No account is kept of its contents.
  [[nodiscard]] Region register_memory(iut::RegisterMemory command);
  [[nodiscard]] Region register_memory(std::uint64_t length,
                                       const iut::Access& access = access::local,
                                       std::uint8_t fill = 0xA5, iut::Handle domain = 0);
  /// It holds these octets.
  [[nodiscard]] Region register_octets(const Octets& octets,
                                       const iut::Access& access = access::local);
  [[nodiscard]] Region register_zero_based(std::uint64_t length, const iut::Access& access);
  /// Its first octet has this tagged offset. Needs capability::chosen_base.
  [[nodiscard]] Region register_at(std::uint64_t base, std::uint64_t length,
                                   const iut::Access& access);
  /// Refused by some APIs, which leaves the case not applicable.
  [[nodiscard]] Region register_nothing(const iut::Access& access);
  void deregister(const Region& region);
  [[nodiscard]] Octets read_memory(const Region& region);
  void write_memory(Region& region, const Octets& octets, std::uint64_t offset = 0);
  [[nodiscard]] iut::Handle create_domain();
  /// Local work on a connected endpoint, each done when it returns; if it completes in error the
  /// case cannot get to its point. A new window over `length` octets of the region from `offset`
  /// on ...
  [[nodiscard]] Window bind_window(const Region& under, std::uint64_t offset, std::uint32_t length,
                                   const iut::Access& access, iut::Handle endpoint = 0);
  /// ... closed again ...
  void unbind(const Window& window);
  /// ... and an STag invalidated by its owner.
  void invalidate(std::uint32_t stag);

  // -- connections --
  /// The one that is meant where none is named; made when first asked for.
  [[nodiscard]] iut::Handle endpoint();
  [[nodiscard]] iut::Handle create_endpoint(iut::CreateEndpoint wanted = {});
  [[nodiscard]] std::string state(iut::Handle endpoint);
  /// Listens on this address of its own, and yields the port; one listener per address and case.
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
  /// As it is; the id is filled in.
  [[nodiscard]] Work post_receive(iut::PostReceive command);
  [[nodiscard]] iut::Handle create_shared_queue(std::uint32_t depth);
  /// Work with `data` as its source, registered for it.
  /// `change` sets what the operation needs besides.
  [[nodiscard]] Work post_send(const Octets& data, const char* operation = iut::operation::send,
                               const std::function<void(iut::PostWork&)>& change = {});
  [[nodiscard]] Work post_write(const Octets& data, std::uint32_t remote_stag,
                                std::uint64_t remote_offset, iut::Handle endpoint = 0);
  /// A Read of `length` octets into a buffer of its own.
  [[nodiscard]] Work post_read(std::uint32_t length, std::uint32_t remote_stag,
                               std::uint64_t remote_offset, iut::Handle endpoint = 0);
  /// Work as it is; endpoint and id are filled in where they are 0.
  [[nodiscard]] Work post(iut::PostWork work);

  // -- any command --
  /// The reply, good or not. Where the agent has no such command the case is not applicable.
  [[nodiscard]] iut::Reply try_call(iut::Command command, std::string_view what);
  /// The reply of a command that has to succeed.
  iut::Reply call(iut::Command command, std::string_view what);
  /// The same whether it has that command or not.
  [[nodiscard]] iut::Reply try_call(iut::Command command, std::string_view what,
                                    base::TimePoint deadline);

  // -- events --
  /// The first event that came or comes by the deadline and of which `wanted` holds. It is taken
  /// out; the others stay.
  [[nodiscard]] std::optional<iut::Event> take(const std::function<bool(const iut::Event&)>& wanted,
                                               base::TimePoint deadline);
  template <typename T>
  [[nodiscard]] std::optional<T> take(base::TimePoint deadline) {
    auto event = take([](const iut::Event& e) { return std::holds_alternative<T>(e); }, deadline);
    if (!event) return std::nullopt;
    return std::get<T>(*event);
  }
  /// Fetches what is there without waiting.
  void poll();
  /// One line for the events that were not taken.
  [[nodiscard]] std::string untaken() const;

  [[nodiscard]] iut::Handle new_handle() { return next_handle_++; }
  [[nodiscard]] bool can(std::string_view capability) const;
  /// What it says that it has at most.
  [[nodiscard]] const Limits& limits() const { return iut_.hello().limits; }

 protected:
  Consumer(iut::Iut& iut, base::EventLoop& loop) : iut_(iut), loop_(loop) {}

  /// A command is about to be given.
  virtual void giving(const iut::Command& command) = 0;
  /// What happens at the API, one line each.
  virtual void note(std::string text) = 0;
  /// By when a command that is given now has to be answered.
  [[nodiscard]] virtual base::TimePoint reply_due() const = 0;
  /// By when work that is posted now has to be complete, where a call waits for it.
  [[nodiscard]] virtual base::TimePoint completion_due() const = 0;
  /// Whom a failure names.
  [[nodiscard]] virtual std::string_view who() const = 0;
  /// The agent is gone, which ends the case.
  [[noreturn]] virtual void stop_as_gone(const iut::GoneEvent& gone) const = 0;

  /// Ends the case unless the reply is good.
  iut::Reply checked(iut::Reply reply, std::string_view what) const;
  /// The agent was reset: none of its objects is left.
  void forget_all();
  [[nodiscard]] base::TimePoint now() const { return loop_.now(); }
  /// Those that nobody has taken.
  [[nodiscard]] const std::list<iut::Event>& events() const { return events_; }

 private:
  void keep(iut::Event event);
  bool fetch(base::TimePoint deadline);
  /// The case is not applicable if the agent has no such command.
  iut::Reply supported(iut::Reply reply, std::string_view what) const;
  /// ... and keeps account of its contents.
  [[nodiscard]] Region register_filled(const iut::RegisterMemory& command);
  iut::Reply carry_out(iut::PostWork work);

  /// What was posted to a queue that is less deep than usual, for a limit of the IUT's.
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

/// One line for an event of the API.
[[nodiscard]] std::string describe(const iut::Event& event);

}  // namespace suite::cases
