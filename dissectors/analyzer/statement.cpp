// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/analyzer/statement.hpp"

#include "reference_rnic/wire/notation.hpp"

namespace dissectors::analyzer {

void Findings::raise(const Statement& statement, const Incoming& incoming,
                     std::string admissible) const {
  raise(statement, incoming.fpdu.place, incoming.fpdu.certainty,
        describe_ulpdu(incoming.fpdu.ulpdu, incoming.fpdu.ulpdu_length), std::move(admissible));
}

}  // namespace dissectors::analyzer
