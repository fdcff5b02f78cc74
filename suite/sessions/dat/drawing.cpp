// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/sessions/dat/drawing.hpp"

#include <algorithm>
#include <optional>

#include "suite/cases/dat/framework/dat_headers.hpp"
#include "suite/sessions/random_choices.hpp"

namespace suite::sessions::dat {

namespace {

// Places of dispatchers: of the DTOs of each endpoint, of its connection, of software events, and
// those that endpoints share.
constexpr std::uint32_t connections = 8, software = 16, software_places = 2, shared_transfers = 18,
                        shared_by_all = 19;

// Both sides of the bounds that lengths have on their way, and off multiples.
constexpr std::array<std::int64_t, 20> lengths{0,  1,  2,  3,  4,   7,   8,   13,  31,   32,
                                               33, 63, 64, 65, 100, 128, 255, 257, 1000, 1461};
constexpr std::array<std::int64_t, 9> region_lengths{64,   100,  257,  513,  1024,
                                                     4096, 4097, 8195, 20000};
constexpr std::array<std::int64_t, 10> depths{1, 2, 3, 4, 5, 6, 8, 12, 16, 32};
constexpr unsigned all_rights = DAT_MEM_PRIV_ALL_FLAG;
constexpr std::array<unsigned, 8> rights{
    all_rights,
    all_rights,
    all_rights,
    all_rights,
    DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG,
    DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG,
    DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG,
    DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG};

constexpr std::array local_wrongs{Wrong::negative_count, Wrong::too_many_segments,
                                  Wrong::flags,          Wrong::unsignalled,
                                  Wrong::before_start,   Wrong::beyond_end,
                                  Wrong::after_end,      Wrong::another_zone,
                                  Wrong::no_privilege,   Wrong::freed};
constexpr std::array peer_wrongs{Wrong::peer_before_start, Wrong::peer_beyond_end,
                                 Wrong::peer_another_zone, Wrong::peer_no_privilege,
                                 Wrong::peer_freed,        Wrong::former,
                                 Wrong::too_short,         Wrong::too_short};

using Choice = Weighted<Action>;
constexpr std::array<Choice, 51> actions{{{Action::make_zone, 2},
                                          {Action::free_zone, 4},
                                          {Action::make_region, 4},
                                          {Action::free_region, 4},
                                          {Action::query_region, 2},
                                          {Action::sync_memory, 3},
                                          {Action::make_window, 3},
                                          {Action::bind_window, 9},
                                          {Action::query_window, 3},
                                          {Action::free_window, 2},
                                          {Action::make_dispatcher, 3},
                                          {Action::free_dispatcher, 4},
                                          {Action::query_dispatcher, 4},
                                          {Action::resize_dispatcher, 5},
                                          {Action::post_software, 6},
                                          {Action::make_unwaitable, 3},
                                          {Action::make_waitable, 2},
                                          {Action::enable, 2},
                                          {Action::disable, 2},
                                          {Action::wait, 14},
                                          {Action::dequeue, 7},
                                          {Action::wait_blocked, 3},
                                          {Action::make_notifier, 1},
                                          {Action::free_notifier, 2},
                                          {Action::set_agent, 3},
                                          {Action::wait_for_notifier, 4},
                                          {Action::move_dispatcher, 2},
                                          {Action::make_queue, 2},
                                          {Action::free_queue, 3},
                                          {Action::query_queue, 6},
                                          {Action::resize_queue, 5},
                                          {Action::set_low_watermark, 5},
                                          {Action::receive_shared, 10},
                                          {Action::make_endpoint, 4},
                                          {Action::free_endpoint, 3},
                                          {Action::query_endpoint, 4},
                                          {Action::modify_endpoint, 5},
                                          {Action::set_watermark, 4},
                                          {Action::count_receives, 4},
                                          {Action::get_status, 7},
                                          {Action::connect, 9},
                                          {Action::connect_two, 4},
                                          {Action::disconnect, 6},
                                          {Action::reset, 8},
                                          {Action::receive, 24},
                                          {Action::send, 22},
                                          {Action::write, 14},
                                          {Action::read, 14},
                                          {Action::set_context, 3},
                                          {Action::get_context, 4},
                                          {Action::settle, 5}}};

class Drawing {
 public:
  explicit Drawing(std::uint64_t seed) : random_(seed), session_{.seed = seed, .steps = {}} {
    for (std::size_t i = 0; i < actions.size(); ++i) {
      emphasis_[i] = actions[i];
      // Sessions that all do a little of everything would reach less.
      const std::uint64_t kind = random_.below(8);
      if (kind == 0) emphasis_[i].weight = 0;
      if (kind >= 6) emphasis_[i].weight *= 3;
    }
    pairs_ = static_cast<std::uint32_t>(1 + random_.below(4));
    often_wrong_ = random_.below(4);
  }

