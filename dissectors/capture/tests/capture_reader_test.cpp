// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Capture files of both formats and byte orders, packed, torn and hostile; and that what we write
// is read again.
#include <boost/test/unit_test.hpp>

#include <lzma.h>
#include <pcap/pcap.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <span>

#include "dissectors/capture/capture_reader.hpp"
#include "dissectors/capture/pcap_file.hpp"
#include "dissectors/capture/pcapng_writer.hpp"

using namespace dissectors::capture;

namespace {

using File = std::vector<std::byte>;

File octets(std::string_view hex) {
  File list;
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

struct Result {
  std::string error;
  LinkType link = LinkType::ethernet;
  std::vector<Frame> frames;
  std::optional<Tear> tear;
};

Result read(const File& file) {
  auto reader = CaptureReader::read_from(unpacked(octets_in_memory(file)), "the file");
  Result result;
  if (!reader) {
    result.error = reader.error();
    return result;
  }
  result.link = reader->link();
  while (const auto frame = reader->next())
    result.frames.push_back({.time = frame->time,
                             .original_length = frame->original_length,
                             .octets = {frame->octets.begin(), frame->octets.end()}});
  result.tear = reader->tear();
  BOOST_TEST(reader->frames() == result.frames.size());
  BOOST_TEST(!reader->next().has_value());  // the end stays the end
  return result;
}

File first(const File& file, std::size_t size) {
  return {file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)};
}

File gzip(const File& plain) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  File packed(plain.size() + 1024);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  BOOST_REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  deflateEnd(&stream);
  return first(packed, stream.total_out);
}

File zstd(const File& plain) {
  File packed(ZSTD_compressBound(plain.size()));
  const std::size_t size =
      ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 3);
  BOOST_REQUIRE(size <= packed.size());
  return first(packed, size);
}

File xz(const File& plain) {
  File packed(lzma_stream_buffer_bound(plain.size()));
  std::size_t size = 0;
  BOOST_REQUIRE(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr,
                                        reinterpret_cast<const std::uint8_t*>(plain.data()),
                                        plain.size(),
                                        reinterpret_cast<std::uint8_t*>(packed.data()), &size,
                                        packed.size()) == LZMA_OK);
  return first(packed, size);
}

