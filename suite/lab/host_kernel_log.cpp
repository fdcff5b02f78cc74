// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lab/host_kernel_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "base/pipe.hpp"
#include "suite/lab/kernel_log.hpp"

namespace suite::lab {

namespace {

constexpr std::size_t longest_line = 64 * 1024;
constexpr std::int64_t seconds_between_starts = 5;

std::int64_t now_in_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Record {
  std::string_view place;  ///< sequence number and time
  std::string_view text;
};

// `6,1234,5678900,-;text`, as Documentation/ABI/testing/dev-kmsg of the kernel describes it.
std::optional<Record> record_of(std::string_view line) {
  const std::size_t semicolon = line.find(';');
  if (semicolon == std::string_view::npos) return std::nullopt;
  const std::string_view head = line.substr(0, semicolon);
  const std::size_t first = head.find(',');
  const std::size_t second = first == head.npos ? first : head.find(',', first + 1);
  const std::size_t third = second == head.npos ? second : head.find(',', second + 1);
  if (third == head.npos) return std::nullopt;
  const std::string_view place = head.substr(first + 1, third - first - 1);
  const auto is_number = [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == ',';
  };
  if (place.empty() || !std::ranges::all_of(place, is_number)) return std::nullopt;
  return Record{place, line.substr(semicolon + 1)};
}

bool read_some(const base::FileDescriptor& from, std::string& into) {
  std::array<char, 16384> chunk{};
  const ssize_t count = ::read(from.get(), chunk.data(), chunk.size());
  if (count > 0) into.append(chunk.data(), static_cast<std::size_t>(count));
  return count > 0;
}

}  // namespace

std::string follow_kernel_log(std::string_view mark) {
  // When the connection ends, so does the reader, which may otherwise wait for the next record.
  return fmt::format(
      "echo '{}' >/dev/kmsg && {{ cat /dev/kmsg & reader=$!; cat >/dev/null; kill $reader; }}",
      mark);
}

void KernelLogLines::open(std::string mark) {
  mark_ = std::move(mark);
  rest_.clear();
  follows_ = false;
}

std::string KernelLogLines::take(std::string_view octets) {
  std::string text;
  rest_ += octets;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1)
    take_line(std::string_view(rest_).substr(begin, end - begin), text);
  rest_.erase(0, begin);
  if (rest_.size() > longest_line) rest_.clear();  // no log has such a line
  return text;
}

void KernelLogLines::take_line(std::string_view line, std::string& text) {
  if (line.starts_with(' ')) return;  // more about the record before it, such as its device
  const auto record = record_of(line);
  if (!record) {
    follows_ = true;
    text.append(line).push_back('\n');
    return;
  }
  const bool is_mark = record->text == mark_;
  if (follows_ && !is_mark) text.append(record->text).push_back('\n');
  if (is_mark || record->place == last_seen_) follows_ = true;
  if (follows_) last_seen_ = record->place;
}

HostKernelLog::HostKernelLog(Reach reach, std::string name, std::filesystem::path log_file)
    : reach_(std::move(reach)), name_(std::move(name)), log_file_(std::move(log_file)) {
  start();
}

void HostKernelLog::start() {
  started_ = now_in_seconds();
  failure_.reset();
  const std::string mark = fmt::format("rnic-suite: {} follows this log ({})", name_, ++openings_);
  lines_.open(mark);
  std::vector<std::string> command = reach_.words;
  if (!reach_.prints_it) command.push_back(follow_kernel_log(mark));
  auto in = base::make_pipe(), out = base::make_pipe(), errors = base::make_pipe();
  if (!in || !out || !errors) {
    failure_ = std::strerror(errno);
    return;
  }
  base::ProcessSetup setup;
  setup.input = in->read_end.get();
  setup.output = out->write_end.get();
  setup.errors = errors->write_end.get();
  setup.group = base::ProcessSetup::Group::session;
  setup.fresh_signals = true;
  std::string error;
  auto started = base::Process::start(command, setup, error);
  if (!started) {
    failure_ = error;
    return;
  }
  process_.emplace(std::move(*started));
  input_ = std::move(in->write_end);
  output_ = std::move(out->read_end);
  errors_ = std::move(errors->read_end);
  for (const int fd : {output_.get(), errors_.get()}) ::fcntl(fd, F_SETFL, O_NONBLOCK);
}

std::string HostKernelLog::complaint() {
  std::string text;
  if (process_) take(text);
  if (!process_ && now_in_seconds() - started_ >= seconds_between_starts) start();
  if (text.empty()) return {};
  if (!log_file_.empty()) std::ofstream(log_file_, std::ios::app) << text;
  const auto faults = find_kernel_faults(text);
  return faults.empty() ? std::string() : kernel_log_excerpt(text, faults.front().offset);
}

void HostKernelLog::take(std::string& text) {
  std::string octets;
  const bool over = process_->reap().has_value();
  while (read_some(output_, octets)) {
  }
  text += lines_.take(octets);
  if (over) ended();
}

void HostKernelLog::ended() {
  std::string said;
  while (said.size() < longest_line && read_some(errors_, said)) {
  }
  while (said.ends_with('\n')) said.pop_back();
  said = said.substr(said.rfind('\n') + 1);
  const base::ExitStatus how = process_->ended().value_or(base::ExitStatus{});
  failure_ = said.empty() ? fmt::format("its reader ended with status {}", how.code) : said;
  process_.reset();
  input_.close();
  output_.close();
  errors_.close();
}

}  // namespace suite::lab
