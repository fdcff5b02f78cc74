// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Decision points of MPA framing in both directions (RFC 5044 sections 4 to 6).
#pragma once

namespace rnic::stream {

struct FramingDecisions {};

}  // namespace rnic::stream
