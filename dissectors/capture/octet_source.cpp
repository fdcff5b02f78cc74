// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/capture/octet_source.hpp"

#include <fcntl.h>
#include <lzma.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace dissectors::capture {

namespace {

constexpr std::size_t buffer_size = std::size_t{256} * 1024;

class FileSource final : public OctetSource {
 public:
  explicit FileSource(int fd) : fd_(fd) {}
  ~FileSource() override {
    if (fd_ != STDIN_FILENO) ::close(fd_);
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  std::size_t read(std::span<std::byte> buffer) override {
    for (;;) {
      const ssize_t count = ::read(fd_, buffer.data(), buffer.size());
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno == EINTR) continue;
      fault_ = std::generic_category().message(errno);
      return 0;
    }
  }
  [[nodiscard]] const std::string& fault() const override { return fault_; }

 private:
  int fd_;
  std::string fault_;
};

class MemorySource : public OctetSource {
 public:
  explicit MemorySource(base::Bytes octets) : rest_(octets) {}
  std::size_t read(std::span<std::byte> buffer) override {
    const std::size_t count = std::min(buffer.size(), rest_.size());
    std::ranges::copy(rest_.first(count), buffer.begin());
    rest_ = rest_.subspan(count);
    return count;
  }
  [[nodiscard]] base::Bytes in_place() const override { return rest_; }
  [[nodiscard]] const std::string& fault() const override { return none_; }

 private:
  base::Bytes rest_;
  std::string none_;
};

/// The kernel need not copy what is mapped.
class MappedSource final : public MemorySource {
 public:
  explicit MappedSource(base::Bytes mapped) : MemorySource(mapped), mapped_(mapped) {
    ::madvise(address(), mapped_.size(), MADV_SEQUENTIAL);
  }
  ~MappedSource() override { ::munmap(address(), mapped_.size()); }
  MappedSource(const MappedSource&) = delete;
  MappedSource& operator=(const MappedSource&) = delete;

  [[nodiscard]] static std::unique_ptr<OctetSource> of(int fd, const struct stat& status) {
    if (!S_ISREG(status.st_mode) || status.st_size <= 0) return nullptr;
    const auto size = static_cast<std::size_t>(status.st_size);
    void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped == MAP_FAILED) return nullptr;
    return std::make_unique<MappedSource>(base::Bytes(static_cast<const std::byte*>(mapped), size));
  }

 private:
  [[nodiscard]] void* address() const { return const_cast<std::byte*>(mapped_.data()); }
  base::Bytes mapped_;
};

// First the octets that were read to recognise the compression, then the rest.
class Packed {
 public:
  explicit Packed(std::unique_ptr<OctetSource> source) : source_(std::move(source)) {}

  // Makes sure that so many octets are in the buffer, unless the source ends before; returns them.
  base::Bytes peek(std::size_t count) {
    while (end_ - begin_ < count && !at_end_) refill();
    return base::Bytes(buffer_).subspan(begin_, end_ - begin_);
  }
  void drop(std::size_t count) { begin_ += count; }
  // First the octets that were read ahead, then directly from the source.
  std::size_t take(std::span<std::byte> buffer) {
    if (begin_ == end_) return source_->read(buffer);
    const std::size_t count = std::min(end_ - begin_, buffer.size());
    std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_), count, buffer.begin());
    begin_ += count;
    return count;
  }
  [[nodiscard]] const std::string& fault() const { return source_->fault(); }

 private:
  void refill() {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
    end_ -= std::exchange(begin_, 0);
    const std::size_t count = source_->read(std::span(buffer_).subspan(end_));
    at_end_ = count == 0;
    end_ += count;
  }

  std::unique_ptr<OctetSource> source_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(buffer_size);
  std::size_t begin_ = 0, end_ = 0;
  bool at_end_ = false;
};

class PlainSource final : public OctetSource {
 public:
  explicit PlainSource(Packed packed) : packed_(std::move(packed)) {}
  std::size_t read(std::span<std::byte> buffer) override { return packed_.take(buffer); }
  [[nodiscard]] const std::string& fault() const override { return packed_.fault(); }

 private:
  Packed packed_;
};

// A compressed source ends properly, or with a fault: its own, or one of the source that it reads.
class UnpackingSource : public OctetSource {
 public:
  explicit UnpackingSource(Packed packed) : packed_(std::move(packed)) {}
  [[nodiscard]] const std::string& fault() const override {
    return fault_.empty() ? packed_.fault() : fault_;
  }

 protected:
  std::size_t stop(std::string why) {
    done_ = true;
    fault_ = std::move(why);
    return 0;
  }

  Packed packed_;
  bool done_ = false;

 private:
  std::string fault_;
};

class GzipSource final : public UnpackingSource {
 public:
  explicit GzipSource(Packed packed) : UnpackingSource(std::move(packed)) {
    // 15: the largest window; 16: a gzip header and trailer are expected.
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) stop("no memory to unpack gzip");
  }
  ~GzipSource() override { inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  std::size_t read(std::span<std::byte> buffer) override {
    while (!done_) {
      const base::Bytes there = packed_.peek(1);
      if (there.empty()) return stop(between_members_ ? "" : "the gzip stream ends too early");
      // A file may have several gzip streams, one after the other; zeros may pad its end.
      if (between_members_ && there.front() == std::byte{0}) {
        packed_.drop(1);
        continue;
      }
      const std::size_t made = step(there, buffer);
      if (made > 0) return made;
    }
    return 0;
  }

 private:
  std::size_t step(base::Bytes there, std::span<std::byte> buffer) {
    between_members_ = false;
    // zlib writes to neither of them but asks for pointers to octets that it may change.
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(there.data()));
    stream_.avail_in = static_cast<uInt>(there.size());
    stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    const auto room = static_cast<uInt>(std::min(buffer.size(), buffer_size));
    stream_.avail_out = room;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    packed_.drop(there.size() - stream_.avail_in);
    const std::size_t made = room - stream_.avail_out;
    if (status == Z_STREAM_END) {
      inflateReset(&stream_);
      between_members_ = true;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      stop(fmt::format("the gzip stream is damaged ({})",
                       stream_.msg != nullptr ? stream_.msg : "no reason given"));
    }
    return made;
  }

  z_stream stream_{};
  bool between_members_ = false;
};

