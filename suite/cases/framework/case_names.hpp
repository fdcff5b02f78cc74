// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The names of other folders that cases are written with.
#pragma once

#include <chrono>

#include "suite/iut/messages.hpp"
#include "suite/lower_tester/content.hpp"
#include "suite/lower_tester/expected.hpp"
#include "suite/lower_tester/peer.hpp"
#include "suite/lower_tester/stream_peer.hpp"

namespace suite::cases {

namespace cause = rnic::wire::cause;
namespace capability = iut::capability;
namespace operation = iut::operation;
using namespace lower_tester;  // NOLINT(google-build-using-namespace): cases are written in its
                               // words
using rnic::wire::MpaFlags;
using rnic::wire::Opcode;
using rnic::wire::Queue;
using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): deadlines
using Words = rnic::wire::EnhancedWords::Values;

}  // namespace suite::cases
