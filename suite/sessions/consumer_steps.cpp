// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The steps of the IUT's consumer: memory, receives, work, and the end.
#include <fmt/format.h>

#include <algorithm>

#include "suite/lower_tester/content.hpp"
#include "suite/sessions/play.hpp"

namespace suite::sessions {

namespace {

using model::Region;

class ConsumerStep {
 public:
  ConsumerStep(Play& play, std::size_t stream, const Step& step)
      : play_(play), stream_(stream), step_(step), line_(*play.lines()[stream]) {}

  void play() {
    switch (step_.action) {
      case Action::register_region:
        return register_region();
      case Action::deregister_region:
        return deregister_region();
      case Action::write_memory:
        return write_memory();
      case Action::look_at_memory:
        return look_at_memory();
      case Action::receive:
        return receive();
      case Action::invalidate:
        return invalidate();
      case Action::bind_window:
        return bind_window();
      case Action::unbind_window:
        return unbind_window();
      case Action::arm_limit:
        return arm_limit();
      case Action::disconnect:
      case Action::abort:
        line_.disconnecting = step_.action == Action::disconnect;
        static_cast<void>(
            play_.command(iut::Disconnect{line_.endpoint, step_.action == Action::abort}));
        return;
      case Action::destroy_endpoint:
        return destroy_endpoint();
      default:
        return post_work();
    }
  }

 private:
  template <typename Suits>
  [[nodiscard]] const Region* pick(const Suits& suits) const {
    std::vector<const Region*> list;
    for (const Region& region : play_.known().memory.regions)
      if (region.registered && suits(region)) list.push_back(&region);
    return list.empty() ? nullptr : list[step_.object % list.size()];
  }
  [[nodiscard]] const Region* work_region(bool to_write) const {
    // The sink of a Read takes tagged segments of the peer (RFC 5040 section 5.2).
    return pick([&](const Region& each) {
      return each.valid && each.domain == line_.domain && is_for_work(each) &&
             (!to_write || each.access.remote_write);
    });
  }

  /// Every stream's first region is used for work.
  void register_region() {
    play_.settle();
    iut::RegisterMemory command;
    command.region = static_cast<iut::Handle>(play_.known().memory.regions.size() + 1);
    command.domain = line_.domain;
    constexpr std::uint64_t longest = 1U << 20;
    command.length = std::clamp<std::uint64_t>(step_.length, 1, longest);
    const auto has = [&](const Right& right) { return (step_.value & right.bit) != 0; };
    command.access = {
        .local_write = has(local_write),
        .remote_read = has(remote_read),
        .remote_write = has(remote_write),
        .remote_atomic = has(remote_atomic) && play_.can(iut::capability::atomics),
        .bind_window = has(bind_windows) && play_.can(iut::capability::memory_windows)};
    // What the peer may write to, the RNIC has to be able to write to.
    command.access.local_write =
        command.access.local_write || command.access.remote_write || command.access.remote_atomic;
    command.fill = static_cast<std::uint8_t>(step_.value >> 8);
    const iut::Reply reply = play_.command(command);
    if (reply.outcome != iut::Outcome::ok) return;
    if (reply.stag) play_.stags().given(*reply.stag);
    play_.command(iut::WriteMemory{
        command.region, 0, lower_tester::PayloadGenerator(step_.value).octets(command.length)});
    play_.settle();
  }

  void deregister_region() {
    play_.settle();
    const Region* region = pick([this](const Region& each) { return !is_needed(each); });
    if (region == nullptr || play_.is_stopped()) return;
    play_.stags().freed(region->stag);
    play_.command(iut::DeregisterMemory{region->handle});
  }

  /// The other streams go on; a shared receive that a message has begun to fill may be lost with it.
  void destroy_endpoint() {
    play_.settle();
    if (line_.shares_receives || has_local_work(play_.known().streams[stream_]) ||
        play_.is_stopped())
      return;
    if (play_.command(iut::DestroyEndpoint{line_.endpoint}).outcome != iut::Outcome::ok) return;
    line_.gone = true;
    play_.settle();
    if (play_.is_stopped() || !line_.can_send()) return;
    line_.closed = true;
    line_.peer.reset();
    play_.model().sent(stream_, model::SentReset{});
  }

  void write_memory() {
    const Region* region = pick([](const Region&) { return true; });
    if (region == nullptr) return;
    constexpr std::uint64_t most = 512;
    const std::uint64_t length = std::min({step_.length, region->length(), most});
    const std::uint64_t offset = step_.offset % (region->length() - length + 1);
    play_.command(iut::WriteMemory{region->handle, offset,
                                   lower_tester::PayloadGenerator(step_.value).octets(length)});
  }

  void look_at_memory() {
    play_.settle();
    const Region* region = pick([](const Region&) { return true; });
    if (region != nullptr && !play_.is_stopped()) play_.look_at(region->handle);
  }

