// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// ibv_create_qp_ex(3) with ibv_wr_*(3), and ibv_create_cq_ex(3) with its polling calls, on queue
// pairs that are connected.
#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include "reference_rnic/rdma_core/tests/connected_pair.hpp"

using namespace rnic::rdma_core;

namespace {

constexpr std::uint32_t size = 24;  ///< of most messages

void write_pattern(std::span<std::byte> place, unsigned first) {
  for (std::byte& octet : place) octet = static_cast<std::byte>(first++);
}

bool equal(std::span<const std::byte> one, std::span<const std::byte> other) {
  return std::ranges::equal(one, other);
}

/// Both sides, with a pattern in the memory of the active one, whose requests are built.
struct Built {
  Built() { write_pattern(active.part(0, 256), 1); }

  /// The active side posts what `build` builds; the next request has this number.
  template <typename Build>
  int post(std::uint64_t wr_id, const Build& build, unsigned flags = IBV_SEND_SIGNALED) {
    ibv_wr_start(builder);
    builder->wr_id = wr_id;
    builder->wr_flags = flags;
    build();
    return ibv_wr_complete(builder);
  }
  void from(std::size_t offset, std::uint32_t length = size) const {
    ibv_wr_set_sge(builder, active.region->lkey, active.address(offset), length);
  }
  void write(std::size_t offset) const {
    ibv_wr_rdma_write(builder, passive.region->rkey, passive.address(offset));
  }
  void expect_done(std::uint64_t wr_id, ibv_wc_opcode opcode) const {
    const Read read = active.next();
    BOOST_TEST(read.wr_id == wr_id);
    BOOST_TEST(read.status == IBV_WC_SUCCESS);
    BOOST_TEST(read.opcode == opcode);
    BOOST_TEST(read.queue_pair == active.queue_pair->qp_num);
  }
  /// Reads octets of the passive side's memory, to offset 2048 of the active side's.
  void read_back(std::uint64_t wr_id, std::size_t offset, std::uint32_t length = size) {
    BOOST_REQUIRE_EQUAL(post(wr_id,
                             [&] {
                               ibv_wr_rdma_read(builder, passive.region->rkey,
                                                passive.address(offset));
                               from(2048, length);
                             }),
                        0);
    expect_done(wr_id, IBV_WC_RDMA_READ);
  }
  /// What the passive side has received.
  Read expect_received(std::uint64_t wr_id, std::uint32_t length) const {
    Read read = passive.next();
    BOOST_TEST(read.wr_id == wr_id);
    BOOST_TEST(read.status == IBV_WC_SUCCESS);
    BOOST_TEST(read.length == length);
    BOOST_TEST(read.queue_pair == passive.queue_pair->qp_num);
    return read;
  }
  [[nodiscard]] bool nothing_completes() const {
    ibv_poll_cq_attr none{};
    return ibv_start_poll(active.completions, &none) == ENOENT;
  }

