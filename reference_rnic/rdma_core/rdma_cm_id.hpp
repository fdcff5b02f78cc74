// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An identifier of the connection manager, as librdmacm asks for it over its event channel
// (rdma/rdma_user_cm.h): its addresses, its listener or its connection, and its events.
#pragma once

#include <rdma/rdma_user_cm.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/address.hpp"
#include "base/file_descriptor.hpp"
#include "reference_rnic/rdma_core/event_queue.hpp"
#include "reference_rnic/rdma_core/objects.hpp"
#include "reference_rnic/rdma_core/rdma_cm_event_kind.hpp"

namespace rnic::rdma_core {

class CmId;

struct CmEvent {
  CmId* id = nullptr;       ///< for a connection request: the listener
  CmId* request = nullptr;  ///< its new identifier
  rdma_ucm_event_resp shown{};
};

/// An event channel: what a descriptor of rdma_cm stands for.
struct CmChannel {
  EventQueue<std::shared_ptr<CmEvent>> events;
  std::size_t ids = 0;  ///< identifiers that report here
};

class CmId {
 public:
  /// Throws nothing; the number is the program's.
  CmId(CmChannel& channel, std::uint64_t uid, std::uint16_t port_space);
  ~CmId();
  CmId(const CmId&) = delete;
  CmId& operator=(const CmId&) = delete;

  // The commands; each returns 0 or an errno.
  [[nodiscard]] int bind(const base::Address& local);
  [[nodiscard]] int resolve_address(const std::optional<base::Address>& source,
                                    const base::Address& destination);
  [[nodiscard]] int resolve_route();
  [[nodiscard]] int listen(Engine& shared);
  [[nodiscard]] int connect(Engine& shared, const rdma_ucm_conn_param& parameters);
  [[nodiscard]] int accept(Engine& shared, std::uint64_t uid,
                           const rdma_ucm_conn_param& parameters);
  /// rdma_establish() of the active side: an iWARP connection needs no third message of its consumer.
  [[nodiscard]] int establish() const { return state_ == State::connected ? 0 : EINVAL; }
  [[nodiscard]] int reject(Engine& shared, wire::Bytes private_data);
  [[nodiscard]] int disconnect(Engine& shared);
  [[nodiscard]] int set_option(std::uint32_t level, std::uint32_t name,
                               std::span<const std::byte> value);
  void migrate(CmChannel& channel);
  /// Ends what it has: the listener, the request, the connection.
  void close(Engine& shared);

  // Events of the connection manager.
  void requested(Engine& shared, const access::ConnectionRequest& request);
  void happened(Engine& shared, const access::ConnectionEstablished& event);
  void happened(Engine& shared, const access::ConnectionRejected& event);
  void happened(Engine& shared, const access::ConnectionFailed& event);
  void happened(Engine& shared, const access::ConnectionEnded& event);
  /// Its queue pair is destroyed, which ends the connection.
  void pair_gone();

  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] CmChannel& channel() const { return *channel_; }
  [[nodiscard]] const base::Address& local() const { return local_; }
  [[nodiscard]] const base::Address& remote() const { return remote_; }
  [[nodiscard]] bool has_device() const { return has_device_; }
  void set_uid(std::uint64_t uid) { uid_ = uid; }

  std::uint32_t events_reported = 0;  ///< taken from the channel

 private:
  enum class State : std::uint8_t {
    idle,
    bound,
    address_resolved,
    route_resolved,
    listening,
    requested,
    connecting,
    connected,
    over
  };
  void push(CmEvent event);
  void report(CmEventKind kind, int status = 0, const rdma_ucm_conn_param* parameters = nullptr);
  [[nodiscard]] Qp* pair_of(Engine& shared, const rdma_ucm_conn_param& parameters) const;
  void take(Qp& qp);
  [[nodiscard]] int reserve(base::Address& local);

  CmChannel* channel_;
  std::uint64_t uid_;
  std::uint16_t port_space_;
  std::uint32_t number_ = 0;
  State state_ = State::idle;
  base::Address local_{}, remote_{};
  bool has_device_ = false;
  bool reuse_address_ = false, one_family_ = false;
  base::FileDescriptor reservation_;  ///< a bound socket: keeps the port until listen()
  std::vector<access::ListenerId> listeners_;
  std::optional<access::ConnectionId> connection_;
  verbs::QueuePairHandle pair_{};
};

/// The identifiers of the process by number. To be used under the lock of the engine.
[[nodiscard]] CmId* find_id(std::uint32_t number);
CmId& add_id(std::unique_ptr<CmId> id);
void remove_id(Engine& shared, std::uint32_t number);
/// In the child of fork(): they are its parent's, whose threads may have been changing them.
void forget_ids();
/// Those of a channel that is closed go with it.
void remove_ids(Engine& shared, const CmChannel& channel);

}  // namespace rnic::rdma_core
