// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "base/shipped_file.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_CASE(a_file_is_found_in_the_sources_of_this_build) {
  BOOST_TEST(std::filesystem::exists(base::shipped_file("suite/expectations/siw-vm.yaml")));
}

BOOST_AUTO_TEST_CASE(without_the_sources_it_is_below_the_prefix_of_the_program) {
  BOOST_TEST(base::shipped_file("a/b.yaml", "/nowhere/sources", "/opt/rnic/bin/rnic-suite") ==
             "/opt/rnic/share/rnic-conformance-suite/a/b.yaml");
  BOOST_TEST(base::shipped_file("a/b.yaml", "/usr", "/opt/rnic/bin/rnic-suite") == "/usr/a/b.yaml");
}
