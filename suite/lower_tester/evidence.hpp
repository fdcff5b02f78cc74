// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the tester's peers record of a case: the decoded exchange, and the octets of each
// connection.
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "suite/results/outcome.hpp"

namespace suite::lower_tester {

using results::ConnectionRecord;
using results::Direction;
using results::ExpectationRecord;
using results::Judgement;
using results::name;
using results::Offset;
using results::Step;
using results::StreamPlace;

/// Who has used RDMA Reads.
struct ReadsUsed {
  bool by_tester = false;
  /// A case has posted one to the IUT.
  bool by_iut = false;
};

/// Where the tester's peers write what happens; one per case.
struct Evidence {
  std::vector<Step> exchange;
  std::vector<ConnectionRecord> connections;
  /// A connection with the IUT was attempted and did not come up.
  bool connect_failed = false;
  /// The rules that the judge evaluated on what the IUT sent: octets that could have broken them
  /// arrived.
  std::set<std::string_view> judged;
  /// In the row that runs, or outside of rows.
  ReadsUsed reads;
};

}  // namespace suite::lower_tester
