// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The IUT is MPA Initiator (RFC 5044 section 7.1.2, RFC 6581 section 9 for an Initiator).
#include <algorithm>

#include "suite/sessions/opening.hpp"

namespace suite::sessions {

namespace {

namespace wire = rnic::wire;
using lower_tester::mpa_reply_to;
using lower_tester::StartupFrame;
using wire::Opcode;

class OpeningByIut final : public Opening {
 public:
  using Opening::Opening;

 protected:
  bool open() override {
    lower_tester::Acceptor acceptor(play_.context(), play_.environment().iut_address.family);
    if (!be_asked(acceptor)) return false;
    if (setup_.early && !post_early_work()) return false;
    send_frame(reply());
    settle_terms();
    const auto words = request_words();
    const bool has_rtr = words && words->peer_to_peer;
    if (has_rtr && !take_rtr()) return false;
    const auto up = play_.await<iut::EstablishedEvent>();
    if (!up) return not_established();
    if (!same_data(up->private_data, peer_data(sent_words_.has_value())))
      return fail("the tester's private data", "other private data",
                  {"mpa.private-data.passed-to-ulp", "mpa.private-data.zero-length-means-absent",
                   "mpa.private-data.no-more-than-length-or-buffer",
                   "mpa.startup.initiator-validates-reply"});
    if (!check_depths(up->ird, up->ord, sent_words_,
                      "mpa.enhanced.initiator-tells-ulp-peer-values"))
      return false;
    return has_rtr && early_work_ == 0 ? true : take_first_message();
  }

  bool fail_to_open() override {
    auto acceptor = std::make_unique<lower_tester::Acceptor>(
        play_.context(), play_.environment().iut_address.family);
    if (!be_asked(*acceptor)) return false;
    acceptor.reset();  // it may try again without the enhancement (RFC 6581 section 10)
    constexpr std::size_t half = 10;
    switch (setup_.fault) {
      case StartupFault::no_frame:
        return be_closed();
      case StartupFault::half_a_frame:
        line_->peer.send_octets(lower_tester::part_of(reply().encode(), 0, half));
        return be_closed();
      case StartupFault::closed_at_once:
        line_->peer.half_close();
        return take_failure();
      case StartupFault::insufficient_ird:
        if (!is_insufficient()) return true;
        send_frame(reply());
        return take_terminate(wire::cause::mpa_insufficient_ird);
      case StartupFault::no_common_rtr:
      case StartupFault::no_rtr_stated:
        if (!request_words() || !request_words()->peer_to_peer) return true;
        send_frame(reply());
        return take_terminate(wire::cause::mpa_no_rtr);
      case StartupFault::rejected:
        send_frame(reply());
        return take_rejection();
      default:
        send_frame(reply());
        return be_closed();
    }
  }

 private:
  // ---- the Request ----

  [[nodiscard]] bool be_asked(lower_tester::Acceptor& acceptor) {
    if (!acceptor.error().empty()) return fail("a listening port", acceptor.error(), {});
    const base::Address address = acceptor.address();
    const iut::Reply begun = play_.ask(iut::Connect{.endpoint = endpoint_,
                                                    .address = address.host(),
                                                    .port = address.port,
                                                    .parameters = own_});
    if (begun.outcome != iut::Outcome::ok) return fail("a connection begun", begun.error, {});
    auto connection = acceptor.next(play_.environment().loop.now() + play_.environment().patience);
    if (!connection) return fail("a connection of the IUT", "none", {});
    line_->peer.adopt(std::move(connection));
    return take_frame(own_) && asks_as_configured();
  }
  /// A is what its consumer has asked for (RFC 6581 section 9.2).
  [[nodiscard]] bool asks_as_configured() {
    const auto words = request_words();
    if (!words || !is_configured_) return true;
    if (words->peer_to_peer == setup_.peer_to_peer) return offers_all_kinds(*words);
    if (words->peer_to_peer)
      return fail("A clear", wire::describe(frame()), {"mpa.enhanced.client-server-clears-flag-a"});
    return fail("A set", wire::describe(frame()), {"mpa.enhanced.peer-to-peer-sets-flag-a"});
  }
  /// RFC 6581 section 9.2: the Initiator sets the flag of each kind that it supports.
  [[nodiscard]] bool offers_all_kinds(const EnhancedWords& words) {
    if (!words.peer_to_peer || (kinds_of(words) & setup_.iut_rtr) == setup_.iut_rtr) return true;
    return fail("every RTR kind that it supports", wire::describe(frame()),
                {"mpa.enhanced.initiator-offers-all-rtr-kinds"});
  }
  [[nodiscard]] std::optional<EnhancedWords> request_words() const { return frame().enhanced(); }

  /// A Write of nothing: it needs no memory.
  [[nodiscard]] iut::PostWork first_work() {
    iut::PostWork work;
    work.endpoint = endpoint_;
    work.work = play_.next_work();
    work.operation = iut::operation::write;
    work.remote_stag = 1;
    return work;
  }

