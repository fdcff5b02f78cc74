// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The consumer of the IUT's RDMA API, as a case writes it: one call per step, each done when it
// returns.
//
// A command that fails where the case needs it ends the case with *error* and the message of the API;
// one that the upper tester does not have, with *not applicable*. Events are kept until they are
// taken.
#pragma once

#include <functional>
#include <initializer_list>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "suite/cases/framework/environment.hpp"
#include "suite/cases/framework/limits.hpp"
#include "suite/cases/framework/stop.hpp"
#include "suite/lower_tester/peer.hpp"

namespace suite::cases {

using lower_tester::Octets;

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

/// Registered memory of the IUT, and what the case knows of its contents.
struct Region {
  iut::Handle handle = 0;
  std::uint32_t stag = 0;
  /// Tagged offset of its first octet.
  std::uint64_t base = 0;
  std::uint64_t length = 0;
  /// As they were when last written by the case itself.
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

/// Work posted to the IUT, and its buffer.
struct Work {
  iut::WorkId id = 0;
  iut::Handle endpoint = 0;
  Region buffer;
};

class Consumer {
 public:
  Consumer(iut::Iut& iut, lower_tester::Context& context) : iut_(iut), context_(context) {}
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  // -- memory --
  [[nodiscard]] Region register_memory(std::uint64_t length,
                                       const iut::Access& access = access::local,
                                       std::uint8_t fill = 0xA5, iut::Handle domain = 0);
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
  /// The endpoint that establish() connects; made when first asked for.
  [[nodiscard]] iut::Handle endpoint();
  [[nodiscard]] iut::Handle create_endpoint(iut::CreateEndpoint wanted = {});
  [[nodiscard]] std::string state(iut::Handle endpoint);
  /// Listens on the IUT's own address of the family; one listener per family and case.
  [[nodiscard]] base::Address listen(base::Family family, const base::Address& own);
  void connect(iut::Handle endpoint, const base::Address& remote,
               const iut::ConnectParameters& parameters = {});
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
  /// Work with `data` as its source, registered for it.
  /// `change` sets what the operation needs besides.
  [[nodiscard]] Work post_send(const Octets& data, const char* operation = iut::operation::send,
                               const std::function<void(iut::PostWork&)>& change = {});
  [[nodiscard]] Work post_write(const Octets& data, std::uint32_t remote_stag,
                                std::uint64_t remote_offset);
  /// A Read of `length` octets into a buffer of its own.
  [[nodiscard]] Work post_read(std::uint32_t length, std::uint32_t remote_stag,
                               std::uint64_t remote_offset);
  /// Work as it is; endpoint and id are filled in where they are 0.
  [[nodiscard]] Work post(iut::PostWork work);

  // -- any command --
  /// The reply, good or not. Where the upper tester has no such command the case is not applicable.
  [[nodiscard]] iut::Reply try_call(iut::Command command, std::string_view what);
  /// The reply of a command that has to succeed.
  iut::Reply call(iut::Command command, std::string_view what);
  [[nodiscard]] iut::Reply try_call(iut::Command command, std::string_view what,
                                    base::TimePoint deadline);
  /// Ends the case, which is not applicable, if the upper tester has no such command.
  static iut::Reply supported(iut::Reply reply, std::string_view what);
  /// Ends the case unless the reply is good.
  static iut::Reply checked(iut::Reply reply, std::string_view what);
  void reset();
  [[nodiscard]] iut::Reply configure(iut::Configure command, std::string_view what);
  /// From now on an agent that has not answered a command by then is in error.
  void answer_by(base::TimePoint deadline) { answers_due_ = deadline; }

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
  /// Whether a Receive of the case's own may still wait, since the last reset.
  [[nodiscard]] bool has_posted_receives() const { return receives_posted_ > 0; }
  /// A Receive that a probe of the framework takes at once, and no case's own.
  [[nodiscard]] Work post_probe(std::uint32_t length);

 private:
  void keep(iut::Event event);
  bool fetch(base::TimePoint deadline);
  [[nodiscard]] base::TimePoint reset_deadline() const;
  [[nodiscard]] Region register_as(iut::RegisterMemory command);
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
  base::TimePoint answers_due_{};
  lower_tester::Context& context_;
  std::list<iut::Event> events_;
  std::map<base::Family, base::Address> listening_;
  iut::Handle next_handle_ = 1;
  iut::WorkId next_work_ = 1;
  iut::Handle endpoint_ = 0;
  std::map<iut::Handle, Posts> sends_, receives_;
  std::uint32_t receives_posted_ = 0;
  /// Regions and endpoints that there are.
  std::map<std::string, std::int64_t> objects_;
};

/// One line for an event of the IUT.
[[nodiscard]] std::string describe(const iut::Event& event);

}  // namespace suite::cases
