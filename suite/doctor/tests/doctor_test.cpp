// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/doctor/doctor.hpp"

#include "suite/doctor/device_ports.hpp"
#include "suite/doctor/remote_system.hpp"

#include <boost/test/unit_test.hpp>
#include <limits>
#include <map>
#include <set>

using namespace suite::doctor;

namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// A host without faults, until a test adds one.
struct FakeHost : System {
  std::map<std::string, std::string> answers{
      {"python3 -c import jinja2", ""},
      {"ip -j route get 192.0.2.7", R"([{"dst":"192.0.2.7","dev":"eth1","prefsrc":"192.0.2.1"}])"},
      {"ip -j link show dev eth1", R"([{"ifname":"eth1","mtu":1500}])"},
      {"ip -d -j link show dev eth1", R"([{"ifname":"eth1","mtu":1500}])"},
      {"ethtool -k eth1",
       "Features for eth1:\ntcp-segmentation-offload: off\ngeneric-segmentation-offload: off\n"
       "generic-receive-offload: off\nlarge-receive-offload: off [fixed]\n"},
      {"nft list ruleset",
       "table inet filter {\n chain input { type filter hook input priority 0; }\n}\n"},
      {"ssh -o BatchMode=yes -o ConnectTimeout=5 root@dut /opt/agent", R"({"type":"hello"})"}};
  std::set<std::string> missing_programs, closed_paths;
  std::map<std::string, std::string> files{{"/sys/class/infiniband/rnic0/node_type", "4: RNIC"}};
  std::map<std::string, std::vector<std::string>> folders{
      {"/sys/class/infiniband", {"rnic0"}},
      {"/dev/infiniband", {"rdma_cm", "uverbs0"}},
      {"/usr/lib", {"x86_64-linux-gnu"}},
      {"/usr/lib/x86_64-linux-gnu/libibverbs", {"libsiw-rdmav34.so"}}};
  std::string lab_error;
  bool capture = true;
  std::uint64_t lockable = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t space = std::uint64_t{100} << 30;

  /// What the host says of the ports of rnic0, of which it has one if it says nothing else.
  std::string ports =
      "port 1\nstate 4: ACTIVE\nrate 100 Gb/sec (4X EDR)\ninterface eth5\nmtu 1500\n";

  std::expected<std::string, std::string> ask(const std::vector<std::string>& argv) const override {
    if (argv.front() == "sh" && argv.back() == "rnic0") return ports;
    const auto found = answers.find(joined(argv));
    if (found == answers.end()) return std::unexpected("`" + joined(argv) + "` failed");
    return found->second;
  }
  bool has_program(std::string_view name) const override {
    return !missing_programs.contains(std::string(name));
  }
  std::optional<std::string> read(const std::filesystem::path& path) const override {
    const auto found = files.find(path.string());
    return found == files.end() ? std::nullopt : std::optional(found->second);
  }
  std::vector<std::string> names_in(const std::filesystem::path& folder) const override {
    const auto found = folders.find(folder.string());
    return found == folders.end() ? std::vector<std::string>() : found->second;
  }
  bool may_read_and_write(const std::filesystem::path& path) const override {
    return !closed_paths.contains(path.string());
  }
  std::expected<void, std::string> try_lab(bool) const override {
    if (lab_error.empty()) return {};
    return std::unexpected(lab_error);
  }
  bool may_capture() const override { return capture; }
  std::uint64_t lockable_memory() const override { return lockable; }
  std::uint64_t free_space(const std::filesystem::path&) const override { return space; }
};

Request device_request() {
  Request request;
  request.iut = Request::Iut::device;
  request.device = "rnic0";
  request.addresses = {"192.0.2.7"};
  return request;
}

/// The host of the IUT, also without faults.
FakeHost healthy_dut() {
  FakeHost dut;
  dut.answers = {
      {"true", ""},
      {"rnic-agent --help", "usage"},
      {"ip -d -j addr show",
       R"([{"ifname":"lo","mtu":65536,"flags":["UP"],"addr_info":[{"local":"127.0.0.1"}]},
                      {"ifname":"eth4","mtu":1500,"flags":["UP"],"addr_info":[{"local":"198.51.100.7"}]},
                      {"ifname":"eth5","mtu":1500,"flags":["UP"],"address":"02:00:00:00:00:07",
                       "addr_info":[{"local":"192.0.2.7"}]}])"}};
  return dut;
}

