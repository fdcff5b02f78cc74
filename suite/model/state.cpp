// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/model/state.hpp"

#include <algorithm>
#include <boost/container_hash/hash.hpp>
#include <tuple>

namespace suite::model {

namespace {

std::uint64_t length_of(const std::vector<iut::Piece>& pieces) {
  std::uint64_t length = 0;
  for (const iut::Piece& piece : pieces) length += piece.length;
  return length;
}

bool overlaps(const std::vector<iut::Piece>& pieces, iut::Handle region) {
  return std::ranges::find(pieces, region, &iut::Piece::region) != pieces.end();
}

}  // namespace

std::uint64_t Receive::capacity() const { return length_of(pieces); }

std::uint64_t Work::length() const { return length_of(command.pieces); }

Receive* Stream::free_receive() {
  const auto found = std::ranges::find(receives, false, &Receive::filled);
  return found == receives.end() ? nullptr : &*found;
}

Work* Stream::open_read() {
  const auto found = std::ranges::find_if(
      work, [](const Work& each) { return each.asks() && each.sent && !each.done; });
  return found == work.end() ? nullptr : &*found;
}

bool Stream::awaits_atomic() const {
  return std::ranges::any_of(
      work, [](const Work& each) { return each.is_atomic() && each.sent && !each.done; });
}

std::size_t Stream::open_reads() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      work, [](const Work& each) { return each.asks() && each.sent && !each.done; }));
}

bool Stream::operator==(const Stream& other) const {
  const auto all = [](const Stream& stream) {
    return std::tie(stream.phase, stream.fault, stream.may_send, stream.unfinished, stream.incoming,
                    stream.next_msn, stream.receives, stream.work, stream.responses,
                    stream.peer_closed, stream.closing, stream.gives_up, stream.terminate_seen,
                    stream.iut_closed, stream.iut_reset, stream.disconnected,
                    stream.error_reported);
  };
  return all(*this) == all(other) && held.size() == other.held.size() &&
         passed_over.empty() == other.passed_over.empty();
}

std::size_t Stream::open_like(const Work& one) const {
  return static_cast<std::size_t>(std::ranges::count_if(work, [&](const Work& each) {
    return each.asks() && each.is_atomic() == one.is_atomic() && each.sent && !each.done;
  }));
}

namespace {

void add_to(std::size_t& digest, const auto&... values) {
  (boost::hash_combine(digest, values), ...);
}

void add_to(std::size_t& digest, const Stream& stream) {
  add_to(digest, static_cast<unsigned>(stream.phase), stream.fault.causes.size(), stream.may_send,
         stream.unfinished.size(), stream.held.size(), stream.peer_closed, stream.closing,
         stream.gives_up, stream.terminate_seen, stream.iut_closed, stream.iut_reset,
         stream.disconnected, stream.error_reported, stream.receives.size(), stream.work.size(),
         stream.responses.size());
  for (const Incoming& each : stream.incoming) add_to(digest, each.open, each.end);
  for (const std::uint32_t each : stream.next_msn) add_to(digest, each);
  for (const Receive& each : stream.receives) add_to(digest, each.work, each.filled);
  for (const Work& each : stream.work)
    add_to(digest, each.sent, each.done, each.received, each.indeterminate);
  for (const Response& each : stream.responses) add_to(digest, each.indeterminate);
}

}  // namespace

std::size_t State::digest() const {
  std::size_t digest = 0;
  for (const Stream& each : streams) add_to(digest, each);
  for (const SharedQueue& each : shared_queues) add_to(digest, each.waiting.size(), each.is_low);
  for (const Region& each : memory.regions)
    add_to(digest, each.valid, each.users, each.indeterminate, each.contents.digest());
  for (const Window& each : memory.windows) add_to(digest, each.bound, each.stag);
  return digest;
}

const SharedQueue* State::shared_of(const Stream& stream) const {
  const auto found =
      std::ranges::find(shared_queues, stream.terms.shared_queue, &SharedQueue::handle);
  return found == shared_queues.end() ? nullptr : &*found;
}

