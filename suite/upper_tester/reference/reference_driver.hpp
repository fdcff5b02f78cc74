// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The driver of the reference RNIC: every command of the upper tester over access and verbs, in the
// event loop of its owner.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reference_rnic/access/connection_manager.hpp"
#include "reference_rnic/access/resource_tree.hpp"
#include "reference_rnic/lawful/offer.hpp"
#include "reference_rnic/verbs/rnic.hpp"
#include "suite/upper_tester/buffer.hpp"
#include "suite/upper_tester/driver.hpp"
#include "suite/upper_tester/reference/behaviour.hpp"

namespace suite::upper_tester::reference {

struct DriverOptions {
  std::uint64_t stag_seed =
      0x5eed;  ///< a program takes a random one; in tests equal seeds give equal runs
  Behaviour behaviour{};
  /// Shorter than the RNIC's own limit, so that a run need not wait ten seconds in the cases that
  /// let MPA startup time out.
  std::chrono::seconds startup_timeout{3};
};

/// event loop and network must outlive it. It runs in the event loop: there is no descriptor to
/// poll.
class ReferenceDriver final : public Driver {
 public:
  ReferenceDriver(base::EventLoop& loop, rnic::llp::Network& network, const DriverOptions& options,
                  Sink sink);
  ~ReferenceDriver() override;

  [[nodiscard]] iut::Hello hello() override;
  void execute(std::uint64_t number, const iut::Command& command) override;

 private:
  using Resource = rnic::access::Resource;
  template <typename Object>
  struct Held {
    Object object{};
    Resource resource = Resource::none;
  };
  /// Memory stays readable after its registration has ended, until the reset.
  struct Region {
    std::vector<std::byte> octets;
    /// In place of `octets`, where the process is to lack rights to it when it is registered.
    std::unique_ptr<Buffer> pages;
    rnic::verbs::RegionInfo info;
    Resource resource = Resource::none;  ///< while registered
    [[nodiscard]] rnic::wire::MutableBytes memory() {
      return pages ? rnic::wire::MutableBytes{pages->data(), pages->size()} : octets;
    }
  };
  struct Endpoint {
    rnic::verbs::QueuePairHandle queue_pair;
    rnic::verbs::CompletionQueueHandle completions;
    Resource resource = Resource::none;
    bool shares_completions = false;
  };

  iut::Reply perform(const iut::Configure& command);
  iut::Reply perform(const iut::Reset& command);
  iut::Reply perform(const iut::CreateDomain& command);
  iut::Reply perform(const iut::DestroyDomain& command);
  iut::Reply perform(const iut::RegisterMemory& command);
  iut::Reply perform(const iut::AllocateRegion& command);
  iut::Reply perform(const iut::DeregisterMemory& command);
  iut::Reply perform(const iut::ReadMemory& command);
  iut::Reply perform(const iut::WriteMemory& command);
  iut::Reply perform(const iut::AllocateWindow& command);
  iut::Reply perform(const iut::FreeWindow& command);
  iut::Reply perform(const iut::CreateSharedQueue& command);
  iut::Reply perform(const iut::ResizeSharedQueue& command);
  iut::Reply perform(const iut::DestroySharedQueue& command);
  iut::Reply perform(const iut::ArmSharedQueueLimit& command);
  iut::Reply perform(const iut::CreateCompletionQueue& command);
  iut::Reply perform(const iut::DestroyCompletionQueue& command);
  iut::Reply perform(const iut::ArmCompletionQueue& command);
  iut::Reply perform(const iut::CreateEndpoint& command);
  iut::Reply perform(const iut::DestroyEndpoint& command);
  iut::Reply perform(const iut::SetEndpointAccess& command);
  iut::Reply perform(const iut::QueryEndpoint& command);
  iut::Reply perform(const iut::AbortEndpoint& command);
  iut::Reply perform(const iut::ResetEndpoint& command);
  iut::Reply perform(const iut::Listen& command);
  iut::Reply perform(const iut::StopListening& command);
  iut::Reply perform(const iut::Connect& command);
  iut::Reply perform(const iut::Accept& command);
  iut::Reply perform(const iut::Reject& command);
  iut::Reply perform(const iut::Disconnect& command);
  iut::Reply perform(const iut::PostReceive& command);
  iut::Reply perform(const iut::PostWork& command);
  iut::Reply perform(const iut::PostReceiveChain& command);
  iut::Reply perform(const iut::PostWorkChain& command);
  iut::Reply perform(const iut::Cancel& command);

