// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// All that an agent needs to join an event, in one file: where the organiser's host is, and who
// both ends are. C++17, for the agent's own build.
//
// The file begins with lines `KEY: VALUE`; the PEM of the agent's certificate, of its key and of
// the authority's certificate follows. OpenSSL skips what comes before the PEM, so the file is
// certificate, key and authority at once (`openssl x509 -in FILE -noout -dates`).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace suite::iut::tls {

struct JoinToken {
  std::string event, participant;  ///< names, for people
  std::string connect;             ///< HOST:PORT of the organiser's host
  std::string peer;                ///< the DNS name that its certificate is for
  std::string address;             ///< of the participant's device: a literal
};

/// What comes before the PEM.
[[nodiscard]] std::string head_of(const JoinToken& token);

/// The reverse, of a whole file. `error` is one line, without the file's name.
[[nodiscard]] std::optional<JoinToken> parse_join_token(std::string_view text, std::string& error);
/// `error` names the file.
[[nodiscard]] std::optional<JoinToken> load_join_token(const std::string& file, std::string& error);

}  // namespace suite::iut::tls