  /// The consumer posts work without waiting, if the API lets it; the IUT has to wait.
  [[nodiscard]] bool post_early_work() {
    const iut::PostWork work = first_work();
    const iut::Reply posted = play_.ask(work);
    if (posted.outcome == iut::Outcome::ok)
      early_work_ = work.work;
    else
      refused_ = ", after work that was refused before the connection was up";
    play_.wait();
    if (line_->peer.front() == nullptr) return true;
    return fail("nothing before the Reply", line_->peer.front()->text(),
                {"mpa.startup.no-fpdu-before-both-frames"});
  }

  // ---- the Reply ----

  [[nodiscard]] StartupFrame reply() const {
    const wire::MpaFrame theirs = frame();
    const StartupFrame plain = mpa_reply_to(theirs)
                                   .with_crc(setup_.peer_crc)
                                   .with_markers(setup_.peer_markers)
                                   .with_private_data(peer_data(theirs.enhanced().has_value()));
    return theirs.enhanced() ? plain.with_enhanced(reply_words(*theirs.enhanced())) : plain;
  }

  [[nodiscard]] EnhancedWords reply_words(const EnhancedWords& theirs) const {
    EnhancedWords words = theirs;  // A echoed, the RTR kinds as offered
    words.ird = theirs.ord;
    words.ord = theirs.ird;
    constexpr std::uint16_t all_ones = wire::read_depth_unnegotiated, enormous = 0x3FFE;
    if (setup_.peer_ird != depth_as_asked && theirs.ord != all_ones)
      words.ird = static_cast<std::uint16_t>(setup_.peer_ird);
    // RFC 6581 section 9.1: at most the Initiator's IRD.
    if (setup_.peer_ord != depth_as_asked && theirs.ird != all_ones)
      words.ord =
          setup_.peer_ord == all_ones
              ? all_ones
              : static_cast<std::uint16_t>(std::min<std::uint32_t>(setup_.peer_ord, theirs.ird));
    if (setup_.fault == StartupFault::insufficient_ird) words.ord = enormous;
    if (setup_.fault == StartupFault::rtr_flags_without_a && !theirs.peer_to_peer)
      return with_rtr(words, setup_.rtr);
    return theirs.peer_to_peer ? with_reply_kinds(words, theirs) : words;
  }

  /// RFC 6581 section 9.2: kinds that were not offered may be named as well.
  [[nodiscard]] EnhancedWords with_reply_kinds(const EnhancedWords& words,
                                               const EnhancedWords& theirs) const {
    const std::uint32_t offered = kinds_of(theirs);
    if (setup_.fault == StartupFault::no_rtr_stated) return with_rtr(words, 0);
    if (setup_.fault == StartupFault::no_common_rtr) return with_rtr(words, rtr_any & ~offered);
    std::uint32_t named = (setup_.rtr & offered) != 0 ? setup_.rtr : offered;
    if ((named & offered) == rtr_read && words.ird == 0) named = offered;
    EnhancedWords with_kinds = with_rtr(words, named);
    // A Read as RTR indication needs an IRD of at least 1.
    if ((named & offered) == rtr_read) with_kinds.ird = std::max<std::uint16_t>(words.ird, 1);
    return with_kinds;
  }

  void settle_terms() {
    const auto ird = static_cast<std::uint32_t>(own_.ird.value_or(0));
    const auto ord = static_cast<std::uint32_t>(own_.ord.value_or(0));
    terms_.responder = false;
    terms_.depths = model::depths_of_initiator({ird, ord, ord}, request_words(), sent_words_);
  }

  /// RFC 6581 section 9.2: it comes without any work, is of a kind in both frames, and moves no data.
  [[nodiscard]] bool take_rtr() {
    const auto arrival = next();
    const auto* message = arrival.as<lower_tester::Message>();
    if (message == nullptr)
      return fail(
          "an RTR indication", arrival.text(),
          {"mpa.enhanced.rtr-sent-after-accept", "mpa.enhanced.rtr-before-other-fpdus",
           "mpa.enhanced.extra-rtr-flags-allowed", "mpa.enhanced.reply-ord-all-ones-keeps-ird"});
    const auto kinds = model::common_rtr_kinds(*request_words(), *sent_words_);
    if (std::ranges::find(kinds, message->opcode()) == kinds.end())
      return fail("an RTR indication of a kind in both frames", arrival.text(),
                  {"mpa.enhanced.rtr-of-negotiated-kind", "mpa.enhanced.rtr-before-other-fpdus"});
    const auto read = message->read_request();
    if (read ? read->length != 0 : !message->payload.empty())
      return fail("an RTR indication of no octets", arrival.text(),
                  {"mpa.enhanced.rtr-is-zero-length", "mpa.enhanced.rtr-before-other-fpdus"});
    if (read) line_->peer.send(lower_tester::read_response(read->sink_stag, read->sink_offset, {}));
    return true;
  }

