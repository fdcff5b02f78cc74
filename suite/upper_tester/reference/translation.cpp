// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The tables of words.
#include "suite/upper_tester/reference/translation.hpp"

#include <cerrno>
#include <cstring>

namespace suite::upper_tester::reference {

namespace verbs = rnic::verbs;

verbs::Access access_of(const iut::Access& access) {
  return {.local_write = access.local_write,
          .remote_read = access.remote_read,
          .remote_write = access.remote_write,
          .remote_atomic = access.remote_atomic,
          .bind_window = access.bind_window};
}

iut::Access access_of(const verbs::Access& access) {
  return {access.local_write, access.remote_read, access.remote_write, access.remote_atomic,
          access.bind_window};
}

std::optional<verbs::Operation> operation_of(std::string_view name) {
  for (auto operation = verbs::Operation::send; operation < verbs::Operation::receive;
       operation = static_cast<verbs::Operation>(static_cast<int>(operation) + 1))
    if (name == verbs::name(operation)) return operation;
  return std::nullopt;
}

int code_of(verbs::Error error) {
  switch (error) {
    case verbs::Error::invalid_handle:
      return EBADF;
    case verbs::Error::invalid_parameter:
    case verbs::Error::invalid_state:
    case verbs::Error::wrong_domain:
      return EINVAL;
    case verbs::Error::in_use:
      return EBUSY;
    case verbs::Error::no_resources:
    case verbs::Error::queue_full:
      return ENOMEM;
    case verbs::Error::overflowed:
      return EOVERFLOW;
    case verbs::Error::unsupported:
      return EOPNOTSUPP;
  }
  return EINVAL;
}

const char* kind_name(verbs::AsyncKind kind) {
  switch (kind) {
    case verbs::AsyncKind::queue_pair_fatal:
    case verbs::AsyncKind::terminate_received:
      return "qp_fatal";
    case verbs::AsyncKind::queue_pair_access_error:
      return "qp_access_error";
    case verbs::AsyncKind::queue_pair_request_error:
      return "qp_request_error";
    case verbs::AsyncKind::last_buffer:
      return "last_buffer";
    case verbs::AsyncKind::completion_queue_error:
      return "cq_error";
    case verbs::AsyncKind::shared_queue_limit:
      return "srq_limit";
    case verbs::AsyncKind::device_fatal:
      return "device_fatal";
  }
  return "other";
}

const char* state_name(verbs::QueuePairState state) {
  switch (state) {
    case verbs::QueuePairState::idle:
      return "idle";
    case verbs::QueuePairState::rts:
      return "connected";
    case verbs::QueuePairState::closing:
      return "closing";
    case verbs::QueuePairState::terminate:
      return "terminated";
    case verbs::QueuePairState::error:
      return "error";
  }
  return "error";
}

std::optional<base::Family> family_of(std::string_view name) {
  if (name == "ipv4") return base::Family::ipv4;
  if (name == "ipv6") return base::Family::ipv6;
  return std::nullopt;
}

std::optional<rnic::stream::RtrKinds> rtr_of(const std::vector<std::string>& names) {
  rnic::stream::RtrKinds kinds{.send = false, .write = false, .read = false};
  for (const std::string& name : names) {
    if (name == "send") {
      kinds.send = true;
    } else if (name == "write") {
      kinds.write = true;
    } else if (name == "read") {
      kinds.read = true;
    } else {
      return std::nullopt;
    }
  }
  return kinds;
}

iut::CompletionEvent completion_event(iut::Handle endpoint, const verbs::Completion& completion) {
  iut::CompletionEvent event;
  event.endpoint = endpoint;
  event.work = completion.id;
  event.operation = verbs::name(completion.operation);
  event.status = verbs::name(completion.status);
  event.length = completion.length;
  event.invalidated_stag = completion.invalidated;
  event.immediate = completion.immediate;
  if (completion.operation == verbs::Operation::receive) event.solicited = completion.solicited;
  return event;
}

std::vector<std::string> capabilities_of(const rnic::lawful::Offer& offer) {
  namespace capability = iut::capability;
  std::vector<std::string> capabilities{capability::configure_revision_1,
                                        capability::configure_crc,
                                        capability::configure_markers,
                                        capability::configure_rtr,
                                        capability::send_invalidate,
                                        capability::remote_invalidate,
                                        capability::local_invalidate,
                                        capability::read_invalidate,
                                        capability::solicited,
                                        capability::memory_windows,
                                        capability::stream_windows,
                                        capability::zero_based,
                                        capability::chosen_base,
                                        capability::process_rights,
                                        capability::shared_receive_queue,
                                        capability::shared_queue_resize,
                                        capability::completion_overflow,
                                        capability::endpoint_abort,
                                        capability::endpoint_reset,
                                        capability::atomics,
                                        capability::immediate,
                                        capability::peer_to_peer,
                                        capability::ipv6,
                                        capability::enhanced_startup,
                                        capability::completion_events,
                                        capability::completion_queues,
                                        capability::chains,
                                        capability::inline_data,
                                        capability::endpoint_access,
                                        capability::endpoint_attributes,
                                        capability::signal_all,
                                        capability::armed_once,
                                        capability::backlog,
                                        capability::event_objects,
                                        capability::wildcard_listen,
                                        capability::fast_registration,
                                        capability::loopback};
  const auto take = [&capabilities](const char* one) { std::erase(capabilities, one); };
  if (!offer.enhanced_startup) {
    take(capability::enhanced_startup);
    take(capability::peer_to_peer);
    take(capability::configure_rtr);
    take(capability::configure_revision_1);  // it speaks nothing else
  }
  if (!offer.crc_configurable) take(capability::configure_crc);
  if (!offer.markers_configurable) take(capability::configure_markers);
  if (!offer.peer_to_peer_configurable) take(capability::configure_rtr);
  if (!offer.extensions) {
    take(capability::atomics);
    take(capability::immediate);
  }
  return capabilities;
}

}  // namespace suite::upper_tester::reference
