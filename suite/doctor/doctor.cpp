// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/doctor/doctor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "suite/doctor/device_host.hpp"
#include "suite/doctor/host_path.hpp"
#include "suite/doctor/ip_answers.hpp"
#include "suite/doctor/remote_system.hpp"

namespace suite::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t mebibyte = 1 << 20;
constexpr std::uint64_t guest_space = 700 * mebibyte;  ///< packages, unpacked trees, archives
constexpr int ordinary_mtu = 1500;

/// Collects the findings of the checks.
class Examination {
 public:
  Examination(const Request& request, const System& system, const System* dut)
      : request_(request), system_(system), dut_(dut) {}

  std::vector<Finding> all() {
    own_files();
    programs();
    switch (request_.iut) {
      case Request::Iut::reference:
        private_lab(false);
        break;
      case Request::Iut::siw_vm:
        private_lab(true);
        guest_parts();
        guest_archive();
        acceleration();
        break;
      case Request::Iut::device:
        add(examine_device(request_.device, system_));
        path_to_iut();
        break;
      case Request::Iut::remote:
        dut_ == nullptr ? agent() : other_host();
        path_to_iut();
        break;
    }
    return std::move(findings_);
  }

 private:
  void ok(std::string check, std::string what) {
    add(doctor::ok(std::move(check), std::move(what)));
  }
  void warn(std::string check, std::string what, std::string remedy) {
    add(doctor::warn(std::move(check), std::move(what), std::move(remedy)));
  }
  void fail(std::string check, std::string what, std::string remedy) {
    add(doctor::fail(std::move(check), std::move(what), std::move(remedy)));
  }
  void add(Finding finding) { findings_.push_back(std::move(finding)); }
  void add(std::vector<Finding> findings) {
    for (Finding& one : findings) add(std::move(one));
  }

  /// One finding for a set of programs. `packages` has the packages that contain them.
  void need(const std::string& check, std::initializer_list<const char*> names,
            const char* packages, bool fatal) {
    std::vector<std::string> missing;
    for (const char* name : names)
      if (!system_.has_program(name)) missing.emplace_back(name);
    if (missing.empty()) return ok(check, fmt::format("{} are installed", fmt::join(names, ", ")));
    const std::string what = fmt::format("missing: {}", fmt::join(missing, ", "));
    const std::string remedy = fmt::format("apt-get install {}", packages);
    fatal ? fail(check, what, remedy) : warn(check, what, remedy);
  }

  // Without them a known issue would be a new failure, and there would be no report.
  void own_files() {
    if (request_.files_fault)
      return fail("suite files", *request_.files_fault, "install the suite anew");
    ok("suite files", "known issues, PICS and report templates are there");
  }

  void programs() {
    need("network tools", {"ip", "ethtool"}, "iproute2 ethtool", true);
    if (!system_.ask({"python3", "-c", "import jinja2"}))
      warn("report tools", "Python 3 with Jinja2 is missing: there will be no report.html",
           "apt-get install python3 python3-jinja2");
    else
      ok("report tools", "Python 3 with Jinja2 is installed");
  }

  void private_lab(bool with_tap) {
    const auto tried = system_.try_lab(with_tap);
    const char* kind = with_tap ? "a tap device" : "a veth pair";
    if (tried) return ok("private lab", fmt::format("namespaces with {} can be made", kind));
    if (with_tap)
      return fail("private lab", tried.error(),
                  "run as root, on a host that allows namespaces and has /dev/net/tun");
    warn("private lab", tried.error(),
         "run as root, on a host that allows namespaces; else the run uses loopback and says so");
  }

  void guest_parts() {
    need("emulator", {"qemu-system-x86_64"}, "qemu-system-x86", true);
    need("guest programs", {"busybox", "rdma"}, "busybox-static iproute2", true);
    bool provider = false;
    for (const std::string& machine : system_.names_in("/usr/lib"))
      for (const std::string& name :
           system_.names_in(fs::path("/usr/lib") / machine / "libibverbs"))
        provider = provider || name.starts_with("libsiw-");
    if (provider)
      ok("verbs provider", "rdma-core's siw provider is installed");
    else
      fail("verbs provider", "rdma-core's siw provider is missing",
           "apt-get install ibverbs-providers");
  }

