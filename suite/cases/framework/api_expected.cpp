// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/framework/api_expected.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "suite/iut/message_tables.hpp"

namespace suite::cases {

namespace {

/// The first of the names is success.
const std::vector<std::string> all_errors(std::next(iut::completion_status_words.begin()),
                                          iut::completion_status_words.end());

/// Verbs return private data in a buffer of fixed size, with zeros after what was sent (rdma_cm
/// does): zeros at the end do not count.
bool same_private_data(const Octets& seen, const Octets& wanted) {
  if (seen.size() < wanted.size()) return false;
  const auto rest = seen.begin() + static_cast<std::ptrdiff_t>(wanted.size());
  return std::equal(seen.begin(), rest, wanted.begin()) &&
         std::all_of(rest, seen.end(), [](std::byte octet) { return octet == std::byte{0}; });
}

template <typename T>
ExpectedEvent event_of(std::string text) {
  return {std::move(text),
          [](const iut::Event& event) { return std::holds_alternative<T>(event); },
          {}};
}

template <typename T>
ExpectedEvent event_with_private_data(const char* what, Octets data) {
  std::string text = fmt::format("{} with these {} octets of private data", what, data.size());
  return {std::move(text), [data = std::move(data)](const iut::Event& event) {
            const T* found = std::get_if<T>(&event);
            return found != nullptr && same_private_data(found->private_data, data);
          }};
}

}  // namespace

ExpectedCompletion ExpectedCompletion::with_length(std::uint32_t length) const {
  ExpectedCompletion copy = *this;
  copy.length_ = length;
  return copy;
}
ExpectedCompletion ExpectedCompletion::invalidating(std::uint32_t stag) const {
  ExpectedCompletion copy = *this;
  copy.invalidated_ = stag;
  return copy;
}
ExpectedCompletion ExpectedCompletion::with_immediate(const Octets& eight) const {
  ExpectedCompletion copy = *this;
  std::ranges::copy(eight, copy.immediate_.emplace().begin());
  return copy;
}
ExpectedCompletion ExpectedCompletion::with_solicited(bool solicited) const {
  ExpectedCompletion copy = *this;
  copy.solicited_ = solicited;
  return copy;
}

bool ExpectedCompletion::matches(const iut::CompletionEvent& event) const {
  return std::ranges::find(statuses_, event.status) != statuses_.end() &&
         (!length_ || event.length == *length_) &&
         (!invalidated_ || event.invalidated_stag == invalidated_) &&
         (!immediate_ || event.immediate == immediate_) &&
         (!solicited_ || !event.solicited || *event.solicited == *solicited_);
}

std::string ExpectedCompletion::text() const {
  std::string text = fmt::format("a completion with {}", fmt::join(statuses_, " or "));
  if (length_) text += fmt::format(", {} octets", *length_);
  if (invalidated_) text += fmt::format(", STag {:#010x} invalidated", *invalidated_);
  if (immediate_) text += ", the immediate data as sent";
  if (solicited_) text += *solicited_ ? ", solicited" : ", not solicited";
  return text;
}

ExpectedCompletion completes() { return ExpectedCompletion({"success"}); }
ExpectedCompletion completes_with(std::initializer_list<std::string> statuses) {
  return ExpectedCompletion(statuses);
}
ExpectedCompletion flushed() { return ExpectedCompletion({"flushed"}); }
ExpectedCompletion completes_in_error() { return ExpectedCompletion(all_errors); }

ExpectedEvent connect_request() {
  return event_of<iut::ConnectRequestEvent>("a connection request");
}
ExpectedEvent connect_request_with(Octets data) {
  return event_with_private_data<iut::ConnectRequestEvent>("a connection request", std::move(data));
}
ExpectedEvent established() { return event_of<iut::EstablishedEvent>("an established event"); }
ExpectedEvent established_with(Octets data) {
  return event_with_private_data<iut::EstablishedEvent>("an established event", std::move(data));
}
ExpectedEvent rejected() { return event_of<iut::RejectedEvent>("a rejected event"); }
ExpectedEvent rejected_with(Octets data) {
  return event_with_private_data<iut::RejectedEvent>("a rejected event", std::move(data));
}
ExpectedEvent connect_failed() {
  return event_of<iut::ConnectFailedEvent>("a connect-failed event");
}
ExpectedEvent disconnected() { return event_of<iut::DisconnectedEvent>("a disconnected event"); }
ExpectedEvent asynchronous(std::string kind) {
  std::string text = fmt::format("an asynchronous event {}", kind);
  return {std::move(text), [kind = std::move(kind)](const iut::Event& event) {
            const auto* found = std::get_if<iut::AsynchronousEvent>(&event);
            return found != nullptr && found->kind == kind;
          }};
}
ExpectedEvent asynchronous_error() {
  return asynchronous("qp_access_error") | asynchronous("qp_request_error") |
         asynchronous("qp_fatal");
}
ExpectedEvent completion_of(const Work& work) {
  return {fmt::format("a completion of work {}", work.id), [id = work.id](const iut::Event& event) {
            const auto* found = std::get_if<iut::CompletionEvent>(&event);
            return found != nullptr && found->work == id;
          }};
}
ExpectedEvent success_of(const Work& work) {
  return {fmt::format("a successful completion of work {}", work.id),
          [id = work.id](const iut::Event& event) {
            const auto* found = std::get_if<iut::CompletionEvent>(&event);
            return found != nullptr && found->work == id && found->status == "success";
          },
          {}};
}
ExpectedEvent operator|(const ExpectedEvent& first, const ExpectedEvent& second) {
  return {first.text + " or " + second.text,
          [first = first.matches, second = second.matches](const iut::Event& event) {
            return first(event) || second(event);
          },
          {}};
}

ExpectedEvent or_at_least(ExpectedEvent wanted, const ExpectedEvent& tolerated) {
  wanted.text += fmt::format(" (or, as an advisory, {})", tolerated.text);
  wanted.tolerated = tolerated.matches;
  return wanted;
}

ExpectedContents holds(Octets data, std::uint64_t offset) {
  std::string text =
      fmt::format("these {} octets at offset {}, the rest unchanged", data.size(), offset);
  return {std::move(text), [data = std::move(data), offset](const Region& region) {
            Octets wanted = region.contents;
            std::ranges::copy(data, wanted.begin() + static_cast<std::ptrdiff_t>(offset));
            return wanted;
          }};
}

}  // namespace suite::cases