void State::place(const std::vector<iut::Piece>& pieces, std::uint64_t offset, base::Bytes octets) {
  for (const iut::Piece& piece : pieces) {
    if (octets.empty()) return;
    if (offset >= piece.length) {
      offset -= piece.length;
      continue;
    }
    const auto part = octets.first(std::min<std::uint64_t>(octets.size(), piece.length - offset));
    if (Region* region = memory.find(piece.region)) place(*region, piece.offset + offset, part);
    octets = octets.subspan(part.size());
    offset = 0;
  }
}

void State::place(Region& region, std::uint64_t offset, base::Bytes octets) {
  if (octets.empty()) return;
  region.contents.write(offset, octets);
  written_while_in_use(region);
  doubt_unfinished(region);
  written_before_atomics(region);
}

void State::written_before_atomics(Region& region) const {
  for (const Stream& stream : streams)
    for (const Response& response : stream.responses)
      if (response.atomic && response.atomic->region == region.handle) region.indeterminate = true;
}

void State::write(Region& region, std::uint64_t offset, base::Bytes octets, std::size_t by) {
  place(region, offset, octets);
  written_beside_responses(region);
  region.note_placement({by, offset, offset + octets.size()});
}

void State::note_placement(const std::vector<iut::Piece>& pieces, std::size_t stream) {
  for (const iut::Piece& piece : pieces)
    if (Region* region = memory.find(piece.region))
      region->note_placement({stream, piece.offset, piece.offset + piece.length});
}

void State::doubt(const std::vector<iut::Piece>& pieces) {
  for (const iut::Piece& piece : pieces)
    if (Region* region = memory.find(piece.region)) region->indeterminate = true;
}

void State::written_beside_responses(Region& region) const {
  const auto fills = [&](const Work& work) {
    return work.asks() && work.sent && overlaps(work.command.pieces, region.handle);
  };
  for (const Stream& stream : streams)
    if (std::ranges::any_of(stream.work, fills)) region.indeterminate = true;
}

void State::written_while_in_use(const Region& region) {
  for (Stream& stream : streams) {
    for (Work& work : stream.work)
      if (!work.sent && overlaps(work.command.pieces, region.handle)) work.indeterminate = true;
    for (Response& response : stream.responses) response.indeterminate = true;
  }
}

bool State::is_unfinished(const Region& region) const {
  return std::ranges::any_of(streams, [&](const Stream& stream) {
    return std::ranges::find(stream.unfinished, region.handle) != stream.unfinished.end();
  });
}

bool State::is_known(const Region& region) const {
  return !region.indeterminate && !is_unfinished(region);
}

void State::end_openly(std::size_t stream) {
  streams[stream].phase = Phase::open_ended;
  doubt_atomics_of(stream);
}

void State::doubt_atomics_of(std::size_t stream) {
  for (const Response& response : streams[stream].responses) {
    if (!response.atomic) continue;
    if (Region* region = memory.find(response.atomic->region)) region->indeterminate = true;
  }
}

void State::doubt_unfinished(Region& region) const {
  if (is_unfinished(region)) region.indeterminate = true;
}

void State::store(Region& region, std::uint64_t offset, base::Bytes octets) {
  region.contents.write(offset, octets);
  doubt_unfinished(region);
  for (Stream& stream : streams) {
    for (Work& work : stream.work)
      if (!work.sent && overlaps(work.command.pieces, region.handle)) work.indeterminate = true;
    for (Response& response : stream.responses)
      if (!response.atomic) response.indeterminate = true;
  }
}

Octets State::gather(const std::vector<iut::Piece>& pieces) const {
  Octets octets;
  for (const iut::Piece& piece : pieces) {
    const Region* region = memory.find(piece.region);
    if (region == nullptr) continue;
    const Octets part = region->contents.part(piece.offset, piece.length);
    octets.insert(octets.end(), part.begin(), part.end());
  }
  return octets;
}

}  // namespace suite::model
