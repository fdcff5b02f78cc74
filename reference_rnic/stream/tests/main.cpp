// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The stream's test program.
#define BOOST_TEST_MODULE stream
#include <boost/test/unit_test.hpp>
