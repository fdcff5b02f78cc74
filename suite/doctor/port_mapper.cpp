// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/doctor/port_mapper.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <tuple>
#include <utility>

namespace suite::doctor {

namespace {

using Kind = PortMapperMessage::Kind;

constexpr std::size_t answer_size = 48, request_size = 64;
constexpr unsigned version_shift = 6, kind_shift = 4;
constexpr std::uint8_t kind_mask = 0x03, ip_mask = 0x0F;
constexpr int attempts = 3;

void put(std::vector<std::uint8_t>& octets, std::uint64_t value, int size) {
  for (int at = size - 1; at >= 0; --at)
    octets.push_back(static_cast<std::uint8_t>(value >> (8U * static_cast<unsigned>(at))));
}

std::uint64_t number(std::span<const std::uint8_t> octets) {
  std::uint64_t value = 0;
  for (const std::uint8_t octet : octets) value = value << 8U | octet;
  return value;
}

PortMapperMessage::Address address_in(std::span<const std::uint8_t> octets) {
  PortMapperMessage::Address address{};
  std::ranges::copy(octets.first(address.size()), address.begin());
  return address;
}

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_storage);
  sockaddr* data() { return reinterpret_cast<sockaddr*>(&storage); }
};

std::expected<SocketAddress, std::string> socket_address(const std::string& literal,
                                                         std::uint16_t port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(literal.c_str(), std::to_string(port).c_str(), &hints, &found) != 0)
    return std::unexpected(fmt::format("'{}' is no address", literal));
  SocketAddress made;
  std::memcpy(&made.storage, found->ai_addr, found->ai_addrlen);
  made.size = found->ai_addrlen;
  ::freeaddrinfo(found);
  return made;
}

/// The octets of the address, and the port.
std::pair<PortMapperMessage::Address, std::uint16_t> parts_of(const SocketAddress& address) {
  PortMapperMessage::Address octets{};
  if (address.storage.ss_family == AF_INET) {
    sockaddr_in ipv4{};
    std::memcpy(&ipv4, &address.storage, sizeof ipv4);
    std::memcpy(octets.data(), &ipv4.sin_addr, sizeof ipv4.sin_addr);
    return {octets, ntohs(ipv4.sin_port)};
  }
  sockaddr_in6 ipv6{};
  std::memcpy(&ipv6, &address.storage, sizeof ipv6);
  std::memcpy(octets.data(), &ipv6.sin6_addr, sizeof ipv6.sin6_addr);
  return {octets, ntohs(ipv6.sin6_port)};
}

std::unexpected<std::string> failed() { return std::unexpected(std::string(std::strerror(errno))); }

}  // namespace

std::vector<std::uint8_t> octets_of(const PortMapperMessage& message) {
  std::vector<std::uint8_t> octets;
  octets.push_back(static_cast<std::uint8_t>(static_cast<unsigned>(message.kind) << kind_shift |
                                             (message.ip_version & ip_mask)));
  octets.push_back(0);  // time: not used
  put(octets, message.kind == Kind::request ? message.mapped_connecting_port : 0, 2);
  put(octets, message.accepting_port, 2);
  put(octets, message.connecting_port, 2);
  put(octets, message.association, 8);
  octets.insert(octets.end(), message.connecting_address.begin(), message.connecting_address.end());
  octets.insert(octets.end(), message.accepting_address.begin(), message.accepting_address.end());
  if (message.kind == Kind::request)
    octets.insert(octets.end(), message.mapped_connecting_address.begin(),
                  message.mapped_connecting_address.end());
  return octets;
}

