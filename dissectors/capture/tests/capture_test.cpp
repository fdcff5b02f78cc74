// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Frames, splitting, the stream index and made-up frames, with octets written by hand; tshark as
// the second opinion on files.
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <random>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "dissectors/capture/pcap_file.hpp"
#include "dissectors/capture/splitter.hpp"
#include "dissectors/capture/stream_index.hpp"
#include "dissectors/capture/synthesizer.hpp"

using namespace dissectors::capture;

namespace {

std::vector<std::byte> octets(std::string_view hex) {
  std::vector<std::byte> list;
  std::string digits;
  for (const char c : hex) {
    if (c == ' ') continue;
    digits += c;
    if (digits.size() == 2) {
      list.push_back(static_cast<std::byte>(std::stoi(digits, nullptr, 16)));
      digits.clear();
    }
  }
  return list;
}

// 10.77.0.1:1234 -> 10.77.0.2:5678, SEQ 0x01020304, PSH ACK, two octets of payload, padded to 60
// octets by Ethernet.
const std::string ipv4_frame =
    "02000a4d0002 02000a4d0001 0800"
    "4500 002a 0000 4000 4006 0000 0a4d0001 0a4d0002"
    "04d2 162e 01020304 00000000 5018 ffff 0000 0000"
    "abcd 00000000";

Flow a_flow(std::uint16_t port = 1234, bool ipv6 = false) {
  return {*Endpoint::parse(ipv6 ? "fd77::1" : "10.77.0.1", port),
          *Endpoint::parse(ipv6 ? "fd77::2" : "10.77.0.2", 5678)};
}

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> list(size);
  for (std::size_t i = 0; i < size; ++i) list[i] = static_cast<std::byte>(i * 31 + i / 256);
  return list;
}

struct Run {
  int status;
  std::string output;
};
#ifdef TSHARK
Run tshark(const std::vector<std::byte>& file, const std::string& arguments) {
  std::string name = (std::filesystem::temp_directory_path() / "capture_test.XXXXXX").string();
  ::close(::mkstemp(name.data()));
  std::ofstream(name, std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  const std::string command = std::string(TSHARK) + " -n -r " + name + " " + arguments + " 2>" +
                              name + ".err >" + name + ".out";
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): our own fixed words
  std::ostringstream text;
  text << std::ifstream(name + ".out").rdbuf();
  for (const char* suffix : {"", ".out", ".err"}) std::filesystem::remove(name + suffix);
  return {status, text.str()};
}
#endif

}  // namespace

BOOST_AUTO_TEST_CASE(an_ipv4_segment_without_its_ethernet_padding) {
  const auto frame = octets(ipv4_frame);
  const auto segment = parse_segment(LinkType::ethernet, frame);
  BOOST_REQUIRE(segment);
  BOOST_TEST(segment->flow.from.text() == "10.77.0.1:1234");
  BOOST_TEST(segment->flow.to.text() == "10.77.0.2:5678");
  BOOST_TEST(segment->sequence == 0x01020304U);
  BOOST_TEST((segment->ack && !segment->syn && !segment->fin && !segment->rst));
  BOOST_TEST(segment->payload_length == 2U);
  BOOST_TEST((std::vector(segment->payload.begin(), segment->payload.end()) == octets("abcd")));
}

BOOST_AUTO_TEST_CASE(vlan_tags_and_raw_links) {
  const auto plain = octets(ipv4_frame);
  auto tagged = plain;
  const auto tag = octets("88a8 0001 8100 0002");
  tagged.insert(tagged.begin() + 12, tag.begin(), tag.end());
  BOOST_REQUIRE(parse_segment(LinkType::ethernet, tagged));
  BOOST_TEST(parse_segment(LinkType::ethernet, tagged)->payload_length == 2U);
  const auto raw = parse_segment(LinkType::raw_ip, base::Bytes(plain).subspan(14));
  BOOST_REQUIRE(raw);
  BOOST_TEST((raw->flow == a_flow()));
}

