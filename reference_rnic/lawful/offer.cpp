// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/lawful/offer.hpp"

namespace rnic::lawful {
namespace {

constexpr stream::RtrKinds none{.send = false, .write = false, .read = false};

stream::RtrKinds only(bool stream::RtrKinds::* kind) {
  stream::RtrKinds kinds = none;
  kinds.*kind = true;
  return kinds;
}

void limit(Offer& offer, Lawful lawful) {
  switch (lawful) {
    case Lawful::revision_one_only:
      offer.startup.revision = 1;
      offer.enhanced_startup = false;
      break;
    case Lawful::asks_for_markers:
      offer.startup.markers = true;
      offer.markers_configurable = false;
      break;
    case Lawful::always_peer_to_peer:
      offer.startup.peer_to_peer = true;
      offer.peer_to_peer_configurable = false;
      break;
    case Lawful::rtr_by_send_only:
      offer.startup.rtr = only(&stream::RtrKinds::send);
      break;
    case Lawful::rtr_by_write_only:
      offer.startup.rtr = only(&stream::RtrKinds::write);
      break;
    case Lawful::rtr_by_read_only:
      offer.startup.rtr = only(&stream::RtrKinds::read);
      break;
    case Lawful::crc_not_configurable:
      offer.crc_configurable = false;
      break;
    case Lawful::small_segments:
      offer.emss = 536;
      break;
    case Lawful::without_extensions:
      offer.extensions = false;
      break;
    case Lawful::small_inbound_queue:
      offer.rnic.max_ird = offer.rnic.max_ord = 1;
      break;
    case Lawful::shallow_queues:
      offer.rnic.max_queue_depth = 8;
      break;
    case Lawful::one_piece_for_each_request:
      offer.rnic.max_pieces = 1;
      break;
    case Lawful::little_private_data:
      offer.max_private_data = 64;
      break;
    case Lawful::late_completions:
      offer.completion_delay = std::chrono::milliseconds(30);
      break;
    default:
      break;
  }
}

}  // namespace

Offer offer_of(std::span<const Lawful> chosen) {
  Offer offer;
  for (const Lawful lawful : chosen) limit(offer, lawful);
  return offer;
}

}  // namespace rnic::lawful
