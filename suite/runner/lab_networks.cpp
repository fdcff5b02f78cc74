// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/lab_networks.hpp"

#include <algorithm>

#include <sys/epoll.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/shipped_file.hpp"
#include "suite/lab/dat_conf.hpp"
#include "suite/lab/guest_kernel_log.hpp"
#include "suite/lab/namespaces.hpp"
#include "suite/lab/siw_guest.hpp"
#include "suite/runner/leak_search.hpp"

namespace suite::runner {

namespace {

namespace fs = std::filesystem;
template <typename Value>
using Result = std::expected<Value, std::string>;

HostSetup words(const lab::LabHost& host) {
  return {.network_namespace = lab::namespace_path(host.network_namespace),
          .ipv4 = host.ipv4,
          .ipv6 = host.ipv6,
          .further_ipv4 = host.further_ipv4,
          .further_ipv6 = host.further_ipv6,
          .spare_ipv4 = host.spare_ipv4,
          .spare_count = host.spare_count};
}

results::LabRecord lab_record(results::LabKind kind, const lab::Lab& lab) {
  return {.kind = kind,
          .interface = lab.tester().interface,
          .mtu = lab.tester().mtu,
          .tester_addresses = {lab.tester().ipv4, lab.tester().ipv6},
          .note = ""};
}

void at(const lab::LabHost& host, const std::function<void()>& make) {
  static_cast<void>(lab::in_network_namespace(host.network_namespace, [&]() -> Result<void> {
    make();
    return {};
  }));
}

class NamespaceNetwork final : public TestNetwork {
 public:
  NamespaceNetwork(lab::Lab lab, const Options& options)
      : lab_(std::move(lab)),
        record_(lab_record(results::LabKind::namespaces, lab_)),
        setup_(common_setup(options)) {
    setup_.tester = words(lab_.tester());
    setup_.iut = words(lab_.iut());
  }
  Result<void> start_reference(const Options& options) {
    return add_reference_agent(setup_, options, lab_.iut().network_namespace);
  }
  WorkerSetup setup(std::uint32_t) const override { return setup_; }
  const results::LabRecord& record() const override { return record_; }
  unsigned usual_jobs() const override { return reference_jobs(); }
  void at_tester(const std::function<void()>& make) const override { at(lab_.tester(), make); }

 private:
  lab::Lab lab_;
  results::LabRecord record_;
  WorkerSetup setup_;
};

// ---------------------------------------------------------------- the guest

constexpr unsigned guest_channels = 6;

lab::GuestOptions guest_options(const Options& options, std::size_t place) {
  lab::GuestOptions guest;
  guest.programs = {agent_program()};
  guest.agent_channels = guest_channels;
  guest.kdat = options.choice.kind == IutChoice::Kind::kdat;
  guest.kernel_agent = options.choice.kind == IutChoice::Kind::kverbs;
  if (options.choice.is_dat()) {
    guest.programs.emplace_back(dat_cases_program());
    guest.agent_channels *= 2;  // each worker's agent, and its process of a DAT case
  }
  ++guest.agent_channels;  // for the look for leaks
  const lab::LabOptions usual;
  guest.further_ipv4 = usual.further_ipv4 + "/24";
  guest.further_ipv6 = usual.further_ipv6 + "/64";
  guest.variant = "tunable";
  if (options.choice.over_roce) guest.device = lab::GuestDevice::rxe;
  guest.slab_checks = options.slab_checks;
  if (!options.series.empty()) guest.series = options.series;
  guest.kernel_source = options.kernel_source;
  guest.kernel_checks = options.kernel_checks;
  guest.kernel_drivers = options.kernel_drivers;
  guest.kernel_image = options.kernel_image;
  guest.kernel_modules = options.kernel_modules;
  guest.log_file = fs::absolute(options.out) /
                   (place == 0 ? "kernel.log" : fmt::format("kernel-{}.log", place + 1));
  return guest;
}

/// Each case of the DAT API opens its IA in its own process, which takes seconds in an emulated
/// guest on a busy host. And soft-iWARP may wait 10 s for a peer's startup frame.
constexpr double dat_deadline_scale = 10;
/// More than those 10 s, and many times what such a case usually takes. If the host is so busy that
/// a case takes longer, this counts as its known hang, and not as a new failure.
constexpr double dat_deadline_scale_with_known_hang = 3;
constexpr auto rest_of_an_answer = std::chrono::seconds(2);  // that has begun to arrive

class GuestNetwork final : public TestNetwork {
 public:
  GuestNetwork(lab::Lab lab, std::unique_ptr<lab::Guest> guest, const Options& options)
      : lab_(std::move(lab)),
        guest_(std::move(guest)),
        record_(lab_record(results::LabKind::guest, lab_)),
        setup_(common_setup(options)) {
    if (options.kernel_drivers)
      record_.note = "compiled with the kernel: " + (guest_->kernel_drivers().empty()
                                                         ? "no driver of iWARP hardware"
                                                         : guest_->kernel_drivers());
    setup_.reach = WorkerSetup::Reach::process;
    setup_.tester = words(lab_.tester());
    setup_.iut = words(lab_.iut());
    if (options.choice.is_dat()) ia_ = options.choice.device;
    in_kernel_ = options.choice.kind == IutChoice::Kind::kdat;
    if (options.choice.kind == IutChoice::Kind::kverbs) driver_ = "kverbs";
    if (in_kernel_) driver_ = "kdat";
    if (options.choice.over_roce) device_ = "rxe0";
  }

