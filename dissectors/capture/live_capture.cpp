// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/capture/live_capture.hpp"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pcap/pcap.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace dissectors::capture {

namespace {

constexpr int buffer_size = 64 * 1024 * 1024;
constexpr int timeout_milliseconds = 10;
constexpr int snapshot_length = 262144;
constexpr std::uint16_t discard_port = 9;
constexpr std::uint32_t unused_group =
    0xEFFF4D4D;  // 239.255.77.77, administratively scoped (RFC 2365)
// `vlan` shifts the offsets of everything after it in a filter, so it comes last; links without
// VLANs refuse the keyword.
constexpr const char* ethernet_filter = "tcp or udp port 9 or (vlan and (tcp or udp port 9))";
constexpr const char* raw_filter = "tcp or udp port 9";

struct PcapCloser {
  void operator()(pcap_t* handle) const { pcap_close(handle); }
};
using Handle = std::unique_ptr<pcap_t, PcapCloser>;

std::string reason(const std::string& interface, const std::string& why) {
  return fmt::format("cannot capture on {}: {}", interface, why);
}

// The error of pcap_activate(), with the remedy if we know one.
std::string activation_problem(const std::string& interface, int status, pcap_t* handle) {
  if (status == PCAP_ERROR_PERM_DENIED) {
    return reason(
        interface,
        "no right to capture (CAP_NET_RAW); run as root or in the suite's own namespaces");
  }
  if (status == PCAP_ERROR_NO_SUCH_DEVICE) return reason(interface, "no such interface");
  if (status == PCAP_ERROR_IFACE_NOT_UP) return reason(interface, "the interface is down");
  const std::string detail = pcap_geterr(handle);
  return reason(interface, detail.empty() ? pcap_statustostr(status) : detail);
}

std::expected<LinkType, std::string> link_of(pcap_t* handle, const std::string& interface) {
  const int datalink = pcap_datalink(handle);
  if (const auto link = link_of_datalink(datalink)) return *link;
  const char* known = pcap_datalink_val_to_name(datalink);
  return std::unexpected(
      reason(interface, fmt::format("link type {} is not supported", known ? known : "?")));
}

std::expected<void, std::string> set_filter(pcap_t* handle, LinkType link,
                                            const std::string& interface) {
  const char* filter = link == LinkType::ethernet ? ethernet_filter : raw_filter;
  bpf_program program{};
  int status = pcap_compile(handle, &program, filter, 1, PCAP_NETMASK_UNKNOWN);
  if (status == 0) {
    status = pcap_setfilter(handle, &program);
    pcap_freecode(&program);
  }
  if (status != 0) return std::unexpected(reason(interface, pcap_geterr(handle)));
  return {};
}

}  // namespace

struct LiveCapture::State {
  Handle handle;
  LinkType link = LinkType::ethernet;
  std::string interface;
};

LiveCapture::LiveCapture(std::unique_ptr<State> state) : state_(std::move(state)) {}
LiveCapture::LiveCapture(LiveCapture&&) noexcept = default;
LiveCapture& LiveCapture::operator=(LiveCapture&&) noexcept = default;
LiveCapture::~LiveCapture() = default;

std::expected<LiveCapture, std::string> LiveCapture::open(const std::string& interface) {
  std::array<char, PCAP_ERRBUF_SIZE> error{};
  Handle handle(pcap_create(interface.c_str(), error.data()));
  if (!handle) return std::unexpected(reason(interface, error.data()));
  pcap_set_snaplen(handle.get(), snapshot_length);
  pcap_set_timeout(handle.get(), timeout_milliseconds);
  pcap_set_buffer_size(handle.get(), buffer_size);
  pcap_set_tstamp_precision(handle.get(), PCAP_TSTAMP_PRECISION_NANO);
  // With a warning (status > 0) it still captures. No promiscuous mode is needed: all our frames
  // are to or from this host.
  if (const int status = pcap_activate(handle.get()); status < 0) {
    return std::unexpected(activation_problem(interface, status, handle.get()));
  }
  if (pcap_setnonblock(handle.get(), 1, error.data()) != 0)
    return std::unexpected(reason(interface, error.data()));
  const auto link = link_of(handle.get(), interface);
  if (!link) return std::unexpected(link.error());
  if (const auto set = set_filter(handle.get(), *link, interface); !set)
    return std::unexpected(set.error());
  return LiveCapture(std::make_unique<State>(State{std::move(handle), *link, interface}));
}

int LiveCapture::fd() const { return pcap_get_selectable_fd(state_->handle.get()); }
LinkType LiveCapture::link() const { return state_->link; }

