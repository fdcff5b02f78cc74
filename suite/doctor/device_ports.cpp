// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/doctor/device_ports.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <string_view>
#include <utility>

namespace suite::doctor {

using results::PortRecord;

namespace {

// Prints `name value` lines; the first one of each port is `port`. Another host gets it through a
// shell that quotes it, so it has no quotation mark.
constexpr const char* question = R"sh(PATH=$PATH:/usr/sbin:/sbin
device=$1
cd /sys/class/infiniband/$device/ports || exit
for port in *; do
  echo "port $port"
  echo "state $(cat $port/state)"
  echo "rate $(cat $port/rate)"
  cat $port/gids/* 2>/dev/null | while read gid; do echo "gid $gid"; done
  interface=
  set -- $(rdma link show $device/$port 2>/dev/null)
  while [ $# -gt 1 ]; do [ "$1" = netdev ] && interface=$2; shift; done
  [ -n "$interface" ] || for net in ../device/net/*; do
    [ "$(cat $net/dev_port 2>/dev/null)" = $((port - 1)) ] && interface=${net##*/}
  done
  [ -n "$interface" ] || continue
  echo "interface $interface"
  echo "mtu $(cat /sys/class/net/$interface/mtu)"
  echo "speed $(cat /sys/class/net/$interface/speed 2>/dev/null)"
  ethtool -i $interface 2>/dev/null
  ethtool -k $interface 2>/dev/null
done
true)sh";

unsigned number(std::string_view text) {
  unsigned value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// What `ethtool -k` prints, and what `ethtool -K` calls it.
constexpr std::array<std::pair<std::string_view, const char*>, 6> features{
    {{"rx-checksumming:", "rx"},
     {"tx-checksumming:", "tx"},
     {"tcp-segmentation-offload:", "tso"},
     {"generic-segmentation-offload:", "gso"},
     {"generic-receive-offload:", "gro"},
     {"large-receive-offload:", "lro"}}};

void take(PortRecord& port, std::string_view name, const std::string& value) {
  if (name == "state") port.state = value;
  if (name == "rate") port.rate = value;
  if (name == "gid" && value.find_first_not_of("0:") != value.npos) port.gids.push_back(value);
  if (name == "interface") port.interface = value;
  if (name == "mtu") port.mtu = number(value);
  if (name == "speed") port.speed = number(value);
  if (name == "driver:") port.driver = value;
  if (name == "version:") port.driver_version = value;
  if (name == "firmware-version:") port.firmware = value;
  for (const auto& [feature, word] : features)
    if (name == feature && value.starts_with("on")) port.offloads.emplace_back(word);
}

}  // namespace

bool is_active(const PortRecord& port) { return port.state.find("ACTIVE") != std::string::npos; }

std::vector<PortRecord> ports_of(const std::string& device, const System& host) {
  std::vector<PortRecord> ports;
  std::istringstream lines(host.ask({"sh", "-c", question, "sh", device}).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.find(' ');
    const std::string_view name = std::string_view(line).substr(0, space);
    const std::string value = space == line.npos ? std::string() : line.substr(space + 1);
    if (name == "port") {
      ports.emplace_back().number = number(value);
    } else if (!ports.empty()) {
      take(ports.back(), name, value);
    }
  }
  std::ranges::sort(ports, {}, &PortRecord::number);
  return ports;
}

}  // namespace suite::doctor
