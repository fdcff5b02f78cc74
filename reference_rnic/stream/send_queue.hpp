// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The work that the consumer posted: issued and completed strictly in order, Reads and Atomics
// waiting for their Responses (RFC 5040 section 5.5, RFC 7306 section 5.4).
#pragma once

#include <expected>
#include <optional>
#include <vector>

#include "base/fifo.hpp"
#include "reference_rnic/stream/context.hpp"
#include "reference_rnic/stream/outgoing_message.hpp"

namespace rnic::stream {

/// An entry of the send queue.
struct PostedWork {
  enum class Progress : std::uint8_t { queued, issued, awaiting_response, done };
  Work work;
  Progress progress = Progress::queued;
  WorkStatus status = WorkStatus::success;
  std::uint64_t number = 0;          ///< of this entry, unique in the stream
  std::uint64_t length = 0;          ///< octets to transfer
  std::uint64_t original_value = 0;  ///< atomic
  std::uint32_t request_id = 0;      ///< atomic
  bool internal = false;             ///< the RTR indication: not reported to the consumer
};

class SendQueue {
 public:
  using Entry = PostedWork;
  using Progress = PostedWork::Progress;

  explicit SendQueue(Context& context) : context_(context) {}

  void post(Work&& work);
  /// Posts the RTR indication (RFC 6581 section 9.2), ahead of everything else.
  void post_rtr(OutgoingMessage& message, WorkKind kind);
  /// Whether work waits for its turn.
  [[nodiscard]] bool waiting() const { return !entries_.empty() && issued_ < entries_.size(); }
  /// The next message to be sent, if the order, the fences and the ORD allow it. Local operations
  /// before it are executed first. The fault: work that cannot be executed, which ends the stream
  /// (RFC 5040 section 7.1).
  [[nodiscard]] std::expected<std::optional<OutgoingMessage>, Fault> next();
  /// Executes the local operations that are next in turn, as far as the fences allow it.
  [[nodiscard]] std::optional<Fault> run_local();
  /// The last octet of entry `number` has been given to the LLP.
  void sent(std::uint64_t number);

  /// The oldest Read (or Atomic) that waits for its Response, if any.
  [[nodiscard]] Entry* outstanding(WorkKind kind);
  /// The Response to `entry` is complete.
  void respond(Entry& entry, WorkStatus status);

  /// Ends all work except the entries `kept`, whose messages are still sent: flushed, or with the
  /// status of `blame()`.
  void flush(const std::vector<std::uint64_t>& kept, WorkStatus status);
  /// The oldest Read or Atomic will end with this status instead of flushed.
  void blame(WorkStatus status);
  /// No Response can arrive any more: Reads and Atomics end as flushed, including later ones.
  void end_responses();
  /// Work that is posted from here on ends as flushed.
  void refuse() { refusing_ = true; }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  /// A stream may do nothing for long after startup: what that has used is given back.
  void release() { entries_.release(); }
  /// Entries that have not completed, in the order posted.
  [[nodiscard]] const base::Fifo<Entry>& entries() const { return entries_; }

 private:
  [[nodiscard]] bool local_is_next() const {
    return waiting() && entries_[issued_].work.kind == WorkKind::local;
  }
  void choose_next();
  [[nodiscard]] std::expected<bool, Fault> next_may_go();
  [[nodiscard]] std::optional<Fault> perform_local();
  [[nodiscard]] std::size_t outbound_limit() const;
  [[nodiscard]] std::optional<WorkStatus> refused(const Entry& entry) const;
  [[nodiscard]] bool must_wait(const Entry& entry) const;
  [[nodiscard]] std::expected<std::optional<OutgoingMessage>, Fault> message_for(Entry& entry);
  [[nodiscard]] OutgoingMessage read_request(const Entry& entry) const;
  [[nodiscard]] OutgoingMessage atomic_request(Entry& entry);
  [[nodiscard]] static bool awaits_response(WorkKind kind) {
    return kind == WorkKind::read || kind == WorkKind::atomic;
  }
  [[nodiscard]] static bool unanswered(const Entry& entry) {
    return entry.progress == Progress::awaiting_response || entry.progress == Progress::issued;
  }
  [[nodiscard]] auto issued_end() {
    return entries_.begin() + static_cast<std::ptrdiff_t>(issued_);
  }
  void finish(Entry& entry, WorkStatus status);
  [[nodiscard]] std::size_t next_completion() const;
  void retire();
  void announce(const Entry& entry);

  Context& context_;
  base::Fifo<Entry> entries_;
  std::size_t issued_ = 0;         ///< entries at the front that have been issued
  std::size_t responses_due_ = 0;  ///< Reads and Atomics issued and not answered
  std::uint64_t next_number_ = 1;
  std::uint32_t next_request_id_ = 1;
  bool refusing_ = false;
  bool flushed_ = false;
  bool responses_ended_ = false;
};

}  // namespace rnic::stream
