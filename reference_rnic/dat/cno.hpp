// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A Consumer Notification Object: where threads wait for any of several EVDs, and the proxies that
// are notified instead of a thread.
#pragma once

#include <deque>

#include "base/file_descriptor.hpp"
#include "reference_rnic/dat/engine.hpp"

namespace rnic::dat {

class Evd;

class Cno final : public Object {
 public:
  static constexpr Kind its_kind = Kind::cno;
  static constexpr DAT_RETURN_SUBTYPE subtype = DAT_INVALID_HANDLE_CNO;

  explicit Cno(Ia* the_ia) : Object(its_kind, the_ia) {}

  /// An event came to an EVD that feeds this CNO. The agent is called once, and then removed.
  void trigger(Evd& evd);
  void set_agent(const DAT_OS_WAIT_PROXY_AGENT& now);
  /// The EVD no longer feeds this CNO.
  void forget(const Evd& evd);
  /// The EVD was freed. With the last one, all waiters and the agent are unblocked, without
  /// an EVD.
  void evd_freed(const Evd& evd);
  /// The EVD that was first to trigger since the last call, if any.
  [[nodiscard]] Evd* take();
  DAT_RETURN wait(Engine::Lock& lock, DAT_TIMEOUT timeout, DAT_EVD_HANDLE* evd);
  /// The IA closes: waiters and the agent are unblocked with no EVD. Returns once they have left.
  void abort_waiters(Engine::Lock& lock);

  DAT_OS_WAIT_PROXY_AGENT agent{};
  base::FileDescriptor signal;  ///< an eventfd, readable while a trigger is pending; may be none
  unsigned waiters = 0;
  access::PromptProgress prompt{engine()};  ///< while a descriptor or an agent waits for triggers

 private:
  void tell_agent(DAT_EVD_HANDLE evd);

  std::deque<Evd*> triggered_;
  access::Wakeup wakeup_;
  bool closing_ = false;
  unsigned deserted_ = 0;  ///< how often the last EVD was freed
};

}  // namespace rnic::dat
