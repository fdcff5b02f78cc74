// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// libdat2 reads dat.conf when it is loaded: run by hand, these tests want DAT_OVERRIDE to name the
// dat.conf that lies beside them in the build tree.
#define BOOST_TEST_MODULE dat
#include <boost/test/unit_test.hpp>
