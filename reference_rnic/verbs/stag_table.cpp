// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which access right each use of an STag needs.
#include "reference_rnic/verbs/stag_table.hpp"

namespace rnic::verbs {

Need need_of(stream::MemoryAccess access) {
  switch (access) {
    case stream::MemoryAccess::remote_write:
      return Need::remote_write;
    case stream::MemoryAccess::remote_read:
      return Need::remote_read;
    case stream::MemoryAccess::remote_atomic:
      return Need::remote_atomic;
    case stream::MemoryAccess::read_sink:
      return Need::read_sink;
  }
  return Need::remote_write;
}

bool permits(const Access& access, Need need) {
  switch (need) {
    case Need::remote_write:
      return access.remote_write;
    case Need::remote_read:
      return access.remote_read;
    case Need::remote_atomic:
      return access.remote_atomic;
    // The Response is a tagged write by the peer: DDP places it only where the STag lets the peer
    // write (RFC 5041 sections 5.1 and 7.1).
    case Need::read_sink:
      return access.remote_write;
    case Need::local_read:
      return true;
    case Need::local_write:
      return access.local_write;
  }
  return false;
}

}  // namespace rnic::verbs
