// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations of what the API owes its consumer: each makes a difference to completions, wakes,
// events, refusals or queries.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference_rnic/deviants/rnic_decisions.hpp"
#include "reference_rnic/deviants/rnic_tables.hpp"
#include "reference_rnic/verbs/tests/two_rnics.hpp"

using namespace rnic::verbs;
using namespace rnic::verbs::test;
using rnic::deviants::Deviation;
using rnic::deviants::rnic_decisions;

namespace {

/// Side b has the deviation, and a queue pair of its own kind.
struct Scene {
  explicit Scene(const std::vector<Deviation>& chosen) : two({}, rnic_decisions(chosen)) {}

  TwoRnics two;
  Side& b = two.b;
  std::string text;

  /// A queue pair with a completion queue whose wakes are noted.
  CompletionQueueHandle pair_with(QueuePairAttributes wanted, std::uint32_t completions = 64) {
    const CompletionQueueHandle queue = *b.rnic->create_completion_queue(
        completions, [this](CompletionQueueHandle) { text += "woken\n"; });
    wanted.domain = b.domain;
    wanted.send_completions = wanted.receive_completions = queue;
    b.pair = *b.rnic->create_queue_pair(wanted);
    return queue;
  }
  void note_completions(CompletionQueueHandle queue) {
    std::array<Completion, 16> out;
    const auto count = b.rnic->poll(queue, out);
    for (std::size_t i = 0; i < count.value_or(0); ++i)
      text += std::to_string(out[i].id) + " of " + std::to_string(out[i].queue_pair.value) + " " +
              name(out[i].status) + "\n";
  }
  /// With a connection or without.
  void settle() {
    if (b.stream) return two.settle();
    two.loop.run();
  }
  void abort() {
    BOOST_REQUIRE(b.rnic->abort(b.pair).has_value());
    settle();
  }
  void post(const std::vector<SendRequest>& requests) {
    const auto posted = b.rnic->post_send(b.pair, requests);
    if (!posted) text += "refused at " + std::to_string(posted.error().index) + "\n";
    settle();
  }
  std::string seen() {
    for (const AsyncEvent& event : b.async)
      text += std::string(name(event.kind)) + " " + std::to_string(event.queue_pair.value) + "\n";
    for (const std::byte octet : two.a.memory) text += static_cast<char>(octet);
    return text;
  }
};

SendRequest request(std::uint64_t id, Operation operation = Operation::send) {
  return {.id = id, .operation = operation};
}

/// Of a queue pair in error, all that is posted is flushed.
void flush_three(Scene& scene) {
  const CompletionQueueHandle queue = scene.pair_with({});
  scene.abort();
  SendRequest atomic = request(2, Operation::fetch_add);
  atomic.pieces = {scene.b.piece(0, 8)};
  scene.post({request(1), atomic});
  scene.post({request(3)});
  scene.note_completions(queue);
}
void flush_two_pairs(Scene& scene) {
  for (std::uint64_t id = 1; id <= 2; ++id) {
    const CompletionQueueHandle queue = scene.pair_with({});
    scene.abort();
    scene.post({request(id)});
    scene.note_completions(queue);
  }
}
void post_with_a_bad_one(Scene& scene) {
  const CompletionQueueHandle queue = scene.pair_with({});
  scene.abort();
  scene.post({request(1), request(2, Operation::fetch_add), request(3)});
  scene.note_completions(queue);
}
/// One message of each kind, and the end.
void wait_for_solicited(Scene& scene) {
  const CompletionQueueHandle queue = scene.pair_with({});
  scene.two.connect();
  for (std::uint64_t id = 1; id <= 3; ++id) scene.b.receive(id, {scene.b.piece(0, 8)});
  for (const Operation operation : {Operation::send, Operation::send_solicited}) {
    BOOST_REQUIRE(scene.b.rnic->arm(queue, Arm::solicited).has_value());
    scene.two.a.send(request(11, operation));
    scene.two.settle();
    scene.text += "sent\n";
  }
  BOOST_REQUIRE(scene.b.rnic->arm(queue, Arm::solicited).has_value());
  scene.two.lose();
  scene.two.settle();
}
void arm_twice(Scene& scene) {
  const CompletionQueueHandle queue = scene.pair_with({});
  scene.two.connect();
  scene.b.receive(1, {scene.b.piece(0, 8)});
  for (const Arm arm : {Arm::next, Arm::solicited})
    BOOST_REQUIRE(scene.b.rnic->arm(queue, arm).has_value());
  scene.two.a.send(request(11));
  scene.two.settle();
}
template <Arm arm>
void arm_once(Scene& scene) {
  const CompletionQueueHandle queue = scene.pair_with({});
  scene.two.connect();
  for (std::uint64_t id = 1; id <= 2; ++id) scene.b.receive(id, {scene.b.piece(0, 8)});
  BOOST_REQUIRE(scene.b.rnic->arm(queue, arm).has_value());
  for (std::uint64_t id = 11; id <= 12; ++id) {
    scene.two.a.send(request(id, Operation::send_solicited));
    scene.two.settle();
  }
}
void send_inline(Scene& scene) {
  scene.b.number(16);
  scene.pair_with({.max_inline = 64});
  scene.two.connect();
  scene.two.a.receive(1, {scene.two.a.piece(0, 16)});
  scene.b.receive(9, {});  // a Responder sends nothing before the first FPDU
  scene.two.a.send(request(11));
  scene.two.settle();
  const rnic::wire::Bytes memory = scene.b.memory;
  SendRequest send = request(1);
  send.inline_data = {memory.subspan(8, 8), memory.first(4)};
  const auto posted = scene.b.rnic->post_send(scene.b.pair, std::span(&send, 1));
  BOOST_REQUIRE(posted.has_value());
  std::ranges::fill(scene.b.memory, std::byte{0xEE});
  scene.two.settle();
}
void write_inline(Scene& scene) {
  scene.pair_with({.max_inline = 64});
  scene.two.connect();
  const rnic::wire::Bytes memory = scene.b.memory;
  SendRequest write = request(1, Operation::write);
  write.inline_data = {memory.first(8)};
  write.remote_stag = scene.two.a.region.stag;
  write.remote_offset = scene.two.a.region.base;
  const auto posted = scene.b.rnic->post_send(scene.b.pair, std::span(&write, 1));
  BOOST_REQUIRE(posted.has_value());
  std::ranges::fill(scene.b.memory, std::byte{0xEE});
  scene.two.a.send(
      request(11, Operation::write));  // a Responder sends nothing before the first FPDU
  scene.two.settle();
}
void query(Scene& scene) {
  scene.pair_with({.access = {.remote_read = true}});
  scene.abort();
  const QueuePairInfo info = *scene.b.rnic->query_queue_pair(scene.b.pair);
  scene.text += std::string(name(info.state)) + std::to_string(info.attributes.send_depth) +
                (info.attributes.access.remote_write ? " writes" : "");
}
void lose_connection(Scene& scene) {
  scene.two.connect();
  scene.two.lose();
  scene.two.settle();
}
void overrun(Scene& scene) {
  scene.pair_with({}, 1);
  scene.b.receive(1, {});
  scene.b.receive(2, {});
  scene.abort();
}
void end_on_a_shared_queue(Scene& scene) {
  scene.pair_with({.shared_queue = *scene.b.rnic->create_shared_queue(scene.b.domain, {})});
  scene.two.connect();
  scene.two.lose();
  scene.two.settle();
}
void arm_a_limit_again(Scene& scene) {
  const SharedQueueHandle queue = *scene.b.rnic->create_shared_queue(scene.b.domain, {});
  for (const std::uint32_t limit : {3U, 2U}) {
    BOOST_REQUIRE(scene.b.rnic->arm_limit(queue, limit).has_value());
    scene.text += std::to_string(scene.b.rnic->query_shared_queue(queue)->limit) + "\n";
  }
}

/// Unsignaled work of an endpoint, all of whose work completes or none: a bind and a Send.
void post_unsignaled(Scene& scene, bool signal_all) {
  const CompletionQueueHandle queue = scene.pair_with({.signal_all = signal_all});
  scene.two.connect();
  const auto window = *scene.b.rnic->allocate_window(scene.b.domain, WindowScope::queue_pair);
  SendRequest bind = request(1, Operation::bind_window);
  bind.bind = {.window = window.window};
  SendRequest send = request(2);
  bind.signaled = send.signaled = false;
  scene.post({bind, send});
  // A Responder sends nothing before the first FPDU.
  scene.b.receive(9, {});
  scene.two.a.receive(3, {});
  scene.two.a.send(request(11));
  scene.two.settle();
  scene.note_completions(queue);
}
void post_unsignaled_to_all_signaled(Scene& scene) { post_unsignaled(scene, true); }
void post_unsignaled_to_others(Scene& scene) { post_unsignaled(scene, false); }
void share_a_queue_without_a_depth(Scene& scene) {
  const auto made = scene.b.rnic->create_queue_pair(
      {.domain = scene.b.domain,
       .send_completions = scene.b.queue,
       .receive_completions = scene.b.queue,
       .shared_queue = *scene.b.rnic->create_shared_queue(scene.b.domain, {}),
       .receive_depth = 0});
  scene.text += made ? "made" : "refused";
}

/// Posts a registration of these octets at `base`, after an invalidation if it has been registered.
RegionInfo register_region(Scene& scene, RegionInfo region, std::span<std::byte> memory,
                           const Access& access, std::uint64_t base = 0x1032, bool fence = false) {
  if (region.length != 0)
    scene.b.send(
        {.id = 8, .operation = Operation::local_invalidate, .invalidate_stag = region.stag});
  region.stag ^= 1;
  region.base = base;
  region.length = memory.size();
  const SendRequest request{.id = 9,
                            .operation = Operation::register_region,
                            .fence = fence,
                            .registration = {.region = region.region,
                                             .memory = memory,
                                             .access = access,
                                             .base = base,
                                             .key = static_cast<std::uint8_t>(region.stag)}};
  if (!scene.b.rnic->post_send(scene.b.pair, std::span(&request, 1))) scene.text += "refused\n";
  return region;
}
/// The peer reads eight octets.
void read_from(Scene& scene, const RegionInfo& region, std::uint64_t offset = 0) {
  scene.two.a.send({.id = 1,
                    .operation = Operation::read,
                    .pieces = {scene.two.a.piece(0, 8)},
                    .remote_stag = region.stag,
                    .remote_offset = region.base + offset});
}
void note_the_peer(Scene& scene) {
  scene.two.settle();
  for (const Completion& completion : scene.two.a.completions())
    scene.text += std::string(name(completion.status)) + "\n";
  scene.text += std::to_string(std::to_integer<int>(scene.two.a.memory[7])) + "\n";
}
/// The peer reads, before and after the endpoint lets it.
void let_the_peer_read(Scene& scene) {
  scene.pair_with({.access = {.remote_read = true}});
  scene.two.connect();
  scene.b.number(200);
  read_from(scene, scene.b.region);
  scene.two.settle();
  BOOST_REQUIRE(scene.b.rnic->set_access(scene.b.pair, {.remote_write = true}).has_value());
  read_from(scene, scene.b.region, 8);
  note_the_peer(scene);
}
/// A region for so many pages, on a connection.
RegionInfo allocate(Scene& scene, std::uint32_t pages = 1) {
  scene.two.connect();
  scene.b.number(200);
  return *scene.b.rnic->allocate_region(scene.b.domain, pages);
}
constexpr Access reads{.remote_read = true};

void register_and_use(Scene& scene) {
  const RegionInfo region =
      register_region(scene, allocate(scene), std::span(scene.b.memory).first(64), reads);
  scene.two.a.receive(3, {scene.two.a.piece(100, 8)});
  scene.b.send({.id = 10,
                .operation = Operation::send,
                .pieces = {{.stag = region.stag, .offset = region.base, .length = 8}}});
  scene.two.settle();
  read_from(scene, region);
  note_the_peer(scene);
}
void register_other_memory(Scene& scene) {
  const std::span memory(scene.b.memory);
  RegionInfo region = register_region(scene, allocate(scene), memory.first(64), reads);
  read_from(scene, region);
  note_the_peer(scene);
  region = register_region(scene, region, memory.subspan(64, 64), reads);
  scene.two.settle();
  read_from(scene, region);
  note_the_peer(scene);
}
void register_with_other_rights(Scene& scene) {
  const std::span memory(scene.b.memory);
  RegionInfo region = register_region(scene, allocate(scene), memory.first(64), reads);
  region = register_region(scene, region, memory.first(64), {.local_write = true});
  scene.two.settle();
  read_from(scene, region);
  note_the_peer(scene);
}
void register_for_reads_and_receive(Scene& scene) {
  const RegionInfo region =
      register_region(scene, allocate(scene), std::span(scene.b.memory).first(64), reads);
  scene.b.receive(3, {{.stag = region.stag, .offset = region.base, .length = 8}});
  scene.two.a.send(request(11));
  note_the_peer(scene);
  scene.note_completions(scene.b.queue);
}
void register_for_atomics(Scene& scene) {
  const RegionInfo region = register_region(
      scene, allocate(scene), std::span(scene.b.memory).first(64), all_access, 0x1000);
  scene.two.settle();
  scene.two.a.send({.id = 1,
                    .operation = Operation::fetch_add,
                    .pieces = {scene.two.a.piece(0, 8)},
                    .remote_stag = region.stag,
                    .remote_offset = region.base});
  note_the_peer(scene);
}
void use_a_former_key(Scene& scene) {
  const std::span memory(scene.b.memory);
  const RegionInfo first = register_region(scene, allocate(scene), memory.first(64), reads);
  static_cast<void>(register_region(scene, first, memory.first(64), reads));
  scene.two.settle();
  read_from(scene, first);
  note_the_peer(scene);
}
void use_the_last_page(Scene& scene) {
  std::vector<std::byte> pages(2 * region_page);
  const RegionInfo region = register_region(scene, allocate(scene, 2), pages, reads, 0);
  scene.two.settle();
  read_from(scene, region, region_page);
  note_the_peer(scene);
}
void register_too_many_pages(Scene& scene) {
  static_cast<void>(
      register_region(scene, allocate(scene), scene.b.memory, reads, region_page - 1));
}
void read_beside_the_region(Scene& scene) {
  const RegionInfo region =
      register_region(scene, allocate(scene), std::span(scene.b.memory).first(64), reads);
  scene.two.settle();
  read_from(scene, region, 64);
  note_the_peer(scene);
}
void use_before_it_is_registered(Scene& scene) {
  const RegionInfo allocated = allocate(scene);
  scene.b.send({.id = 7,
                .operation = Operation::read,
                .pieces = {scene.b.piece(200, 8)},
                .remote_stag = scene.two.a.region.stag,
                .remote_offset = scene.two.a.region.base});
  const RegionInfo region =
      register_region(scene, allocated, std::span(scene.b.memory).first(64), reads, 0x1032, true);
  read_from(scene, region);
  while (scene.two.deliver_to(scene.b)) continue;
  note_the_peer(scene);
}

struct Row {
  Deviation deviation;
  std::function<void(Scene&)> scenario;
};
const Row rows[] = {
    {Deviation::flushed_out_of_order, flush_three},
    {Deviation::atomic_flush_lost, flush_three},
    {Deviation::later_work_overtakes, flush_three},
    {Deviation::flush_names_another_endpoint, flush_two_pairs},
    {Deviation::chain_goes_on, post_with_a_bad_one},
    {Deviation::bad_request_misnamed, post_with_a_bad_one},
    {Deviation::solicited_arm_wakes_for_all, wait_for_solicited},
    {Deviation::solicited_arm_never_wakes, wait_for_solicited},
    {Deviation::failure_is_not_solicited, wait_for_solicited},
    {Deviation::later_arm_overrides, arm_twice},
    {Deviation::queue_stays_armed, arm_once<Arm::next>},
    {Deviation::queue_stays_armed_for_solicited, arm_once<Arm::solicited>},
    {Deviation::inline_data_taken_late, send_inline},
    {Deviation::inline_data_of_writes_taken_late, write_inline},
    {Deviation::inline_data_cut, send_inline},
    {Deviation::send_depth_reported_too_small, query},
    {Deviation::error_state_not_reported, query},
    {Deviation::access_reported_in_full, query},
    {Deviation::event_names_nothing, lose_connection},
    {Deviation::stream_error_reported_as_device_error, lose_connection},
    {Deviation::every_error_is_an_access_error, lose_connection},
    {Deviation::overrun_not_reported, overrun},
    {Deviation::overrun_by_flush_not_reported, overrun},
    {Deviation::first_limit_kept, arm_a_limit_again},
    {Deviation::shared_queue_arms_once, arm_a_limit_again},
    {Deviation::last_buffer_not_reported, end_on_a_shared_queue},
    {Deviation::all_signaled_ignored, post_unsignaled_to_all_signaled},
    {Deviation::all_signaled_ignored_for_local_work, post_unsignaled_to_all_signaled},
    {Deviation::unsignaled_local_work_completes, post_unsignaled_to_others},
    {Deviation::shared_endpoint_needs_a_depth, share_a_queue_without_a_depth},
    {Deviation::changed_endpoint_access_ignored, let_the_peer_read},
    {Deviation::registration_opens_nothing, register_and_use},
    {Deviation::registered_too_late_for_later_work, register_and_use},
    {Deviation::registered_too_late_for_the_peer, register_and_use},
    {Deviation::region_registers_once, register_other_memory},
    {Deviation::first_memory_kept, register_other_memory},
    {Deviation::first_access_kept, register_with_other_rights},
    {Deviation::registration_always_writable, register_for_reads_and_receive},
    {Deviation::registration_never_opens_to_atomics, register_for_atomics},
    {Deviation::former_key_usable, use_a_former_key},
    {Deviation::last_page_of_the_list_lost, use_the_last_page},
    {Deviation::page_list_bound_unchecked, register_too_many_pages},
    {Deviation::region_grows_to_its_pages, read_beside_the_region},
    {Deviation::registered_when_posted, use_before_it_is_registered},
};

std::string seen_with(const std::vector<Deviation>& chosen, const Row& row) {
  Scene scene(chosen);
  row.scenario(scene);
  return scene.seen();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(api_deviations)

BOOST_AUTO_TEST_CASE(each_makes_a_difference) {
  for (const Row& row : rows)
    BOOST_TEST((seen_with({}, row) != seen_with({row.deviation}, row)),
               info(row.deviation).name << " makes a difference");
}

BOOST_AUTO_TEST_CASE(each_has_its_row) {
  for (const auto table :
       {rnic::deviants::queue_pair_deviants(), rnic::deviants::completion_deviants(),
        rnic::deviants::registration_deviants()})
    for (const auto& entry : table)
      if (const std::string_view rule = info(entry.deviation).rule;
          rule.starts_with("verbs.") || rule.starts_with("kmem."))
        BOOST_TEST((std::ranges::find(rows, entry.deviation, &Row::deviation) != std::end(rows)),
                   info(entry.deviation).name);
}

BOOST_AUTO_TEST_SUITE_END()