  /// Up to four pieces of a region.
  [[nodiscard]] std::vector<iut::Piece> pieces_of(const Region& region) const {
    const auto length = static_cast<std::uint32_t>(std::min(step_.length, region.length()));
    std::uint64_t offset = step_.offset % (region.length() - length + 1);
    constexpr std::int64_t most = 4;
    std::uint64_t count = 1;
    // A Read has one sink (RFC 5040 section 5.2).
    if (step_.action != Action::read && step_.value % 3 == 0)
      count += (step_.value >> 2) % static_cast<std::uint64_t>(play_.limit("max_pieces", most));
    std::vector<iut::Piece> pieces;
    std::uint32_t left = length;
    while (pieces.size() + 1 < count && left > 1) {
      const auto piece = static_cast<std::uint32_t>(1 + (step_.value >> 4) % (left - 1));
      pieces.push_back({region.handle, offset, piece});
      offset += piece;
      left -= piece;
    }
    pieces.push_back({region.handle, offset, left});
    return pieces;
  }

  /// Work or a window needs the region.
  [[nodiscard]] bool is_needed(const Region& region) const {
    return is_for_work(region) || play_.known().memory.has_windows(region.handle) ||
           play_.awaits(region.stag);
  }

  void receive_shared() {
    const Region* region = work_region(true);
    if (region == nullptr || region->length() < shared_receive_length ||
        play_.receives_of(line_).size() >= most_shared_receives)
      return;
    iut::PostReceive command;
    command.shared_queue = shared_queue;
    command.work = play_.next_work();
    command.pieces = {{region->handle,
                       step_.offset % (region->length() - shared_receive_length + 1),
                       shared_receive_length}};
    if (play_.command(command).outcome == iut::Outcome::ok)
      play_.receives_of(line_).push_back(shared_receive_length);
  }

  /// Only while enough wait: APIs differ in what follows otherwise.
  void arm_limit() {
    play_.settle();
    const auto limit = static_cast<std::uint32_t>(1 + step_.value % most_shared_receives);
    if (!line_.shares_receives || play_.is_stopped() || play_.receives_of(line_).size() < limit)
      return;
    play_.command(iut::ArmSharedQueueLimit{shared_queue, limit});
  }

  void receive() {
    if (line_.shares_receives) return receive_shared();
    const Region* region = work_region(true);
    if (region == nullptr || line_.closed) return;
    iut::PostReceive command;
    command.endpoint = line_.endpoint;
    command.work = play_.next_work();
    command.pieces = pieces_of(*region);
    if (play_.command(command).outcome != iut::Outcome::ok) return;
    line_.receives.push_back(std::min(step_.length, region->length()));
  }

  /// Local work waits for earlier posted work, or for the first FPDU; no text says for how much of
  /// it. With a fence it waits for Reads and Atomics (RFC 5040 section 5.5).
  [[nodiscard]] bool can_run_local_work() {
    play_.settle();
    const model::Stream& stream = play_.known().streams[stream_];
    const bool is_determined =
        stream.work.empty() || (step_.fence && std::ranges::all_of(stream.work, waits_for_peer));
    return !play_.is_stopped() && stream.goes_on() && stream.may_send && is_determined;
  }
  static bool waits_for_peer(const model::Work& work) {
    return work.asks() && work.sent && !work.done;
  }
  [[nodiscard]] iut::PostWork local_work(const char* operation) const {
    iut::PostWork command;
    command.endpoint = line_.endpoint;
    command.work = play_.next_work();
    command.operation = operation;
    command.fence = step_.fence;
    return command;
  }

  void invalidate() {
    if (!can_run_local_work() || !play_.can(iut::capability::local_invalidate)) return;
    const Region* region = pick([&](const Region& each) {
      return each.valid && each.domain == line_.domain && !is_needed(each);
    });
    const model::Window* window = step_.value % 2 == 0 ? pick_window(true) : nullptr;
    if (region == nullptr && window == nullptr) return;
    iut::PostWork command = local_work(iut::operation::local_invalidate);
    command.invalidate_stag = window != nullptr ? window->stag : region->stag;
    play_.note_local_work(command.invalidate_stag);
    play_.command(command);
  }

  /// One that this stream may bind and unbind.
  [[nodiscard]] const model::Window* pick_window(bool bound) const {
    std::vector<const model::Window*> list;
    for (const model::Window& each : play_.known().memory.windows)
      if (each.domain == line_.domain && (each.bound || !bound) && !play_.awaits(each.stag) &&
          (!each.bound || each.stream.value_or(stream_) == stream_))
        list.push_back(&each);
    return list.empty() ? nullptr : list[step_.object % list.size()];
  }

  /// A new window, or one that is there already.
  [[nodiscard]] iut::Handle window_to_bind() {
    const model::Window* old = step_.value % 3 == 0 ? pick_window(false) : nullptr;
    if (old != nullptr) return old->handle;
    const auto handle = static_cast<iut::Handle>(play_.known().memory.windows.size() + 1);
    const iut::Reply reply = play_.command(iut::AllocateWindow{handle, line_.domain});
    play_.settle();
    return reply.outcome == iut::Outcome::ok ? handle : 0;
  }

