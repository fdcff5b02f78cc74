// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the body of a case is written with: `iut`, `peer`, `expect(...)` and their helpers.
//
// Everything waits for events with the case's deadline, which is that of each single thing: it
// starts again when what was waited for has come. An expectation that fails is recorded and
// ends the body; one that holds, or is an advisory, is recorded and the body continues. Each names
// the rule that it judges; by default the case's first rule. If that rule is a SHOULD, a failure is
// an advisory: it also ends the body if what was waited for is missing.
#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "suite/cases/framework/api_expected.hpp"
#include "suite/cases/framework/case.hpp"
#include "suite/cases/framework/case_consumer.hpp"
#include "suite/cases/framework/case_peer.hpp"
#include "suite/cases/framework/establish.hpp"
#include "suite/cases/framework/judging.hpp"
#include "suite/cases/framework/refusal.hpp"
#include "suite/cases/framework/rule_ref.hpp"
#include "suite/lower_tester/content.hpp"
#include "suite/lower_tester/expected.hpp"
#include "suite/lower_tester/peer.hpp"
#include "suite/lower_tester/stream_peer.hpp"

namespace suite::cases {

struct RowSoFar;

struct ThenClose {};
/// After a Terminate the connection is closed too, preferably gracefully.
inline constexpr ThenClose then_close;

class Body : public Judging {
 public:
  Body(const Case& a_case, Environment& environment, Context& context, CaseOutcome& outcome);
  ~Body() override;

  CaseConsumer iut;
  CasePeer peer;

  // -- establishing --
  void establish(const Establish& options = {}) { establish(peer.raw(), options); }
  void establish(Peer& which, const Establish& options);
  /// Brings the connection up so that the IUT may send immediately.
  void let_iut_send();
  /// The same, and receives a first Send from it: then it is known that it may send.
  void see_iut_send();
  /// The IUT as initiator: one of its endpoints connects to us; what it sends is up to the case.
  void let_iut_connect(const iut::ConnectParameters& parameters = {});
  /// From here on there is no listener for connections of the IUT.
  void stop_listening() { acceptor_.reset(); }
  /// TCP segments of later connections have at most this many octets, in both directions.
  void limit_segments(std::size_t octets);
  /// Later connections have an address of the tester that nothing else uses, so that
  /// Connection::change_emss() can change their path. Not applicable if there is none.
  void use_spare_address();
  /// Instead of `peer`: a peer that acts by itself on the case's connection, a whole RDMA stream
  /// that conforms except for the deviations it is given. It is connected, and both sides may send.
  StreamPeer& connect_partner(const Partner& terms = {});
  /// A further connection of the case.
  [[nodiscard]] Peer& another_peer();
  /// The address at which the IUT listens; it starts to listen at the first call.
  [[nodiscard]] base::Address iut_address();
  [[nodiscard]] bool iut_is_responder() const { return case_.role == Role::responder; }

