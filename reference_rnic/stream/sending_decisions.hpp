// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Decision points of what DDP and RDMAP send: segments, messages, Terminates (RFC 5041 section 5, RFC 5040 section 4).
#pragma once

namespace rnic::stream {

struct SendingDecisions {};

}  // namespace rnic::stream
