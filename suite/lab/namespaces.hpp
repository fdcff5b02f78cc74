// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Private network namespaces of a run: two hosts on one link, with nothing between them that
// changes TCP segments.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <vector>

#include "base/file_descriptor.hpp"

namespace suite::lab {

enum class Privilege { root, user_namespace };

/// Moves this process into network and mount namespaces of its own; without root, into a user
/// namespace in which it has the rights that a lab needs. Must be called while the process has one
/// thread. Everything made in them disappears with the processes that hold them. The error is one
/// line that says what the system forbids and what to do about it.
[[nodiscard]] std::expected<Privilege, std::string> enter_private_namespaces();

/// One end of the link. Addresses are literals without prefix length.
struct LabHost {
  int network_namespace = -1;  ///< held open by the Lab; -1: the host is a guest, or elsewhere
  std::string interface;
  std::string ipv4, ipv6;
  unsigned ipv4_prefix = 24, ipv6_prefix = 64;
  unsigned mtu = 1500;
  std::string further_ipv4{}, further_ipv6{};  ///< of the same interface; empty: none
  /// The first of `spare_count` further addresses, each for one use: what other hosts learn about
  /// the path to one of them affects nothing else.
  std::string spare_ipv4{};
  unsigned spare_count = 0;
};

struct LabOptions {
  unsigned mtu = 1500;
  std::string tester_ipv4 = "10.77.0.1", iut_ipv4 = "10.77.0.2";
  std::string tester_ipv6 = "fd77::1", iut_ipv6 = "fd77::2";
  std::string further_ipv4 = "10.77.0.3", further_ipv6 = "fd77::3";  ///< of the IUT
  std::string tester_spare = "10.77.0.128/25";  ///< further addresses of the tester
};

/// Tester and IUT on one link: MTU as given, segmentation and receive offloads off at both ends,
/// both address families usable at once (no duplicate address detection, no router solicitation).
class Lab {
 public:
  /// Both hosts are network namespaces, joined by a veth pair.
  [[nodiscard]] static std::expected<Lab, std::string> with_veth(const LabOptions& options = {});
  /// The tester's interface is a tap device; the IUT is a guest that gets tap().
  [[nodiscard]] static std::expected<Lab, std::string> with_tap(const LabOptions& options = {});

  /// Another tap device in the tester's namespace, on a network of its own, where the tester has
  /// this address (`10.78.0.1/24`). It disappears with its descriptor.
  [[nodiscard]] std::expected<base::FileDescriptor, std::string> add_tap(
      const std::string& interface, const std::string& ipv4) const;

  [[nodiscard]] const LabHost& tester() const { return tester_; }
  [[nodiscard]] const LabHost& iut() const { return iut_; }
  /// The tap device's descriptor, for QEMU's `-netdev tap,fd=`; -1 in a veth lab.
  [[nodiscard]] int tap() const { return tap_.get(); }

 private:
  Lab() = default;
  [[nodiscard]] std::expected<void, std::string> make_hosts(const LabOptions& options);

  base::FileDescriptor tester_namespace_, iut_namespace_, tap_;
  LabHost tester_, iut_;
};

/// Several guests on one network, and a host of ours with them: a namespace with a bridge, which is
/// the host's interface, and a tap device for each guest. Offloads are off everywhere.
class Bridge {
 public:
  [[nodiscard]] static std::expected<Bridge, std::string> with_taps(std::size_t guests,
                                                                    const LabOptions& options = {});

  [[nodiscard]] const LabHost& host() const { return host_; }
  [[nodiscard]] int tap(std::size_t guest) const { return taps_.at(guest).get(); }
  /// The name of that guest's tap device, in the host's namespace: all that it sends and receives.
  [[nodiscard]] static std::string tap_interface(std::size_t guest);

 private:
  Bridge() = default;
  [[nodiscard]] std::expected<void, std::string> add_tap(std::size_t guest);

  base::FileDescriptor namespace_;
  std::vector<base::FileDescriptor> taps_;
  LabHost host_;
};

/// A new network namespace; this thread remains in its own.
[[nodiscard]] std::expected<base::FileDescriptor, std::string> make_network_namespace();
/// Runs `work` with this thread in the namespace, and returns to the previous one.
[[nodiscard]] std::expected<void, std::string> in_network_namespace(
    int network_namespace, const std::function<std::expected<void, std::string>()>& work);

/// A path to the namespace for other processes while this one holds the descriptor; empty for -1.
[[nodiscard]] std::string namespace_path(int network_namespace);
/// As above, in the namespace at this path; empty: where this thread is.
[[nodiscard]] std::expected<void, std::string> in_network_namespace(
    const std::string& path, const std::function<std::expected<void, std::string>()>& work);

}  // namespace suite::lab
