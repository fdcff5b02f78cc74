// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where the cells of an event are played: in private labs of this machine, or on the network of the
// participants.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "base/file_descriptor.hpp"
#include "plugfest/event.hpp"
#include "plugfest/guests.hpp"
#include "suite/lab/namespaces.hpp"

namespace plugfest {

/// One end of a cell: where its agent is started, and the address at which its peer reaches it.
struct Host {
  /// Path of a network namespace; empty: ours.
  std::string network_namespace;
  std::string address;
};

struct CellHosts {
  Host initiator, responder;
  std::vector<CapturePlace> captures;
};

class TestNetwork {
 public:
  /// Makes one lab for each slot, where the event plays in labs, and the wire of its guests. The
  /// process must have one thread and is in namespaces of its own from then on. The error is one
  /// line.
  [[nodiscard]] static std::expected<TestNetwork, std::string> make(
      const Event& event, std::size_t slots, Guests guests,
      const std::function<void(const std::string&)>& tell);

  /// To be called before a cell begins if it was not asked whether its guests are away, and when
  /// its record is complete.
  void before(const Cell& cell) {
    for (const std::size_t at : {cell.initiator, cell.responder}) guests_.bring_up(at);
  }
  void after(const Cell& cell, Outcome& outcome) { guests_.look_back(cell, outcome); }
  [[nodiscard]] const Guests& guests() const { return guests_; }
  [[nodiscard]] Guests& guests() { return guests_; }

  [[nodiscard]] CellHosts hosts_for(const Event& event, std::size_t initiator,
                                    std::size_t responder, std::size_t slot) const;
  /// How the participant's agent is started, at this address.
  [[nodiscard]] std::vector<std::string> agent_command(const Event& event, std::size_t participant,
                                                       const std::string& address,
                                                       const std::string& own_agent) const;

 private:
  explicit TestNetwork(Guests guests) : guests_(std::move(guests)) {}
  [[nodiscard]] std::expected<void, std::string> describe_providers(const Event& event);
  [[nodiscard]] Host host_beside_guests(std::size_t participant) const;

  std::vector<suite::lab::Lab> labs_;  ///< empty: the network
  Guests guests_;
  base::FileDescriptor dat_conf_;  ///< of the references that are driven through DAT
};

/// The same for a participant that needs no guest and no dat.conf.
[[nodiscard]] std::vector<std::string> agent_command(const Event& event, std::size_t participant,
                                                     const std::string& address,
                                                     const std::string& own_agent);

}  // namespace plugfest
