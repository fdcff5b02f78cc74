// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The tests of verbs.
#define BOOST_TEST_MODULE verbs
#include <boost/test/unit_test.hpp>
