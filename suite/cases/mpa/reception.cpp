// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RFC 5044 sections 5.1, 5.2 and 6: how a receiver finds FPDUs, and when it passes them on.
#include "reference_rnic/wire/markers.hpp"
#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

namespace {

Octets encoded(Body& test, const Outgoing& message) {
  return encode(test.peer.prepare(message).front(), test.peer.raw().sending());
}

void change_by(std::byte& octet, int difference) {
  octet = static_cast<std::byte>(std::to_integer<int>(octet) + difference);
}

}  // namespace

CONFORMANCE_CASE(header_is_cut_at_every_octet, rules("mpa.receive.works-without-alignment"),
                 in_both_roles) {
  // Consecutive FPDUs in one stream, each cut one octet later than the one before.
  const auto cut_later_and_later = [&](const std::vector<Fpdu>& fpdus, std::size_t size) {
    std::vector<std::size_t> cuts;
    for (std::size_t i = 0; i < fpdus.size(); ++i) cuts.push_back(i * size + i + 1);
    peer.send(fpdus, Cut::at(cuts));
  };
  row("untagged", [&] {
    constexpr std::size_t size = 32;  // of an FPDU with 5 octets of payload
    std::vector<Work> receives;
    std::vector<Fpdu> fpdus;
    for (std::size_t i = 1; i < size; ++i) receives.push_back(iut.post_receive(16));
    peer.ready();
    for (std::size_t i = 1; i < size; ++i)
      fpdus.push_back(peer.prepare(send_message(payload(5))).front());
    cut_later_and_later(fpdus, size);
    for (const Work& receive : receives) expect(receive, completes().with_length(5));
  });
  row("tagged", [&] {
    constexpr std::size_t size = 28;  // of an FPDU with 8 octets of payload
    const Region region = iut.register_memory(8 * size, access::remote_write);
    const Octets data = payload(8 * (size - 1));
    std::vector<Fpdu> fpdus;
    for (std::size_t at = 0; at < data.size(); at += 8)
      fpdus.push_back(
          peer.prepare(rdma_write(region.stag, region.base + at, part_of(data, at, 8))).front());
    cut_later_and_later(fpdus, size);
    expect(region, holds(data));
  });
}

CONFORMANCE_CASE(fpdu_waits_for_its_rest_while_another_stream_receives,
                 rules("mpa.receive.works-without-alignment"), in_both_roles) {
  constexpr std::uint32_t size = 1300;
  const auto encoded_for = [](Peer& to, const Octets& data) {
    return encode(to.prepare(send_message(data).with_segments_of(size)).front(), to.sending());
  };
  for (const std::size_t first : {1U, 60U, 700U, 1100U, 1320U}) {
    row(fmt::format("after {} octets", first), [&] {
      Peer& one = peer.ready();
      Peer& other = another_peer();
      const iut::Handle endpoint = iut.create_endpoint();
      establish(other, {.endpoint = endpoint, .opening = true});
      const Work receive = iut.post_receive(size), second = iut.post_receive(size, endpoint);
      const Octets data = PayloadGenerator(5).octets(size), more = PayloadGenerator(6).octets(size);
      const Octets fpdu = encoded_for(one, data), next = encoded_for(other, more);
      one.send_octets(rnic::wire::Bytes(fpdu).first(first));
      watch();
      other.send_octets(rnic::wire::Bytes(next).first(first));
      watch(other);
      one.send_octets(rnic::wire::Bytes(fpdu).subspan(first));
      expect(receive, completes().with_length(size));
      expect_that(iut.read_memory(receive.buffer) == data, "the octets sent", "others");
      other.send_octets(rnic::wire::Bytes(next).subspan(first));
      expect(second, completes().with_length(size));
      expect_that(iut.read_memory(second.buffer) == more, "the octets sent", "others");
    });
  }
}

CONFORMANCE_CASE(fpdus_of_every_remainder_follow_one_another,
                 rules("mpa.receive.boundaries-by-length-field"), in_both_roles) {
  // Each length mod 4 after each other one, those of one first length in one TCP segment.
  for (std::size_t first = 0; first < 4; ++first) {
    std::vector<Outgoing> messages;
    std::vector<Work> receives;
    for (std::size_t second = 0; second < 4; ++second) {
      for (const std::size_t size : {first, second}) {
        messages.push_back(send_message(payload(size)));
        receives.push_back(iut.post_receive(16));
      }
    }
    peer.send_together(messages);
    for (std::size_t i = 0; i < receives.size(); ++i)
      expect(receives[i],
             completes().with_length(static_cast<std::uint32_t>(messages[i].payload.size())));
  }
}