  void guest_archive() {
    const auto kernels = system_.names_in(request_.guest_cache / "kernel");
    const bool cached = std::ranges::any_of(kernels, [&](const std::string& name) {
      const fs::path folder = request_.guest_cache / "kernel" / name;
      return system_.read(folder / "complete") && system_.read(folder / "siw-tunable.ko");
    });
    if (cached) return ok("guest kernel", "the kernel and siw are in the cache");
    need("compiler", {"make", "gcc-12", "ld", "depmod", "cpio", "xz", "apt-get", "dpkg-deb"},
         "make gcc-12 binutils kmod cpio xz-utils", true);
    const auto free = system_.free_space(request_.guest_cache);
    if (free < guest_space)
      return fail("guest kernel",
                  fmt::format("{} MiB are free for {}, {} are needed", free / mebibyte,
                              request_.guest_cache.string(), guest_space / mebibyte),
                  "free some space, or set XDG_CACHE_HOME to a folder with more space");
    warn("guest kernel", "not in the cache yet: the first run downloads 225 MB and compiles siw",
         request_.lab_command + " siw-vm --prepare-only");
  }

  void acceleration() {
    if (system_.may_read_and_write("/dev/kvm"))
      return ok("acceleration", "/dev/kvm may be used; a run tries it, and emulates if it hangs");
    ok("acceleration", "no /dev/kvm: the guest is emulated, which is slower but equivalent");
  }

  /// An agent that a command reaches. Ours has --help; of another one it is only known that it
  /// begins with its hello.
  void agent() {
    if (request_.agent.empty())
      return fail("agent", "no option says how to reach the agent",
                  "give --host, e.g. --host ssh:root@dut");
    if (!system_.has_program(request_.agent.front()))
      return fail("agent",
                  fmt::format("there is no program '{}' on this host", request_.agent.front()),
                  "give the path of the command that reaches the agent, or install it here");
    std::vector<std::string> argv = request_.agent;
    const bool ssh = argv.front() == "ssh";
    // Without a terminal no prompt for a password or a host key can be answered.
    if (ssh) argv.insert(argv.begin() + 1, {"-o", "BatchMode=yes", "-o", "ConnectTimeout=5"});
    const bool ours = std::ranges::any_of(
        argv, [](const std::string& word) { return fs::path(word).filename() == "rnic-agent"; });
    if (ours) argv.emplace_back("--help");
    const auto said = system_.ask(argv);
    if (!said)
      return fail("agent", said.error(),
                  ssh ? remedy_for_ssh(said.error())
                      : "make this command work with nothing on standard input");
    if (!ours && said->find("\"hello\"") == std::string::npos)
      return fail("agent", fmt::format("`{}` sends no hello", fmt::join(request_.agent, " ")),
                  "it must write its hello first and end with its standard input: "
                  "docs/porting.md");
    ok("agent", "the agent answers there");
  }

  /// The host of the IUT, if programs of ours can be started there.
  void other_host() {
    Finding reach = examine_reach(*dut_);
    const bool reached = reach.severity == Severity::ok;
    add(std::move(reach));
    if (!reached) return;
    add(examine_agent(*dut_, request_.dut_agent));
    if (!request_.device.empty()) add(examine_device(request_.device, *dut_));
    add(examine_addresses(request_.addresses, request_.device, *dut_));
    dut_links_ = dut_->ask({"ip", "-d", "-j", "addr", "show"}).value_or("");
  }

  // -------------------------------------------------------------- the path to the IUT's own host

  void path_to_iut() {
    if (request_.addresses.empty())
      return fail("route", "no address of the IUT is known", "give --address");
    std::vector<std::string> seen;
    for (const std::string& address : request_.addresses) {
      const auto interface = route_to(address);
      if (!interface || std::ranges::find(seen, *interface) != seen.end()) continue;
      seen.push_back(*interface);
      const auto link =
          first_link(system_.ask({"ip", "-d", "-j", "link", "show", "dev", *interface}));
      if (dut_links_.empty()) mtu_of(*interface, link.mtu, address);
      offloads_of(*interface);
      // What a VLAN receives has been joined by the interface that it is on.
      if (!link.lower.empty()) offloads_of(link.lower);
    }
    if (!dut_links_.empty())
      for (const std::string& address : request_.addresses)
        add(examine_path(system_, {.name = "the IUT", .address = address, .links = dut_links_}));
    if (request_.capture) capture_rights();
    firewall();
  }

