// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The tests of access.
#define BOOST_TEST_MODULE access
#include <boost/test/unit_test.hpp>
