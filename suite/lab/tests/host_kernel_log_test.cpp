// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lab/host_kernel_log.hpp"

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include <boost/test/unit_test.hpp>

using suite::lab::HostKernelLog;
using suite::lab::KernelLogLines;

namespace {

constexpr const char* history = "6,10,1000,-;WARNING: of long ago\n SUBSYSTEM=net\n";

// Looks until there is a complaint, or the command has ended.
std::string complaint_of(HostKernelLog& log) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::string found;
  while (found.empty() && !log.failure() && std::chrono::steady_clock::now() < end) {
    pollfd readable{log.descriptor(), POLLIN, 0};
    ::poll(&readable, 1, 1000);
    found = log.complaint();
  }
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(host_kernel_log)

BOOST_AUTO_TEST_CASE(records_count_from_the_mark_on) {
  KernelLogLines lines;
  lines.open("mark");
  BOOST_TEST(lines.take(history) == "");
  BOOST_TEST(!lines.follows());
  BOOST_TEST(lines.take("12,11,2000,-;mark\n4,12,3000,-;BUG: n") == "");
  BOOST_TEST(lines.follows());
  BOOST_TEST(lines.take("ow\n DEVICE=+pci\n6,13,4000,c;next\n") == "BUG: now\nnext\n");
}

BOOST_AUTO_TEST_CASE(nothing_is_lost_or_seen_twice_when_the_log_is_opened_again) {
  KernelLogLines lines;
  lines.open("mark 1");
  BOOST_TEST(lines.take("12,11,2000,-;mark 1\n6,12,3000,-;seen\n") == "seen\n");
  lines.open("mark 2");
  BOOST_TEST(lines.take(std::string(history) + "12,11,2000,-;mark 1\n6,12,3000,-;seen\n" +
                        "4,13,4000,-;meanwhile\n12,14,5000,-;mark 2\n6,15,6000,-;after\n") ==
             "meanwhile\nafter\n");
}

BOOST_AUTO_TEST_CASE(a_host_that_was_started_anew_begins_at_its_mark) {
  KernelLogLines lines;
  lines.open("mark 1");
  BOOST_TEST(lines.take("12,11,2000,-;mark 1\n6,12,3000,-;seen\n") == "seen\n");
  lines.open("mark 2");
  BOOST_TEST(lines.take("6,12,2999,-;boot\n12,13,5000,-;mark 2\n6,14,6000,-;after\n") == "after\n");
}

BOOST_AUTO_TEST_CASE(lines_of_a_console_all_count) {
  KernelLogLines lines;
  lines.open("mark");
  BOOST_TEST(lines.take("[    1.5] a line; of a console\n1,2;not a record\n") ==
             "[    1.5] a line; of a console\n1,2;not a record\n");
  BOOST_TEST(lines.follows());
}

BOOST_AUTO_TEST_CASE(a_line_without_end_is_not_kept) {
  KernelLogLines lines;
  lines.open("mark");
  for (int piece = 0; piece < 100; ++piece) BOOST_TEST(lines.take(std::string(10'000, 'x')) == "");
  BOOST_TEST(lines.take("\nshort\n").ends_with("short\n"));
}

BOOST_AUTO_TEST_CASE(a_complaint_comes_from_the_command_and_goes_to_the_file) {
  const std::string file = "host_kernel_log_test." + std::to_string(::getpid());
  HostKernelLog log(
      {.words = {"sh", "-c", "echo all is well; echo 'BUG: at last'; cat"}, .prints_it = true},
      "test", file);
  BOOST_TEST(complaint_of(log) == "BUG: at last\n");
  BOOST_TEST(log.follows());
  std::ifstream written(file);
  std::string first;
  BOOST_TEST(static_cast<bool>(std::getline(written, first)));
  BOOST_TEST(first == "all is well");
  ::unlink(file.c_str());
}

BOOST_AUTO_TEST_CASE(a_console_may_have_nothing_to_print) {
  HostKernelLog log({.words = {"cat"}, .prints_it = true}, "test", "");
  BOOST_TEST(log.complaint() == "");
  BOOST_TEST(!log.heard());
  BOOST_TEST(log.follows());
}

BOOST_AUTO_TEST_CASE(a_log_that_must_not_be_read_says_why) {
  HostKernelLog log({.words = {"sh", "-c", "echo 'cannot open: Permission denied' >&2; exit 1"},
                     .prints_it = true},
                    "test", "");
  BOOST_TEST(complaint_of(log) == "");
  BOOST_TEST(!log.follows());
  BOOST_TEST(log.failure().value_or("") == "cannot open: Permission denied");
}

BOOST_AUTO_TEST_SUITE_END()