namespace {

// All that is read of a segment, or why nothing is.
std::string reading(LinkType link, base::Bytes frame) {
  const auto segment = parse_segment(link, frame);
  const auto hash = hash_of_segment(link, frame);
  BOOST_REQUIRE(hash.has_value() == segment.has_value());
  if (!segment) {
    BOOST_TEST((hash.error() == segment.error()));
    return fmt::format("no segment {}", std::to_underlying(segment.error()));
  }
  BOOST_TEST(*hash == hash_of(segment->flow));
  BOOST_TEST(*hash == hash_of(segment->flow.reversed()));
  return fmt::format(
      "{} {} {} {} {} {}{}{}{} {} {} {} of {} at {}, sum {}", segment->flow.from.text(),
      segment->flow.to.text(), segment->sequence, segment->acknowledgement, segment->window,
      segment->syn, segment->ack, segment->fin, segment->rst, segment->mss,
      segment->window_scale.value_or(255), segment->payload.size(), segment->payload_length,
      static_cast<const void*>(segment->payload.data()), segment->header_sum.value_or(0));
}

}  // namespace

// Behind Ethernet most of them are read by a shorter way than elsewhere.
BOOST_AUTO_TEST_CASE(the_link_makes_no_difference_to_a_segment) {
  constexpr std::size_t ethernet_header = 14, headers = 54;
  const auto untouched = octets(ipv4_frame);
  std::mt19937 chance(21);
  int segments = 0, others = 0;
  for (int round = 0; round < 20'000; ++round) {
    auto frame = untouched;
    for (auto changes = chance() % 4; changes > 0; --changes)
      frame[ethernet_header + chance() % (headers - ethernet_header)] =
          static_cast<std::byte>(chance());
    if (chance() % 4 == 0) frame.resize(ethernet_header + chance() % (frame.size() - 13));
    const std::string read = reading(LinkType::ethernet, frame);
    ++(read.starts_with("no segment") ? others : segments);
    BOOST_TEST(read == reading(LinkType::raw_ip, base::Bytes(frame).subspan(ethernet_header)));
  }
  BOOST_TEST(segments > 5000);
  BOOST_TEST(others > 2000);
}

BOOST_AUTO_TEST_CASE(the_innermost_packet_of_tunnels) {
  const auto within = [](const char* outside, std::uint8_t protocol) {
    auto frame = octets(std::string("02000000 0002 02000000 0001 0800 4500 0100 0000 4000 40") +
                        "00 0000 0a000001 0a000002" + outside);
    frame[23] = std::byte{protocol};
    return frame;
  };
  const auto packet = octets(std::string(ipv4_frame).substr(0));
  const auto carried = [&](std::vector<std::byte> frame, bool with_ethernet) {
    frame.insert(frame.end(), packet.begin() + (with_ethernet ? 0 : 14), packet.end());
    return parse_segment(LinkType::ethernet, frame);
  };
  BOOST_TEST((carried(within("", 4), false)->flow == a_flow()));
  BOOST_TEST(
      (carried(within("b000 0800 0000 0000 0000 0007 0000 0001", 47), false)->flow == a_flow()));
  BOOST_TEST((carried(within("0000 6558", 47), true)->flow == a_flow()));
  const char* vxlan = "c350 12b5 0080 0000 08000000 00002a00";
  BOOST_TEST((carried(within(vxlan, 17), true)->flow == a_flow()));
  BOOST_TEST((carried(within("c350 17c1 0080 0000 0100 6558 00002a00 01020300", 17), true)->flow ==
              a_flow()));
  // Another version of GRE, another port, VXLAN without its identifier: no tunnels.
  for (const auto& [outside, protocol] : {std::pair{"0001 0800", 47},
                                          {"c350 12b6 0080 0000 08000000 00002a00", 17},
                                          {"c350 12b5 0080 0000 00000000 00002a00", 17}})
    BOOST_TEST((carried(within(outside, static_cast<std::uint8_t>(protocol)), true).error() ==
                NoSegment::other_protocol));
  // No part of a tunnel that the capture cut is taken for a packet.
  auto cut = within(vxlan, 17);
  while (cut.size() > 34) {
    BOOST_TEST(!parse_segment(LinkType::ethernet, cut).has_value());
    cut.pop_back();
  }
}

BOOST_AUTO_TEST_CASE(an_ipv6_segment) {
  const auto frame = octets(
      "02000000 0002 02000000 0001 86dd 60000000 0015 06 40"
      "fd770000000000000000000000000001 fd770000000000000000000000000002"
      "04d2 162e ffffffff 00000000 5001 ffff 0000 0000 ee");
  const auto segment = parse_segment(LinkType::ethernet, frame);
  BOOST_REQUIRE(segment);
  BOOST_TEST(segment->flow.from.text() == "[fd77::1]:1234");
  BOOST_TEST(segment->fin);
  BOOST_TEST(segment->payload_length == 1U);
}

