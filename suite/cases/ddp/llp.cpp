// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5041 section 3: what DDP gets from the LLP, seen in what it does with the octets.
#include <algorithm>

#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/framework/long_work.hpp"

namespace suite::cases {

namespace {

constexpr std::uint32_t some_stag = 0x01020304;

/// More octets than a buffer of the LLP holds, so that they do not arrive in one read.
constexpr std::size_t long_rest = 200'000;

}  // namespace

CONFORMANCE_CASE(segments_are_the_same_however_tcp_cuts_them, rules("ddp.llp.boundaries-preserved"),
                 in_both_roles) {
  struct Cutting {
    const char* name;
    Cut cut;
  };
  // ULPDU_Length, the control octets, STag, TO and payload each in a TCP segment of its own, too.
  const Cutting cuttings[] = {{"octet by octet", Cut::single_octets()},
                              {"three octets at a time", Cut::every(3)},
                              {"between the fields", Cut::at({2, 3, 4, 8, 16})},
                              {"within the fields", Cut::at({1, 6, 12, 17, 30})}};
  for (const Cutting& cutting : cuttings) {
    row(cutting.name, [&] {
      const Region region = iut.register_memory(64, access::remote_write);
      const Work receive = iut.post_receive(64);
      peer.ready().send(rdma_write(region.stag, region.base + 5, payload(23)), cutting.cut);
      peer.ready().send(send_message(payload(37)), cutting.cut);
      expect(receive, completes().with_length(37));
      expect(receive.buffer, holds(payload(37)));
      expect(region, holds(payload(23), 5));
    });
  }
}

CONFORMANCE_CASE(segment_that_pauses_midway_is_accepted, rules("ddp.llp.boundaries-preserved")) {
  // After the first octet, within ULPDU_Length, STag and TO, at the end of the header, in the CRC.
  for (const std::size_t first : {1UZ, 2UZ, 5UZ, 12UZ, 16UZ, 37UZ}) {
    row(fmt::format("after {} octets", first), [&] {
      const Region region = iut.register_memory(64, access::remote_write);
      const Fpdu fpdu = peer.prepare(rdma_write(region.stag, region.base, payload(20))).front();
      const Octets octets = encode(fpdu, peer.ready().sending());
      peer.send_octets(wire::Bytes(octets).first(first));
      watch();
      peer.send_octets(wire::Bytes(octets).subspan(first));
      expect(region, holds(payload(20)));
    });
  }
}

CONFORMANCE_CASE(segments_are_the_same_however_tcp_joins_them,
                 rules("ddp.llp.boundaries-preserved"), in_both_roles) {
  // Short ones, so that a TCP segment may end with a whole header or only its beginning.
  constexpr std::size_t count = 40, place = 16;
  const Region region = iut.register_memory(count * place, access::remote_write);
  std::vector<Work> receives;
  std::vector<Fpdu> fpdus;
  Octets wanted = region.contents;
  for (std::size_t i = 0; i < count; ++i) {
    const Octets data = payload(i % (place + 1), static_cast<std::uint8_t>(i + 1));
    receives.push_back(iut.post_receive(place));
    std::ranges::copy(data, wanted.begin() + static_cast<std::ptrdiff_t>(i * place));
    for (const Outgoing& message :
         {rdma_write(region.stag, region.base + i * place, data), send_message(data)})
      for (Fpdu& fpdu : peer.prepare(message)) fpdus.push_back(std::move(fpdu));
  }
  peer.ready().send(fpdus);
  for (std::size_t i = 0; i < count; ++i)
    expect(receives[i], completes().with_length(static_cast<std::uint32_t>(i % (place + 1))));
  expect(region, holds(wanted));
}

CONFORMANCE_CASE(segment_longer_than_a_tcp_segment_is_accepted,
                 rules("ddp.llp.boundaries-preserved"), in_both_roles) {
  // A sender need not align its FPDUs, and the EMSS may shrink while one is in flight (RFC 5044
  // section 5.1). No sentence obliges a receiver beyond what a jumbo frame holds (D60).
  constexpr std::size_t jumbo = 9000;
  for (const std::size_t size : {3000UZ, 20'000UZ, 64'000UZ}) {
    row(fmt::format("{} octets in one FPDU", size), [&] {
      limit_segments(1460);
      const Region region = iut.register_memory(size, access::remote_write);
      peer.ready().send(
          rdma_write(region.stag, region.base, payload(size)).segments(size + 100, 1).front());
      if (size <= jumbo) return expect(region, holds(payload(size)));
      watch();
      advise_that(iut.read_memory(region) == payload(size), "the FPDU placed", "memory differs");
    });
  }
}

CONFORMANCE_CASE(pad_is_not_delivered_as_payload, rules("ddp.llp.segment-length-given"),
                 in_both_roles) {
  // ULPDU_Length with each remainder modulo four, and once more with a full word after it.
  for (std::size_t size = 1; size <= 8; ++size) {
    row(fmt::format("{} octets", size), [&] {
      const Region region = iut.register_memory(16, access::remote_write);
      const Work receive = iut.post_receive(16);
      peer.send(rdma_write(region.stag, region.base + 1, payload(size)));
      expect(region, holds(payload(size), 1));
      peer.send(send_message(payload(size)));
      expect(receive, completes().with_length(static_cast<std::uint32_t>(size)));
      expect(receive.buffer, holds(payload(size)));
    });
  }
}

CONFORMANCE_CASE(segment_with_one_wrong_bit_is_never_accepted,
                 rules("ddp.llp.strong-digest", "mpa.receive.crc-verified-before-ddp")) {
  struct Place {
    const char* name;
    std::ptrdiff_t octet;  ///< of the FPDU; counted from its end if negative
    std::byte bit;
  };
  const Place places[] = {{"reserved bit of DDP", 2, std::byte{0x04}},
                          {"first octet of the payload", 16, std::byte{0x80}},
                          {"last octet of the payload", 55, std::byte{0x01}},
                          {"first octet of the CRC", -4, std::byte{0x80}},
                          {"last octet of the CRC", -1, std::byte{0x01}}};
  for (const Place& place : places) {
    row(place.name, [&] {
      const Region region = iut.register_memory(64, access::remote_write);
      Fpdu fpdu = peer.prepare(rdma_write(region.stag, region.base, payload(40))).front();
      fpdu.change_after_crc = [=](rnic::wire::MutableBytes octets) {
        const std::ptrdiff_t end = std::ssize(octets);
        octets[static_cast<std::size_t>(place.octet < 0 ? end + place.octet : place.octet)] ^=
            place.bit;
      };
      peer.ready().send(fpdu);
      const auto until = context().loop.now() + environment().quiet_window;
      const Arrival came = peer.raw().next(until);
      // An IUT that ends the stream has seen the fault, if too late.
      const bool noticed = came.is_end() || came.message(Opcode::terminate) != nullptr;
      const bool placed = iut.read_memory(region) != region.contents;
      expect_that(!placed, "memory unchanged", "octets placed",
                  noticed ? RuleRef("mpa.receive.crc-verified-before-ddp")
                          : RuleRef("ddp.llp.strong-digest"));
    });
  }
}

CONFORMANCE_CASE(nothing_is_transferred_after_a_terminate, rules("ddp.llp.erroneous-stream-silent"),
                 in_both_roles) {
  const Region region = iut.register_memory(64, access::remote_read_write);
  const Work receive = iut.post_receive(16);
  peer.send_together({rdma_write(region.stag, region.base + 60, payload(8)),
                      rdma_write(region.stag, region.base + 8, payload(8))});
  if (!expect(peer, any_terminate() | torn_down()).is_end()) {
    peer.send_together({rdma_write(region.stag, region.base, payload(8)), send_message(payload(8)),
                        read_of(region.stag, region.base, 8)});
    expect(peer, torn_down() | silence());
  }
  expect(receive, completes_in_error());
  expect_that(iut.read_memory(region) == region.contents, "memory unchanged", "octets placed");
  expect_that(iut.read_memory(receive.buffer) == receive.buffer.contents, "the receive unchanged",
              "octets placed");
}

CONFORMANCE_CASE(work_cut_off_by_a_lost_connection_fails, rules("ddp.llp.reliable-or-error"),
                 in_both_roles) {
  see_iut_send();
  peer.stall();
  const Region source = iut.register_memory(much_data().size());
  // A Write may complete as soon as the LLP has taken it (RFC 5040 section 5.5), so the case needs one
  // that the LLP cannot take whole.
  constexpr int most = 8;
  std::optional<Work> waiting;
  for (int i = 0; i < most && !waiting; ++i) {
    iut::PostWork command = work_on(source, operation::write);
    command.remote_stag = some_stag;
    const Work work = iut.post(command);
    const auto soon = context().loop.now() + environment().quiet_window;
    if (!iut.take(completion_of(work).matches, soon)) waiting = work;
  }
  if (!waiting)
    stop(Verdict::inconclusive,
         fmt::format("the LLP of the IUT takes {} Writes of 1 MiB at once", most));
  peer.reset();
  const auto event = iut.take(completion_of(*waiting).matches, context().deadline);
  expect_that(event && completes_in_error().matches(std::get<iut::CompletionEvent>(*event)),
              "an error for the Write that was not sent",
              event ? describe(*event) : "no completion; " + iut.untaken());
}

CONFORMANCE_CASE(graceful_close_is_not_reported_as_an_error,
                 rules("ddp.llp.stream-graceful-indication",
                       "ddp.llp.connection-graceful-indication"),
                 in_both_roles) {
  see_iut_send();
  peer.half_close();
  expect(iut, disconnected(), "ddp.llp.connection-graceful-indication");
  expect_none(asynchronous("qp_fatal"), "ddp.llp.stream-graceful-indication");
  expect_none(asynchronous("device_fatal"), "ddp.llp.connection-graceful-indication");
}

CONFORMANCE_CASE(connection_ends_when_both_sides_have_closed, rules("ddp.llp.connection-torn-down"),
                 in_both_roles) {
  row("the peer first", [&] {
    see_iut_send();
    peer.half_close();
    // With some APIs the consumer has to close the other half.
    static_cast<void>(
        iut.take(disconnected().matches, context().loop.now() + environment().quiet_window));
    static_cast<void>(
        iut.try_call(iut::Disconnect{iut.endpoint(), false}, "disconnect after the peer's close"));
    expect(peer, torn_down());
  });
  row("the IUT first", [&] {
    see_iut_send();
    iut.disconnect();
    expect(peer, torn_down());
  });
}

CONFORMANCE_CASE(header_error_in_the_very_first_segment_ends_the_stream,
                 rules("rdmap.stream.connection-torn-down", "rdmap.error.streams-terminated")) {
  // In the first FPDU of a connection nothing is known of the sender yet.
  row("an unknown queue", [&] {
    peer.send(send_message(payload(16)).with_queue(9));
    expect(peer, any_terminate() | torn_down());
    expect(iut, or_at_least(disconnected(), asynchronous_error()));
  });
  row("another DDP version", [&] {
    peer.send(rdma_write(some_stag, 0, {}).with_ddp_version(3));
    expect(peer, any_terminate() | torn_down(), "rdmap.error.streams-terminated");
    expect(iut, or_at_least(disconnected(), asynchronous_error()));
  });
  row("followed by much more", [&] {
    const Region region = iut.register_memory(long_rest, access::remote_write);
    std::vector<Fpdu> fpdus = peer.prepare(rdma_write(some_stag, 0, payload(16)));
    for (Fpdu& fpdu : peer.prepare(rdma_write(region.stag, region.base, payload(long_rest))))
      fpdus.push_back(std::move(fpdu));
    peer.ready().send(fpdus);
    expect(peer, any_terminate() | torn_down(), then_close, "rdmap.error.streams-terminated");
    expect_that(iut.read_memory(region) == region.contents, "memory unchanged", "octets placed");
  });
}

CASES_OF_FILE(ddp, llp)

}  // namespace suite::cases
