// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/framework/case_peer.hpp"

#include "reference_rnic/wire/fpdu.hpp"
#include "suite/cases/framework/body.hpp"

namespace suite::cases {

namespace {

constexpr std::size_t stalled_window = 64 * 1024;
constexpr std::size_t much = 1024 * 1024;
/// That of Consumer::register_memory().
constexpr std::byte usual_fill{0xA5};

}  // namespace

void CasePeer::send_together(const std::vector<Outgoing>& messages, const Cut& cut) {
  std::vector<Fpdu> all;
  for (const Outgoing& message : messages)
    for (Fpdu& fpdu : ready().prepare(message)) all.push_back(std::move(fpdu));
  peer_->send(all, cut);
}

void CasePeer::connect() {
  if (const auto done = peer_->connect(body_.iut_address()); !done)
    body_.not_established(done.error());
}

Octets CasePeer::send_all_but_the_crc(const Fpdu& fpdu) {
  Peer& peer = ready();
  const Octets octets = encode(fpdu, peer.sending());
  const std::size_t most = octets.size() - rnic::wire::fpdu_crc_size;
  peer.means_to_send(fpdu.ulpdu);
  peer.send_octets(rnic::wire::Bytes(octets).first(most));
  return part_of(octets, most, rnic::wire::fpdu_crc_size);
}

bool CasePeer::ended_by_iut() {
  if (ended_by_us_ || !peer_->was_opened()) return false;
  if (peer_->is_open()) peer_->pause_receiving(false);  // it may be stalled
  const auto until = context_.loop.now() + body_.environment().quiet_window;
  while (true) {
    Arrival arrival = peer_->next(until);
    if (arrival.as<Nothing>() != nullptr) return false;
    if (!arrival.is_end()) continue;
    peer_->put_back(std::move(arrival));
    return true;
  }
}

void CasePeer::stall() {
  ready().set_receive_buffer(stalled_window);
  peer_->pause_receiving(true);
}

void CasePeer::resume() { peer_->pause_receiving(false); }

Octets much_data() { return Octets(much, usual_fill); }

Peer& CasePeer::ready() {
  // As MPA initiator we may send immediately; an IUT in that role must send first.
  if (!peer_->was_opened()) body_.establish({.opening = !body_.iut_is_responder()});
  return *peer_;
}

}  // namespace suite::cases
