// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How the streams of a session are established: RFC 5044 section 7.1, RFC 6581 section 9.
#include <fmt/format.h>

#include <algorithm>

#include "suite/lower_tester/content.hpp"
#include "suite/sessions/play.hpp"

namespace suite::sessions {

namespace {

using lower_tester::mpa_reply_to;
using lower_tester::mpa_request;
using rnic::wire::Opcode;

bool is_refused(StartupFault fault) { return fault >= StartupFault::wrong_key; }

/// Rules by which the tester's frame must be accepted although it is odd, or refused.
std::vector<std::string> rules_of(StartupFault fault, bool iut_initiates) {
  const char* checks =
      iut_initiates ? "mpa.startup.initiator-checks-key" : "mpa.startup.responder-checks-key";
  const char* closes =
      iut_initiates ? "mpa.startup.bad-reply-closes-tcp" : "mpa.startup.bad-request-closes-tcp";
  switch (fault) {
    case StartupFault::nothing:
      return {};
    case StartupFault::reserved_bits:
      return {"mpa.startup.reserved-bits-ignored"};
    case StartupFault::in_pieces:
      return {"mpa.startup.responder-waits-for-request", "mpa.startup.initiator-validates-reply"};
    case StartupFault::longest_private_data:
      return {"mpa.private-data.accepts-up-to-512", "mpa.private-data.buffer-large-enough"};
    case StartupFault::wrong_key:
      return {checks, closes};
    case StartupFault::key_of_other_side:
      return {"mpa.startup.double-initiator-detected", checks, closes};
    case StartupFault::revision_zero:
      return {"mpa.startup.revision-checked", closes};
    case StartupFault::oversize_private_data:
      return {"mpa.private-data.oversize-closes", closes};
  }
  return {};
}

class Opening {
 public:
  Opening(Play& play, const StreamSetup& setup, std::size_t number)
      : play_(play),
        setup_(setup),
        endpoint_(static_cast<iut::Handle>(number + 1)),
        line_(std::make_unique<Line>(play.context())) {}

  /// The tester's frame is wrong: no connection is established, and the IUT closes (RFC 5044
  /// section 7.1.2).
  bool be_refused() {
    configure();
    create_endpoint();
    lower_tester::Acceptor acceptor(play_.context(), base::Family::ipv4);
    if (!(setup_.iut_initiates ? answer_connect(acceptor) : send_request())) return false;
    const bool taken = setup_.iut_initiates ? play_.await<iut::EstablishedEvent>().has_value()
                                            : play_.await<iut::ConnectRequestEvent>().has_value();
    if (taken) return fail("a connection", rules_of(setup_.fault, setup_.iut_initiates));
    const auto arrival = line_->peer.next(play_.stage().loop.now());
    if (!arrival.is_end())
      return fail(arrival.text(), rules_of(setup_.fault, setup_.iut_initiates));
    if (setup_.iut_initiates && !play_.await<iut::ConnectFailedEvent>())
      return fail("no report of the failure", {"mpa.startup.initiator-reports-bad-key"});
    line_->peer.reset();
    // No other stream uses what is in its domain.
    play_.ask(iut::DestroyEndpoint{endpoint_});
    return true;
  }

  bool run() {
    configure();
    create_endpoint();
    play_.stage().tester.limit_segments(setup_.emss == 0 ? std::nullopt
                                                         : std::optional<std::size_t>(setup_.emss));
    const bool up = setup_.iut_initiates ? as_responder() : as_initiator();
    if (!up || play_.is_stopped()) return false;
    play_.model().add_stream(terms_);
    play_.lines().push_back(std::move(line_));
    return true;
  }

 private:
  bool fail(const std::string& what, std::vector<std::string> rules) {
    const bool refused = is_refused(setup_.fault);
    const auto odd = rules_of(setup_.fault, setup_.iut_initiates);
    if (!refused) rules.insert(rules.begin(), odd.begin(), odd.end());
    play_.found({.rules = std::move(rules),
                 .admissible = refused ? "the end of the connection" : "the connection comes up",
                 .came = what});
    return false;
  }

  void configure() {
    iut::Configure wanted;
    if (play_.can(iut::capability::configure_revision_1))
      wanted.revision = static_cast<int>(setup_.revision);
    if (play_.can(iut::capability::configure_crc)) wanted.crc = setup_.iut_crc;
    if (play_.can(iut::capability::configure_markers)) wanted.markers = setup_.iut_markers;
    play_.ask(wanted);
  }

  void create_endpoint() {
    if (setup_.own_domain) {
      terms_.domain = endpoint_;
      play_.ask(iut::CreateDomain{terms_.domain});
    }
    iut::CreateEndpoint create;
    create.endpoint = line_->endpoint = terms_.endpoint = endpoint_;
    create.domain = line_->domain = terms_.domain;
    create.send_depth = static_cast<std::uint32_t>(play_.limit("max_send_depth", 64));
    create.receive_depth = static_cast<std::uint32_t>(play_.limit("max_receive_depth", 64));
    create.max_pieces = static_cast<std::uint32_t>(play_.limit("max_pieces", 4));
    play_.ask(create);
  }

