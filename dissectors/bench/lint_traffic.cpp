// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// rnic-lint-traffic: writes the captures of bench_lint.py, and runs the plain loop over them that is
// the upper bound for any judge: every frame counted, every CRC computed.
#include <fcntl.h>
#include <pcap/pcap.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/octets.hpp"
#include "dissectors/capture/pcap_file.hpp"
#include "reference_rnic/wire/fpdu.hpp"

namespace {

using base::Octets;

// Ethernet, IPv4 and TCP without options, as the plain loop expects them.
constexpr std::size_t headers = 14 + 20 + 20;
constexpr std::size_t pcap_file_header = 24, pcap_record_header = 16;
constexpr std::size_t mss = 1460;
constexpr std::uint32_t segments_of_a_write = 64;

void put16(Octets& out, unsigned value) {
  out.push_back(static_cast<std::byte>(value >> 8 & 0xFFU));
  out.push_back(static_cast<std::byte>(value & 0xFFU));
}
void put32(Octets& out, std::uint32_t value) {
  put16(out, value >> 16);
  put16(out, value & 0xFFFFU);
}
void put(Octets& out, std::string_view text) {
  const auto octets = std::as_bytes(std::span(text));
  out.insert(out.end(), octets.begin(), octets.end());
}

/// One TCP connection; no two have the same client.
struct Connection {
  std::uint32_t number = 0;
  std::uint32_t next[2]{1, 1};  ///< sequence numbers of client and server
  std::uint64_t segments = 0;
};

/// Writes connections into a pcap, frame by frame.
class Writer {
 public:
  Writer(const std::string& path, std::uint16_t port)
      : file_(path, std::ios::binary | std::ios::trunc), server_port_(port) {
    buffer_ = dissectors::capture::pcap_header(dissectors::capture::LinkType::ethernet);
  }

  [[nodiscard]] Connection open(bool iwarp = true) {
    Connection connection{.number = connections_++};
    // Without iWARP its beginning was not captured, so that the judge has to look at all of it.
    if (!iwarp) return connection;
    frame(connection, 0, syn, {}, true);
    frame(connection, 1, syn | ack, {}, true);
    for (const char* key : {"MPA ID Req Frame", "MPA ID Rep Frame"}) {
      Octets startup;
      put(startup, key);
      put32(startup, 0x40010000);
      frame(connection, startup[9] == std::byte{'q'} ? 0 : 1, ack, startup);
    }
    return connection;
  }
  /// Every second segment is acknowledged, as TCP does; otherwise a dissector's list of
  /// unacknowledged segments would grow for ever.
  void data(Connection& connection, const Octets& payload) {
    frame(connection, 0, ack, payload);
    if (++connection.segments % 2 == 0) frame(connection, 1, ack, {});
  }
  [[nodiscard]] std::uint64_t written() const { return written_ + buffer_.size(); }
  [[nodiscard]] bool finish() {
    flush();
    file_.close();
    return static_cast<bool>(file_);
  }

 private:
  static constexpr unsigned syn = 0x02, ack = 0x10;

  void frame(Connection& connection, unsigned end, unsigned flags, const Octets& payload,
             bool announces_mss = false) {
    constexpr std::uint32_t server = 0xC0000201, ports_of_a_client = 50000, first_port = 10001;
    const std::uint32_t client = 0x0A000001 + connection.number / ports_of_a_client;
    const unsigned port = first_port + connection.number % ports_of_a_client;
    const std::size_t options = announces_mss ? 4 : 0;
    frame_.assign(12, std::byte{2});
    put16(frame_, 0x0800);
    put16(frame_, 0x4500);
    put16(frame_, static_cast<unsigned>(40 + options + payload.size()));
    put32(frame_, 0x00004000);
    put32(frame_, 0x40060000);
    put32(frame_, end == 0 ? client : server);
    put32(frame_, end == 0 ? server : client);
    put16(frame_, end == 0 ? port : server_port_);
    put16(frame_, end == 0 ? server_port_ : port);
    put32(frame_, connection.next[end]);
    put32(frame_, connection.next[1 - end]);
    put16(frame_, static_cast<unsigned>((5 + options / 4) << 12) | flags);
    put16(frame_, 65535);
    put32(frame_, 0);
    if (announces_mss) put32(frame_, 0x02040000 + mss);
    frame_.insert(frame_.end(), payload.begin(), payload.end());
    connection.next[end] += static_cast<std::uint32_t>(payload.size()) + (announces_mss ? 1 : 0);
    time_ += 1000;
    dissectors::capture::append_pcap_frame(
        buffer_, {.time = time_,
                  .original_length = static_cast<std::uint32_t>(frame_.size()),
                  .octets = frame_});
    if (buffer_.size() > 1U << 20) flush();
  }
  void flush() {
    file_.write(reinterpret_cast<const char*>(buffer_.data()),
                static_cast<std::streamsize>(buffer_.size()));
    written_ += buffer_.size();
    buffer_.clear();
  }

