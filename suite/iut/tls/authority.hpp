// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Certificates for the two ends of an agent's connection, made by an authority for that purpose
// only, as the commands of docs/first-run-on-two-hosts.md make them.
#pragma once

#include <expected>
#include <string>

namespace suite::iut::tls {

/// In PEM.
struct Credentials {
  std::string certificate, key;
};

/// The error of each is one line.
[[nodiscard]] std::expected<Credentials, std::string> make_authority(const std::string& name,
                                                                     int days);
/// For one end with this DNS name. The authority's certificate must hold as long.
[[nodiscard]] std::expected<Credentials, std::string> sign_for(const Credentials& authority,
                                                               const std::string& dns_name,
                                                               int days);
/// The first DNS name that a certificate is for.
[[nodiscard]] std::expected<std::string, std::string> dns_name_of(const std::string& certificate);

}  // namespace suite::iut::tls
