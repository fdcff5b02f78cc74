// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reports events of DAT dispatchers through a descriptor that polls readable.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "suite/upper_tester/dat/dat_api.hpp"

namespace suite::upper_tester::dat {

/// A CNO with a thread that waits on it: not every provider has a CNO with a descriptor.
class EventNotifier {
 public:
  EventNotifier() = default;
  EventNotifier(const EventNotifier&) = delete;
  EventNotifier& operator=(const EventNotifier&) = delete;
  ~EventNotifier() { stop(); }

  /// An error in one line, or nothing.
  [[nodiscard]] std::string start(DAT_IA_HANDLE ia);
  /// To be called when only the notifier's own dispatcher still notifies it.
  void stop();

  /// The CNO with which dispatchers are made so that they wake us.
  [[nodiscard]] DAT_CNO_HANDLE notifier() const { return notifier_.get(); }
  [[nodiscard]] int fd() const { return fd_; }
  /// Makes the descriptor unreadable; to be called before the dispatchers are emptied.
  void clear() const;

 private:
  void wait() const;

  Notifier notifier_;
  Dispatcher ending_;  ///< its event ends the thread's wait
  int fd_ = -1;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace suite::upper_tester::dat
