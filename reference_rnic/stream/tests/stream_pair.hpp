// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Two streams back to back: octets are shuttled between them in cuts of any size, no lower layer
// protocol involved.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "reference_rnic/stream/stream.hpp"
#include "reference_rnic/stream/tests/test_memory.hpp"

namespace rnic::stream::test {

/// One end: a stream, its memory, its events and everything that it has sent.
class End {
 public:
  explicit End(Config config, StreamDecisions decisions = {},
               std::shared_ptr<Scratch> scratch = nullptr)
      : owned(make_stream(std::move(config), memory, TimePoint{}, std::move(decisions),
                          std::move(scratch))) {}

  TestMemory memory;
  const std::unique_ptr<Stream> owned;
  Stream& stream = *owned;
  std::vector<Event> events;
  std::vector<std::byte> sent;  ///< all octets this end ever sent
  bool closed_half = false;     ///< closing() asked for FIN and it has been given to the other end
  bool reset = false;

  void collect() {
    while (auto event = stream.next_event()) events.push_back(std::move(*event));
  }
  /// The first event of this kind, or nothing.
  template <typename Kind>
  [[nodiscard]] const Kind* find() const {
    for (const Event& event : events)
      if (const Kind* kind = std::get_if<Kind>(&event)) return kind;
    return nullptr;
  }
  template <typename Kind>
  [[nodiscard]] std::vector<Kind> all() const {
    std::vector<Kind> found;
    for (const Event& event : events)
      if (const Kind* kind = std::get_if<Kind>(&event)) found.push_back(*kind);
    return found;
  }
};

class Pair {
 public:
  Pair(Config initiator_config, Config responder_config, StreamDecisions of_initiator = {},
       StreamDecisions of_responder = {})
      : initiator(with_role(std::move(initiator_config), Role::initiator), std::move(of_initiator)),
        responder(with_role(std::move(responder_config), Role::responder),
                  std::move(of_responder)) {}

  End initiator;
  End responder;
  TimePoint now{};
  std::size_t cut = 0;  ///< octets per delivery; 0: all there are
  bool accepting = true;
  std::uint16_t accept_ird = 16, accept_ord = 16;
  std::vector<std::byte> reply_private_data;

  /// Delivers octets until neither end has anything more to send.
  void run() {
    for (int quiet = 0; quiet < 2;) {
      const bool moved = step(initiator, responder);
      decide();
      const bool answered = step(responder, initiator);
      quiet = moved || answered ? 0 : quiet + 1;
    }
  }

 private:
  static Config with_role(Config config, Role role) {
    config.role = role;
    return config;
  }
  void decide() {
    responder.collect();
    if (responder.stream.state() != State::awaiting_decision) return;
    if (accepting)
      responder.stream.accept(accept_ird, accept_ord, reply_private_data, now);
    else
      responder.stream.reject(reply_private_data, now);
  }
  template <typename From, typename To>
  bool step(From& from, To& to) {
    std::vector<std::byte> octets = from.stream.take_output(now);
    from.collect();
    from.sent.insert(from.sent.end(), octets.begin(), octets.end());
    wire::Bytes rest(octets);
    while (!rest.empty()) {
      const std::size_t here = cut == 0 ? rest.size() : std::min(cut, rest.size());
      to.stream.receive(rest.first(here), now);
      rest = rest.subspan(here);
    }
    to.collect();
    const Closing closing = from.stream.closing();
    const bool closes = closing == Closing::half_close || closing == Closing::full_close;
    if (closes && !from.closed_half) {
      from.closed_half = true;
      from.stream.close_done(now);
      to.stream.peer_closed(now);
    }
    if (closing == Closing::reset && !from.reset) {
      from.reset = true;
      from.stream.close_done(now);
      to.stream.lost(now);
    }
    from.collect();
    to.collect();
    return !octets.empty();
  }
};

}  // namespace rnic::stream::test
