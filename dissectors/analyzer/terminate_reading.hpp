// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A Terminate as its sender means it: one fault of layout must not hide what else is wrong with it,
// nor make what is right look wrong.
#pragma once

#include <optional>
#include <string_view>

#include "reference_rnic/wire/terminate.hpp"

namespace dissectors::analyzer {

struct TerminateReading {
  enum class Layout : std::uint8_t {
    as_specified,      ///< RFC 5040 Figures 7 and 8
    layer_after_type,  ///< Layer and EType have changed places
    // As a little-endian host has them:
    bits_of_host,           ///< bit-fields, of all control octets
    header_bits_of_host,    ///< bit-fields of M, D and R only
    octets_of_host,         ///< the four control octets
    header_octets_of_host,  ///< the two octets of M, D and R only
  };
  Layout layout = Layout::as_specified;
  /// The control octets, and the headers as far as they are there.
  rnic::wire::Terminate terminate;
};

/// What is wrong with the control octets, to follow "with"; empty if nothing is.
[[nodiscard]] std::string_view describe(TerminateReading::Layout layout);

/// Reads the control octets in the one way that makes sense of the octets after them. `content` is
/// what follows the untagged DDP header: four octets at least, else there is no reading.
[[nodiscard]] std::optional<TerminateReading> read_terminate_control(rnic::wire::Bytes content);
/// The same, and takes the headers that the bits M, D and R announce, as far as they are there; octets
/// after them are passed over.
[[nodiscard]] std::optional<TerminateReading> read_terminate(rnic::wire::Bytes content);

/// The size of the DDP header that begins here, by its T bit.
[[nodiscard]] std::size_t ddp_header_size(rnic::wire::Bytes octets);

}  // namespace dissectors::analyzer
