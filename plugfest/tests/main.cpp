// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Runs the tests, or serves as a worker of one of them.
#include <boost/test/unit_test.hpp>

#include <string_view>

#include "plugfest/cell_messages.hpp"
#include "plugfest/tests/synthetic_cells.hpp"

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == suite::jobs::worker_argument) {
    plugfest::keep_channel_to_run();
    return plugfest::serve_cells(plugfest::play_synthetic);
  }
  return boost::unit_test::unit_test_main([] { return true; }, argc, argv);
}
