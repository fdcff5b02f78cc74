// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An Event Dispatcher: a queue of events, one waiter, and the CNO that is triggered if no thread
// waits here.
#pragma once

#include <optional>

#include "base/fifo.hpp"
#include "reference_rnic/dat/cno.hpp"

namespace rnic::dat {

/// Whether an event unblocks a waiter and triggers the CNO, or is only queued.
enum class Notice : std::uint8_t { notify, silent };

class Evd final : public Object {
 public:
  static constexpr Kind its_kind = Kind::evd;
  static constexpr DAT_RETURN_SUBTYPE subtype = DAT_INVALID_HANDLE_EVD_REQUEST;

  Evd(Ia* the_ia, DAT_COUNT the_length, Cno* the_cno, DAT_EVD_FLAGS the_flags)
      : Object(its_kind, the_ia), length(the_length), cno(the_cno), flags(the_flags) {}
  ~Evd() override;

  /// An event of an event stream. If the queue is full, the event is lost, and the IA reports the
  /// overflow.
  void post(DAT_EVENT event, Notice notice = Notice::notify,
            DAT_SRQ_HANDLE from_srq = DAT_HANDLE_NULL);
  [[nodiscard]] bool full() const { return std::ssize(queue_) >= length; }
  [[nodiscard]] DAT_COUNT size() const { return static_cast<DAT_COUNT>(queue_.size()); }
  [[nodiscard]] std::optional<DAT_EVENT> take();
  DAT_RETURN wait(Engine::Lock& lock, DAT_TIMEOUT timeout, DAT_COUNT threshold, DAT_EVENT* event,
                  DAT_COUNT* more);
  void attach(Cno* to);
  void set_waitable(bool waitable);
  /// The IA closes. Returns once the waiter has left.
  void abort_waiter(Engine::Lock& lock);
  [[nodiscard]] DAT_EVD_STATE state() const;
  [[nodiscard]] bool takes(unsigned streams) const { return has(flags, streams); }

  DAT_COUNT length;
  Use<Cno> cno;
  DAT_EVD_FLAGS flags;
  bool enabled = true;
  bool waitable = true;
  bool waited = false;  ///< a thread is blocked in wait()
  /// Streams whose events do not all notify: then the threshold must be 1.
  unsigned selective_streams = 0;
  bool of_open = false;  ///< made by dat_ia_open, destroyed with its IA

 private:
  struct Entry {
    DAT_EVENT event;
    DAT_SRQ_HANDLE from_srq;
  };
  base::Fifo<Entry> queue_;
  access::Wakeup wakeup_;
  bool noticed_ = false;      ///< a notifying event came since the waiter blocked
  bool interrupted_ = false;  ///< made unwaitable while a thread waited
  bool closing_ = false;
  bool overflown_ = false;
};

/// The EVD that `handle` names, if it takes one of `streams`.
[[nodiscard]] Evd* find_evd(DAT_EVD_HANDLE handle, unsigned streams);

}  // namespace rnic::dat