BOOST_AUTO_TEST_CASE(acknowledgement_and_window) {
  auto frame = octets(ipv4_frame);
  frame[42] = std::byte{0x80};
  frame[45] = std::byte{0x09};
  const auto segment = parse_segment(LinkType::ethernet, frame);
  BOOST_REQUIRE(segment);
  BOOST_TEST(segment->acknowledgement == 0x80000009U);
  BOOST_TEST(segment->window == 0xFFFFU);
}

BOOST_AUTO_TEST_CASE(what_a_syn_offers) {
  const auto offered = [](const char* options) -> std::pair<int, int> {
    const auto segment = parse_segment(
        LinkType::raw_ipv4, octets(std::string("4500 0034 0000 4000 4006 0000 0a4d0001 0a4d0002"
                                               "04d2 162e 00000007 00000000 8002 ffff 0000 0000") +
                                   options));
    BOOST_REQUIRE(segment);
    return {segment->mss, segment->window_scale.value_or(99)};
  };
  BOOST_TEST((offered("020405b4 0402 01 030307 00 0000") == std::pair(1460, 7)));
  BOOST_TEST((offered("03030f 01 020405b4 00000000") == std::pair(1460, 14)));  // 15 means 14
  BOOST_TEST((offered("01010101 01010101 01010101") == std::pair(0, 99)));
  BOOST_TEST((offered("00 030307 020405b4 00000000") == std::pair(0, 99)));
  BOOST_TEST((offered("0301 020405b4 030307 000000") == std::pair(0, 99)));  // no length is below 2
}

BOOST_AUTO_TEST_CASE(the_links_of_other_systems) {
  const auto plain = octets(ipv4_frame);
  const base::Bytes packet = base::Bytes(plain).subspan(14);
  const auto after = [&](const char* header) {
    auto frame = octets(header);
    frame.insert(frame.end(), packet.begin(), packet.end());
    return frame;
  };
  const auto holds = [](LinkType link, const std::vector<std::byte>& frame) {
    const auto segment = parse_segment(link, frame);
    return segment && segment->flow == a_flow() && segment->payload_length == 2;
  };
  BOOST_TEST(holds(LinkType::null_loopback, after("02000000")));
  BOOST_TEST(holds(LinkType::loop, after("00000002")));
  BOOST_TEST(holds(LinkType::linux_sll, after("0000 0001 0006 02000a4d0001 0000 0800")));
  BOOST_TEST(holds(LinkType::linux_sll, after("0000 0001 0006 02000a4d0001 0000 8100 0007 0800")));
  BOOST_TEST(holds(LinkType::linux_sll2, after("0800 0000 00000002 0001 00 06 02000a4d00010000")));
  BOOST_TEST(holds(LinkType::raw_ipv4, after("")));
  BOOST_TEST(
      (parse_segment(LinkType::linux_sll, after("0000 0001 0006 02000a4d0001 0000 0806")).error() ==
       NoSegment::other_protocol));
  BOOST_TEST(
      (parse_segment(LinkType::null_loopback, octets("0200")).error() == NoSegment::malformed));
  BOOST_TEST((link_of_datalink(12) == LinkType::raw_ip));  // DLT_RAW
  BOOST_TEST(!link_of_datalink(105));                      // 802.11
}

namespace {
std::vector<std::byte> ipv6_with(const std::string& next_header, const std::string& extensions,
                                 const std::string& payload_length) {
  return octets("60000000" + payload_length + next_header + "40" +
                "fd770000000000000000000000000001 fd770000000000000000000000000002" + extensions +
                "04d2 162e 00000007 00000000 5010 ffff 0000 0000 ee");
}
}  // namespace

