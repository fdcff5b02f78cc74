// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How the launcher tells the library what to do: environment variables.
#pragma once

namespace rnic::rdma_core {

/// Names of deviations and of lawful variants, separated by commas.
inline constexpr const char* deviations_variable = "RNIC_DEVIATE";
inline constexpr const char* lawful_variable = "RNIC_LAWFUL";
/// `off`: the RNIC does not ask for CRCs; they are used only if the peer asks (RFC 5044 section 7.1.1).
inline constexpr const char* crc_variable = "RNIC_CRC";
/// `off`: as the initiator the RNIC asks for the client-server model (RFC 6581 section 9).
inline constexpr const char* peer_to_peer_variable = "RNIC_PEER_TO_PEER";
/// Name of the device; rnic0 if it is not set.
inline constexpr const char* device_variable = "RNIC_DEVICE";

}  // namespace rnic::rdma_core
