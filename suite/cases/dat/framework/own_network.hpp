// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A network namespace of a case's own, whose only interface is lo: what a case does to it changes
// nothing of the host. A socket that was made in it can be used anywhere in the process.
#pragma once

#include <functional>

#include "base/file_descriptor.hpp"
#include "suite/cases/dat/framework/dat_body.hpp"

namespace suite::cases::dat {

class OwnNetwork {
 public:
  /// With the address of the IA. Without the rights for it, the case is not applicable.
  explicit OwnNetwork(DatBody& body);
  /// Does this in a thread that is in the namespace.
  void inside(const std::function<void()>& work) const;
  /// Takes lo down, and with it every route.
  void remove_routes() const;

 private:
  DatBody& body_;
  base::FileDescriptor space_;
};

}  // namespace suite::cases::dat
