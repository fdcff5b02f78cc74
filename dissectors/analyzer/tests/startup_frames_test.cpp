// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Rules of the form of startup frames (RFC 5044 section 7.1).
#include <boost/test/unit_test.hpp>

#include <functional>

#include "dissectors/analyzer/framing_rules.hpp"
#include "dissectors/analyzer/tests/traffic.hpp"

namespace dissectors::analyzer::tests {

BOOST_AUTO_TEST_SUITE(startup_frames)

BOOST_AUTO_TEST_CASE(startup_frames) {
  const auto run = [](const std::function<void(Octets&)>& spoil) {
    Pair pair(false, false);
    pair.client.send(10);
    spoil(pair.client.octets);
    Link link;
    link.open();
    link.carry(to_server, pair.client.octets, 0, pair.client.origin);
    link.carry_all(to_client, pair.server.octets);
    link.analyzer.finish();
    return link.record;
  };
  BOOST_TEST(run([](Octets&) {}).findings.empty());
  BOOST_TEST(
      run([](Octets& octets) { octets[15] ^= std::byte{0x20}; }).broken("mpa.startup.request-key"));
  BOOST_TEST(run([](Octets& octets) {
               octets[19] = std::byte{4};
             }).broken("mpa.private-data.length-field-matches"));
  BOOST_TEST(run([](Octets& octets) {
               std::swap(octets[18], octets[19]);
             }).broken("mpa.startup.frame-layout"));
}

BOOST_AUTO_TEST_CASE(private_data_above_the_limit_in_several_segments) {
  struct CollectedRules final : Sink {
    std::vector<std::string> rules;
    void finding(const Connection&, const Finding& it) override { rules.emplace_back(it.rule.id); }
  };
  for (const std::size_t first : {20, 21, 300, 531, 532, 619, 620}) {
    Sender client;
    client.startup(wire::MpaFrameKind::request, flag_c, 600);
    CollectedRules collected;
    Link link;
    link.analyzer = Analyzer(Options{}, collected);
    link.open();
    link.carry(to_server, client.octets, 0, first);
    link.carry_all(to_server, client.octets, first, 100);
    link.close(to_client, 0);
    link.analyzer.finish();
    BOOST_TEST_CONTEXT(first) {
      BOOST_TEST(
          (collected.rules == std::vector<std::string>{"mpa.private-data.at-most-512-octets"}));
    }
  }
}

BOOST_AUTO_TEST_CASE(octets_behind_a_request) {
  for (const bool checksum : {false, true}) {
    Pair pair(false, false);
    const Octets frame = pair.client.octets;
    const auto crc = wire::crc32c_trailer(frame);
    const Octets extra = checksum ? Octets(crc.begin(), crc.end()) : Octets(4, std::byte{0x77});
    pair.client.octets.insert(pair.client.octets.end(), extra.begin(), extra.end());
    pair.client.origin += 4;
    pair.client.send(10);
    Link link;
    link.open();
    link.carry(to_server, pair.client.octets, 0, pair.client.origin);
    link.carry_all(to_client, pair.server.octets);
    link.carry_all(to_server, pair.client.octets, pair.client.origin);
    BOOST_TEST(link.record.broken(checksum ? "mpa.startup.frames-without-crc-or-markers"
                                           : "mpa.private-data.length-field-matches"));
    BOOST_CHECK(link.record.ulpdus(to_server) == pair.client.ulpdus);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace dissectors::analyzer::tests
