// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What every sender must do whatever the case is about: the analyzer as the judge of everything
// that the IUT sends on one connection. Findings that it cannot prove are not reported.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "dissectors/analyzer/stream_judge.hpp"
#include "reference_rnic/wire/mpa_frame.hpp"
#include "suite/lower_tester/sender_fault.hpp"

namespace suite::lower_tester {

namespace wire = rnic::wire;

class SenderJudge final : private dissectors::analyzer::Sink {
 public:
  using Report = std::function<void(SenderFault)>;
  /// `role`: of the tester in MPA startup.
  SenderJudge(dissectors::analyzer::Role role, Report report);

  /// The tester's startup frame, as the tester means it: it may have octets that no RFC allows.
  void sent_frame(wire::MpaFrameKind kind, wire::Bytes octets);
  /// The ULPDU of an FPDU of the tester, which the IUT must accept as one if it is `intact`.
  void sent_fpdu(wire::Bytes ulpdu, bool intact);
  /// Octets of the tester without a description.
  void sent_undescribed();
  /// `emss`: of the connection, now.
  void received(wire::Bytes octets, std::size_t emss);

  // -- the end of what the IUT sends --
  void closed();
  void reset();
  /// The tester's wait has ended: nothing more will arrive.
  void nothing_more_comes();
  /// Decides what could not be decided before something followed. Nothing is judged after this.
  void finish();
  /// After finish(): the rules that were evaluated on what the IUT sent.
  [[nodiscard]] const std::vector<rules::RuleId>& judged_rules() const { return judged_rules_; }

 private:
  void finding(const dissectors::analyzer::Connection& connection,
               const dissectors::analyzer::Finding& found) override;
  void mpa_frame(const dissectors::analyzer::Connection& connection,
                 const dissectors::analyzer::MpaFrameSeen& seen) override;
  void fpdu(const dissectors::analyzer::Connection& connection,
            const dissectors::analyzer::FpduSeen& seen) override;
  void judged(const dissectors::analyzer::Connection& connection,
              const dissectors::analyzer::JudgedChecks& checks) override;

  /// A place after everything exchanged so far.
  [[nodiscard]] dissectors::analyzer::Place next_place(dissectors::analyzer::Direction direction,
                                                       std::size_t length);
  void passed(const dissectors::analyzer::Place& place, wire::Bytes octets);
  void report_waiting();

  Report report_;
  dissectors::analyzer::Shared shared_;
  dissectors::analyzer::StreamJudge judge_;
  std::array<std::uint64_t, 2> octets_{};  ///< so far, by direction
  std::uint32_t events_ = 0;               ///< numbered instead of frames
  /// The place of the IUT's last octets, to be shown with a fault.
  dissectors::analyzer::Place latest_;
  std::string latest_hex_;
  std::vector<rules::RuleId> judged_rules_;
  std::vector<SenderFault> waiting_;  ///< faults of framing come before the FPDU itself
  bool finished_ = false;
};

}  // namespace suite::lower_tester
