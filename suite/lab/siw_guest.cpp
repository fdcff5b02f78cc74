// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lab/siw_guest.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/shipped_file.hpp"
#include "suite/lab/channel_protocol.hpp"
#include "suite/lab/command.hpp"
#include "suite/lab/qemu_process.hpp"

namespace suite::lab {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;
using Done = std::expected<void, std::string>;

constexpr std::string_view panic_words = "Kernel panic - not syncing";

std::chrono::milliseconds left_until(SteadyClock::time_point deadline) {
  return std::max(0ms, std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock::now()));
}

std::unexpected<std::string> failed(std::string_view what) {
  return std::unexpected(fmt::format("{}: {}", what, std::strerror(errno)));
}

std::expected<base::FileDescriptor, std::string> listen_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return std::unexpected(
        fmt::format("the path {} is too long; set TMPDIR to a shorter one", path));
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ::unlink(path.c_str());
  base::FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd.get(), 8) != 0)
    return failed(path);
  return fd;
}

constexpr std::uint64_t first_order = 1;
constexpr std::string_view boot_order = "ping";  // answered as soon as rnic-guestd runs

constexpr const char* emulator = "qemu-system-x86_64";

/// The part of the command line that is the same for every use of a kernel here.
std::vector<std::string> bare_machine(const std::string& accelerator) {
  const bool kvm = accelerator == "kvm";
  const std::string accel = kvm ? "kvm" : "tcg,thread=multi";
  // Emulated, `rep stosb` stores octet by octet: without these features the kernel clears and
  // copies memory by words. After a reset, where pages still have translated code, that is minutes.
  const std::string cpu = kvm ? "max" : "max,erms=off,fsrm=off";
  return {emulator,
          "-nodefaults",
          "-no-user-config",
          "-display",
          "none",
          "-machine",
          "pc",
          "-accel",
          accel,
          "-cpu",
          cpu,
          "-chardev",
          "stdio,id=console,signal=off",
          "-serial",
          "chardev:console"};
}

void append(std::vector<std::string>& to, std::initializer_list<std::string> words) {
  to.insert(to.end(), words);
}

// Without offloads the guest itself makes TCP segments and checksums: captures show its framing.
// `jumbo`: its MTU may be raised; otherwise each receive buffer holds a frame of the usual size.
void append_interface(std::vector<std::string>& argv, std::string_view name, int tap,
                      std::string_view mac, bool jumbo) {
  append(argv,
         {"-netdev", fmt::format("tap,id={},fd={}", name, tap), "-device",
          fmt::format("virtio-net-pci,netdev={},mac={},romfile=,csum=off,gso=off,guest_csum=off,"
                      "guest_tso4=off,guest_tso6=off,guest_ufo=off,guest_ecn=off,host_tso4=off,"
                      "host_tso6=off,host_ufo=off,host_ecn=off,mrg_rxbuf={}",
                      name, mac, jumbo ? "on" : "off")});
}

/// Whether its kernel may have KASAN, kmemleak and the like: one that was built elsewhere may.
bool may_check(const GuestOptions& options) {
  return options.kernel_checks || !options.kernel_image.empty();
}

/// Remembers for this boot of the host whether KVM works, since the trial takes seconds if it does
/// not.
bool kvm_is_usable(const std::filesystem::path& cache, const std::filesystem::path& kernel) {
  if (::access("/dev/kvm", R_OK | W_OK) != 0) return false;
  std::string boot_id;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot_id);
  const auto memo = cache / ("kvm-" + boot_id);
  std::string answer;
  if (std::getline(std::ifstream(memo), answer)) return answer == "yes";
  const bool works = kvm_works(kernel);
  std::ofstream(memo) << (works ? "yes" : "no") << '\n';
  return works;
}

}  // namespace

