// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/iut/tls/tls_context.hpp"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace suite::iut::tls {
namespace {

/// Octets of the certificates that a peer may send.
constexpr long longest_certificates = 32L * 1024;

/// The options that name the files, as people give them.
struct FileOptions {
  const char *certificate = "--certificate: ", *key = "--key: ", *authority = "--ca: ";
};
FileOptions options_of(const Identity& identity) {
  const bool token = identity.certificate == identity.key;
  return token ? FileOptions{"--join: ", "--join: ", "--join: "} : FileOptions{};
}

std::string file_fault(const char* option, const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || ::access(path.c_str(), R_OK) != 0)
    return option + path + ": " + std::strerror(errno);
  return {};
}

/// As with ssh, a key that others can read is none.
std::string key_fault(const char* option, const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && (status.st_mode & 077) != 0)
    return option + path + " is open to others: chmod 600 " + path;
  return {};
}

/// Why nobody could accept our own certificate; empty if somebody could.
std::string certificate_fault(SSL_CTX* context, const Identity& identity) {
  X509_STORE_CTX* check = X509_STORE_CTX_new();
  STACK_OF(X509)* between = nullptr;
  SSL_CTX_get0_chain_certs(context, &between);
  std::string fault;
  if (check == nullptr || X509_STORE_CTX_init(check, SSL_CTX_get_cert_store(context),
                                              SSL_CTX_get0_certificate(context), between) != 1)
    fault = openssl_fault();
  else if (X509_verify_cert(check) != 1)
    fault = X509_verify_cert_error_string(X509_STORE_CTX_get_error(check));
  X509_STORE_CTX_free(check);
  if (!fault.empty())
    fault = options_of(identity).certificate + identity.certificate + ": " + fault +
            " (the authority is that of " + identity.authority + ")";
  return fault;
}

std::string load(SSL_CTX* context, const Identity& identity) {
  const FileOptions options = options_of(identity);
  for (const auto& [option, path] : {std::pair{options.certificate, &identity.certificate},
                                     {options.key, &identity.key},
                                     {options.authority, &identity.authority}})
    if (std::string fault = file_fault(option, *path); !fault.empty()) return fault;
  if (std::string fault = key_fault(options.key, identity.key); !fault.empty()) return fault;
  if (SSL_CTX_load_verify_locations(context, identity.authority.c_str(), nullptr) != 1)
    return options.authority + identity.authority +
           " has no certificate in PEM: " + openssl_fault();
  if (SSL_CTX_use_certificate_chain_file(context, identity.certificate.c_str()) != 1)
    return options.certificate + identity.certificate +
           " has no certificate in PEM: " + openssl_fault();
  // Nobody is there to type a pass phrase.
  SSL_CTX_set_default_passwd_cb(context, [](char*, int, int, void*) { return -1; });
  if (SSL_CTX_use_PrivateKey_file(context, identity.key.c_str(), SSL_FILETYPE_PEM) != 1)
    return options.key + identity.key + " is not the key of " + identity.certificate +
           ", or has a pass phrase: " + openssl_fault();
  return certificate_fault(context, identity);
}

}  // namespace

std::string openssl_fault() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  if (code == 0) return "no reason is known";
  // An alert of the peer has a number of its own.
  const int reason = ERR_GET_REASON(code);
  if (ERR_GET_LIB(code) == ERR_LIB_SSL && reason >= SSL_AD_REASON_OFFSET)
    return std::string("the other end refuses: ") +
           SSL_alert_desc_string_long(reason - SSL_AD_REASON_OFFSET);
  const char* text = ERR_reason_error_string(code);
  return text == nullptr ? "error " + std::to_string(code) : text;
}

std::optional<TlsContext> TlsContext::make(const Identity& identity, Role role,
                                           std::string& error) {
  TlsContext made(role, identity.peer);
  made.context_.reset(
      SSL_CTX_new(role == Role::connects ? TLS_client_method() : TLS_server_method()));
  SSL_CTX* context = made.get();
  if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1) {
    error = openssl_fault();
    return std::nullopt;
  }
  error = load(context, identity);
  if (!error.empty()) return std::nullopt;
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_max_cert_list(context, longest_certificates);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // Every connection shows its certificate anew.
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  return made;
}

}  // namespace suite::iut::tls
