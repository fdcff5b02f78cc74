// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The tests of the reference driver.
#define BOOST_TEST_MODULE reference_driver
#include <boost/test/unit_test.hpp>