class ZstdSource final : public UnpackingSource {
 public:
  explicit ZstdSource(Packed packed) : UnpackingSource(std::move(packed)) {}

  std::size_t read(std::span<std::byte> buffer) override {
    ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
    while (!done_ && out.pos == 0) {
      const base::Bytes there = packed_.peek(1);
      // The decompressor may still have output without more input.
      ZSTD_inBuffer in{there.data(), there.size(), 0};
      const bool at_end = there.empty();
      if (at_end && between_frames_) return stop("");
      const std::size_t status = ZSTD_decompressStream(stream_.get(), &out, &in);
      packed_.drop(in.pos);
      if (ZSTD_isError(status) != 0)
        stop(fmt::format("the zstd stream is damaged ({})", ZSTD_getErrorName(status)));
      else if (at_end && out.pos == 0)
        stop("the zstd stream ends too early");
      between_frames_ = status == 0;
    }
    return out.pos;
  }

 private:
  struct Freer {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  std::unique_ptr<ZSTD_DStream, Freer> stream_{ZSTD_createDStream()};
  bool between_frames_ = false;
};

class XzSource final : public UnpackingSource {
 public:
  explicit XzSource(Packed packed) : UnpackingSource(std::move(packed)) {
    // A file may hold several xz streams, one after the other.
    if (lzma_stream_decoder(&stream_, most_memory, LZMA_CONCATENATED) != LZMA_OK)
      stop("no memory to unpack xz");
  }
  ~XzSource() override { lzma_end(&stream_); }
  XzSource(const XzSource&) = delete;
  XzSource& operator=(const XzSource&) = delete;

  std::size_t read(std::span<std::byte> buffer) override {
    stream_.next_out = reinterpret_cast<std::uint8_t*>(buffer.data());
    stream_.avail_out = buffer.size();
    while (!done_ && stream_.avail_out == buffer.size()) {
      const base::Bytes there = packed_.peek(1);
      stream_.next_in = reinterpret_cast<const std::uint8_t*>(there.data());
      stream_.avail_in = there.size();
      const lzma_ret status = lzma_code(&stream_, there.empty() ? LZMA_FINISH : LZMA_RUN);
      packed_.drop(there.size() - stream_.avail_in);
      if (status == LZMA_STREAM_END)
        stop("");
      else if (status == LZMA_BUF_ERROR && there.empty())
        stop("the xz stream ends too early");
      else if (status == LZMA_MEMLIMIT_ERROR)
        stop("the xz stream takes more than 128 MiB to unpack");
      else if (status != LZMA_OK && status != LZMA_BUF_ERROR)
        stop("the xz stream is damaged");
    }
    return buffer.size() - stream_.avail_out;
  }

 private:
  static constexpr std::uint64_t most_memory = std::uint64_t{128} << 20;
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

bool begins_with(base::Bytes octets, std::string_view mark) {
  return octets.size() >= mark.size() && std::memcmp(octets.data(), mark.data(), mark.size()) == 0;
}

}  // namespace

std::expected<std::unique_ptr<OctetSource>, std::string> open_octets(const std::string& path) {
  if (path == "-") return std::make_unique<FileSource>(STDIN_FILENO);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return std::unexpected(
        fmt::format("cannot read {}: {}", path, std::generic_category().message(errno)));
  auto source = std::make_unique<FileSource>(fd);
  struct stat status{};
  if (::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode))
    return std::unexpected(fmt::format("cannot read {}: it is a folder", path));
  if (auto mapped = MappedSource::of(fd, status)) return mapped;
  return source;
}

std::unique_ptr<OctetSource> octets_in_memory(base::Bytes octets) {
  return std::make_unique<MemorySource>(octets);
}

std::unique_ptr<OctetSource> unpacked(std::unique_ptr<OctetSource> source) {
  using namespace std::string_view_literals;
  constexpr auto gzip = "\x1f\x8b"sv, zstd = "\x28\xb5\x2f\xfd"sv, xz = "\xfd\x37zX"sv;
  const auto is_packed = [&](base::Bytes front) {
    return begins_with(front, gzip) || begins_with(front, zstd) || begins_with(front, xz);
  };
  if (const base::Bytes all = source->in_place(); !all.empty() && !is_packed(all)) return source;
  Packed packed(std::move(source));
  const base::Bytes front = packed.peek(4);
  if (begins_with(front, gzip)) return std::make_unique<GzipSource>(std::move(packed));
  if (begins_with(front, zstd)) return std::make_unique<ZstdSource>(std::move(packed));
  if (begins_with(front, xz)) return std::make_unique<XzSource>(std::move(packed));
  return std::make_unique<PlainSource>(std::move(packed));
}

}  // namespace dissectors::capture
