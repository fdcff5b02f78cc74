// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What TCP has acknowledged need not be in memory yet when the tester looks there.
#include <boost/test/unit_test.hpp>

#include "base/simulated_loop.hpp"
#include "reference_rnic/llp/memory_network.hpp"
#include "suite/sessions/drawing.hpp"
#include "suite/sessions/player.hpp"
#include "suite/upper_tester/reference/reference_iut.hpp"

using namespace suite;
using namespace suite::sessions;

namespace {

/// The last octet of memory is another one, and a new one each time, when it is read, unless
/// `is_right(n)` for the n-th time.
class Late final : public iut::Iut {
 public:
  Late(std::unique_ptr<iut::Iut> iut, bool (*is_right)(unsigned))
      : iut_(std::move(iut)), is_right_(is_right) {}

  [[nodiscard]] const iut::Hello& hello() const override { return iut_->hello(); }
  std::uint64_t post(iut::Command command) override { return iut_->post(std::move(command)); }
  [[nodiscard]] std::optional<iut::Event> next_event(base::TimePoint deadline) override {
    auto event = iut_->next_event(deadline);
    auto* reply = event ? std::get_if<iut::Reply>(&*event) : nullptr;
    if (reply != nullptr && reply->octets && !reply->octets->empty() && !is_right_(reads_++))
      reply->octets->back() ^= reads_ % 2 == 0 ? std::byte{1} : std::byte{2};
    return event;
  }
  [[nodiscard]] bool is_gone() const override { return iut_->is_gone(); }

 private:
  std::unique_ptr<iut::Iut> iut_;
  bool (*is_right_)(unsigned);
  unsigned reads_ = 0;
};

Played played_in_real_time(std::uint64_t seed, bool (*is_right)(unsigned)) {
  const auto address = [](const char* text) { return *base::Address::parse(text, 0); };
  base::SimulatedLoop loop;
  rnic::llp::MemoryFabric fabric(loop);
  const auto tester = fabric.add_host(address("192.0.2.1"), address("2001:db8::1"));
  const auto host = fabric.add_host(address("192.0.2.2"), address("2001:db8::2"));
  Late iut(upper_tester::reference::make_reference_iut(loop, *host, {}), is_right);
  return play(draw(seed), {.loop = loop,
                           .tester = *tester,
                           .iut = iut,
                           .iut_address = host->address(base::Family::ipv4),
                           .is_unconfigured = true,
                           .patience = std::chrono::milliseconds(1500),
                           .command_patience = std::chrono::seconds(2),
                           .quiet = std::chrono::milliseconds(10)});
}

constexpr std::uint64_t session_count = 20;

}  // namespace

BOOST_AUTO_TEST_CASE(octets_may_be_placed_late) {
  for (std::uint64_t seed = 0; seed < session_count; ++seed) {
    const Played played =
        played_in_real_time(seed, [](unsigned number) { return number % 3 == 2; });
    BOOST_TEST((played.failure() == nullptr), "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(octets_that_are_never_placed_are_found) {
  const Played played = played_in_real_time(0, [](unsigned) { return false; });
  BOOST_REQUIRE(played.failure() != nullptr);
  BOOST_TEST(played.failure()->rules.front() == "ddp.tagged.placed-at-to");
}
