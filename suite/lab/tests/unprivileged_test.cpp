// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The lab as a plain user: this program gives up root first,
// so it is separate from the other tests.
#include <grp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "suite/lab/namespaces.hpp"

using namespace suite::lab;

BOOST_AUTO_TEST_CASE(a_plain_user_gets_both_kinds_of_lab) {
  if (::geteuid() == 0) {
    BOOST_REQUIRE_EQUAL(::setgroups(0, nullptr), 0);
    BOOST_REQUIRE_EQUAL(::setresgid(65534, 65534, 65534), 0);
    BOOST_REQUIRE_EQUAL(::setresuid(65534, 65534, 65534), 0);
    // A process that has changed its identity may not write its own /proc files until it is
    // dumpable.
    BOOST_REQUIRE_EQUAL(::prctl(PR_SET_DUMPABLE, 1), 0);
  }
  const auto entered = enter_private_namespaces();
  BOOST_REQUIRE_MESSAGE(entered.has_value(), (entered ? "" : entered.error()));
  BOOST_TEST((*entered == Privilege::user_namespace));
  const auto veth = Lab::with_veth();
  BOOST_TEST(veth.has_value(), (veth ? "" : veth.error()));
  const auto tap = Lab::with_tap();
  BOOST_TEST(tap.has_value(), (tap ? "" : tap.error()));
}