  WorkerSetup setup(std::uint32_t worker) const override {
    WorkerSetup setup = setup_;
    if (!ia_.empty()) {
      setup.deadline_scale *= dat_deadline_scale;
      setup.dat = cases::DatAccess{
          .program = guest_->agent_command(guest_channels + worker, {"rnic-dat-cases"}),
          .ia = ia_,
          .address = ""};
    }
    if (!ia_.empty() && !in_kernel_) {
      setup.agent = guest_->agent_command(worker, {"rnic-agent", "--driver", "dat", "--ia", ia_});
      setup.iut.ipv6.clear();  // an IA has one address
      return setup;
    }
    std::vector<std::string> agent{
        "rnic-agent",        "--driver",     driver_,     "--device",     device_,
        "--address",         setup.iut.ipv4, "--address", setup.iut.ipv6, "--configure-script",
        "/bin/siw-configure"};
    if (device_ == "rxe0" && driver_ == "kverbs") agent.emplace_back("--any-transport");
    setup.agent = guest_->agent_command(worker, agent);
    return setup;
  }
  double scale_of_known_hang() const override {
    return setup_.deadline_scale * (ia_.empty() ? 1 : dat_deadline_scale_with_known_hang);
  }
  const results::LabRecord& record() const override { return record_; }
  unsigned usual_jobs() const override { return guest_channels; }
  unsigned most_jobs() const override { return guest_channels; }
  bool configuration_is_shared() const override { return true; }
  void at_tester(const std::function<void()>& make) const override { at(lab_.tester(), make); }

  std::string kernel_complaints() override {
    return std::exchange(complaint_, {}) + kernel_log_.look().complaint;
  }
  bool finds_leaks() override { return up() && guest_->finds_leaks(); }
  void look_for_leaks(base::EpollLoop& loop, std::function<void(Leaks)> done) override {
    complaint_ = kernel_complaints();
    leak_search_.start(loop, guest_->leak_command(),
                       [this, done = std::move(done)](const Leaks& found) {
                         kernel_log_.begin();  // the kernel has counted those of others as well
                         done(found);
                       });
  }
  bool up() override { return !coming_up_ && guest_->alive(); }
  void bring_up(base::EpollLoop& loop, BroughtUp done) override {
    if (auto started = guest_->start(lab_.tap()); !started) {
      loop.defer([done = std::move(done), started] { done(started); });
      return;
    }
    coming_up_ = true;
    const auto answered =
        std::make_shared<BroughtUp>([this, &loop, done = std::move(done)](Result<void> up) {
          kernel_log_.begin();
          coming_up_ = false;
          failed_boots_ = up ? 0 : failed_boots_ + 1;
          if (!up && failed_boots_ < lab::Guest::most_failed_boots) return bring_up(loop, done);
          done(std::move(up));
        });
    const int fd = guest_->answer_descriptor();
    // The result is reported once: the descriptor is no longer watched, and the timer is gone.
    const auto hear = [this, &loop, fd, answered](std::chrono::milliseconds timeout) {
      loop.unwatch(fd);
      (*answered)(guest_->await_boot(timeout));
    };
    const auto timer = loop.schedule(loop.now() + lab::Guest::boot_time,
                                     [hear] { hear(std::chrono::milliseconds(0)); });
    loop.watch(fd, EPOLLIN, [&loop, hear, timer](std::uint32_t) {
      loop.cancel(timer);
      hear(rest_of_an_answer);
    });
  }

