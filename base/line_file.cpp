// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "base/line_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace base {

int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

int replace_file(const std::filesystem::path& file, std::string_view text) {
  Replacement made(file);
  made.append(text);
  return made.commit();
}

Replacement::Replacement(std::filesystem::path file)
    : file_(std::move(file)), draft_(std::filesystem::path(file_).concat(".new")) {
  constexpr mode_t mode = 0666;
  fd_ = FileDescriptor(::open(draft_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (!fd_) fault_ = errno;
}

Replacement::~Replacement() {
  if (fd_) ::unlink(draft_.c_str());
}

void Replacement::append(std::string_view text) {
  constexpr std::size_t piece = std::size_t{1} << 20U;
  waiting_ += text;
  if (waiting_.size() >= piece) flush();
}

void Replacement::flush() {
  if (fault_ == 0) fault_ = write_all(fd_.get(), waiting_);
  waiting_.clear();
}

int Replacement::commit() {
  flush();
  if (fault_ == 0 && ::fsync(fd_.get()) != 0) fault_ = errno;
  if (fault_ == 0 && ::rename(draft_.c_str(), file_.c_str()) != 0) fault_ = errno;
  if (fault_ == 0) fd_ = FileDescriptor();
  return fault_;
}

int LineFile::begin() {
  const auto end = static_cast<off_t>(whole_);
  if (::ftruncate(file_.get(), end) != 0 || ::lseek(file_.get(), end, SEEK_SET) < 0) return errno;
  return 0;
}

int LineFile::append(std::string_view line) {
  const std::string text = std::string(line) + '\n';
  const int fault = write_all(file_.get(), text);
  if (fault == 0) {
    whole_ += text.size();
  } else {
    static_cast<void>(begin());
  }
  return fault;
}

int LineFile::sync() {
  const bool synced = ::fdatasync(file_.get()) == 0 || errno == EINVAL || errno == EROFS;
  return synced ? 0 : errno;
}

}  // namespace base