  Session draw() {
    open();
    const std::uint64_t count = 25 + random_.below(36);
    for (std::uint64_t i = 0; i < count; ++i)
      if (pairs_ > 1 && random_.one_in(24))
        together();
      else
        add(step(weighted(random_, emphasis_)));
    if (random_.one_in(4))
      add({.action = Action::use_freed, .other = below(3), .number = below(1000)});
    return std::move(session_);
  }

 private:
  void add(const Step& one) { session_.steps.push_back(one); }
  [[nodiscard]] std::uint32_t below(std::uint64_t bound) {
    return static_cast<std::uint32_t>(random_.below(bound));
  }
  [[nodiscard]] std::uint32_t endpoint() { return below(2U * pairs_); }
  /// A dispatcher that there may be.
  [[nodiscard]] std::uint32_t dispatcher() {
    switch (below(5)) {
      case 0:
        return software + below(software_places);
      case 1:
        return shared_transfers + below(2);
      case 2:
        return connections + endpoint();
      default:
        return endpoint();
    }
  }
  [[nodiscard]] bool is_wrong() {
    constexpr std::array<std::uint64_t, 4> chances{40, 12, 6, 3};
    return random_.one_in(chances[often_wrong_]);
  }

  // ---------------------------------------------------------------- the opening

  void open() {
    const std::uint32_t zones = random_.one_in(2) ? 2 : 1;
    for (std::uint32_t i = 0; i < zones; ++i) add({.action = Action::make_zone, .object = i});
    add({.action = Action::make_notifier, .other = random_.one_in(4) ? 1U : 0U});
    for (std::uint32_t i = 0; i < software_places; ++i) add(make_dispatcher(software + i));
    add(make_dispatcher(shared_transfers));
    add(make_dispatcher(shared_by_all));
    const std::uint32_t regions = 2 + below(4);
    for (std::uint32_t i = 0; i < regions; ++i) add(make_region(i, i == 0 ? all_rights : 0));
    if (random_.one_in(2)) add(make_queue(0));
    for (std::uint32_t i = 0; i < 2 * pairs_; ++i) {
      add(make_dispatcher(i));
      add(make_dispatcher(connections + i));
      add(make_endpoint(i));
    }
    for (std::uint32_t i = 0; i < 2; ++i)
      if (!random_.one_in(3)) add({.action = Action::make_window, .object = i});
    for (int i = 0; i < 2; ++i)
      if (random_.one_in(2)) add(step(Action::set_context));
    for (std::uint32_t i = 0; i < pairs_; ++i) {
      if (random_.one_in(3)) add(step(Action::receive));
      if (random_.one_in(6)) continue;
      const std::uint32_t place = 2 * i + below(2);
      add(connect(place, random_.one_in(6) ? 6 + below(2) : 0));
    }
  }

  Step make_region(std::uint32_t place, unsigned privileges) {
    Step made{.action = Action::make_region, .object = place, .other = random_.one_in(4) ? 1U : 0U};
    made.number = random_.of(region_lengths);
    made.flags = privileges != 0 ? privileges : random_.of(rights);
    if (random_.one_in(5)) made.third = 1;
    return made;
  }