 private:
  lab::Lab lab_;
  std::unique_ptr<lab::Guest> guest_;
  results::LabRecord record_;
  WorkerSetup setup_;
  std::string driver_ = "verbs", device_ = "siw0";  ///< of the agent
  std::string ia_;          ///< of the DAT provider under test; empty: siw itself is the IUT
  bool in_kernel_ = false;  ///< that provider is kdat
  lab::GuestKernelLog kernel_log_{*guest_};
  std::string complaint_;  ///< from before the look for leaks
  LeakSearch leak_search_;
  bool coming_up_ = false;
  int failed_boots_ = 0;  ///< in a row
};

}  // namespace

TestNetworkOr namespace_network(const Options& options) {
  if (auto entered = lab::enter_private_namespaces(); !entered)
    return std::unexpected(entered.error());
  auto made = lab::Lab::with_veth();
  if (!made) return std::unexpected(made.error());
  auto network = std::make_unique<NamespaceNetwork>(std::move(*made), options);
  if (auto added = network->start_reference(options); !added) return std::unexpected(added.error());
  return network;
}

TestNetworksOr guest_networks(const Options& options, std::size_t count, const Tell& tell) {
  auto first = std::make_unique<lab::Guest>(guest_options(options, 0));
  // The first time this downloads packages, which needs the host's own network and user.
  if (auto prepared = first->prepare([&](std::string_view line) { tell(std::string(line)); });
      !prepared)
    return std::unexpected(prepared.error());
  if (auto entered = lab::enter_private_namespaces(); !entered)
    return std::unexpected(entered.error());
  std::vector<std::unique_ptr<lab::Guest>> guests;
  guests.push_back(std::move(first));
  while (guests.size() < count) {
    guests.push_back(std::make_unique<lab::Guest>(guest_options(options, guests.size())));
    guests.back()->prepare_as(*guests.front());
  }
  std::vector<std::unique_ptr<TestNetwork>> networks;
  for (auto& guest : guests) {
    auto made = lab::Lab::with_tap();
    if (!made) return std::unexpected(made.error());
    networks.push_back(std::make_unique<GuestNetwork>(std::move(*made), std::move(guest), options));
  }
  return networks;
}

WorkerSetup common_setup(const Options& options) {
  WorkerSetup setup;
  setup.deviations = options.deviations;
  setup.lawful = options.lawful;
  setup.strict = options.strict;
  setup.pics = options.claims.usable();
  setup.deadline_scale = options.access.deadline_scale;
  setup.quiet_window =
      static_cast<std::uint64_t>(std::chrono::nanoseconds(options.access.quiet_window).count());
  setup.hello_deadline = static_cast<std::uint64_t>(options.access.hello_deadline.count());
  setup.reply_deadline = static_cast<std::uint64_t>(options.access.reply_deadline.count());
  return setup;
}

namespace {

// One of our own programs; found in the PATH if it is not at this place.
std::string program(const char* place) {
  std::error_code error;
  const fs::path path = base::built_program(place);
  return fs::exists(path, error) ? path.string() : path.filename().string();
}

// The dat.conf of a run, in its folder.
Result<fs::path> write_dat_conf(const Options& options, const std::string& address) {
  const auto lines = lab::own_dat_conf(options.choice.device, address);
  if (!lines) return std::unexpected(lines.error());
  std::error_code error;
  const fs::path file = fs::absolute(options.out, error) / "dat.conf";
  fs::create_directories(file.parent_path(), error);
  std::ofstream conf(file);
  conf << *lines;
  conf.close();
  if (!conf) return std::unexpected(fmt::format("{} cannot be written", file.string()));
  return file;
}

// The agent of agent:reference or verbs:reference.
std::vector<std::string> own_agent(const Options& options, const HostSetup& host) {
  const bool verbs = options.choice.kind == IutChoice::Kind::verbs;
  std::vector<std::string> argv{verbs ? launcher_program() : agent_program()};
  const auto add = [&](const std::vector<std::string>& words) {
    argv.insert(argv.end(), words.begin(), words.end());
  };
  if (!verbs) add({"--driver", "reference"});
  // Options of the launcher, whose RNIC the agent finds, or of the agent's own.
  for (const std::string& name : options.deviations)
    add({verbs ? "--deviate" : "--deviation", name});
  for (const std::string& name : options.lawful) add({"--lawful", name});
  if (verbs) add({agent_program(), "--driver", "verbs", "--device", options.choice.device});
  add({"--address", host.ipv4, "--address", host.ipv6});
  return argv;
}

}  // namespace

Result<void> add_reference_agent(WorkerSetup& setup, const Options& options,
                                 int network_namespace) {
  if (!options.choice.local_reference) return {};
  setup.reach = WorkerSetup::Reach::process;
  std::vector<std::string> place;
  if (network_namespace >= 0)
    place = {"nsenter", "--net=" + lab::namespace_path(network_namespace)};
  const auto command = [&](const std::vector<std::string>& words) {
    std::vector<std::string> argv = place;
    argv.insert(argv.end(), words.begin(), words.end());
    return argv;
  };
  if (options.choice.kind == IutChoice::Kind::dat) {
    const auto conf = write_dat_conf(options, setup.iut.ipv4);
    if (!conf) return std::unexpected(conf.error());
    place.insert(place.end(), {"env", "DAT_OVERRIDE=" + conf->string()});
    setup.agent = command({agent_program(), "--driver", "dat", "--ia", options.choice.device});
    setup.iut.ipv6.clear();  // an IA has one address
    setup.dat = cases::DatAccess{
        .program = command({dat_cases_program()}), .ia = options.choice.device, .address = ""};
    return {};
  }
  setup.agent = command(own_agent(options, setup.iut));
  return {};
}

std::string launcher_program() { return program("suite/verbs_run/rnic-run"); }
std::string agent_program() { return program("suite/upper_tester/rnic-agent"); }
std::string dat_cases_program() { return program("suite/cases/rnic-dat-cases"); }

}  // namespace suite::runner
