// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/upper_tester/verbs/names.hpp"

#include <array>
#include <cerrno>
#include <cstring>

namespace suite::upper_tester::verbs {

const char* status_name(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_SUCCESS:
      return "success";
    case IBV_WC_WR_FLUSH_ERR:
      return "flushed";
    case IBV_WC_LOC_LEN_ERR:
      return "local_length";
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_ACCESS_ERR:
      return "local_protection";
    case IBV_WC_LOC_QP_OP_ERR:
      return "local_operation";
    case IBV_WC_REM_ACCESS_ERR:
      return "remote_access";
    case IBV_WC_REM_OP_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
      return "remote_operation";
    case IBV_WC_BAD_RESP_ERR:
      return "bad_response";
    case IBV_WC_MW_BIND_ERR:
      return "bind";
    default:
      return "other";
  }
}

std::optional<const char*> asynchronous_name(ibv_event_type type) {
  switch (type) {
    case IBV_EVENT_QP_FATAL:
      return "qp_fatal";
    case IBV_EVENT_QP_REQ_ERR:
      return "qp_request_error";
    case IBV_EVENT_QP_ACCESS_ERR:
      return "qp_access_error";
    case IBV_EVENT_CQ_ERR:
      return "cq_error";
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      return "srq_limit";
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      return "last_buffer";
    case IBV_EVENT_DEVICE_FATAL:
      return "device_fatal";
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_SM_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER:
    case IBV_EVENT_GID_CHANGE:
      return std::nullopt;
    default:
      return "other";
  }
}

const char* connect_failure_name(int error) {
  switch (error) {
    case ECONNREFUSED:
      return "refused";
    case ETIMEDOUT:
      return "timeout";
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EHOSTDOWN:
    case ENETDOWN:
    case EADDRNOTAVAIL:
      return "unreachable";
    case ECONNRESET:
    case ECONNABORTED:
    case EPIPE:
      return "lost";
    default:
      return "protocol";
  }
}

bool is_connect_failure(int error) {
  return std::strcmp(connect_failure_name(error), "protocol") != 0 || error == EPROTO;
}

int access_flags(const iut::Access& access) {
  int flags = 0;
  if (access.local_write) flags |= IBV_ACCESS_LOCAL_WRITE;
  if (access.remote_read) flags |= IBV_ACCESS_REMOTE_READ;
  if (access.remote_write) flags |= IBV_ACCESS_REMOTE_WRITE;
  if (access.remote_atomic) flags |= IBV_ACCESS_REMOTE_ATOMIC;
  if (access.bind_window) flags |= IBV_ACCESS_MW_BIND;
  return flags;
}

iut::Access access_named(unsigned flags) {
  const auto has = [flags](unsigned flag) { return (flags & flag) != 0; };
  iut::Access access;
  access.local_write = has(IBV_ACCESS_LOCAL_WRITE);
  access.remote_read = has(IBV_ACCESS_REMOTE_READ);
  access.remote_write = has(IBV_ACCESS_REMOTE_WRITE);
  access.remote_atomic = has(IBV_ACCESS_REMOTE_ATOMIC);
  access.bind_window = has(IBV_ACCESS_MW_BIND);
  return access;
}

std::optional<ibv_wr_opcode> opcode(const std::string& operation) {
  struct Entry {
    const char* name;
    ibv_wr_opcode opcode;
  };
  namespace op = iut::operation;
  static constexpr std::array entries{
      Entry{op::send, IBV_WR_SEND},
      Entry{op::send_solicited, IBV_WR_SEND},
      Entry{op::send_invalidate, IBV_WR_SEND_WITH_INV},
      Entry{op::send_solicited_invalidate, IBV_WR_SEND_WITH_INV},
      Entry{op::write, IBV_WR_RDMA_WRITE},
      Entry{op::read, IBV_WR_RDMA_READ},
      Entry{op::fetch_add, IBV_WR_ATOMIC_FETCH_AND_ADD},
      Entry{op::compare_swap, IBV_WR_ATOMIC_CMP_AND_SWP},
      Entry{op::local_invalidate, IBV_WR_LOCAL_INV},
      Entry{op::bind_window, IBV_WR_BIND_MW},
  };
  for (const Entry& entry : entries)
    if (operation == entry.name) return entry.opcode;
  return std::nullopt;
}

iut::Reply failed(const std::string& call, int error) {
  iut::Reply reply;
  reply.outcome = iut::Outcome::failed;
  reply.code = error < 0 ? -error : error;  // some providers return errors negated
  reply.error = call + ": " + std::strerror(reply.code);
  return reply;
}

}  // namespace suite::upper_tester::verbs
