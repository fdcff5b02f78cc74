// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// libdat2 reads dat.conf when it is loaded: to run these tests by hand, let DAT_OVERRIDE name the
// dat.conf beside them in the build tree.
#define BOOST_TEST_MODULE dat
#include <boost/test/unit_test.hpp>
