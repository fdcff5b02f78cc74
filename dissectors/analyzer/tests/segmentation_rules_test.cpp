// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Rules about the size of FPDUs and their places in TCP segments (RFC 5044 sections 4 and 5).
#include <boost/test/unit_test.hpp>

#include "dissectors/analyzer/framing_rules.hpp"
#include "dissectors/analyzer/tests/traffic.hpp"

namespace dissectors::analyzer::tests {

BOOST_AUTO_TEST_SUITE(segmentation_rules)

BOOST_AUTO_TEST_CASE(sizes_against_the_announced_mss) {
  Pair pair(false, false);
  pair.client.send(wire::mulpdu(1460, false) - 18);
  Link fits;
  pair.start(fits, 1460);
  fits.carry_all(to_server, pair.client.octets, pair.client.origin, 1460);
  BOOST_TEST(fits.record.findings.empty(), fits.record.texts);
  pair.client.send(wire::mulpdu(1460, false) - 17);
  Link link;
  pair.start(link, 1460);
  link.carry_all(to_server, pair.client.octets, pair.client.origin, 1460);
  BOOST_TEST(link.record.broken("mpa.segmentation.mulpdu-formula-without-markers"));
  BOOST_TEST(link.record.broken("mpa.segmentation.records-within-mulpdu"));
}

BOOST_AUTO_TEST_CASE(ulpdus_above_64768) {
  for (const std::size_t ulpdu : {wire::max_mulpdu, wire::max_mulpdu + 1}) {
    Pair pair(false, false);
    pair.client.send(ulpdu - 18);
    Link link;
    pair.start(link);
    link.carry_all(to_server, pair.client.octets, pair.client.origin);
    BOOST_TEST(link.record.broken("mpa.segmentation.ulpdu-never-over-64768") ==
               (ulpdu > wire::max_mulpdu));
    BOOST_TEST(link.record.ulpdus(to_server).size() == 1U);
  }
}

BOOST_AUTO_TEST_CASE(alignment_is_advice_where_segments_are_real) {
  Pair pair(false, false);
  for (int count = 0; count < 30; ++count) pair.client.send(500);
  const auto run = [&](std::size_t size, std::uint16_t mss) {
    Link link;
    pair.start(link, mss);
    link.carry_all(to_server, pair.client.octets, pair.client.origin, size);
    return link.record;
  };
  const Record torn = run(1448, 1460);
  BOOST_TEST(torn.broken("mpa.segmentation.segments-begin-with-fpdu"));
  BOOST_TEST(std::ranges::count(torn.texts, '\n') == 1, torn.texts);
  BOOST_TEST(run(524, 1460).findings.empty());
  BOOST_TEST(run(1048, 1460).findings.empty());
  BOOST_TEST(run(1448, 0).findings.empty());
  // Longer than the MSS: merged by the NIC, so alignment is not judged.
  const Record merged = run(4000, 1460);
  BOOST_TEST(merged.findings.empty(), merged.texts);
  BOOST_TEST(merged.noted(NoteKind::not_judged) == 1U);
}

// An FPDU cut where the window ends, as TCP does; the sender begins the next ones with a segment.
struct WindowTraffic {
  std::uint16_t window = 4000;  ///< as in the segments
  std::optional<std::uint8_t> client_scale = {}, server_scale = {};
  std::uint32_t wrong_by = 0;

  [[nodiscard]] Record run() const {
    Pair pair(false, false);
    std::vector<std::size_t> begins;
    for (int count = 0; count < 30; ++count) begins.push_back(pair.client.send(1000));
    Link link;
    for (const Direction from : {to_server, to_client}) {
      capture::Segment syn = link.blank(from);
      --syn.sequence;
      syn.syn = true;
      syn.mss = 1460;
      syn.window_scale = from == to_server ? client_scale : server_scale;
      link.pass(syn);
    }
    link.carry(to_server, pair.client.octets, 0, pair.client.origin);
    link.carry(to_client, pair.server.octets, 0, pair.server.origin);
    const int scale = client_scale && server_scale ? *server_scale : 0;
    std::size_t edge = 0;
    const auto acknowledge = [&](std::size_t octets) {
      link.acknowledge(to_client, octets, window);
      edge = octets + (std::size_t{window} << scale) - wrong_by;
    };
    acknowledge(pair.client.origin);
    for (std::size_t at = 0; at < begins.size(); ++at) {
      const std::size_t begin = begins[at];
      const std::size_t end = at + 1 < begins.size() ? begins[at + 1] : pair.client.octets.size();
      // Where nothing fits, TCP asks with one octet whether the window is open again.
      const std::size_t first = std::max<std::size_t>(std::min(edge, end) - begin, 1);
      link.carry(to_server, pair.client.octets, begin, first);
      if (begin + first == end) continue;
      acknowledge(begin + first);
      link.carry(to_server, pair.client.octets, begin + first, end - begin - first);
    }
    return link.record;
  }
};

BOOST_AUTO_TEST_CASE(a_full_window_cuts_and_nobody_is_to_blame) {
  const auto blamed = [](const WindowTraffic& traffic) {
    return traffic.run().broken("mpa.segmentation.segments-begin-with-fpdu");
  };
  BOOST_TEST(!blamed({}));
  BOOST_TEST(blamed({.wrong_by = 1}));
  BOOST_TEST(!blamed({.window = 500, .client_scale = 7, .server_scale = 3}));
  BOOST_TEST(blamed({.window = 500, .client_scale = 7, .server_scale = 3, .wrong_by = 8}));
  // Both must offer scaling.
  BOOST_TEST(!blamed({.server_scale = 3}));
  BOOST_TEST(!blamed({.client_scale = 7}));
  // The first windows end between two FPDUs.
  BOOST_TEST(!blamed({.window = 4096}));
}

BOOST_AUTO_TEST_CASE(half_full_segments_of_a_long_message) {
  const auto run = [](std::size_t payload, bool last) {
    Pair pair(false, false);
    pair.client.send(payload, last);
    Link link;
    pair.start(link, 1460);
    link.carry_all(to_server, pair.client.octets, pair.client.origin, 1460);
    return link.record.broken("mpa.segmentation.ulpdus-as-large-as-possible");
  };
  BOOST_TEST(run(700, false));
  BOOST_TEST(!run(700, true));
  BOOST_TEST(!run(1400, false));
}

BOOST_AUTO_TEST_CASE(half_of_the_widest_window_is_a_full_segment) {
  const auto blamed = [](std::uint16_t window) {
    Pair pair(false, false);
    pair.client.send(20'000, false);
    Link link;
    pair.start(link, 65'495);
    link.acknowledge(to_client, pair.client.origin, window);
    link.carry_all(to_server, pair.client.octets, pair.client.origin, 65'495);
    return link.record.broken("mpa.segmentation.ulpdus-as-large-as-possible");
  };
  BOOST_TEST(blamed(65'535));
  BOOST_TEST(!blamed(44'000));
}

BOOST_AUTO_TEST_CASE(a_message_chopped_to_fill_a_segment) {
  Pair pair(false, false);
  const std::size_t begin = pair.client.send(1300);
  pair.client.send(80, false);
  Link link;
  pair.start(link, 1460);
  link.carry(to_server, pair.client.octets, begin, pair.client.octets.size() - begin);
  BOOST_TEST(link.record.broken("mpa.segmentation.packed-remainder-keeps-floor"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace dissectors::analyzer::tests
