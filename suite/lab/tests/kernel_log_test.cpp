// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lab/kernel_log.hpp"

#include <boost/test/unit_test.hpp>

using namespace suite::lab;
using Kind = KernelFaultKind;

namespace {

void expect_one(std::string_view line, Kind kind, std::string_view message) {
  const auto found = find_kernel_faults(line);
  BOOST_TEST_CONTEXT(line) {
    BOOST_REQUIRE_EQUAL(found.size(), 1u);
    BOOST_TEST((found[0].kind == kind));
    BOOST_TEST(found[0].line == message);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_log)

BOOST_AUTO_TEST_CASE(each_kind_is_found) {
  expect_one("[   12.000001] BUG: kernel NULL pointer dereference, address: 0000000000000008\n",
             Kind::bug, "BUG: kernel NULL pointer dereference, address: 0000000000000008");
  expect_one("[    9.1] kernel BUG at siw_cm.c:77!\n", Kind::bug, "kernel BUG at siw_cm.c:77!");
  expect_one(
      "[  1.2] general protection fault, probably for non-canonical address 0x6b6b6b6b: 0000 "
      "[#1]\n",
      Kind::bug,
      "general protection fault, probably for non-canonical address 0x6b6b6b6b: 0000 [#1]");
  expect_one("[1] Oops: 0002 [#1] PREEMPT SMP PTI\n", Kind::bug, "Oops: 0002 [#1] PREEMPT SMP PTI");
  expect_one("[ 3.4] WARNING: CPU: 1 PID: 99 at siw_qp.c:5 siw_x+0x1/0x2 [siw]\n", Kind::warning,
             "WARNING: CPU: 1 PID: 99 at siw_qp.c:5 siw_x+0x1/0x2 [siw]");
  expect_one("[ 3.4] WARNING: possible circular locking dependency detected\n", Kind::lockdep,
             "WARNING: possible circular locking dependency detected");
  expect_one("[ 3.4] BUG: sleeping function called from invalid context at mm/x.c:1\n",
             Kind::lockdep, "BUG: sleeping function called from invalid context at mm/x.c:1");
  expect_one("[ 3.4] BUG: KASAN: slab-use-after-free in siw_cep_put+0x4/0x9\n", Kind::sanitizer,
             "BUG: KASAN: slab-use-after-free in siw_cep_put+0x4/0x9");
  expect_one("[ 3.4] UBSAN: shift-out-of-bounds in a.c:3:4\n", Kind::sanitizer,
             "UBSAN: shift-out-of-bounds in a.c:3:4");
  expect_one("[ 3.4] BUG kmalloc-512 (Tainted: G           OE     ): Poison overwritten\n",
             Kind::memory, "BUG kmalloc-512 (Tainted: G           OE     ): Poison overwritten");
  expect_one("[ 3.4] refcount_t: underflow; use-after-free.\n", Kind::memory,
             "refcount_t: underflow; use-after-free.");
  expect_one("[ 3.4] list_del corruption. prev->next should be 1, but was 2\n", Kind::memory,
             "list_del corruption. prev->next should be 1, but was 2");
  expect_one("[ 3.4] watchdog: BUG: soft lockup - CPU#0 stuck for 52s! [siw_tx/0:77]\n",
             Kind::stall, "watchdog: BUG: soft lockup - CPU#0 stuck for 52s! [siw_tx/0:77]");
  expect_one("[ 3.4] INFO: task rnic-agent:77 blocked for more than 60 seconds.\n", Kind::stall,
             "INFO: task rnic-agent:77 blocked for more than 60 seconds.");
  expect_one("[ 3.4] rcu: INFO: rcu_preempt self-detected stall on CPU\n", Kind::stall,
             "rcu: INFO: rcu_preempt self-detected stall on CPU");
  expect_one("[ 3.4] Kernel panic - not syncing: Fatal exception\n", Kind::panic,
             "Kernel panic - not syncing: Fatal exception");
}

BOOST_AUTO_TEST_CASE(what_a_check_says_of_itself_is_no_fault) {
  BOOST_TEST(find_kernel_faults("[ 0.9] kmemleak: Kernel memory leak detector initialized (mempool "
                                "available: 15853)\n")
                 .empty());
  expect_one("[ 99.9] kmemleak: 2 new suspected memory leaks (see /sys/kernel/debug/kmemleak)\n",
             Kind::memory,
             "kmemleak: 2 new suspected memory leaks (see /sys/kernel/debug/kmemleak)");
}

BOOST_AUTO_TEST_CASE(time_stamps_callers_levels_and_line_ends_do_not_matter) {
  for (const char* line : {"BUG: x", "[    0.000000] BUG: x", "[12345.678901] BUG: x\r\n",
                           "[    1.000000][   T77] BUG: x\n", "[    1.000000][    C1] BUG: x",
                           "<4>[    1.000000] BUG: x\n", "<4>BUG: x\n",
                           "2026-11-25T14:16:18.951Z [  320.837007] BUG: x\n"})
    expect_one(line, Kind::bug, "BUG: x");
}

BOOST_AUTO_TEST_CASE(ordinary_messages_are_no_faults) {
  const std::string_view log =
      "[    0.25] Spectre V2 : WARNING: Unprivileged eBPF is enabled with eIBRS on\n"
      "[    0.30] ACPI BIOS Error (bug): Could not resolve symbol\n"
      "[    0.31] [Firmware Bug]: TSC_DEADLINE disabled\n"
      "[    4.89] siw: loading out-of-tree module taints kernel.\n"
      "[    5.00] siw: got TERMINATE. layer 1, type 1, code 1\n"
      "[    6.00] rnic-guest: a program wrote BUG: in the middle\n"
      "[    6.10] traps: rnic-agent[77] general protection fault ip:1 sp:2 error:0\n"
      "[    6.20] rcu: Hierarchical RCU implementation.\n"
      "[    6.30] INFO: lockdep is turned off.\n"
      "\n[ nonsense\n[]\n<\n[    7.00]\n";
  BOOST_TEST(find_kernel_faults(log).empty());
  BOOST_TEST(find_kernel_faults("").empty());
}

BOOST_AUTO_TEST_CASE(all_of_one_crash_in_order_with_their_places) {
  const std::string log =
      "[    1.0] fine\n[    2.0] BUG: unable to handle page fault for address: 1\n[    2.0] #PF: "
      "x\n"
      "[    2.1] Oops: 0000 [#1]\n[    2.2] Call Trace:\n[    2.3] Kernel panic - not syncing: y";
  const auto found = find_kernel_faults(log);
  BOOST_REQUIRE_EQUAL(found.size(), 3u);
  BOOST_TEST((found[0].kind == Kind::bug));
  BOOST_TEST(found[0].offset == 15u);
  BOOST_TEST((found[1].kind == Kind::bug));
  BOOST_TEST((found[2].kind == Kind::panic));
  BOOST_TEST(kernel_log_excerpt(log, found[0].offset, 2) ==
             "[    2.0] BUG: unable to handle page fault for address: 1\n[    2.0] #PF: x\n");
  BOOST_TEST(kernel_log_excerpt(log, found[2].offset, 9) ==
             "[    2.3] Kernel panic - not syncing: y");
  BOOST_TEST(kernel_log_excerpt(log, log.size(), 9).empty());
}

BOOST_AUTO_TEST_SUITE_END()
