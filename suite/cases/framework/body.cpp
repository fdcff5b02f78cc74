// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/framework/body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "reference_rnic/wire/fpdu.hpp"
#include "reference_rnic/wire/notation.hpp"
#include "suite/cases/framework/verdict.hpp"

namespace suite::cases {

namespace {

constexpr std::uint32_t probe_sink_stag = 0x50524F42;
constexpr std::uint64_t probe_sink_offset = 0x1000;
constexpr std::size_t probe_length = 8;
constexpr int default_depth = 4;  ///< IRD and ORD where a case does not care
constexpr std::size_t stalled_window = 64 * 1024;
constexpr std::size_t much = 1024 * 1024;
constexpr int shortening = 10;         ///< how much less time the rows behind a lost one get
constexpr std::byte usual_fill{0xA5};  ///< of Consumer::register_memory()

/// The first place where two contents differ, for people.
std::string difference(const Octets& wanted, const Octets& seen) {
  const auto [a, b] = std::ranges::mismatch(wanted, seen);
  if (a == wanted.end() || b == seen.end())
    return wanted.size() == seen.size()
               ? "as wanted"
               : fmt::format("has {} octets in place of {}", seen.size(), wanted.size());
  const auto at = static_cast<std::size_t>(a - wanted.begin());
  return fmt::format("differs from octet {} on: {} in place of {}", at,
                     rnic::wire::hex(rnic::wire::Bytes(seen).subspan(at), 16),
                     rnic::wire::hex(rnic::wire::Bytes(wanted).subspan(at), 16));
}

}  // namespace

// ---------------------------------------------------------------- the lazily connected peer

void CasePeer::send_together(const std::vector<Outgoing>& messages, const Cut& cut) {
  std::vector<Fpdu> all;
  for (const Outgoing& message : messages)
    for (Fpdu& fpdu : ready().prepare(message)) all.push_back(std::move(fpdu));
  peer_->send(all, cut);
}

void CasePeer::connect() {
  if (const auto done = peer_->connect(body_.iut_address()); !done)
    body_.not_established(done.error());
}

Octets CasePeer::send_all_but_the_crc(const Fpdu& fpdu) {
  Peer& peer = ready();
  const Octets octets = encode(fpdu, peer.sending());
  const std::size_t most = octets.size() - rnic::wire::fpdu_crc_size;
  peer.means_to_send(fpdu.ulpdu);
  peer.send_octets(rnic::wire::Bytes(octets).first(most));
  return part_of(octets, most, rnic::wire::fpdu_crc_size);
}

bool CasePeer::ended_by_iut() {
  if (ended_by_us_ || !peer_->was_opened()) return false;
  while (true) {
    Arrival arrival = peer_->next(context_.loop.now());
    if (arrival.as<Nothing>() != nullptr) return false;
    if (!arrival.is_end()) continue;
    peer_->put_back(std::move(arrival));
    return true;
  }
}

void CasePeer::stall() {
  ready().set_receive_buffer(stalled_window);
  peer_->pause_receiving(true);
}

void CasePeer::resume() { peer_->pause_receiving(false); }

Octets much_data() { return Octets(much, usual_fill); }

Peer& CasePeer::ready() {
  // As MPA initiator we may send at once; an IUT in that role has to go first.
  if (!peer_->was_opened()) body_.establish({.opening = !body_.iut_is_responder()});
  return *peer_;
}

// ---------------------------------------------------------------- establishing

Body::Body(const Case& a_case, Environment& environment, Context& context, CaseOutcome& outcome)
    : iut(environment.iut, context),
      peer(*this, context),
      case_(a_case),
      environment_(environment),
      context_(context),
      outcome_(outcome) {
  start_deadline();
}

Body::~Body() {
  context_.network.limit_segments({});
  context_.network.use_usual_address();
}

void Body::limit_segments(std::size_t octets) { context_.network.limit_segments(octets); }

void Body::use_spare_address() {
  if (!context_.network.use_spare_address())
    stop(Verdict::not_applicable, "the tester has no address to spare");
}

void Body::start_deadline() {
  const auto scaled = std::chrono::duration_cast<std::chrono::nanoseconds>(
      case_.deadline * environment_.deadline_scale);
  context_.deadline =
      context_.loop.now() + (shortened_since_.empty() ? scaled : scaled / shortening);
  iut.answer_by(context_.loop.now() + scaled);
}

void Body::finish_judging() {
  for (const auto& other : others_) other->finish_judging();
  if (partner_) partner_->finish_judging();
  peer.raw().finish_judging();
}

void Body::close_connections() {
  others_.clear();
  partner_.reset();
  acceptor_.reset();  // an attempt that the IUT repeats finds nobody
  peer.renew();
}

Judgement Body::weighed_when_shortened(Judgement judgement) const {
  const bool late = !shortened_since_.empty() && time_is_up();
  return judgement == Judgement::fail && late ? Judgement::inconclusive : judgement;
}

base::Address Body::iut_address() {
  return iut.listen(case_.family, case_.family == base::Family::ipv4 ? environment_.iut_ipv4
                                                                     : environment_.iut_ipv6);
}

Peer& Body::another_peer() {
  others_.push_back(std::make_unique<Peer>(context_));
  return *others_.back();
}

void Body::establish(Peer& which, const Establish& options) {
  Establish filled = options;
  const auto usual = [&](const char* name) {
    return static_cast<int>(within_limit(iut.limits(), name, default_depth));
  };
  if (!filled.parameters.ird) filled.parameters.ird = usual("max_ird");
  if (!filled.parameters.ord) filled.parameters.ord = usual("max_ord");
  const iut::Handle endpoint = options.endpoint != 0 ? options.endpoint : iut.endpoint();
  establishing_by_ = options.judged_by;
  if (case_.role == Role::responder)
    establish_responder(which, filled, endpoint);
  else
    establish_initiator(which, filled, endpoint);
  if (!options.judged_by.id.empty())
    record(options.judged_by, {"the connection comes up"}, "it came up", {}, Judgement::pass,
           Direction::none);
  establishing_by_ = {};
}

void Body::not_established(const std::string& why) {
  if (!establishing_by_.id.empty())
    record(establishing_by_, {"the connection comes up"}, why, {}, failure_of(establishing_by_),
           Direction::none);
  throw CaseStop{Verdict::inconclusive, "the connection could not be established: " + why};
}

/// What establishing needs to come; a peer that answers
/// otherwise leaves the case without its object.
Arrival Body::need(WireEnd& from, const Expected& expected, const char* what) {
  Arrival arrival = from.next(deadline());
  iut.poll();
  if (expected.judge(arrival) == Judgement::fail)
    not_established(fmt::format("{} in place of {}", arrival.text(), what));
  return arrival;
}

void Body::establish_responder(Peer& which, const Establish& options, iut::Handle endpoint) {
  if (const auto done = which.connect(iut_address()); !done) not_established(done.error());
  which.send(options.request.value_or(mpa_request().with_crc(case_.configuration.crc)));
  const auto request = iut.take<iut::ConnectRequestEvent>(deadline());
  if (!request)
    not_established("the IUT's API shows no connection request; on the wire: " +
                    which.next(context_.loop.now()).text());
  iut.accept(request->request, endpoint, options.parameters);
  need(which, accepting_reply(), "an accepting Reply");
  if (options.opening) open_as_initiator(which);
}

void Body::establish_initiator(Peer& which, const Establish& options, iut::Handle endpoint) {
  if (!acceptor_) acceptor_ = std::make_unique<Acceptor>(context_, case_.family);
  if (!acceptor_->error().empty()) stop(Verdict::error, acceptor_->error());
  iut.connect(endpoint, acceptor_->address(), options.parameters);
  auto connection = acceptor_->next(deadline());
  if (!connection) not_established("the IUT does not connect; " + iut.untaken());
  which.adopt(std::move(connection));
  need(which, mpa_frame(), "an MPA Request");
  const auto request = which.received_frame()->frame();
  const lower_tester::StartupFrame reply =
      options.reply ? options.reply(request)
                    : mpa_reply_to(request).with_crc(case_.configuration.crc);
  which.send(reply);
  if (!which.in_rdma_mode()) return;
  // Cases of the peer-to-peer model that answer for themselves look at the indication as well.
  const bool agreed = reply.enhanced && reply.enhanced->peer_to_peer;
  if (agreed && !(options.reply && case_.configuration.peer_to_peer)) take_rtr(which);
  if (!iut.take<iut::EstablishedEvent>(deadline()))
    not_established("no established event; " + iut.untaken());
  const auto words = request.enhanced();
  if (!options.opening || (words && words->peer_to_peer)) return;
  // A responder may not send before it has received
  // (RFC 5044 section 7.1.2), so the IUT goes first.
  static_cast<void>(iut.post_send(octets("open"), operation::send,
                                  [&](iut::PostWork& work) { work.endpoint = endpoint; }));
  need(which, message(Opcode::send), "the IUT's first message");
}

StreamPeer& Body::connect_partner(const Partner& terms) {
  StreamPeerTerms own;
  own.deviations = terms.deviations;
  const bool initiator = iut_is_responder();
  own.config.revision = initiator ? terms.revision : 2;
  own.config.enhanced = terms.revision > 1;
  own.config.markers = terms.markers;
  own.config.crc = terms.crc.value_or(case_.configuration.crc);
  own.config.peer_to_peer = initiator && terms.peer_to_peer.has_value();
  if (terms.peer_to_peer) own.config.rtr = *terms.peer_to_peer;
  own.config.ird = own.config.ord = terms.depth;
  partner_ = std::make_unique<StreamPeer>(context_, std::move(own));
  establishing_by_ = terms.judged_by;
  const iut::Handle endpoint = terms.endpoint != 0 ? terms.endpoint : iut.endpoint();
  iut::ConnectParameters parameters;
  parameters.ird = parameters.ord = terms.depth;
  if (initiator)
    connect_to_responder(endpoint, parameters);
  else
    let_initiator_connect(endpoint, parameters);
  if (const auto up = partner_->await_established(); !up) not_established(up.error());
  if (!terms.judged_by.id.empty())
    record(terms.judged_by, {"the connection comes up"}, "it came up", {}, Judgement::pass,
           Direction::none);
  establishing_by_ = {};
  open_partner();
  return *partner_;
}

void Body::connect_to_responder(iut::Handle endpoint, const iut::ConnectParameters& parameters) {
  if (const auto done = partner_->connect(iut_address()); !done) not_established(done.error());
  const auto request = iut.take<iut::ConnectRequestEvent>(deadline());
  if (!request)
    not_established("the IUT's API shows no connection request; our stream: " +
                    partner_->trouble());
  iut.accept(request->request, endpoint, parameters);
}

void Body::let_initiator_connect(iut::Handle endpoint, const iut::ConnectParameters& parameters) {
  if (!acceptor_) acceptor_ = std::make_unique<Acceptor>(context_, case_.family);
  if (!acceptor_->error().empty()) stop(Verdict::error, acceptor_->error());
  iut.connect(endpoint, acceptor_->address(), parameters);
  auto connection = acceptor_->next(deadline());
  if (!connection) not_established("the IUT does not connect; " + iut.untaken());
  partner_->adopt(std::move(connection));
  if (!iut.take<iut::EstablishedEvent>(deadline()))
    not_established("no established event; " + iut.untaken());
}

/// The first FPDU, which the MPA initiator has to send, by an empty Write. In the peer-to-peer
/// model the RTR indication was it.
void Body::open_partner() {
  if (iut_is_responder()) {
    const Region target = iut.register_memory(1, access::remote_write);
    partner_->write({}, target.stag, target.base);
  } else if (const auto words = partner_->received_frame()->frame().enhanced();
             !words || !words->peer_to_peer) {
    const TesterBuffer& target = partner_->add_buffer(Octets(1));
    const Work opening = iut.post_write({}, target.stag, target.base);
    need(*partner_, mpa_frame(), "an MPA Request");
    need(*partner_, message(Opcode::rdma_write), "the IUT's first Write");
    if (!iut.take(completion_of(opening).matches, deadline()))
      not_established("the IUT's first Write does not complete; " + iut.untaken());
  }
  partner_->skip_arrivals();
}

/// In the peer-to-peer model the initiator's first FPDU
/// is the RTR indication (RFC 6581 section 9.2).
void Body::take_rtr(Peer& which) {
  const Arrival arrival = need(
      which, message(Opcode::send) | message(Opcode::rdma_write) | message(Opcode::read_request),
      "an RTR indication");
  const auto read = arrival.as<Message>()->read_request();
  if (read) which.send(read_response(read->sink_stag, read->sink_offset, {}));
}

/// The first FPDU, which frees a Responder to send, and which its consumer does not see.
void Body::open_as_initiator(Peer& which) {
  const Region target = iut.register_memory(1, access::remote_write);
  which.send(rdma_write(target.stag, target.base, {}));
}

void Body::let_iut_send() {
  if (!peer.raw().was_opened()) establish();
  if (iut_is_responder()) open_as_initiator(peer.raw());
}

void Body::see_iut_send() {
  let_iut_send();
  static_cast<void>(iut.post_send(octets("open")));
  need(peer.raw(), message(Opcode::send), "the IUT's first message");
}

void Body::let_iut_connect(const iut::ConnectParameters& parameters) {
  if (!acceptor_) acceptor_ = std::make_unique<Acceptor>(context_, case_.family);
  if (!acceptor_->error().empty()) stop(Verdict::error, acceptor_->error());
  iut.connect(iut.endpoint(), acceptor_->address(), parameters);
  auto connection = acceptor_->next(deadline());
  if (!connection) not_established("the IUT does not connect; " + iut.untaken());
  peer.raw().adopt(std::move(connection));
}

// ---------------------------------------------------------------- judging

std::string_view Body::rule_of(const RuleRef& rule) const {
  return rule.id.empty() ? case_.rules.front() : rule.id;
}

const ExpectationRecord& Body::add_record(const RuleRef& rule, std::vector<std::string> admissible,
                                          std::string actual, std::string hex, Judgement judgement,
                                          Direction direction) {
  outcome_.expectations.push_back({std::string(rule_of(rule)), row_, std::move(admissible),
                                   std::move(actual), std::move(hex), judgement, direction,
                                   context_.now()});
  return outcome_.expectations.back();
}

Judgement Body::failure_of(const RuleRef& rule) const {
  const auto* known = ::rules::find(rule_of(rule));
  const bool should = known != nullptr && known->level == ::rules::Level::should;
  return should ? Judgement::advisory : Judgement::fail;
}

void Body::record(const RuleRef& rule, std::vector<std::string> admissible, std::string actual,
                  std::string hex, Judgement judgement, Direction direction) {
  const bool broken = judgement == Judgement::fail;
  const Judgement by_level = broken ? failure_of(rule) : judgement;
  const ExpectationRecord& made =
      add_record(rule, std::move(admissible), std::move(actual), std::move(hex),
                 weighed_when_shortened(weighed(by_level, environment_.strict)), direction);
  if (made.judgement == Judgement::fail) throw CaseStop{Verdict::fail, failure_text(made)};
  if (broken && made.judgement == Judgement::advisory) throw CaseStop{Verdict::pass, ""};
  if (made.judgement == Judgement::inconclusive)
    throw CaseStop{Verdict::inconclusive, fmt::format("{}: {}", made.rule, made.actual)};
}

void Body::fail(const RuleRef& rule, std::string admissible, std::string actual) {
  record(rule, {std::move(admissible)}, std::move(actual), {}, Judgement::fail, Direction::none);
  std::unreachable();
}

void Body::note_fault(const SenderFault& fault) {
  // Of the rules that one fault breaks the record names one that the case is about, if there is one.
  const auto is_aim = [this](std::string_view rule) {
    return std::ranges::find(case_.rules, rule) != case_.rules.end();
  };
  const auto other = std::ranges::find_if(fault.also, is_aim, &::rules::RuleId::id);
  const std::string_view id =
      is_aim(fault.rule) || other == fault.also.end() ? fault.rule : other->id;
  // One record per rule and row is enough: a wrong sender is wrong in every segment.
  if (!faults_noted_.insert(row_ + "/" + std::string(id)).second) return;
  const auto* rule = ::rules::find(id);
  const bool must = rule == nullptr || rule->level == ::rules::Level::must;
  outcome_.expectations.push_back(
      {std::string(id),
       row_,
       {fault.expected},
       fault.actual,
       fault.hex,
       must ? Judgement::fail : weighed(Judgement::advisory, environment_.strict),
       Direction::from_iut,
       context_.now(),
       fault.place});
}

Arrival Body::expect(WireEnd& from, const Expected& expected, RuleRef rule) {
  const bool quiet = expected.accepts_silence();
  return expect_until(quiet ? context_.loop.now() + environment_.quiet_window : deadline(), from,
                      expected, rule);
}

Arrival Body::expect_by_deadline(WireEnd& from, const Expected& expected, RuleRef rule) {
  return expect_until(deadline(), from, expected, rule);
}

Arrival Body::expect_until(base::TimePoint until, WireEnd& from, const Expected& expected,
                           const RuleRef& rule) {
  Arrival arrival = from.next(until);
  const Judgement judgement = expected.judge(arrival);
  if (arrival.message(Opcode::terminate) != nullptr) terminate_seen_ = true;
  // An IUT that died explains more than its silence.
  if (judgement == Judgement::fail || environment_.iut.is_gone()) iut.poll();
  record(rule, expected.admissible(), arrival.text(), arrival.hex(), judgement,
         Direction::from_iut);
  return arrival;
}

Arrival Body::expect(CasePeer& from, const Expected& expected, ThenClose, RuleRef rule) {
  Arrival arrival = expect(from, expected, rule);
  if (!arrival.is_end()) expect_teardown(from.raw());
  return arrival;
}

void Body::expect_rejection(WireEnd& from, std::initializer_list<rnic::wire::TerminateCause> causes,
                            RuleRef check, RuleRef code,
                            std::initializer_list<rnic::wire::TerminateCause> tolerated) {
  const std::vector<rnic::wire::TerminateCause> all = [&] {
    std::vector<rnic::wire::TerminateCause> list(causes);
    list.insert(list.end(), tolerated);
    return list;
  }();
  const Expected of_the_layer("a Terminate of the right layer", [&](const Arrival& arrival) {
    const auto terminate = arrival.terminate();
    return terminate && std::ranges::any_of(all, [&](const auto& cause) {
             return cause.layer == terminate->cause.layer;
           });
  });
  const Arrival arrival = expect(from, of_the_layer | torn_down(), check);
  if (arrival.is_end()) {
    record("rdmap.terminate.sent-on-rdmap-error", {"a Terminate"}, arrival.text(), {},
           Judgement::advisory, Direction::from_iut);
    return;
  }
  const Expected right = only_terminate(causes) | advisory(only_terminate(tolerated));
  record(code, right.admissible(), rnic::wire::describe(*arrival.terminate()), arrival.hex(),
         right.judge(arrival), Direction::from_iut);
  expect_teardown(from);
}

void Body::expect_no_buffer(const Octets& data, RuleRef check, RuleRef code) {
  Arrival arrival = peer.ready().next(context_.loop.now() + environment_.quiet_window);
  if (arrival.as<Nothing>() != nullptr) {
    const Work receive = iut.post_receive(static_cast<std::uint32_t>(data.size()));
    const auto event = iut.take(completion_of(receive).matches, deadline());
    if (event && success_of(receive).matches(*event))
      return expect(receive.buffer, holds(data), check);
  } else {
    peer.raw().put_back(std::move(arrival));
  }
  expect_rejection({cause::ddp_untagged_no_buffer}, check, code);
}

Arrival Body::expect_unless_dropped(const Expected& expected, RuleRef rule) {
  Peer& from = peer.ready();
  Arrival arrival = from.next(context_.loop.now() + environment_.quiet_window);
  const bool silent = arrival.as<Nothing>() != nullptr;
  if (silent && from.is_open() && from.connection().unacknowledged() > 0) {
    unanswering_ = true;
    record(rule, expected.admissible(), "nothing, and no acknowledgement", {}, Judgement::pass,
           Direction::from_iut);
    return arrival;
  }
  if (!silent) from.put_back(std::move(arrival));
  return expect_by_deadline(from, expected, rule);
}

void Body::watch(WireEnd& which) {
  const auto until = context_.loop.now() + environment_.quiet_window;
  while (true) {
    Arrival arrival = which.next(until);
    if (arrival.message(Opcode::terminate) != nullptr) terminate_seen_ = true;
    if (arrival.as<Nothing>() != nullptr) return;
    if (arrival.is_end()) return which.put_back(std::move(arrival));
  }
}

bool Body::expect_much(Opcode opcode, RuleRef rule) {
  const Expected part("its beginning", [opcode](const Arrival& arrival) {
    const Message* message = arrival.as<Message>();
    return message != nullptr && message->cut_off && message->opcode() == opcode;
  });
  const Arrival arrival = expect(
      peer, message(opcode, much_data()) | advisory(part | any_terminate() | torn_down()), rule);
  return arrival.message(opcode) != nullptr;
}

void Body::expect_teardown(WireEnd& from) {
  // An IUT may wait for our FIN before it sends its own.
  Arrival arrival = from.next(context_.loop.now() + environment_.quiet_window);
  if (arrival.as<Nothing>() != nullptr) {
    from.half_close();
    arrival = from.next(deadline());
  }
  if (!arrival.is_end()) iut.poll();
  record("rdmap.stream.connection-torn-down", torn_down().admissible(), arrival.text(),
         arrival.hex(), torn_down().judge(arrival), Direction::from_iut);
  const Expected graceful = fin() | advisory(torn_down());
  record("rdmap.terminate.graceful-llp-teardown", graceful.admissible(), arrival.text(), {},
         graceful.judge(arrival), Direction::from_iut);
}

void Body::expect_end_by_terminate(RuleRef rule) {
  Peer& from = peer.ready();
  const Arrival arrival = from.next(context_.loop.now() + environment_.quiet_window);
  if (arrival.as<Nothing>() == nullptr) {
    record(rule, torn_down().admissible(), arrival.text(), arrival.hex(),
           torn_down().judge(arrival), Direction::from_iut);
    return;
  }
  const auto told = iut.take((asynchronous_error() | disconnected()).matches, deadline());
  record(rule, {"the connection torn down, or the consumer told"},
         told ? describe(*told) : "neither; " + iut.untaken(), {},
         told ? Judgement::pass : Judgement::fail, Direction::none);
  expect_teardown(from);
}

void Body::expect_around(const std::vector<Expected>& messages, const std::function<void()>& answer,
                         RuleRef rule) {
  Peer& from = peer.ready();
  bool answered = false;
  for (const Expected& expected : messages) {
    if (!answered) {
      Arrival arrival = from.next(context_.loop.now() + environment_.quiet_window);
      if (arrival.as<Nothing>() != nullptr) {
        answered = true;
        answer();
      } else {
        from.put_back(std::move(arrival));
      }
    }
    expect_by_deadline(from, expected, rule);
  }
  if (!answered) answer();
}

Message Body::expect_message(Opcode opcode, RuleRef rule) {
  const Arrival arrival = expect(peer, message(opcode), rule);
  return *arrival.message(opcode);
}

iut::CompletionEvent Body::expect(const Work& work, const ExpectedCompletion& expected,
                                  RuleRef rule) {
  const auto event = iut.take(completion_of(work).matches, deadline());
  if (!event) fail(rule, expected.text(), "no completion; " + iut.untaken());
  const auto& completion = std::get<iut::CompletionEvent>(*event);
  expect_that(expected.matches(completion), expected.text(), describe(*event), rule);
  return completion;
}

void Body::expect_refused_or(const iut::Reply& reply, const Work& work,
                             const ExpectedCompletion& expected, RuleRef rule) {
  const bool refused = reply.outcome != iut::Outcome::ok;
  const auto event =
      refused ? std::nullopt : iut.take(completion_of(work).matches, context_.deadline);
  const bool right = event && expected.matches(std::get<iut::CompletionEvent>(*event));
  record(rule, {"refused", expected.text()},
         refused ? "refused: " + reply.error
         : event ? describe(*event)
                 : "no completion; " + iut.untaken(),
         {}, refused || right ? Judgement::pass : Judgement::fail, Direction::none);
}

void Body::expect_in_order(const std::vector<Work>& works, RuleRef rule) {
  const auto is_one = [&](const iut::Event& event) {
    const auto* found = std::get_if<iut::CompletionEvent>(&event);
    return found != nullptr && std::ranges::find(works, found->work, &Work::id) != works.end();
  };
  for (const Work& work : works) {
    const auto event = iut.take(is_one, deadline());
    const bool right = event && std::get<iut::CompletionEvent>(*event).work == work.id &&
                       success_of(work).matches(*event);
    record(rule, {success_of(work).text},
           event ? describe(*event) : "no completion; " + iut.untaken(), {},
           right ? Judgement::pass : Judgement::fail, Direction::none);
  }
}

iut::Event Body::expect(Consumer& of, const ExpectedEvent& expected, RuleRef rule) {
  const auto either = [&](const iut::Event& event) {
    return expected.matches(event) || (expected.tolerated && expected.tolerated(event));
  };
  auto event = of.take(either, deadline());
  if (!event) fail(rule, expected.text, of.untaken());
  Judgement judgement = Judgement::pass;
  if (!expected.matches(*event)) {
    // What is wanted may still be on its way.
    const auto better = of.take(expected.matches, context_.loop.now() + environment_.quiet_window);
    if (better) event = better;
    if (!better) judgement = Judgement::advisory;
  }
  record(rule, {expected.text}, describe(*event), {}, judgement, Direction::none);
  return *event;
}

void Body::expect_none(const ExpectedEvent& unwanted, RuleRef rule) {
  const bool can = can_ask();
  if (can) settle(rule);
  const auto until =
      context_.loop.now() + (can ? std::chrono::nanoseconds{} : environment_.quiet_window);
  const auto event = iut.take(unwanted.matches, until);
  record(rule, {"no event such as " + unwanted.text}, event ? describe(*event) : "none", {},
         event ? Judgement::fail : Judgement::pass, Direction::none);
}

void Body::expect(const Region& region, const ExpectedContents& expected, RuleRef rule) {
  if (can_ask()) {
    settle(rule);
  } else if (peer.raw().is_open() && peer.raw().within_message()) {
    watch();
  }
  const Octets wanted = expected.wanted(region), seen = iut.read_memory(region);
  record(rule, {expected.text},
         wanted == seen ? expected.text : "memory " + difference(wanted, seen), {},
         wanted == seen ? Judgement::pass : Judgement::fail, Direction::none);
}

void Body::expect_that(bool holds, std::string admissible, std::string actual, RuleRef rule) {
  record(rule, {std::move(admissible)}, std::move(actual), {},
         holds ? Judgement::pass : failure_of(rule), Direction::none);
}

void Body::advise_that(bool holds, std::string admissible, std::string actual, RuleRef rule) {
  record(rule, {std::move(admissible)}, std::move(actual), {},
         holds ? Judgement::pass : Judgement::advisory, Direction::none);
}

rnic::stream::WorkDone Body::expect_done(StreamPeer& partner, std::uint64_t work, RuleRef rule) {
  const auto end = partner.done(work);
  const bool right = end && end->status == rnic::stream::WorkStatus::success;
  const std::string why = partner.trouble().empty() ? "" : "; " + partner.trouble();
  if (!right) iut.poll();
  record(rule, {fmt::format("the tester's work {} carried out", work)},
         end ? fmt::format("{}{}", rnic::stream::name(end->status), why) : "no end of it" + why, {},
         right ? Judgement::pass : Judgement::fail, Direction::from_iut);
  return *end;
}

StreamPeer::Received Body::expect_received(StreamPeer& partner, const Octets& data, RuleRef rule) {
  auto message = partner.received();
  if (!message) iut.poll();
  const bool right = message && message->octets == data;
  record(rule, {"a message of " + digest(data)},
         !message ? "no message; " + partner.trouble()
         : right  ? "a message of " + digest(message->octets)
                  : "a message of " + digest(message->octets) + ", which " +
                       difference(data, message->octets),
         {}, right ? Judgement::pass : Judgement::fail, Direction::from_iut);
  return *message;
}

void Body::expect_buffer(const TesterBuffer& buffer, const Octets& wanted, RuleRef rule) {
  const bool right = buffer.octets == wanted;
  record(rule, {"the tester's buffer holds " + digest(wanted)},
         right ? digest(wanted)
               : digest(buffer.octets) + ", which " + difference(wanted, buffer.octets),
         {}, right ? Judgement::pass : Judgement::fail, Direction::from_iut);
}

void Body::expect_still_working(RuleRef rule) { settle(rule); }

/// A Read is answered only after all that came before it was processed (RFC 5040 section 5.5).
void Body::settle(const RuleRef& rule) {
  if (!probe_) {
    probe_ = iut.register_memory(probe_length, access::remote_read);
    iut.write_memory(*probe_, payload(probe_length, 0x51));
  }
  if (partner_) return settle_with_partner(rule);
  peer.send(read_request({.sink_stag = probe_sink_stag,
                          .sink_offset = probe_sink_offset,
                          .length = probe_length,
                          .source_stag = probe_->stag,
                          .source_offset = probe_->base}));
  expect(
      peer,
      tagged_message(Opcode::read_response, probe_sink_stag, probe_sink_offset, probe_->contents),
      rule);
}

void Body::settle_with_partner(const RuleRef& rule) {
  const TesterBuffer& sink = partner_->add_buffer(Octets(probe_length));
  expect_done(*partner_, partner_->read(sink, probe_length, probe_->stag, probe_->base), rule);
  expect_buffer(sink, probe_->contents, rule);
}

// ---------------------------------------------------------------- rows

CaseStop Body::judged(CaseStop stop) {
  if (stop.verdict == Verdict::error && stop.refused && peer.ended_by_iut())
    return {Verdict::fail, "the IUT has ended the connection: " + stop.reason};
  return stop;
}

void Body::row(std::string name, const std::function<void()>& row_body) {
  if (rows_used_) {
    close_connections();
    probe_.reset();
    terminate_seen_ = false;
    unanswering_ = false;
    iut.reset();
    start_deadline();
  }
  rows_used_ = true;
  row_ = std::move(name);
  context_.note(Direction::none, "row: " + row_);
  std::optional<CaseStop> end;
  bool late = false;
  const std::size_t before = outcome_.expectations.size();
  try {
    row_body();
    late = time_is_up();
  } catch (const CaseStop& stop) {
    late = time_is_up();
    end = judged(stop);
    if (end->verdict == Verdict::fail)
      context_.loop.run_until(context_.loop.now() + environment_.quiet_window,
                              [] { return false; });
  }
  finish_judging();
  auto [verdict, reason] =
      verdict_of("row", end, {}, std::span(outcome_.expectations).subspan(before));
  if (late && !shortened_since_.empty() && verdict != Verdict::fail) {
    verdict = Verdict::inconclusive;
    reason = fmt::format("a tenth of the deadline is up, the rest went to row {}{}{}",
                         shortened_since_, reason.empty() ? "" : ": ", reason);
  }
  outcome_.rows.push_back({row_, verdict, reason});
  if (late && verdict != Verdict::pass && shortened_since_.empty()) shortened_since_ = row_;
  row_.clear();
  if (verdict == Verdict::error)
    throw CaseStop{verdict, reason};  // the next row would find the same harness broken
}

}  // namespace suite::cases
