// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The runner's parts, each by itself; the program as a whole is tested by runner_test.py.
#define BOOST_TEST_MODULE runner
#include <boost/test/unit_test.hpp>
