// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/iut/tls/join_token.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "suite/iut/tls/endpoint.hpp"

namespace suite::iut::tls {
namespace {

constexpr std::string_view first_line = "rnic-token: 1";
constexpr std::string_view begin_of_pem = "-----BEGIN ";
constexpr std::size_t longest_token = 65'536;

using Field = std::pair<std::string_view, std::string JoinToken::*>;
constexpr std::array<Field, 5> fields{{{"event", &JoinToken::event},
                                       {"participant", &JoinToken::participant},
                                       {"connect", &JoinToken::connect},
                                       {"peer", &JoinToken::peer},
                                       {"address", &JoinToken::address}}};

/// Takes the first line off the text.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);  // it may have come by mail
  return line;
}

bool is_control(char each) { return static_cast<unsigned char>(each) < ' ' || each == 0x7F; }

/// A line for people: short, and without what a terminal would obey.
std::string shown(std::string_view line) {
  constexpr std::size_t enough = 60;
  std::string text(line.substr(0, enough));
  std::replace_if(text.begin(), text.end(), is_control, '?');
  return text;
}

/// False: there is no such field, it was there before, or its value is none.
bool take(std::string_view line, JoinToken& into) {
  for (const auto& [name, member] : fields) {
    if (line.substr(0, name.size()) != name || line.substr(name.size(), 2) != ": ") continue;
    std::string& value = into.*member;
    if (!value.empty()) return false;
    value = line.substr(name.size() + 2);
    return !value.empty() && std::none_of(value.begin(), value.end(), is_control);
  }
  return false;
}

std::string fault_of(const JoinToken& token) {
  for (const auto& [name, member] : fields)
    if ((token.*member).empty()) return "it has no line '" + std::string(name) + ": ...'";
  const auto place = parse_endpoint(token.connect);
  if (!place || place->host.empty()) return "'connect: " + token.connect + "' is not HOST:PORT";
  if (!is_dns_name(token.peer)) return "'peer: " + token.peer + "' is no DNS name";
  return {};
}

}  // namespace

std::string head_of(const JoinToken& token) {
  std::string text = std::string(first_line) + '\n';
  for (const auto& [name, member] : fields) text += std::string(name) + ": " + token.*member + '\n';
  return text;
}

std::optional<JoinToken> parse_join_token(std::string_view text, std::string& error) {
  if (next_line(text) != first_line) {
    error = "this is no token of rnic-plugfest of this release: it begins with '" +
            std::string(first_line) + "'";
    return std::nullopt;
  }
  JoinToken made;
  while (!text.empty() && text.substr(0, begin_of_pem.size()) != begin_of_pem) {
    const std::string_view line = next_line(text);
    if (line.empty() || take(line, made)) continue;
    error = "it has a line that is not understood: '" + shown(line) + "'";
    return std::nullopt;
  }
  error = text.empty() ? "it was cut off: certificate and key are missing" : fault_of(made);
  if (!error.empty()) return std::nullopt;
  return made;
}

std::optional<JoinToken> load_join_token(const std::string& file, std::string& error) {
  std::ifstream in(file, std::ios::binary);
  std::string text(longest_token + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.is_open() || in.bad()) {
    error = file + ": " + std::strerror(errno);
    return std::nullopt;
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  auto made = text.size() > longest_token ? std::nullopt : parse_join_token(text, error);
  if (text.size() > longest_token) error = "it is too long for a token";
  if (!made) error = file + ": " + error;
  return made;
}

}  // namespace suite::iut::tls
