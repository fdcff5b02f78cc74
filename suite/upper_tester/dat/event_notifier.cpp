// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/upper_tester/dat/event_notifier.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "suite/upper_tester/dat/names.hpp"

namespace suite::upper_tester::dat {

std::string EventNotifier::start(DAT_IA_HANDLE ia) {
  fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd_ < 0) return std::string("eventfd: ") + std::strerror(errno);
  if (const DAT_RETURN code =
          dat_cno_create(ia, DAT_OS_WAIT_PROXY_AGENT{nullptr, nullptr}, notifier_.out());
      code != DAT_SUCCESS)
    return return_text("dat_cno_create", code);
  if (const DAT_RETURN code =
          dat_evd_create(ia, 1, notifier_.get(), DAT_EVD_SOFTWARE_FLAG, ending_.out());
      code != DAT_SUCCESS)
    return return_text("dat_evd_create (software)", code);
  thread_ = std::thread([this] { wait(); });
  return {};
}

void EventNotifier::wait() const {
  while (!stopping_) {
    DAT_EVD_HANDLE which = nullptr;
    const DAT_RETURN type =
        DAT_GET_TYPE(dat_cno_wait(notifier_.get(), DAT_TIMEOUT_INFINITE, &which));
    if (type != DAT_SUCCESS && type != DAT_INTERRUPTED_CALL && type != DAT_QUEUE_EMPTY) return;
    static_cast<void>(::eventfd_write(fd_, 1));
  }
}

void EventNotifier::stop() {
  if (thread_.joinable()) {
    stopping_ = true;
    DAT_EVENT event{};
    event.event_number = DAT_SOFTWARE_EVENT;
    event.evd_handle = ending_.get();
    static_cast<void>(dat_evd_post_se(ending_.get(), &event));
    thread_.join();
  }
  static_cast<void>(ending_.free_now());
  static_cast<void>(notifier_.free_now());
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void EventNotifier::clear() const {
  eventfd_t count = 0;
  static_cast<void>(::eventfd_read(fd_, &count));
}

}  // namespace suite::upper_tester::dat
