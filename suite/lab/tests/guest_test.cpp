// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The siw guest as a whole: one boot serves the first cases;
// the last one crashes it and boots it again.
#include "suite/lab/siw_guest.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <memory>

#include "suite/lab/command.hpp"
#include "suite/lab/namespaces.hpp"

using namespace suite::lab;
using namespace std::chrono_literals;

namespace {

/// The one guest of this program.
struct TestBed {
  std::unique_ptr<Lab> lab;
  std::unique_ptr<Guest> guest;

  TestBed() {
    GuestOptions options;
    options.agent_channels = 2;
    options.variant = "tunable";
    options.log_file = "lab_guest_test.log";  // in the build tree, to examine failures
    guest = std::make_unique<Guest>(options);
    const auto prepared = guest->prepare([](std::string_view line) { BOOST_TEST_MESSAGE(line); });
    BOOST_REQUIRE_MESSAGE(prepared.has_value(), (prepared ? "" : prepared.error()));
    const auto entered = enter_private_namespaces();
    BOOST_REQUIRE_MESSAGE(entered.has_value(), (entered ? "" : entered.error()));
    auto made = Lab::with_tap();
    BOOST_REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error()));
    lab = std::make_unique<Lab>(std::move(*made));
    const auto up = guest->boot(lab->tap(), 90s);
    BOOST_REQUIRE_MESSAGE(up.has_value(), (up ? "" : up.error()));
  }
};

TestBed& test_bed() {
  static TestBed the_test_bed;
  return the_test_bed;
}
Guest& guest() { return *test_bed().guest; }

std::string order(std::string_view words) {
  const auto answer = guest().control(words);
  BOOST_REQUIRE_MESSAGE(answer.has_value(), (answer ? "" : answer.error()));
  return *answer;
}

/// Runs a shell line in the guest; its stdout.
std::expected<std::string, std::string> in_guest(const std::string& line, unsigned channel = 0) {
  return run_command(guest().agent_command(channel, {"/bin/sh", "-c", line}));
}
std::string output_of(const std::string& line, unsigned channel = 0) {
  const auto said = in_guest(line, channel);
  BOOST_REQUIRE_MESSAGE(said.has_value(), (said ? "" : said.error()));
  return *said;
}

/// A program in the guest that runs in the background, with its stdout on a pipe.
struct Background {
  pid_t pid = -1;
  base::FileDescriptor output;

  Background(unsigned channel, const std::string& line) {
    std::array<int, 2> ends{};
    BOOST_REQUIRE_EQUAL(::pipe2(ends.data(), O_CLOEXEC), 0);
    output = base::FileDescriptor(ends[0]);
    const base::FileDescriptor theirs(ends[1]);
    std::vector<std::string> argv = guest().agent_command(channel, {"/bin/sh", "-c", line});
    std::vector<char*> words;
    for (std::string& word : argv) words.push_back(word.data());
    words.push_back(nullptr);
    pid = ::fork();
    if (pid == 0) {
      ::dup2(theirs.get(), STDOUT_FILENO);
      ::execv(words[0], words.data());
      ::_exit(127);
    }
  }
  ~Background() {
    if (pid > 0) {
      ::kill(pid, SIGKILL);
      wait();
    }
  }
  /// Waits until it has written this many octets.
  void expect_octets(std::size_t count) {
    std::string got(count, '\0');
    for (std::size_t have = 0; have < count;) {
      const ssize_t more = ::read(output.get(), got.data() + have, count - have);
      BOOST_REQUIRE(more > 0);
      have += static_cast<std::size_t>(more);
    }
  }
  int wait() {
    int status = 0;
    ::waitpid(pid, &status, 0);
    pid = -1;
    return status;
  }
};

