// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Decision points of what DDP and RDMAP receive, and how a stream ends (RFC 5041 section 7, RFC 5040 sections 5 to 7).
#pragma once

namespace rnic::stream {

struct ReceivingDecisions {};

}  // namespace rnic::stream
