// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/capture/capture_reader.hpp"

#include <pcap/pcap.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/fetch_ahead.hpp"
#include "dissectors/capture/pcap_records.hpp"

namespace dissectors::capture {

namespace {

// The source that libpcap's FILE reads, or in which records are viewed; `position` octets were
// taken so far.
struct Feed {
  std::unique_ptr<OctetSource> source;
  base::Bytes in_place;  // all of the source: then there is no buffer
  std::vector<std::byte> buffer;
  std::size_t begin = 0, end = 0;
  std::uint64_t position = 0;

  void take_from(std::unique_ptr<OctetSource> from) {
    source = std::move(from);
    in_place = source->in_place();
    if (in_place.empty()) buffer.resize(2 * longest_captured_frame);
  }

  // At least this many octets, or all that are left; they stay in place until the next call.
  base::Bytes peek(std::size_t count) {
    if (!in_place.empty()) return in_place.subspan(begin);
    while (end - begin < count) {
      if (begin + count > buffer.size()) {
        std::copy(buffer.begin() + static_cast<std::ptrdiff_t>(begin),
                  buffer.begin() + static_cast<std::ptrdiff_t>(end), buffer.begin());
        end -= std::exchange(begin, 0);
      }
      const std::size_t more = source->read(std::span(buffer).subspan(end));
      if (more == 0) break;
      end += more;
    }
    return base::Bytes(buffer).subspan(begin, end - begin);
  }
  void drop(std::size_t count) {
    begin += count;
    position += count;
    if (begin == end) begin = end = 0;
  }

  std::size_t read(std::span<std::byte> target) {
    if (!in_place.empty()) return read_in_place(target);
    if (begin == end) {
      begin = 0;
      end = source->read(buffer);
    }
    const std::size_t count = std::min(end - begin, target.size());
    std::copy_n(buffer.begin() + static_cast<std::ptrdiff_t>(begin), count, target.begin());
    begin += count;
    position += count;
    return count;
  }

