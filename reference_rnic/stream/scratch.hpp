// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Memory that streams which are driven one after another share.
#pragma once

#include "reference_rnic/stream/outbound_buffer.hpp"
#include "reference_rnic/stream/receive_scratch.hpp"

namespace rnic::stream {

struct Scratch {
  ReceiveScratch receive;
  SendScratch send;
};

}  // namespace rnic::stream
