// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Asynchronous events: from the RNIC to the contexts whose objects are concerned.
#pragma once

#include <infiniband/verbs.h>

#include "reference_rnic/rdma_core/engine.hpp"

namespace rnic::rdma_core {

void announce(Engine& shared, const verbs::AsyncEvent& event);
/// Blocks as the descriptor of the context says; -1 and errno if it fails.
int get_async_event(ibv_context* context, ibv_async_event* event);
void ack_async_event(ibv_async_event* event);
/// Forgets the events of an object that is about to be destroyed.
void forget_events(ibv_context* context, const void* object);

}  // namespace rnic::rdma_core
