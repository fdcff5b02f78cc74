// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a step makes odd or wrong in the FPDUs of its message: length, pad, CRC and Markers (RFC
// 5044 section 4).
#pragma once

#include <vector>

#include "suite/lower_tester/outgoing.hpp"
#include "suite/model/state.hpp"
#include "suite/sessions/session.hpp"

namespace suite::sessions {

/// Changes the FPDUs, which are sent next with this framing, as the step says. Returns them as the
/// model takes them.
[[nodiscard]] std::vector<model::SentSegment> disturb(std::vector<lower_tester::Fpdu>& fpdus,
                                                      const Step& step,
                                                      const lower_tester::Framing& framing);

}  // namespace suite::sessions
