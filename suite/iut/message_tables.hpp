// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The members of every message, one table per type. A table serves both directions: `walk` shows
// each member to a side that reads JSON into it or writes JSON from it.
//
// What a side offers:
//   required(name, member)          must be there
//   defaulted(name, member)         may be left out by who writes; then it keeps its default
//   choice(name, member, words)     like required, one of the words
//   defaulted_choice(...)           like defaulted, one of the words
#pragma once

#include <array>

#include "suite/iut/messages.hpp"

namespace suite::iut {

template <class Message>
struct Table;

inline constexpr std::array family_words{"ipv4", "ipv6"};
inline constexpr std::array connect_failure_words{"unreachable", "refused", "timeout", "protocol",
                                                  "lost"};
inline constexpr std::array completion_status_words{
    "success",       "flushed",          "local_length", "local_protection", "local_operation",
    "remote_access", "remote_operation", "bad_response", "invalidation",     "bind",
    "other"};
inline constexpr std::array asynchronous_kind_words{
    "qp_fatal",  "qp_access_error", "qp_request_error", "cq_error",
    "srq_limit", "device_fatal",    "last_buffer",      "other"};

// ---------------------------------------------------------------- commands

template <>
struct Table<Configure> {
  static constexpr const char* type = "configure";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.defaulted("revision", m.revision);
    side.defaulted("crc", m.crc);
    side.defaulted("markers", m.markers);
    side.defaulted("peer_to_peer", m.peer_to_peer);
    side.defaulted("rtr", m.rtr);
  }
};

template <>
struct Table<Reset> {
  static constexpr const char* type = "reset";
  template <class Side, class Message>
  static void walk(Side&, Message&) {}
};

template <>
struct Table<CreateDomain> {
  static constexpr const char* type = "create_domain";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("domain", m.domain);
  }
};

template <>
struct Table<DestroyDomain> {
  static constexpr const char* type = "destroy_domain";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("domain", m.domain);
  }
};

template <>
struct Table<RegisterMemory> {
  static constexpr const char* type = "register_memory";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("region", m.region);
    side.defaulted("domain", m.domain);
    side.required("length", m.length);
    side.required("access", m.access);
    side.defaulted("zero_based", m.zero_based);
    side.defaulted("fill", m.fill);
    side.defaulted("base", m.base);
  }
};

template <>
struct Table<DeregisterMemory> {
  static constexpr const char* type = "deregister_memory";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("region", m.region);
  }
};

template <>
struct Table<ReadMemory> {
  static constexpr const char* type = "read_memory";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("region", m.region);
    side.required("offset", m.offset);
    side.required("length", m.length);
  }
};

template <>
struct Table<WriteMemory> {
  static constexpr const char* type = "write_memory";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("region", m.region);
    side.required("offset", m.offset);
    side.required("octets", m.octets);
  }
};

template <>
struct Table<AllocateWindow> {
  static constexpr const char* type = "allocate_window";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("window", m.window);
    side.defaulted("domain", m.domain);
  }
};

template <>
struct Table<FreeWindow> {
  static constexpr const char* type = "free_window";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("window", m.window);
  }
};

template <>
struct Table<CreateSharedQueue> {
  static constexpr const char* type = "create_shared_queue";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("queue", m.queue);
    side.defaulted("domain", m.domain);
    side.defaulted("depth", m.depth);
    side.defaulted("max_pieces", m.max_pieces);
  }
};

template <>
struct Table<ResizeSharedQueue> {
  static constexpr const char* type = "resize_shared_queue";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("queue", m.queue);
    side.required("depth", m.depth);
  }
};

template <>
struct Table<DestroySharedQueue> {
  static constexpr const char* type = "destroy_shared_queue";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("queue", m.queue);
  }
};

template <>
struct Table<ArmSharedQueueLimit> {
  static constexpr const char* type = "arm_shared_queue_limit";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("queue", m.queue);
    side.required("limit", m.limit);
  }
};

template <>
struct Table<CreateEndpoint> {
  static constexpr const char* type = "create_endpoint";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("endpoint", m.endpoint);
    side.defaulted("domain", m.domain);
    side.defaulted("shared_queue", m.shared_queue);
    side.defaulted("send_depth", m.send_depth);
    side.defaulted("receive_depth", m.receive_depth);
    side.defaulted("max_pieces", m.max_pieces);
    side.defaulted("completion_depth", m.completion_depth);
  }
};

template <>
struct Table<DestroyEndpoint> {
  static constexpr const char* type = "destroy_endpoint";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("endpoint", m.endpoint);
  }
};

template <>
struct Table<QueryEndpoint> {
  static constexpr const char* type = "query_endpoint";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("endpoint", m.endpoint);
  }
};

template <>
struct Table<AbortEndpoint> {
  static constexpr const char* type = "abort_endpoint";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("endpoint", m.endpoint);
  }
};

template <>
struct Table<ResetEndpoint> {
  static constexpr const char* type = "reset_endpoint";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("endpoint", m.endpoint);
  }
};

template <>
struct Table<Listen> {
  static constexpr const char* type = "listen";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("listener", m.listener);
    side.defaulted("address", m.address);
    side.defaulted_choice("family", m.family, family_words);
    side.defaulted("port", m.port);
  }
};

template <>
struct Table<StopListening> {
  static constexpr const char* type = "stop_listening";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("listener", m.listener);
  }
};