File operator+(File left, const File& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

// Two frames, of 2 and 3 octets; records of 18 and 19 octets after the 24 of the header.
const std::vector<Frame> two{
    {.time = 1'000'000'007, .original_length = 5, .octets = octets("aabb")},
    {.time = 2'000'000'000, .original_length = 3, .octets = octets("ccddee")}};
const File plain = pcap_file(LinkType::ethernet, two);

void expect_two(const Result& result) {
  BOOST_TEST(result.error.empty());
  BOOST_REQUIRE(result.frames.size() == 2U);
  BOOST_TEST(!result.tear.has_value());
  for (std::size_t i = 0; i < 2; ++i) {
    BOOST_TEST(result.frames[i].time == two[i].time);
    BOOST_TEST(result.frames[i].original_length == two[i].original_length);
    BOOST_TEST((result.frames[i].octets == two[i].octets));
  }
}

const std::string section = "0a0d0d0a 1c000000 4d3c2b1a 0100 0000 ffffffffffffffff 1c000000";
const std::string ethernet_interface = "01000000 14000000 0100 0000 00000000 14000000";

}  // namespace

BOOST_AUTO_TEST_SUITE(capture_reader)

BOOST_AUTO_TEST_CASE(a_pcap_as_we_write_it) { expect_two(read(plain)); }

BOOST_AUTO_TEST_CASE(both_byte_orders_and_both_units_of_time) {
  const auto micro =
      read(octets("a1b2c3d4 0002 0004 00000000 00000000 00040000 00000065"
                  "00000001 00000007 00000001 00000009 45"));
  BOOST_REQUIRE(micro.frames.size() == 1U);
  BOOST_TEST(micro.frames[0].time == 1'000'007'000U);
  BOOST_TEST(micro.frames[0].original_length == 9U);
  BOOST_TEST((micro.link == LinkType::raw_ip));
  const auto nano =
      read(octets("a1b23c4d 0002 0004 00000000 00000000 00040000 00000001"
                  "00000001 00000007 00000001 00000001 45"));
  BOOST_REQUIRE(nano.frames.size() == 1U);
  BOOST_TEST(nano.frames[0].time == 1'000'000'007U);
}

// Ordinary pcap files are read without libpcap; the result must be that of libpcap.
BOOST_AUTO_TEST_CASE(hostile_records_are_read_as_libpcap_reads_them) {
  const std::string header = "d4c3b2a1 0200 0400 00000000 00000000 04000000 01000000";
  for (const char* record :
       {"01000000 02000000 02000000 02000000 aabb",          // as it should be
        "01000000 02000000 06000000 06000000 aabbccddeeff",  // beyond the snapshot length
        "ffffffff 02000000 02000000 02000000 aabb",          // before 1970
        "01000000 ffffffff 02000000 ffffffff aabb",          // a negative fraction
        "01000000 00000000 00000000 00000000",               // nothing captured
        "01000000 00000000 01000400 01000400 aabb",          // 262145 octets
        "01000000 00000000 04000000 04000000 aabb",          // torn
        "01000000 00000000 0400"}) {
    File file = octets(header + record + "03000000 04000000 01000000 01000000 99");
    if (std::string_view(record).ends_with("0400")) file.resize(24 + 10);
    std::FILE* stream = ::fmemopen(file.data(), file.size(), "rb");
    std::array<char, PCAP_ERRBUF_SIZE> error{};
    pcap_t* theirs =
        pcap_fopen_offline_with_tstamp_precision(stream, PCAP_TSTAMP_PRECISION_NANO, error.data());
    BOOST_REQUIRE(theirs != nullptr);
    const Result ours = read(file);
    pcap_pkthdr* head = nullptr;
    const unsigned char* data = nullptr;
    std::size_t count = 0;
    int status = 0;
    for (; (status = pcap_next_ex(theirs, &head, &data)) == 1; ++count) {
      BOOST_REQUIRE_MESSAGE(count < ours.frames.size(), record);
      const auto time = static_cast<std::uint64_t>(head->ts.tv_sec) * 1'000'000'000 +
                        static_cast<std::uint64_t>(head->ts.tv_usec);
      BOOST_TEST(ours.frames[count].time == time, record);
      BOOST_TEST(ours.frames[count].original_length == head->len, record);
      const auto octets_of_theirs = std::as_bytes(std::span(data, head->caplen));
      BOOST_TEST(std::ranges::equal(ours.frames[count].octets, octets_of_theirs), record);
    }
    BOOST_TEST(ours.frames.size() == count, record);
    BOOST_TEST(ours.tear.has_value() == (status != PCAP_ERROR_BREAK), record);
    pcap_close(theirs);
  }
}

BOOST_AUTO_TEST_CASE(every_link_type_that_frames_are_read_from) {
  for (const LinkType link :
       {LinkType::null_loopback, LinkType::ethernet, LinkType::raw_ip, LinkType::loop,
        LinkType::linux_sll, LinkType::raw_ipv4, LinkType::raw_ipv6, LinkType::linux_sll2}) {
    const auto result = read(pcap_file(link, two));
    BOOST_TEST((result.link == link));
    BOOST_TEST(result.frames.size() == 2U);
  }
  const auto wireless = read(pcap_file(static_cast<LinkType>(105), two));
  BOOST_TEST(wireless.error.find("link type IEEE802_11 is not supported") != std::string::npos,
             wireless.error);
}

BOOST_AUTO_TEST_CASE(a_pcapng_with_two_interfaces_and_big_endian_numbers) {
  const auto result = read(
      octets("0a0d0d0a 0000001c 1a2b3c4d 0001 0000 ffffffffffffffff 0000001c"
             "00000001 00000014 0001 0000 00000000 00000014"  // microseconds
             "00000001 00000020 0001 0000 00000000 0009 0001 09000000 0000 0000 00000020"
             "00000006 00000024 00000001 00000000 3b9aca07 00000001 00000001 aa000000 00000024"
             "00000006 00000024 00000000 00000000 000f4240 00000001 00000001 bb000000 00000024"));
  BOOST_TEST(result.error.empty(), result.error);
  BOOST_TEST(!result.tear.has_value());
  BOOST_REQUIRE(result.frames.size() == 2U);
  BOOST_TEST(result.frames[0].time == 1'000'000'007U);
  BOOST_TEST(result.frames[1].time == 1'000'000'000U);
}

BOOST_AUTO_TEST_CASE(several_link_types_in_one_pcapng_are_one_clear_error) {
  const auto result =
      read(octets(section + ethernet_interface + "01000000 14000000 6500 0000 00000000 14000000"));
  BOOST_REQUIRE(result.tear.has_value());
  BOOST_TEST(result.tear->unsupported);
  BOOST_TEST(result.tear->reason.find("one interface at a time") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(sections_of_both_byte_orders_are_one_clear_error) {
  const auto result =
      read(octets(section + ethernet_interface +
                  "0a0d0d0a 0000001c 1a2b3c4d 0001 0000 ffffffffffffffff 0000001c"));
  BOOST_REQUIRE(result.tear.has_value());
  BOOST_TEST(result.tear->unsupported);
  BOOST_TEST(result.tear->reason.find("tshark -r FILE -w WHOLE.pcapng") != std::string::npos,
             result.tear->reason);
}

BOOST_AUTO_TEST_CASE(packed_files) {
  expect_two(read(gzip(plain)));
  expect_two(read(zstd(plain)));
  expect_two(read(xz(plain)));
  // Several streams one after the other, cut anywhere; gzip files may be padded with zeros.
  expect_two(read(gzip(first(plain, 30)) + gzip(File(plain.begin() + 30, plain.end())) + File(5)));
  expect_two(read(zstd(first(plain, 30)) + zstd(File(plain.begin() + 30, plain.end()))));
  expect_two(read(xz(first(plain, 30)) + xz(File(plain.begin() + 30, plain.end())) + File(4)));
}

BOOST_AUTO_TEST_CASE(much_comes_out_of_little_without_being_held) {
  std::vector<Frame> frames(200, {.time = 1, .original_length = 65536, .octets = File(65536)});
  const auto large = pcap_file(LinkType::ethernet, frames);
  for (const File& packed : {gzip(large), zstd(large), xz(large)}) {
    BOOST_TEST(packed.size() < 100'000U);
    auto reader = CaptureReader::read_from(unpacked(octets_in_memory(packed)), "it");
    BOOST_REQUIRE(reader.has_value());
    std::size_t count = 0;
    while (reader->next()) ++count;
    BOOST_TEST(count == 200U);
    BOOST_TEST(!reader->tear().has_value());
  }
}

BOOST_AUTO_TEST_CASE(a_torn_pcap_is_read_up_to_the_tear_wherever_it_is) {
  for (std::size_t size = 0; size < plain.size(); ++size) {
    const auto result = read(first(plain, size));
    BOOST_TEST_CONTEXT("cut at " << size) {
      BOOST_TEST(result.error.empty() == (size >= 24));
      if (size < 24) continue;
      const std::size_t whole = size >= 42 ? 1 : 0;
      BOOST_TEST(result.frames.size() == whole);
      BOOST_TEST(result.tear.has_value() == (size != 24 && size != 42));
      if (!result.tear) continue;
      BOOST_TEST(result.tear->offset == (whole == 1 ? 42U : 24U));
      BOOST_TEST(result.tear->frames == whole);
      BOOST_TEST(!result.tear->reason.empty());
      BOOST_TEST(!result.tear->unsupported);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_torn_pcapng_is_read_up_to_the_tear_wherever_it_is) {
  auto file = pcapng_header(LinkType::ethernet, "test", "");
  const std::size_t begin = file.size();
  const std::vector<std::string> comments{"one"};
  append_pcapng_frame(file, {.time = 7, .original_length = 2, .octets = two[0].octets}, comments);
  const std::size_t second = file.size();
  append_pcapng_frame(file, {.time = 8, .original_length = 3, .octets = two[1].octets}, {});
  for (std::size_t size = 0; size < file.size(); ++size) {
    const auto result = read(first(file, size));
    BOOST_TEST_CONTEXT("cut at " << size) {
      BOOST_TEST(result.error.empty() == (size >= begin));
      if (size < begin) continue;
      BOOST_TEST(result.frames.size() == (size >= second ? 1U : 0U));
      BOOST_TEST(result.tear.has_value() == (size != begin && size != second));
      if (result.tear) BOOST_TEST(result.tear->offset == (size >= second ? second : begin));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_torn_packed_file_is_told_from_one_that_ends) {
  for (const File& packed : {gzip(plain), zstd(plain), xz(plain)}) {
    for (std::size_t size = 4; size < packed.size(); ++size) {
      const auto result = read(first(packed, size));
      BOOST_TEST_CONTEXT("cut at " << size) {
        BOOST_TEST((!result.error.empty() || result.tear.has_value()));
        const std::string& reason = result.tear ? result.tear->reason : result.error;
        BOOST_TEST(reason.find("ends too early") != std::string::npos, reason);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(damage_in_a_packed_file_is_said) {
  auto packed = gzip(plain);
  packed[packed.size() - 6] ^= std::byte{1};  // in the check value
  const auto result = read(packed);
  BOOST_REQUIRE(result.tear.has_value());
  BOOST_TEST(result.tear->reason.find("gzip stream is damaged") != std::string::npos);
  const auto tail = read(zstd(plain) + octets("00112233445566778899"));
  BOOST_REQUIRE(tail.tear.has_value());
  BOOST_TEST(tail.tear->reason.find("zstd stream is damaged") != std::string::npos);
  BOOST_TEST(tail.frames.size() == 2U);
  const auto strange = read(xz(plain) + octets("00112233445566778899"));
  BOOST_REQUIRE(strange.tear.has_value());
  BOOST_TEST(strange.tear->reason.find("xz stream is damaged") != std::string::npos);
  BOOST_TEST(strange.frames.size() == 2U);
}

BOOST_AUTO_TEST_CASE(absurd_lengths_end_the_reading) {
  for (const char* length : {"ffffffff", "ffffff7f", "01000f10"}) {
    auto file = plain;
    const auto absurd = octets(length);
    std::ranges::copy(absurd, file.begin() + 42 + 8);
    const auto result = read(file);
    BOOST_TEST(result.frames.size() == 1U);
    BOOST_REQUIRE(result.tear.has_value());
    BOOST_TEST(result.tear->offset == 42U);
  }
}

BOOST_AUTO_TEST_CASE(hostile_pcapng_blocks) {
  const auto stops = [](const std::string& block) {
    const auto result = read(octets(section + ethernet_interface + block));
    return result.error.empty() && result.frames.empty() && result.tear.has_value();
  };
  BOOST_TEST(stops("06000000 00000000"));  // length 0
  BOOST_TEST(stops("06000000 0b000000 000000"));
  BOOST_TEST(stops("06000000 ffffffff 00000000"));
  BOOST_TEST(stops("06000000 f0ffff7f 00000000 00000000 00000000"));
  // The frame is longer than its block; the block names an interface that is not there.
  BOOST_TEST(stops("06000000 20000000 00000000 00000000 00000000 ff000000 ff000000 20000000"));
  BOOST_TEST(stops("06000000 20000000 07000000 00000000 00000000 00000000 00000000 20000000"));
  // The two lengths of a block differ.
  BOOST_TEST(stops("06000000 20000000 00000000 00000000 00000000 00000000 00000000 24000000"));
}

BOOST_AUTO_TEST_CASE(frames_of_zero_octets_are_frames) {
  const std::vector<Frame> empty{{.time = 1, .original_length = 0, .octets = {}}};
  BOOST_TEST(read(pcap_file(LinkType::ethernet, empty)).frames.size() == 1U);
  auto file = pcapng_header(LinkType::ethernet, "", "");
  append_pcapng_frame(file, {.time = 1, .original_length = 0, .octets = {}}, {});
  BOOST_TEST(read(file).frames.size() == 1U);
}

BOOST_AUTO_TEST_CASE(what_is_no_capture_is_refused_with_the_reason) {
  BOOST_TEST(read({}).error == "cannot read the file: it is empty");
  const auto text = read(octets("68656c6c6f20776f726c64"));
  BOOST_TEST(text.error.find("not a pcap or pcapng file") != std::string::npos, text.error);
  const auto missing = CaptureReader::open("/nowhere/it.pcap");
  BOOST_REQUIRE(!missing.has_value());
  BOOST_TEST(missing.error() == "cannot read /nowhere/it.pcap: No such file or directory");
  const auto folder = CaptureReader::open("/");
  BOOST_REQUIRE(!folder.has_value());
  BOOST_TEST(folder.error() == "cannot read /: it is a folder");
}

BOOST_AUTO_TEST_CASE(a_file_on_disk) {
  std::string name = (std::filesystem::temp_directory_path() / "reader_test.XXXXXX").string();
  ::close(::mkstemp(name.data()));
  std::ofstream(name, std::ios::binary)
      .write(reinterpret_cast<const char*>(plain.data()),
             static_cast<std::streamsize>(plain.size()));
  auto reader = CaptureReader::open(name);
  std::filesystem::remove(name);
  BOOST_REQUIRE(reader.has_value());
  BOOST_TEST((reader->next() && reader->next() && !reader->next()));
}

BOOST_AUTO_TEST_CASE(a_pcapng_octet_by_octet) {
  const auto header = pcapng_header(LinkType::raw_ip, "rnic", "why");
  BOOST_TEST((header == octets("0a0d0d0a 30000000 4d3c2b1a 0100 0000 ffffffffffffffff"
                               "0100 0300 77687900 0400 0400 726e6963 00000000 30000000"
                               "01000000 20000000 6500 0000 00000000"
                               "0900 0100 09000000 00000000 20000000")));
  File frame;
  const std::vector<std::string> comments{"ab", "c"};
  append_pcapng_frame(
      frame, {.time = 0x0000000100000002, .original_length = 9, .octets = two[1].octets}, comments);
  BOOST_TEST((frame == octets("06000000 38000000 00000000 01000000 02000000 03000000 09000000"
                              "ccddee00 0100 0200 61620000 0100 0100 63000000 00000000 38000000")));
}

BOOST_AUTO_TEST_CASE(a_comment_longer_than_an_option_is_cut) {
  auto file = pcapng_header(LinkType::ethernet, "", "");
  const std::vector<std::string> comments{std::string(70'000, 'x')};
  append_pcapng_frame(file, {.time = 1, .original_length = 2, .octets = two[0].octets}, comments);
  const auto result = read(file);
  BOOST_TEST(result.frames.size() == 1U);
  BOOST_TEST(!result.tear.has_value());
}

BOOST_AUTO_TEST_SUITE_END()
