// SPDX-License-Identifier: GPL-2.0-or-later
// What the packet list says of a frame.
#pragma once

#include "dissectors/wireshark/canvas.hpp"

namespace dissectors::wireshark {

/// Protocol and info, where there is something to say.
void show_columns(const Canvas& canvas, const Events& events);

}  // namespace dissectors::wireshark