  void handle(const rnic::access::ConnectionRequest& event);
  void handle(const rnic::access::ConnectionEstablished& event);
  void handle(const rnic::access::ConnectionRejected& event);
  void handle(const rnic::access::ConnectionFailed& event);
  void handle(const rnic::access::ConnectionEnded& event);
  void handle(const rnic::verbs::AsyncEvent& event);
  /// A completion queue that is emptied when it wakes the driver: how it is armed for that, and whether
  /// it is armed again then.
  struct Drained {
    rnic::verbs::Arm arm = rnic::verbs::Arm::next;
    bool again = true;
  };
  /// Called when there are completions.
  void completed(rnic::verbs::CompletionQueueHandle queue);
  /// Emits all completions that are there, and arms the queue again if that is wanted.
  void drain(rnic::verbs::CompletionQueueHandle queue);
  /// Emits the completions in an endpoint's own queue before the event that says that its connection is
  /// over.
  void drain_own(iut::Handle endpoint);
  /// The queue for an endpoint that is being made.
  [[nodiscard]] std::expected<rnic::verbs::CompletionQueueHandle, iut::Reply> completions_for(
      const iut::CreateEndpoint& command, std::uint64_t receives);
  [[nodiscard]] std::expected<rnic::verbs::CompletionQueueHandle, rnic::verbs::Error>
  make_completion_queue(std::uint64_t depth, std::optional<Drained> drained);

  [[nodiscard]] static std::expected<Region, iut::Reply> allocate(
      const iut::RegisterMemory& command);
  void keep(iut::Handle name, Region region, Resource domain);
  void create_default_domain();
  void release_everything();
  void release_endpoint(iut::Handle handle);
  void release_completions(const Endpoint& endpoint);
  [[nodiscard]] const Held<rnic::verbs::DomainHandle>* domain(iut::Handle handle) const;
  /// The name of an object that a command has made; 0: there is none.
  template <typename Object>
  [[nodiscard]] static iut::Handle handle_of(const std::map<iut::Handle, Held<Object>>& objects,
                                             Object wanted) {
    for (const auto& [handle, held] : objects)
      if (held.object == wanted) return handle;
    return 0;
  }
  [[nodiscard]] iut::Handle endpoint_of(rnic::verbs::QueuePairHandle queue_pair) const;
  [[nodiscard]] iut::Handle endpoint_of(rnic::verbs::CompletionQueueHandle queue) const;
  [[nodiscard]] std::expected<rnic::verbs::SendRequest, iut::Reply> request_of(
      const iut::PostWork& command);
  [[nodiscard]] bool add_pieces(const std::vector<iut::Piece>& pieces,
                                rnic::verbs::Pieces& to) const;
  [[nodiscard]] std::expected<rnic::access::ConnectParameters, iut::Reply> parameters_of(
      const iut::ConnectParameters& parameters) const;
  /// The region has the STag that it will have from then on.
  [[nodiscard]] std::optional<iut::Reply> fill_registration(rnic::verbs::SendRequest& request,
                                                            const iut::PostWork& command);
  [[nodiscard]] std::optional<iut::Reply> fill_bind(rnic::verbs::SendRequest& request,
                                                    const iut::PostWork& command) const;

  base::EventLoop& loop_;
  rnic::llp::Network& network_;
  DriverOptions options_;
  rnic::lawful::Offer offer_;
  std::unique_ptr<rnic::verbs::Rnic> rnic_;
  std::unique_ptr<rnic::access::ConnectionManager> connections_;
  rnic::access::StartupOptions startup_;

  std::map<iut::Handle, Held<rnic::verbs::DomainHandle>> domains_;  ///< 0: the default domain
  std::map<iut::Handle, Region> regions_;
  std::map<iut::Handle, Held<rnic::verbs::WindowHandle>> windows_;
  std::map<iut::Handle, Held<rnic::verbs::SharedQueueHandle>> shared_queues_;
  std::map<iut::Handle, Held<rnic::verbs::CompletionQueueHandle>> completion_queues_;
  /// The completions of others remain in them, so that they overflow.
  std::map<rnic::verbs::CompletionQueueHandle, Drained> drained_;
  std::map<iut::Handle, Endpoint> endpoints_;
  std::map<iut::Handle, Held<rnic::access::ListenerId>> listeners_;
  std::map<iut::Handle, rnic::access::ConnectionId> requests_;
  iut::Handle next_request_ = 1;
  std::uint64_t next_base_ = 0;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
  /// Last: it releases into all of the above.
  rnic::access::ResourceTree resources_;
};

}  // namespace suite::upper_tester::reference