  Step make_dispatcher(std::uint32_t place) {
    Step made{.action = Action::make_dispatcher, .object = place};
    constexpr unsigned transfers = DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG;
    if (place == shared_by_all) {
      made.flags = transfers | DAT_EVD_CONNECTION_FLAG | DAT_EVD_SOFTWARE_FLAG;
    } else if (place == shared_transfers || place < connections) {
      made.flags = transfers;
    } else if (place < software) {
      made.flags = DAT_EVD_CONNECTION_FLAG;
    } else {
      made.flags = DAT_EVD_SOFTWARE_FLAG;
    }
    constexpr std::array<std::int64_t, 6> few{1, 2, 3, 4, 7, 8};
    constexpr std::array<std::int64_t, 4> some{8, 15, 16, 33};
    made.number = place < connections        ? random_.of(some)
                  : place < software         ? random_.of(some)
                  : place < shared_transfers ? random_.of(few)
                                             : 64 + below(2);
    if (random_.one_in(place >= software ? 2 : 8)) made.other = 1 + below(notifier_places);
    return made;
  }

  Step make_queue(std::uint32_t place) {
    Step made{.action = Action::make_queue, .object = place, .other = random_.one_in(5) ? 1U : 0U};
    made.number = random_.of(depths);
    made.segments = 1 + below(3);
    return made;
  }

  Step make_endpoint(std::uint32_t place) {
    Step made{
        .action = Action::make_endpoint, .object = place, .other = random_.one_in(6) ? 1U : 0U};
    std::uint32_t receives = place, requests = place, connection = connections + place;
    if (random_.one_in(4)) receives = shared_transfers;
    if (random_.one_in(4)) requests = shared_transfers;
    if (random_.one_in(5)) connection = shared_by_all;
    if (random_.one_in(6)) receives = requests = connection = shared_by_all;
    made.flags = receives | requests << 8U | connection << 16U;
    if (random_.one_in(4)) made.third = 1 + below(queue_places);
    made.number = random_.of(depths);
    return made;
  }

  Step connect(std::uint32_t place, std::uint32_t how) {
    return {.action = Action::connect,
            .object = place,
            .other = how,
            .third = random_.one_in(3) ? below(4) : 0,
            .number = below(65),
            .offset = below(4)};
  }

  // ---------------------------------------------------------------- steps

  void together() {
    const std::uint32_t lanes = 2 + below(std::min(pairs_, 3U) - 1);
    const std::uint32_t count = 4 + below(8);
    constexpr std::array<Action, 12> at_once{
        Action::receive, Action::receive,    Action::send,           Action::send,
        Action::write,   Action::read,       Action::get_status,     Action::wait,
        Action::dequeue, Action::disconnect, Action::count_receives, Action::make_zone};
    add({.action = Action::settle});
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t lane = 1 + (i < lanes ? i : below(lanes));
      Action action = random_.of(at_once);
      if (action == Action::disconnect && !random_.one_in(3)) action = Action::send;
      Step one = step(action);
      one.lane = lane;
      const std::uint32_t own = 2 * (lane - 1) + below(2);
      if (action == Action::wait || action == Action::dequeue)
        one.object = random_.one_in(3) ? connections + own : own;
      else if (action != Action::make_zone)
        one.object = own;
      add(one);
    }
  }

  void transfer(Step& made) {
    made.object = made.action == Action::receive_shared ? below(queue_places) : endpoint();
    made.other = below(region_places);
    made.third = random_.one_in(3) ? region_places + below(window_places) : below(region_places);
    made.number = random_.of(lengths);
    made.offset = below(random_.one_in(2) ? 8 : 600);
    made.segments = random_.one_in(3) ? 2 + below(3) : 1;
    constexpr std::array<unsigned, 8> usual{0, 0, 0, 0, 1, 2, 8, 3};
    made.flags = random_.of(usual);
    made.times = random_.one_in(4) ? 2 + below(6) : 1;
    const bool receives = made.action == Action::receive || made.action == Action::receive_shared;
    if (receives && random_.one_in(2)) made.number = std::max<std::int64_t>(made.number, 64);
    if (!is_wrong()) return;
    made.times = 1;
    if (made.action == Action::send && random_.one_in(4)) {
      made.wrong = Wrong::too_long;
      return;
    }
    const bool of_peer = made.action == Action::write || made.action == Action::read;
    made.wrong = of_peer && random_.one_in(2) ? random_.of(peer_wrongs) : random_.of(local_wrongs);
  }

  void number_of(Step& made) {
    constexpr std::array<std::int64_t, 12> sizes{-1, 0, 1, 2, 3, 4, 5, 8, 9, 16, 33, 64};
    made.number = random_.of(sizes);
  }

