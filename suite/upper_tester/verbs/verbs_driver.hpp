// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Drives an iWARP device through libibverbs and librdmacm.
//
// Queue pairs are made by libibverbs on a context of our own and given to librdmacm by number:
// iWARP's connection manager in the kernel moves a queue pair of any context. So an endpoint
// exists, and takes receives, before it is known whether it will connect or accept.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "suite/upper_tester/buffer.hpp"
#include "suite/upper_tester/driver.hpp"
#include "suite/upper_tester/start_driver.hpp"
#include "suite/upper_tester/verbs/device.hpp"
#include "suite/upper_tester/verbs/handles.hpp"
#include "suite/upper_tester/verbs/link.hpp"

namespace suite::upper_tester::verbs {

class VerbsDriver final : public Driver {
 public:
  /// Null with the reason if the device or the connection manager is not available.
  [[nodiscard]] static std::unique_ptr<VerbsDriver> open(const DriverOptions& options, Sink sink,
                                                         std::string& error);
  ~VerbsDriver() override;

  [[nodiscard]] iut::Hello hello() override { return describe(device_, options_); }
  void execute(std::uint64_t number, const iut::Command& command) override;
  [[nodiscard]] int event_fd() const override { return poll_; }
  void dispatch() override;

 private:
  using Handle = iut::Handle;
  using Token =
      std::uint64_t;  ///< never used twice, so that a late event cannot be taken for another's
  /// A command's answer, or nothing yet.
  using Answer = std::optional<iut::Reply>;

  struct Region {
    std::unique_ptr<Buffer> buffer;
    MemoryRegion registration;  ///< empty once deregistered; the buffer remains
    std::uint32_t local_key = 0;
    std::uint64_t base =
        0;  ///< the address of the first octet in work requests, ours and the peer's
  };
  struct Window {
    MemoryWindow window;
    ibv_mw_type type = IBV_MW_TYPE_1;
  };
  struct Endpoint {
    // Destroyed from last to first: the queue pair before the objects that it uses.
    CompletionQueue completions;  ///< its own; empty if it shares one
    CmId id;
    QueuePair queue_pair;

    Token token = 0;  ///< of `id` and of `completions`
    Link link;
    unsigned access = 0;    ///< what the peer may do through it
    ibv_qp_cap capacity{};  ///< as ibv_create_qp returned it
  };
  struct SharedCompletions {
    CompletionQueue queue;
    Token token = 0;
    bool solicited_only = false, armed_once = false;
  };
  struct Listener {
    CmId id;
    Token token = 0;
  };
  struct Request {
    CmId id;
    Token token = 0;
  };
  /// An event of the connection manager, copied so that the original is returned at once.
  struct CmEvent {
    Token token = 0;
    rdma_cm_id* id = nullptr;  ///< of a connect request: the new one
    LinkEvent about;
  };

  VerbsDriver(const DriverOptions& options, Sink sink);
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
  ibv_pd* domain(Handle handle);

  // connections.cpp
  Answer run(std::uint64_t, const iut::Listen&);
  Answer run(std::uint64_t, const iut::StopListening&);
  Answer run(std::uint64_t number, const iut::Connect&);
  Answer run(std::uint64_t, const iut::Accept&);
  Answer run(std::uint64_t, const iut::Reject&);
  Answer run(std::uint64_t, const iut::Disconnect&);
  Answer run(std::uint64_t, const iut::Cancel&);
  CmId make_id(Token token);
  int resolve(Endpoint& endpoint);
  void start_connecting(Endpoint& endpoint);
  void resolve_route(Endpoint& endpoint);
  int disconnect_now(Endpoint& endpoint);
  void take_cm_events();
  void take(const CmEvent& cm_event);
  void take_request(Handle listener, const CmEvent& cm_event);
  void take(Endpoint& endpoint, const LinkEvent& event);

  // endpoints.cpp
  Answer run(std::uint64_t, const iut::CreateSharedQueue&);
  Answer run(std::uint64_t, const iut::ResizeSharedQueue&);
  Answer run(std::uint64_t, const iut::DestroySharedQueue&);
  Answer run(std::uint64_t, const iut::ArmSharedQueueLimit&);
  Answer run(std::uint64_t, const iut::CreateCompletionQueue&);
  Answer run(std::uint64_t, const iut::DestroyCompletionQueue&);
  Answer run(std::uint64_t, const iut::ArmCompletionQueue&);
  Answer run(std::uint64_t, const iut::CreateEndpoint&);
  [[nodiscard]] unsigned access_of(const iut::CreateEndpoint& command) const;
  Answer make_completion_queue(Endpoint& endpoint, const iut::CreateEndpoint& command);
  Answer run(std::uint64_t, const iut::DestroyEndpoint&);
  Answer run(std::uint64_t, const iut::SetEndpointAccess&);
  Answer run(std::uint64_t, const iut::QueryEndpoint&);
  Answer run(std::uint64_t, const iut::AbortEndpoint&);
  Answer run(std::uint64_t, const iut::ResetEndpoint&);
  static int make_ready(const Endpoint& endpoint);
  std::string release(Endpoint& endpoint);
  void take_asynchronous_events();
  void take(const ibv_async_event& event, const char* kind);

  // work.cpp
  Answer run(std::uint64_t, const iut::PostReceive&);
  Answer run(std::uint64_t, const iut::PostWork&);
  Answer run(std::uint64_t, const iut::PostReceiveChain&);
  Answer run(std::uint64_t, const iut::PostWorkChain&);
  Answer pieces(const std::vector<iut::Piece>& pieces, std::vector<ibv_sge>& list,
                bool inline_data = false) const;
  /// A request of `list`, which outlives it.
  Answer prepare(const iut::PostReceive& command, std::vector<ibv_sge>& list, ibv_recv_wr& request);
  Answer prepare(const iut::PostWork& command, std::vector<ibv_sge>& list, ibv_send_wr& request);
  Answer fill(const iut::PostWork& command, ibv_send_wr& request);
  Answer bind(Endpoint& endpoint, const iut::PostWork& command, Token token);
  Answer fill(const iut::PostWork& command, ibv_mw_bind_info& info) const;
  Answer post(Endpoint& endpoint, const iut::PostWork& command, ibv_send_wr& request);
  void take_completions();
  void drain(ibv_cq* queue, Token token);
  void take(Endpoint& endpoint, const ibv_wc& completion);

  // verbs_driver.cpp
  Answer run(std::uint64_t, const iut::Configure&);
  Answer run(std::uint64_t, const iut::Reset&);
  Endpoint* endpoint_of(Token token);
  Endpoint* endpoint_of(const ibv_wc& completion);
  const SharedCompletions* shared_completions_of(Token token) const;

  DriverOptions options_;
  Device device_;
  int poll_ = -1;
  CmChannel connection_channel_;
  CompletionChannel completion_channel_;

  std::map<Handle, ProtectionDomain> domains_;  ///< 0 is the default one
  std::map<Handle, Region> regions_;
  std::map<Handle, Window> windows_;
  std::map<Handle, SharedReceiveQueue> shared_queues_;
  std::map<Handle, SharedCompletions> completion_queues_;
  std::map<Handle, Endpoint> endpoints_;
  std::map<Handle, Listener> listeners_;
  std::map<Handle, Request> requests_;
  std::map<Token, iut::WorkId> receives_;  ///< posted to any receive queue
  Token next_token_ = 1;
  Handle next_request_ = 1;
};

}  // namespace suite::upper_tester::verbs