/// The tester's host as seen from a run against that DUT.
FakeHost tester_of_dut() {
  FakeHost host;
  host.answers["ping -n -q -c 1 -W 2 -M do -s 1472 192.0.2.7"] = "1 received";
  host.answers["ip -j neigh show to 192.0.2.7"] = R"([{"lladdr":"02:00:00:00:00:07"}])";
  return host;
}

Request dut_request() {
  Request request = device_request();
  request.iut = Request::Iut::remote;
  return request;
}

/// The one finding that is not ok.
Finding complaint(const Request& request, const FakeHost& host, const FakeHost* dut = nullptr) {
  std::vector<Finding> found;
  for (const Finding& finding : examine(request, host, dut))
    if (finding.severity != Severity::ok) found.push_back(finding);
  BOOST_TEST_CONTEXT(report_text(found, false)) { BOOST_REQUIRE_EQUAL(found.size(), 1u); }
  BOOST_TEST(!found[0].remedy.empty());
  return found[0];
}

void expect_complaint(const Request& request, const FakeHost& host, Severity severity,
                      const std::string& check, const std::string& words,
                      const FakeHost* dut = nullptr) {
  const Finding found = complaint(request, host, dut);
  BOOST_TEST((found.severity == severity));
  BOOST_TEST(found.check == check);
  BOOST_TEST(found.what.find(words) != std::string::npos, found.what);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_healthy_host_has_no_complaint) {
  FakeHost host;
  Request remote;
  remote.iut = Request::Iut::remote;
  remote.agent = {"ssh", "root@dut", "/opt/agent"};
  remote.addresses = {"192.0.2.7"};
  host.folders["/cache/kernel"] = {"6.1.1-1"};
  host.files["/cache/kernel/6.1.1-1/complete"] =
      host.files["/cache/kernel/6.1.1-1/siw-tunable.ko"] = "x";
  Request guest;
  guest.iut = Request::Iut::siw_vm;
  guest.guest_cache = "/cache";
  for (const Request& request : {Request{}, device_request(), remote, guest}) {
    const auto findings = examine(request, host);
    BOOST_TEST(findings.size() >= 3u);
    BOOST_TEST((worst(findings) == Severity::ok), report_text(findings, false));
  }
}

BOOST_AUTO_TEST_CASE(what_the_reference_run_needs) {
  FakeHost host;
  host.lab_error = "the system forbids it";
  expect_complaint({}, host, Severity::warning, "private lab", "forbids");
  host.lab_error.clear();
  host.missing_programs = {"ethtool"};
  expect_complaint({}, host, Severity::failure, "network tools", "missing: ethtool");
  host.missing_programs.clear();
  host.answers.erase("python3 -c import jinja2");
  expect_complaint({}, host, Severity::warning, "report tools", "Jinja2");
}

BOOST_AUTO_TEST_CASE(a_run_without_the_suites_own_files_is_no_run) {
  Request request;
  request.files_fault = "they are neither here nor there";
  expect_complaint(request, FakeHost(), Severity::failure, "suite files", "neither here");
}

BOOST_AUTO_TEST_CASE(what_the_guest_needs) {
  FakeHost host;
  Request request;
  request.iut = Request::Iut::siw_vm;
  request.guest_cache = "/cache";
  request.lab_command = "bin/rnic-lab";
  expect_complaint(request, host, Severity::warning, "guest kernel", "not in the cache");
  BOOST_TEST(complaint(request, host).remedy == "bin/rnic-lab siw-vm --prepare-only");
  host.space = 1 << 20;
  expect_complaint(request, host, Severity::failure, "guest kernel", "1 MiB are free");
  host.folders["/cache/kernel"] = {"6.1.1-1"};
  host.files["/cache/kernel/6.1.1-1/complete"] =
      host.files["/cache/kernel/6.1.1-1/siw-tunable.ko"] = "x";
  host.missing_programs = {"qemu-system-x86_64"};
  expect_complaint(request, host, Severity::failure, "emulator", "qemu-system-x86_64");
  host.missing_programs.clear();
  host.folders["/usr/lib/x86_64-linux-gnu/libibverbs"] = {"libcxgb4-rdmav34.so"};
  expect_complaint(request, host, Severity::failure, "verbs provider", "siw provider");
  host.folders["/usr/lib/x86_64-linux-gnu/libibverbs"] = {"libsiw-rdmav34.so"};
  host.lab_error = "/dev/net/tun: No such file";
  expect_complaint(request, host, Severity::failure, "private lab", "/dev/net/tun");
}

