// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/sessions/shrinking.hpp"

#include <algorithm>

#include "suite/sessions/leaving_out.hpp"

namespace suite::sessions {

namespace {

using StillFails = std::function<bool(const Session&)>;

/// The last stream goes if nothing needs it: its steps fall to the others.
bool leave_stream_out(Session& session, const StillFails& still_fails) {
  if (session.streams.size() < 2) return false;
  for (std::size_t at = 0; at < session.streams.size(); ++at) {
    Session tried = session;
    std::erase_if(tried.steps,
                  [&](const Step& step) { return step.stream % session.streams.size() == at; });
    for (Step& step : tried.steps) {
      const auto stream = static_cast<std::uint32_t>(step.stream % session.streams.size());
      step.stream = stream > at ? stream - 1 : stream;
    }
    tried.streams.erase(tried.streams.begin() + static_cast<std::ptrdiff_t>(at));
    if (!still_fails(tried)) continue;
    session = std::move(tried);
    return true;
  }
  return false;
}

bool make_steps_usual(Session& session, const StillFails& still_fails) {
  bool any = false;
  for (Step& step : session.steps) {
    const auto usual = [&](auto member, auto value) {
      any = set_usual(session, step, member, value, still_fails) || any;
    };
    usual(&Step::wrong, Wrong::nothing);
    usual(&Step::together, false);
    usual(&Step::stalled, false);
    usual(&Step::times, std::uint32_t{1});
    usual(&Step::cut, std::uint32_t{0});
    usual(&Step::rest, std::uint32_t{0});
    usual(&Step::packed, false);
    usual(&Step::segment, std::uint32_t{0});
    usual(&Step::fence, false);
    usual(&Step::unsignaled, false);
    usual(&Step::solicited, false);
    usual(&Step::invalidate, false);
    usual(&Step::length, std::uint64_t{8});
    usual(&Step::offset, std::uint64_t{0});
  }
  return any;
}

bool make_streams_usual(Session& session, const StillFails& still_fails) {
  bool any = false;
  const StreamSetup plain;
  for (StreamSetup& stream : session.streams) {
    const auto usual = [&](auto member) {
      any = set_usual(session, stream, member, plain.*member, still_fails) || any;
    };
    usual(&StreamSetup::iut_initiates);
    usual(&StreamSetup::revision);
    usual(&StreamSetup::plain);
    usual(&StreamSetup::peer_ird);
    usual(&StreamSetup::peer_ord);
    usual(&StreamSetup::peer_to_peer);
    usual(&StreamSetup::rtr);
    usual(&StreamSetup::iut_rtr);
    usual(&StreamSetup::rtr_choice);
    usual(&StreamSetup::early);
    usual(&StreamSetup::fault_value);
    usual(&StreamSetup::iut_crc);
    usual(&StreamSetup::peer_crc);
    usual(&StreamSetup::iut_markers);
    usual(&StreamSetup::peer_markers);
    usual(&StreamSetup::emss);
    usual(&StreamSetup::own_domain);
    usual(&StreamSetup::shared_receives);
    usual(&StreamSetup::private_data);
    usual(&StreamSetup::fault);
  }
  return any;
}

}  // namespace

Session shrink(const Session& session, const StillFails& still_fails) {
  Session shortest = session;
  for (bool shorter = true; shorter;) {
    shorter = leave_stream_out(shortest, still_fails);
    shorter = leave_steps_out(shortest, still_fails) || shorter;
    shorter = make_steps_usual(shortest, still_fails) || shorter;
    shorter = make_streams_usual(shortest, still_fails) || shorter;
  }
  return shortest;
}

}  // namespace suite::sessions