  // -- on the wire --
  /// The next arrival is one of the expected. Returns it.
  Arrival expect(WireEnd& from, const Expected& expected, RuleRef rule = {});
  Arrival expect(CasePeer& from, const Expected& expected, RuleRef rule = {}) {
    return expect(from.ready(), expected, rule);
  }
  /// The same for what need not come soon: silence is known only at the case's deadline.
  Arrival expect_by_deadline(WireEnd& from, const Expected& expected, RuleRef rule = {});
  /// ... and then the connection is closed.
  Arrival expect(CasePeer& from, const Expected& expected, ThenClose, RuleRef rule = {});
  /// The IUT rejects what was sent: with a Terminate with one of these causes (rule `code`) or, as
  /// an advisory, by a teardown without one; anything else, or nothing, breaks the rule `check`.
  /// The connection is closed afterwards. A Terminate of another layer shows that the check was not
  /// made where it belongs, and also breaks `check`; causes in `tolerated` are advisories.
  void expect_rejection(std::initializer_list<rnic::wire::TerminateCause> causes, RuleRef check,
                        RuleRef code,
                        std::initializer_list<rnic::wire::TerminateCause> tolerated = {}) {
    expect_rejection(peer.ready(), causes, check, code, tolerated);
  }
  void expect_rejection(WireEnd& from, std::initializer_list<rnic::wire::TerminateCause> causes,
                        RuleRef check, RuleRef code,
                        std::initializer_list<rnic::wire::TerminateCause> tolerated = {});
  void expect_rejection(const Refusal& refusal, RuleRef check, RuleRef code) {
    expect_rejection(refusal.causes, check, code, refusal.tolerated);
  }
  /// The IUT has been sent these octets as a message for which it has no buffer. It rejects them,
  /// or holds them back until there is a buffer (docs/disputes.md D9), which a receive that is
  /// posted here shows.
  void expect_no_buffer(const Octets& data, RuleRef check, RuleRef code);
  /// MPA must refuse the FPDU sent last. This arrives, or the segment is dropped as if it were
  /// lost: silence is lawful as long as TCP does not acknowledge it (RFC 5044 section 8).
  Arrival expect_unless_dropped(const Expected& expected, RuleRef rule = {});
  /// A long transfer that the IUT had begun to send, or should have: this message, complete, or (an
  /// advisory) only its beginning, or an ending. Returns whether it arrived in full.
  bool expect_much(Opcode opcode, RuleRef rule);
  /// Receives whatever arrives within the quiet window, unjudged, so that its effect can be
  /// examined. An ending is left for the next expectation.
  void watch() { watch(peer.ready()); }
  void watch(WireEnd& which);
  /// The same after an FPDU that MPA must refuse. Nothing that follows it is passed on or answered
  /// (RFC 5044 section 8), so nothing more is requested on this connection.
  void watch_refused_fpdu() {
    watch();
    unanswering_ = true;
  }
  /// The IUT ends the connection without sending anything more.
  void expect_teardown(WireEnd& from);
  /// A Terminate that was sent takes effect: the IUT ends the connection, or notifies its consumer
  /// and waits for our FIN (it MAY tear down at once, RFC 5040 section 6.2.1).
  void expect_end_by_terminate(RuleRef rule = {});
  /// Messages of the IUT, in this order, posted after a Read or Atomic of its own that is not
  /// answered yet: they are sent immediately, or are held back until `answer` (docs/disputes.md
  /// D56). Returns whether they were held back.
  bool expect_around(const std::vector<Expected>& messages, const std::function<void()>& answer,
                     RuleRef rule = {});
  /// A message that the case needs to continue; `rule` judges its absence.
  Message expect_message(Opcode opcode, RuleRef rule = {});

  // -- with the partner --
  /// The posted work of the partner has been executed.
  rnic::stream::WorkDone expect_done(StreamPeer& partner, std::uint64_t work, RuleRef rule = {});
  /// The next message for its consumer contains these octets.
  StreamPeer::Received expect_received(StreamPeer& partner, const Octets& data, RuleRef rule = {});
  /// Its buffer contains these octets.
  void expect_buffer(const TesterBuffer& buffer, const Octets& wanted, RuleRef rule = {});

  // -- at the API --
  iut::CompletionEvent expect(const Work& work, const ExpectedCompletion& expected,
                              RuleRef rule = {});
  /// Work that cannot be done: the API has refused it, or it completes in this way.
  void expect_refused_or(const Attempt& attempt, const ExpectedCompletion& expected,
                         RuleRef rule = {});
  /// All of them complete with success, in this order.
  void expect_in_order(const std::vector<Work>& works, RuleRef rule = {});
  iut::Event expect(Consumer& of, const ExpectedEvent& expected, RuleRef rule = {});
  /// The event has not come, as shown by a later exchange that the IUT has answered (or, if none is
  /// possible, by the quiet window).
  void expect_none(const ExpectedEvent& unwanted, RuleRef rule = {});
  /// The memory has these contents, once the IUT has processed everything that was sent.
  void expect(const Region& region, const ExpectedContents& expected, RuleRef rule = {});
  /// The connection still works: a Read of a new region is answered correctly. It also proves that
  /// everything sent before was processed.
  void expect_still_working(RuleRef rule = {});