BOOST_AUTO_TEST_CASE(what_a_device_needs) {
  FakeHost host;
  Request request = device_request();
  host.files["/sys/class/infiniband/rnic0/node_type"] = "1: CA";
  expect_complaint(request, host, Severity::failure, "driver", "no iWARP device");
  host = {};
  host.ports = "port 1\nstate 1: DOWN\ninterface eth5\nport 2\nstate 1: DOWN\ninterface eth6\n";
  expect_complaint(request, host, Severity::failure, "link",
                   "port 1 (eth5) is '1: DOWN', port 2 (eth6) is '1: DOWN'");
  host = {};
  host.closed_paths = {"/dev/infiniband/uverbs0"};
  expect_complaint(request, host, Severity::failure, "device nodes", "uverbs0");
  host = {};
  host.folders["/dev/infiniband"] = {"uverbs0"};
  expect_complaint(request, host, Severity::failure, "device nodes", "rdma_cm is missing");
  host = {};
  host.lockable = 8 << 20;
  expect_complaint(request, host, Severity::warning, "locked memory", "8192 KiB");
  host = {};
  request.device = "rnic9";
  expect_complaint(request, host, Severity::failure, "driver", "there are rnic0");
}

BOOST_AUTO_TEST_CASE(what_the_path_needs) {
  FakeHost host;
  const Request request = device_request();
  std::string& route = host.answers["ip -j route get 192.0.2.7"];
  route = R"([{"type":"local","dst":"192.0.2.7","dev":"lo"}])";
  expect_complaint(request, host, Severity::failure, "route", "address of this host");
  route = R"([{"dst":"192.0.2.7","gateway":"198.51.100.1","dev":"eth1"}])";
  expect_complaint(request, host, Severity::warning, "route", "198.51.100.1");
  for (const char* nonsense : {"", "{}", "[]", "[7]", "RTNETLINK answers: unreachable"}) {
    route = nonsense;
    expect_complaint(request, host, Severity::failure, "route", "no route to 192.0.2.7");
  }
  host = {};
  host.answers["ip -d -j link show dev eth1"] = R"([{"mtu":9000}])";
  expect_complaint(request, host, Severity::warning, "mtu", "9000");
  // Jumbo frames that pass are no fault.
  host.answers["ping -n -q -c 1 -W 2 -M do -s 8972 192.0.2.7"] = "1 received";
  BOOST_TEST((worst(examine(request, host)) == Severity::ok));
  host = {};
  // The peer of a veth is no lower interface.
  std::string& link = host.answers["ip -d -j link show dev eth1"];
  link = R"([{"link":"eth0","mtu":1500,"linkinfo":{"info_kind":"veth"}}])";
  BOOST_TEST((worst(examine(request, host)) == Severity::ok));
  link = R"([{"link":"eth0","mtu":1500,"linkinfo":{"info_kind":"vlan"}}])";
  host.answers["ethtool -k eth0"] = "generic-receive-offload: on\n";
  BOOST_TEST(complaint(request, host).remedy == "ethtool -K eth0 gro off");
  host = {};
  host.answers["ethtool -k eth1"] =
      "tcp-segmentation-offload: on\ngeneric-receive-offload: on\nlarge-receive-offload: off "
      "[fixed]\n";
  BOOST_TEST(complaint(request, host).remedy == "ethtool -K eth1 tso off gro off");
  host = {};
  host.capture = false;
  expect_complaint(request, host, Severity::warning, "capture", "no right to capture");
  host = {};
  host.answers["iptables -S"] = "-P INPUT ACCEPT\n-A INPUT -p tcp -j DROP\n";
  expect_complaint(request, host, Severity::warning, "firewall", "iptables");
}