  ConnectedPair pair;
  Side &active = pair.active, &passive = pair.passive;
  ibv_qp_ex* builder = active.builder();
};

std::uint64_t number_at(const Side& side, std::size_t offset) {
  std::uint64_t number = 0;
  std::memcpy(&number, side.memory.data() + offset, sizeof number);
  return number;
}

void put_number(Side& side, std::size_t offset, std::uint64_t number) {
  std::memcpy(side.memory.data() + offset, &number, sizeof number);
}

/// A window of type 2 of the passive side, bound by its builder to octets from 1024 on.
struct Window {
  explicit Window(Side& the_owner)
      : owner(the_owner), window(ibv_alloc_mw(the_owner.domain, IBV_MW_TYPE_2)) {
    BOOST_REQUIRE(window != nullptr);
    rkey = ibv_inc_rkey(window->rkey);
    const ibv_mw_bind_info info{.mr = owner.region,
                                .addr = owner.address(1024),
                                .length = 256,
                                .mw_access_flags = IBV_ACCESS_REMOTE_WRITE};
    ibv_qp_ex* builder = owner.builder();
    ibv_wr_start(builder);
    builder->wr_id = 70;
    builder->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_bind_mw(builder, window, rkey, &info);
    BOOST_REQUIRE_EQUAL(ibv_wr_complete(builder), 0);
    const Read read = owner.next();
    BOOST_TEST(read.wr_id == 70U);
    BOOST_TEST(read.status == IBV_WC_SUCCESS);
    BOOST_TEST(read.opcode == IBV_WC_BIND_MW);
  }
  ~Window() { BOOST_TEST(ibv_dealloc_mw(window) == 0); }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  Side& owner;
  ibv_mw* window;
  std::uint32_t rkey = 0;
};

/// What ibv_create_qp_ex says of these operations: 0 if it makes a queue pair.
int refusal_of(const Side& side, std::uint64_t operations) {
  ibv_qp_init_attr_ex wanted = side.attributes();
  wanted.send_ops_flags = operations;
  errno = 0;
  ibv_qp* made = ibv_create_qp_ex(side.domain->context, &wanted);
  if (made == nullptr) return errno;
  ibv_destroy_qp(made);
  return 0;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(builder, Built)

BOOST_AUTO_TEST_CASE(writes_place_what_the_pieces_name) {
  BOOST_REQUIRE_EQUAL(post(1, [&] { write(512), from(0); }), 0);
  expect_done(1, IBV_WC_RDMA_WRITE);
  const std::array<ibv_sge, 2> pieces{
      {{.addr = active.address(64), .length = 8, .lkey = active.region->lkey},
       {.addr = active.address(16), .length = 4, .lkey = active.region->lkey}}};
  BOOST_REQUIRE_EQUAL(
      post(2, [&] { write(600), ibv_wr_set_sge_list(builder, pieces.size(), pieces.data()); }), 0);
  expect_done(2, IBV_WC_RDMA_WRITE);
  // What a Read brings back shows that both have been placed.
  read_back(3, 512, 100);
  BOOST_TEST(equal(active.part(2048, size), active.part(0, size)));
  BOOST_TEST(equal(active.part(2048 + 88, 8), active.part(64, 8)));
  BOOST_TEST(equal(active.part(2048 + 96, 4), active.part(16, 4)));
}

BOOST_AUTO_TEST_CASE(sends_arrive_from_pieces_and_from_inline_data) {
  for (std::uint64_t i = 0; i < 3; ++i) passive.post_receive(40 + i, 1024 + i * 64, 64);
  BOOST_REQUIRE_EQUAL(post(1, [&] { ibv_wr_send(builder), from(8); }), 0);
  std::array<char, 5> word{'h', 'e', 'l', 'l', 'o'};
  BOOST_REQUIRE_EQUAL(post(2,
                           [&] {
                             ibv_wr_send(builder);
                             ibv_wr_set_inline_data(builder, word.data(), word.size());
                             word.fill('x');  // it has been copied
                           }),
                      0);
  std::array<char, 3> more{'a', 'b', 'c'};
  const std::array<ibv_data_buf, 2> list{{{more.data(), 3}, {more.data() + 1, 2}}};
  BOOST_REQUIRE_EQUAL(post(3,
                           [&] {
                             ibv_wr_send(builder);
                             ibv_wr_set_inline_data_list(builder, list.size(), list.data());
                           }),
                      0);
  for (std::uint64_t i = 1; i <= 3; ++i) expect_done(i, IBV_WC_SEND);
  expect_received(40, size);
  expect_received(41, 5);
  const Read last = expect_received(42, 5);
  BOOST_TEST(last.opcode == IBV_WC_RECV);
  BOOST_TEST(last.flags == 0U);
  BOOST_TEST(equal(passive.part(1024, size), active.part(8, size)));
  BOOST_TEST(std::memcmp(passive.part(1088, 5).data(), "hello", 5) == 0);
  BOOST_TEST(std::memcmp(passive.part(1152, 5).data(), "abcbc", 5) == 0);
}

BOOST_AUTO_TEST_CASE(a_write_with_immediate_data_is_received) {
  passive.post_receive(40, 1024, 64);
  BOOST_REQUIRE_EQUAL(post(1,
                           [&] {
                             ibv_wr_rdma_write_imm(builder, passive.region->rkey,
                                                   passive.address(512), htonl(0x01020304));
                             from(0);
                           }),
                      0);
  expect_done(1, IBV_WC_RDMA_WRITE);
  const Read read = passive.next();
  BOOST_TEST(read.wr_id == 40U);
  BOOST_TEST(read.opcode == IBV_WC_RECV_RDMA_WITH_IMM);
  BOOST_TEST(read.flags == static_cast<unsigned>(IBV_WC_WITH_IMM));
  BOOST_TEST(read.with == 0x01020304U);
  BOOST_TEST(equal(passive.part(512, size), active.part(0, size)));
}

BOOST_AUTO_TEST_CASE(atomics_return_what_was_there) {
  put_number(passive, 512, 100);
  BOOST_REQUIRE_EQUAL(post(1,
                           [&] {
                             ibv_wr_atomic_fetch_add(builder, passive.region->rkey,
                                                     passive.address(512), 11);
                             from(2048, 8);
                           }),
                      0);
  expect_done(1, IBV_WC_FETCH_ADD);
  BOOST_TEST(number_at(active, 2048) == 100U);
  for (const std::uint64_t compare : {110, 111})  // only the second is there
    BOOST_REQUIRE_EQUAL(post(compare,
                             [&] {
                               ibv_wr_atomic_cmp_swp(builder, passive.region->rkey,
                                                     passive.address(512), compare, compare + 90);
                               from(2056 + 8 * (compare - 110), 8);
                             }),
                        0);
  expect_done(110, IBV_WC_COMP_SWAP);
  expect_done(111, IBV_WC_COMP_SWAP);
  BOOST_TEST(number_at(active, 2056) == 111U);
  BOOST_TEST(number_at(active, 2064) == 111U);
  BOOST_TEST(number_at(passive, 512) == 201U);
}

BOOST_AUTO_TEST_CASE(a_window_is_bound_and_invalidated_from_either_side) {
  Window first(passive), second(passive);
  BOOST_REQUIRE_EQUAL(
      post(1, [&] { ibv_wr_rdma_write(builder, first.rkey, passive.address(1024)), from(0); }), 0);
  expect_done(1, IBV_WC_RDMA_WRITE);
  passive.post_receive(40, 2048, 64);
  BOOST_REQUIRE_EQUAL(post(2, [&] { ibv_wr_send_inv(builder, first.rkey), from(0, 4); }), 0);
  expect_done(2, IBV_WC_SEND);
  const Read read = expect_received(40, 4);
  BOOST_TEST(read.flags == static_cast<unsigned>(IBV_WC_WITH_INV));
  BOOST_TEST(read.with == first.rkey);
  BOOST_TEST(equal(passive.part(1024, size), active.part(0, size)));

  ibv_qp_ex* own = passive.builder();
  ibv_wr_start(own);
  own->wr_id = 71;
  own->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_local_inv(own, second.rkey);
  BOOST_REQUIRE_EQUAL(ibv_wr_complete(own), 0);
  const Read invalidated = passive.next();
  BOOST_TEST(invalidated.wr_id == 71U);
  BOOST_TEST(invalidated.opcode == IBV_WC_LOCAL_INV);
  BOOST_TEST(invalidated.status == IBV_WC_SUCCESS);
  // The peer has no access any more.
  BOOST_REQUIRE_EQUAL(post(3,
                           [&] {
                             ibv_wr_rdma_write(builder, second.rkey, passive.address(1024));
                             from(32);
                             builder->wr_id = 4;
                             ibv_wr_rdma_read(builder, passive.region->rkey, passive.address(1024));
                             from(2048);
                           }),
                      0);
  // A Write completes when it has been sent; the Terminate that answers it ends the Read behind it.
  BOOST_TEST(active.next().wr_id == 3U);
  const Read behind = active.next();
  BOOST_TEST(behind.wr_id == 4U);
  BOOST_TEST(behind.status != IBV_WC_SUCCESS);
  BOOST_TEST(equal(passive.part(1024, size), active.part(0, size)));
}

BOOST_AUTO_TEST_CASE(a_batch_completes_in_its_order_and_one_poll_takes_all) {
  passive.post_receive(40, 1024, 64);
  BOOST_REQUIRE_EQUAL(post(1,
                           [&] {
                             write(512), from(0);
                             builder->wr_id = 2;
                             builder->wr_flags = 0;  // no completion
                             write(640), from(64);
                             builder->wr_id = 3;
                             builder->wr_flags = IBV_SEND_SIGNALED;
                             ibv_wr_rdma_read(builder, passive.region->rkey, passive.address(640));
                             from(2048);
                             builder->wr_id = 4;
                             builder->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
                             ibv_wr_send(builder), from(2048);
                           }),
                      0);
  expect_received(40, size);
  BOOST_TEST(equal(passive.part(1024, size), active.part(64, size)));
  // The Send has arrived, but its completion may be on its way.
  std::vector<Read> seen{active.next()};
  while (seen.size() < 3) seen.push_back(active.next());
  BOOST_TEST(seen[0].wr_id == 1U);
  BOOST_TEST(seen[1].wr_id == 3U);
  BOOST_TEST(seen[2].wr_id == 4U);
  BOOST_TEST(nothing_completes());
}

BOOST_AUTO_TEST_CASE(one_poll_goes_from_completion_to_completion) {
  for (std::uint64_t i = 0; i < 3; ++i) passive.post_receive(40 + i, 1024, 64);
  for (std::uint64_t i = 0; i < 3; ++i)
    BOOST_REQUIRE_EQUAL(post(i, [&] { ibv_wr_send(builder), from(0, 8); }), 0);
  for (std::uint64_t i = 0; i < 3; ++i) expect_done(i, IBV_WC_SEND);
  // All three have arrived once the Read that follows them is answered.
  read_back(3, 0, 8);
  ibv_cq_ex* cq = passive.completions;
  ibv_poll_cq_attr none{};
  BOOST_REQUIRE_EQUAL(ibv_start_poll(cq, &none), 0);
  BOOST_TEST(cq->wr_id == 40U);
  for (std::uint64_t next = 41; next < 43; ++next) {
    BOOST_REQUIRE_EQUAL(ibv_next_poll(cq), 0);
    BOOST_TEST(cq->wr_id == next);
    BOOST_TEST(cq->status == IBV_WC_SUCCESS);
    BOOST_TEST(ibv_wc_read_vendor_err(cq) == 0U);
  }
  BOOST_TEST(ibv_next_poll(cq) == ENOENT);
  ibv_end_poll(cq);
}

BOOST_AUTO_TEST_CASE(what_is_aborted_is_never_done) {
  ibv_wr_start(builder);
  builder->wr_id = 1;
  builder->wr_flags = IBV_SEND_SIGNALED;
  write(512), from(0);
  ibv_wr_abort(builder);
  BOOST_REQUIRE_EQUAL(post(2, [&] { write(640), from(64); }), 0);
  expect_done(2, IBV_WC_RDMA_WRITE);
  read_back(3, 640);
  BOOST_TEST(equal(active.part(2048, size), active.part(64, size)));
  BOOST_TEST(std::ranges::count(passive.part(512, size), std::byte{0}) == size);
}

// ibv_wr_complete(3): the entire posting is aborted.
BOOST_AUTO_TEST_CASE(one_bad_request_keeps_the_whole_batch_from_being_posted) {
  std::array<char, 2000> much{};
  const auto batch_with = [&](const auto& bad) {
    return post(1, [&] { write(512), from(0), bad(), write(560), from(0); });
  };
  BOOST_TEST(batch_with([&] {
               ibv_wr_send_imm(builder, 7);  // RFC 7306 has none
               from(0);
             }) == EOPNOTSUPP);
  BOOST_TEST(batch_with([&] {
               ibv_wr_send(builder);
               ibv_wr_set_inline_data(builder, much.data(), much.size());
             }) != 0);
  BOOST_TEST(batch_with([&] {  // a Read has one sink buffer
               const std::array<ibv_sge, 2> two{{{active.address(0), 8, active.region->lkey},
                                                 {active.address(64), 8, active.region->lkey}}};
               ibv_wr_rdma_read(builder, passive.region->rkey, passive.address(0));
               ibv_wr_set_sge_list(builder, two.size(), two.data());
             }) == EINVAL);
  BOOST_TEST(batch_with([&] {  // more than the queue holds
               for (int i = 0; i < 40; ++i) write(600), from(0);
             }) == ENOMEM);
  BOOST_TEST(post(1, [&] { from(0); }) == EINVAL);  // data of no request
  read_back(2, 512);                                // and nothing before it
  BOOST_TEST(std::ranges::count(active.part(2048, size), std::byte{0}) == size);
  BOOST_TEST(nothing_completes());
}

// ibv_wr_start(3), Concurrency: no other thread can enter.
BOOST_AUTO_TEST_CASE(threads_build_one_after_the_other) {
  constexpr int rounds = 200;
  const auto build = [&](unsigned first, std::size_t place) {
    for (int round = 0; round < rounds;) {
      ibv_wr_start(builder);
      builder->wr_id = first;
      builder->wr_flags = 0;
      write(place), from(first);
      builder->wr_id = first + 1;
      builder->wr_flags = IBV_SEND_SIGNALED;
      write(place + 128), from(first + 16);
      if (ibv_wr_complete(builder) == 0) ++round;  // otherwise the queue is full
    }
  };
  std::thread one([&] { build(0, 512); }), other([&] { build(128, 1024); });
  int ones = 0, others = 0;
  for (int i = 0; i < 2 * rounds; ++i) {
    const Read read = active.next();
    BOOST_REQUIRE(read.status == IBV_WC_SUCCESS);
    if (read.wr_id == 1) ++ones;
    if (read.wr_id == 129) ++others;
  }
  one.join();
  other.join();
  BOOST_TEST(ones == rounds);
  BOOST_TEST(others == rounds);
  read_back(2, 512, 1024);
  BOOST_TEST(equal(active.part(2048, size), active.part(0, size)));
  BOOST_TEST(equal(active.part(2048 + 128, size), active.part(16, size)));
  BOOST_TEST(equal(active.part(2048 + 512, size), active.part(128, size)));
  BOOST_TEST(equal(active.part(2048 + 640, size), active.part(144, size)));
}

BOOST_AUTO_TEST_CASE(a_queue_pair_for_operations_that_iwarp_does_not_have_is_refused) {
  BOOST_TEST(refusal_of(active, all_operations) == 0);
  for (const std::uint64_t operation : {std::uint64_t{IBV_QP_EX_WITH_SEND_WITH_IMM},
                                        std::uint64_t{IBV_QP_EX_WITH_TSO}, std::uint64_t{1} << 40})
    BOOST_TEST(refusal_of(active, IBV_QP_EX_WITH_SEND | operation) == EOPNOTSUPP);
}

// Without room for inline data rsockets does not connect on iWARP, and rdma_xclient does not send.
BOOST_AUTO_TEST_CASE(a_queue_pair_has_room_for_inline_data_though_it_asks_for_none) {
  ibv_qp_init_attr_ex wanted = active.attributes();
  BOOST_REQUIRE_EQUAL(wanted.cap.max_inline_data, 0U);
  ibv_qp* made = ibv_create_qp_ex(active.domain->context, &wanted);
  BOOST_REQUIRE(made != nullptr);
  BOOST_TEST(wanted.cap.max_inline_data == 64U);
  ibv_qp_attr now{};
  ibv_qp_init_attr initially{};
  BOOST_REQUIRE_EQUAL(ibv_query_qp(made, &now, IBV_QP_CAP, &initially), 0);
  BOOST_TEST(now.cap.max_inline_data == 64U);
  BOOST_TEST(initially.cap.max_inline_data == 64U);
  ibv_destroy_qp(made);

  passive.post_receive(40, 1024, 64);
  std::array<char, 65> data{};
  const auto inline_send = [&](std::size_t length) {
    return post(5, [&] {
      ibv_wr_send(builder);
      ibv_wr_set_inline_data(builder, data.data(), length);
    });
  };
  BOOST_TEST(inline_send(65) != 0);
  BOOST_TEST(inline_send(64) == 0);
  expect_done(5, IBV_WC_SEND);
  expect_received(40, 64);
}

BOOST_AUTO_TEST_CASE(a_completion_queue_for_more_than_the_standard_fields_is_refused) {
  ibv_context* context = active.domain->context;
  ibv_cq_init_attr_ex wanted{};
  wanted.cqe = 4;
  wanted.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
  errno = 0;
  BOOST_TEST(ibv_create_cq_ex(context, &wanted) == nullptr);
  BOOST_TEST(errno == EOPNOTSUPP);
  wanted.wc_flags = IBV_WC_EX_WITH_BYTE_LEN;
  ibv_cq_ex* made = ibv_create_cq_ex(context, &wanted);
  BOOST_REQUIRE(made != nullptr);
  BOOST_TEST(ibv_destroy_cq(ibv_cq_ex_to_cq(made)) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(establishing)

// A program that keeps its queue pair from librdmacm says itself that the connection is established.
BOOST_AUTO_TEST_CASE(an_identifier_without_a_queue_pair_is_established_by_its_program) {
  const CmEvents events;
  rdma_cm_id* listener = events.listen();
  rdma_cm_id* caller = events.route_to(listener);
  Side side, peer;
  side.prepare(caller->verbs);
  ibv_qp_init_attr_ex wanted = side.attributes();
  side.queue_pair = ibv_create_qp_ex(caller->verbs, &wanted);
  BOOST_REQUIRE(side.queue_pair != nullptr);
  BOOST_TEST(rdma_establish(caller) != 0);  // it has not connected
  rdma_conn_param parameters{};
  parameters.qp_num = side.queue_pair->qp_num;
  BOOST_REQUIRE_EQUAL(rdma_connect(caller, &parameters), 0);
  rdma_cm_id* request = events.expect(RDMA_CM_EVENT_CONNECT_REQUEST);
  peer.prepare(request->verbs);
  wanted = peer.attributes();
  BOOST_REQUIRE_EQUAL(rdma_create_qp_ex(request, &wanted), 0);
  peer.queue_pair = request->qp;
  peer.post_receive(40, 0, 64);
  BOOST_REQUIRE_EQUAL(rdma_accept(request, &parameters), 0);
  events.expect(RDMA_CM_EVENT_ESTABLISHED);
  events.expect(RDMA_CM_EVENT_ESTABLISHED);
  BOOST_TEST(rdma_establish(caller) == 0);
  ibv_qp_ex* builder = side.builder();
  ibv_wr_start(builder);
  builder->wr_id = 1;
  builder->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_send(builder);
  ibv_wr_set_sge(builder, side.region->lkey, side.address(0), size);
  BOOST_REQUIRE_EQUAL(ibv_wr_complete(builder), 0);
  BOOST_TEST(side.next().status == IBV_WC_SUCCESS);
  BOOST_TEST(peer.next().length == size);
  rdma_destroy_qp(request);
  BOOST_TEST(ibv_destroy_qp(side.queue_pair) == 0);
  for (rdma_cm_id* id : {request, caller, listener}) BOOST_TEST(rdma_destroy_id(id) == 0);
  side.release();
  peer.release();
}

BOOST_AUTO_TEST_SUITE_END()
