// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// RDMAP as a trace shows it: control fields, the messages of each opcode, Requests and their
// Responses (RFC 5040; RFC 7306 where it adds messages).
#pragma once

#include <array>
#include <optional>

#include "dissectors/analyzer/atomic_rules.hpp"
#include "dissectors/analyzer/ddp_rules.hpp"
#include "dissectors/analyzer/outstanding_requests.hpp"
#include "dissectors/analyzer/stag_table.hpp"
#include "dissectors/analyzer/startup_rules.hpp"

namespace dissectors::analyzer {

class RdmapRules {
 public:
  RdmapRules(Findings findings, StartupRules& startup, Order order)
      : findings_(findings), startup_(&startup), order_(order), atomics_(findings) {}

  /// The Request that a Response answers.
  struct Answer {
    std::uint32_t request_frame = 0;
    std::uint64_t response_time = 0;
  };
  Answer take(const Incoming& incoming, const MessageStep& step);
  /// Both ends are followed from MPA startup on.
  void followed_from_startup() {
    if (!lost_) doubt_ = {};
  }
  void lose(Direction direction);
  /// Nothing more comes in this direction.
  void ended(Direction direction);
  void finish();

  /// How far a Read Request has been served, for the Terminate that blames it.
  struct Progress {
    OutstandingRequest request;
    std::uint64_t served = 0;
  };
  [[nodiscard]] std::optional<Progress> progress(Direction requester, std::uint32_t msn);
  [[nodiscard]] bool terminated(Direction direction) const {
    return terminated_[index_of(direction)];
  }
  /// Requests of this end without a Response; 0 where that is not known.
  [[nodiscard]] std::size_t unanswered(Direction requester) const {
    return lost_ || doubt_[index_of(requester)] ? 0 : requests_[index_of(requester)].size();
  }

 private:
  /// A search among outstanding Requests looks no further: what a peer can make us do is bounded.
  static constexpr std::size_t search_depth = 256;

  /// The Read Response that one end is sending.
  struct Response {
    bool active = false;
    bool matched = false;
    bool ended_short = false;  ///< its L came before all octets asked for
    bool offset_reported = false, length_reported = false;
    OutstandingRequest request;
    std::uint64_t octets = 0, lowest = 0, next = 0;
    Place place;
    Certainty certainty = Certainty::certain;
  };
  /// A Response whose Request was not seen yet: the capture may bring it later.
  struct Unsolicited {
    bool atomic = false;
    bool repeated = false;
    std::uint32_t stag = 0, identifier = 0;
    std::uint64_t offset = 0;
    Place place;
    Certainty certainty = Certainty::certain;
    std::string text;
  };

  Answer take_message(const Incoming& incoming, const MessageStep& step);
  [[nodiscard]] bool check_control(const Incoming& incoming);
  void check_version(const Incoming& incoming);
  void check_untagged(const Incoming& incoming);
  void check_write(const Incoming& incoming, const MessageStep& step);
  void read_request(const Incoming& incoming, const MessageStep& step);
  void atomic_request(const Incoming& incoming, const MessageStep& step);
  void push(const Incoming& incoming, OutstandingRequest request, const MessageStep& step);

  // Read Responses against their Requests (read_response_rules.cpp)
  Answer read_response(const Incoming& incoming, const MessageStep& step);
  bool match(const Incoming& incoming, Response& response);
  bool match_in_doubt(const Incoming& incoming, Response& response);
  bool match_front(const Incoming& incoming, Response& response);
  void account(const Incoming& incoming, const MessageStep& step, Response& response);
  void settle_short(Response& response);

  Answer atomic_response(const Incoming& incoming, const MessageStep& step);
  [[nodiscard]] std::optional<std::size_t> find_atomic(const Incoming& incoming,
                                                       std::uint32_t identifier);
  void unsolicited(const Incoming& incoming, Unsolicited response);
  void confirm_unasked(const Incoming& by);
  void raise(const Unsolicited& response);
  Answer answer_to(const OutstandingRequest& request, const Incoming& incoming) const;
  void immediate(const Incoming& incoming, const MessageStep& step);

  OutstandingRequests& requests(Direction requester) { return requests_[index_of(requester)]; }
  bool& doubt(Direction requester) { return doubt_[index_of(requester)]; }

  Findings findings_;
  StartupRules* startup_;
  Order order_;
  AtomicRules atomics_;
  std::array<OutstandingRequests, 2> requests_;
  /// Requests or Responses may have been missed: what does not fit is not judged.
  std::array<bool, 2> doubt_{true, true};
  /// Some were missed earlier in the capture. Targets are used again, so a Response that fits a Request
  /// may be for one that was not seen: what follows from the two is then likely at most.
  bool lost_ = false;
  std::array<Response, 2> responses_;
  std::array<std::optional<OutstandingRequest>, 2> answered_;  ///< the Read answered last
  std::array<std::optional<Unsolicited>, 2> unsolicited_;
  /// Responses to no Request, or to one that was answered: a requester need not compare them with its
  /// Request (RFC 5040 section 5.2.2), and may have taken each for the answer to another one.
  std::array<std::uint32_t, 2> surplus_{};
  std::array<StagTable, 2> stags_;
  std::array<bool, 2> terminated_{}, after_terminate_reported_{};
};

}  // namespace dissectors::analyzer
