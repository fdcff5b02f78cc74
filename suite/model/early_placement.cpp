// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Octets of an FPDU of which some are outstanding. Nothing completes by them (RFC 5044 section 6);
// but where no CRC is to be checked they may be in their buffer already.
#include <algorithm>

#include "suite/model/arriving.hpp"

namespace suite::model {

namespace {

/// The octets of these buffers are not known until the rest has come.
void leave_unfinished(const Taking& taking, State state, const std::vector<iut::Handle>& buffers) {
  for (const iut::Handle handle : buffers) {
    Region* region = state.memory.find(handle);
    if (region == nullptr) continue;
    state.written_while_in_use(*region);
    state.written_before_atomics(*region);
  }
  std::vector<iut::Handle>& unfinished = state.streams[taking.stream].unfinished;
  unfinished.insert(unfinished.end(), buffers.begin(), buffers.end());
  taking.after.push_back(std::move(state));
}

std::vector<iut::Handle> regions_of(const std::vector<iut::Piece>& pieces) {
  std::vector<iut::Handle> regions;
  for (const iut::Piece& piece : pieces) regions.push_back(piece.region);
  return regions;
}

/// A Write, or the next octets of a Read Response.
void place_tagged(const Taking& taking, const wire::Segment& segment) {
  State state = taking.before;
  if (segment.rdmap().opcode() == wire::Opcode::read_response) {
    const Work* read = state.streams[taking.stream].open_read();
    if (read != nullptr)
      leave_unfinished(taking, std::move(state), regions_of(read->command.pieces));
    return;
  }
  Faults faults;
  const std::uint32_t stag = segment.tagged_header.stag.value();
  const Accessor by{taking.stream, state.streams[taking.stream].terms.domain};
  state.memory.check(stag, segment.tagged_header.tagged_offset.value(), segment.payload.size(),
                     Use::write, by, faults);
  if (const auto grant = state.memory.of_stag(stag); grant && !faults.any())
    leave_unfinished(taking, std::move(state), {grant->region->handle});
}

/// A message for a receive, which may be taken for it.
void place_untagged(const Taking& taking) {
  const Stream& stream = taking.before.streams[taking.stream];
  const bool has_own = !std::ranges::all_of(stream.receives, &Receive::filled);
  States states;
  if (has_own)
    states.push_back(taking.before);
  else if (taking.before.has_receive(stream) && taking.before.shared_of(stream) != nullptr)
    states = with_shared_receive(taking.before, taking.stream);
  for (State& state : states) {
    const auto buffers = regions_of(state.streams[taking.stream].free_receive()->pieces);
    leave_unfinished(taking, std::move(state), buffers);
  }
}

}  // namespace

void place_early(const Taking& taking, const wire::Segment& segment) {
  if (segment.tagged) {
    if (!segment.payload.empty()) place_tagged(taking, segment);
    return;
  }
  // A message without octets needs a receive as well.
  if (segment.untagged_header.queue_number.value() == static_cast<std::uint32_t>(wire::Queue::send))
    place_untagged(taking);
}

}  // namespace suite::model