BOOST_AUTO_TEST_CASE(what_a_remote_agent_needs) {
  FakeHost host;
  Request request;
  request.iut = Request::Iut::remote;
  request.addresses = {"192.0.2.7"};
  expect_complaint(request, host, Severity::failure, "agent", "no option says");
  request.agent = {"ssh", "root@other", "rnic-agent"};
  expect_complaint(request, host, Severity::failure, "agent", "root@other");
  host.missing_programs = {"ssh"};
  expect_complaint(request, host, Severity::failure, "agent", "no program 'ssh'");
  host = {};
  request.agent = {"/opt/acme/agent"};
  host.answers["/opt/acme/agent"] = R"({"type":"hello","version":1,"driver":"acme"})";
  BOOST_TEST((worst(examine(request, host)) == Severity::ok));
  host.answers["/opt/acme/agent"] = "usage: agent DEVICE";
  expect_complaint(request, host, Severity::failure, "agent", "sends no hello");
  host.answers["ip -j route get 192.0.2.7"] = R"([{"type":"local","dst":"192.0.2.7","dev":"lo"}])";
  host.answers["/opt/acme/agent"] = R"({"type":"hello"})";
  expect_complaint(request, host, Severity::warning, "route", "address of this host");
  host = {};
  request.agent = {"ssh", "root@dut", "/opt/agent"};
  request.addresses.clear();
  expect_complaint(request, host, Severity::failure, "route", "no address");
}

BOOST_AUTO_TEST_CASE(what_the_host_of_the_iut_needs) {
  const FakeHost tester = tester_of_dut();
  const Request request = dut_request();
  const auto spoilt = [&](auto&& spoil, const char* check, const char* words) {
    FakeHost dut = healthy_dut();
    spoil(dut);
    expect_complaint(request, tester, Severity::failure, check, words, &dut);
  };
  const FakeHost well = healthy_dut();
  const auto findings = examine(request, tester, &well);
  BOOST_TEST((worst(findings) == Severity::ok), report_text(findings, false));
  spoilt([](FakeHost& dut) { dut.answers.erase("rnic-agent --help"); }, "agent", "rnic-agent");
  spoilt([](FakeHost& dut) { dut.folders["/sys/class/infiniband"] = {}; }, "driver",
         "there is none");
  spoilt([](FakeHost& dut) { dut.ports = "port 1\nstate 1: DOWN\ninterface eth5\n"; }, "link",
         "DOWN");
  // The other port is connected, but this one has the address.
  spoilt(
      [](FakeHost& dut) {
        dut.ports =
            "port 1\nstate 4: ACTIVE\ninterface eth4\nport 2\nstate 1: DOWN\ninterface eth5\n";
      },
      "link", "192.0.2.7 is on eth5: port 2 (eth5) is '1: DOWN'");
  spoilt([](FakeHost& dut) { dut.closed_paths = {"/dev/infiniband/rdma_cm"}; }, "device nodes",
         "rdma_cm");
  std::string links = well.answers.at("ip -d -j addr show");
  spoilt([&](FakeHost& dut) { dut.answers["ip -d -j addr show"] = "[]"; }, "address",
         "no address of that host");
  spoilt([](FakeHost& dut) { dut.answers.erase("ip -d -j addr show"); }, "address",
         "cannot be read: `ip -d -j addr show` failed");
  links.replace(links.rfind("\"UP\""), 4, "");
  spoilt([&](FakeHost& dut) { dut.answers["ip -d -j addr show"] = links; }, "address", "is down");
  spoilt([](FakeHost& dut) { dut.ports = "port 1\nstate 4: ACTIVE\ninterface eth4\n"; }, "address",
         "192.0.2.7 is on eth5, but rnic0 is on eth4");
}

BOOST_AUTO_TEST_CASE(the_port_that_is_captured_has_to_exist) {
  FakeHost host;
  Request request = device_request();
  request.capture_interface = "mirror0";
  expect_complaint(request, host, Severity::failure, "capture", "no interface 'mirror0'");
  // Its MTU and its offloads are not those of the tester's port, and do not matter.
  host.answers["ip -j link show dev mirror0"] = R"([{"ifname":"mirror0","mtu":9000}])";
  BOOST_TEST((worst(examine(request, host)) == Severity::ok),
             report_text(examine(request, host), false));
}

