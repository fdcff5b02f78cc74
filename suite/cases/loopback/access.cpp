// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// ibv_reg_mr(3), ibv_dereg_mr(3) and ibv_alloc_pd(3): what the other end can do with a region. How a
// refusal looks differs from transport to transport (docs/disputes.md D91).
#include "suite/cases/loopback/loopback_body.hpp"

namespace suite::cases {

namespace {

constexpr std::uint32_t length = 100;

/// A region that one end may use, and a small one that is open to Reads.
struct Memory {
  Region region, readable;

  Memory(Consumer& iut, const iut::Access& access, iut::Handle domain = 0)
      : region(iut.register_memory(length, access, 0xA5, domain)),
        readable(iut.register_memory(8, access::remote_read)) {}
};

}  // namespace

LOOPBACK_CASE(access_flags_say_what_the_other_end_can_do, rules("verbs.region.access-flags")) {
  constexpr RuleRef rule = "verbs.region.access-flags";
  const auto written = [&](const iut::Access& access) {
    const auto [active, passive] = connect_to_itself();
    const Memory memory(iut, access);
    const Work write = active.write(payload(16), memory.region);
    expect_refused(active, memory.region, memory.readable, rule);
  };
  const auto read = [&](const iut::Access& access) {
    const auto [active, passive] = connect_to_itself();
    const Memory memory(iut, access);
    const Work refused = active.read(16, memory.region);
    expect(refused, completes_in_error());
    expect(refused.buffer, unchanged);
  };
  row("a region for Reads is read", [&] {
    const auto [active, passive] = connect_to_itself();
    const Memory memory(iut, access::remote_read);
    const Work allowed = active.read(16, memory.region);
    expect(allowed, completes());
    expect(allowed.buffer, holds(part_of(memory.region.contents, 0, 16)));
  });
  row("a region for Reads is written to", [&] { written(access::remote_read); });
  row("a region for Writes is written to", [&] {
    const auto [active, passive] = connect_to_itself();
    const Memory memory(iut, access::remote_write);
    const Work allowed = active.write(payload(16), memory.region);
    expect_told(active, passive, rule);
    expect(memory.region, holds(payload(16)));
  });
  row("a region for Writes is read", [&] { read(access::remote_write); });
  row("a region for its owner is written to", [&] { written(access::local); });
  row("a region for its owner is read", [&] { read(access::local); });
}

LOOPBACK_CASE(octets_beside_a_region_are_out_of_reach, rules("verbs.region.bounds")) {
  constexpr RuleRef rule = "verbs.region.bounds";
  const auto beside = [&](const char* name, std::uint64_t offset, std::uint32_t octets) {
    row(fmt::format("written {}", name), [&] {
      const auto [active, passive] = connect_to_itself();
      const Memory memory(iut, access::remote_read_write);
      const Work write = active.write(payload(octets), memory.region, offset);
      expect_refused(active, memory.region, memory.readable, rule);
    });
    row(fmt::format("read {}", name), [&] {
      const auto [active, passive] = connect_to_itself();
      const Memory memory(iut, access::remote_read_write);
      const Work read = active.read(octets, memory.region, offset);
      expect(read, completes_in_error());
    });
  };
  row("its last octet is written and read", [&] {
    const auto [active, passive] = connect_to_itself();
    const Memory memory(iut, access::remote_read_write);
    const Work write = active.write(payload(1), memory.region, length - 1);
    const Work read = active.read(1, memory.region, length - 1);
    expect(read, completes());
    expect(read.buffer, holds(payload(1)));
    expect(memory.region, holds(payload(1), length - 1));
  });
  beside("from one octet before", ~std::uint64_t{0}, 8);
  beside("to one octet behind", length - 7, 8);
  beside("wholly behind", length, 8);
}

LOOPBACK_CASE(deregistered_region_is_closed, rules("verbs.region.closed-once-deregistered")) {
  row("written to", [&] {
    const auto [active, passive] = connect_to_itself();
    const Memory memory(iut, access::remote_read_write);
    iut.deregister(memory.region);
    const Work write = active.write(payload(16), memory.region);
    expect_refused(active, memory.region, memory.readable, "verbs.region.closed-once-deregistered");
  });
  row("read", [&] {
    const auto [active, passive] = connect_to_itself();
    const Memory memory(iut, access::remote_read_write);
    iut.deregister(memory.region);
    const Work read = active.read(16, memory.region);
    expect(read, completes_in_error());
  });
}

LOOPBACK_CASE(region_of_another_domain_is_closed, rules("verbs.region.of-its-domain")) {
  const auto in_another = [&](const auto& use) {
    const auto [active, passive] = connect_to_itself();
    const Memory memory(iut, access::remote_read_write, iut.create_domain());
    use(active, memory);
  };
  row("written to", [&] {
    in_another([&](const End& by, const Memory& memory) {
      const Work write = by.write(payload(16), memory.region);
      expect_refused(by, memory.region, memory.readable, "verbs.region.of-its-domain");
    });
  });
  row("read", [&] {
    in_another([&](const End& by, const Memory& memory) {
      const Work read = by.read(16, memory.region);
      expect(read, completes_in_error());
    });
  });
}

LOOPBACK_CASE(send_needs_no_access_flag, rules("verbs.region.local-read-always")) {
  iut::RegisterMemory command;
  command.length = 16;
  const auto source = iut.try_register(command);
  if (!source) stop(Verdict::not_applicable, "the API registers no memory without access flags");
  const auto [active, passive] = connect_to_itself();
  const Work receive = passive.receive(16);
  iut::PostWork send;
  send.operation = operation::send;
  send.pieces = {{source->handle, 0, 16}};
  const Work sent = active.post(send);
  expect(sent, completes());
  expect(receive, completes().with_length(16));
}

LOOPBACK_CASE(receive_needs_local_write_in_each_piece, rules("verbs.region.access-flags")) {
  using Pieces = std::vector<iut::Piece>;
  const auto received = [&](const char* name, const auto& pieces_of) {
    row(name, [&] {
      const auto [active, passive] = connect_to_itself();
      const Region open = iut.register_memory(8, access::local);
      iut::RegisterMemory command;
      command.length = 8;
      command.access = {.remote_read = true};
      const auto closed = iut.try_register(command);
      if (!closed) stop(Verdict::not_applicable, "the API registers no memory without local write");
      const Octets before = iut.read_memory(*closed);
      const Pieces pieces =
          pieces_of(iut::Piece{open.handle, 0, 8}, iut::Piece{closed->handle, 0, 8});
      const Attempt receive = iut.try_post(iut::PostReceive{passive.handle(), 0, 0, pieces});
      if (receive.taken()) {
        const Work sent = active.send(payload(8 * pieces.size()));
        expect(receive.work, completes_in_error());
      }
      expect_that(iut.read_memory(*closed) == before, "memory unchanged", "octets placed");
    });
  };
  using Piece = const iut::Piece&;
  received("in its only piece", [](Piece, Piece closed) { return Pieces{closed}; });
  received("in the first of two", [](Piece open, Piece closed) { return Pieces{closed, open}; });
  received("in the second", [](Piece open, Piece closed) { return Pieces{open, closed}; });
}

CASES_OF_FILE(loopback, access)

}  // namespace suite::cases