std::expected<void, std::string> LiveCapture::poll(const std::function<void(Frame)>& deliver) {
  struct Context {
    const std::function<void(Frame)>& deliver;
    std::uint64_t nanoseconds_per_unit;
  };
  const bool nanoseconds =
      pcap_get_tstamp_precision(state_->handle.get()) == PCAP_TSTAMP_PRECISION_NANO;
  Context context{deliver, nanoseconds ? std::uint64_t{1} : std::uint64_t{1000}};
  const auto callback = [](unsigned char* user, const pcap_pkthdr* header,
                           const unsigned char* octets) {
    const auto& held = *reinterpret_cast<Context*>(user);
    const auto* first = reinterpret_cast<const std::byte*>(octets);
    held.deliver(
        {.time = static_cast<std::uint64_t>(header->ts.tv_sec) * 1'000'000'000 +
                 static_cast<std::uint64_t>(header->ts.tv_usec) * held.nanoseconds_per_unit,
         .original_length = header->len,
         .octets = std::vector<std::byte>(first, first + header->caplen)});
  };
  if (pcap_dispatch(state_->handle.get(), -1, callback,
                    reinterpret_cast<unsigned char*>(&context)) < 0) {
    return std::unexpected(reason(state_->interface, pcap_geterr(state_->handle.get())));
  }
  return {};
}

CaptureCounts LiveCapture::counts() const {
  pcap_stat status{};
  if (pcap_stats(state_->handle.get(), &status) != 0) return {};
  return {
      .received = status.ps_recv, .dropped = status.ps_drop, .interface_dropped = status.ps_ifdrop};
}

// ---------------------------------------------------------------- sentinel

namespace {

// "RNIC sentinel", nonce, number; fixed size, host byte order: only its writer reads it.
struct SentinelText {
  std::array<char, 16> mark{'R', 'N', 'I', 'C', ' ', 's', 'e', 'n', 't', 'i', 'n', 'e', 'l'};
  std::uint64_t nonce = 0, number = 0;
};
static_assert(sizeof(SentinelText) == 32);

}  // namespace

std::expected<Sentinel, std::string> Sentinel::open(const std::string& interface,
                                                    std::uint64_t nonce) {
  const unsigned index = if_nametoindex(interface.c_str());
  if (index == 0)
    return std::unexpected(fmt::format("cannot send on {}: no such interface", interface));
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0)
    return std::unexpected(
        fmt::format("cannot make a UDP socket: {}", std::generic_category().message(errno)));
  Sentinel sentinel(fd, nonce);
  ip_mreqn outgoing{};
  outgoing.imr_ifindex = static_cast<int>(index);
  const int off = 0;
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(discard_port);
  to.sin_addr.s_addr = htonl(interface == "lo" ? INADDR_LOOPBACK : unused_group);
  if (::setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &outgoing, sizeof outgoing) != 0 ||
      ::setsockopt(fd, IPPROTO_IP, IP_MULTICAST_LOOP, &off, sizeof off) != 0 ||
      ::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    return std::unexpected(
        fmt::format("cannot send on {}: {}", interface, std::generic_category().message(errno)));
  }
  return sentinel;
}

Sentinel::Sentinel(Sentinel&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), nonce_(other.nonce_), sent_(other.sent_) {}

Sentinel& Sentinel::operator=(Sentinel&& other) noexcept {
  std::swap(socket_, other.socket_);
  nonce_ = other.nonce_;
  sent_ = other.sent_;
  return *this;
}

Sentinel::~Sentinel() {
  if (socket_ >= 0) ::close(socket_);
}

std::expected<std::uint64_t, std::string> Sentinel::send() {
  SentinelText text;
  text.nonce = nonce_;
  text.number = ++sent_;
  // On loopback there is no listener, and the next send reports the refusal of a datagram.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (::send(socket_, &text, sizeof text, 0) == sizeof text) return sent_;
    if (errno != ECONNREFUSED) break;
  }
  return std::unexpected(
      fmt::format("cannot send a sentinel frame: {}", std::generic_category().message(errno)));
}

std::optional<std::uint64_t> Sentinel::recognise(LinkType link, base::Bytes frame) const {
  const auto datagram = parse_datagram(link, frame);
  if (!datagram || datagram->port != discard_port ||
      datagram->payload.size() < sizeof(SentinelText))
    return {};
  SentinelText text;
  const auto mark = text.mark;
  std::memcpy(&text, datagram->payload.data(), sizeof text);
  if (text.mark != mark || text.nonce != nonce_) return {};
  return text.number;
}

}  // namespace dissectors::capture
