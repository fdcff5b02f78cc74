// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The members of every message: one table per type, from which lines are read and written. C++17.
#pragma once

#include <array>

#include "base/record/table.hpp"
#include "suite/iut/message_lines.hpp"

namespace suite::iut {

using base::record::defaulted;
using base::record::Flag;
using base::record::inlined;
using base::record::required;
using base::record::table;

inline constexpr std::array family_words{"ipv4", "ipv6"};
inline constexpr std::array process_rights_words{"read", "none"};
inline constexpr std::array connect_failure_words{"unreachable", "refused", "timeout", "protocol",
                                                  "lost"};
inline constexpr std::array completion_status_words{
    "success",       "flushed",          "local_length", "local_protection", "local_operation",
    "remote_access", "remote_operation", "bad_response", "invalidation",     "bind",
    "other"};
inline constexpr std::array asynchronous_kind_words{
    "qp_fatal",  "qp_access_error", "qp_request_error", "cq_error",
    "srq_limit", "device_fatal",    "last_buffer",      "other"};

constexpr auto flags_of(const Access*) {
  return std::array{Flag<Access>{"local_write", &Access::local_write},
                    Flag<Access>{"remote_read", &Access::remote_read},
                    Flag<Access>{"remote_write", &Access::remote_write},
                    Flag<Access>{"remote_atomic", &Access::remote_atomic},
                    Flag<Access>{"bind_window", &Access::bind_window}};
}

// ---------------------------------------------------------------- commands

constexpr auto table_of(const Configure*) {
  return table("configure", defaulted("revision", &Configure::revision),
               defaulted("crc", &Configure::crc), defaulted("markers", &Configure::markers),
               defaulted("peer_to_peer", &Configure::peer_to_peer),
               defaulted("rtr", &Configure::rtr));
}
constexpr auto table_of(const Reset*) { return table("reset"); }
constexpr auto table_of(const CreateDomain*) {
  return table("create_domain", required("domain", &CreateDomain::domain));
}
constexpr auto table_of(const DestroyDomain*) {
  return table("destroy_domain", required("domain", &DestroyDomain::domain));
}
constexpr auto table_of(const RegisterMemory*) {
  return table(
      "register_memory", required("region", &RegisterMemory::region),
      defaulted("domain", &RegisterMemory::domain), required("length", &RegisterMemory::length),
      required("access", &RegisterMemory::access),
      defaulted("zero_based", &RegisterMemory::zero_based),
      defaulted("fill", &RegisterMemory::fill), defaulted("base", &RegisterMemory::base),
      defaulted("process_rights", &RegisterMemory::process_rights).one_of(process_rights_words));
}
constexpr auto table_of(const AllocateRegion*) {
  return table("allocate_region", required("region", &AllocateRegion::region),
               defaulted("domain", &AllocateRegion::domain),
               required("length", &AllocateRegion::length),
               required("pages", &AllocateRegion::pages), defaulted("fill", &AllocateRegion::fill));
}
constexpr auto table_of(const DeregisterMemory*) {
  return table("deregister_memory", required("region", &DeregisterMemory::region));
}
constexpr auto table_of(const ReadMemory*) {
  return table("read_memory", required("region", &ReadMemory::region),
               required("offset", &ReadMemory::offset), required("length", &ReadMemory::length));
}
constexpr auto table_of(const WriteMemory*) {
  return table("write_memory", required("region", &WriteMemory::region),
               required("offset", &WriteMemory::offset), required("octets", &WriteMemory::octets));
}
constexpr auto table_of(const AllocateWindow*) {
  return table("allocate_window", required("window", &AllocateWindow::window),
               defaulted("domain", &AllocateWindow::domain));
}
constexpr auto table_of(const FreeWindow*) {
  return table("free_window", required("window", &FreeWindow::window));
}
constexpr auto table_of(const CreateSharedQueue*) {
  return table("create_shared_queue", required("queue", &CreateSharedQueue::queue),
               defaulted("domain", &CreateSharedQueue::domain),
               defaulted("depth", &CreateSharedQueue::depth),
               defaulted("max_pieces", &CreateSharedQueue::max_pieces));
}
constexpr auto table_of(const ResizeSharedQueue*) {
  return table("resize_shared_queue", required("queue", &ResizeSharedQueue::queue),
               required("depth", &ResizeSharedQueue::depth));
}
constexpr auto table_of(const DestroySharedQueue*) {
  return table("destroy_shared_queue", required("queue", &DestroySharedQueue::queue));
}
constexpr auto table_of(const ArmSharedQueueLimit*) {
  return table("arm_shared_queue_limit", required("queue", &ArmSharedQueueLimit::queue),
               required("limit", &ArmSharedQueueLimit::limit));
}
constexpr auto table_of(const CreateCompletionQueue*) {
  return table("create_completion_queue", required("queue", &CreateCompletionQueue::queue),
               defaulted("depth", &CreateCompletionQueue::depth),
               defaulted("solicited_only", &CreateCompletionQueue::solicited_only),
               defaulted("armed_once", &CreateCompletionQueue::armed_once));
}
constexpr auto table_of(const DestroyCompletionQueue*) {
  return table("destroy_completion_queue", required("queue", &DestroyCompletionQueue::queue));
}
constexpr auto table_of(const ArmCompletionQueue*) {
  return table("arm_completion_queue", required("queue", &ArmCompletionQueue::queue),
               defaulted("solicited_only", &ArmCompletionQueue::solicited_only));
}
constexpr auto table_of(const CreateEndpoint*) {
  return table("create_endpoint", required("endpoint", &CreateEndpoint::endpoint),
               defaulted("domain", &CreateEndpoint::domain),
               defaulted("shared_queue", &CreateEndpoint::shared_queue),
               defaulted("send_depth", &CreateEndpoint::send_depth),
               defaulted("receive_depth", &CreateEndpoint::receive_depth),
               defaulted("max_pieces", &CreateEndpoint::max_pieces),
               defaulted("completion_depth", &CreateEndpoint::completion_depth),
               defaulted("completion_queue", &CreateEndpoint::completion_queue),
               defaulted("max_inline", &CreateEndpoint::max_inline),
               defaulted("access", &CreateEndpoint::access),
               defaulted("signal_all", &CreateEndpoint::signal_all));
}
constexpr auto table_of(const DestroyEndpoint*) {
  return table("destroy_endpoint", required("endpoint", &DestroyEndpoint::endpoint));
}
constexpr auto table_of(const SetEndpointAccess*) {
  return table("set_endpoint_access", required("endpoint", &SetEndpointAccess::endpoint),
               required("access", &SetEndpointAccess::access));
}
constexpr auto table_of(const QueryEndpoint*) {
  return table("query_endpoint", required("endpoint", &QueryEndpoint::endpoint));
}
constexpr auto table_of(const AbortEndpoint*) {
  return table("abort_endpoint", required("endpoint", &AbortEndpoint::endpoint));
}
constexpr auto table_of(const ResetEndpoint*) {
  return table("reset_endpoint", required("endpoint", &ResetEndpoint::endpoint));
}
constexpr auto table_of(const Listen*) {
  return table("listen", required("listener", &Listen::listener),
               defaulted("address", &Listen::address),
               defaulted("family", &Listen::family).one_of(family_words),
               defaulted("port", &Listen::port), defaulted("backlog", &Listen::backlog));
}
constexpr auto table_of(const StopListening*) {
  return table("stop_listening", required("listener", &StopListening::listener));
}
/// Not a message itself: an object within connect and accept.
constexpr auto table_of(const ConnectParameters*) {
  return table("parameters", defaulted("private_data", &ConnectParameters::private_data),
               defaulted("ird", &ConnectParameters::ird),
               defaulted("ord", &ConnectParameters::ord));
}
constexpr auto table_of(const Connect*) {
  return table("connect", required("endpoint", &Connect::endpoint),
               required("address", &Connect::address), required("port", &Connect::port),
               defaulted("parameters", &Connect::parameters));
}
constexpr auto table_of(const Accept*) {
  return table("accept", required("request", &Accept::request),
               required("endpoint", &Accept::endpoint),
               defaulted("parameters", &Accept::parameters));
}
constexpr auto table_of(const Reject*) {
  return table("reject", required("request", &Reject::request),
               defaulted("private_data", &Reject::private_data));
}
constexpr auto table_of(const Disconnect*) {
  return table("disconnect", required("endpoint", &Disconnect::endpoint),
               defaulted("abortive", &Disconnect::abortive));
}
/// Not a message itself: an element of the list "pieces".
constexpr auto table_of(const Piece*) {
  return table("piece", required("region", &Piece::region), defaulted("offset", &Piece::offset),
               required("length", &Piece::length));
}
constexpr auto table_of(const PostReceive*) {
  return table("post_receive", defaulted("endpoint", &PostReceive::endpoint),
               defaulted("shared_queue", &PostReceive::shared_queue),
               required("work", &PostReceive::work), defaulted("pieces", &PostReceive::pieces));
}
/// Not a message itself: an object within a work request.
constexpr auto table_of(const Registration*) {
  return table("registration", required("key", &Registration::key),
               required("access", &Registration::access));
}
constexpr auto table_of(const PostWork*) {
  return table(
      "post_work", required("endpoint", &PostWork::endpoint), required("work", &PostWork::work),
      required("operation", &PostWork::operation), defaulted("pieces", &PostWork::pieces),
      defaulted("remote_stag", &PostWork::remote_stag),
      defaulted("remote_offset", &PostWork::remote_offset),
      defaulted("invalidate_stag", &PostWork::invalidate_stag),
      defaulted("fence", &PostWork::fence), defaulted("signaled", &PostWork::signaled),
      defaulted("inline_data", &PostWork::inline_data),
      defaulted("add_or_swap", &PostWork::add_or_swap), defaulted("compare", &PostWork::compare),
      defaulted("add_or_swap_mask", &PostWork::add_or_swap_mask),
      defaulted("compare_mask", &PostWork::compare_mask),
      defaulted("immediate", &PostWork::immediate), defaulted("window", &PostWork::window),
      defaulted("window_access", &PostWork::window_access),
      defaulted("registration", &PostWork::registration));
}
constexpr auto table_of(const PostReceiveChain*) {
  return table("post_receive_chain", required("requests", &PostReceiveChain::requests));
}
constexpr auto table_of(const PostWorkChain*) {
  return table("post_work_chain", required("requests", &PostWorkChain::requests));
}
constexpr auto table_of(const Cancel*) {
  return table("cancel", required("command", &Cancel::command));
}
constexpr auto table_of(const NumberedCommand*) {
  return table("command", required("number", &NumberedCommand::number).from(1),
               inlined(&NumberedCommand::command));
}

// ---------------------------------------------------------------- events

constexpr auto table_of(const Hello*) {
  return table("hello", required("version", &Hello::version), required("driver", &Hello::driver),
               defaulted("implementation", &Hello::implementation),
               defaulted("driver_version", &Hello::driver_version),
               defaulted("firmware", &Hello::firmware), defaulted("kernel", &Hello::kernel),
               required("capabilities", &Hello::capabilities), defaulted("limits", &Hello::limits));
}
/// Not a message itself: an object within a reply.
constexpr auto table_of(const EndpointAttributes*) {
  return table("attributes", required("send_depth", &EndpointAttributes::send_depth),
               required("receive_depth", &EndpointAttributes::receive_depth),
               required("max_pieces", &EndpointAttributes::max_pieces),
               required("max_inline", &EndpointAttributes::max_inline),
               required("access", &EndpointAttributes::access));
}
constexpr auto table_of(const Reply*) {
  return table("reply", required("command", &Reply::command), required("outcome", &Reply::outcome),
               defaulted("error", &Reply::error), defaulted("code", &Reply::code),
               defaulted("stag", &Reply::stag), defaulted("base", &Reply::base),
               defaulted("octets", &Reply::octets), defaulted("address", &Reply::address),
               defaulted("port", &Reply::port), defaulted("state", &Reply::state),
               defaulted("attributes", &Reply::attributes),
               defaulted("bad_work", &Reply::bad_work));
}
constexpr auto table_of(const ConnectRequestEvent*) {
  return table("connect_request", required("listener", &ConnectRequestEvent::listener),
               required("request", &ConnectRequestEvent::request),
               defaulted("private_data", &ConnectRequestEvent::private_data),
               defaulted("ird", &ConnectRequestEvent::ird),
               defaulted("ord", &ConnectRequestEvent::ord));
}
constexpr auto table_of(const EstablishedEvent*) {
  return table("established", required("endpoint", &EstablishedEvent::endpoint),
               defaulted("private_data", &EstablishedEvent::private_data),
               defaulted("ird", &EstablishedEvent::ird), defaulted("ord", &EstablishedEvent::ord));
}
constexpr auto table_of(const RejectedEvent*) {
  return table("rejected", required("endpoint", &RejectedEvent::endpoint),
               defaulted("private_data", &RejectedEvent::private_data),
               defaulted("ird", &RejectedEvent::ird), defaulted("ord", &RejectedEvent::ord));
}
constexpr auto table_of(const ConnectFailedEvent*) {
  return table("connect_failed", required("endpoint", &ConnectFailedEvent::endpoint),
               required("reason", &ConnectFailedEvent::reason).one_of(connect_failure_words));
}
constexpr auto table_of(const DisconnectedEvent*) {
  return table("disconnected", required("endpoint", &DisconnectedEvent::endpoint));
}
constexpr auto table_of(const CompletionEvent*) {
  return table("completion", required("endpoint", &CompletionEvent::endpoint),
               required("work", &CompletionEvent::work),
               required("operation", &CompletionEvent::operation),
               required("status", &CompletionEvent::status).one_of(completion_status_words),
               defaulted("length", &CompletionEvent::length),
               defaulted("invalidated_stag", &CompletionEvent::invalidated_stag),
               defaulted("immediate", &CompletionEvent::immediate),
               defaulted("solicited", &CompletionEvent::solicited));
}
constexpr auto table_of(const AsynchronousEvent*) {
  return table("asynchronous", defaulted("endpoint", &AsynchronousEvent::endpoint),
               required("kind", &AsynchronousEvent::kind).one_of(asynchronous_kind_words),
               defaulted("detail", &AsynchronousEvent::detail),
               defaulted("shared_queue", &AsynchronousEvent::shared_queue),
               defaulted("completion_queue", &AsynchronousEvent::completion_queue));
}
constexpr auto table_of(const GoneEvent*) {
  return table("gone", required("why", &GoneEvent::why), defaulted("detail", &GoneEvent::detail));
}

}  // namespace suite::iut
