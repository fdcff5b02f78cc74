// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <array>

#include <fmt/format.h>

#include "plugfest/scenarios/plays.hpp"
#include "plugfest/scenarios/steps.hpp"

namespace plugfest::plays {

namespace {

/// Around the sizes of an FPDU on Ethernet, and many of them.
constexpr std::array<std::size_t, 7> sizes{0, 1, 63, 1428, 1500, 4096, 65'537};
constexpr std::array<Side, 2> sides{Side::initiator, Side::responder};

}  // namespace

void sends(Stage& stage, const char* operation) {
  const Link link = open(stage);
  const bool solicited = std::string_view(operation) == iut::operation::send_solicited;
  for (const Side from : sides)
    for (const std::size_t size : sizes) {
      const auto received = send(stage, link, from, size, {.operation = operation});
      // Not every API shows it.
      if (received.solicited)
        stage.record.expect(other(from), "solicited event of the receive",
                            solicited ? "solicited" : "unsolicited",
                            *received.solicited ? "solicited" : "unsolicited");
    }
  close(stage, link);
}

void writes(Stage& stage) {
  const Link link = open(stage);
  for (const Side from : sides)
    for (const std::size_t size : sizes) write(stage, link, from, size);
  close(stage, link);
}

void reads(Stage& stage) {
  const Link link = open(stage);
  for (const Side by : sides)
    for (const std::size_t size : sizes) read(stage, link, by, size);
  close(stage, link);
}

void mebibyte(Stage& stage, bool by_reading) {
  constexpr std::size_t length = std::size_t{1} << 20;
  const Link link = open(stage);
  for (const Side by : sides) {
    if (by_reading)
      read(stage, link, by, length);
    else
      write(stage, link, by, length);
  }
  close(stage, link);
}

/// RFC 7306 section 6: eight octets, which the receive's completion brings.
void immediate(Stage& stage) {
  const Link link = open(stage);
  constexpr std::array<std::uint8_t, 8> value{1, 2, 3, 4, 5, 6, 7, 8};
  for (const Side from : sides) {
    const Handle theirs = link.of(other(from));
    const auto receive = stage.of(other(from)).receive(theirs, nullptr);
    iut::PostWork work;
    work.endpoint = link.of(from);
    work.operation = iut::operation::immediate;
    work.immediate = value;
    const auto posted = stage.of(from).post(work);
    const auto received =
        stage.of(other(from)).expect_completion(receive, "the receive of immediate data");
    stage.of(from).expect_completion(posted, "immediate data");
    if (received.immediate)  // not every API shows it
      stage.record.expect(other(from), "immediate data", hash(Octets(value.begin(), value.end())),
                          hash(Octets(received.immediate->begin(), received.immediate->end())));
  }
  close(stage, link);
}

/// RFC 7306 section 5: FetchAdd, then CompareSwap of what it left.
void atomics(Stage& stage) {
  const Link link = open(stage);
  const Region word = stage.responder.memory_of(Octets(8, 0), rights::atomic);
  const auto carry_out = [&](const char* operation, std::uint64_t operand, std::uint64_t compare) {
    const Region original = stage.initiator.memory(8, rights::write);
    iut::PostWork work;
    work.endpoint = link.initiator;
    work.operation = operation;
    work.pieces = {{original.handle, 0, 8}};
    work.remote_stag = word.stag;
    work.remote_offset = word.base;
    work.add_or_swap = operand;
    work.compare = compare;
    stage.initiator.expect_completion(stage.initiator.post(work), operation);
    return stage.initiator.contents(original);
  };
  const auto expect = [&](Side side, const std::string& what, const Octets& octets, bool zero) {
    const bool is_zero = octets == Octets(8, 0);
    stage.record.expect(side, what, zero ? "zero" : "changed", is_zero ? "zero" : "changed");
  };
  constexpr std::uint64_t added = 0x0102030405060708;
  expect(Side::initiator, "original value of FetchAdd",
         carry_out(iut::operation::fetch_add, added, 0), true);
  expect(Side::responder, "memory after FetchAdd", stage.responder.contents(word), false);
  expect(Side::initiator, "original value of CompareSwap",
         carry_out(iut::operation::compare_swap, 0, added), false);
  expect(Side::responder, "memory after CompareSwap", stage.responder.contents(word), true);
  close(stage, link);
}

}  // namespace plugfest::plays
