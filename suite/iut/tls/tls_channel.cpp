// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/iut/tls/tls_channel.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace suite::iut::tls {
namespace {

void set(int socket, int level, int option, int value) {
  ::setsockopt(socket, level, option, &value, sizeof value);
}

/// As through_ssh() has it: three questions, five seconds apart.
void notice_dead_peer(int socket) {
  constexpr int seconds = 5, questions = 3, milliseconds = 1000;
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, seconds);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, seconds);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, questions);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, seconds * questions * milliseconds);
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
}

}  // namespace

TlsChannel::TlsChannel(const TlsContext& context, base::FileDescriptor socket)
    : socket_(std::move(socket)), ssl_(SSL_new(context.get())), peer_(context.peer()) {
  const int fd = socket_.get();
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  notice_dead_peer(fd);
  SSL_set_fd(ssl_.get(), fd);
  SSL_set_hostflags(ssl_.get(), X509_CHECK_FLAG_NO_WILDCARDS);
  SSL_set1_host(ssl_.get(), peer_.c_str());
  if (context.role() == Role::connects)
    SSL_set_connect_state(ssl_.get());
  else
    SSL_set_accept_state(ssl_.get());
}

TlsChannel::Step TlsChannel::handshake() {
  ERR_clear_error();
  return judge(SSL_do_handshake(ssl_.get()));
}

TlsChannel::Step TlsChannel::read(char* octets, std::size_t size, std::size_t& count) {
  ERR_clear_error();
  return judge(SSL_read_ex(ssl_.get(), octets, size, &count));
}

TlsChannel::Step TlsChannel::write(const char* octets, std::size_t size, std::size_t& count) {
  ERR_clear_error();
  return judge(SSL_write_ex(ssl_.get(), octets, size, &count));
}

TlsChannel::Step TlsChannel::judge(int result) {
  if (result == 1) return Step::done;
  const int system_error = errno;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      events_ = POLLIN;
      return Step::waits;
    case SSL_ERROR_WANT_WRITE:
      events_ = POLLOUT;
      return Step::waits;
    case SSL_ERROR_ZERO_RETURN:
      return Step::closed;
    case SSL_ERROR_SYSCALL:
      if (ERR_peek_error() != 0) break;
      fault_ = system_error == 0 ? "the other end has gone" : std::strerror(system_error);
      return Step::failed;
    default:
      break;
  }
  refused_ = true;
  const long verified = SSL_get_verify_result(ssl_.get());
  if (verified == X509_V_ERR_HOSTNAME_MISMATCH)
    fault_ = "the other end's certificate is not for the name '" + peer_ + "'";
  else if (verified != X509_V_OK)
    fault_ = std::string("the other end's certificate: ") + X509_verify_cert_error_string(verified);
  else
    fault_ = openssl_fault();
  return Step::failed;
}

std::string handshake_fault(TlsChannel::Step step, const TlsChannel& channel) {
  if (step == TlsChannel::Step::waits) return "the other end does not complete TLS's handshake";
  return step == TlsChannel::Step::closed ? "the other end has gone" : channel.fault();
}

std::string complete_handshake(TlsChannel& channel) {
  using Step = TlsChannel::Step;
  const auto deadline = Clock::now() + longest_handshake;
  for (;;) {
    const Step step = channel.handshake();
    if (step == Step::done) return {};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (step != Step::waits || left <= 0) return handshake_fault(step, channel);
    pollfd ready{channel.socket(), channel.events(), 0};
    ::poll(&ready, 1, static_cast<int>(left));
  }
}

}  // namespace suite::iut::tls
