// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// run_suite.sh, run_tests.sh and other scripts if something is missing: when they install, when
// they only print the command, and how they refuse wrong arguments. The host's package manager is a
// toy, so nothing is installed.
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdlib>

#include "suite/runner/tests/program.hpp"

using namespace suite::runner::tests;
namespace fs = std::filesystem;

namespace {

const std::string source = RNIC_SOURCE;
const std::string install = source + "/tools/install_packages.sh",
                  run_suite = source + "/run_suite.sh", run_tests = source + "/run_tests.sh";

// A host that lacks every package, whose archive has all but ccache; `apt-get` notes what it was
// asked for.
struct ToyHost {
  explicit ToyHost(const std::string& user, const std::string& apt_status = "0") {
    write_script(bin / "id", "echo " + user + "\n");
    write_script(bin / "dpkg-query", "exit 1\n");
    write_script(bin / "apt-cache", "[ \"$2\" = ccache ] || echo \"$2 | 1 | toy\"\n");
    write_script(bin / "apt-get", "echo \"$@\" >>" + (bin / "asked") +
                                      "\necho toy says no >&2\nexit " + apt_status + "\n");
  }
  [[nodiscard]] Finished run(const Words& words) const {
    return suite::runner::tests::run(
        words, {.environment = {{"PATH", bin.path.string() + ":" + std::getenv("PATH")}}});
  }
  [[nodiscard]] std::string asked() const { return text_of(bin / "asked"); }
  Scratch bin;
};

void check_told(const ToyHost& host, const Words& words, int status) {
  BOOST_TEST_CONTEXT(words.front() + " " + words.back()) {
    const Finished finished = host.run(words);
    BOOST_TEST(finished.status == status);
    BOOST_TEST(finished.out.empty(), finished.out);
    const Words lines = lines_of(finished.err);
    BOOST_REQUIRE(lines.size() == 2u);
    BOOST_TEST(lines[0].find("are missing. Install them with:") != std::string::npos, lines[0]);
    BOOST_TEST(lines[1].starts_with("  sudo apt-get install -y "), lines[1]);
    BOOST_TEST(host.asked().empty(), host.asked());
  }
}

void check_usage(const Words& words, const std::string& says) {
  BOOST_TEST_CONTEXT(words.back()) {
    const ToyHost host("1000");
    const Finished finished = host.run(words);
    BOOST_TEST(finished.status == 2);
    BOOST_TEST(lines_of(finished.err).size() == 1u, finished.err);
    BOOST_TEST(finished.err.find(says) != std::string::npos, finished.err);
    BOOST_TEST(finished.out.empty());
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(without_root_the_exact_command_is_printed) {
  const ToyHost host("1000");
  for (const char* set : {"core", "deb", "siw", "full", "long"})
    check_told(host, {install, set}, 1);
  const Words lines = lines_of(host.run({install, "core"}).err);
  const Words packages = lines_of(host.run({install, "--print", "core"}).out);
  BOOST_TEST(packages.size() > 10u);
  for (const std::string& package : packages)
    BOOST_TEST((lines[1] + " ").find(" " + package + " ") != std::string::npos, package);
  check_told(host, {run_suite}, 3);
  check_told(host, {run_suite, "--iut", "siw-vm"}, 3);
  check_told(host, {run_tests}, 3);
}

BOOST_AUTO_TEST_CASE(root_installs_unless_told_not_to) {
  const ToyHost host("0");
  check_told(host, {install, "--no-install", "core"}, 1);
  check_told(host, {run_suite, "--no-install"}, 3);
  check_told(host, {run_tests, "--no-install"}, 3);
  const Finished finished = host.run({install, "core"});
  BOOST_TEST(finished.status == 0);
  BOOST_TEST(finished.out.find("\nInstalling ") != std::string::npos, finished.out);
  BOOST_TEST(finished.out.find("not in this Debian, so what needs them is left out: ccache\n") !=
                 std::string::npos,
             finished.out);
  BOOST_TEST(host.asked().find("ccache") == std::string::npos);
  BOOST_TEST(host.asked().find("install -y --no-install-recommends g++ cmake") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_run_against_hardware_never_installs) {
  const ToyHost host("0");
  check_told(host, {run_suite, "--iut", "verbs:cxgb4_0", "--address", "192.0.2.7"}, 3);
  check_told(host, {run_suite, "--iut=agent:/opt/agent", "--address", "192.0.2.7"}, 3);
}

BOOST_AUTO_TEST_CASE(an_installation_that_fails_says_why) {
  const ToyHost host("0", "100");
  const Finished finished = host.run({install, "core"});
  BOOST_TEST(finished.status == 1);
  BOOST_TEST(finished.err.find("toy says no") != std::string::npos, finished.err);
  BOOST_TEST(lines_of(finished.err).back().find("correct that and run this again") !=
             std::string::npos);
}

// Otherwise a part that was left out because a package was missing would remain left out.
BOOST_AUTO_TEST_CASE(packages_that_came_later_are_looked_for,
                     *boost::unit_test::precondition([](auto) {
                       return boost::test_tools::assertion_result(
                           fs::exists("/var/lib/dpkg/status"));
                     })) {
  const Scratch tree;
  fs::create_directories(tree.path / "tools");
  fs::create_directories(tree.path / "build/dev");
  fs::create_directories(tree.path / "bin");
  fs::copy_file(source + "/tools/build.sh", tree.path / "tools/build.sh");
  write_script(tree / "bin/cmake", "echo \"$1\" >>\"" + (tree / "asked") + "\"\n");
  write(tree / "build/dev/CMakeCache.txt", "");
  const auto build = [&] {
    const Program::Setting setting{
        .environment = {{"PATH", (tree / "bin") + ":" + std::getenv("PATH")}}};
    BOOST_TEST(run({tree / "tools/build.sh", "dev"}, setting).status == 0);
    return lines_of(text_of(tree / "asked"));
  };
  BOOST_TEST(build() == (Words{"--build"}), boost::test_tools::per_element());
  fs::last_write_time(tree / "build/dev/CMakeCache.txt",
                      fs::last_write_time("/var/lib/dpkg/status") - std::chrono::seconds(1));
  BOOST_TEST(build() == (Words{"--build", "--preset", "--build"}),
             boost::test_tools::per_element());
  BOOST_TEST(build() == (Words{"--build", "--preset", "--build", "--build"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_tests_end_with_what_was_left_out) {
  const Scratch tree;
  fs::create_directories(tree.path / "tools");
  fs::create_directories(tree.path / "bin");
  fs::copy_file(run_tests, tree.path / "run_tests.sh");
  write_script(tree / "tools/install_packages.sh", "exit 0\n");
  write_script(tree / "tools/build.sh",
               "mkdir -p build/dev; echo 'the DAT driver: install libdapl-dev' "
               ">build/dev/left_out.txt\n");
  for (const int status : {0, 8}) {
    write_script(tree / "bin/ctest", "exit " + std::to_string(status) + "\n");
    const Finished finished =
        run({tree / "run_tests.sh"},
            {.environment = {{"PATH", (tree / "bin") + ":" + std::getenv("PATH")}}});
    BOOST_TEST(finished.status == status);
    const Words lines = lines_of(finished.out);
    BOOST_REQUIRE(lines.size() == 2u);
    BOOST_TEST(lines[1] == "  the DAT driver: install libdapl-dev");
  }
}

// A part that is left out because a package is missing is not tested.
BOOST_AUTO_TEST_CASE(root_tests_everything_by_default) {
  const Scratch tree;
  fs::create_directories(tree.path / "tools");
  fs::create_directories(tree.path / "bin");
  fs::copy_file(run_tests, tree.path / "run_tests.sh");
  write_script(tree / "tools/install_packages.sh", "echo \"$@\" >\"" + (tree / "asked") + "\"\n");
  write_script(tree / "tools/build.sh", "exit 0\n");
  write_script(tree / "bin/ctest", "exit 0\n");
  const auto asked = [&](const std::string& user, const Words& words) {
    write_script(tree / "bin/id", "echo " + user + "\n");
    Words command{tree / "run_tests.sh"};
    command.insert(command.end(), words.begin(), words.end());
    const std::string path = (tree / "bin") + ":" + std::getenv("PATH");
    BOOST_TEST(run(command, {.environment = {{"PATH", path}}}).status == 0);
    return lines_of(text_of(tree / "asked")).back();
  };
  BOOST_TEST(asked("0", {}) == "full");
  BOOST_TEST(asked("0", {"--no-install"}) == "--no-install core");
  BOOST_TEST(asked("1000", {}) == "core");
  BOOST_TEST(asked("1000", {"--require-all"}) == "full");
}

// The commands in documents and messages.
BOOST_AUTO_TEST_CASE(the_programs_that_were_built_are_linked_in_bin) {
  const Scratch tree;
  fs::create_directories(tree.path / "tools");
  fs::create_directories(tree.path / "build/dev/suite");
  fs::copy_file(run_suite, tree.path / "run_suite.sh");
  write_script(tree / "tools/install_packages.sh", "exit 0\n");
  write_script(tree / "tools/build.sh",
               "printf 'suite/rnic-suite\\nsuite/rnic-plugfest\\n' >\"build/$1/programs.txt\"\n");
  for (const char* program : {"rnic-suite", "rnic-plugfest"})
    write_script(tree / (std::string("build/dev/suite/") + program), "echo \"$0 $*\"\n");
  const auto typed = [&](const Words& words) {
    Words command{tree / "run_suite.sh", "--preset", "dev"};
    command.insert(command.end(), words.begin(), words.end());
    const Finished finished = run(command);
    BOOST_TEST(finished.status == 0, finished.err);
    return lines_of(finished.out).front();
  };
  BOOST_TEST(typed({"--strict"}) == (tree / "bin/rnic-suite") + " run --strict");
  BOOST_TEST(typed({"--plugfest", "virtual", "--jobs", "2"}) ==
             (tree / "bin/rnic-plugfest") + " run virtual --jobs 2");
  BOOST_TEST(fs::is_symlink(tree.path / "bin/rnic-plugfest"));
}

BOOST_AUTO_TEST_CASE(a_folder_with_files_of_somebody_else_is_not_emptied) {
  for (const char* script : {"package_test.sh", "reproducible_test.sh"}) {
    const Scratch folder;
    write_script(folder / "mine", "exit 0\n");
    check_usage({source + "/tools/" + script, folder.path.string()}, "has files of somebody else");
    BOOST_TEST(fs::exists(folder / "mine"));
  }
}

BOOST_AUTO_TEST_CASE(wrong_words_are_usage) {
  check_usage({install}, "which set?");
  check_usage({install, "everything"}, "unknown argument 'everything'; see --help");
  check_usage({run_suite, "--preset", "fast"}, "'fast' is none of dev, release, asan, tsan");
  check_usage({run_suite, "--preset"}, "none of dev, release, asan, tsan");
  check_usage({run_tests, "--preset", "fast"}, "'fast' is none of dev, release, asan, tsan");
  check_usage({run_tests, "--preset"}, "none of dev, release, asan, tsan");
  check_usage({run_tests, "--frobnicate"}, "unknown option '--frobnicate'; see --help");
  check_usage({source + "/tools/build.sh", "fast"}, "no preset 'fast'");
  BOOST_TEST(!fs::exists(source + "/build/fast"));
}
