// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Drives a DAT 2.0 provider through libdat2.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "suite/upper_tester/buffer.hpp"
#include "suite/upper_tester/common_replies.hpp"
#include "suite/upper_tester/dat/dat_api.hpp"
#include "suite/upper_tester/dat/event_notifier.hpp"
#include "suite/upper_tester/dat/own_sockets.hpp"
#include "suite/upper_tester/driver.hpp"
#include "suite/upper_tester/start_driver.hpp"
#include "suite/upper_tester/waiting_work.hpp"

namespace suite::upper_tester::dat {

constexpr std::uint64_t waiting_requests = 128;
constexpr DAT_TIMEOUT connect_timeout = 10'000'000;  ///< microseconds

class DatDriver final : public Driver {
 public:
  /// Null with the reason if the IA cannot be opened.
  [[nodiscard]] static std::unique_ptr<DatDriver> open(const DriverOptions& options, Sink sink,
                                                       std::string& error);
  ~DatDriver() override;

  [[nodiscard]] iut::Hello hello() override;
  void execute(std::uint64_t number, const iut::Command& command) override;
  [[nodiscard]] int event_fd() const override {
    return options_.sockets ? sockets_.fd() : notifier_.fd();
  }
  void dispatch() override;

 private:
  using Handle = iut::Handle;
  /// The number of a piece of work, never used twice.
  using Token = std::uint64_t;

  struct Region {
    std::unique_ptr<Buffer> buffer;
    LocalRegion registration;  ///< empty once deregistered; the buffer remains
    DAT_LMR_CONTEXT context = 0;
    DAT_VADDR base = 0;  ///< the address of the first octet in segments, ours and the peer's
  };
  struct Posted {
    Handle endpoint = 0;
    iut::WorkId work = 0;
    std::string operation;
  };
  struct Endpoint {
    // Destroyed from last to first: the endpoint before the objects that it uses.
    Dispatcher receives, requests, connection;
    EndpointObject object;
    /// Work posted before the connection is established; the endpoint takes so many requests at a
    /// time.
    WaitingWork waiting;
    std::size_t most_requests = 0;
    bool drained = true;  ///< false: its dispatchers are left to overflow
  };
  struct Listener {
    Dispatcher requests;
    ServicePoint point;
    // Where connections are made over our own sockets, in place of `point`:
    int socket = -1;
    std::vector<SocketPoint> points{};  ///< of what was accepted
  };
  struct Shared {
    SharedReceiveQueue queue;
    std::uint32_t depth = 0;
  };

  DatDriver(const DriverOptions& options, Sink sink);
  [[nodiscard]] std::string prepare();
  [[nodiscard]] bool implements_send_with_invalidate() const;
  [[nodiscard]] std::vector<std::string> capabilities() const;
  [[nodiscard]] std::string make(Dispatcher& dispatcher, std::uint64_t length,
                                 unsigned flags) const;

  // memory.cpp
  iut::Reply run(const iut::CreateDomain& command);
  iut::Reply run(const iut::DestroyDomain& command);
  iut::Reply run(const iut::RegisterMemory& command);
  iut::Reply run(const iut::DeregisterMemory& command);
  iut::Reply run(const iut::ReadMemory& command);
  iut::Reply run(const iut::WriteMemory& command);
  iut::Reply run(const iut::AllocateWindow& command);
  iut::Reply run(const iut::FreeWindow& command);
  [[nodiscard]] DAT_PZ_HANDLE domain(Handle handle) const;

  // endpoints.cpp
  iut::Reply run(const iut::CreateSharedQueue& command);
  iut::Reply run(const iut::ResizeSharedQueue& command);
  iut::Reply run(const iut::DestroySharedQueue& command);
  iut::Reply run(const iut::ArmSharedQueueLimit& command);
  iut::Reply run(const iut::CreateEndpoint& command);
  iut::Reply run(const iut::DestroyEndpoint& command);
  iut::Reply run(const iut::QueryEndpoint& command);
  iut::Reply run(const iut::AbortEndpoint& command);
  iut::Reply run(const iut::ResetEndpoint& command);
  [[nodiscard]] DAT_EP_ATTR attributes(const iut::CreateEndpoint& command) const;

  // connections.cpp
  iut::Reply run(const iut::Listen& command);
  iut::Reply run(const iut::StopListening& command);
  iut::Reply run(const iut::Connect& command);
  iut::Reply run(const iut::Accept& command);
  iut::Reply run(const iut::Reject& command);
  iut::Reply run(const iut::Disconnect& command);
  iut::Reply run(const iut::Cancel& command);
  [[nodiscard]] std::optional<iut::Reply> set_depths(Endpoint& endpoint,
                                                     const iut::ConnectParameters& parameters);
  void take_requests(Handle listener, const Listener& from);
  void take_connection(Handle handle, const DAT_EVENT& event);

  // over_sockets.cpp: the same over sockets of our own
  iut::Reply listen_on_socket(const iut::Listen& command);
  iut::Reply connect_over_socket(const iut::Connect& command, const sockaddr_storage& remote);
  void take_sockets();
  void accept_on(Listener& listener);
  void start_mpa_on(int socket, const iut::Connect& command);
  void report_failure(const iut::Connect& command, const char* reason) const;
  [[nodiscard]] DAT_EP_HANDLE idle_endpoint() const;
  [[nodiscard]] bool is_for(const Request& request, const Endpoint& endpoint) const;

  // work.cpp
  iut::Reply run(const iut::PostReceive& command);
  iut::Reply run(const iut::PostWork& command);
  /// Every command that this driver does not have.
  template <class Other>
  iut::Reply run(const Other&) {
    return unsupported("this driver does not have the command");
  }
  [[nodiscard]] std::optional<iut::Reply> segments(const std::vector<iut::Piece>& pieces,
                                                   std::vector<DAT_LMR_TRIPLET>& list) const;
  iut::Reply bind(const Endpoint& endpoint, const iut::PostWork& command, Token token);
  DAT_RETURN post(const Endpoint& endpoint, const iut::PostWork& command,
                  std::vector<DAT_LMR_TRIPLET>& list, Token token) const;
  void take_completion(const DAT_EVENT& event);
  bool must_wait(const iut::PostWork& command);
  void post_waiting(Endpoint& endpoint);
  void give_up_waiting(Endpoint& endpoint);

  // dat_driver.cpp
  iut::Reply run(const iut::Configure& command);
  iut::Reply run(const iut::Reset& command);
  void take_endpoint(Handle handle, Endpoint& endpoint);
  void take_asynchronous();

  DriverOptions options_;
  DAT_IA_HANDLE ia_ = nullptr;
  DAT_EVD_HANDLE asynchronous_ = nullptr;
  DAT_IA_ATTR attr_{};
  DAT_PROVIDER_ATTR provider_{};
  EventNotifier notifier_;
  OwnSockets sockets_;

  std::map<Handle, Zone> domains_;  ///< 0 is the default one
  std::map<Handle, Region> regions_;
  std::map<Handle, RemoteRegion> windows_;
  std::map<Handle, Shared> shared_queues_;
  std::map<Handle, Endpoint> endpoints_;
  std::map<Handle, Listener> listeners_;
  std::map<Handle, Request> requests_;
  std::map<int, iut::Connect> connecting_;  ///< sockets that are not connected yet
  std::map<Token, Posted> posted_;
  Token next_token_ = 1;
  Handle next_request_ = 1;
};

}  // namespace suite::upper_tester::dat
