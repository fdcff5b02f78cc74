// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The tester is MPA Initiator (RFC 5044 section 7.1.2, RFC 6581 section 9 for a Responder).
#include "suite/sessions/opening.hpp"

namespace suite::sessions {

namespace {

namespace wire = rnic::wire;
using lower_tester::mpa_request;
using lower_tester::StartupFrame;
using wire::Opcode;

class OpeningByTester final : public Opening {
 public:
  using Opening::Opening;

 protected:
  bool open() override {
    if (!listen()) return false;
    if (!stand_beside() || !connect(line_->peer)) return false;
    send_request();
    const auto asked = take_request();
    if (!asked) return false;
    play_.ask(iut::Accept{asked->request, endpoint_, own_});
    if (!take_frame(own_)) return false;
    if (!line_->peer.in_rdma_mode())
      return fail("an accepting Reply", "a rejection", {"mpa.startup.acceptable-request-accepted"});
    settle_terms();
    if (is_peer_to_peer() && !send_rtr()) return false;
    if (!play_.await<iut::EstablishedEvent>())
      return fail("the connection reported", "no established event",
                  {"mpa.startup.responder-ready-for-fpdus", "mpa.enhanced.rtr-sent-after-accept",
                   "mpa.enhanced.responder-supports-one-rtr-kind"});
    return true;
  }

  bool fail_to_open() override {
    if (!listen() || !connect(line_->peer)) return false;
    switch (setup_.fault) {
      case StartupFault::rejected:
        return be_rejected();
      case StartupFault::rejection_bit:
        return be_accepted();
      case StartupFault::gone_before_accept:
        return be_gone();
      case StartupFault::no_common_rtr:
        return be_without_rtr();
      case StartupFault::no_frame:
        break;
      case StartupFault::half_a_frame:
        line_->peer.send_octets(half_a_request());
        break;
      case StartupFault::closed_at_once:
        line_->peer.half_close();
        break;
      default:
        send_request();
    }
    return be_closed();
  }

 private:
  // ---- the Request ----

  [[nodiscard]] bool is_enhanced() const {
    return setup_.fault == StartupFault::enhanced_for_revision_one ||
           (setup_.revision > 1 && setup_.plain == 0);
  }
  [[nodiscard]] StartupFrame request() const {
    constexpr std::uint32_t of_revision_two = 2;
    const StartupFrame request = mpa_request()
                                     .with_crc(setup_.peer_crc)
                                     .with_markers(setup_.peer_markers)
                                     .with_private_data(peer_data(is_enhanced()));
    if (!is_enhanced())
      return setup_.plain == of_revision_two && setup_.revision > 1 ? request.with_revision(2)
                                                                    : request;
    const auto depth = [](std::uint32_t value, std::uint32_t usual) {
      return static_cast<std::uint16_t>(value == depth_as_asked ? usual : value);
    };
    // What the IUT serves is what we issue, and the other way round.
    EnhancedWords words;
    words.ird = depth(setup_.peer_ird, setup_.ord);
    words.ord = depth(setup_.peer_ord, setup_.ird);
    words.peer_to_peer = setup_.peer_to_peer;
    const bool names_kinds =
        setup_.peer_to_peer || setup_.fault == StartupFault::rtr_flags_without_a;
    return request.with_enhanced(names_kinds ? with_rtr(words, setup_.rtr) : words);
  }
  void send_request() { send_frame(request()); }
  [[nodiscard]] static Octets half_a_request() {
    constexpr std::size_t half = 10;
    return lower_tester::part_of(mpa_request().encode(), 0, half);
  }

  [[nodiscard]] bool listen() {
    const iut::Reply listening = play_.ask(
        iut::Listen{.listener = endpoint_, .address = play_.environment().iut_address.host()});
    port_ = listening.port.value_or(0);
    return listening.port ? true : fail("a listening port", listening.error, {});
  }
  [[nodiscard]] bool connect(lower_tester::Peer& peer) {
    const auto done = peer.connect(play_.environment().iut_address.with_port(port_));
    return done ? true
                : fail("a connection", done.error(), {"mpa.startup.acceptable-request-accepted"});
  }

  /// Another connection to the same listener, in startup, or with a Request that ends it.
  [[nodiscard]] bool stand_beside() {
    if (setup_.fault != StartupFault::beside_half_open &&
        setup_.fault != StartupFault::beside_malformed)
      return true;
    Line& other = play_.stand_by();
    if (!connect(other.peer)) return false;
    if (setup_.fault == StartupFault::beside_half_open) other.peer.send_octets(half_a_request());
    return true;
  }