  /// The Initiator sends first (RFC 5044 section 7.1.2).
  [[nodiscard]] bool take_first_message() {
    if (early_work_ == 0) {
      const iut::PostWork first = first_work();
      early_work_ = first.work;
      const iut::Reply posted = play_.ask(first);
      if (posted.outcome != iut::Outcome::ok) return fail("work that is posted", posted.error, {});
    }
    const auto arrival = next();
    if (arrival.message(Opcode::rdma_write) == nullptr)
      return fail("its first message", arrival.text() + refused_,
                  {"mpa.startup.accepted-initiator-enters-full-operation",
                   "mpa.enhanced.rtr-flags-ignored-without-a"});
    const auto done = play_.await<iut::CompletionEvent>();
    if (!done || done->status != "success" || done->work != early_work_)
      return fail("the completion of its first message", done ? "another one" : "none",
                  {"rdmap.order.completion-after-ddp", "mpa.enhanced.startup-gives-no-completion"});
    return true;
  }

  bool not_established() {
    std::vector<std::string> rules = rules_of_odd_words();
    rules.insert(rules.end(), {"mpa.startup.accepted-initiator-enters-full-operation",
                               "mpa.startup.initiator-validates-reply"});
    if (is_failure_reported())
      return fail_refused("the connection reported", "a failure reported", rules);
    return fail("the connection reported", "no established event", rules);
  }

  /// Rules by which the enhanced words of the Reply must be accepted although they look odd.
  [[nodiscard]] std::vector<std::string> rules_of_odd_words() const {
    std::vector<std::string> rules;
    if (!sent_words_ || !request_words()) return rules;
    if ((kinds_of(*sent_words_) & ~kinds_of(*request_words())) != 0)
      rules.emplace_back("mpa.enhanced.extra-rtr-flags-allowed");
    if (sent_words_->ord == wire::read_depth_unnegotiated)
      rules.emplace_back("mpa.enhanced.reply-ord-all-ones-keeps-ird");
    return rules;
  }

  // ---- startups that fail ----

  [[nodiscard]] bool is_insufficient() const {
    constexpr std::int64_t enormous = 0x3FFE;
    const auto& limits = play_.environment().iut.hello().limits;
    const auto limit = limits.find("max_ird");
    return request_words() && limit != limits.end() && limit->second < enormous;
  }

  /// It is reported to the consumer that there is no connection.
  [[nodiscard]] bool is_failure_reported() {
    return play_.await<iut::ConnectFailedEvent>() || play_.await<iut::RejectedEvent>();
  }
  [[nodiscard]] bool take_failure() {
    if (is_failure_reported()) return true;
    if (info_of(setup_.fault).end != StartupEnd::closed_or_advisory)
      return fail("the failure reported", "no report", fault_rules());
    advise("the failure reported", "no report", fault_rules());
    return true;
  }

  [[nodiscard]] bool be_closed() {
    if (play_.await<iut::EstablishedEvent>()) {
      if (info_of(setup_.fault).end == StartupEnd::closed)
        return fail("no connection", "an established event", fault_rules());
      advise("no connection", "an established event", fault_rules());
      return true;
    }
    return take_end() && take_failure();
  }

  [[nodiscard]] bool take_rejection() {
    const auto event = play_.await<iut::RejectedEvent>();
    if (!event) return fail("a rejection reported", "no report", fault_rules());
    if (!event->private_data.empty() &&
        !same_data(event->private_data, peer_data(sent_words_.has_value())))
      return fail("the tester's private data", "other private data",
                  {"mpa.private-data.passed-to-ulp"});
    if (!check_depths(event->ird, event->ord, sent_words_, "mpa.enhanced.reject-values-to-ulp"))
      return false;
    if (sent_words_ && !event->ird)
      advise("the depths of the Reply", "none", {"mpa.enhanced.reject-values-to-ulp"});
    const auto after = next();
    if (after.as<lower_tester::Nothing>() != nullptr || after.is_end()) return true;
    return fail("nothing after a rejection", after.text(),
                {"mpa.startup.rejected-initiator-exits-mpa"});
  }

  /// RFC 6581 sections 9.1 and 9.2; a teardown without a Terminate: docs/disputes.md D7.
  [[nodiscard]] bool take_terminate(wire::TerminateCause cause) {
    const auto arrival = next();
    if (arrival.is_end()) {
      advise(wire::describe(cause), arrival.text(), fault_rules());
      return true;
    }
    const auto terminate = arrival.terminate();
    if (!terminate || terminate->cause != cause)
      return fail(wire::describe(cause), arrival.text(), fault_rules());
    if (line_->peer.front() == nullptr) line_->peer.half_close();
    return take_end();
  }

  iut::WorkId early_work_ = 0;
  /// What to add to a finding about what is posted later.
  std::string refused_;
};

}  // namespace

std::unique_ptr<Opening> opening_by_iut(Play& play, const StreamSetup& setup, std::size_t number) {
  return std::make_unique<OpeningByIut>(play, setup, number);
}

}  // namespace suite::sessions
