// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The tracker takes FPDUs without a fault without asking for memory.
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <new>

#include "dissectors/analyzer/tests/conversation.hpp"

namespace {
std::size_t allocations = 0;
}  // namespace

// GCC 12 takes the counting pair below for a mismatch where it inlines one half of it.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace dissectors::analyzer::tests {

namespace {

class NullReporter final : public Reporter {
 public:
  void finding(const Finding&) override { ++findings; }
  void note(const Note&) override {}
  void message(const MessageSeen&) override {}
  std::size_t findings = 0;
};

void feed(MessageTracker& tracker, Direction direction, const Octets& sent) {
  FpduSeen fpdu;
  fpdu.place.direction = direction;
  fpdu.ulpdu_length = static_cast<std::uint16_t>(sent.size());
  fpdu.ulpdu = sent;
  fpdu.segment = *wire::parse_segment(sent);
  tracker.fpdu(fpdu);
}

void set_msn(Octets& sent, std::uint32_t msn) {
  constexpr std::size_t at = 10;
  const wire::be32 field = msn;
  std::ranges::copy(wire::octets_of(field), sent.begin() + at);
}

}  // namespace

BOOST_AUTO_TEST_CASE(no_memory_is_asked_for_by_fpdu) {
  NullReporter reporter;
  JudgedChecks judged{};
  MessageTracker tracker(reporter, judged);
  Octets first = ulpdu(Untagged{.payload = octets(100), .last = false});
  Octets second = ulpdu(Untagged{.mo = 100, .payload = octets(9)});
  const Octets write = ulpdu(Tagged{.payload = octets(100)});
  Octets request = read_request(1);
  const Octets response = read_response();
  std::size_t before = 0;
  for (std::uint32_t msn = 1; msn <= 1000; ++msn) {
    if (msn == 40) before = allocations;  // as many segments are remembered as ever will be
    for (Octets* sent : {&first, &second, &request}) {
      set_msn(*sent, msn);
      feed(tracker, initiator, *sent);
    }
    feed(tracker, initiator, write);
    feed(tracker, responder, response);
  }
  const std::size_t after = allocations;
  BOOST_TEST(after == before);
  BOOST_TEST(reporter.findings == 0U);
}

}  // namespace dissectors::analyzer::tests
