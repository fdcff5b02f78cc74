// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// rnic-lab: the suite's lab without the suite: the siw guest on a link of its own, or a device
// under test on two networks, and a shell on the host next to it.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.hpp"
#include "base/shipped_file.hpp"
#include "base/standard_streams.hpp"
#include "base/version.hpp"
#include "suite/lab/command.hpp"
#include "suite/lab/dut.hpp"
#include "suite/lab/namespaces.hpp"
#include "suite/lab/siw_guest.hpp"

namespace suite::lab {
namespace {

constexpr std::string_view help =
    "usage: rnic-lab siw-vm [--series 6.1 | --kernel-source DIR [--kernel-checks] |\n"
    "                        --kernel BZIMAGE --modules DIR]\n"
    "                       [--device siw|rxe] [--variant NAME] [--kernel-agent] [--kdat] "
    "[--program FILE]...\n"
    "                       [--log FILE] [--watch-kernel] [--prepare-only]\n"
    "                       [-- COMMAND [ARGUMENT...]]\n"
    "       rnic-lab dut [--package FILE] [--log FILE] [-- COMMAND [ARGUMENT...]]\n"
    "\n"
    "siw-vm boots the Linux kernel's soft-iWARP in a QEMU guest at 10.77.0.2 and fd77::2 and runs "
    "COMMAND\n"
    "(your shell, if none is given) on this host as its only neighbour, at 10.77.0.1 and fd77::1, "
    "in\n"
    "network namespaces of its own. When the command ends, so does the guest. Needs no root.\n"
    "\n"
    "dut boots the same guest as a device under test on a host of its own: the data network is as\n"
    "above (the guest is at 10.77.0.3 and fd77::3 too), the management network has the guest at\n"
    "10.78.0.2, and `ssh root@dut` reaches it. It has rnic-agent, and the device siw0. After a\n"
    "panic its kernel stands still; `echo system_reset >$RNIC_DUT_MONITOR` resets it.\n"
    "\n"
    "  --device NAME    siw, or rxe: in its place the kernel's rdma_rxe, of RoCE, as rxe0\n"
    "  --variant NAME   of siw: default, tunable, or words such as rev1-crc or p2pread\n"
    "  --series NUMBER  of Debian's kernels: 6.1 or 6.12\n"
    "  --kernel-source DIR\n"
    "                   a Linux source tree, of which the kernel is built instead\n"
    "  --kernel-checks  that kernel has KASAN, lockdep, kmemleak and the like\n"
    "  --kernel BZIMAGE a kernel that is built already\n"
    "  --modules DIR    its modules, siw among them, as `make modules_install` has put them there\n"
    "  --kernel-agent   the guest loads rnic_kagent, for `rnic-agent --driver kverbs`\n"
    "  --kdat           the guest loads kdat and rnic_kdat_agent, for the cases of kDAPL\n"
    "  --program FILE   packs a program of this host into the guest's /bin, with its libraries\n"
    "  --package FILE   the DUT is a Debian on which apt-get has installed this package of "
    "rnic-agent;\n"
    "                   to make it needs root and debootstrap\n"
    "  --log FILE       appends the guest's kernel log to FILE\n"
    "  --watch-kernel   fail if the guest's kernel complains, or has lost memory\n"
    "  --prepare-only   downloads and builds what is missing, boots nothing\n"
    "\n"
    "COMMAND finds RNIC_GUEST_CHANNEL (an agent channel) and RNIC_GUEST_AGENT (rnic-guest-agent).\n"
    "\n"
    "examples:\n"
    "  rnic-lab siw-vm --prepare-only\n"
    "  rnic-lab siw-vm -- ping -c 3 10.77.0.2\n"
    "  rnic-lab siw-vm -- sh -c '$RNIC_GUEST_AGENT $RNIC_GUEST_CHANNEL /bin/rdma link'\n"
    "  rnic-lab dut -- rnic-suite doctor --iut verbs:siw0 --host ssh:root@dut --address 10.77.0.2\n"
    "exit: COMMAND's status; 2 usage, 3 the lab or the guest does not come up; with "
    "--watch-kernel\n"
    "      1 the kernel complained\n";

constexpr std::array<std::string_view, 7> variant_words{"rev1", "rev2",     "crc",    "nocrc",
                                                        "p2p",  "p2pwrite", "p2pread"};

struct Arguments {
  std::string_view lab;  ///< siw-vm or dut
  GuestOptions guest;
  std::filesystem::path package;
  std::string_view device = "siw";
  bool prepare_only = false, watch_kernel = false;
  std::vector<std::string> command;
};

/// Whether guest/siw-variant understands the name.
bool is_variant(std::string_view name) {
  if (name == "default" || name == "tunable") return true;
  for (const auto part : std::views::split(name, '-')) {
    const std::string_view word(part);
    if (std::ranges::find(variant_words, word) == variant_words.end()) return false;
  }
  return !name.empty();
}

/// The fault of values that would otherwise show when the guest is up, or never.
std::optional<std::string> fault_of(const Arguments& arguments) {
  const GuestOptions& guest = arguments.guest;
  if (!is_variant(guest.variant))
    return fmt::format("--variant: '{}' is neither default, tunable, nor words of {} joined by '-'",
                       guest.variant, fmt::join(variant_words, ", "));
  if (arguments.device != "siw" && arguments.device != "rxe")
    return fmt::format("--device: '{}' is neither siw nor rxe", arguments.device);
  if (arguments.device == "rxe" && !guest.kernel_source.empty())
    return "--device rxe does not go with --kernel-source, whose kernel has no rdma_rxe";
  if (guest.series != "6.1" && guest.series != "6.12")
    return fmt::format("--series: Debian 12 has kernels of the series 6.1 and 6.12, not '{}'",
                       guest.series);
  if (guest.kernel_checks && guest.kernel_source.empty())
    return "--kernel-checks goes with --kernel-source only";
  if (guest.kernel_image.empty() != guest.kernel_modules.empty())
    return "--kernel and --modules go together";
  if (!guest.kernel_image.empty() && !guest.kernel_source.empty())
    return "--kernel does not go with --kernel-source: which of them?";
  for (const auto& program : guest.programs)
    if (std::error_code error;
        !std::filesystem::is_regular_file(program, error) || ::access(program.c_str(), X_OK) != 0)
      return fmt::format("--program: '{}' is no program; name an executable file",
                         program.string());
  const std::filesystem::path& package = arguments.package;
  if (std::error_code error; !package.empty() && !std::filesystem::is_regular_file(package, error))
    return fmt::format("--package: there is no file '{}'; name a package of rnic-agent",
                       package.string());
  if (guest.log_file.empty()) return std::nullopt;
  if (std::ofstream(guest.log_file, std::ios::app)) return std::nullopt;
  return fmt::format("--log: cannot write {}: {}", guest.log_file.string(), std::strerror(errno));
}

/// Options of `siw-vm` that take a value.
constexpr std::array<std::string_view, 7> siw_vm_values = {
    "--device", "--variant", "--program", "--series", "--kernel-source", "--kernel", "--modules"};

/// Nothing if the arguments are wrong; prints the error.
std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  arguments.lab = argv[1];
  const bool is_dut = arguments.lab == "dut";
  for (int i = 2; i < argc; ++i) {
    const std::string_view word = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (word == "--") {
      arguments.command.assign(argv + i + 1, argv + argc);
      break;
    }
    if (word == "--prepare-only" && !is_dut) {
      arguments.prepare_only = true;
      continue;
    }
    if (word == "--watch-kernel" && !is_dut) {
      arguments.watch_kernel = true;
      continue;
    }
    if (word == "--kernel-agent" && !is_dut) {
      arguments.guest.kernel_agent = true;
      continue;
    }
    if (word == "--kdat" && !is_dut) {
      arguments.guest.kdat = true;
      continue;
    }
    if (word == "--kernel-checks" && !is_dut) {
      arguments.guest.kernel_checks = true;
      continue;
    }
    const bool known = word == "--log" || (is_dut && word == "--package") ||
                       (!is_dut && std::ranges::find(siw_vm_values, word) != siw_vm_values.end());
    if (!known || value == nullptr) {
      base::say(stderr, "rnic-lab: {} '{}'; see --help\n",
                known ? "no value for" : "unknown option", word);
      return std::nullopt;
    }
    if (word == "--series") arguments.guest.series = value;
    if (word == "--kernel-source") arguments.guest.kernel_source = value;
    if (word == "--kernel") arguments.guest.kernel_image = value;
    if (word == "--modules") arguments.guest.kernel_modules = value;
    if (word == "--package") arguments.package = value;
    if (word == "--variant") arguments.guest.variant = value;
    if (word == "--device") arguments.device = value;
    if (word == "--program") arguments.guest.programs.emplace_back(value);
    if (word == "--log") arguments.guest.log_file = value;
    ++i;
  }
  if (const auto fault = fault_of(arguments)) {
    base::say(stderr, "rnic-lab: {}\n", *fault);
    return std::nullopt;
  }
  if (arguments.device == "rxe") arguments.guest.device = GuestDevice::rxe;
  const char* shell = std::getenv("SHELL");
  if (arguments.command.empty()) arguments.command = {shell != nullptr ? shell : "/bin/sh"};
  return arguments;
}

/// Runs the command as the tester's host; its exit status as a shell reports it.
int run_beside(const LabHost& tester, const std::vector<std::string>& command) {
  base::ProcessSetup setup;
  setup.network_namespace = tester.network_namespace;
  std::string error;
  auto process = base::Process::start(command, setup, error);
  if (!process) {
    base::say(stderr, "rnic-lab: {}\n", error);
    return 127;
  }
  ::signal(SIGINT, SIG_IGN);  // meant for the command
  const base::ExitStatus ended = process->wait();
  return ended.signal != 0 ? 128 + ended.signal : ended.code;
}

int complain(std::string_view why) {
  base::say(stderr, "rnic-lab: {}\n", why);
  return 3;
}

/// Prints what the guest's kernel complains of; whether it is nothing.
bool kernel_is_content(Guest& guest) {
  constexpr std::chrono::minutes longest_scan{10};
  guest.flush_log();
  const auto faults = find_kernel_faults(guest.log_since(0));
  for (const KernelFault& fault : faults)
    base::say(stderr, "siw-vm: kernel log: {}: {}\n", name_of(fault.kind), fault.line);
  if (!guest.alive()) base::say(stderr, "siw-vm: {}\n", guest.obituary());
  if (!guest.alive() || !guest.finds_leaks()) return faults.empty() && guest.alive();
  CommandOptions patience;
  patience.time_limit = longest_scan;
  const auto leaks = run_command(guest.leak_command(), patience);
  const std::string& found = leaks ? *leaks : leaks.error();
  if (!found.empty()) base::say(stderr, "{}\n", found);
  return faults.empty() && found.empty();
}

int siw_vm(const Arguments& arguments) {
  Guest guest(arguments.guest);
  const auto prepared =
      guest.prepare([](std::string_view line) { base::say(stderr, "{}\n", line); });
  if (!prepared) return complain(prepared.error());
  if (arguments.prepare_only) return 0;
  if (const auto entered = enter_private_namespaces(); !entered) return complain(entered.error());
  auto lab = Lab::with_tap();
  if (!lab) return complain(lab.error());
  const auto start = std::chrono::steady_clock::now();
  if (const auto up = guest.boot(lab->tap()); !up) return complain(up.error());
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - start);
  base::say(stderr, "siw-vm: up after {} ms ({}, kernel {}); this end is {} and {}\n", took.count(),
            guest.accelerator(), guest.kernel_release(), lab->tester().ipv4, lab->tester().ipv6);
  ::setenv("RNIC_GUEST_CHANNEL", guest.agent_channel(0).c_str(), 1);
  ::setenv("RNIC_GUEST_AGENT", default_guest_paths().guest_agent.c_str(), 1);
  const int status = run_beside(lab->tester(), arguments.command);
  const bool content = kernel_is_content(guest);
  guest.shutdown();
  return status == 0 && arguments.watch_kernel && !content ? 1 : status;
}

