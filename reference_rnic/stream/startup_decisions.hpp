// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Decision points of MPA startup (RFC 5044 section 7.1, RFC 6581).
#pragma once

namespace rnic::stream {

struct StartupDecisions {};

}  // namespace rnic::stream
