// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An open Interface Adapter: an RNIC of its own on the address that dat.conf names, and the dispatch
// of its events to the DAT objects concerned.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "reference_rnic/access/connection_manager.hpp"
#include "reference_rnic/dat/evd.hpp"
#include "reference_rnic/dat/handoff.hpp"
#include "reference_rnic/dat/socket_address.hpp"
#include "reference_rnic/llp/tcp_network.hpp"
#include "reference_rnic/verbs/soft_rnic.hpp"

namespace rnic::dat {

class Ep;
class Lmr;
class Cr;

/// One line of dat.conf, as libdat2 passed it to dat_provider_init.
struct Registration {
  DAT_PROVIDER table{};
  DAT_PROVIDER_INFO info{};
  std::string interface;  ///< as ia_params names it; may be empty
  base::Address address;  ///< port 0
};

/// The limits of an IA, for dat_ia_query and for its checks.
namespace limits {
constexpr DAT_COUNT evd_length = 1 << 20;
constexpr DAT_COUNT objects = 1 << 20;
constexpr DAT_COUNT dtos = 8192;
constexpr DAT_COUNT segments = 128;
constexpr DAT_COUNT read_segments = 8;  ///< each is an RDMA Read of its own on the wire
constexpr DAT_COUNT read_depth = 16;
constexpr DAT_SEG_LENGTH message = 1U << 30;
constexpr DAT_VLEN region = DAT_VLEN{1} << 46;
constexpr DAT_COUNT private_data = 508;  ///< 512 of MPA less the enhanced words (RFC 6581)
}  // namespace limits

/// Where connection requests arrive: PSP, RSP, CSP or SSP.
struct ServicePoint : Object {
  ServicePoint(Kind the_kind, Ia* the_ia, Evd* the_evd) : Object(the_kind, the_ia), evd(the_evd) {}
  ~ServicePoint() override;
  /// A request has come. A service point that cannot take it refuses it.
  virtual void requested(const access::ConnectionRequest& request) = 0;

  Use<Evd> evd;
  DAT_CONN_QUAL conn_qual = 0;
  std::optional<access::ListenerId> listener;
  std::unique_ptr<HandoffListener> handoff;  ///< for requests that other processes pass on
};

class Ia final : public Object {
 public:
  static constexpr Kind its_kind = Kind::ia;
  static constexpr DAT_RETURN_SUBTYPE subtype = DAT_INVALID_HANDLE_IA;

  Ia(Engine& engine, const Registration& registration);
  ~Ia() override;

  template <typename T>
  T& add(std::unique_ptr<T> object) {
    return engine_.handles().add(&registration_.table, std::move(object));
  }
  [[nodiscard]] const Registration& registration() const { return registration_; }
  [[nodiscard]] SocketAddress& address() { return address_; }
  [[nodiscard]] verbs::Rnic& rnic() { return rnic_; }
  [[nodiscard]] access::ConnectionManager& manager() { return manager_; }
  [[nodiscard]] base::EpollLoop& loop() { return engine_.loop(); }
  [[nodiscard]] verbs::CompletionQueueHandle completions() const { return completions_; }
  [[nodiscard]] DAT_IA_HANDLE consumers_handle() const;
  [[nodiscard]] std::uint64_t next_work_id() { return next_work_id_++; }

  /// Passes on the completions that are there, without waiting for the loop.
  void drain();
  /// An asynchronous event about an object.
  void report(DAT_EVENT_NUMBER number, const Object& object, DAT_COUNT reason);

  /// Opens a listener for the service point on a port of the IA's address; 0: any that is free.
  /// The error is an errno.
  [[nodiscard]] std::expected<void, int> listen(ServicePoint& point, DAT_CONN_QUAL conn_qual);
  /// Waits for a request on a connection that already exists.
  [[nodiscard]] bool serve(ServicePoint& point, std::unique_ptr<llp::Connection> connection,
                           const access::StartupOptions& options);
  void stop_listening(ServicePoint& point);
  /// The service point's one request has come: no listener has to be stopped.
  void forget_listener(ServicePoint& point);
  [[nodiscard]] ServicePoint* listening_on(DAT_CONN_QUAL conn_qual) const;

  Use<Evd> async_evd;
  bool async_elsewhere = false;  ///< opened with DAT_EVD_ASYNC_EXISTS
  // The objects of the handles of the layers below.
  std::unordered_map<std::uint64_t, Ep*> by_pair;
  std::unordered_map<std::uint32_t, Lmr*> by_context;  ///< LMR context, the STag
  std::vector<verbs::SendRequest> asked;  ///< the requests of one DTO, kept for their memory

 private:
  void happened(const access::ConnectionEvent& event);
  void happened(const verbs::AsyncEvent& event);
  [[nodiscard]] Ep* owner(verbs::QueuePairHandle pair) const;

  void handed_over(ServicePoint& point, std::unique_ptr<llp::Connection> connection);

  Engine& engine_;
  const Registration& registration_;
  SocketAddress address_;
  llp::TcpNetwork network_;
  verbs::SoftRnic rnic_;
  access::ConnectionManager manager_;
  verbs::CompletionQueueHandle completions_;
  std::array<verbs::Completion, 8> taken_;  ///< in drain(); not cleared each time
  std::unordered_map<std::uint64_t, ServicePoint*> listeners_;
  std::uint64_t next_work_id_ = 1;
};

}  // namespace rnic::dat
