// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Writes what two reference streams send to each other into a folder, for both decoders to read: every RDMA message with Markers at
// every place of an FPDU, and every Terminate that a bad message causes.
//
// NAME[.markers][.crc].stream holds one direction of full operation, NAME.frame its startup frame.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "reference_rnic/stream/tests/bad_messages.hpp"
#include "reference_rnic/stream/tests/raw_peer.hpp"
#include "reference_rnic/stream/tests/stream_pair.hpp"

using namespace rnic;
using namespace rnic::stream;
using namespace rnic::stream::test;

namespace {

void write_file(const std::filesystem::path& path, wire::Bytes octets) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(octets.data()),
            static_cast<std::streamsize>(octets.size()));
  if (!out.flush()) throw std::runtime_error("cannot write " + path.string());
}

void write_direction(const std::filesystem::path& folder, const std::string& name,
                     wire::MpaFrameKind kind, wire::Bytes sent) {
  const auto startup = wire::parse_mpa_frame(kind, sent);
  if (!startup) throw std::runtime_error(name + " begins with no startup frame");
  write_file(folder / (name + ".frame"), sent.first(startup->consumed));
  write_file(folder / (name + ".stream"), sent.subspan(startup->consumed));
}

std::string marked(std::string name, bool markers, bool crc) {
  return std::move(name) + (markers ? ".markers" : "") + (crc ? ".crc" : "");
}

constexpr std::uint32_t region_stag = 0x101;
constexpr std::uint64_t region_base = 0x10000;
constexpr std::size_t region_size = 16384;
/// Longer than the interval of Markers, so that each FPDU begins at another place and each length modulo four occurs.
constexpr std::size_t longest_send = 530;

/// Everything that one end can ask of the other, `rounds` times over with other lengths.
class Conversation {
 public:
  Conversation(bool markers, bool crc) : pair_(config(markers, crc), config(markers, crc)) {
    for (auto* memory : {&pair_.initiator.memory, &pair_.responder.memory}) {
      memory->add_region(region_stag, region_base, region_size, every_access);
      for (std::uint64_t id = 0; id < 3 * longest_send; ++id) memory->post_receive(id, 8192);
    }
    pair_.run();
  }

  void talk() {
    for (std::size_t length = 0; length < longest_send; ++length) {
      speak(pair_.initiator.stream, length);
      if (length % 8 == 0) speak(pair_.responder.stream, length);
      pair_.run();
    }
    pair_.initiator.stream.abort(pair_.now);
    pair_.run();
  }

  void write(const std::filesystem::path& folder, const std::string& name) const {
    if (pair_.responder.find<TerminateReceived>() == nullptr)
      throw std::runtime_error(name + " went wrong on the way");
    write_direction(folder, "initiator_" + name, wire::MpaFrameKind::request, pair_.initiator.sent);
    write_direction(folder, "responder_" + name, wire::MpaFrameKind::reply, pair_.responder.sent);
  }

 private:
  static Config config(bool markers, bool crc) {
    Config config;
    config.markers = markers;
    config.crc = crc;
    return config;
  }

  Work work(WorkKind kind) {
    Work work;
    work.id = ++last_id_;
    work.kind = kind;
    work.remote_stag = work.sink_stag = region_stag;
    work.remote_offset = work.sink_offset = region_base;
    return work;
  }

  void speak(Stream& stream, std::size_t length) {
    Work send = work(WorkKind::send);
    send.gather = {wire::Bytes(octets_).first(length)};
    send.solicited = length % 3 == 0;
    stream.post(send, pair_.now);
    Work write = work(WorkKind::write);
    write.gather = {wire::Bytes(octets_).first(length % 16 == 0 ? 4001 : length)};
    write.remote_offset += length;
    stream.post(write, pair_.now);
    Work read = work(WorkKind::read);
    read.length = static_cast<std::uint32_t>(length % 16 == 1 ? 3001 : length);
    stream.post(read, pair_.now);
    Work immediate = work(WorkKind::immediate);
    immediate.solicited = length % 2 == 0;
    std::ranges::copy(wire::Bytes(octets_).subspan(length, wire::immediate_size),
                      immediate.immediate.begin());
    stream.post(immediate, pair_.now);
    Work atomic = work(WorkKind::atomic);
    atomic.operation =
        length % 2 == 0 ? wire::AtomicOperation::fetch_add : wire::AtomicOperation::compare_swap;
    atomic.remote_offset += 8 * length;
    atomic.add_or_swap = 0x0102030405060708 * length;
    atomic.add_or_swap_mask = 0x8000000000000001;
    if (atomic.operation == wire::AtomicOperation::compare_swap) atomic.compare = length;
    stream.post(atomic, pair_.now);
  }

  Pair pair_;
  std::vector<std::byte> octets_ = pattern(4096);
  std::uint64_t last_id_ = 0;
};

/// What a responder answers to each message that breaks a rule: Terminates with and without headers.
void write_terminates(const std::filesystem::path& folder, bool markers, bool crc) {
  for (const BadMessage& bad : bad_messages()) {
    Subject subject(plain_config(Role::responder, crc));
    furnish(subject.memory);
    for (std::uint64_t id = 0; id < bad.receive_buffers; ++id) subject.memory.post_receive(id, 32);
    subject.feed(request(fmt::format("{:02x} 01 0000", (markers ? 0x80 : 0) | (crc ? 0x40 : 0))));
    subject.stream.accept(1, 1, {}, subject.now);
    (void)subject.output();
    for (const std::string_view ulpdu : bad.ulpdus) subject.feed(fpdu(ulpdu, crc));
    (void)subject.output();
    write_direction(folder, marked(std::string("terminate_") + bad.name, markers, crc),
                    wire::MpaFrameKind::reply, subject.sent);
  }
}

/// Sends that invalidate, with and without a Solicited Event: the one field that the conversation leaves out.
void write_invalidations(const std::filesystem::path& folder) {
  Config config;
  Pair pair(config, config);
  pair.run();
  const std::vector<std::byte> octets = pattern(20);
  for (std::uint32_t stag = 1; stag <= 8; ++stag) {
    pair.responder.memory.add_region(0xA0B0C000 + stag, 0, 64, every_access);
    pair.responder.memory.post_receive(stag, 64);
    Work send;
    send.id = stag;
    send.gather = {octets};
    send.solicited = stag % 2 == 0;
    send.invalidate = 0xA0B0C000 + stag;
    pair.initiator.stream.post(send, pair.now);
  }
  pair.run();
  write_direction(folder, marked("invalidations", false, true), wire::MpaFrameKind::request,
                  pair.initiator.sent);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    fmt::print(stderr,
               "usage: reference_streams FOLDER\nexample: reference_streams /tmp/streams\nexit: 0 "
               "written, 2 not\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  for (const bool markers : {false, true})
    for (const bool crc : {false, true}) {
      Conversation conversation(markers, crc);
      conversation.talk();
      conversation.write(folder, marked("conversation", markers, crc));
      write_terminates(folder, markers, crc);
    }
  write_invalidations(folder);
  return 0;
} catch (const std::exception& failure) {
  fmt::print(stderr, "reference_streams: {}\n", failure.what());
  return 2;
}
