// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// rnic-suite: the conformance suite's program.
#include "suite/runner/shipped_parts.hpp"

int main(int argc, char** argv) {
  return suite::runner::run_program(suite::runner::shipped_suite(), argc, argv);
}