GuestPaths default_guest_paths() {
  GuestPaths paths;
  paths.prepare_script = base::shipped_file("suite/lab/siw_vm/prepare.sh");
  paths.kernel_agent = base::shipped_file("suite/upper_tester/kernel/build.sh");
  paths.kdat = base::shipped_file("suite/cases/kdat/kernel/build.sh");
  paths.daemon = base::built_program("suite/lab/rnic-guestd");
  paths.guest_agent = base::built_program("suite/lab/rnic-guest-agent");
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::filesystem::path base =
      cache != nullptr && *cache == '/'
          ? std::filesystem::path(cache)
          : std::filesystem::path(home != nullptr ? home : "/tmp") / ".cache";
  paths.cache = base / "rnic-suite" / "siw-vm";
  return paths;
}

struct Guest::Running {
  Running(QemuProcess started, base::FileDescriptor control_channel, std::uint64_t position)
      : machine(std::move(started)), control(std::move(control_channel)), first_line(position) {}

  QemuProcess machine;
  base::FileDescriptor control;
  std::uint64_t first_line;  ///< of its console output
  std::uint64_t next_order = first_order;
  channel::LineCutter lines;
};

Guest::Guest(GuestOptions options) : options_(std::move(options)), console_(options_.log_file) {}

Guest::~Guest() {
  running_.reset();
  console_.join();
  std::error_code ignored;
  if (!sockets_.empty()) std::filesystem::remove_all(sockets_, ignored);
}

Done Guest::prepare(const Progress& progress) {
  // Reported before anything is downloaded.
  if (find_program(emulator).empty())
    return std::unexpected(
        fmt::format("'{}' is missing: apt-get install qemu-system-x86", emulator));
  std::vector<std::string> argv = {options_.paths.prepare_script.string(),
                                   "--cache",
                                   options_.paths.cache.string(),
                                   "--daemon",
                                   options_.paths.daemon.string(),
                                   "--series",
                                   options_.series};
  if (!options_.kernel_source.empty())
    append(argv, {"--kernel-source", options_.kernel_source.string()});
  if (options_.kernel_checks) append(argv, {"--kernel-checks"});
  if (options_.kernel_drivers) append(argv, {"--kernel-drivers"});
  if (!options_.kernel_image.empty())
    append(argv, {"--kernel", options_.kernel_image.string(), "--modules",
                  options_.kernel_modules.string()});
  for (const auto& program : options_.programs) append(argv, {"--program", program.string()});
  if (!options_.root.empty()) append(argv, {"--root", options_.root.string()});
  if (options_.kernel_agent)
    append(argv, {"--module-script", options_.paths.kernel_agent.string()});
  if (options_.kdat) append(argv, {"--module-script", options_.paths.kdat.string()});
  CommandOptions command;
  // The first time, over a slow network; or for a whole kernel on a small machine.
  command.time_limit = options_.kernel_source.empty() ? 15min : 120min;
  command.progress = progress;
  const auto printed = run_command(argv, command);
  if (!printed) return std::unexpected(printed.error());
  std::string_view rest = *printed;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::string value(line.substr(std::min(line.find('=') + 1, line.size())));
    if (line.starts_with("release=")) release_ = value;
    if (line.starts_with("drivers=")) drivers_ = value;
    if (line.starts_with("kernel=")) kernel_ = value;
    if (line.starts_with("initramfs=")) initramfs_ = value;
  }
  if (kernel_.empty() || initramfs_.empty())
    return std::unexpected(
        fmt::format("{} named no kernel", options_.paths.prepare_script.string()));
  hold_files();
  return {};
}

void Guest::prepare_as(const Guest& other) {
  release_ = other.release_;
  drivers_ = other.drivers_;
  kernel_ = other.kernel_;
  initramfs_ = other.initramfs_;
  hold_files();
}

/// The preparation of another guest leaves what is locked where it is (siw_vm/keep_newest.sh).
void Guest::hold_files() {
  in_use_.clear();
  for (const auto& path : {kernel_.parent_path(), initramfs_}) {
    base::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file && ::flock(file.get(), LOCK_SH | LOCK_NB) == 0) in_use_.push_back(std::move(file));
  }
}