BOOST_AUTO_TEST_CASE(ipv6_extension_headers_are_passed_by) {
  const auto length_of = [](const std::vector<std::byte>& packet) {
    const auto segment = parse_segment(LinkType::raw_ip, packet);
    return segment ? static_cast<int>(segment->payload_length) : -1;
  };
  // Hop-by-hop of 8 octets, destination options of 16, authentication of 12.
  BOOST_TEST(length_of(ipv6_with("00",
                                 "3c00010400000000"
                                 "3301010c000000000000000000000000"
                                 "0601000000000001000000 02",
                                 "0039")) == 1);
  // A fragment header without offset and M is the whole packet, else a fragment.
  BOOST_TEST(length_of(ipv6_with("2c", "0600000000000001", "001d")) == 1);
  const auto more = ipv6_with("2c", "0600000100000001", "001d");
  BOOST_TEST((parse_segment(LinkType::raw_ip, more).error() == NoSegment::fragment));
  const auto later = ipv6_with("2c", "0600000800000001", "001d");
  BOOST_TEST((parse_segment(LinkType::raw_ip, later).error() == NoSegment::fragment));
  // A length of extension header beyond the packet.
  const auto beyond = ipv6_with("00", "06ff010400000000", "001d");
  BOOST_TEST((parse_segment(LinkType::raw_ip, beyond).error() == NoSegment::malformed));
}

BOOST_AUTO_TEST_CASE(packets_too_large_for_their_length_field) {
  auto frame = octets(ipv4_frame);
  frame[16] = frame[17] = std::byte{0};
  BOOST_TEST(parse_segment(LinkType::ethernet, frame)->payload_length == 6U);  // with the padding
}

BOOST_AUTO_TEST_CASE(checksums_are_right_wrong_or_not_known) {
  std::vector<std::size_t> sizes{1439, 1448, 1460};
  for (std::size_t size = 0; size < 200; ++size) sizes.push_back(size);
  for (const bool ipv6 : {false, true})
    for (const std::size_t size : sizes) {
      Synthesizer maker;
      maker.opened(a_flow(1000, ipv6), 10);
      maker.data(a_flow(1000, ipv6), 20, pattern(size));
      for (const Frame& frame : maker.frames()) {
        const auto checked = [](const std::vector<std::byte>& octets) {
          return check_checksum(*parse_segment(LinkType::ethernet, octets));
        };
        BOOST_TEST((checked(frame.octets) == Checksum::right));
        auto damaged = frame.octets;
        damaged.back() ^= std::byte{0x10};
        BOOST_TEST((checked(damaged) == Checksum::wrong));
        const std::size_t tcp = ipv6 ? 54 : 34;
        if (damaged.size() == tcp + 20) continue;
        const auto cut = std::vector(frame.octets.begin(), frame.octets.end() - 1);
        BOOST_TEST((checked(cut) == Checksum::unknown));
      }
    }
  // 10.77.0.1 and 10.77.0.2, protocol 6, 22 octets: what a host writes that leaves the rest to its adapter.
  auto left_to_the_adapter = octets(ipv4_frame);
  left_to_the_adapter[50] = std::byte{0x14};
  left_to_the_adapter[51] = std::byte{0xB9};
  const auto segment = parse_segment(LinkType::ethernet, left_to_the_adapter);
  BOOST_TEST((check_checksum(*segment) == Checksum::unknown));
}

BOOST_AUTO_TEST_CASE(hostile_frames_are_no_segments_and_read_nothing_outside) {
  const auto whole = octets(ipv4_frame);
  for (std::size_t length = 0; length < 54; ++length) {  // up to the end of the TCP header
    const std::vector<std::byte> cut(whole.begin(),
                                     whole.begin() + static_cast<std::ptrdiff_t>(length));
    BOOST_TEST(!parse_segment(LinkType::ethernet, cut).has_value() ==
               (length < 48));  // flags are at octet 47
    BOOST_TEST(!parse_segment(LinkType::raw_ip, cut).has_value());
  }
  const auto broken = [&](std::size_t position, int value) {
    auto frame = whole;
    frame[position] = static_cast<std::byte>(value);
    return parse_segment(LinkType::ethernet, frame).has_value();
  };
  BOOST_TEST(!broken(12, 0x09));  // another protocol than IP
  BOOST_TEST(!broken(14, 0x44));  // IHL of 16
  BOOST_TEST(!broken(14, 0x4F));  // IHL beyond the total length
  BOOST_TEST(!broken(14, 0x75));  // IP version 7
  BOOST_TEST(!broken(17, 0x13));  // total length shorter than the header
  BOOST_TEST(!broken(20, 0x20));  // more fragments
  BOOST_TEST(!broken(21, 0x01));  // a later fragment
  BOOST_TEST(!broken(23, 17));    // UDP
  BOOST_TEST(!broken(46, 0x40));  // data offset of 16
  BOOST_TEST(!broken(46, 0xF0));  // data offset beyond the packet
  auto fragment = whole;
  fragment[20] = std::byte{0x20};
  BOOST_TEST((parse_segment(LinkType::ethernet, fragment).error() == NoSegment::fragment));
}

