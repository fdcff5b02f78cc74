// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/stream/stream.hpp"

#include <algorithm>
#include <cstring>

#include "reference_rnic/stream/machine.hpp"

namespace rnic::stream {

template <typename Policy>
Stream<Policy>::Stream(Config config, Memory& memory, TimePoint now, Policy policy)
    : machine_(std::make_unique<Machine>(std::move(config), memory, now, std::move(policy))) {}

template <typename Policy>
Stream<Policy>::~Stream() = default;

template <typename Policy>
std::span<const wire::MutableBytes> Stream<Policy>::receive_targets() {
  return machine_->receive_targets();
}

template <typename Policy>
void Stream<Policy>::received(std::size_t count, TimePoint now) {
  machine_->received(count, now);
}

template <typename Policy>
void Stream<Policy>::receive(wire::Bytes octets, TimePoint now) {
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

template <typename Policy>
void Stream<Policy>::peer_closed(TimePoint now) {
  machine_->peer_closed(now);
}

template <typename Policy>
void Stream<Policy>::lost(TimePoint now) {
  machine_->lost(now);
}

template <typename Policy>
void Stream<Policy>::gather(std::vector<wire::Bytes>& list, std::size_t limit,
                            std::vector<std::size_t>* boundaries) {
  machine_->gather(list, limit, boundaries);
}

template <typename Policy>
void Stream<Policy>::transmitted(std::size_t count, TimePoint now) {
  machine_->transmitted(count, now);
}

template <typename Policy>
std::vector<std::byte> Stream<Policy>::take_output(TimePoint now) {
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

template <typename Policy>
Closing Stream<Policy>::closing() const {
  return machine_->closing();
}

template <typename Policy>
void Stream<Policy>::close_done(TimePoint now) {
  machine_->close_done(now);
}

template <typename Policy>
std::optional<TimePoint> Stream<Policy>::next_wakeup() const {
  return machine_->next_wakeup();
}

template <typename Policy>
void Stream<Policy>::wakeup(TimePoint now) {
  machine_->wakeup(now);
}

template <typename Policy>
void Stream<Policy>::accept(std::uint16_t ird, std::uint16_t ord, wire::Bytes private_data,
                            TimePoint now) {
  machine_->accept(ird, ord, private_data, now);
}

template <typename Policy>
void Stream<Policy>::reject(wire::Bytes private_data, TimePoint now) {
  machine_->reject(private_data, now);
}

template <typename Policy>
void Stream<Policy>::post(Work work, TimePoint now) {
  machine_->post(std::move(work), now);
}

template <typename Policy>
void Stream<Policy>::disconnect(TimePoint now) {
  machine_->disconnect(now);
}

template <typename Policy>
void Stream<Policy>::abort(TimePoint now) {
  machine_->abort(now);
}

template <typename Policy>
void Stream<Policy>::set_emss(std::size_t emss) {
  machine_->set_emss(emss);
}

template <typename Policy>
std::optional<Event> Stream<Policy>::next_event() {
  return machine_->next_event();
}

template <typename Policy>
State Stream<Policy>::state() const {
  return machine_->state();
}

template <typename Policy>
const Negotiated& Stream<Policy>::negotiated() const {
  return machine_->negotiated();
}

template <typename Policy>
Policy& Stream<Policy>::policy() {
  return machine_->policy();
}

template class Stream<Conforming>;
template class Stream<Deviating>;

}  // namespace rnic::stream
