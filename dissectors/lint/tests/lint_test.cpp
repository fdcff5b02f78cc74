// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The collector, the wording, and the files that rnic-lint writes.
#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <filesystem>

#include "dissectors/capture/capture_reader.hpp"
#include "dissectors/lint/collector.hpp"
#include "dissectors/lint/plain_text.hpp"
#include "dissectors/lint/split_files.hpp"
#include "dissectors/lint/spool.hpp"
#include "dissectors/lint/tests/traffic.hpp"
#include "dissectors/lint/violations_file.hpp"
#include "dissectors/lint/wording.hpp"

using namespace dissectors;
using namespace dissectors::lint;
using analyzer::Direction;

namespace {

struct Scratch {
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "lint_test.XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Scratch() { std::filesystem::remove_all(path); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::filesystem::path path;
};

analyzer::Connection connection(std::uint64_t number, std::uint16_t port) {
  const auto flow = lint::tests::flow(port);
  return {.number = number,
          .first = flow.from,
          .second = flow.to,
          .role_of_first = analyzer::Role::initiator};
}

Record violation(std::uint32_t frame, std::uint64_t number) {
  return {.frame = frame,
          .time = 1,
          .connection = connection(number, 1000),
          .what = Violation{.finding = {.rule = "ddp.terminate.tagged-base-or-bounds",
                                        .place = {.first_frame = frame, .last_frame = frame},
                                        .actual = "to=\x1b[2J",
                                        .admissible = "inside"},
                            .octets = "00"}};
}

std::size_t frames_in(const std::filesystem::path& file) {
  auto reader = capture::CaptureReader::open(file.string());
  BOOST_REQUIRE(reader.has_value());
  while (reader->next()) {
  }
  BOOST_TEST(!reader->tear().has_value());
  return reader->frames();
}

std::string octets_of(const std::filesystem::path& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  BOOST_REQUIRE(file != nullptr);
  std::string text(std::filesystem::file_size(path), '\0');
  BOOST_TEST(std::fread(text.data(), 1, text.size(), file) == text.size());
  std::fclose(file);
  return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(nothing_but_printable_ascii_reaches_a_terminal) {
  BOOST_TEST(plain("a b~") == "a b~");
  BOOST_TEST(plain("\x1b[31m\r\n\x7f\x9b\xe2\x80\xae") ==
             "\\x1b[31m\\x0d\\x0a\\x7f\\x9b\\xe2\\x80\\xae");
  BOOST_TEST(plain(std::string_view("\0", 1)) == "\\x00");
}

BOOST_AUTO_TEST_CASE(rules_and_frames_in_words) {
  BOOST_TEST(describe_rule("ddp.terminate.tagged-base-or-bounds").find("RFC 5041 section ") == 0U);
  BOOST_TEST(describe_rule("ddp.terminate.tagged-base-or-bounds").find(", MUST") !=
             std::string::npos);
  const Record record = violation(9, 1);
  BOOST_TEST(describe_frames(record, {.first_frame = 7, .last_frame = 9}) == "frames 7 to 9");
  BOOST_TEST(describe_frames(record, {.first_frame = 9, .last_frame = 9}) == "frame 9");
  BOOST_TEST(describe_frames(record, {}) == "frame 9");  // if no place is given
}

BOOST_AUTO_TEST_CASE(options_in_words) {
  BOOST_TEST(describe_options({}) ==
             "revision unknown (startup not seen), CRC unknown, Markers unknown");
  analyzer::Negotiated all{.revision = 2,
                           .crc = true,
                           .markers_from_first = false,
                           .markers_from_second = true,
                           .enhanced = true,
                           .peer_to_peer = true,
                           .request = rnic::wire::EnhancedWords::Values{.ird = 16, .ord = 8},
                           .reply = {}};
  BOOST_TEST(describe_options(all) ==
             "revision 2, CRC, Markers of the second end, peer-to-peer; request IRD 16 ORD 8");
}

BOOST_AUTO_TEST_CASE(a_collector_sums_up_and_filters) {
  Collector collector({.rules = {"ddp.*"}, .messages = false});
  const auto it = connection(4, 1000);
  collector.at(3, 30);
  collector.opened(it);
  const auto payload = lint::tests::text("abcd");
  rnic::wire::Segment segment;
  segment.untagged_header.rdmap = rnic::wire::RdmapControl::make(rnic::wire::Opcode::send);
  segment.payload = payload;
  analyzer::FpduSeen fpdu;
  fpdu.place = {.direction = Direction::from_second, .offset = 20, .length = 28};
  fpdu.ulpdu = payload;
  fpdu.segment = segment;
  collector.at(5, 50);
  collector.fpdu(it, fpdu);
  collector.message(it, {.fpdu = &fpdu, .last_segment = true});
  const auto found = [&](rules::RuleId rule, std::uint64_t offset) {
    collector.finding(it, {.rule = rule,
                           .place = {.direction = Direction::from_second, .offset = offset},
                           .actual = {},
                           .admissible = {}});
  };
  found("ddp.terminate.tagged-base-or-bounds", 20);
  found("ddp.terminate.tagged-base-or-bounds", 47);
  found("ddp.terminate.tagged-base-or-bounds", 48);
  found("mpa.startup.reserved-bits-ignored", 20);
  collector.ended(it, Direction::from_second, analyzer::Ending::reset, {});
  collector.closed(it);
  const auto records = collector.take();
  BOOST_REQUIRE(records.size() == 5U);  // opened, three findings, the summary
  BOOST_TEST(std::get<Violation>(records[1].what).octets == "61 62 63 64");
  BOOST_TEST(std::get<Violation>(records[2].what).octets == "61 62 63 64");
  BOOST_TEST(std::get<Violation>(records[3].what).octets.empty());  // after that FPDU
  const auto& summary = std::get<ConnectionSummary>(records[4].what);
  BOOST_TEST(summary.iwarp);
  BOOST_TEST((summary.first_frame == 3 && summary.last_frame == 5));
  BOOST_TEST(summary.violation_count() == 3U);
  BOOST_TEST(summary.from_second.payload == 4U);
  BOOST_TEST(describe_operations(summary.from_second) == "1 Send");
  BOOST_TEST(describe_operations(summary.from_first) == "no whole message");
  BOOST_TEST((summary.from_second.ending == analyzer::Ending::reset));
  BOOST_TEST(collector.take().empty());
}

BOOST_AUTO_TEST_CASE(a_violation_told_before_its_fpdu_gets_the_octets_too) {
  Collector collector({.rules = {}, .messages = false});
  const auto it = connection(1, 1000);
  collector.at(2, 20);
  collector.opened(it);
  collector.finding(it, {.rule = "mpa.startup.reserved-bits-ignored",
                         .place = {.offset = 20, .length = 28},
                         .actual = {},
                         .admissible = {}});
  const auto ulpdu = lint::tests::text("xyz");
  analyzer::FpduSeen fpdu;
  fpdu.place = {.offset = 20, .length = 28};
  fpdu.ulpdu = ulpdu;
  collector.fpdu(it, fpdu);
  const auto records = collector.take();
  BOOST_REQUIRE(records.size() == 2U);
  BOOST_TEST(std::get<Violation>(records[1].what).octets == "78 79 7a");
}

BOOST_AUTO_TEST_CASE(violations_become_comments_of_their_frames) {
  const Scratch scratch;
  const auto path = scratch.path / "out.pcapng";
  auto file = ViolationsFile::create(path.string());
  BOOST_REQUIRE(file.has_value());
  file->learn(violation(2, 1));
  for (std::size_t i = 0; i < ViolationsFile::comments_of_frame + 5; ++i)
    file->learn(violation(3, 1));
  capture::Synthesizer maker;
  for (std::uint64_t i = 1; i <= 3; ++i)
    maker.data(lint::tests::flow(1000), i, lint::tests::text("payload"));
  file->begin(capture::LinkType::ethernet, "a\x1b.pcap");
  for (std::uint32_t i = 0; i < 3; ++i) file->frame(i + 1, lint::tests::view(maker.frames()[i]));
  BOOST_REQUIRE(file->finish().has_value());
  BOOST_TEST(frames_in(path) == 3U);
  const std::string text = octets_of(path);
  BOOST_TEST(text.find('\x1b') == std::string::npos);
  BOOST_TEST(text.find("came to=\\x1b[2J; admissible: inside") != std::string::npos);
  BOOST_TEST(text.find("and 5 more violations") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_pcap_for_each_iwarp_connection) {
  const Scratch scratch;
  const auto folder = scratch.path / "a" / "b";
  auto split = SplitFiles::create(folder.string());
  BOOST_REQUIRE(split.has_value());
  // Two lives of the same ports, and 300 others: more than are open at once. One is no iWARP.
  capture::Synthesizer maker;
  std::uint32_t frame = 0;
  std::uint64_t number = 0;
  const auto begin = [&](std::uint16_t port) {
    split->learn({.frame = frame + 1, .connection = connection(++number, port), .what = Opened{}});
    split->learn(
        {.connection = connection(number, port), .what = ConnectionSummary{.iwarp = port != 2000}});
  };
  const auto speak = [&](std::uint16_t port) {
    maker.data(lint::tests::flow(port), ++frame, lint::tests::text("x"));
  };
  begin(1000), speak(1000), speak(1000);
  begin(2000), speak(2000);
  begin(1000), speak(1000);
  for (int turn = 0; turn < 2; ++turn)
    for (std::uint16_t port = 3000; port < 3300; ++port) {
      if (turn == 0) begin(port);
      speak(port);
    }
  split->begin(capture::LinkType::ethernet);
  for (std::uint32_t i = 0; i < frame; ++i)
    split->frame(i + 1, lint::tests::view(maker.frames()[i]));
  BOOST_REQUIRE(split->finish().has_value());
  BOOST_TEST(split->files() == 302U);
  BOOST_TEST(frames_in(folder / "connection-000001.pcap") == 2U);
  BOOST_TEST(!std::filesystem::exists(folder / "connection-000002.pcap"));
  BOOST_TEST(frames_in(folder / "connection-000003.pcap") == 1U);
  BOOST_TEST(frames_in(folder / "connection-000303.pcap") == 2U);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_written_is_said) {
  const auto file = ViolationsFile::create("/nowhere/out.pcapng");
  BOOST_REQUIRE(!file.has_value());
  BOOST_TEST(file.error() == "cannot write /nowhere/out.pcapng: No such file or directory");
  BOOST_TEST(!SplitFiles::create("/proc/nowhere").has_value());
  BOOST_TEST(!Spool::create("/nowhere", capture::LinkType::ethernet).has_value());
  auto full = OutputFile::open("/dev/full");
  BOOST_REQUIRE(full.has_value());
  full->write(lint::tests::text("x"));
  const auto closed = full->close();
  BOOST_REQUIRE(!closed.has_value());
  BOOST_TEST(closed.error() == "cannot write /dev/full: No space left on device");
}

BOOST_AUTO_TEST_CASE(a_spool_gives_back_what_it_took) {
  const Scratch scratch;
  auto spool = Spool::create(scratch.path.string(), capture::LinkType::linux_sll);
  BOOST_REQUIRE(spool.has_value());
  BOOST_TEST(std::filesystem::is_empty(scratch.path));  // it has no name
  capture::Synthesizer maker;
  for (std::uint64_t i = 1; i <= 3; ++i)
    maker.data(lint::tests::flow(1000), i, lint::tests::text("payload"));
  for (const auto& frame : maker.frames()) spool->add(lint::tests::view(frame));
  auto reader = spool->read();
  BOOST_REQUIRE(reader.has_value());
  BOOST_TEST((reader->link() == capture::LinkType::linux_sll));
  BOOST_TEST(reader->next()->time == 1U);
  BOOST_TEST((reader->next() && reader->next() && !reader->next()));
}
