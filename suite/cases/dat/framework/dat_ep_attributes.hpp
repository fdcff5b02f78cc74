// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Attributes of endpoints: queried, compared, and set beyond the limits of the IA.
#pragma once

#include <functional>
#include <vector>

#include "suite/cases/dat/framework/dat_body.hpp"

namespace suite::cases::dat {

/// All parameters of an endpoint.
[[nodiscard]] DAT_EP_PARAM query_endpoint(const DatBody& body, DAT_EP_HANDLE ep);
/// Attributes that the provider itself chose, to be changed one at a time.
[[nodiscard]] DAT_EP_ATTR usual_attributes(DatBody& body);

/// An attribute that the IA limits.
struct LimitedAttribute {
  const char* name;
  /// Sets it to the IA's limit and so much beyond. False: the IA has no limit, or states none (0).
  std::function<bool(const DAT_IA_ATTR&, DAT_EP_ATTR&, unsigned beyond)> set;
};
[[nodiscard]] const std::vector<LimitedAttribute>& limited_attributes();
/// What a call returns if it is given such an attribute.
inline const Returns refused_attributes =
    returns(DAT_INVALID_PARAMETER).or_tolerably(DAT_INSUFFICIENT_RESOURCES);

void expect_number(DatBody& body, const char* name, long long wanted, long long got,
                   RuleRef rule = {});
void expect_at_least(DatBody& body, const char* name, long long wanted, long long got,
                     RuleRef rule = {});

}  // namespace suite::cases::dat