  void bind_window() {
    if (!can_run_local_work() || !play_.can(iut::capability::memory_windows)) return;
    const Region* region = pick([&](const Region& each) {
      return each.valid && each.domain == line_.domain && each.access.bind_window &&
             !play_.awaits(each.stag);
    });
    if (region == nullptr) return;
    iut::PostWork command = local_work(iut::operation::bind_window);
    const std::uint64_t length = std::clamp<std::uint64_t>(step_.length, 1, region->length());
    command.pieces = {{region->handle, step_.offset % (region->length() - length + 1),
                       static_cast<std::uint32_t>(length)}};
    const auto has = [&](const Right& right) { return (step_.value >> 8 & right.bit) != 0; };
    // Who may not write locally may not let a peer write.
    const bool writes = region->access.local_write;
    command.window_access = {
        .local_write = false,
        .remote_read = has(remote_read),
        .remote_write = has(remote_write) && writes,
        .remote_atomic = has(remote_atomic) && writes && play_.can(iut::capability::atomics)};
    command.window = window_to_bind();
    if (command.window == 0 || play_.is_stopped()) return;
    play_.command(command);
    // A region to which a window is bound is no longer the peer's to invalidate.
    play_.settle();
  }

  void unbind_window() {
    if (!can_run_local_work()) return;
    const model::Window* window = pick_window(true);
    if (window == nullptr) return;
    iut::PostWork command = local_work(iut::operation::bind_window);
    command.window = window->handle;
    play_.note_local_work(window->stag);
    play_.command(command);
  }

  [[nodiscard]] const char* operation() const {
    if (step_.action == Action::write) return iut::operation::write;
    if (step_.action == Action::read) return iut::operation::read;
    if (step_.action == Action::atomic)
      return step_.value % 2 == 0 ? iut::operation::fetch_add : iut::operation::compare_swap;
    if (step_.action == Action::immediate)
      return step_.solicited ? iut::operation::immediate_solicited : iut::operation::immediate;
    const bool invalidates = step_.invalidate && play_.can(iut::capability::send_invalidate);
    if (!step_.solicited || !play_.can(iut::capability::solicited))
      return invalidates ? iut::operation::send_invalidate : iut::operation::send;
    return invalidates ? iut::operation::send_solicited_invalidate : iut::operation::send_solicited;
  }

  /// The operands: masks where the consumer names them, and mostly bits of both halves.
  void set_operands(iut::PostWork& command) const {
    // The Requester names any offset (RFC 7306 section 5.1).
    if (step_.value % 5 != 0) command.remote_offset &= ~std::uint64_t{7};
    command.add_or_swap = step_.value * 0x9E3779B97F4A7C15;
    if (step_.value % 2 == 1) command.compare = ~step_.value;
    if (step_.value % 3 == 0) command.add_or_swap_mask = step_.value >> 5;
    if (step_.value % 6 == 3) command.compare_mask = step_.value >> 7;
  }

  void post_work() {
    const bool is_atomic = step_.action == Action::atomic;
    const bool is_immediate = step_.action == Action::immediate;
    if ((is_atomic && !play_.can(iut::capability::atomics)) ||
        (is_immediate && !play_.can(iut::capability::immediate)))
      return;
    const Region* region = work_region(is_atomic || step_.action == Action::read);
    const bool over = line_.closed || line_.ended_by_iut;
    constexpr std::uint32_t word = 8;
    if (region == nullptr || (over && step_.value % 4 != 0)) return;
    if (is_atomic && region->length() < word) return;
    iut::PostWork command;
    command.endpoint = line_.endpoint;
    command.work = play_.next_work();
    command.operation = operation();
    command.pieces = pieces_of(*region);
    command.remote_stag = static_cast<std::uint32_t>(step_.value >> 16);
    command.remote_offset = step_.offset * 3;
    if (step_.invalidate && step_.action == Action::send)
      command.invalidate_stag = static_cast<std::uint32_t>(step_.value >> 24);
    if (is_immediate) {
      command.pieces.clear();
      const Octets eight = lower_tester::PayloadGenerator(step_.value).octets(word);
      std::ranges::copy(eight, command.immediate.begin());
    }
    if (is_atomic) {
      const std::uint64_t offset = step_.offset % (region->length() - word + 1);
      command.pieces = {{region->handle, offset / word * word, word}};
      set_operands(command);
    }
    command.fence = step_.fence;
    command.signaled = !step_.unsignaled;
    const iut::Reply reply = play_.command(command);
    if (play_.context().records) note(command, *region, reply);
  }

  void note(const iut::PostWork& command, const Region& region, const iut::Reply& reply) {
    play_.context().note(
        lower_tester::Direction::none,
        fmt::format("work {}: {} of {} octets in region {}{}{}{}", command.work, command.operation,
                    std::min(step_.length, region.length()), region.handle,
                    command.fence ? ", fenced" : "", command.signaled ? "" : ", unsignaled",
                    reply.outcome == iut::Outcome::ok ? "" : ": " + reply.error));
  }

  Play& play_;
  std::size_t stream_;
  const Step& step_;
  Line& line_;
};

}  // namespace

void play_consumer_step(Play& play, std::size_t stream, const Step& step) {
  if (play.lines()[stream]->gone) return;
  ConsumerStep(play, stream, step).play();
}

}  // namespace suite::sessions
