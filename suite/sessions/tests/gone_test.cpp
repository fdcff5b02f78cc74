// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An upper tester that ends in the middle of a session.
#include <boost/test/unit_test.hpp>

#include "suite/sessions/drawing.hpp"
#include "suite/sessions/soak.hpp"
#include "suite/upper_tester/reference/reference_iut.hpp"

using namespace suite;
using namespace suite::sessions;
using Why = iut::GoneEvent::Why;

namespace {

/// After some commands there are only GoneEvents, as from a client whose agent has ended.
class Ending final : public iut::Iut {
 public:
  Ending(std::unique_ptr<iut::Iut> iut, unsigned commands, Why why)
      : iut_(std::move(iut)), left_(commands), why_(why) {}

  [[nodiscard]] const iut::Hello& hello() const override { return iut_->hello(); }
  std::uint64_t post(iut::Command command) override {
    if (left_ == 0) return 0;
    --left_;
    return iut_->post(std::move(command));
  }
  [[nodiscard]] std::optional<iut::Event> next_event(base::TimePoint deadline) override {
    if (left_ > 0) return iut_->next_event(deadline);
    return iut::GoneEvent{.why = why_, .detail = "gone"};
  }
  [[nodiscard]] bool is_gone() const override { return left_ == 0; }

 private:
  std::unique_ptr<iut::Iut> iut_;
  unsigned left_;
  Why why_;
};

Played played_until(unsigned commands, Why why) {
  return play_in_memory(draw(7), [=](base::EventLoop& loop, rnic::llp::Network& network) {
    return std::make_unique<Ending>(upper_tester::reference::make_reference_iut(loop, network, {}),
                                    commands, why);
  });
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_session_ends_when_the_upper_tester_is_gone_and_blames_no_rule) {
  for (unsigned commands = 1; commands < 20; ++commands)
    for (const Why why : {Why::transport_lost, Why::crashed}) {
      const Played played = played_until(commands, why);
      BOOST_REQUIRE(played.gone.has_value());
      BOOST_TEST((played.gone->why == why));
      BOOST_REQUIRE(played.failure() != nullptr);
      BOOST_TEST(played.failure()->rules.empty());
    }
}