/// Not a message of its own: an object within connect and accept.
template <>
struct Table<ConnectParameters> {
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.defaulted("private_data", m.private_data);
    side.defaulted("ird", m.ird);
    side.defaulted("ord", m.ord);
  }
};

template <>
struct Table<Connect> {
  static constexpr const char* type = "connect";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("endpoint", m.endpoint);
    side.required("address", m.address);
    side.required("port", m.port);
    side.defaulted("parameters", m.parameters);
  }
};

template <>
struct Table<Accept> {
  static constexpr const char* type = "accept";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("request", m.request);
    side.required("endpoint", m.endpoint);
    side.defaulted("parameters", m.parameters);
  }
};

template <>
struct Table<Reject> {
  static constexpr const char* type = "reject";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("request", m.request);
    side.defaulted("private_data", m.private_data);
  }
};

template <>
struct Table<Disconnect> {
  static constexpr const char* type = "disconnect";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("endpoint", m.endpoint);
    side.defaulted("abortive", m.abortive);
  }
};

/// Not a message of its own: an element of the list "pieces".
template <>
struct Table<Piece> {
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("region", m.region);
    side.defaulted("offset", m.offset);
    side.required("length", m.length);
  }
};

template <>
struct Table<PostReceive> {
  static constexpr const char* type = "post_receive";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.defaulted("endpoint", m.endpoint);
    side.defaulted("shared_queue", m.shared_queue);
    side.required("work", m.work);
    side.defaulted("pieces", m.pieces);
  }
};

template <>
struct Table<PostWork> {
  static constexpr const char* type = "post_work";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("endpoint", m.endpoint);
    side.required("work", m.work);
    side.required("operation", m.operation);
    side.defaulted("pieces", m.pieces);
    side.defaulted("remote_stag", m.remote_stag);
    side.defaulted("remote_offset", m.remote_offset);
    side.defaulted("invalidate_stag", m.invalidate_stag);
    side.defaulted("fence", m.fence);
    side.defaulted("signaled", m.signaled);
    side.defaulted("add_or_swap", m.add_or_swap);
    side.defaulted("compare", m.compare);
    side.defaulted("add_or_swap_mask", m.add_or_swap_mask);
    side.defaulted("compare_mask", m.compare_mask);
    side.defaulted("immediate", m.immediate);
    side.defaulted("window", m.window);
    side.defaulted("window_access", m.window_access);
  }
};

template <>
struct Table<Cancel> {
  static constexpr const char* type = "cancel";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("command", m.command);
  }
};

// ---------------------------------------------------------------- events

template <>
struct Table<Hello> {
  static constexpr const char* type = "hello";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("version", m.version);
    side.required("driver", m.driver);
    side.defaulted("implementation", m.implementation);
    side.defaulted("driver_version", m.driver_version);
    side.defaulted("firmware", m.firmware);
    side.defaulted("kernel", m.kernel);
    side.required("capabilities", m.capabilities);
    side.defaulted("limits", m.limits);
  }
};

template <>
struct Table<Reply> {
  static constexpr const char* type = "reply";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("command", m.command);
    side.required("outcome", m.outcome);
    side.defaulted("error", m.error);
    side.defaulted("code", m.code);
    side.defaulted("stag", m.stag);
    side.defaulted("base", m.base);
    side.defaulted("octets", m.octets);
    side.defaulted("address", m.address);
    side.defaulted("port", m.port);
    side.defaulted("state", m.state);
  }
};

template <>
struct Table<ConnectRequestEvent> {
  static constexpr const char* type = "connect_request";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("listener", m.listener);
    side.required("request", m.request);
    side.defaulted("private_data", m.private_data);
    side.defaulted("ird", m.ird);
    side.defaulted("ord", m.ord);
  }
};

template <>
struct Table<EstablishedEvent> {
  static constexpr const char* type = "established";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("endpoint", m.endpoint);
    side.defaulted("private_data", m.private_data);
    side.defaulted("ird", m.ird);
    side.defaulted("ord", m.ord);
  }
};

template <>
struct Table<RejectedEvent> {
  static constexpr const char* type = "rejected";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("endpoint", m.endpoint);
    side.defaulted("private_data", m.private_data);
  }
};

template <>
struct Table<ConnectFailedEvent> {
  static constexpr const char* type = "connect_failed";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("endpoint", m.endpoint);
    side.choice("reason", m.reason, connect_failure_words);
  }
};

template <>
struct Table<DisconnectedEvent> {
  static constexpr const char* type = "disconnected";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("endpoint", m.endpoint);
  }
};

template <>
struct Table<CompletionEvent> {
  static constexpr const char* type = "completion";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("endpoint", m.endpoint);
    side.required("work", m.work);
    side.required("operation", m.operation);
    side.choice("status", m.status, completion_status_words);
    side.defaulted("length", m.length);
    side.defaulted("invalidated_stag", m.invalidated_stag);
    side.defaulted("immediate", m.immediate);
    side.defaulted("solicited", m.solicited);
  }
};

template <>
struct Table<AsynchronousEvent> {
  static constexpr const char* type = "asynchronous";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.defaulted("endpoint", m.endpoint);
    side.choice("kind", m.kind, asynchronous_kind_words);
    side.defaulted("detail", m.detail);
  }
};

template <>
struct Table<GoneEvent> {
  static constexpr const char* type = "gone";
  template <class Side, class Message>
  static void walk(Side& side, Message& m) {
    side.required("why", m.why);
    side.defaulted("detail", m.detail);
  }
};

}  // namespace suite::iut
