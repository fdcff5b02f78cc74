// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The part of rnic-lint that the analyzer calls: makes records of its calls and summarises each
// connection.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dissectors/analyzer/events.hpp"
#include "dissectors/lint/record.hpp"
#include "rules/catalogue.hpp"

namespace dissectors::lint {

struct CollectorOptions {
  std::vector<std::string> rules;          ///< shell patterns; empty: every rule
  rules::Level level = rules::Level::may;  ///< the weakest one of which violations are wanted
  bool messages = false;                   ///< also records of what was sent
};

class Collector final : public analyzer::Sink {
 public:
  explicit Collector(const CollectorOptions& options) : options_(options) {}

  /// To be called before each segment is given to the analyzer.
  void at(std::uint32_t frame, std::uint64_t time) {
    frame_ = frame;
    time_ = time;
  }
  [[nodiscard]] bool empty() const { return records_.empty(); }
  /// The records since the last call, in order.
  [[nodiscard]] std::vector<Record> take() { return std::exchange(records_, {}); }

  void opened(const analyzer::Connection& connection) override;
  void mpa_frame(const analyzer::Connection& connection,
                 const analyzer::MpaFrameSeen& seen) override;
  void negotiated(const analyzer::Connection& connection,
                  const analyzer::Negotiated& settled) override;
  void fpdu(const analyzer::Connection& connection, const analyzer::FpduSeen& seen) override;
  void message(const analyzer::Connection& connection, const analyzer::MessageSeen& seen) override;
  void finding(const analyzer::Connection& connection, const analyzer::Finding& found) override;
  void note(const analyzer::Connection& connection, const analyzer::Note& said) override;
  void ended(const analyzer::Connection& connection, analyzer::Direction direction,
             analyzer::Ending ending, const analyzer::Place& place) override;
  void closed(const analyzer::Connection& connection) override;

 private:
  /// The place of the octets decoded last in a direction, and the first of them.
  struct Recent {
    analyzer::Place place;
    std::array<std::byte, 32> octets{};
    std::uint8_t count = 0;
  };
  struct Held {
    ConnectionSummary summary;
    std::array<Recent, 2> recent;
  };
  [[nodiscard]] bool wanted(const analyzer::Finding& found) const;
  Held& held(const analyzer::Connection& connection);
  Held& active(const analyzer::Connection& connection);  ///< and notes that it lives
  void remember(Held& held, const analyzer::Place& place, analyzer::Bytes octets);
  static void illustrate(Violation& violation, const Recent& recent);
  void add(const analyzer::Connection& connection, decltype(Record::what) what);

  CollectorOptions options_;
  std::uint32_t frame_ = 0;
  std::uint64_t time_ = 0;
  std::unordered_map<std::uint64_t, Held> held_;  ///< by the analyzer's number
  Held* latest_ = nullptr;
  std::vector<Record> records_;
};

}  // namespace dissectors::lint