  [[nodiscard]] iut::ConnectParameters parameters() const {
    iut::ConnectParameters parameters;
    parameters.ird = static_cast<int>(play_.limit("max_ird", setup_.ird));
    parameters.ord = static_cast<int>(play_.limit("max_ord", setup_.ord));
    parameters.private_data = iut_data();
    return parameters;
  }
  [[nodiscard]] Octets iut_data() const {
    const auto most = static_cast<std::uint32_t>(play_.limit("max_private_data", 64));
    return lower_tester::PayloadGenerator(endpoint_).octets(std::min(setup_.private_data, most));
  }
  [[nodiscard]] Octets peer_data() const {
    constexpr std::size_t most = rnic::wire::mpa_max_private_data;
    const std::size_t words = is_enhanced() ? sizeof(rnic::wire::EnhancedWords) : 0;
    std::size_t length = setup_.private_data;
    if (setup_.fault == StartupFault::longest_private_data) length = most - words;
    if (setup_.fault == StartupFault::oversize_private_data) length = most + 1 - words;
    return lower_tester::PayloadGenerator(endpoint_ + 100U).octets(length);
  }
  /// The tester's frame has the words of RFC 6581.
  [[nodiscard]] bool is_enhanced() const {
    if (setup_.iut_initiates) return line_->peer.received_frame()->frame().enhanced().has_value();
    return setup_.revision > 1 && play_.can(iut::capability::enhanced_startup);
  }

  void send_frame(lower_tester::StartupFrame frame) {
    using rnic::wire::MpaFrameKind;
    const bool request = frame.kind == MpaFrameKind::request;
    if (setup_.fault == StartupFault::reserved_bits)
      frame = frame.with_flag(rnic::wire::MpaFlags::reserved_mask);
    if (setup_.fault == StartupFault::revision_zero) frame = frame.with_revision(0);
    if (setup_.fault == StartupFault::wrong_key) frame = frame.with_key("MPA ID Rex Frame");
    if (setup_.fault == StartupFault::key_of_other_side)
      frame.key = rnic::wire::mpa_key(request ? MpaFrameKind::reply : MpaFrameKind::request);
    constexpr std::size_t piece = 7;
    line_->peer.send(frame, setup_.fault == StartupFault::in_pieces
                                ? lower_tester::Cut::every(piece)
                                : lower_tester::Cut::whole());
  }

  /// The IUT's consumer listens, and the tester sends its Request.
  bool send_request() {
    const iut::Reply listening =
        play_.ask(iut::Listen{.listener = endpoint_, .address = play_.stage().iut_address.host()});
    if (!listening.port) return fail("no listening port: " + listening.error, {});
    if (const auto done = line_->peer.connect(play_.stage().iut_address.with_port(*listening.port));
        !done)
      return fail(done.error(), {"mpa.startup.acceptable-request-accepted"});
    send_frame(request());
    return true;
  }

  /// The tester is MPA Initiator.
  bool as_initiator() {
    if (!send_request()) return false;
    const auto asked = play_.await<iut::ConnectRequestEvent>();
    if (!asked)
      return fail(
          "no connection request",
          {"mpa.startup.acceptable-request-accepted", "mpa.startup.responder-waits-for-request",
           "mpa.private-data.passed-to-ulp", "mpa.enhanced.revision-one-still-accepted"});
    if (!same_data(asked->private_data, peer_data()))
      return fail("other private data",
                  {"mpa.private-data.passed-to-ulp", "mpa.private-data.zero-length-means-absent",
                   "mpa.private-data.no-more-than-length-or-buffer",
                   "mpa.enhanced.s-zero-means-plain-frame"});
    const iut::ConnectParameters own = parameters();
    play_.ask(iut::Accept{asked->request, endpoint_, own});
    if (!play_.await<iut::EstablishedEvent>())
      return fail("no established event", {"mpa.startup.accepted-initiator-enters-full-operation"});
    return take_frame(own) && take_terms(own, true);
  }

  [[nodiscard]] lower_tester::StartupFrame request() const {
    auto request = mpa_request()
                       .with_crc(setup_.peer_crc)
                       .with_markers(setup_.peer_markers)
                       .with_private_data(peer_data());
    if (!is_enhanced()) return request;
    // What the IUT serves is what we issue, and vice versa.
    return request.with_enhanced({.ird = static_cast<std::uint16_t>(setup_.ord),
                                  .ord = static_cast<std::uint16_t>(setup_.ird)});
  }

  /// The IUT connects, and the tester answers its Request.
  bool answer_connect(lower_tester::Acceptor& acceptor) {
    if (!acceptor.error().empty()) return fail(acceptor.error(), {});
    const iut::ConnectParameters own = parameters();
    const base::Address address = acceptor.address();
    play_.ask(iut::Connect{
        .endpoint = endpoint_, .address = address.host(), .port = address.port, .parameters = own});
    auto connection = acceptor.next(play_.stage().loop.now() + play_.stage().patience);
    if (!connection) return fail("no connection of the IUT", {});
    line_->peer.adopt(std::move(connection));
    if (!take_frame(own)) return false;
    const auto theirs = line_->peer.received_frame()->frame();
    auto reply = mpa_reply_to(theirs)
                     .with_crc(setup_.peer_crc)
                     .with_markers(setup_.peer_markers)
                     .with_private_data(peer_data());
    send_frame(std::move(reply));
    return true;
  }