  void not_asked() {
    std::vector<std::string> rules = fault_rules();
    if (rules.empty())
      rules = {"mpa.startup.acceptable-request-accepted",
               "mpa.startup.responder-waits-for-request",
               "mpa.private-data.passed-to-ulp",
               "mpa.enhanced.revision-one-still-accepted",
               "mpa.enhanced.unenhanced-requests-accepted",
               "mpa.enhanced.input-values-checked"};
    const auto* came = line_->peer.front();
    const auto* reply = came == nullptr ? nullptr : came->as<lower_tester::ReceivedFrame>();
    if (reply != nullptr && reply->frame().flags.reject())
      fail_refused("a connection request", came->text(), std::move(rules));
    else
      fail("a connection request", "none", std::move(rules));
  }

  /// The Request reaches the consumer, with what it carries.
  [[nodiscard]] std::optional<iut::ConnectRequestEvent> take_request() {
    if (setup_.fault == StartupFault::beside_malformed)
      play_.stood_by().peer.send(mpa_request().with_key("MPA ID Rex Frame"));
    auto asked = play_.await<iut::ConnectRequestEvent>();
    const bool enhanced = is_enhanced();
    if (!asked) {
      not_asked();
      return std::nullopt;
    }
    if (!same_data(asked->private_data, peer_data(enhanced))) {
      fail("the tester's private data", "other private data",
           {"mpa.private-data.passed-to-ulp", "mpa.private-data.zero-length-means-absent",
            "mpa.private-data.no-more-than-length-or-buffer",
            "mpa.enhanced.s-zero-means-plain-frame"});
      return std::nullopt;
    }
    if (!check_depths(asked->ird, asked->ord, sent_words_,
                      "mpa.enhanced.responder-tells-ulp-peer-values"))
      return std::nullopt;
    return asked;
  }

  // ---- after the Reply ----

  void settle_terms() {
    const auto ird = static_cast<std::uint32_t>(own_.ird.value_or(0));
    const auto ord = static_cast<std::uint32_t>(own_.ord.value_or(0));
    terms_.responder = true;
    terms_.depths = model::depths_of_responder({ird, ord, ord}, sent_words_, frame().enhanced());
  }
  [[nodiscard]] bool is_peer_to_peer() const { return sent_words_ && sent_words_->peer_to_peer; }

  /// The first FPDU. If the Responder supports none of the kinds offered, there is no stream.
  [[nodiscard]] bool send_rtr() {
    const auto words = frame().enhanced();
    if (!words || !words->peer_to_peer)
      return fail("A echoed", "a Reply without A", {"mpa.enhanced.flag-a-echoed"});
    if (!names_its_kinds(*words)) return false;
    auto kinds = model::common_rtr_kinds(*sent_words_, *words);
    if (words->ird == 0) std::erase(kinds, Opcode::read_request);
    if (kinds.empty()) return give_up();
    terms_.rtr = kinds[setup_.rtr_choice % kinds.size()];
    // It transfers nothing, so that any STag will do (RFC 5041 section 5.2, RFC 5040 section 5.2).
    const std::uint32_t stag = setup_.fault_value % 2 == 0 ? 0 : setup_.fault_value;
    if (*terms_.rtr == Opcode::send) line_->peer.send(lower_tester::send_message({}));
    if (*terms_.rtr == Opcode::rdma_write) line_->peer.send(lower_tester::rdma_write(stag, 0, {}));
    if (*terms_.rtr != Opcode::read_request) return true;
    line_->peer.send(lower_tester::read_request({.sink_stag = stag, .source_stag = stag}));
    const auto answer = next();
    if (answer.message(Opcode::read_response) != nullptr) return true;
    return fail(
        "a Read Response of nothing", answer.text(),
        {"mpa.enhanced.responder-supports-one-rtr-kind",
         "mpa.enhanced.responder-ird-may-grow-for-rtr", "rdmap.read.zero-length-not-validated"});
  }
  /// RFC 6581 section 9.2: at least one of the kinds offered that the Responder supports, and best all.
  [[nodiscard]] bool names_its_kinds(const EnhancedWords& words) {
    const std::uint32_t common = kinds_of(*sent_words_) & setup_.iut_rtr;
    const std::uint32_t missing = common & ~kinds_of(words);
    if (!is_configured_ || missing == 0) return true;
    if (missing == common)
      return fail("an RTR kind that both sides support", wire::describe(frame()),
                  {"mpa.enhanced.one-matching-rtr-flag-at-least"});
    advise("every RTR kind that both sides support", wire::describe(frame()),
           {"mpa.enhanced.matching-rtr-flags-set"});
    return true;
  }
  [[nodiscard]] bool give_up() {
    line_->peer.send(lower_tester::terminate_message(wire::cause::mpa_no_rtr));
    return false;
  }

  // ---- startups that fail ----