  /// The interface through which packets to the address leave.
  std::optional<std::string> route_to(const std::string& address) {
    const auto route = first_route(system_.ask(route_question(address)));
    if (!route) {
      fail("route", fmt::format("no route to {}", address),
           "give this host an address in that network: ip addr add ADDRESS/LEN dev DEV");
      return std::nullopt;
    }
    if (route->type == "local") {
      const std::string what = fmt::format(
          "{} is an address of this host: an RNIC never sees its own host's traffic", address);
      if (request_.iut == Request::Iut::remote)
        warn("route", what, "right for a software stack; otherwise run the suite on another host");
      else
        fail("route", what,
             "run the suite on another host, with --host ssh:THIS_HOST; or cable the RNIC to "
             "another port, move its network device into a namespace (ip link set DEV netns NAME) "
             "and start the agent there: --host 'argv:ip netns exec NAME'");
      return std::nullopt;
    }
    if (!route->gateway.empty())
      warn("route", fmt::format("{} is reached through the router {}", address, route->gateway),
           "connect tester and IUT directly: a router may split, join or reorder segments");
    else
      ok("route", fmt::format("{} is a neighbour on {}", address, route->interface));
    return route->interface;
  }

  /// Nothing can be asked on the host of the IUT.
  void mtu_of(const std::string& interface, int mtu, const std::string& address) {
    if (mtu == ordinary_mtu || passes(system_, address, mtu))
      return ok("mtu", fmt::format("{} has MTU {}", interface, mtu));
    warn("mtu",
         fmt::format("{} has MTU {}: the IUT's must be the same, and every hop must pass it",
                     interface, mtu),
         fmt::format("ip link set {} mtu {}", interface, ordinary_mtu));
  }

  void offloads_of(const std::string& interface) {
    const auto said = system_.ask({"ethtool", "-k", interface});
    if (!said)
      return warn("offloads", fmt::format("{}: {}", interface, said.error()),
                  "run as root, or check with ethtool -k");
    static constexpr std::array<std::pair<const char*, const char*>, 4> features{
        {{"tcp-segmentation-offload", "tso"},
         {"generic-segmentation-offload", "gso"},
         {"generic-receive-offload", "gro"},
         {"large-receive-offload", "lro"}}};
    std::vector<std::string> on;
    for (const auto& [name, word] : features)
      if (said->find(fmt::format("{}: on", name)) != std::string::npos) on.emplace_back(word);
    if (on.empty())
      return ok("offloads", fmt::format("{} neither joins nor cuts segments", interface));
    warn("offloads",
         fmt::format("{} has {} on: captures show segments that were never on the wire", interface,
                     fmt::join(on, ", ")),
         fmt::format("ethtool -K {} {} off", interface, fmt::join(on, " off ")));
  }

  void capture_rights() {
    // Not /sys/class/net: in a network namespace that may still be another one's.
    if (!request_.capture_interface.empty() &&
        !system_.ask({"ip", "-j", "link", "show", "dev", request_.capture_interface}))
      return fail("capture", fmt::format("there is no interface '{}'", request_.capture_interface),
                  "name one that `ip link` shows");
    if (system_.may_capture()) return ok("capture", "packets can be captured");
    warn("capture", "no right to capture: pcaps are written from the tester's own bytes",
         "run as root, or setcap cap_net_raw+ep on rnic-suite");
  }

  /// Only determines whether any rule might stop a connection.
  void firewall() {
    std::string found;
    bool asked = false;
    for (const std::vector<std::string>& argv : std::initializer_list<std::vector<std::string>>{
             {"nft", "list", "ruleset"}, {"iptables", "-S"}, {"ip6tables", "-S"}}) {
      if (!system_.has_program(argv.front())) continue;
      const auto rules = system_.ask(argv);
      if (!rules) continue;
      asked = true;
      for (const char* word : {"policy drop", " drop", " reject", " DROP", " REJECT"})
        if (found.empty() && rules->find(word) != std::string::npos) found = argv.front();
    }
    if (!found.empty())
      return warn(
          "firewall", fmt::format("{} has rules that drop or reject packets", found),
          "make sure that TCP passes between tester and IUT, for every port, in both directions");
    if (asked) return ok("firewall", "no rule drops or rejects packets");
    warn("firewall", "its rules cannot be read",
         "run as root with nftables installed (apt-get install nftables), or check yourself that "
         "TCP "
         "passes");
  }

  const Request& request_;
  const System& system_;
  const System* dut_;  ///< null: nothing can be run there
  std::vector<Finding> findings_;
  std::string dut_links_;  ///< the output of `ip -j addr show` there
};

}  // namespace

std::vector<Finding> examine(const Request& request, const System& system, const System* dut) {
  return Examination(request, system, dut).all();
}

}  // namespace suite::doctor
