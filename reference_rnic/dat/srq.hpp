// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A Shared Receive Queue: buffers for the one of its Endpoints that gets the next message.
#pragma once

#include "reference_rnic/dat/lmr.hpp"
#include "reference_rnic/dat/posted.hpp"

namespace rnic::dat {

class Srq final : public Object {
 public:
  static constexpr Kind its_kind = Kind::srq;
  static constexpr DAT_RETURN_SUBTYPE subtype = DAT_INVALID_HANDLE_SRQ;

  Srq(Ia* the_ia, Pz* the_pz, verbs::SharedQueueHandle the_queue, const DAT_SRQ_ATTR& the_attr)
      : Object(its_kind, the_ia), pz(the_pz), queue(the_queue), attr(the_attr) {}
  ~Srq() override { static_cast<void>(ia->rnic().destroy_shared_queue(queue)); }

  [[nodiscard]] DAT_COUNT available() const;
  /// One event is reported as soon as fewer buffers wait than the low watermark; at once if this is
  /// so.
  void arm(DAT_COUNT low_watermark);
  static void limit_passed(Ia& of, verbs::SharedQueueHandle passed);

  Use<Pz> pz;
  verbs::SharedQueueHandle queue;
  DAT_SRQ_ATTR attr;
  PostedTable posted;
  DAT_COUNT outstanding = 0;  ///< posted and not yet seen by the consumer as completed

 private:
  void report_low();
};

}  // namespace rnic::dat