  /// The tester is MPA Responder.
  bool as_responder() {
    lower_tester::Acceptor acceptor(play_.context(), base::Family::ipv4);
    if (!answer_connect(acceptor)) return false;
    const iut::ConnectParameters own = parameters();
    const auto theirs = line_->peer.received_frame()->frame();
    const auto up = play_.await<iut::EstablishedEvent>();
    if (!up)
      return fail("no established event", {"mpa.startup.accepted-initiator-enters-full-operation",
                                           "mpa.startup.initiator-validates-reply"});
    if (!same_data(up->private_data, peer_data()))
      return fail("other private data",
                  {"mpa.private-data.passed-to-ulp", "mpa.private-data.zero-length-means-absent"});
    return take_terms(own, false) && take_first_message(theirs);
  }

  /// Zeros at the end do not count: verbs report a buffer of fixed size.
  static bool same_data(const Octets& seen, const Octets& wanted) {
    if (seen.size() < wanted.size() || !std::equal(wanted.begin(), wanted.end(), seen.begin()))
      return false;
    return std::all_of(seen.begin() + static_cast<std::ptrdiff_t>(wanted.size()), seen.end(),
                       [](std::byte octet) { return octet == std::byte{0}; });
  }

  /// The IUT's startup frame, with the private data of its consumer.
  bool take_frame(const iut::ConnectParameters& own) {
    const auto arrival = line_->peer.next(play_.stage().loop.now() + play_.stage().patience);
    const auto* frame = arrival.as<lower_tester::ReceivedFrame>();
    if (frame == nullptr)
      return fail(arrival.text() + " instead of a startup frame",
                  {"mpa.startup.acceptable-request-accepted", "mpa.startup.frames-time-out"});
    const auto data = frame->frame().ulp_private_data();
    if (!std::ranges::equal(data, own.private_data))
      return fail("other private data of its consumer", {"mpa.private-data.passed-to-ulp"});
    return true;
  }

  bool take_terms(const iut::ConnectParameters& own, bool responder) {
    const auto theirs = line_->peer.received_frame()->frame();
    if (!line_->peer.in_rdma_mode())
      return fail("a rejection", {"mpa.startup.acceptable-request-accepted"});
    terms_.responder = responder;
    terms_.crc = line_->peer.sending().crc;
    terms_.ird = static_cast<std::uint32_t>(own.ird.value_or(0));
    terms_.ord = static_cast<std::uint32_t>(own.ord.value_or(0));
    // RFC 6581 section 9.1: the values of the frames apply, unless they leave the depth to the ULP.
    if (const auto words = theirs.enhanced()) {
      if (words->ird != rnic::wire::read_depth_unnegotiated) terms_.ird = words->ird;
      if (words->ord != rnic::wire::read_depth_unnegotiated) terms_.ord = words->ord;
    }
    return true;
  }

  /// The Initiator sends first: the RTR indication, or what its consumer posts (RFC 5044 section
  /// 7.1.2, RFC 6581 section 9.2).
  bool take_first_message(const rnic::wire::MpaFrame& request) {
    const auto words = request.enhanced();
    if (!words || !words->peer_to_peer) {
      iut::PostWork first;
      first.endpoint = endpoint_;
      first.work = play_.next_work();
      first.operation = iut::operation::write;
      first.remote_stag = 1;
      play_.ask(first);
    }
    const auto arrival = line_->peer.next(play_.stage().loop.now() + play_.stage().patience);
    const auto* message = arrival.as<lower_tester::Message>();
    if (message == nullptr)
      return fail(arrival.text() + " instead of its first message",
                  {"mpa.enhanced.rtr-sent-after-accept"});
    if (const auto read = message->read_request())
      line_->peer.send(lower_tester::read_response(read->sink_stag, read->sink_offset, {}));
    if (!words || !words->peer_to_peer) {
      const auto done = play_.await<iut::CompletionEvent>();
      if (!done || done->status != "success")
        return fail("no completion of its first message", {"rdmap.order.completion-after-ddp"});
    }
    return true;
  }

  Play& play_;
  const StreamSetup& setup_;
  iut::Handle endpoint_;
  model::StreamTerms terms_;
  std::unique_ptr<Line> line_;
};

}  // namespace

bool open_stream(Play& play, const StreamSetup& setup) {
  const std::size_t number = play.lines().size();
  if (!is_refused(setup.fault)) return Opening(play, setup, number).run();
  // After a refusal everything works as usual.
  constexpr std::size_t others = 64;
  if (!Opening(play, setup, number + others).be_refused()) return false;
  StreamSetup usual = setup;
  usual.fault = StartupFault::nothing;
  return Opening(play, usual, number).run();
}

}  // namespace suite::sessions