/// The error of a connection attempt to a port without a listener.
int refusal(const std::string& ipv4) {
  int error = 0;
  const auto done = in_network_namespace(
      test_bed().lab->tester().network_namespace, [&]() -> std::expected<void, std::string> {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(9);
        ::inet_pton(AF_INET, ipv4.c_str(), &address.sin_addr);
        const base::FileDescriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
          error = errno;
        return {};
      });
  BOOST_REQUIRE(done.has_value());
  return error;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_booted_guest_has_siw_and_is_reachable_and_its_kernel_is_content) {
  BOOST_TEST(guest().alive());
  BOOST_TEST(output_of("rdma link").find("link siw0/1 state ACTIVE") == 0u);
  BOOST_TEST(refusal("10.77.0.2") == ECONNREFUSED);
  BOOST_TEST(output_of("ping6 -c 1 -W 5 fd77::1").find("1 packets received") != std::string::npos);
  BOOST_REQUIRE(guest().flush_log());
  for (const KernelFault& fault : find_kernel_faults(guest().log_since(0))) BOOST_ERROR(fault.line);
}

BOOST_AUTO_TEST_CASE(the_watcher_sees_what_the_kernel_logs) {
  const auto before = guest().log_position();
  order("kmsg BUG: proof that the watcher works");
  BOOST_REQUIRE(guest().flush_log());
  const auto found = find_kernel_faults(guest().log_since(before));
  BOOST_REQUIRE_EQUAL(found.size(), 1u);
  BOOST_TEST((found[0].kind == KernelFaultKind::bug));
  BOOST_TEST(found[0].line == "BUG: proof that the watcher works");
  const auto after = guest().log_position();
  BOOST_REQUIRE(guest().flush_log());
  BOOST_TEST(find_kernel_faults(guest().log_since(after)).empty());
}

