// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Converts between the names in the messages of the upper tester and those of the reference RNIC.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "reference_rnic/access/connection_manager.hpp"
#include "reference_rnic/lawful/offer.hpp"
#include "reference_rnic/verbs/rnic.hpp"
#include "suite/iut/messages.hpp"

namespace suite::upper_tester::reference {

[[nodiscard]] rnic::verbs::Access access_of(const iut::Access& access);
[[nodiscard]] iut::Access access_of(const rnic::verbs::Access& access);
[[nodiscard]] std::optional<rnic::verbs::Operation> operation_of(std::string_view name);
/// errno for an error of the RNIC.
[[nodiscard]] int code_of(rnic::verbs::Error error);
[[nodiscard]] const char* kind_name(rnic::verbs::AsyncKind kind);
[[nodiscard]] const char* state_name(rnic::verbs::QueuePairState state);
[[nodiscard]] std::optional<base::Family> family_of(std::string_view name);
[[nodiscard]] std::optional<rnic::stream::RtrKinds> rtr_of(const std::vector<std::string>& names);
[[nodiscard]] iut::CompletionEvent completion_event(iut::Handle endpoint,
                                                    const rnic::verbs::Completion& completion);
/// Everything that can be asked of the reference.
/// Those that the consumer is offered.
[[nodiscard]] std::vector<std::string> capabilities_of(const rnic::lawful::Offer& offer);

}  // namespace suite::upper_tester::reference
