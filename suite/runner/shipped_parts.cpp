// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/shipped_parts.hpp"

#include <algorithm>

#ifdef RNIC_DAT_CASES
#include "suite/cases/dat/framework/dat_process.hpp"
#endif
#include "suite/cases/framework/boost_executor.hpp"
#include "suite/runner/sentinel_case.hpp"
#include "suite/sessions/dat/session_file.hpp"
#include "suite/upper_tester/reference/reference_iut.hpp"

namespace suite::runner {

SuiteParts shipped_suite() {
  SuiteParts parts = shipped_wire_suite();
#ifdef RNIC_DAT_CASES
  for (cases::Case& row : cases::dat::dat_rows()) {
    if (row.id == "dat.ep_post_send.send_completes_with_its_cookie_and_length")
      parts.dat_sentinel = row;
    if (row.id == "kdat.post.send_is_received") parts.kdat_sentinel = row;
    parts.table.push_back(std::move(row));
  }
  parts.dat_session = [](const std::string& id) {
    return cases::dat::dat_session_row(id, sessions::dat::text_of_script(id));
  };
  parts.dat_sentinel.id = parts.sentinel.id + "_by_dat";
  parts.kdat_sentinel.id = parts.sentinel.id + "_by_kdat";
#endif
  return parts;
}

SuiteParts shipped_wire_suite() {
  SuiteParts parts;
  parts.table = cases::all_cases();
  parts.sentinel = sentinel_case();
  parts.loopback_sentinel = *std::ranges::find(
      parts.table, "loopback.transfers.send_fills_the_receive_of_the_other_end", &cases::Case::id);
  parts.loopback_sentinel.id = parts.sentinel.id + "_by_loopback";
  parts.controls = control_cases();
  // Made in the process where cases run: Boost.Test allows one per process.
  parts.execute = [executor = std::make_shared<std::unique_ptr<cases::BoostExecutor>>()](
                      const cases::Case& one, cases::Environment& environment) {
    if (!*executor) *executor = std::make_unique<cases::BoostExecutor>();
    return (*executor)->run_case(one, environment);
  };
  parts.make_reference =
      [](base::EventLoop& loop, rnic::llp::Network& network,
         const upper_tester::reference::Behaviour& behaviour) -> std::unique_ptr<iut::Iut> {
    return upper_tester::reference::make_reference_iut(loop, network, behaviour);
  };
  return parts;
}

}  // namespace suite::runner