BOOST_AUTO_TEST_CASE(a_program_in_the_guest_has_our_stdio_and_its_end_is_ours) {
  BOOST_TEST(output_of("echo hello") == "hello\n");
  BOOST_TEST(output_of("printf 'no line end'") == "no line end");
  const auto failed = in_guest("echo complaint >&2; exit 7");
  BOOST_REQUIRE(!failed.has_value());
  BOOST_TEST(failed.error().ends_with("failed (status 7): complaint"), failed.error());
  const auto crashed = in_guest("kill -SEGV $$");
  BOOST_REQUIRE(!crashed.has_value());
  BOOST_TEST(crashed.error().ends_with("died by signal 11"), crashed.error());
  const auto missing = run_command(guest().agent_command(0, {"/bin/no-such-program"}));
  BOOST_REQUIRE(!missing.has_value());
  BOOST_TEST(missing.error().find("/bin/no-such-program: No such file") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_lot_of_data_goes_there_and_back_unchanged) {
  const auto command = guest().agent_command(1, {});
  const std::string source = "{ head -c 200000 /dev/zero; seq 1 40000; head -c 1000 /dev/zero; }";
  const auto sent = run_command({"sh", "-c", source + " | sha256sum"});
  const auto returned =
      run_command({"sh", "-c", source + " | $0 $1 /bin/cat | sha256sum", command[0], command[1]});
  BOOST_REQUIRE(sent.has_value() && returned.has_value());
  BOOST_TEST(*returned == *sent);
}

BOOST_AUTO_TEST_CASE(a_new_session_ends_the_old_program_and_reads_none_of_its_words) {
  for (int round = 0; round < 5; ++round) {
    Background old(0, "trap '' TERM HUP; while :; do echo old old old; done");
    old.expect_octets(100'000);
    ::kill(old.pid, SIGKILL);
    old.wait();
    BOOST_TEST(output_of("echo fresh; cat") == "fresh\n");
  }
  BOOST_TEST(output_of("ps | grep -c '[o]ld old' || true") == "0\n");
}

BOOST_AUTO_TEST_CASE(a_program_ends_when_its_host_leaves) {
  Background left(0, "trap '' TERM HUP; echo ready; exec sleep 4321");
  left.expect_octets(6);
  BOOST_TEST(output_of("ps | grep -c '[s]leep 4321'", 1) == "1\n");
  ::kill(left.pid, SIGKILL);
  left.wait();
  output_of("while ps | grep '[s]leep 4321' >/dev/null; do :; done", 1);
}

BOOST_AUTO_TEST_CASE(a_hung_program_is_ended_by_order) {
  Background hung(1, "trap '' TERM HUP INT; echo ready; while :; do read -r x; done");
  hung.expect_octets(6);
  BOOST_TEST(output_of("echo the other channel works") == "the other channel works\n");
  order("kill-agent 1");
  const int status = hung.wait();
  BOOST_REQUIRE(WIFSIGNALED(status));
  BOOST_TEST(WTERMSIG(status) == SIGKILL);
  BOOST_TEST(order("kill-agent 1") == "nothing ran");
  BOOST_TEST(!guest().control("kill-agent 77").has_value());
  BOOST_TEST(!guest().control("nonsense").has_value());
}

BOOST_AUTO_TEST_CASE(a_variant_is_loaded_under_running_programs) {
  Background agent(0, "echo ready; exec sleep 1000");
  agent.expect_octets(6);
  order("load-variant rev1-crc-p2pread");
  BOOST_TEST(WIFSIGNALED(agent.wait()));
  BOOST_TEST(
      output_of("cd /sys/module/siw/parameters; cat mpa_version mpa_crc_required peer_to_peer "
                "rtr_offer") == "1\nY\nY\n16384\n");
  BOOST_TEST(output_of("rdma link").find("link siw0/1 state ACTIVE") == 0u);
  const auto unknown = guest().control("load-variant rev9");
  BOOST_REQUIRE(!unknown.has_value());
  BOOST_TEST(unknown.error().find("unknown variant 'rev9'") != std::string::npos, unknown.error());
  order("load-variant default");
  BOOST_TEST(output_of("ls /sys/module/siw/parameters 2>/dev/null | wc -l") == "0\n");
}

BOOST_AUTO_TEST_CASE(siw_is_configured_without_being_unloaded) {
  order("load-variant tunable");
  BOOST_TEST(output_of("siw-configure capabilities") ==
             "configure.revision_1\nconfigure.crc\nconfigure.rtr\n");
  output_of("siw-configure revision=1 crc=on peer_to_peer=on rtr=write");
  const std::string show =
      "cd /sys/module/siw/parameters; cat mpa_version mpa_crc_required peer_to_peer rtr_offer";
  BOOST_TEST(output_of(show) == "1\nY\nY\n32768\n");
  // A refusal changes nothing, wherever in the line its reason is.
  for (const char* wrong : {"rtr=send", "markers=on", "revision=3", "crc=maybe", "colour=red"})
    BOOST_TEST(!in_guest(std::string("siw-configure revision=2 crc=off ") + wrong).has_value());
  BOOST_TEST(output_of(show) == "1\nY\nY\n32768\n");
}

BOOST_AUTO_TEST_CASE(a_crash_is_seen_and_the_guest_boots_again) {
  const auto before = guest().log_position();
  const std::string path = guest().agent_channel(0);
  Background agent(0, "echo ready; exec sleep 1000");
  agent.expect_octets(6);
  const auto answer = guest().control("crash");
  BOOST_REQUIRE(!answer.has_value());
  BOOST_TEST(answer.error().find("Kernel panic - not syncing") != std::string::npos,
             answer.error());
  BOOST_TEST(!guest().alive());
  const int status = agent.wait();
  BOOST_REQUIRE(WIFEXITED(status));
  BOOST_TEST(WEXITSTATUS(status) == 69);
  BOOST_TEST(!find_kernel_faults(guest().log_since(before)).empty());

  const auto again = guest().boot(test_bed().lab->tap(), 90s);
  BOOST_REQUIRE_MESSAGE(again.has_value(), (again ? "" : again.error()));
  BOOST_TEST(guest().alive());
  BOOST_TEST(guest().agent_channel(0) == path);
  BOOST_TEST(output_of("echo back") == "back\n");
  guest().shutdown();
  BOOST_TEST(!guest().alive());
  BOOST_TEST(!guest().control("ping").has_value());
}
