// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a case may expect at the IUT's API: completions, events and the contents of memory.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "suite/cases/framework/consumer.hpp"

namespace suite::cases {

/// A completion with one of these statuses, and the other properties that are given.
class ExpectedCompletion {
 public:
  explicit ExpectedCompletion(std::vector<std::string> statuses) : statuses_(std::move(statuses)) {}

  [[nodiscard]] ExpectedCompletion with_length(std::uint32_t length) const;
  [[nodiscard]] ExpectedCompletion invalidating(std::uint32_t stag) const;
  [[nodiscard]] ExpectedCompletion with_immediate(const Octets& eight) const;
  /// Judged only if the API reports it.
  [[nodiscard]] ExpectedCompletion with_solicited(bool solicited) const;

  [[nodiscard]] bool matches(const iut::CompletionEvent& event) const;
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::string> statuses_;
  std::optional<std::uint32_t> length_, invalidated_;
  std::optional<iut::ImmediateData> immediate_;
  std::optional<bool> solicited_;
};

/// Success.
[[nodiscard]] ExpectedCompletion completes();
[[nodiscard]] ExpectedCompletion completes_with(std::initializer_list<std::string> statuses);
/// Not executed because the connection ended first.
[[nodiscard]] ExpectedCompletion flushed();
/// Any status except success.
[[nodiscard]] ExpectedCompletion completes_in_error();

/// An event of the IUT's API.
struct ExpectedEvent {
  std::string text;
  std::function<bool(const iut::Event&)> matches;
  /// An event that is an advisory if no matching event comes as well.
  std::function<bool(const iut::Event&)> tolerated{};
};
/// The event may come instead of the wanted one: an advisory.
[[nodiscard]] ExpectedEvent or_at_least(ExpectedEvent wanted, const ExpectedEvent& tolerated);
[[nodiscard]] ExpectedEvent connect_request();
[[nodiscard]] ExpectedEvent connect_request_with(Octets private_data);
[[nodiscard]] ExpectedEvent established();
[[nodiscard]] ExpectedEvent established_with(Octets private_data);
[[nodiscard]] ExpectedEvent rejected();
[[nodiscard]] ExpectedEvent rejected_with(Octets private_data);
[[nodiscard]] ExpectedEvent connect_failed();
[[nodiscard]] ExpectedEvent disconnected();
[[nodiscard]] ExpectedEvent asynchronous(std::string kind);
/// An asynchronous event that reports an error of the stream, in whatever form the API has.
[[nodiscard]] ExpectedEvent asynchronous_error();
/// A completion of this work, whatever its status.
[[nodiscard]] ExpectedEvent completion_of(const Work& work);
/// ... with success.
[[nodiscard]] ExpectedEvent success_of(const Work& work);
/// Either of the two.
[[nodiscard]] ExpectedEvent operator|(const ExpectedEvent& first, const ExpectedEvent& second);

/// The contents that a region must have.
struct ExpectedContents {
  std::string text;
  std::function<Octets(const Region&)> wanted;
};
/// As the case itself last wrote it.
inline const ExpectedContents unchanged{"memory unchanged",
                                        [](const Region& region) { return region.contents; }};
/// `data` at `offset`, and the rest unchanged.
[[nodiscard]] ExpectedContents holds(Octets data, std::uint64_t offset = 0);

}  // namespace suite::cases
