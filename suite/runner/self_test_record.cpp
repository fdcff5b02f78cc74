// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/self_test_record.hpp"

#include "base/record/json_file.hpp"
#include "base/shipped_file.hpp"

namespace suite::runner {

void SelfTestRecord::merge(SelfTestRecord other) {
  deviations.merge(other.deviations);
  seen_to_fail_by.merge(other.seen_to_fail_by);
  seen_to_fail_at.merge(other.seen_to_fail_at);
  cases.merge(other.cases);
}

SelfTestRecord load_self_test(const std::filesystem::path& file) {
  return base::record::read_file<SelfTestRecord>(file, "the record of a self-test")
      .value_or(SelfTestRecord{});
}

SelfTestRecord load_self_tests() {
  SelfTestRecord record = load_self_test(base::built_file("generated/suite/seen_to_fail.json"));
  record.merge(load_self_test(base::built_file("generated/suite/dat_seen_to_fail.json")));
  return record;
}

}  // namespace suite::runner
