// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The QEMU guest with the Linux kernel's soft-iWARP: prepared from Debian's packages, booted,
// controlled, watched, booted again.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.hpp"
#include "suite/lab/console.hpp"
#include "suite/lab/kernel_log.hpp"

namespace suite::lab {

/// Where the parts of the guest are on this host; the defaults are those of the build.
struct GuestPaths {
  std::filesystem::path prepare_script;  ///< suite/lab/siw_vm/prepare.sh
  std::filesystem::path kernel_agent;    ///< suite/upper_tester/kernel/build.sh
  std::filesystem::path kdat;            ///< suite/cases/kdat/kernel/build.sh
  std::filesystem::path daemon;          ///< rnic-guestd
  std::filesystem::path guest_agent;     ///< rnic-guest-agent
  std::filesystem::path cache;           ///< ${XDG_CACHE_HOME:-~/.cache}/rnic-suite/siw-vm
};
[[nodiscard]] GuestPaths default_guest_paths();

/// The kernel's RDMA device in software: soft-iWARP, or that of InfiniBand's transport over UDP.
enum class GuestDevice : std::uint8_t { siw, rxe };

struct GuestOptions {
  GuestPaths paths = default_guest_paths();
  std::string series = "6.1";             ///< of Debian's kernels, the newest of which is taken
  std::filesystem::path kernel_source{};  ///< a Linux source tree to build instead; empty: none
  bool kernel_checks = false;   ///< it is built with KASAN, lockdep, kmemleak and the like
  bool kernel_drivers = false;  ///< so are drivers of iWARP hardware, which nobody loads
  /// A kernel that is built already, and the folder of its modules; empty: none
  std::filesystem::path kernel_image{}, kernel_modules{};
  std::vector<std::filesystem::path> programs;  ///< packed into the guest's /bin, e.g. rnic-agent
  std::filesystem::path root;  ///< a folder laid over the guest's file system; empty: none
  unsigned agent_channels = 4;
  unsigned processors = 2;
  unsigned memory_mib = 512;
  std::string ipv4 = "10.77.0.2/24", ipv6 = "fd77::2/64";
  std::string further_ipv4{}, further_ipv6{};  ///< of the same interface; empty: none
  std::string mac = "52:54:00:77:00:02";
  unsigned mtu = 1500;
  int management_tap = -1;  ///< of a second interface, eth1; -1: there is none
  std::string management_ipv4{}, management_mac = "52:54:00:78:00:02";
  GuestDevice device = GuestDevice::siw;
  std::string variant = "default";  ///< of siw; see siw_vm/README.md
  bool kernel_agent = false;        ///< the module rnic_kagent is built and loaded
  bool kdat = false;                ///< kdat and rnic_kdat_agent are
  bool ends_at_oops = true;         ///< else the kernel continues, as a server's does
  bool ends_at_panic = true;        ///< else the machine stands still until monitor() resets it
  /// Red zones and poisoning of the kernel's kmalloc: finds memory errors
  bool slab_checks = true;
  /// The kernel log is appended here too, each line with the host's time
  std::filesystem::path log_file;
};

using Progress = std::function<void(std::string_view)>;

/// A guest and its QEMU process. The thread that calls boot() must live as long as the guest: QEMU
/// ends with it. Not for use by several threads at the same time.
class Guest {
 public:
  explicit Guest(GuestOptions options);
  ~Guest();  ///< ends QEMU
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  /// Downloads, compiles and packs what is not in the cache yet. The first time needs the package
  /// archive and half a minute.
  [[nodiscard]] std::expected<void, std::string> prepare(const Progress& progress = {});
  /// Uses what another guest with the same options has prepared.
  void prepare_as(const Guest& other);

  /// Starts QEMU on the tap device of a Lab and waits until the guest answers. Prepares first if
  /// that was not done. Also boots again after the guest has crashed or was shut down.
  [[nodiscard]] std::expected<void, std::string> boot(
      int tap, std::chrono::milliseconds time_limit = boot_time);
  /// boot() in two steps, for callers with other things to do in the meantime: this starts QEMU ...
  [[nodiscard]] std::expected<void, std::string> start(int tap);
  /// ... and this, when answer_descriptor() is readable or the time is up, waits for the rest of
  /// the guest's answer. A guest that is not alive then is ended.
  [[nodiscard]] std::expected<void, std::string> await_boot(
      std::chrono::milliseconds time_limit = boot_time);
  [[nodiscard]] int answer_descriptor() const;
  static constexpr std::chrono::minutes boot_time{5};  ///< emulated, on a host that is busy
  /// In a row, then a guest is given up. An emulated kernel now and then dies before it is up.
  static constexpr int most_failed_boots = 2;