std::string Guest::kernel_parameters() const {
  // On a busy host the kernel's test of the timer interrupt fails, and it panics.
  std::string words = "console=ttyS0 ignore_loglevel no_timer_check mitigations=off nokaslr";
  if (options_.ends_at_panic) words += " panic=-1";
  // After an oops, the behaviour of the kernel says nothing about siw.
  if (options_.ends_at_oops) words += " oops=panic";
  // Emulation is slow, with KASAN most of all, and the host may be busy: stalls beyond these bounds
  // are faults of the kernel all the same. A soft lockup is twice the threshold.
  const unsigned patience = may_check(options_) ? 2 : 1;
  words += fmt::format(
      " watchdog_thresh={} rcupdate.rcu_cpu_stall_timeout={} "
      "sysctl.kernel.hung_task_timeout_secs={}",
      30 * patience, 60 * patience, 60 * patience);
  if (options_.slab_checks) words += " slub_debug=FZP,kmalloc-*";
  words += fmt::format(" rnic.ipv4={} rnic.ipv6={} rnic.mtu={} rnic.variant={}", options_.ipv4,
                       options_.ipv6, options_.mtu, options_.variant);
  if (options_.device == GuestDevice::rxe) words += " rnic.device=rxe";
  if (!options_.further_ipv4.empty()) words += " rnic.further_ipv4=" + options_.further_ipv4;
  if (!options_.further_ipv6.empty()) words += " rnic.further_ipv6=" + options_.further_ipv6;
  if (options_.management_tap >= 0) words += " rnic.management=" + options_.management_ipv4;
  return words;
}

std::vector<std::string> Guest::command_line(
    int tap, int control, const std::vector<base::FileDescriptor>& channels) const {
  auto argv = bare_machine(accelerator_);
  if (options_.ends_at_panic)
    append(argv, {"-no-reboot"});
  else
    append(argv, {"-chardev", "pipe,id=monitor,path=" + monitor_pipe(), "-mon", "monitor"});
  // KASAN needs room for its shadow, and for freed memory that it keeps.
  const unsigned memory = options_.memory_mib * (may_check(options_) ? 3 : 1);
  append(argv, {"-m", std::to_string(memory), "-smp", std::to_string(options_.processors),
                "-kernel", kernel_.string(), "-initrd", initramfs_.string()});
  append(argv, {"-append", kernel_parameters()});
  append(argv, {"-device", fmt::format("virtio-serial-pci,max_ports={}", channels.size() + 2),
                "-chardev", fmt::format("socket,id=control,fd={}", control), "-device",
                fmt::format("virtserialport,chardev=control,name={}", channel::control_name)});
  for (std::size_t n = 0; n < channels.size(); ++n)
    append(argv, {"-chardev",
                  fmt::format("socket,id=agent{},fd={},server=on,wait=off", n, channels[n].get()),
                  "-device",
                  fmt::format("virtserialport,chardev=agent{},name={}{}", n,
                              channel::agent_name_prefix, n)});
  const bool is_dut = options_.management_tap >= 0;
  append_interface(argv, "wire", tap, options_.mac, is_dut);
  if (is_dut)
    append_interface(argv, "management", options_.management_tap, options_.management_mac, false);
  return argv;
}

Done Guest::boot(int tap, std::chrono::milliseconds time_limit) {
  const auto deadline = SteadyClock::now() + time_limit;
  if (auto started = start(tap); !started) return started;
  return await_boot(left_until(deadline));
}

