// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A program that knows stream sockets only: a server that sends back what comes, and its client.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <iostream>
#include <vector>

namespace {

constexpr std::uint16_t port = 9000;
constexpr std::size_t message = 100'000;

sockaddr_in loopback() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool send_all(int stream, const char* octets, std::size_t size) {
  for (std::size_t sent = 0; sent < size;) {
    const ssize_t count = ::send(stream, octets + sent, size - sent, 0);
    if (count <= 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

int serve(int listener) {
  const sockaddr_in address = loopback();
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener, 1) != 0)
    return 1;
  const int stream = ::accept(listener, nullptr, nullptr);
  std::vector<char> octets(65536);
  for (;;) {
    const ssize_t count = ::recv(stream, octets.data(), octets.size(), 0);
    if (count < 0 || !send_all(stream, octets.data(), static_cast<std::size_t>(count))) return 1;
    if (count == 0) break;
  }
  ::close(stream);
  return 0;
}

int call(int stream) {
  const sockaddr_in address = loopback();
  if (::connect(stream, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return 1;
  std::vector<char> sent(message), came(message);
  for (std::size_t i = 0; i < message; ++i) sent[i] = static_cast<char>(i * 7);
  if (!send_all(stream, sent.data(), message)) return 1;
  for (std::size_t got = 0; got < message;) {
    const ssize_t count = ::recv(stream, came.data() + got, message - got, 0);
    if (count <= 0) return 1;
    got += static_cast<std::size_t>(count);
  }
  if (came != sent) return 1;
  std::cout << "came back\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int own = ::socket(AF_INET, SOCK_STREAM, 0);
  if (own < 0) return 1;
  const int code = argc > 1 && std::strcmp(argv[1], "serve") == 0 ? serve(own) : call(own);
  ::close(own);
  return code;
}
