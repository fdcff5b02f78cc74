// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A Protection Zone: which Endpoints may access which memory.
#pragma once

#include "reference_rnic/dat/ia.hpp"

namespace rnic::dat {

struct Pz final : Object {
  static constexpr Kind its_kind = Kind::pz;
  static constexpr DAT_RETURN_SUBTYPE subtype = DAT_INVALID_HANDLE_PZ;

  Pz(Ia* the_ia, verbs::DomainHandle the_domain) : Object(its_kind, the_ia), domain(the_domain) {}
  ~Pz() override { static_cast<void>(ia->rnic().destroy_domain(domain)); }

  verbs::DomainHandle domain;
};

}  // namespace rnic::dat
