// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/sessions/opening.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "suite/lower_tester/content.hpp"

namespace suite::sessions {

namespace wire = rnic::wire;

namespace {

/// With what the IUT is configured to in another setup.
StreamSetup configured_like(StreamSetup setup, const StreamSetup& other) {
  setup.revision = other.revision;
  setup.default_crc = other.default_crc;
  setup.iut_crc = other.iut_crc;
  setup.iut_markers = other.iut_markers;
  setup.peer_to_peer = other.peer_to_peer;
  setup.iut_rtr = other.iut_rtr;
  return setup;
}

}  // namespace

Opening::Opening(Play& play, const StreamSetup& setup, std::size_t number)
    : play_(play),
      setup_(setup),
      endpoint_(static_cast<iut::Handle>(number + 1)),
      line_(std::make_unique<Line>(play.context())) {}

bool Opening::come_up() {
  configure();
  if (!create_endpoint()) return false;
  play_.environment().tester.limit_segments(
      setup_.emss == 0 ? std::nullopt : std::optional<std::size_t>(setup_.emss));
  own_ = parameters();
  if (setup_.early && !line_->shares_receives) post_early_receive();
  if (!open() || play_.is_stopped()) {
    leave();
    return false;
  }
  terms_.crc = line_->peer.sending().crc;
  play_.model().add_stream(terms_);
  if (early_receive_) {
    play_.model().command(*early_receive_, {});
    line_->receives.push_back(early_receive_->pieces.front().length);
  }
  play_.lines().push_back(std::move(line_));
  return true;
}

bool Opening::come_to_nothing() {
  configure();
  if (!create_endpoint()) return false;
  own_ = parameters();
  const bool failed_rightly = fail_to_open();
  leave();
  return failed_rightly && !play_.is_stopped();
}

void Opening::leave() {
  if (play_.is_stopped()) return;
  if (line_->peer.was_opened()) line_->peer.reset();
  // Nobody shares what is in its domain.
  play_.ask(iut::DestroyEndpoint{endpoint_});
  play_.forget_events(endpoint_);
}

// ---------------------------------------------------------------- findings

std::vector<std::string> Opening::with_fault_rules(std::vector<std::string> rules) const {
  if (!rules.empty() && info_of(setup_.fault).end == StartupEnd::up)
    rules.insert(rules.begin(), fault_rules().begin(), fault_rules().end());
  return rules;
}

bool Opening::report(const std::string& admissible, const std::string& came,
                     std::vector<std::string> rules) {
  const bool advisory = !rules.empty() && is_should(rules.front());
  play_.found(
      {.rules = std::move(rules), .admissible = admissible, .came = came, .advisory = advisory});
  return false;
}

bool Opening::fail(const std::string& admissible, const std::string& came,
                   std::vector<std::string> rules) {
  return report(admissible, came, with_fault_rules(std::move(rules)));
}

bool Opening::fail_refused(const std::string& admissible, const std::string& came,
                           std::vector<std::string> rules) {
  rules = with_fault_rules(std::move(rules));
  if (setup_.peer_markers) rules.insert(rules.begin(), "mpa.markers.sender-able-to-insert");
  return report(admissible, fmt::format("{}, for {}", came, sent_text_), std::move(rules));
}

void Opening::advise(const std::string& admissible, const std::string& came,
                     std::vector<std::string> rules) {
  play_.found(
      {.rules = std::move(rules), .admissible = admissible, .came = came, .advisory = true});
}

// ---------------------------------------------------------------- the IUT's consumer

void Opening::configure() {
  if (const auto& known = play_.configuration();
      known && configured_like(setup_, known->setup) == setup_) {
    is_configured_ = known->rtr;
    return;
  }
  send_configuration();
  play_.configured({setup_, is_configured_});
}

void Opening::send_configuration() {
  iut::Configure wanted;
  if (play_.can(iut::capability::configure_revision_1))
    wanted.revision = static_cast<int>(setup_.revision);
  if (play_.can(iut::capability::configure_crc) && !asks_by_default()) wanted.crc = setup_.iut_crc;
  if (play_.can(iut::capability::configure_markers)) wanted.markers = setup_.iut_markers;
  play_.ask(wanted);
  if (!play_.can(iut::capability::configure_rtr)) return;
  iut::Configure model;
  model.peer_to_peer = setup_.peer_to_peer;
  model.rtr.emplace();
  if ((setup_.iut_rtr & rtr_send) != 0) model.rtr->emplace_back("send");
  if ((setup_.iut_rtr & rtr_write) != 0) model.rtr->emplace_back("write");
  if ((setup_.iut_rtr & rtr_read) != 0) model.rtr->emplace_back("read");
  is_configured_ = play_.ask(model).outcome == iut::Outcome::ok;
}

bool Opening::create_endpoint() {
  if (setup_.own_domain) {
    terms_.domain = endpoint_;
    const iut::Reply made = play_.ask(iut::CreateDomain{terms_.domain});
    if (made.outcome != iut::Outcome::ok) return fail("a protection domain", made.error, {});
  }
  iut::CreateEndpoint create;
  create.endpoint = line_->endpoint = terms_.endpoint = endpoint_;
  create.domain = line_->domain = terms_.domain;
  if (setup_.shared_receives && terms_.domain == 0 && play_.share_receives()) {
    line_->shares_receives = true;
    terms_.shared_queue = create.shared_queue = shared_queue;
  }
  create.send_depth = static_cast<std::uint32_t>(play_.limit("max_send_depth", 64));
  create.receive_depth = static_cast<std::uint32_t>(play_.limit("max_receive_depth", 64));
  create.max_pieces = static_cast<std::uint32_t>(play_.limit("max_pieces", 4));
  const iut::Reply made = play_.ask(create);
  return made.outcome == iut::Outcome::ok || fail("an endpoint", made.error, {});
}

/// Messages that arrive during startup do not use it.
void Opening::post_early_receive() {
  constexpr std::uint32_t length = 64;
  iut::RegisterMemory memory;
  memory.region = early_region(endpoint_);
  memory.domain = terms_.domain;
  memory.length = length;
  memory.access.local_write = true;
  if (play_.command(memory).outcome != iut::Outcome::ok) return;
  iut::PostReceive receive;
  receive.endpoint = endpoint_;
  receive.work = play_.next_work();
  receive.pieces = {{memory.region, 0, length}};
  if (play_.ask(receive).outcome == iut::Outcome::ok) early_receive_ = receive;
}

iut::ConnectParameters Opening::parameters() const {
  iut::ConnectParameters parameters;
  parameters.ird = static_cast<int>(play_.limit("max_ird", setup_.ird));
  parameters.ord = static_cast<int>(play_.limit("max_ord", setup_.ord));
  const auto most = static_cast<std::uint32_t>(play_.limit("max_private_data", 64));
  parameters.private_data =
      lower_tester::PayloadGenerator(endpoint_).octets(std::min(setup_.private_data, most));
  return parameters;
}

// ---------------------------------------------------------------- the tester's frame

Octets Opening::peer_data(bool enhanced) const {
  constexpr std::size_t most = wire::mpa_max_private_data;
  const std::size_t words = enhanced ? sizeof(wire::EnhancedWords) : 0;
  std::size_t length = setup_.private_data;
  if (setup_.fault == StartupFault::longest_private_data) length = most - words;
  if (setup_.fault == StartupFault::oversize_private_data) length = most + 1 - words;
  return lower_tester::PayloadGenerator(endpoint_ + 100U).octets(length);
}

Opening::EnhancedWords Opening::with_rtr(EnhancedWords words, std::uint32_t kinds) const {
  words.rtr_send = (kinds & rtr_send) != 0;
  words.rtr_write = (kinds & rtr_write) != 0;
  words.rtr_read = (kinds & rtr_read) != 0;
  return words;
}

void Opening::send_frame(lower_tester::StartupFrame frame) {
  const std::uint32_t value = setup_.fault_value;
  constexpr std::size_t enough = 24;
  switch (setup_.fault) {
    case StartupFault::reserved_bits:
      frame = frame.with_flag(static_cast<std::uint8_t>(
          value % 2 == 0 ? wire::MpaFlags::reserved_mask : 1U << (value / 2 % 4)));
      break;
    case StartupFault::reserved_s_bit:
      frame = frame.with_flag(wire::MpaFlags::s);
      break;
    case StartupFault::rejection_bit:
    case StartupFault::rejected:
      if (setup_.fault == StartupFault::rejection_bit || setup_.iut_initiates)
        frame = frame.with_reject();
      break;
    case StartupFault::revision_zero:
      frame = frame.with_revision(0);
      break;
    case StartupFault::later_revision:
      frame = frame.with_revision(static_cast<std::uint8_t>(value % 2 == 0 ? 0xFF : 0x80));
      break;
    case StartupFault::wrong_key:
      frame.key[value % frame.key.size()] ^= std::byte{0x20};
      break;
    case StartupFault::key_of_other_side:
      frame.key =
          wire::mpa_key(frame.kind == wire::MpaFrameKind::request ? wire::MpaFrameKind::reply
                                                                  : wire::MpaFrameKind::request);
      break;
    case StartupFault::short_enhanced_data:
      frame.enhanced.reset();
      frame = frame.with_revision(2)
                  .with_flag(wire::MpaFlags::s)
                  .with_private_data(Octets(value % sizeof(wire::EnhancedWords)));
      break;
    case StartupFault::octets_after_frame:
      frame = frame.with_private_data(lower_tester::payload(enough)).with_pd_length(enough / 3);
      break;
    case StartupFault::cut_short:
      frame = frame.with_private_data(lower_tester::payload(enough / 3)).with_pd_length(enough);
      break;
    default:
      break;
  }
  sent_words_ = frame.enhanced;
  sent_text_ = frame.text();
  line_->peer.send(frame, setup_.fault == StartupFault::in_pieces
                              ? lower_tester::Cut::every(1 + value % 21)
                              : lower_tester::Cut::whole());
  if (setup_.fault == StartupFault::cut_short) line_->peer.half_close();
}

// ---------------------------------------------------------------- what the IUT does

lower_tester::Arrival Opening::next() {
  return line_->peer.next(play_.environment().loop.now() + play_.environment().patience);
}

bool Opening::take_frame(const iut::ConnectParameters& own) {
  const auto arrival = next();
  const auto* frame = arrival.as<lower_tester::ReceivedFrame>();
  if (frame == nullptr)
    return fail("a startup frame", arrival.text(),
                {"mpa.startup.acceptable-request-accepted", "mpa.startup.frames-time-out",
                 "mpa.startup.frame-layout"});
  if (!std::ranges::equal(frame->frame().ulp_private_data(), own.private_data))
    return fail("the private data of its consumer", arrival.text(),
                {"mpa.private-data.length-field-matches", "mpa.private-data.passed-to-ulp",
                 "mpa.startup.frame-layout"});
  // RFC 5044 section 4.4.
  if (asks_by_default() && !frame->frame().flags.crc())
    return fail("C set", arrival.text(), {"mpa.crc.default-is-enabled"});
  return true;
}

/// What was configured once has no default any more.
bool Opening::asks_by_default() const {
  return setup_.default_crc && play_.environment().is_unconfigured && endpoint_ == 1;
}

bool Opening::take_end() {
  // With some faults the IUT notices only at its timeout that startup has failed.
  const bool is_late = setup_.fault == StartupFault::no_frame ||
                       setup_.fault == StartupFault::half_a_frame ||
                       setup_.fault == StartupFault::cut_short;
  const auto arrival = line_->peer.next(
      play_.environment().loop.now() +
      (is_late ? play_.environment().startup_patience : play_.environment().patience));
  if (arrival.is_end()) return true;
  if (info_of(setup_.fault).end != StartupEnd::closed_or_advisory)
    return fail("the end of the connection", arrival.text(), fault_rules());
  advise("the end of the connection", arrival.text(), fault_rules());
  return true;
}

bool Opening::check_depths(const std::optional<int>& ird, const std::optional<int>& ord,
                           const std::optional<EnhancedWords>& words, const char* rule) {
  // APIs show depths in as little as eight bits.
  constexpr int most = 255;
  if (!ird || !ord || !words || words->ird > most || words->ord > most) return true;
  if (*ird == words->ord && *ord == words->ird) return true;
  return fail(fmt::format("IRD {} and ORD {} shown", words->ord, words->ird),
              fmt::format("IRD {} and ORD {}", *ird, *ord), {rule});
}

/// Zeros at the end do not count: verbs hand out a buffer of fixed size.
bool Opening::same_data(const Octets& seen, const Octets& wanted) {
  if (seen.size() < wanted.size() || !std::equal(wanted.begin(), wanted.end(), seen.begin()))
    return false;
  return std::all_of(seen.begin() + static_cast<std::ptrdiff_t>(wanted.size()), seen.end(),
                     [](std::byte octet) { return octet == std::byte{0}; });
}

// ---------------------------------------------------------------- a stream

namespace {

std::unique_ptr<Opening> opening(Play& play, const StreamSetup& setup, std::size_t number) {
  return setup.iut_initiates ? opening_by_iut(play, setup, number)
                             : opening_by_tester(play, setup, number);
}

/// The setup has what the fault needs.
bool is_possible(const Play& play, const StreamSetup& setup) {
  const bool enhanced = setup.revision > 1 && (setup.iut_initiates || setup.plain == 0);
  switch (setup.fault) {
    case StartupFault::rtr_flags_without_a:
    case StartupFault::insufficient_ird:
      return enhanced && !setup.peer_to_peer;
    case StartupFault::short_enhanced_data:
      return enhanced;
    case StartupFault::no_common_rtr:
    case StartupFault::no_rtr_stated:
      return enhanced && setup.peer_to_peer;
    case StartupFault::no_frame:
    case StartupFault::half_a_frame:
    case StartupFault::cut_short:
      return play.environment().startup_patience > base::Duration{};
    case StartupFault::reserved_s_bit:
    case StartupFault::enhanced_for_revision_one:
      return setup.revision < 2;
    default:
      return true;
  }
}

/// The setup, without what cannot be in it.
StreamSetup possible(const Play& play, StreamSetup setup) {
  if (!play.can(iut::capability::enhanced_startup)) setup.revision = 1;
  if (setup.revision < 2 || !play.can(iut::capability::peer_to_peer)) setup.peer_to_peer = false;
  if (setup.rtr % (rtr_any + 1) == 0) setup.rtr = rtr_any;
  if (setup.iut_rtr % (rtr_any + 1) == 0) setup.iut_rtr = rtr_any;
  if (!exists(setup.fault, setup.iut_initiates) || !is_possible(play, setup))
    setup.fault = StartupFault::nothing;
  if (setup.fault != StartupFault::no_common_rtr) return setup;
  setup.iut_rtr = 1U << (setup.fault_value % 3);
  setup.rtr = rtr_any & ~setup.iut_rtr;
  return setup;
}

/// Streams are up that another configuration could end.
bool keeps_configuration(Play& play) {
  return play.configuration().has_value() && !play.lines().empty();
}

/// An ordinary stream in place of one whose startup failed, with other handles.
bool open_instead(Play& play, StreamSetup setup, std::size_t number) {
  setup.fault = StartupFault::nothing;
  if (!keeps_configuration(play)) setup.peer_to_peer = false;
  return opening(play, setup, number)->come_up();
}

}  // namespace

bool open_stream(Play& play, const StreamSetup& wanted) {
  StreamSetup setup = wanted;
  if (keeps_configuration(play)) {
    setup = configured_like(setup, play.configuration()->setup);
    if (setup.fault == StartupFault::no_common_rtr) setup.fault = StartupFault::nothing;
  }
  setup = possible(play, setup);
  constexpr std::size_t others = 64;
  const std::size_t number = play.lines().size();
  const auto first = opening(play, setup, number);
  const bool comes_up = info_of(setup.fault).end == StartupEnd::up;
  if (comes_up && first->come_up()) return true;
  if (!comes_up && !first->come_to_nothing()) return false;
  // The stream after a refusal, or after RTR kinds that do not match, is an ordinary one.
  return !play.is_stopped() && open_instead(play, setup, number + others);
}

}  // namespace suite::sessions
