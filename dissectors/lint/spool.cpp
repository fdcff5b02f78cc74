// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/lint/spool.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "dissectors/capture/pcap_file.hpp"

namespace dissectors::lint {

namespace {

std::unexpected<std::string> cannot_keep(const std::string& folder, int fault) {
  return std::unexpected(fmt::format("cannot keep a copy of the frames in {}: {}", folder,
                                     std::generic_category().message(fault)));
}

}  // namespace

std::expected<Spool, std::string> Spool::create(const std::string& folder, capture::LinkType link) {
  std::string name = folder + "/rnic-lint.XXXXXX";
  const int fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) return cannot_keep(folder, errno);
  ::unlink(name.c_str());
  std::FILE* file = ::fdopen(fd, "w+b");
  if (file == nullptr) {
    ::close(fd);
    return cannot_keep(folder, ENOMEM);
  }
  Spool spool(file, folder);
  spool.add(capture::pcap_header(link));
  return spool;
}

Spool::Spool(Spool&& other) noexcept
    : file_(std::exchange(other.file_, nullptr)),
      folder_(std::move(other.folder_)),
      fault_(other.fault_) {}

Spool& Spool::operator=(Spool&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(folder_, other.folder_);
  std::swap(fault_, other.fault_);
  return *this;
}

Spool::~Spool() {
  if (file_ != nullptr) std::fclose(file_);
}

void Spool::add(const std::vector<std::byte>& octets) {
  if (fault_ == 0 && std::fwrite(octets.data(), 1, octets.size(), file_) != octets.size())
    fault_ = errno;
}

void Spool::add(const capture::FrameView& frame) {
  std::vector<std::byte> record;
  capture::append_pcap_frame(record, frame);
  add(record);
}

std::expected<capture::CaptureReader, std::string> Spool::read() {
  if (std::fflush(file_) != 0 && fault_ == 0) fault_ = errno;
  if (fault_ != 0) return cannot_keep(folder_, fault_);
  // Opened anew, so that it reads from the start.
  return capture::CaptureReader::open(fmt::format("/proc/self/fd/{}", ::fileno(file_)));
}

}  // namespace dissectors::lint