CONFORMANCE_CASE(fpdus_of_every_kind_arrive_at_once,
                 rules("mpa.receive.ulpdu-boundaries-preserved",
                       "mpa.receive.gap-closing-indicated"),
                 in_both_roles) {
  Region region = iut.register_memory(256, access::remote_read_write);
  iut.write_memory(region, payload(256));
  const Work first = iut.post_receive(64), second = iut.post_receive(64);
  peer.ready();
  peer.send_together({rdma_write(region.stag, region.base, payload(7, 3)), send_message(payload(3)),
                      rdma_write(region.stag, region.base, {}),
                      read_of(region.stag, region.base + 100, 16), send_message({}),
                      rdma_write(region.stag, region.base + 50, payload(1, 5))});
  // Nothing more arrives: an FPDU that is held back stays held back.
  expect(first, completes().with_length(3), "mpa.receive.gap-closing-indicated");
  expect(second, completes().with_length(0), "mpa.receive.gap-closing-indicated");
  expect(peer, message(Opcode::read_response, part_of(payload(256), 100, 16)));
  const Octets seen = iut.read_memory(region);
  expect_that(part_of(seen, 0, 7) == payload(7, 3), "the first Write placed", "other octets");
}

CONFORMANCE_CASE(nothing_is_delivered_before_the_whole_fpdu_has_arrived,
                 rules("mpa.receive.entire-fpdu-before-ddp"), in_both_roles) {
  for (const std::size_t missing : {1, 4, 5, 20}) {
    row(fmt::format("{} octets outstanding", missing), [&] {
      const Work receive = iut.post_receive(64);
      peer.ready();
      const Octets fpdu = encoded(*this, send_message(payload(18)));
      peer.send_octets(rnic::wire::Bytes(fpdu).first(fpdu.size() - missing));
      watch();
      const auto early = iut.take(completion_of(receive).matches, context().loop.now());
      expect_that(!early.has_value(), "no completion yet", early ? describe(*early) : "none");
      peer.send_octets(rnic::wire::Bytes(fpdu).last(missing));
      expect(receive, completes().with_length(18));
    });
  }
}

CONFORMANCE_CASE(payload_that_looks_like_an_fpdu_stays_payload,
                 rules("mpa.receive.start-located-unambiguously"), in_both_roles,
                 over_both_families) {
  constexpr std::size_t before = 20, header = 16;
  const Region target = iut.register_memory(512, access::remote_write);
  const Region decoy = iut.register_memory(512, access::remote_write);
  const Framing framing = peer.ready().sending();
  const Octets inner = encode(peer.prepare(rdma_write(decoy.stag, decoy.base, payload(64))).front(),
                              {.crc = framing.crc});
  Octets data = payload(before);
  data.insert(data.end(), inner.begin(), inner.end());
  data.resize(data.size() + 8);
  // The segment in the middle looks like an FPDU to a receiver that relies on segments. It is so
  // short, and so early in the stream, that no Marker is in it.
  const bool marked = framing.markers && rnic::wire::marker_at(framing.position);
  const std::size_t from = (marked ? rnic::wire::marker_size : 0) + header + before;
  peer.send(rdma_write(target.stag, target.base, data), Cut::at({from, from + inner.size()}));
  expect(target, holds(data));
  expect(decoy, unchanged);
}

CONFORMANCE_CASE(no_fpdu_is_guessed_after_an_invalid_one,
                 rules("mpa.receive.start-by-chained-lengths-or-marker"), in_both_roles) {
  const auto taken = [&](const std::function<void(Fpdu&)>& spoil) {
    const Region region = iut.register_memory(4096, access::remote_write);
    peer.ready();
    std::vector<Fpdu> all = peer.prepare(rdma_write(region.stag, region.base, payload(100)));
    spoil(all.front());
    for (std::uint64_t i = 1; i <= 10; ++i)
      all.push_back(
          peer.prepare(rdma_write(region.stag, region.base + 200 * i, payload(64))).front());
    peer.send(all);
    watch();
    // The octets of the invalid FPDU itself are judged under another rule.
    const Octets seen = part_of(iut.read_memory(region), 200, 3800);
    expect_that(seen == part_of(region.contents, 200, 3800), "memory of the later Writes unchanged",
                "memory changed");
  };
  row("a wrong CRC", [&] { taken([](Fpdu& fpdu) { fpdu = fpdu.with_crc(CrcChoice::wrong); }); });
  row("ULPDU_Length too large by 4", [&] {
    taken([](Fpdu& fpdu) {
      fpdu.change_after_crc = [](rnic::wire::MutableBytes all) { change_by(all[1], 4); };
    });
  });
  row("ULPDU_Length too small by 4", [&] {
    taken([](Fpdu& fpdu) {
      fpdu.change_after_crc = [](rnic::wire::MutableBytes all) { change_by(all[1], -4); };
    });
  });
}

CASES_OF_FILE(mpa, reception)

}  // namespace suite::cases