  /// A stop as it is judged: if the IUT refuses work because it has ended the connection and the
  /// case has not, that is a failure of the IUT and not of the harness.
  [[nodiscard]] CaseStop judged(CaseStop stop) override;
  /// Runs `body` as a data row: with its own verdict, a new connection and a new deadline. In a new
  /// row the IUT is reset. After a row that has used up its deadline the others get a tenth of that
  /// time, and what they then miss is inconclusive: the case has failed, and an IUT that hangs must
  /// not cost a deadline for each of a hundred rows.
  void row(const std::string& name, const std::function<void()>& body);

  // -- for the executor --
  /// Starts the deadline of the case: also in each row, and when the IUT is reset and configured.
  void start_deadline();
  /// Judges what the IUT has sent, as far as it goes, on every connection.
  void finish_judging();
  /// Closes every connection of the case, so that nothing of it holds up the IUT.
  void close_connections();
  /// The case itself: the body of CONFORMANCE_CASE.
  virtual void body() = 0;
  /// Why what came of RDMA Reads shows nothing, if a control has failed that is not about the case, or the rule
  /// that is judged; else empty. No rule: the end of the connection is judged.
  [[nodiscard]] virtual std::string why_its_reads_show_nothing(std::string_view rule);
  void note_fault(const SenderFault& fault);
  /// What was judged after a Read shows nothing if Reads do not work at all: neither that it passes
  /// nor that something is missing. What came before the Read in the row stands, and so does what
  /// the judge has found.
  void heed_controls(Ruling& ruling) const;

  [[nodiscard]] Environment& environment() { return environment_; }
  [[nodiscard]] Context& context() { return context_; }
  [[nodiscard]] const Case& the_case() const { return case_; }

 private:
  friend class CasePeer;

  void establish_responder(Peer& which, const Establish& options, iut::Handle endpoint);
  void establish_initiator(Peer& which, const Establish& options, iut::Handle endpoint);
  void open_as_initiator(Peer& which);
  void take_rtr(Peer& which);
  void connect_to_responder(iut::Handle endpoint, const iut::ConnectParameters& parameters);
  void let_initiator_connect(iut::Handle endpoint, const iut::ConnectParameters& parameters);
  void open_partner();
  void need_initiator() const;
  void await_established();
  Arrival need(WireEnd& from, const Expected& expected, const char* what);
  Arrival expect_until(base::TimePoint until, WireEnd& from, const Expected& expected,
                       const RuleRef& rule);
  [[noreturn]] void not_established(const std::string& why);
  [[nodiscard]] Judgement weighed(Judgement judgement) const override;
  void on_record(ExpectationRecord& made) override;
  [[nodiscard]] RowSoFar row_so_far() const;
  void on_row_over(const std::optional<CaseStop>& end) override;
  void prepare_next_row();
  /// Whether an exchange with the IUT on the case's connection is still possible.
  [[nodiscard]] bool can_ask() {
    if (partner_) return partner_->can_transfer();
    return peer.raw().in_rdma_mode() && peer.raw().is_open() && !terminate_seen_ && !unanswering_ &&
           !peer.raw().within_message();
  }
  void settle(const RuleRef& rule);
  void settle_with_partner(const RuleRef& rule);
  void settle_by_send(const RuleRef& rule);
  [[nodiscard]] base::TimePoint deadline() const { return context_.deadline; }
  [[nodiscard]] bool time_is_up() const { return context_.loop.now() >= context_.deadline; }

  const Case& case_;
  Environment& environment_;
  Context& context_;
  CaseOutcome& outcome_;
  bool rows_used_ = false;
  /// The deadline of the row had passed when its body ended.
  bool row_was_late_ = false;
  /// The row that used up its deadline.
  std::string shortened_since_;
  /// What settle() reads.
  std::optional<Region> probe_;
  std::set<std::string> faults_noted_;
  /// Why what was judged in the row, or outside of rows, shows nothing; empty: it does.
  std::string shows_nothing_;
  bool terminate_seen_ = false;
  /// Since an FPDU that MPA has to refuse.
  bool unanswering_ = false;
  /// Establish::judged_by of the connection that is coming up.
  RuleRef establishing_by_;
  std::vector<std::unique_ptr<Peer>> others_;
  std::unique_ptr<StreamPeer> partner_;
  std::unique_ptr<Acceptor> acceptor_;
};

}  // namespace suite::cases
