// SPDX-License-Identifier: GPL-2.0-or-later
// Broken rules and notes as expert information, which Wireshark collects, filters and counts.
#pragma once

#include "dissectors/wireshark/canvas.hpp"

namespace dissectors::wireshark {

void register_expert_fields(int protocol);
/// Each is an expert item even if the tree is not shown.
void show_findings(const Canvas& canvas, const Events& events);
void show_notes(const Canvas& canvas, const Events& events);

}  // namespace dissectors::wireshark
