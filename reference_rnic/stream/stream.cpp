// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/stream.hpp"

#include <algorithm>
#include <cstring>

#include "reference_rnic/stream/machine.hpp"

namespace rnic::stream {

Stream::Stream(Config config, Memory& memory, TimePoint now, StreamDecisions decisions)
    : machine_(std::make_unique<Machine>(std::move(config), memory, now, std::move(decisions))) {}

Stream::~Stream() = default;

std::span<const wire::MutableBytes> Stream::receive_targets() {
  return machine_->receive_targets();
}

void Stream::received(std::size_t count, TimePoint now) { machine_->received(count, now); }

void Stream::receive(wire::Bytes octets, TimePoint now) {
  while (!octets.empty()) {
    std::size_t taken = 0;
    for (const wire::MutableBytes target : machine_->receive_targets()) {
      const std::size_t here = std::min(target.size(), octets.size());
      if (here != 0) std::memcpy(target.data(), octets.data(), here);
      octets = octets.subspan(here);
      taken += here;
    }
    machine_->received(taken, now);
  }
}

void Stream::peer_closed(TimePoint now) { machine_->peer_closed(now); }

void Stream::lost(TimePoint now) { machine_->lost(now); }

void Stream::gather(std::vector<wire::Bytes>& list, std::size_t limit,
                    std::vector<std::size_t>* boundaries) {
  machine_->gather(list, limit, boundaries);
}

void Stream::transmitted(std::size_t count, TimePoint now) { machine_->transmitted(count, now); }

std::vector<std::byte> Stream::take_output(TimePoint now) {
  constexpr std::size_t step = 1U << 20;
  std::vector<std::byte> output;
  std::vector<wire::Bytes> list;
  while (true) {
    list.clear();
    machine_->gather(list, step, nullptr);
    if (list.empty()) return output;
    std::size_t count = 0;
    for (const wire::Bytes piece : list) {
      output.insert(output.end(), piece.begin(), piece.end());
      count += piece.size();
    }
    machine_->transmitted(count, now);
  }
}

Closing Stream::closing() const { return machine_->closing(); }

void Stream::close_done(TimePoint now) { machine_->close_done(now); }

std::optional<TimePoint> Stream::next_wakeup() const { return machine_->next_wakeup(); }

void Stream::wakeup(TimePoint now) { machine_->wakeup(now); }

void Stream::accept(std::uint16_t ird, std::uint16_t ord, wire::Bytes private_data, TimePoint now) {
  machine_->accept(ird, ord, private_data, now);
}

void Stream::reject(wire::Bytes private_data, TimePoint now) {
  machine_->reject(private_data, now);
}

void Stream::post(Work work, TimePoint now) { machine_->post(std::move(work), now); }

void Stream::disconnect(TimePoint now) { machine_->disconnect(now); }

void Stream::abort(TimePoint now) { machine_->abort(now); }

void Stream::set_emss(std::size_t emss) { machine_->set_emss(emss); }

std::optional<Event> Stream::next_event() { return machine_->next_event(); }

State Stream::state() const { return machine_->state(); }

const Negotiated& Stream::negotiated() const { return machine_->negotiated(); }

StreamDecisions& Stream::decisions() { return machine_->decisions(); }

}  // namespace rnic::stream