std::optional<PortMapperMessage> parse_port_mapper(std::span<const std::uint8_t> octets) {
  if (octets.size() < answer_size) return std::nullopt;
  PortMapperMessage message;
  message.kind = static_cast<Kind>(octets[0] >> kind_shift & kind_mask);
  message.ip_version = static_cast<std::uint8_t>(octets[0] & ip_mask);
  if (octets[0] >> version_shift != 0) return std::nullopt;
  if (message.ip_version != 4 && message.ip_version != 6) return std::nullopt;
  if (message.kind == Kind::request && octets.size() < request_size) return std::nullopt;
  message.accepting_port = static_cast<std::uint16_t>(number(octets.subspan(4, 2)));
  message.connecting_port = static_cast<std::uint16_t>(number(octets.subspan(6, 2)));
  message.association = number(octets.subspan(8, 8));
  message.connecting_address = address_in(octets.subspan(16));
  message.accepting_address = address_in(octets.subspan(32));
  if (message.kind == Kind::request) {
    message.mapped_connecting_port = static_cast<std::uint16_t>(number(octets.subspan(2, 2)));
    message.mapped_connecting_address = address_in(octets.subspan(48));
  }
  return message;
}

std::expected<PortMapperMessage, std::string> ask_port_mapper(const std::string& address,
                                                              std::uint16_t port,
                                                              std::chrono::milliseconds patience,
                                                              std::uint16_t mapper_port) {
  auto to = socket_address(address, mapper_port);
  if (!to) return std::unexpected(to.error());
  const base::FileDescriptor fd(::socket(to->storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  SocketAddress own;
  if (!fd || ::connect(fd.get(), to->data(), to->size) != 0 ||
      ::getsockname(fd.get(), own.data(), &own.size) != 0)
    return failed();
  PortMapperMessage request;
  request.ip_version = to->storage.ss_family == AF_INET ? 4 : 6;
  request.accepting_address = parts_of(*to).first;
  request.accepting_port = port;
  std::tie(request.connecting_address, request.connecting_port) = parts_of(own);
  request.mapped_connecting_address = request.connecting_address;
  request.mapped_connecting_port = request.connecting_port;
  std::random_device numbers;
  request.association = std::uint64_t{numbers()} << 32U | numbers();
  const auto octets = octets_of(request);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (::send(fd.get(), octets.data(), octets.size(), 0) < 0) return failed();
    pollfd ready{fd.get(), POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(patience.count() / attempts)) <= 0) continue;
    std::array<std::uint8_t, 512> came{};
    const ssize_t count = ::recv(fd.get(), came.data(), came.size(), 0);
    if (count < 0) return failed();
    const auto answer = parse_port_mapper(std::span(came).first(static_cast<std::size_t>(count)));
    if (!answer || answer->association != request.association || answer->kind == Kind::request)
      return std::unexpected("what answers there is no port mapper");
    if (answer->kind != Kind::accept) return *answer;
    PortMapperMessage end = *answer;
    end.kind = Kind::acknowledgement;
    const auto thanks = octets_of(end);
    (void)!::send(fd.get(), thanks.data(), thanks.size(), 0);
    return *answer;
  }
  return std::unexpected("no answer");
}

std::expected<PortMapperServer, std::string> PortMapperServer::open(const std::string& address,
                                                                    std::uint16_t listener,
                                                                    std::uint16_t mapper_port) {
  auto at = socket_address(address, mapper_port);
  if (!at) return std::unexpected(at.error());
  PortMapperServer server;
  server.listener_ = listener;
  server.socket_ = base::FileDescriptor(
      ::socket(at->storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!server.socket_ || ::bind(server.socket_.get(), at->data(), at->size) != 0 ||
      ::getsockname(server.socket_.get(), at->data(), &at->size) != 0)
    return failed();
  server.port_ = parts_of(*at).second;
  return server;
}

void PortMapperServer::serve() {
  for (;;) {
    std::array<std::uint8_t, 512> came{};
    SocketAddress from;
    const ssize_t count =
        ::recvfrom(socket_.get(), came.data(), came.size(), 0, from.data(), &from.size);
    if (count < 0) return;
    auto message = parse_port_mapper(std::span(came).first(static_cast<std::size_t>(count)));
    if (!message) continue;
    if (message->kind == Kind::acknowledgement) ++acknowledgements_;
    if (message->kind != Kind::request) continue;
    ++requests_;
    message->kind = message->accepting_port == listener_ ? Kind::accept : Kind::rejection;
    const auto octets = octets_of(*message);
    (void)!::sendto(socket_.get(), octets.data(), octets.size(), 0, from.data(), from.size);
  }
}

}  // namespace suite::doctor
