// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What all calls of a process share: the progress thread with its lock and loop, and the one RNIC.
#pragma once

#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reference_rnic/access/connection_manager.hpp"
#include "reference_rnic/access/no_cancellation.hpp"
#include "reference_rnic/access/progress_thread.hpp"
#include "reference_rnic/llp/tcp_network.hpp"
#include "reference_rnic/verbs/soft_rnic.hpp"

struct ibv_send_wr;

namespace rnic::rdma_core {

struct Cq;
struct Qp;
struct Srq;
class CmId;

/// The RNIC that programs see as one device, with what belongs to it.
class Engine : public access::ProgressThread {
 public:
  Engine();
  [[nodiscard]] verbs::SoftRnic& rnic() { return *rnic_; }
  [[nodiscard]] access::ConnectionManager& manager() { return *manager_; }

  /// The objects of the handles of the layers below, and of the numbers that programs use.
  std::unordered_map<std::uint64_t, Cq*> cq_by_handle;
  std::unordered_map<std::uint64_t, Qp*> qp_by_handle;
  std::unordered_map<std::uint64_t, Srq*> srq_by_handle;
  std::unordered_map<std::uint32_t, Qp*> qp_by_number;
  std::unordered_map<std::uint64_t, CmId*> id_by_connection, id_by_listener;
  std::uint32_t next_number = 1;  ///< of queue pairs and of other handles that programs see
  access::Wakeup changed;         ///< whoever waits for an object's end looks again
  /// A list that is being posted, and where each of its requests comes from; kept for its memory.
  struct SendList {
    std::vector<verbs::SendRequest> requests;
    std::vector<ibv_send_wr*> origins;
  } send_list;
  std::array<verbs::Completion, 16> taken;  ///< on their way to the program; not cleared each time

 private:
  void happened(const verbs::AsyncEvent& event);
  void happened(const access::ConnectionEvent& event);

  std::unique_ptr<llp::TcpNetwork> network_;
  std::unique_ptr<verbs::SoftRnic> rnic_;
  std::unique_ptr<access::ConnectionManager> manager_;
};

/// The process's engine: C programs pass no context of ours to every call, so this has to be a global
/// object. It is never destroyed; after fork() the child gets a new one.
[[nodiscard]] Engine& engine();

/// Runs one call under the lock: `body(Engine&, Lock&)` returns 0 or an errno, as does this.
template <typename Body>
int call(Body&& body) {
  const access::NoCancellation whole;
  Engine& shared = engine();
  Engine::Lock lock = shared.lock();
  int result = 0;
  try {
    result = std::forward<Body>(body)(shared, lock);
  } catch (const std::bad_alloc&) {
    result = ENOMEM;
  }
  shared.nudge();
  return result;
}

/// The same for a call that makes an object: null and errno if it fails.
template <typename T, typename Body>
T* make(Body&& body) {
  T* made = nullptr;
  const int error = call([&](Engine& shared, Engine::Lock&) -> int {
    auto object = std::make_unique<T>();
    const int result = body(shared, *object);
    if (result == 0) made = object.release();
    return result;
  });
  if (error != 0) errno = error;
  return made;
}

/// What errno says of a refusal.
[[nodiscard]] int errno_of(verbs::Error error);

}  // namespace rnic::rdma_core
