// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "base/line_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

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
  const auto draft = std::filesystem::path(file).concat(".new");
  constexpr mode_t mode = 0666;
  const FileDescriptor fd(::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (!fd) return errno;
  int fault = write_all(fd.get(), text);
  if (fault == 0 && ::fsync(fd.get()) != 0) fault = errno;
  if (fault == 0 && ::rename(draft.c_str(), file.c_str()) != 0) fault = errno;
  if (fault != 0) ::unlink(draft.c_str());
  return fault;
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
