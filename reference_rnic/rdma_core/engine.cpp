// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The RNIC of a process: made as the launcher's environment says, and the dispatch of its events.
#include "reference_rnic/rdma_core/engine.hpp"

#include <pthread.h>

#include <atomic>

#include "reference_rnic/access/consumer_setup.hpp"
#include "reference_rnic/rdma_core/async_events.hpp"
#include "reference_rnic/rdma_core/fork.hpp"
#include "reference_rnic/rdma_core/rdma_cm_id.hpp"
#include "reference_rnic/rdma_core/settings.hpp"

namespace rnic::rdma_core {

namespace {

/// That of jumbo frames. On loopback the EMSS would be 64 KiB, and until the peer's window has opened
/// half of the window, so MULPDU would change during the first messages (RFC 5044 section 4.5).
constexpr std::size_t max_segment = 8948;

std::atomic<Engine*> current = nullptr;
std::atomic<unsigned> forks_so_far = 0;

/// The child has no progress thread, and its parent's sockets are the parent's: it begins anew.
void begin_anew() {
  current = nullptr;
  forks_so_far.fetch_add(1, std::memory_order_relaxed);
  forget_ids();
}

pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

}  // namespace

unsigned forks() { return forks_so_far.load(std::memory_order_relaxed); }

Engine::Engine() {
  llp::TcpHost host;
  host.max_segment = max_segment;
  network_ = std::make_unique<llp::TcpNetwork>(loop(), host);
  rnic_ = std::make_unique<verbs::SoftRnic>(
      access::host_in(loop()), verbs::SoftRnicOptions{.stag_seed = access::secret_seed()},
      rnic_decisions());
  manager_ = std::make_unique<access::ConnectionManager>(
      loop(), *network_, *rnic_, [this](const access::ConnectionEvent& event) { happened(event); },
      connection_decisions());
  rnic_->set_async_handler([this](const verbs::AsyncEvent& event) { happened(event); });
  const Lock held = lock();
  enter();
}

void Engine::happened(const verbs::AsyncEvent& event) {
  announce(*this, event);
  changed.wake_all();
}

void Engine::happened(const access::ConnectionEvent& event) {
  if (const auto* request = std::get_if<access::ConnectionRequest>(&event)) {
    const auto found = id_by_listener.find(static_cast<std::uint64_t>(request->listener));
    if (found == id_by_listener.end())
      static_cast<void>(manager_->refuse(request->connection));
    else
      found->second->requested(*this, *request);
    return;
  }
  std::visit(
      [&](const auto& one) {
        const auto found = id_by_connection.find(static_cast<std::uint64_t>(one.connection));
        if (found == id_by_connection.end()) return;
        if constexpr (requires { found->second->happened(*this, one); })
          found->second->happened(*this, one);
      },
      event);
  changed.wake_all();
}

Engine& engine() {
  if (Engine* const made = current.load(std::memory_order_acquire)) return *made;
  pthread_mutex_lock(&making);
  if (current == nullptr) {
    static const bool once = [] {
      pthread_atfork([] { pthread_mutex_lock(&making); }, [] { pthread_mutex_unlock(&making); },
                     [] {
                       pthread_mutex_init(&making, nullptr);
                       begin_anew();
                     });
      return true;
    }();
    static_cast<void>(once);
    current = new Engine;  // NOLINT: threads may still use it while the process ends
  }
  Engine& result = *current;
  pthread_mutex_unlock(&making);
  return result;
}

int errno_of(verbs::Error error) {
  switch (error) {
    case verbs::Error::in_use:
      return EBUSY;
    case verbs::Error::no_resources:
    case verbs::Error::queue_full:
      return ENOMEM;
    case verbs::Error::unsupported:
      return EOPNOTSUPP;
    case verbs::Error::invalid_handle:
    case verbs::Error::invalid_parameter:
    case verbs::Error::invalid_state:
    case verbs::Error::wrong_domain:
    case verbs::Error::overflowed:
      break;
  }
  return EINVAL;
}

}  // namespace rnic::rdma_core