  /// RFC 5044 section 7.1.2: a Request that is malformed, or does not come.
  [[nodiscard]] bool be_closed() {
    if (const auto asked = play_.await<iut::ConnectRequestEvent>()) {
      if (info_of(setup_.fault).end == StartupEnd::closed)
        return fail("no connection request", "one", fault_rules());
      advise("no connection request", "one", fault_rules());
      play_.ask(iut::Reject{asked->request, {}});
      return true;
    }
    // A Responder may say which revision it has (RFC 5044 appendix C.2.1).
    const auto* came = line_->peer.front();
    const auto* reply = came == nullptr ? nullptr : came->as<lower_tester::ReceivedFrame>();
    const bool is_about_revision = setup_.fault == StartupFault::later_revision ||
                                   setup_.fault == StartupFault::revision_zero ||
                                   setup_.fault == StartupFault::enhanced_for_revision_one;
    // Private Data that are not acceptable (docs/disputes.md D61); TCP may stay open then.
    if (reply != nullptr && setup_.fault == StartupFault::short_enhanced_data &&
        reply->frame().flags.reject()) {
      advise("the end of the connection", came->text(), fault_rules());
      static_cast<void>(next());
      return true;
    }
    if (reply != nullptr && is_about_revision) static_cast<void>(next());
    return take_end();
  }

  /// RFC 5044 section 7.1.2 rule 4: the consumer rejects, and nothing follows the Reply.
  [[nodiscard]] bool be_rejected() {
    send_request();
    const auto asked = take_request();
    if (!asked) return false;
    // A reset would discard what has not been read.
    line_->peer.pause_receiving(true);
    play_.ask(iut::Reject{asked->request, own_.private_data});
    play_.wait();
    line_->peer.pause_receiving(false);
    const auto reply = next();
    const auto* received = reply.as<lower_tester::ReceivedFrame>();
    if (received == nullptr || !received->frame().flags.reject())
      return fail("a rejecting Reply", reply.text(), fault_rules());
    const auto data = received->frame().ulp_private_data();
    if (!data.empty() && !std::ranges::equal(data, own_.private_data))
      return fail("the private data of its consumer", reply.text(),
                  {"mpa.private-data.length-field-matches"});
    if (data.size() != own_.private_data.size())
      advise("the private data of its consumer", reply.text(),
             {"mpa.private-data.reject-reply-may-carry"});
    const auto after = next();
    const auto* broken = after.as<lower_tester::Broken>();
    if (broken != nullptr)
      advise("TCP left alone", after.text(), {"mpa.startup.rejecting-responder-keeps-tcp"});
    if (after.as<lower_tester::Nothing>() != nullptr || after.is_end()) return true;
    return fail("nothing after a rejection", after.text(),
                {"mpa.startup.rejecting-responder-exits-mpa", "mpa.enhanced.reject-term-code-six"});
  }

  /// R in a Request means nothing (RFC 5044 section 7.1.1). The tester does not continue: for an IUT
  /// that looks at R, it has rejected.
  [[nodiscard]] bool be_accepted() {
    send_request();
    const auto asked = take_request();
    if (!asked) return false;
    play_.ask(iut::Accept{asked->request, endpoint_, own_});
    if (!take_frame(own_)) return false;
    return frame().flags.reject() ? fail("an accepting Reply", "a rejection", fault_rules()) : true;
  }

  /// A consumer that accepts gets a report that the peer is gone.
  [[nodiscard]] bool be_gone() {
    send_request();
    const auto asked = take_request();
    if (!asked) return false;
    line_->peer.reset();
    play_.wait();
    const iut::Reply reply = play_.ask(iut::Accept{asked->request, endpoint_, own_});
    if (reply.outcome != iut::Outcome::ok || play_.await<iut::ConnectFailedEvent>() ||
        play_.await<iut::DisconnectedEvent>())
      return true;
    return fail("the end of the connection reported", "no report", fault_rules());
  }

  /// RFC 6581 section 9.2: the Reply names a kind even if it is none of those offered.
  [[nodiscard]] bool be_without_rtr() {
    send_request();
    const auto asked = take_request();
    if (!asked) return false;
    play_.ask(iut::Accept{asked->request, endpoint_, own_});
    if (!take_frame(own_)) return false;
    const auto words = frame().enhanced();
    if (!words || !words->peer_to_peer)
      return fail("A echoed", "a Reply without A", {"mpa.enhanced.flag-a-echoed"});
    if (!words->rtr_send && !words->rtr_write && !words->rtr_read)
      return fail("an RTR kind that the Responder supports", "none", fault_rules());
    line_->peer.send(lower_tester::terminate_message(wire::cause::mpa_no_rtr));
    return true;
  }

  std::uint16_t port_ = 0;
};

}  // namespace

std::unique_ptr<Opening> opening_by_tester(Play& play, const StreamSetup& setup,
                                           std::size_t number) {
  return std::make_unique<OpeningByTester>(play, setup, number);
}

}  // namespace suite::sessions
