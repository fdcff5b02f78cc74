// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Drives an RDMA device through the kernel's own verbs and connection manager, by the module
// rnic_kagent.
//
// A kernel consumer registers memory by a work request, so each protection domain has a queue pair
// for that (registrar.cpp). Queue pairs are made apart from the connection manager's identifiers,
// as by the verbs driver: an endpoint takes receives before it is known how it will connect.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "suite/upper_tester/common_replies.hpp"
#include "suite/upper_tester/driver.hpp"
#include "suite/upper_tester/kverbs/kernel_file.hpp"
#include "suite/upper_tester/start_driver.hpp"
#include "suite/upper_tester/verbs/link.hpp"

namespace suite::upper_tester::kverbs {

class KverbsDriver final : public Driver {
 public:
  /// Null with the reason if the module or the device is not available.
  [[nodiscard]] static std::unique_ptr<KverbsDriver> open(const DriverOptions& options, Sink sink,
                                                          std::string& error);
  ~KverbsDriver() override;

  [[nodiscard]] iut::Hello hello() override;
  void execute(std::uint64_t number, const iut::Command& command) override;
  [[nodiscard]] int event_fd() const override { return file_.descriptor(); }
  void dispatch() override;

 private:
  using Handle = iut::Handle;
  using Object = std::uint32_t;  ///< a handle of the module's; 0 is none
  /// A command's answer, or nothing yet.
  using Answer = std::optional<iut::Reply>;

  /// A connection of the device with itself; work requests that register memory go through it.
  struct Registrar {
    Object completions = 0, listener = 0;
    Object active_pair = 0, passive_pair = 0;
    Object active_id = 0, passive_id = 0;
    bool established = false;  ///< its active end is
    bool failed = false;
    std::uint64_t posted = 0;   ///< the number of its last work request
    std::optional<int> status;  ///< of that one, when it is done
  };
  struct Domain {
    Object object = 0;
    Registrar registrar;
  };
  struct Region {
    ModuleMemory memory;
    Object object = 0;  ///< 0 once deregistered; the memory remains
    Handle domain = 0;
    bool by_work = false;     ///< the test itself registers it, by work requests
    std::uint64_t inset = 0;  ///< of the first octet in the memory
    std::uint64_t length = 0;
    std::uint32_t local_key = 0;
    /// The first octet's address in work requests, ours and the peer's.
    std::uint64_t base = 0;
  };
  struct Endpoint {
    Object completions = 0, id = 0, queue_pair = 0;
    std::uint32_t access = 0;  ///< what the peer may do through it
    bool shares_completions = false;
    bool drainable = true;
    verbs::Link link;
  };

  KverbsDriver(const DriverOptions& options, Sink sink);
  [[nodiscard]] std::string prepare();

  // memory.cpp
  Answer run(std::uint64_t, const iut::CreateDomain&);
  Answer run(std::uint64_t, const iut::DestroyDomain&);
  Answer run(std::uint64_t, const iut::RegisterMemory&);
  Answer run(std::uint64_t, const iut::AllocateRegion&);
  Answer run(std::uint64_t, const iut::DeregisterMemory&);
  Answer run(std::uint64_t, const iut::ReadMemory&);
  Answer run(std::uint64_t, const iut::WriteMemory&);
  Answer run(std::uint64_t, const iut::AllocateWindow&);
  Answer run(std::uint64_t, const iut::FreeWindow&);
  Answer make(Region& region, Object domain, std::uint8_t fill, std::uint64_t pages);
  Answer allocate(Region& region, const iut::RegisterMemory& command, Object domain);
  Answer keep(Handle handle, Region region, Answer reply);

  // registrar.cpp
  iut::Reply register_by_work(Domain& domain, Object region, std::uint32_t key,
                              const iut::Access& access);
  [[nodiscard]] int connect_registrar(Domain& domain);
  [[nodiscard]] int start_registrar(Domain& domain);
  [[nodiscard]] int await(const Registrar& registrar, const std::function<bool()>& done);
  void destroy_registrar(Registrar& registrar);
  Domain* domain_of_registrar(Object object);
  void take(Registrar& registrar, const rnic_kagent_event& event);

