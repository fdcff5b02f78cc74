// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// rnic-suite with toy cases and a toy IUT that pass, fail, crash and hang on demand: what the
// runner's own tests run.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "suite/runner/suite_parts.hpp"

namespace {

using namespace suite;
using namespace std::chrono_literals;
using cases::Verdict;
using rnic::llp::Connection;

constexpr const char* rule = "ddp.tagged.check-end-in-range";

[[noreturn]] void hang() {
  for (volatile int forever = 0;;) forever = 1 - forever;
}

// The number of a CreateDomain selects what the toy IUT does.
enum Trick : iut::Handle { crash = 1, abort_now, spin, throw_from_callback };

class ToyIut final : public iut::Iut, Connection::Observer {
 public:
  ToyIut(base::EventLoop& loop, rnic::llp::Network& network) : loop_(loop), network_(network) {
    hello_.driver = "toy";
    hello_.implementation = "toy IUT";
    hello_.kernel = "1.0";
  }
  const iut::Hello& hello() const override { return hello_; }
  std::uint64_t post(iut::Command command) override {
    if (const auto* trick = std::get_if<iut::CreateDomain>(&command)) perform(trick->domain);
    if (const auto* where = std::get_if<iut::Connect>(&command)) {
      connection_ = std::move(
          network_.connect(base::Address::parse(where->address, where->port).value(), *this)
              .value());
    }
    return 1;
  }
  std::optional<iut::Event> next_event(base::TimePoint deadline) override {
    loop_.run_until(deadline, [] { return false; });
    return std::nullopt;
  }

 private:
  void perform(iut::Handle trick) {
    switch (trick) {
      case crash:
        std::raise(SIGSEGV);
        break;
      case abort_now:
        std::abort();
      case spin:
        hang();
      case throw_from_callback:
        loop_.defer([] { throw std::runtime_error("toy"); });
        break;
      default:
        break;
    }
  }
  void connected() override {
    const std::string_view text = "hello from the toy";
    const std::array<rnic::wire::Bytes, 1> pieces{std::as_bytes(std::span(text))};
    connection_->send(pieces, true);
    connection_->shutdown_send();
  }
  void readable() override {}
  void writable() override {}
  void ended(rnic::llp::Ending) override {}

  base::EventLoop& loop_;
  rnic::llp::Network& network_;
  iut::Hello hello_;
  std::unique_ptr<Connection> connection_;
};

cases::CaseOutcome outcome(Verdict verdict, const std::string& actual) {
  cases::CaseOutcome result;
  result.verdict = verdict;
  result.reason = verdict == Verdict::pass ? "" : "toy: " + actual;
  const auto judgement = verdict == Verdict::pass           ? cases::Judgement::pass
                         : verdict == Verdict::inconclusive ? cases::Judgement::inconclusive
                                                            : cases::Judgement::fail;
  result.expectations.push_back({.rule = rule,
                                 .row = "",
                                 .admissible = {"Terminate 1/1/01"},
                                 .actual = actual,
                                 .hex = "",
                                 .judgement = judgement,
                                 .direction = cases::Direction::none,
                                 .at = 1ms});
  return result;
}

// It passes, and has seen the IUT break another rule.
cases::CaseOutcome outcome_with_finding() {
  auto result = outcome(Verdict::pass, "Terminate 1/1/01");
  auto seen = result.expectations.front();
  seen.rule = "mpa.framing.pad-sent-as-zero";
  seen.admissible = {"zeros"};
  seen.actual = "pad 01";
  seen.judgement = cases::Judgement::also_seen;
  result.expectations.push_back(seen);
  return result;
}

// The IUT connects, sends its line and closes; all of it is recorded as by the lower tester.
class Traffic final : rnic::llp::Listener::Observer, Connection::Observer {
 public:
  explicit Traffic(cases::Environment& environment)
      : environment_(environment), start_(environment.loop.now()) {}

  cases::CaseOutcome run() {
    auto listener = environment_.tester.listen(
        environment_.tester.address(base::Family::ipv4).with_port(0), *this);
    environment_.iut.post(iut::Connect{.endpoint = 1,
                                       .address = (*listener)->local().host(),
                                       .port = (*listener)->local().port,
                                       .parameters = {}});
    const bool done = environment_.loop.run_until(start_ + 5s, [this] { return closed_; });
    auto result = outcome(done ? Verdict::pass : Verdict::fail, text_);
    result.expectations.front().direction = cases::Direction::from_iut;
    result.expectations.front().hex = "746f79";  // "toy"
    result.expectations.front().at = result.duration = environment_.loop.now() - start_;
    result.connections.push_back(record_);
    return result;
  }

