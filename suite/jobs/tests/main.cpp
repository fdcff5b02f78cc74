// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#define BOOST_TEST_MODULE jobs
#include <boost/test/unit_test.hpp>