  std::ofstream file_;
  std::uint16_t server_port_;
  Octets buffer_, frame_;
  std::uint64_t written_ = 0, time_ = std::uint64_t{1'000'000'000} * 1'000'000'000;
  std::uint32_t connections_ = 0;
};

Octets sealed(Octets ulpdu) {
  Octets fpdu;
  put16(fpdu, static_cast<unsigned>(ulpdu.size()));
  fpdu.insert(fpdu.end(), ulpdu.begin(), ulpdu.end());
  fpdu.resize((fpdu.size() + 3) / 4 * 4);
  const auto crc = rnic::wire::crc32c_trailer(fpdu);
  fpdu.insert(fpdu.end(), crc.begin(), crc.end());
  return fpdu;
}

// The n-th FPDU of long RDMA Writes, each as long as the MSS.
Octets full_segment(std::uint32_t n) {
  const std::uint32_t place = n % segments_of_a_write;
  Octets ulpdu;
  put16(ulpdu, place + 1 == segments_of_a_write ? 0xC140 : 0x8140);
  put32(ulpdu, 0x1234);
  put32(ulpdu, 0);
  put32(ulpdu, place * static_cast<std::uint32_t>(mss - 6 - 14));
  ulpdu.resize(mss - 6, static_cast<std::byte>(n));
  return sealed(std::move(ulpdu));
}

// The n-th Send of 64 octets.
Octets small_send(std::uint32_t n) {
  Octets ulpdu;
  put16(ulpdu, 0x4143);
  for (const std::uint32_t word : {0U, 0U, n + 1, 0U}) put32(ulpdu, word);
  ulpdu.resize(18 + 64, static_cast<std::byte>(n));
  return sealed(std::move(ulpdu));
}

// The n-th segment of Sends that TCP has packed together, as many as fit.
Octets packed_sends(std::uint32_t n) {
  Octets segment;
  for (std::uint32_t i = 0;; ++i) {
    const Octets fpdu = small_send(n + i);
    if (segment.size() + fpdu.size() > mss) return segment;
    segment.insert(segment.end(), fpdu.begin(), fpdu.end());
  }
}

constexpr std::uint32_t sends_of_a_segment = 16;

// The n-th segment of a protocol whose octets look like anything.
Octets other_octets(std::uint32_t n) {
  Octets segment(mss);
  std::uint64_t state = n + 1;
  for (std::byte& octet : segment) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    octet = static_cast<std::byte>(state >> 56);
  }
  return segment;
}

// tshark's time grows with the square of a connection's length, so there are many connections.
constexpr std::uint32_t fpdus_of_a_connection = 32 * segments_of_a_write;

bool generate(const std::string& kind, std::uint64_t size, Writer writer) {
  while (writer.written() < size) {
    Connection connection = writer.open(kind != "other");
    for (std::uint32_t n = 0; n < fpdus_of_a_connection; ++n)
      writer.data(connection, kind == "mss"      ? full_segment(n)
                              : kind == "packed" ? packed_sends(n * sends_of_a_segment)
                              : kind == "other"  ? other_octets(n)
                                                 : small_send(n));
  }
  return writer.finish();
}

// All connections stay open, and each has its turn again and again.
bool generate_side_by_side(std::size_t count, std::uint64_t size, Writer writer) {
  std::vector<Connection> connections;
  while (connections.size() < count) connections.push_back(writer.open());
  for (std::uint32_t n = 0; writer.written() < size; ++n) {
    const Octets fpdu = full_segment(n);
    for (Connection& connection : connections) writer.data(connection, fpdu);
  }
  return writer.finish();
}

struct Counted {
  std::uint64_t frames = 0, fpdus = 0, wrong = 0;
};

// The FPDU at the front of what is left of a segment; that of a startup frame is longer than it.
std::span<const std::byte> next_fpdu(std::span<const std::byte> rest) {
  if (rest.size() < 8) return {};
  const std::size_t length =
      std::to_integer<std::size_t>(rest[0]) << 8 | std::to_integer<std::size_t>(rest[1]);
  const std::size_t size = (2 + length + 3) / 4 * 4 + 4;
  return size <= rest.size() ? rest.first(size) : std::span<const std::byte>();
}

void count_frame(std::span<const std::byte> frame, Counted& counted) {
  ++counted.frames;
  auto rest = frame.subspan(std::min(headers, frame.size()));
  for (auto fpdu = next_fpdu(rest); !fpdu.empty(); fpdu = next_fpdu(rest)) {
    const auto crc = rnic::wire::crc32c_trailer(fpdu.first(fpdu.size() - 4));
    ++counted.fpdus;
    if (!std::ranges::equal(crc, fpdu.last(4))) ++counted.wrong;
    rest = rest.subspan(fpdu.size());
  }
}

Counted count(std::span<const std::byte> file) {
  Counted counted;
  std::size_t at = pcap_file_header;
  while (at + pcap_record_header <= file.size()) {
    std::uint32_t length = 0;
    std::memcpy(&length, file.data() + at + 8, sizeof length);
    at += pcap_record_header;
    if (length > file.size() - at) break;
    count_frame(file.subspan(at, length), counted);
    at += length;
  }
  return counted;
}

int report(const Counted& counted) {
  fmt::print("{} frames, {} FPDUs, {} wrong CRCs\n", counted.frames, counted.fpdus, counted.wrong);
  return counted.wrong == 0 ? 0 : 1;
}

// What a reader of captures would write: libpcap reads the frames.
int libpcap_loop(const std::string& path) {
  std::array<char, PCAP_ERRBUF_SIZE> error{};
  pcap_t* const file = pcap_open_offline(path.c_str(), error.data());
  if (file == nullptr) {
    fmt::print(stderr, "rnic-lint-traffic: cannot read {}: {}\n", path, error.data());
    return 3;
  }
  Counted counted;
  pcap_pkthdr* header = nullptr;
  const unsigned char* octets = nullptr;
  while (pcap_next_ex(file, &header, &octets) == 1)
    count_frame(std::as_bytes(std::span(octets, header->caplen)), counted);
  pcap_close(file);
  return report(counted);
}

int plain_loop(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status{};
  if (fd < 0 || ::fstat(fd, &status) != 0 || status.st_size == 0) {
    fmt::print(stderr, "rnic-lint-traffic: cannot read {}\n", path);
    return 3;
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
  ::close(fd);
  if (mapped == MAP_FAILED) {
    fmt::print(stderr, "rnic-lint-traffic: cannot map {}\n", path);
    return 3;
  }
  const Counted counted = count({static_cast<const std::byte*>(mapped), size});
  ::munmap(mapped, size);
  return report(counted);
}

}  // namespace

int main(int argc, char** argv) {
  std::string kind, path;
  std::uint64_t size = 16;
  std::size_t connections = 100'000;
  std::uint16_t port = 5445;
  CLI::App app{"Makes the captures of the lint benchmark, and counts their FPDUs and CRCs.",
               "rnic-lint-traffic"};
  app.require_subcommand(1);
  auto* make = app.add_subcommand("make", "write a capture");
  make->add_option("KIND", kind,
                   "mss: FPDUs of an MSS each; sends: Sends of 64 octets each, one in a segment; "
                   "packed: 16 in a segment; open: as mss, spread over connections that all stay "
                   "open; other: as mss, without startup and with octets that are no FPDUs")
      ->required()
      ->check(CLI::IsMember({"mss", "sends", "packed", "open", "other"}));
  make->add_option("FILE", path, "/dev/stdout for a pipe")->required();
  make->add_option("--connections", connections, "for `open`")
      ->check(CLI::Range(1U, 10'000'000U))
      ->capture_default_str();
  make->add_option("--size", size, "octets of the file, in MiB")
      ->check(CLI::Range(1U, 1U << 20))
      ->capture_default_str();
  make->add_option("--port", port,
                   "of the server; Wireshark gives 5445 to another of its dissectors, and most "
                   "others to its own for iWARP")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  auto* loop = app.add_subcommand("count", "the plain loop over such a capture");
  loop->add_option("FILE", path)->required();
  bool by_libpcap = false;
  loop->add_flag("--libpcap", by_libpcap, "read it with libpcap, instead of mapping it");
  app.footer(
      "example: rnic-lint-traffic make mss /tmp/mss.pcap --size 1024\n"
      "exit: 0 done, 1 a CRC is wrong, 2 usage, 3 a file cannot be read or written\n");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() == 0) return app.exit(problem);
    fmt::print(stderr, "rnic-lint-traffic: {}; see --help\n", problem.what());
    return 2;
  }
  if (loop->parsed()) return by_libpcap ? libpcap_loop(path) : plain_loop(path);
  Writer writer(path, port);
  const bool written = kind == "open"
                           ? generate_side_by_side(connections, size << 20, std::move(writer))
                           : generate(kind, size << 20, std::move(writer));
  if (written) return 0;
  fmt::print(stderr, "rnic-lint-traffic: cannot write {}\n", path);
  return 3;
}
