// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Permissions of MPA startup (RFC 5044 section 7.1, RFC 6581).
#include "reference_rnic/lawful/table.hpp"
#include "reference_rnic/stream/startup.hpp"

namespace rnic::lawful {
namespace {

using namespace stream;  // NOLINT(google-build-using-namespace): the words of what varies
using Values = wire::EnhancedWords::Values;

unsigned count_of(const RtrKinds& kinds) {
  return static_cast<unsigned>(kinds.send) + static_cast<unsigned>(kinds.write) +
         static_cast<unsigned>(kinds.read);
}

struct NamesOneRtrKind : Decisions {
  void rtr_offered(const Values&, const Choice<RtrKinds>& choice, RtrKinds& offered) override {
    for (const RtrKinds& kinds : choice.permitted)
      if (count_of(kinds) == 1) offered = kinds;
  }
};

struct NamesAllRtrKinds : Decisions {
  void rtr_offered(const Values&, const Choice<RtrKinds>& choice, RtrKinds& offered) override {
    for (const RtrKinds& kinds : choice.permitted)
      if (count_of(kinds) > count_of(offered)) offered = kinds;
  }
};

struct LastNamedRtrKind : Decisions {
  void rtr_chosen(const Values&, const Choice<RtrKind>& choice,
                  std::optional<RtrKind>& kind) override {
    if (!choice.permitted.empty()) kind = choice.permitted.back();
  }
};

struct OrdNotNegotiated : Decisions {
  void reply_ord(const AcceptedRequest&, const Choice<std::uint16_t>& choice,
                 std::uint16_t& ord) override {
    ord = choice.permitted.back();
  }
};

/// Skips a check that a receiver may leave out.
void let_pass(const Choice<bool>& choice, bool& acceptable) {
  if (permits(choice, true)) acceptable = true;
}

struct TakesLaterRevisions : Decisions {
  void startup_checked(const StartupCheck& check, const Choice<bool>& choice,
                       bool& acceptable) override {
    if (check.by.id == "mpa.startup.revision-checked") let_pass(choice, acceptable);
  }
};

struct TakesShortEnhancedData : Decisions {
  void startup_checked(const StartupCheck& check, const Choice<bool>& choice,
                       bool& acceptable) override {
    if (check.by.id == "mpa.enhanced.short-private-data-is-bad-frame") let_pass(choice, acceptable);
  }
};

template <class Variant>
constexpr auto stream_row(Lawful lawful) {
  return row<Decisions, Variant>(lawful);
}

constexpr Row<Decisions> rows[] = {
    stream_row<NamesOneRtrKind>(Lawful::names_one_rtr_kind),
    stream_row<NamesAllRtrKinds>(Lawful::names_all_rtr_kinds),
    stream_row<LastNamedRtrKind>(Lawful::last_named_rtr_kind),
    stream_row<OrdNotNegotiated>(Lawful::ord_not_negotiated),
    stream_row<TakesLaterRevisions>(Lawful::takes_later_revisions),
    stream_row<TakesShortEnhancedData>(Lawful::takes_short_enhanced_data),
};

}  // namespace

std::span<const Row<stream::Decisions>> startup_variants() { return rows; }

}  // namespace rnic::lawful