  Step step(Action action) {
    Step made{.action = action};
    switch (action) {
      case Action::make_region:
        return make_region(below(region_places), 0);
      case Action::make_dispatcher:
        made = make_dispatcher(dispatcher());
        if (is_wrong()) made.number = below(2) - std::int64_t{1};
        return made;
      case Action::make_queue:
        made = make_queue(below(queue_places));
        if (is_wrong()) made.number = below(2) - std::int64_t{1};
        return made;
      case Action::make_endpoint:
        return make_endpoint(endpoint());
      case Action::connect:
        return connect(endpoint(), below(8));
      case Action::connect_two:
        made.object = endpoint();
        made.other = endpoint();
        made.offset = below(2);
        made.flags = below(2);
        return made;
      case Action::receive:
      case Action::receive_shared:
      case Action::send:
      case Action::write:
      case Action::read:
        transfer(made);
        return made;
      case Action::bind_window:
        made.object = below(3);
        made.other = below(region_places);
        made.third = endpoint();
        made.offset = below(300);
        made.number = random_.one_in(6) ? 0 : random_.of(lengths);
        made.flags = random_.of(rights) << 8U;
        if (random_.one_in(6)) made.flags |= 1U;
        if (is_wrong()) made.wrong = random_.of(local_wrongs);
        return made;
      default:
        return simple(made);
    }
  }

  Step simple(Step made) {
    switch (made.action) {
      case Action::free_dispatcher:
      case Action::query_dispatcher:
      case Action::make_unwaitable:
      case Action::make_waitable:
      case Action::enable:
      case Action::disable:
      case Action::dequeue:
        made.object = dispatcher();
        break;
      case Action::post_software:
        made.object = random_.one_in(6) ? dispatcher() : software + below(software_places);
        made.number = 1 + below(9);
        break;
      case Action::wait:
        made.object = dispatcher();
        made.number = random_.one_in(5) ? static_cast<std::int64_t>(below(70)) - 1 : 1 + below(4);
        made.offset = below(2);
        break;
      case Action::wait_blocked:
        made.object = software + below(software_places);
        made.number = below(3);
        made.other = below(4);
        break;
      case Action::resize_dispatcher:
        made.object = dispatcher();
        number_of(made);
        break;
      case Action::move_dispatcher:
        made.object = dispatcher();
        made.other = below(notifier_places + 1);
        break;
      case Action::free_queue:
      case Action::query_queue:
      case Action::resize_queue:
      case Action::set_low_watermark:
        made.object = below(queue_places);
        number_of(made);
        break;
      case Action::modify_endpoint:
        made.object = endpoint();
        made.other = below(4);
        made.number = made.other == 3 ? connections + endpoint() : random_.of(depths);
        break;
      case Action::set_watermark:
        made.object = endpoint();
        made.number = random_.one_in(8) ? -7 : static_cast<std::int64_t>(below(6)) - 1;
        if (random_.one_in(2)) made.third = below(3);
        break;
      case Action::query_window:
      case Action::free_window:
      case Action::make_window:
        made.object = below(3);
        made.other = random_.one_in(4) ? 1 : 0;
        break;
      case Action::set_context:
      case Action::get_context:
        made.object = below(4);
        made.other = below(7);
        made.number = below(1000);
        break;
      case Action::disconnect:
        made.flags = below(2);
        made.object = endpoint();
        if (is_wrong()) made.wrong = Wrong::flags;
        break;
      case Action::sync_memory:
        made.flags = below(2);
        made.offset = below(500);
        if (is_wrong()) made.wrong = Wrong::beyond_end;
        [[fallthrough]];
      default:
        made.object = below(8);
        if (made.action >= Action::free_endpoint && made.action <= Action::reset)
          made.object = endpoint();
        made.other = random_.one_in(4) ? 1 : 0;
        if (is_wrong() && made.wrong == Wrong::nothing) made.wrong = Wrong::fields;
    }
    return made;
  }

  RandomChoices random_;
  Session session_;
  std::array<Choice, actions.size()> emphasis_{};
  std::uint32_t pairs_ = 1;
  std::uint64_t often_wrong_ = 0;
};

}  // namespace

Session draw(std::uint64_t seed) { return Drawing(seed).draw(); }

}  // namespace suite::sessions::dat
