// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The reference RNIC as an implementation under test in the process and event loop of the test: no
// agent, no thread.
#pragma once

#include <deque>
#include <memory>

#include "base/event_loop.hpp"
#include "reference_rnic/llp/network.hpp"
#include "suite/iut/iut.hpp"
#include "suite/upper_tester/reference/reference_driver.hpp"

namespace suite::upper_tester::reference {

/// Commands are carried out from the event loop, in the order posted;
/// one that is not yet may be cancelled.
class ReferenceIut final : public iut::Iut {
 public:
  ReferenceIut(base::EventLoop& loop, rnic::llp::Network& network, const DriverOptions& options);

  [[nodiscard]] const iut::Hello& hello() const override { return hello_; }
  std::uint64_t post(iut::Command command) override;
  [[nodiscard]] std::optional<iut::Event> next_event(base::TimePoint deadline) override;

 private:
  void carry_out();
  void take_back(std::uint64_t number);

  base::EventLoop& loop_;
  std::deque<iut::Event> events_;
  struct Waiting {
    std::uint64_t number = 0;
    iut::Command command;
  };
  std::deque<Waiting> waiting_;
  std::uint64_t last_number_ = 0;
  ReferenceDriver driver_;
  iut::Hello hello_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

/// event loop and network must outlive it.
[[nodiscard]] std::unique_ptr<iut::Iut> make_reference_iut(base::EventLoop& loop,
                                                           rnic::llp::Network& network,
                                                           const Behaviour& behaviour = {});

}  // namespace suite::upper_tester::reference
