// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The main function of every Boost.Test program that has none of its own.
#define BOOST_TEST_MODULE tests
#include <boost/test/unit_test.hpp>