BOOST_AUTO_TEST_CASE(an_address_may_be_on_any_port_and_on_a_vlan_or_bond_of_it) {
  const Request request = dut_request();
  const auto well = [&](const std::string& ports, const std::string& links) {
    FakeHost dut = healthy_dut();
    dut.ports = ports;
    dut.answers["ip -d -j addr show"] = links;
    const FakeHost tester = tester_of_dut();
    const auto findings = examine(request, tester, &dut);
    BOOST_TEST((worst(findings) == Severity::ok), report_text(findings, false));
    return report_text(findings, false);
  };
  const std::string eth5 = "port 1\nstate 4: ACTIVE\ninterface eth5\n";
  const char* on = R"("mtu":1500,"flags":["UP"],"address":"02:00:00:00:00:07",
                      "addr_info":[{"local":"192.0.2.7"}]}])";
  well("port 1\nstate 1: DOWN\ninterface eth4\nport 2\nstate 4: ACTIVE\ninterface eth5\n",
       std::string(R"([{"ifname":"eth5",)") + on);
  const std::string said = well(
      eth5,
      std::string(R"([{"ifname":"eth5.7","link":"eth5","linkinfo":{"info_kind":"vlan"},)") + on);
  BOOST_TEST(said.find("192.0.2.7 is on eth5.7 over eth5, MTU 1500") != said.npos, said);
  const std::string part = R"([{"ifname":"eth5","master":"bond0"},)";
  well(eth5, part + R"({"ifname":"bond0",)" + on);
  well(eth5, part + R"({"ifname":"bond0.7","link":"bond0","linkinfo":{"info_kind":"vlan"},)" + on);
}

BOOST_AUTO_TEST_CASE(the_ports_are_described_as_their_host_reports_them) {
  FakeHost host;
  host.ports =
      "port 2\nstate 4: ACTIVE\nrate 100 Gb/sec (4X EDR)\ngid "
      "0000:0000:0000:0000:0000:0000:0000:0000\n"
      "gid 0207:4328:9e10:0000:0000:0000:0000:0000\ninterface eth6\nmtu 9000\nspeed 100000\n"
      "driver: cxgb4\nversion: 6.1.0\nfirmware-version: 1.27.1.0\nexpansion-rom-version: \n"
      "Features for eth6:\nrx-checksumming: on\ntcp-segmentation-offload: on\n"
      "\ttx-tcp-segmentation: on\ngeneric-receive-offload: off\nlarge-receive-offload: off "
      "[fixed]\n"
      "port 1\nstate 1: DOWN\nrate \n";
  const auto ports = ports_of("rnic0", host);
  BOOST_REQUIRE_EQUAL(ports.size(), 2u);
  BOOST_TEST((ports[0].number == 1 && !is_active(ports[0]) && ports[0].interface.empty()));
  const suite::results::PortRecord& port = ports[1];
  BOOST_TEST((port.number == 2 && is_active(port)));
  BOOST_TEST(port.rate == "100 Gb/sec (4X EDR)");
  BOOST_TEST((port.gids == std::vector<std::string>{"0207:4328:9e10:0000:0000:0000:0000:0000"}));
  BOOST_TEST((port.interface == "eth6" && port.mtu == 9000 && port.speed == 100000));
  BOOST_TEST((port.driver == "cxgb4" && port.driver_version == "6.1.0"));
  BOOST_TEST(port.firmware == "1.27.1.0");
  BOOST_TEST((port.offloads == std::vector<std::string>{"rx", "tso"}));
  BOOST_TEST(ports_of("rnic9", host).empty());
}

BOOST_AUTO_TEST_CASE(a_link_local_address_is_examined_on_its_link) {
  Request request = dut_request();
  request.addresses = {"fe80::7%eth1"};
  FakeHost dut = healthy_dut();
  dut.answers["ip -d -j addr show"] =
      R"([{"ifname":"eth5","mtu":1500,"flags":["UP"],"address":"02:00:00:00:00:07",
           "addr_info":[{"local":"fe80::7"}]}])";
  FakeHost host = tester_of_dut();
  host.answers["ip -j route get fe80::7 oif eth1"] = R"([{"dst":"fe80::7","dev":"eth1"}])";
  host.answers["ping -n -q -c 1 -W 2 -M do -s 1452 fe80::7%eth1"] = "1 received";
  host.answers["ip -j neigh show to fe80::7 dev eth1"] = R"([{"lladdr":"02:00:00:00:00:07"}])";
  const auto findings = examine(request, host, &dut);
  BOOST_TEST((worst(findings) == Severity::ok), report_text(findings, false));
}

