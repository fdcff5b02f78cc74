// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A completion queue: bounded, armed for one event at a time, and unusable after its first
// overflow.
#pragma once

#include <optional>
#include <span>

#include "base/fifo.hpp"
#include "reference_rnic/verbs/rnic.hpp"

namespace rnic::verbs {

class CompletionQueue {
 public:
  CompletionQueue(CompletionQueueHandle handle, std::uint32_t depth, CompletionHandler handler)
      : handle_(handle), depth_(depth), handler_(std::move(handler)) {}

  enum class Pushed : std::uint8_t { kept, first_overflow, lost };
  Pushed push(const Completion& completion);
  [[nodiscard]] std::optional<Arm> armed() const { return armed_; }
  /// Whether it is armed for this completion.
  [[nodiscard]] bool is_armed_for(const Completion& completion) const;
  void disarm() { armed_.reset(); }
  [[nodiscard]] std::expected<std::size_t, Error> poll(std::span<Completion> out);
  void arm(Arm arm);
  [[nodiscard]] std::expected<void, Error> resize(std::uint32_t depth);

  [[nodiscard]] CompletionQueueHandle handle() const { return handle_; }
  [[nodiscard]] const CompletionHandler& handler() const { return handler_; }

  std::uint32_t users = 0;  ///< queue pairs, once per direction
  Arm asked_last = Arm::next;

 private:
  CompletionQueueHandle handle_;
  std::uint32_t depth_;
  CompletionHandler handler_;
  base::Fifo<Completion> entries_;
  std::optional<Arm> armed_;
  bool overflowed_ = false;
};

}  // namespace rnic::verbs
