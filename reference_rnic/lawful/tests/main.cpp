// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The deviants's test program.
#define BOOST_TEST_MODULE deviants
#include <boost/test/unit_test.hpp>
