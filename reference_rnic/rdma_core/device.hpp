// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The device that programs find, and the contexts that they open on it.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

namespace rnic::rdma_core {

/// Of the RDMA subsystem's numbers: far above those that a kernel has given.
inline constexpr std::uint32_t device_index = 0x7265;

[[nodiscard]] __be64 node_guid();
[[nodiscard]] ibv_context* open_device();
int close_device(ibv_context* context);
void describe(ibv_device_attr& attributes);
/// `size`: of the struct that the program knows.
int describe_port(std::uint8_t port, ibv_port_attr* attributes, std::size_t size);
int query_gid(std::uint8_t port, int index, ibv_gid* gid);

}  // namespace rnic::rdma_core