  // connections.cpp
  Answer run(std::uint64_t, const iut::Listen&);
  Answer run(std::uint64_t, const iut::StopListening&);
  Answer run(std::uint64_t number, const iut::Connect&);
  Answer run(std::uint64_t, const iut::Accept&);
  Answer run(std::uint64_t, const iut::Reject&);
  Answer run(std::uint64_t, const iut::Disconnect&);
  Answer run(std::uint64_t, const iut::Cancel&);
  [[nodiscard]] rnic_kagent_connect connection_parameters(const iut::ConnectParameters& wanted,
                                                          Object id, Object queue_pair) const;
  [[nodiscard]] static iut::Octets private_data_of(const rnic_kagent_event& event);
  int resolve(Endpoint& endpoint);
  void start_connecting(Endpoint& endpoint);
  void resolve_route(Endpoint& endpoint);
  void establish(Endpoint& endpoint, rnic_kagent_event event);
  int disconnect(const Endpoint& endpoint);
  int disconnect_now(Endpoint& endpoint);
  void take_connection_event(const rnic_kagent_event& event);
  void take_request(Handle listener, const rnic_kagent_event& event);
  void take(Endpoint& endpoint, const rnic_kagent_event& event);

  // endpoints.cpp
  Answer run(std::uint64_t, const iut::CreateSharedQueue&);
  Answer run(std::uint64_t, const iut::ResizeSharedQueue&);
  Answer run(std::uint64_t, const iut::DestroySharedQueue&);
  Answer run(std::uint64_t, const iut::ArmSharedQueueLimit&);
  Answer run(std::uint64_t, const iut::CreateCompletionQueue&);
  Answer run(std::uint64_t, const iut::DestroyCompletionQueue&);
  Answer run(std::uint64_t, const iut::CreateEndpoint&);
  Answer make_completions(Endpoint& endpoint, const iut::CreateEndpoint& command,
                          std::uint64_t entries);
  Answer make_queues(Endpoint& endpoint, const iut::CreateEndpoint& command, Object domain,
                     Object shared);
  Answer run(std::uint64_t, const iut::DestroyEndpoint&);
  Answer run(std::uint64_t, const iut::SetEndpointAccess&);
  Answer run(std::uint64_t, const iut::QueryEndpoint&);
  Answer run(std::uint64_t, const iut::AbortEndpoint&);
  Answer run(std::uint64_t, const iut::ResetEndpoint&);
  [[nodiscard]] std::uint32_t access_of(const iut::CreateEndpoint& command) const;
  [[nodiscard]] int modify(Object queue_pair, std::uint32_t state, std::uint32_t access = 0) const;
  std::string release(Endpoint& endpoint);
  void take_asynchronous_event(const rnic_kagent_event& event);

  // work.cpp
  Answer run(std::uint64_t, const iut::PostReceive&);
  Answer run(std::uint64_t, const iut::PostWork&);
  Answer run(std::uint64_t, const iut::PostReceiveChain&);
  Answer run(std::uint64_t, const iut::PostWorkChain&);
  /// Every command that this driver does not have.
  template <class Other>
  Answer run(std::uint64_t, const Other&) {
    return unsupported("this driver does not have the command");
  }
  Answer pieces(const std::vector<iut::Piece>& pieces, rnic_kagent_piece* list,
                std::uint32_t& count) const;
  Answer prepare(const iut::PostReceive& command, rnic_kagent_recv& request);
  Answer prepare(const iut::PostWork& command, rnic_kagent_send& request, iut::Reply& done);
  Answer fill(const iut::PostWork& command, rnic_kagent_send& request) const;
  Answer map(const iut::PostWork& command, rnic_kagent_send& request, iut::Reply& done);
  void take_completion(const rnic_kagent_event& event);

  // kverbs_driver.cpp
  Answer run(std::uint64_t, const iut::Configure&);
  Answer run(std::uint64_t, const iut::Reset&);
  void note_failure(std::string& errors, const char* call, int error) const;
  void take_events(int wait_ms);
  void take(const rnic_kagent_event& event);
  Endpoint* endpoint_of(Object object);

  DriverOptions options_;
  KernelFile file_;
  rnic_kagent_open device_{};

  std::map<Handle, Domain> domains_;  ///< 0 is the default one
  std::map<Handle, Region> regions_;
  std::map<Handle, Object> shared_queues_;
  std::map<Handle, Object> completion_queues_;
  std::map<Handle, Endpoint> endpoints_;
  std::map<Handle, Object> listeners_;
  std::map<Handle, Object> requests_;
  std::map<std::uint64_t, iut::WorkId> receives_;  ///< posted to any receive queue, by number
  std::uint64_t next_number_ = 1;                  ///< of a work request; never used twice
  Handle next_request_ = 1;
};

}  // namespace suite::upper_tester::kverbs
