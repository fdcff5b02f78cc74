// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// ibv_post_send(3) and ibv_post_recv(3): what a Send, an RDMA Write and an RDMA Read of one end bring
// about at the other, octet for octet.
#include "suite/cases/framework/long_work.hpp"
#include "suite/cases/loopback/loopback_body.hpp"

namespace suite::cases {

namespace {

constexpr std::uint32_t page = 4096;
constexpr std::uint64_t whole = 4 * page;

/// A part of four pages.
struct Part {
  const char* name;
  std::uint32_t offset, length;
};
constexpr std::array parts{Part{"one octet", page - 1, 1},
                           Part{"the end of a page", page - 7, 7},
                           Part{"across a page", page - 5, 10},
                           Part{"a page and more", 100, page + 50},
                           Part{"three pages and an octet", page - 1, 3 * page + 1},
                           Part{"all", 0, whole}};

}  // namespace

LOOPBACK_CASE(send_fills_the_receive_of_the_other_end,
              rules("verbs.transfer.send-fills-its-receive")) {
  from_both_ends([&](const End& from, const End& to) {
    PayloadGenerator random(101);
    for (const Part& part : parts) {
      const Octets data = random.octets(part.length);
      const Work receive = to.receive(part.length + 8);
      const Work sent = from.send(data);
      expect(receive, completes().with_length(part.length));
      expect(receive.buffer, holds(data));
      expect(sent, completes());
    }
  });
}

LOOPBACK_CASE(pieces_of_a_send_fill_the_pieces_of_the_receive,
              rules("verbs.transfer.send-fills-its-receive")) {
  from_both_ends([&](const End& from, const End& to) {
    const Region source = iut.register_octets(PayloadGenerator(102).octets(whole));
    const Region sink = iut.register_memory(whole);
    const Work receive = to.receive({{sink.handle, page - 10, 30},
                                     {sink.handle, 0, page - 20},
                                     {sink.handle, 2 * page + 1, 2 * page - 1}});
    iut::PostWork send;
    send.operation = operation::send;
    send.pieces = {
        {source.handle, 3 * page - 1, 2}, {source.handle, 7, page}, {source.handle, page - 1, 500}};
    const Work sent = from.post(send);
    Octets data;
    for (const iut::Piece& piece : send.pieces)
      std::ranges::copy(part_of(source.contents, piece.offset, piece.length),
                        std::back_inserter(data));
    expect(receive, completes().with_length(static_cast<std::uint32_t>(data.size())));
    expect(sent, completes());
    Octets memory = sink.contents;
    const auto put = [&](std::size_t from_octet, std::size_t length, std::size_t at) {
      std::ranges::copy(part_of(data, from_octet, length),
                        memory.begin() + static_cast<std::ptrdiff_t>(at));
    };
    put(0, 30, page - 10);
    put(30, page - 20, 0);
    put(30 + page - 20, data.size() - page - 10, 2 * page + 1);
    expect(sink, holds(memory));
  });
}

LOOPBACK_CASE(write_fills_the_memory_of_the_other_end,
              rules("verbs.transfer.write-fills-remote-memory")) {
  from_both_ends([&](const End& from, const End& to) {
    Region region = iut.register_memory(whole, access::remote_write);
    PayloadGenerator random(103);
    for (const Part& part : parts) {
      const Octets data = random.octets(part.length);
      const Work written = from.write(data, region, part.offset);
      expect_told(from, to, "verbs.transfer.write-fills-remote-memory");
      expect(written, completes());
      expect(region, holds(data, part.offset));
      region.contents = iut.read_memory(region);
    }
  });
}

LOOPBACK_CASE(read_brings_the_memory_of_the_other_end,
              rules("verbs.transfer.read-brings-remote-memory")) {
  from_both_ends([&](const End& from, const End&) {
    const Region region =
        iut.register_octets(PayloadGenerator(104).octets(whole), access::remote_read);
    for (const Part& part : parts) {
      const Work read = from.read(part.length, region, part.offset);
      expect(read, completes());
      expect(read.buffer, holds(part_of(region.contents, part.offset, part.length)));
    }
  });
}

LOOPBACK_CASE(both_ends_transfer_at_the_same_time,
              rules("verbs.transfer.send-fills-its-receive",
                    "verbs.transfer.write-fills-remote-memory",
                    "verbs.transfer.read-brings-remote-memory"),
              deadline_of(10s)) {
  struct Under {
    End from;
    Region source{}, target{};
    Octets told{}, written{};
    Work receive{}, sent{}, write{}, read{};
  };
  const auto ends = connect_to_itself();
  PayloadGenerator random(105);
  for (int round = 0; round < 4; ++round) {
    std::vector<Under> under;
    for (const auto& [from, to] :
         {std::pair{ends.active, ends.passive}, std::pair{ends.passive, ends.active}}) {
      Under each{.from = from,
                 .source = iut.register_octets(random.octets(whole), access::remote_read),
                 .target = iut.register_memory(whole, access::remote_write),
                 .told = random.octets(random.number(1, page)),
                 .written = random.octets(random.number(page, whole))};
      each.receive = to.receive(page);
      under.push_back(std::move(each));
    }
    for (Under& each : under) {
      each.write = each.from.write(each.written, each.target);
      each.read = each.from.read(whole, each.source);
      each.sent = each.from.send(each.told);
    }
    for (const Under& each : under) {
      expect(each.receive, completes().with_length(static_cast<std::uint32_t>(each.told.size())));
      expect(each.receive.buffer, holds(each.told));
      expect(each.target, holds(each.written), "verbs.transfer.write-fills-remote-memory");
      expect(each.read, completes(), "verbs.transfer.read-brings-remote-memory");
      expect(each.read.buffer, holds(each.source.contents),
             "verbs.transfer.read-brings-remote-memory");
      expect_in_order({each.sent});
    }
  }
}

// Two Reads, so that the answer to the first alone must not release it; the second one is long.
LOOPBACK_CASE(fenced_send_carries_what_the_reads_ahead_have_brought,
              rules("verbs.post.fence-waits-for-reads")) {
  constexpr std::uint32_t length = 128 * page;
  constexpr std::uint8_t fill = 0x3C;
  from_both_ends([&](const End& from, const End& to) {
    const Region region = iut.register_memory(length, access::remote_read, fill);
    const Region first = iut.register_memory(8, access::remote_write);
    const Region second = iut.register_memory(length, access::remote_write);
    const Work receive = to.receive(32);
    const Work short_read = from.post(from.read_into(first, region));
    const Work long_read = from.post(from.read_into(second, region));
    iut::PostWork send;
    send.operation = operation::send;
    send.pieces = {{second.handle, length - 24, 24}};
    send.fence = true;
    const Work sent = from.post(send);
    expect(receive, completes().with_length(24));
    expect(receive.buffer, holds(Octets(24, std::byte{fill})));
    expect_in_order({short_read, long_read, sent});
  });
}

LOOPBACK_CASE(requests_complete_in_the_order_of_their_posting,
              rules("verbs.completion.in-posting-order", "verbs.transfer.send-fills-its-receive")) {
  constexpr std::uint32_t count = 6;
  from_both_ends([&](const End& from, const End& to) {
    const Region region = iut.register_memory(whole, access::remote_read_write);
    std::vector<Work> receives, works;
    for (std::uint32_t i = 0; i < count; ++i) receives.push_back(to.receive(64));
    for (std::uint32_t i = 0; i < count; ++i) {
      if (i == 1) works.push_back(from.write(payload(2 * page), region));
      if (i == 3) works.push_back(from.read(2 * page, region));
      works.push_back(from.send(payload(10 + i, static_cast<std::uint8_t>(i))));
    }
    expect_in_order(receives, "verbs.completion.in-posting-order");
    expect_in_order(works, "verbs.completion.in-posting-order");
    for (std::uint32_t i = 0; i < count; ++i)
      expect(receives[i].buffer, holds(payload(10 + i, static_cast<std::uint8_t>(i))),
             "verbs.transfer.send-fills-its-receive");
  });
}

CASES_OF_FILE(loopback, transfers)

}  // namespace suite::cases
