// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/shard.hpp"

#include <charconv>

#include <fmt/format.h>

namespace suite::runner {

namespace {

constexpr unsigned most = 1000;

bool read(const char* begin, const char* end, unsigned& value) {
  const auto result = std::from_chars(begin, end, value);
  return result.ec == std::errc() && result.ptr == end;
}

}  // namespace

std::expected<Shard, std::string> Shard::parse(const std::string& text) {
  if (text.empty()) return Shard();
  const std::size_t slash = text.find('/');
  Shard shard;
  const char* end = text.data() + text.size();
  const bool good = slash != std::string::npos &&
                    read(text.data(), text.data() + slash, shard.number) &&
                    read(text.data() + slash + 1, end, shard.count) && shard.number >= 1 &&
                    shard.number <= shard.count && shard.count <= most;
  if (good) return shard;
  return std::unexpected(
      fmt::format("'{}' is no shard: give its number and how many there are, 1/4 to 4/4", text));
}

std::string Shard::text() const { return count == 1 ? "" : fmt::format("{}/{}", number, count); }

}  // namespace suite::runner