int dut(const Arguments& arguments) {
  const auto dut = Dut::prepare({.agent = base::built_program("suite/upper_tester/rnic-agent"),
                                 .package = arguments.package,
                                 .log_file = arguments.guest.log_file},
                                [](std::string_view line) { base::say(stderr, "{}\n", line); });
  if (!dut) return complain(dut.error());
  if (const auto entered = enter_private_namespaces(); !entered) return complain(entered.error());
  if (const auto up = (*dut)->start(); !up) return complain(up.error());
  base::say(stderr, "dut: up; ssh root@dut, siw0 is at {} and {}\n", Dut::data_ipv4,
            Dut::data_ipv6);
  ::setenv("PATH", (*dut)->path_with_ssh().c_str(), 1);
  ::setenv(Dut::reset_variable, (*dut)->reset_pipe().c_str(), 1);
  return run_beside((*dut)->tester(), arguments.command);
}

}  // namespace
}  // namespace suite::lab

int main(int argc, char** argv) {
  using namespace suite::lab;
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i)
    if (std::string_view(argv[i]) == "--help" || std::string_view(argv[i]) == "-h") {
      base::say(stdout, help);
      return 0;
    }
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    base::say(stdout, "{}\n", base::version_text("rnic-lab"));
    return 0;
  }
  if (argc < 2 || (std::string_view(argv[1]) != "siw-vm" && std::string_view(argv[1]) != "dut")) {
    base::say(stderr, "rnic-lab: {}; the labs are siw-vm and dut; see --help\n",
              argc < 2 ? "say which lab" : fmt::format("there is no lab '{}'", argv[1]));
    return 2;
  }
  const auto arguments = parse(argc, argv);
  if (!arguments) return 2;
  return arguments->lab == "dut" ? dut(*arguments) : siw_vm(*arguments);
}