  std::size_t read_in_place(std::span<std::byte> target) {
    const base::Bytes rest = in_place.subspan(begin);
    const std::size_t count = std::min(rest.size(), target.size());
    std::ranges::copy(rest.first(count), target.begin());
    drop(count);
    return count;
  }
};

// Never -1: the source reports its own fault.
ssize_t read_feed(void* cookie, char* target, std::size_t size) {
  auto& feed = *static_cast<Feed*>(cookie);
  return static_cast<ssize_t>(feed.read({reinterpret_cast<std::byte*>(target), size}));
}

// Reports the position and does not move: what ftello() asks for.
int tell_feed(void* cookie, off64_t* offset, int whence) {
  if (whence != SEEK_CUR || *offset != 0) return -1;
  *offset = static_cast<off64_t>(static_cast<Feed*>(cookie)->position);
  return 0;
}

struct PcapCloser {
  void operator()(pcap_t* handle) const { pcap_close(handle); }
};

// What libpcap does not read in a pcapng file, and which tool converts it. It requires one link
// type, one snapshot length and one byte order.
struct Unsupported {
  std::string_view reason;  ///< part of libpcap's
  std::string_view advice;
};
constexpr std::array unsupported{
    Unsupported{"different from the type",
                "take one interface at a time, with its own link type: tshark -r FILE -Y "
                "frame.interface_id==0 -w ONE.pcapng && editcap -F pcap -T ether ONE.pcapng "
                "PART.pcap"},
    Unsupported{"different from the snapshot length",
                "write it again: tshark -r FILE -F pcap -w WHOLE.pcap"},
    Unsupported{"different byte orders", "write it again: tshark -r FILE -w WHOLE.pcapng"}};

// libpcap reads the length of a section's first block before it knows the order of its octets.
bool is_of_the_other_byte_order(std::string_view reason) {
  constexpr std::string_view too_long = "pcapng block size ";
  constexpr std::uint32_t longest = std::uint32_t{1} << 24;
  std::uint32_t size = 0;
  if (!reason.starts_with(too_long)) return false;
  std::from_chars(reason.data() + too_long.size(), reason.data() + reason.size(), size);
  return size > longest && std::byteswap(size) <= longest && std::byteswap(size) % 4 == 0;
}

std::string_view advice_for(std::string_view reason) {
  if (is_of_the_other_byte_order(reason)) return unsupported.back().advice;
  const auto found = std::ranges::find_if(unsupported, [reason](const Unsupported& it) {
    return reason.find(it.reason) != std::string_view::npos;
  });
  return found == unsupported.end() ? std::string_view{} : found->advice;
}

std::string one_line(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace

struct CaptureReader::State {
  static constexpr std::size_t fetched_before_reading = 3072;
  Feed feed;  // outlives the handle, which reads from it
  std::vector<char> file_buffer = std::vector<char>(std::size_t{64} * 1024);  // so does this
  std::unique_ptr<pcap_t, PcapCloser> handle;
  std::optional<PcapFileHeader> ordinary;  // then there is no handle
  LinkType link = LinkType::ethernet;
  std::uint64_t frames = 0;
  bool octets_follow = true;
  std::array<std::size_t, 6> latest{};  // octets of the latest records
  std::size_t of_latest = 0;            // all of them
  std::size_t fetched = 0;              // octets of the source, if it is in place
  bool ended = false;
  std::optional<Tear> tear;

  // The octets that libpcap took; those in the FILE's buffer do not count.
  [[nodiscard]] std::uint64_t taken() const {
    return static_cast<std::uint64_t>(::ftello(::pcap_file(handle.get())));
  }
  void end_at(std::uint64_t offset, std::string reason, bool not_read_here) {
    ended = true;
    if (!reason.empty())
      tear = Tear{.offset = offset,
                  .frames = frames,
                  .reason = one_line(std::move(reason)),
                  .unsupported = not_read_here};
  }
  // A fault of the source is the better reason: libpcap only sees too few octets.
  void fail(std::uint64_t offset) {
    const std::string& below = feed.source->fault();
    std::string reason = below.empty() ? pcap_geterr(handle.get()) : below;
    const std::string_view advice = below.empty() ? advice_for(reason) : std::string_view{};
    end_at(offset, advice.empty() ? reason : fmt::format("{}; {}", reason, advice),
           !advice.empty());
  }
  // The same without libpcap.
  std::optional<FrameView> torn(std::string reason) {
    const std::string& below = feed.source->fault();
    end_at(feed.position, below.empty() ? std::move(reason) : below, false);
    return {};
  }
  // Each line once. By itself the processor would fetch ahead only within a page, and not over the headers.
  void fetch_until(std::size_t end) {
    constexpr std::size_t cache_line = 64;
    std::size_t at = fetched;
    for (end = std::min(end, feed.in_place.size()); at < end; at += cache_line)
      __builtin_prefetch(feed.in_place.data() + at);
    fetched = at;
  }
  // What is read next comes from memory while this record is dealt with: all that follows, up to the
  // end of the next one if it is no longer than usual, or the headers of one further ahead, which are
  // where they are expected if records come in a pattern, such as two of data and an acknowledgement.
  void fetch_ahead(std::size_t record) {
    constexpr std::size_t headers = 128;
    if (feed.in_place.empty()) return;
    const base::Bytes rest = feed.in_place.subspan(feed.begin);
    if (octets_follow) return fetch_until(feed.begin + fetched_before_reading);
    std::size_t& oldest = latest[frames % latest.size()];
    of_latest += record - std::exchange(oldest, record);
    if (rest.size() >= of_latest + headers) base::fetch_ahead(rest.subspan(of_latest, headers));
  }
  std::optional<FrameView> next_record();
};

std::optional<FrameView> CaptureReader::State::next_record() {
  const base::Bytes head = feed.peek(pcap_record_header_size);
  if (head.empty()) return torn({});
  if (head.size() < pcap_record_header_size)
    return torn(
        fmt::format("the file ends within the header of a record, after {} of its {} octets",
                    head.size(), pcap_record_header_size));
  const PcapRecordHeader header = parse_record_header(*ordinary, head);
  if (header.captured > longest_captured_frame)
    return torn(fmt::format("a record of {} octets, where frames have at most {}", header.captured,
                            longest_captured_frame));
  const std::size_t size = pcap_record_header_size + header.captured;
  const base::Bytes record = feed.peek(size);
  if (record.size() < size)
    return torn(fmt::format("the file ends within a frame, after {} of {} octets",
                            record.size() - pcap_record_header_size, header.captured));
  feed.drop(size);
  fetch_ahead(size);
  ++frames;
  return FrameView{.time = header.time,
                   .original_length = header.original,
                   .octets = record.subspan(pcap_record_header_size,
                                            std::min(header.captured, ordinary->snapshot))};
}

CaptureReader::CaptureReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
CaptureReader::CaptureReader(CaptureReader&&) noexcept = default;
CaptureReader& CaptureReader::operator=(CaptureReader&&) noexcept = default;
CaptureReader::~CaptureReader() = default;

std::expected<CaptureReader, std::string> CaptureReader::open(const std::string& path) {
  auto source = open_octets(path);
  if (!source) return std::unexpected(source.error());
  return read_from(unpacked(std::move(*source)), path == "-" ? "standard input" : path);
}

std::expected<CaptureReader, std::string> CaptureReader::read_from(
    std::unique_ptr<OctetSource> source, const std::string& name) {
  const auto refuse = [&name](std::string_view why) {
    return std::unexpected(fmt::format("cannot read {}: {}", name, one_line(std::string(why))));
  };
  auto state = std::make_unique<State>();
  state->feed.take_from(std::move(source));
  state->ordinary = ordinary_pcap(state->feed.peek(pcap_file_header_size));
  if (state->ordinary) {
    state->feed.drop(pcap_file_header_size);
    state->link = state->ordinary->link;
    return CaptureReader(std::move(state));
  }
  std::FILE* file = fopencookie(&state->feed, "r",
                                {.read = read_feed, .write = {}, .seek = tell_feed, .close = {}});
  if (file == nullptr) return refuse("no memory");
  // Without a buffer, every octet would be a call of its own.
  std::setvbuf(file, state->file_buffer.data(), _IOFBF, state->file_buffer.size());
  std::array<char, PCAP_ERRBUF_SIZE> error{};
  state->handle.reset(
      pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, error.data()));
  if (!state->handle) {
    std::fclose(file);
    if (const std::string& fault = state->feed.source->fault(); !fault.empty())
      return refuse(fault);
    if (state->feed.position == 0) return refuse("it is empty");
    return refuse(
        fmt::format("it is not a pcap or pcapng file, compressed or not ({})", error.data()));
  }
  const int datalink = pcap_datalink(state->handle.get());
  const auto link = link_of_datalink(datalink);
  if (!link) {
    const char* known = pcap_datalink_val_to_name(datalink);
    return refuse(fmt::format(
        "its link type {} is not supported; ethernet, raw IP, loopback and Linux cooked are. "
        "Convert it, N being the octets before the IP packet in each frame (4 in PPP): "
        "editcap -L -C N -T rawip FILE RAW.pcapng",
        known != nullptr ? known : fmt::to_string(datalink)));
  }
  state->link = *link;
  return CaptureReader(std::move(state));
}

LinkType CaptureReader::link() const { return state_->link; }
void CaptureReader::octets_follow(bool follow) { state_->octets_follow = follow; }
bool CaptureReader::frames_stay() const {
  return state_->ordinary && !state_->feed.in_place.empty();
}
const std::optional<Tear>& CaptureReader::tear() const { return state_->tear; }
std::uint64_t CaptureReader::frames() const { return state_->frames; }

std::optional<FrameView> CaptureReader::next() {
  if (state_->ended) return {};
  if (state_->ordinary) return state_->next_record();
  const std::uint64_t before = state_->taken();
  pcap_pkthdr* header = nullptr;
  const unsigned char* octets = nullptr;
  const int status = pcap_next_ex(state_->handle.get(), &header, &octets);
  if (status == 1) {
    ++state_->frames;
    // Hostile files have negative times and more nanoseconds than a second has; sums wrap.
    return FrameView{.time = static_cast<std::uint64_t>(header->ts.tv_sec) * 1'000'000'000 +
                             static_cast<std::uint64_t>(header->ts.tv_usec),
                     .original_length = header->len,
                     .octets = {reinterpret_cast<const std::byte*>(octets), header->caplen}};
  }
  if (status == PCAP_ERROR_BREAK)
    state_->end_at(before, state_->feed.source->fault(), false);
  else
    state_->fail(before);
  return {};
}

}  // namespace dissectors::capture
