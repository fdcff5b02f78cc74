// SPDX-License-Identifier: GPL-2.0-or-later
// The packet list's columns for a frame.
#pragma once

#include "dissectors/wireshark/canvas.hpp"

namespace dissectors::wireshark {

/// Protocol and info, if there is anything to show.
void show_columns(const Canvas& canvas, const FrameFacts& facts);

}  // namespace dissectors::wireshark
