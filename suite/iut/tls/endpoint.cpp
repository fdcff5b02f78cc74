// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/iut/tls/endpoint.hpp"

#include <algorithm>

namespace suite::iut::tls {
namespace {

bool is_digit(char each) { return each >= '0' && each <= '9'; }

bool is_port(std::string_view text) {
  constexpr std::size_t longest = 5;
  constexpr int largest = 65535;
  if (text.empty() || text.size() > longest || !std::all_of(text.begin(), text.end(), is_digit))
    return false;
  const int number = std::stoi(std::string(text));
  return number >= 1 && number <= largest;
}

bool is_of(std::string_view text, std::string_view besides) {
  return std::all_of(text.begin(), text.end(), [besides](char each) {
    return is_digit(each) || (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
           besides.find(each) != std::string_view::npos;
  });
}

}  // namespace

std::optional<Endpoint> parse_endpoint(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const std::string_view port = colon == text.npos ? text : text.substr(colon + 1);
  std::string_view host = colon == text.npos ? std::string_view() : text.substr(0, colon);
  if (!is_port(port) || (colon != text.npos && host.empty())) return std::nullopt;
  const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (brackets) host = host.substr(1, host.size() - 2);
  if (!is_of(host, brackets ? ":.%-_" : ".-_") || (!host.empty() && host.front() == '-'))
    return std::nullopt;
  return Endpoint{std::string(host), std::string(port)};
}

bool is_dns_name(std::string_view text) {
  constexpr std::size_t longest = 253;
  return !text.empty() && text.size() <= longest && text.front() != '-' && text.front() != '.' &&
         is_of(text, "-.");
}

std::optional<AwaitedAgent> parse_awaited_agent(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == text.npos || !is_dns_name(text.substr(0, at)) || !parse_endpoint(text.substr(at + 1)))
    return std::nullopt;
  return AwaitedAgent{std::string(text.substr(0, at)), std::string(text.substr(at + 1))};
}

}  // namespace suite::iut::tls