 private:
  using Kind = cases::ConnectionRecord::Mark::Kind;
  void note(Kind kind, std::span<const std::byte> octets) {
    record_.marks.push_back({kind,
                             cases::Direction::from_iut,
                             environment_.loop.now() - start_,
                             {octets.begin(), octets.end()}});
  }
  void accepted(std::unique_ptr<Connection> connection) override {
    connection_ = std::move(connection);
    record_.tester = connection_->local();
    record_.iut = connection_->remote();
    record_.opened_by_tester = false;
    note(Kind::opened, {});
    connection_->set_observer(*this);
  }
  void readable() override {
    std::array<std::byte, 100> buffer;
    const std::array<rnic::wire::MutableBytes, 1> targets{buffer};
    const auto received = connection_->receive(targets);
    if (received.count > 0) note(Kind::data, std::span(buffer).first(received.count));
    text_.append(reinterpret_cast<const char*>(buffer.data()), received.count);
    if (received.peer_closed) note(Kind::fin, {});
    closed_ = received.peer_closed;
  }
  void writable() override {}
  void ended(rnic::llp::Ending) override {}

  cases::Environment& environment_;
  base::TimePoint start_;
  cases::ConnectionRecord record_;
  std::unique_ptr<Connection> connection_;
  std::string text_;
  bool closed_ = false;
};

cases::CaseOutcome trick(cases::Environment& environment, Trick which) {
  environment.iut.post(iut::CreateDomain{which});
  static_cast<void>(environment.iut.next_event(environment.loop.now() + 10s));
  return outcome(Verdict::pass, "the trick did not work");
}

using Action = std::function<cases::CaseOutcome(cases::Environment&)>;
const std::map<std::string, Action>& actions() {
  static const std::map<std::string, Action> table{
      {"harness.sentinel.alive", [](auto& e) { return Traffic(e).run(); }},
      {"toy.verdict.pass", [](auto&) { return outcome(Verdict::pass, "Terminate 1/1/01"); }},
      {"toy.verdict.pass_too", [](auto&) { return outcome(Verdict::pass, "Terminate 1/1/01"); }},
      {"toy.verdict.fail",
       [](auto&) { return outcome(Verdict::fail, "Terminate 1/1/00\n\x1b[2Jforged"); }},
      {"toy.verdict.inconclusive", [](auto&) { return outcome(Verdict::inconclusive, "nothing"); }},
      {"toy.verdict.not_applicable",
       [](auto&) { return outcome(Verdict::not_applicable, "no such capability"); }},
      {"toy.finding.in_passing", [](auto&) { return outcome_with_finding(); }},
      {"toy.traffic.over_tcp", [](auto& e) { return Traffic(e).run(); }},
      {"toy.death.crash_in_iut", [](auto& e) { return trick(e, crash); }},
      {"toy.death.abort_in_iut", [](auto& e) { return trick(e, abort_now); }},
      {"toy.death.throw_in_iut", [](auto& e) { return trick(e, throw_from_callback); }},
      {"toy.death.crash_on_the_wire",
       [](auto& e) {
         static_cast<void>(Traffic(e).run());
         return trick(e, crash);
       }},
      {"toy.death.crash_in_case",
       [](auto&) -> cases::CaseOutcome { std::raise(SIGSEGV), std::abort(); }},
      {"toy.death.exit_in_case", [](auto&) -> cases::CaseOutcome { std::_Exit(7); }},
      {"toy.hang.in_iut", [](auto& e) { return trick(e, spin); }},
      {"toy.hang.in_case", [](auto&) -> cases::CaseOutcome { hang(); }},
      {"toy.slow.first_time",
       [](auto& e) {
         const char* mark = std::getenv("TOY_MARK");  // of a file: there once it was slow
         if (mark == nullptr || std::filesystem::exists(mark))
           return outcome(Verdict::pass, "Terminate 1/1/01");
         std::ofstream(mark) << "slow";
         e.loop.run_until(e.loop.now() + 60s, [] { return false; });
         return outcome(Verdict::pass, "waited");
       }},
      {"toy.slow.waits", [](auto& e) {
         e.loop.run_until(e.loop.now() + 60s, [] { return false; });
         return outcome(Verdict::pass, "waited");
       }}};
  return table;
}

cases::Case toy_case(const std::string& id) {
  cases::Case one;
  one.id = id;
  one.title = id;
  one.layer = id.substr(0, id.find('.'));
  one.file = "suite/runner/tests/toy_suite.cpp";
  one.rules = {rule};
  one.deadline = id.starts_with("toy.hang") ? 100ms : 60s;
  return one;
}

}  // namespace

int main(int argc, char** argv) {
  runner::SuiteParts parts;
  for (const auto& [id, action] : actions()) {
    if (id.starts_with("toy.")) parts.table.push_back(toy_case(id));
  }
  parts.sentinel = toy_case("harness.sentinel.alive");
  parts.execute = [](const cases::Case& one, cases::Environment& environment) {
    return actions().at(one.id)(environment);
  };
  parts.make_reference = [](base::EventLoop& loop, rnic::llp::Network& network,
                            const upper_tester::reference::Behaviour&) {
    return std::make_unique<ToyIut>(loop, network);
  };
  return runner::run_program(parts, argc, argv);
}
