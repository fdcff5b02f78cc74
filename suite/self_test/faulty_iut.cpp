// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/self_test/faulty_iut.hpp"

#include <array>
#include <utility>

namespace suite::self_test {

namespace {

using Fate = ApiFault::Fate;
using iut::Command;
using iut::Event;
using iut::Reply;

// ---- which things a fault is about ----

/// A member function pointer or a lambda on one type of command or event.
template <typename Type, typename Variant, typename Change>
bool in(Variant& thing, const Change& change) {
  auto* found = std::get_if<Type>(&thing);
  return found != nullptr && change(*found);
}

template <typename Change>
bool in_work(Command& command, const Change& change) {
  if (auto* chain = std::get_if<iut::PostWorkChain>(&command)) {
    bool changed = false;
    for (iut::PostWork& work : chain->requests) changed = change(work) || changed;
    return changed;
  }
  return in<iut::PostWork>(command, change);
}

template <typename Value>
bool set(Value& member, Value value) {
  return std::exchange(member, value) != value;
}

bool any_but_reset(Command& command) {
  return !std::holds_alternative<iut::Reset>(command) &&
         !std::holds_alternative<iut::Configure>(command) &&
         !std::holds_alternative<iut::Cancel>(command);
}

bool any_event(Event& event) { return !std::holds_alternative<iut::GoneEvent>(event); }

template <typename Change>
bool in_completion(Event& event, const Change& change) {
  return in<iut::CompletionEvent>(event, change);
}

// ---- access ----

constexpr iut::Access everything{true, true, true, true, true};

bool widen(iut::Access& access) {
  const bool wider = !access.remote_read || !access.remote_write;
  access = everything;
  return wider;
}

bool more_access(Command& command) {
  return in<iut::RegisterMemory>(command, [](auto& one) { return widen(one.access); }) ||
         in<iut::CreateEndpoint>(command,
                                 [](auto& one) { return one.access && widen(*one.access); }) ||
         in<iut::SetEndpointAccess>(command, [](auto& one) { return widen(one.access); }) ||
         in_work(command, [](iut::PostWork& work) {
           return work.registration && widen(work.registration->access);
         });
}

bool less_access(Command& command) {
  return in_work(command, [](iut::PostWork& work) {
    if (!work.registration) return false;
    work.registration->access = {};
    return true;
  });
}

// ---- work ----

bool former_key(Command& command) {
  return in_work(command, [](iut::PostWork& work) {
    if (!work.registration) return false;
    --work.registration->key;
    return true;
  });
}

bool pieces_shifted(Command& command) {
  return in_work(command, [](iut::PostWork& work) {
    if (work.pieces.empty() || work.pieces.front().length < 2) return false;
    ++work.pieces.front().offset;
    --work.pieces.front().length;
    return true;
  });
}

bool pieces_cut(Command& command) {
  return in_work(command, [](iut::PostWork& work) {
    if (work.pieces.empty() || work.pieces.back().length < 2) return false;
    --work.pieces.back().length;
    return true;
  });
}

bool last_piece_lost(Command& command) {
  return in_work(command, [](iut::PostWork& work) {
    if (work.pieces.size() < 2) return false;
    work.pieces.pop_back();
    return true;
  });
}

/// The request that the API would refuse is left out of its list.
bool third_left_out(Command& command) {
  const auto leave_out = [](auto& chain) {
    if (chain.requests.size() < 4) return false;
    chain.requests.erase(chain.requests.begin() + 2);
    return true;
  };
  return in<iut::PostWorkChain>(command, leave_out) ||
         in<iut::PostReceiveChain>(command, leave_out);
}

/// The list ends before the requests ahead of the bad one.
bool list_cut(Command& command) {
  const auto cut = [](auto& chain) {
    if (chain.requests.size() < 2) return false;
    chain.requests.erase(chain.requests.begin());
    return true;
  };
  return in<iut::PostWorkChain>(command, cut) || in<iut::PostReceiveChain>(command, cut);
}

bool list_reversed(Command& command) {
  const auto reverse = [](auto& chain) {
    if (chain.requests.size() < 2) return false;
    std::swap(chain.requests.front(), chain.requests[1]);
    return true;
  };
  return in<iut::PostWorkChain>(command, reverse) || in<iut::PostReceiveChain>(command, reverse);
}

// ---- replies ----

bool other_attributes(Reply& reply) {
  if (!reply.attributes) return false;
  reply.attributes->send_depth = reply.attributes->receive_depth = 0;
  reply.attributes->max_pieces = reply.attributes->max_inline = 0;
  reply.attributes->access.remote_read = !reply.attributes->access.remote_read;
  return true;
}

bool other_state(Reply& reply) {
  if (!reply.state) return false;
  reply.state = *reply.state == "error" ? "connected" : "error";
  return true;
}

constexpr std::array faults{
    // what the consumer asks for
    ApiFault{.name = "more_access", .command = more_access},
    ApiFault{.name = "less_access", .command = less_access},
    ApiFault{.name = "former_key", .command = former_key},
    ApiFault{.name = "pieces_shifted", .command = pieces_shifted},
    ApiFault{.name = "pieces_cut", .command = pieces_cut},
    ApiFault{.name = "last_piece_lost", .command = last_piece_lost},
    ApiFault{.name = "third_of_the_list_left_out", .command = third_left_out},
    ApiFault{.name = "first_of_the_list_left_out", .command = list_cut},
    ApiFault{.name = "list_reversed", .command = list_reversed},
    ApiFault{.name = "fence_lost",
             .command =
                 [](Command& command) {
                   return in_work(command,
                                  [](iut::PostWork& work) { return set(work.fence, false); });
                 }},
    ApiFault{.name = "signaled_anyway",
             .command =
                 [](Command& command) {
                   return in_work(command,
                                  [](iut::PostWork& work) { return set(work.signaled, true); });
                 }},
    ApiFault{.name = "not_all_signaled",
             .command =
                 [](Command& command) {
                   return in<iut::CreateEndpoint>(command, [](auto& one) {
                     return std::exchange(one.signal_all, std::nullopt).has_value();
                   });
                 }},
    ApiFault{.name = "armed_again_by_itself",
             .command =
                 [](Command& command) {
                   return in<iut::CreateCompletionQueue>(command, [](auto& one) {
                     return std::exchange(one.armed_once, std::nullopt).has_value();
                   });
                 }},
    ApiFault{.name = "inline_data_taken_late",
             .command =
                 [](Command& command) {
                   return in_work(command,
                                  [](iut::PostWork& work) { return set(work.inline_data, false); });
                 }},
    ApiFault{.name = "armed_otherwise",
             .command =
                 [](Command& command) {
                   return in<iut::CreateCompletionQueue>(command, [](auto& queue) {
                     queue.solicited_only = !queue.solicited_only;
                     return true;
                   });
                 }},
    ApiFault{.name = "listens_everywhere",
             .command =
                 [](Command& command) {
                   return in<iut::Listen>(command, [](auto& listen) {
                     listen.address = listen.family == "ipv4" ? "0.0.0.0" : "::";
                     return true;
                   });
                 }},
    ApiFault{.name = "listens_at_its_own_address",
             .command =
                 [](Command& command) {
                   return in<iut::Listen>(command, [](auto& listen) {
                     listen.address.clear();
                     return true;
                   });
                 }},
    ApiFault{.name = "backlog_of_one",
             .command =
                 [](Command& command) {
                   return in<iut::Listen>(command, [](auto& listen) {
                     return listen.backlog && set(*listen.backlog, 1);
                   });
                 }},
    // what it is answered
    ApiFault{.name = "success_refused",
             .reply =
                 [](Reply& reply) {
                   if (reply.outcome != iut::Outcome::ok) return false;
                   reply.outcome = iut::Outcome::failed;
                   reply.error = "refused by a fault";
                   return true;
                 }},
    ApiFault{.name = "refusal_lost",
             .reply =
                 [](Reply& reply) {
                   if (reply.outcome != iut::Outcome::failed) return false;
                   reply.outcome = iut::Outcome::ok;
                   // What a registration that succeeds answers.
                   reply.stag = 0x01020304;
                   reply.base = 0;
                   return true;
                 }},
    ApiFault{.name = "other_stag",
             .reply =
                 [](Reply& reply) {
                   if (reply.stag) *reply.stag ^= 1;
                   return reply.stag.has_value();
                 }},
    ApiFault{.name = "other_base",
             .reply =
                 [](Reply& reply) {
                   if (reply.base) ++*reply.base;
                   return reply.base.has_value();
                 }},
    ApiFault{.name = "other_attributes", .reply = other_attributes},
    ApiFault{.name = "other_state", .reply = other_state},
    ApiFault{.name = "another_bad_request",
             .reply =
                 [](Reply& reply) {
                   if (reply.bad_work) --*reply.bad_work;
                   return reply.bad_work.has_value();
                 }},
    // what it is told
    ApiFault{.name = "event_comes_twice", .event = any_event, .fate = Fate::comes_twice},
    ApiFault{.name = "event_comes_late", .event = any_event, .fate = Fate::comes_after_the_next},
    ApiFault{.name = "other_work",
             .event =
                 [](Event& event) {
                   return in_completion(event, [](auto& done) { return ++done.work != 0; });
                 }},
    ApiFault{.name = "other_status",
             .event =
                 [](Event& event) {
                   return in_completion(event, [](auto& done) {
                     done.status = done.status == "success" ? "flushed" : "success";
                     return true;
                   });
                 }},
    ApiFault{.name = "other_length",
             .event =
                 [](Event& event) {
                   return in_completion(event, [](auto& done) { return ++done.length != 0; });
                 }},
    ApiFault{.name = "completion_of_another_endpoint",
             .event =
                 [](Event& event) {
                   return in_completion(event, [](auto& done) { return ++done.endpoint != 0; });
                 }},
    ApiFault{.name = "invalidation_not_told",
             .event =
                 [](Event& event) {
                   return in_completion(event, [](auto& done) {
                     return std::exchange(done.invalidated_stag, std::nullopt).has_value();
                   });
                 }},
    ApiFault{.name = "another_kind",
             .event =
                 [](Event& event) {
                   return in<iut::AsynchronousEvent>(event, [](auto& told) {
                     told.kind =
                         told.kind == "qp_access_error" ? "device_fatal" : "qp_access_error";
                     return true;
                   });
                 }},
    ApiFault{.name = "device_fatal",
             .event =
                 [](Event& event) {
                   return in<iut::AsynchronousEvent>(event, [](auto& told) {
                     told.kind = "device_fatal";
                     return true;
                   });
                 }},
    ApiFault{.name = "event_names_nothing",
             .event =
                 [](Event& event) {
                   return in<iut::AsynchronousEvent>(event, [](auto& told) {
                     told.endpoint = told.shared_queue = told.completion_queue = 0;
                     return true;
                   });
                 }},
    // what may go wrong with anything, last: a fault of its own shows more of a rule
    ApiFault{.name = "event_lost", .event = any_event, .fate = Fate::is_lost},
    ApiFault{.name = "command_ignored", .command = any_but_reset, .fate = Fate::is_lost},
};

}  // namespace

std::span<const ApiFault> api_faults() { return faults; }

template <typename Thing>
bool FaultyIut::strikes(bool (*alter)(Thing&), Thing& thing) {
  if (alter == nullptr) return false;
  Thing altered = thing;
  if (!alter(altered) || (++count_ != nth_ && nth_ != 0)) return false;
  thing = std::move(altered);
  return struck_ = true;
}

std::uint64_t FaultyIut::post(Command command) {
  const std::uint64_t number = ++last_number_;
  if (auto* cancel = std::get_if<iut::Cancel>(&command))
    for (const auto& [of_iut, of_case] : numbers_)
      if (of_case == cancel->command) {
        cancel->command = of_iut;
        break;
      }
  if (strikes(fault_.command, command) && fault_.fate == Fate::is_lost) {
    Reply done;
    done.command = number;
    events_.emplace_back(std::move(done));
  } else {
    numbers_[right_.post(std::move(command))] = number;
  }
  return number;
}

void FaultyIut::take(Event event) {
  if (auto* reply = std::get_if<Reply>(&event)) {
    reply->command = numbers_[reply->command];
    strikes(fault_.reply, *reply);
    events_.push_back(std::move(event));
    return;
  }
  if (strikes(fault_.event, event)) {
    if (fault_.fate == Fate::is_lost) return;
    if (fault_.fate == Fate::comes_twice) events_.push_back(event);
    if (fault_.fate == Fate::comes_after_the_next && !late_) {
      late_ = std::move(event);
      return;
    }
  }
  events_.push_back(std::move(event));
  if (late_) events_.push_back(*std::exchange(late_, std::nullopt));
}

std::optional<Event> FaultyIut::next_event(base::TimePoint deadline) {
  while (events_.empty()) {
    auto event = right_.next_event(deadline);
    if (!event) return std::exchange(late_, std::nullopt);
    take(std::move(*event));
  }
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

}  // namespace suite::self_test