BOOST_AUTO_TEST_CASE(a_frame_cut_by_the_capture_keeps_its_stream_length) {
  const auto whole = octets(ipv4_frame);
  const auto segment = parse_segment(LinkType::ethernet, base::Bytes(whole).first(55));
  BOOST_REQUIRE(segment);
  BOOST_TEST(segment->payload.size() == 1U);
  BOOST_TEST(segment->payload_length == 2U);
}

BOOST_AUTO_TEST_CASE(a_pcap_file_octet_by_octet) {
  const std::vector<Frame> frames{{.time = 0x12345678 * std::uint64_t{1'000'000'000} + 7,
                                   .original_length = 5,
                                   .octets = octets("aabb")}};
  const auto file = pcap_file(LinkType::ethernet, frames);
  const auto expected = octets(
      "4d3cb2a1 0200 0400 00000000 00000000 00000400 01000000"
      "78563412 07000000 02000000 05000000 aabb");
  BOOST_TEST((file == expected));
}

BOOST_AUTO_TEST_CASE(made_up_frames_carry_the_stream_and_split_by_connection) {
  Synthesizer maker;
  const Flow one = a_flow(1000), two = a_flow(1000, true);
  const auto payload = pattern(4000);
  maker.opened(one, 10);
  maker.opened(two, 11);
  maker.data(one, 20, payload);
  maker.data(two.reversed(), 21, base::Bytes(payload).first(5));
  maker.closed(one, 30);
  maker.reset(two, 31);

  Splitter splitter(LinkType::ethernet, 1 << 20);
  for (const Frame& frame : maker.frames()) splitter.add(frame);
  const std::vector<Flow> only_one{one.reversed(), one};  // either direction names it, also twice
  const auto frames = splitter.take(only_one, 0);
  std::vector<std::byte> stream;
  for (const Frame& frame : frames) {
    const auto segment = parse_segment(LinkType::ethernet, frame.octets);
    BOOST_REQUIRE(segment);
    BOOST_TEST((segment->flow.canonical() == one.canonical()));
    if (segment->flow == one)
      stream.insert(stream.end(), segment->payload.begin(), segment->payload.end());
  }
  BOOST_TEST((stream == payload));
  BOOST_TEST(splitter.take(only_one, 0).empty());

  const StreamIndex index(LinkType::ethernet, frames);
  BOOST_TEST(index.octet(one, 0).value() == 4U);  // after SYN, SYN ACK, ACK
  BOOST_TEST(index.octet(one, 1439).value() == 4U);
  BOOST_TEST(index.octet(one, 1440).value() == 5U);
  BOOST_TEST(index.octet(one, 3999).value() == 6U);
  BOOST_TEST(!index.octet(one, 4000).has_value());
  BOOST_TEST(!index.octet(one.reversed(), 0).has_value());
  BOOST_TEST(!index.octet(two, 0).has_value());
  BOOST_TEST(index.syn(one).value() == 1U);
  BOOST_TEST(index.syn(one.reversed()).value() == 2U);
  BOOST_TEST(index.fin(one).value() == 7U);
  BOOST_TEST(!index.reset(one).has_value());

  const std::vector<Flow> only_two{two};
  const auto rest = splitter.take(only_two, 0);
  const StreamIndex other(LinkType::ethernet, rest);
  BOOST_TEST(other.octet(two.reversed(), 4).value() == 4U);
  BOOST_TEST(other.reset(two).value() == 5U);
  BOOST_TEST(splitter.held() == 0U);
}

BOOST_AUTO_TEST_CASE(late_frames_of_an_earlier_case_on_the_same_ports_are_dropped) {
  Synthesizer maker;
  maker.opened(a_flow(), 100);
  maker.opened(a_flow(), 200);
  Splitter splitter(LinkType::ethernet, 1 << 20);
  for (const Frame& frame : maker.frames()) splitter.add(frame);
  const std::vector<Flow> flows{a_flow()};
  BOOST_TEST(splitter.take(flows, 150).size() == 3U);
  BOOST_TEST(splitter.held() == 0U);
  for (const Frame& frame : maker.frames()) splitter.add(frame);
  BOOST_TEST(splitter.take_all(150).size() == 3U);
  BOOST_TEST(splitter.held() == 0U);
}

BOOST_AUTO_TEST_CASE(memory_is_bounded_and_what_is_given_up_is_counted) {
  Synthesizer maker;
  const auto payload = pattern(1440);
  for (std::uint16_t port = 1; port <= 100; ++port) maker.data(a_flow(port), port, payload);
  Splitter splitter(LinkType::ethernet, 40000);
  for (const Frame& frame : maker.frames()) {
    splitter.add(frame);
    BOOST_TEST(splitter.held() <= 40000U);
  }
  BOOST_TEST(splitter.given_up() > 70U);
  const std::vector<Flow> oldest{a_flow(1)}, newest{a_flow(100)};
  BOOST_TEST(splitter.take(oldest, 0).empty());
  BOOST_TEST(splitter.take(newest, 0).size() == 1U);
  splitter.forget_before(99);
  const std::vector<Flow> kept{a_flow(98), a_flow(99)};
  BOOST_TEST(splitter.take(kept, 0).size() == 1U);
}

BOOST_AUTO_TEST_CASE(the_index_survives_wrap_retransmission_loss_of_order_and_keep_alive) {
  const auto frame = [](std::uint32_t sequence, int flags, int length) {
    auto f = octets(ipv4_frame);
    f.resize(54 + static_cast<std::size_t>(length));
    f[17] = static_cast<std::byte>(40 + length);
    for (std::size_t i = 0; i < 4; ++i)
      f[38 + i] = static_cast<std::byte>(sequence >> (24 - 8 * i));
    f[47] = static_cast<std::byte>(flags);
    return Frame{.time = 0, .original_length = static_cast<std::uint32_t>(f.size()), .octets = f};
  };
  const std::vector<Frame> frames{
      frame(0xFFFFFFF0, 2, 0),    // 1: SYN, offset 0 is 0xFFFFFFF1
      frame(0xFFFFFFF1, 16, 10),  // 2: 0..9
      frame(0x00000005, 16, 10),  // 3: 20..29, ahead of
      frame(0xFFFFFFFB, 16, 10),  // 4: 10..19
      frame(0xFFFFFFF1, 16, 20),  // 5: 0..19 again
      frame(0xFFFFFFF0, 16, 1),   // 6: keep-alive before the first octet
      frame(0x0000000F, 17, 0),   // 7: FIN
  };
  const StreamIndex index(LinkType::ethernet, frames);
  BOOST_TEST(index.octet(a_flow(), 0).value() == 2U);
  BOOST_TEST(index.octet(a_flow(), 15).value() == 4U);
  BOOST_TEST(index.octet(a_flow(), 29).value() == 3U);
  BOOST_TEST(!index.octet(a_flow(), 30).has_value());
  BOOST_TEST(index.fin(a_flow()).value() == 7U);
}

#ifdef TSHARK
BOOST_AUTO_TEST_CASE(tshark_reads_our_frames_and_finds_no_fault) {
  for (const bool ipv6 : {false, true}) {
    Synthesizer maker;
    const Flow flow = a_flow(1234, ipv6);
    const auto payload = pattern(3001);
    maker.opened(flow, 1'000'000'000'000'000'001);
    maker.data(flow, 1'000'000'000'000'000'002, payload);
    maker.data(flow.reversed(), 1'000'000'000'000'000'003, base::Bytes(payload).first(3));
    maker.closed(flow, 1'000'000'000'000'000'004);
    maker.closed(flow.reversed(), 1'000'000'000'000'000'005);
    const auto file = pcap_file(LinkType::ethernet, maker.frames());
    const Run lengths = tshark(file,
                               "-o tcp.check_checksum:TRUE -o ip.check_checksum:TRUE -T fields -e "
                               "tcp.len -e tcp.checksum.status");
    BOOST_TEST(lengths.status == 0);
    BOOST_TEST(lengths.output == "0\t1\n0\t1\n0\t1\n1440\t1\n1440\t1\n121\t1\n3\t1\n0\t1\n0\t1\n");
    BOOST_TEST(tshark(file,
                      "-o tcp.check_checksum:TRUE -o ip.check_checksum:TRUE -Y '_ws.malformed || "
                      "tcp.analysis.flags || ip.checksum.status==0'")
                   .output == "");
    BOOST_TEST(tshark(file, "-c 1 -T fields -e frame.time_epoch").output ==
               "1000000000.000000001\n");
  }
}
#endif