Done Guest::start(int tap) {
  running_.reset();
  console_.join();
  if (kernel_.empty())
    if (auto done = prepare(); !done) return done;
  if (accelerator_.empty())
    accelerator_ = kvm_is_usable(options_.paths.cache, kernel_) ? "kvm" : "tcg";
  const auto channels = open_channels();
  if (!channels) return std::unexpected(channels.error());
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0)
    return failed("a socket pair");
  base::FileDescriptor control(pair[0]);
  const base::FileDescriptor control_of_qemu(pair[1]);

  std::vector<int> inherited = {tap, control_of_qemu.get()};
  if (options_.management_tap >= 0) inherited.push_back(options_.management_tap);
  for (const base::FileDescriptor& channel : *channels) inherited.push_back(channel.get());
  auto machine = QemuProcess::start(command_line(tap, control_of_qemu.get(), *channels), inherited);
  if (!machine) return std::unexpected(machine.error());
  running_ =
      std::make_unique<Running>(std::move(*machine), std::move(control), console_.position());
  console_.follow(running_->machine.take_console());
  if (const auto asked = send_order(boot_order); !asked) return std::unexpected(asked.error());
  return {};
}

std::expected<std::vector<base::FileDescriptor>, std::string> Guest::open_channels() {
  if (sockets_.empty()) {
    std::string folder = (std::filesystem::temp_directory_path() / "rnic-guest-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) return failed(folder);
    sockets_ = folder;
  }
  std::vector<base::FileDescriptor> channels;
  for (unsigned n = 0; n < options_.agent_channels; ++n) {
    auto listening = listen_at(agent_channel(n));
    if (!listening) return std::unexpected(listening.error());
    channels.push_back(std::move(*listening));
  }
  if (options_.ends_at_panic) return channels;
  for (const char* direction : {".in", ".out"}) {
    const std::string path = monitor_pipe() + direction;
    if (::mkfifo(path.c_str(), 0600) != 0 && errno != EEXIST) return failed(path);
  }
  return channels;
}

Done Guest::await_boot(std::chrono::milliseconds time_limit) {
  const auto answer = answer_to(first_order, boot_order, time_limit);
  if (answer) return {};
  const std::string why = fmt::format("the guest did not come up: {}", answer.error());
  running_.reset();
  return std::unexpected(why);
}

int Guest::answer_descriptor() const { return running_ ? running_->control.get() : -1; }

bool Guest::dies_within(std::chrono::milliseconds time_limit) {
  return !running_ || console_.wait_for(panic_words, running_->first_line, time_limit);
}

bool Guest::alive() {
  return running_ && running_->machine.running() &&
         !console_.wait_for(panic_words, running_->first_line, 0ms);
}

std::string Guest::obituary() {
  if (!running_) return "the guest was not booted, or was shut down";
  if (alive()) return {};
  const auto lines = console_.since(running_->first_line);
  const auto told = std::ranges::find_if(lines, [](const ConsoleLine& line) {
    return line.text.find(panic_words) != std::string::npos ||
           line.text.find("rnic-guest: cannot go on") != std::string::npos;
  });
  if (told != lines.end()) return "the guest's kernel said: " + told->text;
  const std::string how = running_->machine.ending();
  return lines.empty() ? how : fmt::format("{}; its console ends with: {}", how, lines.back().text);
}

std::expected<std::string, std::string> Guest::control(std::string_view order,
                                                       std::chrono::milliseconds time_limit) {
  const auto number = send_order(order);
  if (!number) return std::unexpected(number.error());
  return answer_to(*number, order, time_limit);
}

std::expected<std::uint64_t, std::string> Guest::send_order(std::string_view order) {
  if (!running_) return std::unexpected("the guest was not booted, or was shut down");
  const std::uint64_t number = running_->next_order++;
  const std::string line = fmt::format("{} {}\n", number, order);
  const auto sent = ::send(running_->control.get(), line.data(), line.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(line.size())) return std::unexpected(why_hung_up());
  return number;
}

// A machine that ends closes the channel first: the rest of its console output is read before it is
// judged.
std::string Guest::why_hung_up() {
  running_->machine.wait(1000ms);
  if (!running_->machine.running()) console_.join();
  return alive() ? "the control channel is broken" : obituary();
}

std::expected<std::string, std::string> Guest::answer_to(std::uint64_t number,
                                                         std::string_view order,
                                                         std::chrono::milliseconds time_limit) {
  if (!running_) return std::unexpected("the guest was not booted, or was shut down");
  const auto deadline = SteadyClock::now() + time_limit;
  const int fd = running_->control.get();
  const std::string tag = std::to_string(number);
  std::string answer;
  const auto take = [&](std::string_view got) {
    if (channel::take_word(got) == tag) answer = got;
  };
  while (answer.empty()) {
    std::array<pollfd, 2> watched{pollfd{fd, POLLIN, 0},
                                  pollfd{running_->machine.ended_fd(), POLLIN, 0}};
    const int events =
        ::poll(watched.data(), watched.size(), static_cast<int>(left_until(deadline).count()));
    if (events < 0 && errno == EINTR) continue;
    if (events <= 0)
      return std::unexpected(
          alive() ? fmt::format("no answer to '{}' within {} ms", order, time_limit.count())
                  : obituary());
    std::array<char, 4096> chunk{};
    const ssize_t count = ::recv(fd, chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (count > 0)
      running_->lines.add({chunk.data(), static_cast<std::size_t>(count)}, take);
    else if (watched[1].revents != 0 || count == 0)
      return std::unexpected(why_hung_up());
  }
  std::string_view said = answer;
  if (channel::take_word(said) == "ok") return std::string(said);
  return std::unexpected(fmt::format("the guest refuses '{}': {}", order, said));
}

std::string Guest::agent_channel(unsigned n) const {
  return (sockets_ / fmt::format("agent.{}", n)).string();
}

std::vector<std::string> Guest::agent_command(unsigned n,
                                              const std::vector<std::string>& argv) const {
  std::vector<std::string> command = {options_.paths.guest_agent.string(), agent_channel(n)};
  command.insert(command.end(), argv.begin(), argv.end());
  return command;
}

bool Guest::finds_leaks() const { return may_check(options_); }

std::vector<std::string> Guest::leak_command() const {
  return agent_command(options_.agent_channels - 1, {"/bin/siw-leaks"});
}

std::string Guest::monitor_pipe() const { return (sockets_ / "monitor").string(); }

std::string Guest::monitor() const { return monitor_pipe() + ".in"; }

std::uint64_t Guest::log_position() const { return console_.position(); }

std::string Guest::log_since(std::uint64_t position) const {
  std::string text;
  for (const ConsoleLine& line : console_.since(position)) text.append(line.text).push_back('\n');
  return text;
}

bool Guest::flush_log(std::chrono::milliseconds time_limit) {
  if (!running_) return false;
  const auto deadline = SteadyClock::now() + time_limit;
  const auto from = console_.position();
  const std::string mark = fmt::format("rnic-guest: log mark {}", running_->next_order);
  return control("kmsg " + mark, time_limit) && console_.wait_for(mark, from, left_until(deadline));
}

void Guest::shutdown(std::chrono::milliseconds time_limit) {
  if (!running_) return;
  const std::string line = fmt::format("{} poweroff\n", running_->next_order++);
  (void)!::send(running_->control.get(), line.data(), line.size(), MSG_NOSIGNAL);
  running_->machine.wait(time_limit);
  running_.reset();
  console_.join();
}

bool kvm_works(const std::filesystem::path& kernel, std::chrono::milliseconds time_limit) {
  auto argv = bare_machine("kvm");
  // A kernel alone finds no root file system and panics: it must get this far.
  append(argv, {"-no-reboot", "-m", "256", "-kernel", kernel.string(), "-append",
                "console=ttyS0 panic=-1"});
  auto machine = QemuProcess::start(argv, {});
  if (!machine) return false;
  Console console{{}};
  console.follow(machine->take_console());
  const bool works = console.wait_for(panic_words, 0, time_limit);
  machine->kill();
  return works;
}

}  // namespace suite::lab
