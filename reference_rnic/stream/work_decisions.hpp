// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Decision points of posted work, and Requests of the peer that wait for their Responses (RFC 5040 section 5.5, RFC 7306 section 5).
#pragma once

namespace rnic::stream {

struct WorkDecisions {};

}  // namespace rnic::stream