  /// QEMU runs and the kernel has not panicked.
  [[nodiscard]] bool alive();
  /// Waits this long at most for its end; returns whether it came.
  [[nodiscard]] bool dies_within(std::chrono::milliseconds time_limit);
  /// Why it is not alive, for people; empty while it is.
  [[nodiscard]] std::string obituary();

  /// Sends one order and waits for its answer: `ping`, `kmsg TEXT`, `kill-agent N`,
  /// `load-variant NAME` (ends all agents), `crash`, `poweroff`. The value is what followed "ok".
  [[nodiscard]] std::expected<std::string, std::string> control(
      std::string_view order, std::chrono::milliseconds time_limit = std::chrono::seconds(20));

  /// The unix socket of agent channel n, the same after each boot.
  [[nodiscard]] std::string agent_channel(unsigned n) const;
  /// The command on this host that runs `argv` in the guest with our stdio: an agent's command
  /// line.
  [[nodiscard]] std::vector<std::string> agent_command(unsigned n,
                                                       const std::vector<std::string>& argv) const;

  /// Whether its kernel looks for memory that nothing refers to any more (kmemleak).
  [[nodiscard]] bool finds_leaks() const;
  /// The command on this host that prints what it finds, on the last agent channel; it takes up to
  /// a minute.
  [[nodiscard]] std::vector<std::string> leak_command() const;

  /// A FIFO for commands of QEMU's monitor, such as `system_reset`, if it does not end at a panic.
  [[nodiscard]] std::string monitor() const;

  /// The number of lines of console output so far, over all boots.
  [[nodiscard]] std::uint64_t log_position() const;
  /// The console's lines from a position on, as far as they are still kept (the last 20 000).
  [[nodiscard]] std::string log_since(std::uint64_t position) const;
  /// Waits until everything that the guest's kernel has logged so far has arrived; false: it did
  /// not.
  bool flush_log(std::chrono::milliseconds time_limit = std::chrono::seconds(5));

  /// Powers the guest off, or ends QEMU if that takes longer than the limit.
  void shutdown(std::chrono::milliseconds time_limit = std::chrono::seconds(3));

  [[nodiscard]] const std::string& kernel_release() const { return release_; }
  /// The modules of `kernel_drivers`: names, with blanks between them.
  [[nodiscard]] const std::string& kernel_drivers() const { return drivers_; }
  /// "kvm" or "tcg", after boot().
  [[nodiscard]] const std::string& accelerator() const { return accelerator_; }

 private:
  struct Running;  // QEMU and its control channel
  [[nodiscard]] std::expected<std::vector<base::FileDescriptor>, std::string> open_channels();
  [[nodiscard]] std::string monitor_pipe() const;
  [[nodiscard]] std::expected<std::uint64_t, std::string> send_order(std::string_view order);
  [[nodiscard]] std::expected<std::string, std::string> answer_to(
      std::uint64_t number, std::string_view order, std::chrono::milliseconds time_limit);
  [[nodiscard]] std::string why_hung_up();
  [[nodiscard]] std::string kernel_parameters() const;
  void hold_files();
  [[nodiscard]] std::vector<std::string> command_line(
      int tap, int control, const std::vector<base::FileDescriptor>& channels) const;

  GuestOptions options_;
  std::string drivers_, release_;
  std::filesystem::path kernel_, initramfs_, sockets_;
  std::vector<base::FileDescriptor> in_use_;  ///< locks on what this guest may be booted from again
  std::string accelerator_;
  Console console_;
  std::unique_ptr<Running> running_;
};

/// Whether a guest actually runs with /dev/kvm here: boots only the kernel, for at most
/// `time_limit`.
[[nodiscard]] bool kvm_works(const std::filesystem::path& kernel,
                             std::chrono::milliseconds time_limit = std::chrono::seconds(6));

}  // namespace suite::lab
