// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/framework/revision.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "suite/cases/framework/stop.hpp"

namespace suite::cases {

namespace {

bool offers(const Environment& environment, std::string_view capability) {
  return std::ranges::find(environment.iut.hello().capabilities, capability) !=
         environment.iut.hello().capabilities.end();
}

}  // namespace

RevisionTwo revision_two_of(const Environment& environment) {
  const auto claim = environment.pics.find(std::string(iut::capability::enhanced_startup));
  if (claim != environment.pics.end())
    return claim->second ? RevisionTwo::claimed : RevisionTwo::denied;
  return offers(environment, iut::capability::enhanced_startup) ? RevisionTwo::claimed
                                                                : RevisionTwo::unsaid;
}

void need_wanted_revision(const lower_tester::Arrival& arrival, const Case& a_case,
                          const Environment& environment) {
  const auto* frame = arrival.as<lower_tester::ReceivedFrame>();
  if (frame == nullptr || offers(environment, iut::capability::configure_revision_1) ||
      revision_two_of(environment) == RevisionTwo::denied)
    return;
  const int came = frame->frame().revision;
  if (a_case.configuration.revision == 1 && came > 1)
    throw lacking(
        {results::Lack::Kind::not_offered, iut::capability::configure_revision_1},
        fmt::format(
            "the IUT speaks revision {}, and the upper tester does not offer {} (wanted: {})", came,
            iut::capability::configure_revision_1, a_case.configuration.text()));
}

}  // namespace suite::cases