BOOST_AUTO_TEST_CASE(a_host_that_is_not_reached_is_asked_nothing_more) {
  FakeHost dut;
  const auto found = complaint(dut_request(), tester_of_dut(), &dut);
  BOOST_TEST(found.check == "host");
}

BOOST_AUTO_TEST_CASE(both_ends_and_what_is_between_agree) {
  const Request request = dut_request();
  const FakeHost dut = healthy_dut();
  FakeHost tester = tester_of_dut();
  tester.answers["ip -j link show dev eth1"] = R"([{"ifname":"eth1","mtu":9000}])";
  tester.answers["ping -n -q -c 1 -W 2 -M do -s 548 192.0.2.7"] = "1 received";
  expect_complaint(request, tester, Severity::failure, "path mtu", "MTU of 9000 do not pass", &dut);
  // Jumbo frames are fine where they pass.
  tester.answers["ping -n -q -c 1 -W 2 -M do -s 8972 192.0.2.7"] = "1 received";
  expect_complaint(request, tester, Severity::warning, "mtu",
                   "eth1 has MTU 9000, eth5 of the IUT has MTU 1500", &dut);
  FakeHost jumbo = dut;
  std::string& links = jumbo.answers["ip -d -j addr show"];
  links.replace(links.rfind("1500"), 4, "9000");
  BOOST_TEST((worst(examine(request, tester, &jumbo)) == Severity::ok));
  tester = tester_of_dut();
  tester.answers["ip -j neigh show to 192.0.2.7"] = R"([{"lladdr":"02:00:00:00:00:99"}])";
  expect_complaint(request, tester, Severity::failure, "mac", "answers for the IUT", &dut);
}

BOOST_AUTO_TEST_CASE(each_cause_has_its_own_remedy) {
  const auto helps = [](const char* said, const char* words) {
    const std::string remedy = remedy_for_ssh(said);
    BOOST_TEST(remedy.find(words) != std::string::npos, remedy);
  };
  helps("ssh: Host key verification failed.", "ssh-keygen -R");
  helps("root@dut: Permission denied (publickey,password).", "ssh-copy-id");
  helps("ssh: Could not resolve hostname dut: Name or service not known", "~/.ssh/config");
  helps("ssh: connect to host dut port 22: Connection refused", "start sshd");
  helps("ssh: connect to host dut port 22: Connection timed out", "management network");
  helps("something else", "without a password");
}

BOOST_AUTO_TEST_CASE(another_host_is_asked_through_a_shell_that_expands_nothing) {
  const RemoteSystem host = RemoteSystem::by_prefix({"env", "LC_ALL=C"});
  BOOST_TEST(host.ask({"printf", "%s|", "$HOME", "a b", "*"}).value_or("") == "$HOME|a b|*|");
  BOOST_TEST(!host.ask({"printf", "it's"}).has_value());
  BOOST_TEST(host.has_program("sh"));
  BOOST_TEST(!host.has_program("no-such-program"));
  BOOST_TEST(host.read("/proc/self/comm").value_or("") == "cat");
  BOOST_TEST(!host.read("/no/such/file").has_value());
  BOOST_TEST((examine_reach(host).severity == Severity::ok));
  const Finding lacking = examine_agent(host, "no-such-agent");
  BOOST_TEST((lacking.severity == Severity::failure));
  BOOST_TEST(lacking.remedy.find("install the package rnic-agent") != std::string::npos,
             lacking.what + " -> " + lacking.remedy);
}

BOOST_AUTO_TEST_CASE(the_report_is_plain_without_colour) {
  const std::vector<Finding> findings{{Severity::ok, "route", "fine", ""},
                                      {Severity::failure, "mtu", "odd", "mend it"}};
  const std::string plain = report_text(findings, false);
  BOOST_TEST(plain ==
             "ok    route           fine\n"
             "FAIL  mtu             odd\n"
             "                      -> mend it\n");
  BOOST_TEST(report_text(findings, true).find("\x1b[31mFAIL\x1b[0m") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_real_host_is_examined_without_harm) {
  const HostSystem host;
  Request request;
  const auto findings = examine(request, host);
  BOOST_TEST(findings.size() >= 3u);
  BOOST_TEST(host.read("/proc/self/comm").has_value());
  BOOST_TEST(!host.read("/no/such/file").has_value());
  BOOST_TEST(host.names_in("/no/such/folder").empty());
  BOOST_TEST(host.free_space("/no/such/folder") > 0u);
}
