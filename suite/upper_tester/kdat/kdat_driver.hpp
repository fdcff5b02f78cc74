// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Drives a provider of kDAPL, in the kernel, by the module rnic_kdat_agent.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "suite/upper_tester/common_replies.hpp"
#include "suite/upper_tester/driver.hpp"
#include "suite/upper_tester/kdat/kernel_consumer.hpp"
#include "suite/upper_tester/start_driver.hpp"
#include "suite/upper_tester/waiting_work.hpp"

namespace suite::upper_tester::kdat {

class KdatDriver final : public Driver {
 public:
  /// Null with the reason if the module or the IA is not available.
  [[nodiscard]] static std::unique_ptr<KdatDriver> open(const DriverOptions& options, Sink sink,
                                                        std::string& error);
  ~KdatDriver() override;

  [[nodiscard]] iut::Hello hello() override;
  void execute(std::uint64_t number, const iut::Command& command) override;
  [[nodiscard]] int event_fd() const override { return kernel_.descriptor(); }
  void dispatch() override;

 private:
  using Handle = iut::Handle;

  struct Region {
    ModuleMemory memory;
    Word lmr = 0;  ///< 0 once deregistered; the memory remains
    std::uint32_t context = 0;
    Word base = 0;  ///< the address of the first octet in segments, ours and the peer's
    std::uint64_t length = 0;
  };
  struct Endpoint {
    Word receives = 0, requests = 0, connection = 0;  ///< dispatchers
    Word object = 0;
    WaitingWork waiting{};  ///< until it is connected
  };
  struct Listener {
    Word arrivals = 0, point = 0;
  };
  struct Posted {
    Handle endpoint = 0;
    iut::WorkId work = 0;
    std::string operation;
  };

  KdatDriver(const DriverOptions& options, Sink sink);
  [[nodiscard]] std::string prepare();
  /// A dispatcher whose UpCalls are told; 0 and the reply if there is none.
  Word make_dispatcher(Word flags, std::uint64_t length, iut::Reply& why) const;

  // memory.cpp
  iut::Reply run(const iut::CreateDomain& command);
  iut::Reply run(const iut::DestroyDomain& command);
  iut::Reply run(const iut::RegisterMemory& command);
  iut::Reply run(const iut::DeregisterMemory& command);
  iut::Reply run(const iut::ReadMemory& command);
  iut::Reply run(const iut::WriteMemory& command);
  iut::Reply run(const iut::AllocateWindow& command);
  iut::Reply run(const iut::FreeWindow& command);

  // connections.cpp
  iut::Reply run(const iut::Listen& command);
  iut::Reply run(const iut::StopListening& command);
  iut::Reply run(const iut::Connect& command);
  iut::Reply run(const iut::Accept& command);
  iut::Reply run(const iut::Reject& command);
  iut::Reply run(const iut::Disconnect& command);
  iut::Reply run(const iut::CreateEndpoint& command);
  iut::Reply run(const iut::DestroyEndpoint& command);
  iut::Reply run(const iut::ResetEndpoint& command);
  iut::Reply run(const iut::QueryEndpoint& command);
  void take_request(Handle listener, const rnic_kdat_event& event);
  void take_connection(Handle endpoint, const rnic_kdat_event& event);
  void free_endpoint(const Endpoint& endpoint) const;

  // work.cpp
  iut::Reply run(const iut::PostReceive& command);
  iut::Reply run(const iut::PostWork& command);
  iut::Reply bind(const Endpoint& endpoint, const iut::PostWork& command, Word token);
  bool segments(const std::vector<iut::Piece>& pieces, std::vector<rnic_kdat_segment>& list,
                iut::Reply& why) const;
  bool must_wait(const iut::PostWork& command) const;
  void post_waiting(Endpoint& endpoint);
  void give_up_waiting(Endpoint& endpoint);
  void take_completion(const rnic_kdat_event& event);

  // kdat_driver.cpp
  iut::Reply run(const iut::Reset& command);
  iut::Reply run(const iut::Cancel&) { return {}; }  // every command has been answered by now
  /// Every command that this driver does not have.
  template <class Other>
  iut::Reply run(const Other&) {
    return unsupported("this driver does not have the command");
  }
  void take(const rnic_kdat_upcall& upcall);

  DriverOptions options_;
  KernelConsumer kernel_;
  Word ia_ = 0, asynchronous_ = 0;
  rnic_kdat_call attributes_{};  ///< of the IA

  std::map<Handle, Word> domains_;  ///< 0 is the default one
  std::map<Handle, Region> regions_;
  std::map<Handle, Word> windows_;
  std::map<Handle, Endpoint> endpoints_;
  std::map<Handle, Listener> listeners_;
  std::map<Handle, Word> requests_;
  std::map<Word, Posted> posted_;  ///< by their cookies, of which none is used twice
  Word next_token_ = 1;
  Handle next_request_ = 1;
};

}  // namespace suite::upper_tester::kdat
