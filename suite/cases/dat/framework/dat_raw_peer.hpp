// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The peer of a DAT endpoint, written octet by octet on a socket: MPA revision 1 with CRC, and the
// few DDP segments that the cases need.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reference_rnic/wire/fpdu.hpp"
#include "reference_rnic/wire/mpa_frame.hpp"
#include "reference_rnic/wire/terminate.hpp"

namespace suite::cases::dat {

class RawPeer {
 public:
  using Octets = std::vector<std::byte>;

  /// The socket stays the caller's.
  explicit RawPeer(int socket) : socket_(socket) {}

  /// An MPA frame of revision 1 that asks for CRCs.
  [[nodiscard]] static Octets frame(rnic::wire::MpaFrameKind kind, const Octets& private_data) {
    Octets octets(rnic::wire::mpa_frame_header_size + private_data.size());
    rnic::wire::Writer writer(octets);
    rnic::wire::format_mpa_frame(writer, kind, {rnic::wire::MpaFlags::c}, 1, std::nullopt,
                                 private_data);
    return octets;
  }
  /// A Request of revision 2 for the peer-to-peer model: the Responder is to wait for its RTR
  /// indication (RFC 6581 section 9.2).
  [[nodiscard]] static Octets peer_to_peer_request() {
    const rnic::wire::EnhancedWords::Values words{.peer_to_peer = true,
                                                  .rtr_send = true,
                                                  .rtr_write = true,
                                                  .rtr_read = true,
                                                  .ird = 1,
                                                  .ord = 1};
    Octets octets(rnic::wire::mpa_frame_header_size + sizeof(rnic::wire::EnhancedWords));
    rnic::wire::Writer writer(octets);
    rnic::wire::format_mpa_frame(writer, rnic::wire::MpaFrameKind::request,
                                 {rnic::wire::MpaFlags::c | rnic::wire::MpaFlags::s}, 2, words, {});
    return octets;
  }
  /// Whether everything went out.
  [[nodiscard]] bool send(std::span<const std::byte> octets) const {
    return ::send(socket_, octets.data(), octets.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(octets.size());
  }
  /// An FPDU of one segment.
  [[nodiscard]] bool send_fpdu(std::span<const std::byte> ulpdu) const {
    using rnic::wire::octets_of;
    const rnic::wire::be16 length = static_cast<std::uint16_t>(ulpdu.size());
    Octets octets(octets_of(length).begin(), octets_of(length).end());
    octets.insert(octets.end(), ulpdu.begin(), ulpdu.end());
    octets.resize(octets.size() + rnic::wire::pad_length(ulpdu.size()));
    const auto trailer = rnic::wire::crc32c_trailer(octets);
    octets.insert(octets.end(), trailer.begin(), trailer.end());
    return send(octets);
  }
  /// An RDMA Write of no octets: the first FPDU, which an Initiator owes.
  [[nodiscard]] bool open() const {
    rnic::wire::TaggedHeader header;
    header.rdmap = rnic::wire::RdmapControl::make(rnic::wire::Opcode::rdma_write);
    return send_fpdu(rnic::wire::octets_of(header));
  }
  [[nodiscard]] bool terminate(rnic::wire::TerminateCause cause) const {
    rnic::wire::UntaggedHeader header;
    header.rdmap = rnic::wire::RdmapControl::make(rnic::wire::Opcode::terminate);
    header.queue_number = static_cast<std::uint32_t>(rnic::wire::Queue::terminate);
    header.message_sequence_number = 1;
    Octets octets(rnic::wire::untagged_header_size + rnic::wire::max_terminate_size);
    rnic::wire::Writer writer(octets);
    writer.write(header);
    rnic::wire::Terminate terminate;
    terminate.cause = cause;
    rnic::wire::format_terminate(writer, terminate);
    return send_fpdu(writer.written());
  }
  /// The next octets, exactly so many; nothing if the connection ends before.
  [[nodiscard]] std::optional<Octets> receive(std::size_t count) const {
    Octets octets(count);
    if (count == 0) return octets;  // recv() would wait for an octet
    if (::recv(socket_, octets.data(), count, MSG_WAITALL) != static_cast<ssize_t>(count))
      return std::nullopt;
    return octets;
  }
  /// The next MPA frame, with its private data; nothing if what comes is none.
  [[nodiscard]] std::optional<Octets> receive_frame(rnic::wire::MpaFrameKind kind) const {
    auto octets = receive(rnic::wire::mpa_frame_header_size);
    if (!octets) return std::nullopt;
    const auto header = rnic::wire::Reader(*octets).read<rnic::wire::MpaFrameHeader>();
    if (header.key != rnic::wire::mpa_key(kind)) return std::nullopt;
    const auto rest = receive(header.pd_length.value());
    if (!rest) return std::nullopt;
    octets->insert(octets->end(), rest->begin(), rest->end());
    return octets;
  }
  /// The ULPDU of the next FPDU.
  [[nodiscard]] std::optional<Octets> receive_fpdu() const {
    const auto length = receive(sizeof(rnic::wire::be16));
    if (!length) return std::nullopt;
    const std::size_t size = rnic::wire::Reader(*length).read<rnic::wire::be16>().value();
    auto rest = receive(rnic::wire::fpdu_size(size) - length->size());
    if (rest) rest->resize(size);
    return rest;
  }

 private:
  int socket_;
};

}  // namespace suite::cases::dat
