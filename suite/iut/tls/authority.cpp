// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/iut/tls/authority.hpp"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

#include "suite/iut/tls/tls_context.hpp"

namespace suite::iut::tls {

namespace {

template <auto free>
struct Free {
  void operator()(auto* held) const { free(held); }
};
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Memory = std::unique_ptr<BIO, Free<BIO_free>>;
using Number = std::unique_ptr<BIGNUM, Free<BN_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Free<GENERAL_NAMES_free>>;

std::unexpected<std::string> fault(const std::string& what) {
  return std::unexpected(what + ": " + openssl_fault());
}

Memory over(const std::string& text) {
  return Memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string content_of(BIO* memory) {
  char* octets = nullptr;
  const long size = BIO_get_mem_data(memory, &octets);
  return {octets, static_cast<std::size_t>(size)};
}

Certificate read_certificate(const std::string& text) {
  return Certificate(PEM_read_bio_X509(over(text).get(), nullptr, nullptr, nullptr));
}

/// Nobody is there to type a pass phrase.
Key read_key(const std::string& text) {
  const auto refuse = [](char*, int, int, void*) { return -1; };
  return Key(PEM_read_bio_PrivateKey(over(text).get(), nullptr, refuse, nullptr));
}

bool add_extension(X509* made, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, made, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  return extension && X509_add_ext(made, extension.get(), -1) == 1;
}

/// RFC 5280 4.1.2.2: a positive number of at most 20 octets.
bool set_serial(X509* made) {
  constexpr int bits = 159;
  const Number number(BN_new());
  return number && BN_rand(number.get(), bits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(made)) != nullptr;
}

/// From an hour ago, since two hosts' clocks differ, and no longer than its issuer.
bool set_times(X509* made, const X509* issuer, int days) {
  constexpr long hour = 3600, day = 24 * hour;
  if (X509_gmtime_adj(X509_getm_notBefore(made), -hour) == nullptr ||
      X509_gmtime_adj(X509_getm_notAfter(made), days * day) == nullptr)
    return false;
  const ASN1_TIME* last = X509_get0_notAfter(issuer);
  return made == issuer || ASN1_TIME_compare(X509_get0_notAfter(made), last) <= 0 ||
         X509_set1_notAfter(made, last) == 1;
}

struct Plan {
  std::string name;
  int days = 0;
  X509* issuer = nullptr;  ///< nothing: itself
  EVP_PKEY* issuer_key = nullptr;
};

bool fill(X509* made, EVP_PKEY* key, const Plan& plan) {
  X509* issuer = plan.issuer != nullptr ? plan.issuer : made;
  X509_NAME* subject = X509_get_subject_name(made);
  const auto* octets = reinterpret_cast<const unsigned char*>(plan.name.c_str());
  const bool own = issuer == made;
  return X509_set_version(made, X509_VERSION_3) == 1 && set_serial(made) &&
         set_times(made, issuer, plan.days) &&
         X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, octets, -1, -1, 0) == 1 &&
         X509_set_issuer_name(made, X509_get_subject_name(issuer)) == 1 &&
         X509_set_pubkey(made, key) == 1 &&
         add_extension(made, issuer, NID_basic_constraints,
                       own ? "critical,CA:TRUE" : "critical,CA:FALSE") &&
         add_extension(made, issuer, NID_key_usage,
                       own ? "critical,keyCertSign" : "critical,digitalSignature") &&
         add_extension(made, issuer, NID_subject_key_identifier, "hash") &&
         add_extension(made, issuer, NID_authority_key_identifier, "keyid") &&
         (own || add_extension(made, issuer, NID_subject_alt_name, "DNS:" + plan.name));
}

std::expected<Credentials, std::string> make(const Plan& plan) {
  const Key key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  const Certificate made(X509_new());
  const Memory certificate_text(BIO_new(BIO_s_mem())), key_text(BIO_new(BIO_s_mem()));
  EVP_PKEY* signer = plan.issuer != nullptr ? plan.issuer_key : key.get();
  // An Ed25519 signature takes the octets themselves, not a digest of them.
  if (!key || !made || !certificate_text || !key_text || !fill(made.get(), key.get(), plan) ||
      X509_sign(made.get(), signer, nullptr) == 0 ||
      PEM_write_bio_X509(certificate_text.get(), made.get()) != 1 ||
      PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) !=
          1)
    return fault("a certificate for " + plan.name + " cannot be made");
  return Credentials{.certificate = content_of(certificate_text.get()),
                     .key = content_of(key_text.get())};
}

}  // namespace

std::expected<Credentials, std::string> make_authority(const std::string& name, int days) {
  return make({.name = name, .days = days, .issuer = nullptr, .issuer_key = nullptr});
}

std::expected<Credentials, std::string> sign_for(const Credentials& authority,
                                                 const std::string& dns_name, int days) {
  const Certificate issuer = read_certificate(authority.certificate);
  if (!issuer) return fault("the authority's certificate cannot be read");
  const Key key = read_key(authority.key);
  if (!key) return fault("the authority's key cannot be read");
  if (X509_check_private_key(issuer.get(), key.get()) != 1)
    return fault("the authority's key is not that of its certificate");
  if (X509_cmp_current_time(X509_get0_notAfter(issuer.get())) <= 0)
    return std::unexpected("the authority's certificate has expired");
  return make({.name = dns_name, .days = days, .issuer = issuer.get(), .issuer_key = key.get()});
}

std::expected<std::string, std::string> dns_name_of(const std::string& certificate) {
  const Certificate read = read_certificate(certificate);
  if (!read) return fault("it cannot be read");
  const Names names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(read.get(), NID_subject_alt_name, nullptr, nullptr)));
  for (int at = 0; names && at < sk_GENERAL_NAME_num(names.get()); ++at) {
    const GENERAL_NAME* one = sk_GENERAL_NAME_value(names.get(), at);
    if (one->type != GEN_DNS) continue;
    const ASN1_STRING* text = one->d.dNSName;
    return std::string(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                       static_cast<std::size_t>(ASN1_STRING_length(text)));
  }
  return std::unexpected("it is for no DNS name");
}

}  // namespace suite::iut::tls
