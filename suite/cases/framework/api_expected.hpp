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

/// A completion with one of these statuses, and what else was said of it.
class ExpectedCompletion {
 public:
  explicit ExpectedCompletion(std::vector<std::string> statuses) : statuses_(std::move(statuses)) {}

  [[nodiscard]] ExpectedCompletion with_length(std::uint32_t length) const;
  [[nodiscard]] ExpectedCompletion invalidating(std::uint32_t stag) const;
  [[nodiscard]] ExpectedCompletion with_immediate(const Octets& eight) const;
  /// Judged only where the API shows it.
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
/// Not carried out since the connection ended first.
[[nodiscard]] ExpectedCompletion flushed();
/// Any status but success.
[[nodiscard]] ExpectedCompletion completes_in_error();

/// An event of the IUT's API.
struct ExpectedEvent {
  std::string text;
  std::function<bool(const iut::Event&)> matches;
  /// An advisory, where nothing that matches comes as well.
  std::function<bool(const iut::Event&)> tolerated{};
};
/// The event may come in place of the one wanted: an advisory.
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
/// An asynchronous event that reports an error of the stream, whichever the API has for it.
[[nodiscard]] ExpectedEvent asynchronous_error();
/// A completion of this work, whatever its status.
[[nodiscard]] ExpectedEvent completion_of(const Work& work);
/// ... with success.
[[nodiscard]] ExpectedEvent success_of(const Work& work);
/// Either of two.
[[nodiscard]] ExpectedEvent operator|(const ExpectedEvent& first, const ExpectedEvent& second);

/// The contents that a region shall have.
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
