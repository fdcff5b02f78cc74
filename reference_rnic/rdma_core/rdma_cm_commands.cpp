// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/rdma_core/rdma_cm_commands.hpp"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "reference_rnic/llp/tcp_socket.hpp"
#include "reference_rnic/rdma_core/device.hpp"

namespace rnic::rdma_core {

namespace {

/// One command: its words, and where its answer goes.
struct Command {
  rdma_ucm_cmd_hdr header{};
  std::span<const std::byte> body;

  /// The command's struct; what an older librdmacm does not send is zero.
  template <typename T>
  [[nodiscard]] T as() const {
    T value{};
    std::memcpy(&value, body.data(), std::min(body.size(), sizeof value));
    return value;
  }
  /// A shorter room gets the beginning.
  template <typename T>
  void answer(std::uint64_t room, const T& value) const {
    std::memcpy(reinterpret_cast<void*>(room), &value,  // NOLINT(performance-no-int-to-ptr)
                std::min<std::size_t>(header.out, sizeof value));
  }
};

template <typename Raw>
std::optional<base::Address> address_of(const Raw& raw) {
  llp::SocketAddress read;
  const auto family = reinterpret_cast<const sockaddr*>(&raw)->sa_family;
  if (family != AF_INET && family != AF_INET6) return std::nullopt;
  read.size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  std::memcpy(read.data(), &raw, std::min<std::size_t>(read.size, sizeof raw));
  return read.address();
}

template <typename Raw>
void show(Raw& raw, const base::Address& address, std::uint16_t port) {
  const llp::SocketAddress written(address.with_port(port));
  std::memcpy(&raw, written.data(), std::min<std::size_t>(written.size, sizeof raw));
}

int create_id(CmChannel& channel, const Command& command) {
  const auto asked = command.as<rdma_ucm_create_id>();
  // iWARP has streams only: there is no UDP or IPoIB port space.
  if (asked.ps != RDMA_PS_TCP && asked.ps != RDMA_PS_IB) return EPROTONOSUPPORT;
  const CmId& id = add_id(std::make_unique<CmId>(channel, asked.uid, asked.ps));
  command.answer(asked.response, rdma_ucm_create_id_resp{.id = id.number()});
  return 0;
}

int destroy_id(Engine& shared, CmId& id, const Command& command) {
  const auto asked = command.as<rdma_ucm_destroy_id>();
  const std::uint32_t reported = id.events_reported;
  remove_id(shared, id.number());
  command.answer(asked.response, rdma_ucm_destroy_id_resp{.events_reported = reported});
  return 0;
}

int resolve(CmId& id, const auto& source, const auto& destination) {
  const auto target = address_of(destination);
  return target ? id.resolve_address(address_of(source), *target) : EINVAL;
}

int bind(CmId& id, const auto& raw) {
  const auto address = address_of(raw);
  return address ? id.bind(*address) : EADDRNOTAVAIL;  // AF_IB
}

template <typename Answer>
Answer addresses_of(const CmId& id) {
  Answer answer{};
  show(answer.src_addr, id.local(), id.local().port);
  if (id.remote() != base::Address{}) show(answer.dst_addr, id.remote(), id.remote().port);
  if (!id.has_device()) return answer;
  answer.node_guid = node_guid();
  answer.port_num = 1;
  answer.ibdev_index = device_index;
  return answer;
}

int query_route(const CmId& id, const Command& command) {
  command.answer(command.as<rdma_ucm_query>().response,
                 addresses_of<rdma_ucm_query_route_resp>(id));
  return 0;
}

int query(const CmId& id, const Command& command) {
  const auto asked = command.as<rdma_ucm_query>();
  auto answer = addresses_of<rdma_ucm_query_addr_resp>(id);
  switch (asked.option) {
    case RDMA_USER_CM_QUERY_GID:  // addresses of RDMA, which an iWARP RNIC does not have
    case RDMA_USER_CM_QUERY_ADDR:
      answer.src_size = answer.dst_size = sizeof(sockaddr_in6);
      command.answer(asked.response, answer);
      return 0;
    case RDMA_USER_CM_QUERY_PATH:
      command.answer(asked.response, rdma_ucm_query_path_resp{});
      return 0;
    default:
      return ENOSYS;
  }
}

/// The attributes for a change of state; an iWARP connection brings the queue pair to RTS itself.
int init_qp_attr(const CmId& id, const Command& command) {
  const auto asked = command.as<rdma_ucm_init_qp_attr>();
  if (!id.has_device()) return EINVAL;
  ib_uverbs_qp_attr answer{};
  answer.qp_state = asked.qp_state;
  answer.port_num = 1;
  answer.qp_attr_mask = IBV_QP_PORT;
  if (asked.qp_state != IBV_QPS_RTS) answer.qp_attr_mask |= IBV_QP_STATE | IBV_QP_ACCESS_FLAGS;
  answer.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | all_remote_access;
  command.answer(asked.response, answer);
  return 0;
}

int set_option(CmId& id, const Command& command) {
  const auto asked = command.as<rdma_ucm_set_option>();
  const auto* value =
      reinterpret_cast<const std::byte*>(asked.optval);  // NOLINT(performance-no-int-to-ptr)
  return id.set_option(asked.level, asked.optname, {value, asked.optlen});
}

int reject(Engine& shared, CmId& id, const Command& command) {
  const auto asked = command.as<rdma_ucm_reject>();
  return id.reject(shared, std::as_bytes(std::span(asked.private_data, asked.private_data_len)));
}

int migrate(CmChannel& channel, CmId& id, const Command& command) {
  const auto asked = command.as<rdma_ucm_migrate_id>();
  if (find_channel(static_cast<int>(asked.fd)) != &id.channel()) return EINVAL;
  const std::uint32_t reported = id.events_reported;
  id.migrate(channel);
  command.answer(asked.response, rdma_ucm_migrate_resp{.events_reported = reported});
  return 0;
}

/// No iWARP device joins a group, whatever the identifier is.
bool is_multicast(const Command& command) {
  return command.header.cmd == RDMA_USER_CM_CMD_JOIN_IP_MCAST ||
         command.header.cmd == RDMA_USER_CM_CMD_JOIN_MCAST ||
         command.header.cmd == RDMA_USER_CM_CMD_LEAVE_MCAST;
}

/// The identifier that the command is for.
std::uint32_t number_in(const Command& command) {
  switch (command.header.cmd) {
    case RDMA_USER_CM_CMD_DESTROY_ID:
      return command.as<rdma_ucm_destroy_id>().id;
    case RDMA_USER_CM_CMD_BIND_IP:
      return command.as<rdma_ucm_bind_ip>().id;
    case RDMA_USER_CM_CMD_RESOLVE_IP:
      return command.as<rdma_ucm_resolve_ip>().id;
    case RDMA_USER_CM_CMD_QUERY_ROUTE:
    case RDMA_USER_CM_CMD_QUERY:
      return command.as<rdma_ucm_query>().id;
    case RDMA_USER_CM_CMD_CONNECT:
      return command.as<rdma_ucm_connect>().id;
    case RDMA_USER_CM_CMD_ACCEPT:
      return command.as<rdma_ucm_accept>().id;
    case RDMA_USER_CM_CMD_INIT_QP_ATTR:
      return command.as<rdma_ucm_init_qp_attr>().id;
    case RDMA_USER_CM_CMD_SET_OPTION:
      return command.as<rdma_ucm_set_option>().id;
    case RDMA_USER_CM_CMD_MIGRATE_ID:
      return command.as<rdma_ucm_migrate_id>().id;
    default:  // it comes first
      return command.as<std::uint32_t>();
  }
}

int carry_out_on(Engine& shared, CmChannel& channel, CmId& id, const Command& command) {
  switch (command.header.cmd) {
    case RDMA_USER_CM_CMD_DESTROY_ID:
      return destroy_id(shared, id, command);
    case RDMA_USER_CM_CMD_BIND_IP:
      return bind(id, command.as<rdma_ucm_bind_ip>().addr);
    case RDMA_USER_CM_CMD_BIND:
      return bind(id, command.as<rdma_ucm_bind>().addr);
    case RDMA_USER_CM_CMD_RESOLVE_IP: {
      const auto asked = command.as<rdma_ucm_resolve_ip>();
      return resolve(id, asked.src_addr, asked.dst_addr);
    }
    case RDMA_USER_CM_CMD_RESOLVE_ADDR: {
      const auto asked = command.as<rdma_ucm_resolve_addr>();
      return resolve(id, asked.src_addr, asked.dst_addr);
    }
    case RDMA_USER_CM_CMD_RESOLVE_ROUTE:
      return id.resolve_route();
    case RDMA_USER_CM_CMD_QUERY_ROUTE:
      return query_route(id, command);
    case RDMA_USER_CM_CMD_QUERY:
      return query(id, command);
    case RDMA_USER_CM_CMD_LISTEN:
      return id.listen(shared);
    case RDMA_USER_CM_CMD_CONNECT:
      return id.connect(shared, command.as<rdma_ucm_connect>().conn_param);
    case RDMA_USER_CM_CMD_ACCEPT: {
      const auto asked = command.as<rdma_ucm_accept>();
      if (asked.conn_param.valid == 0) return id.establish();
      return id.accept(shared, asked.uid, asked.conn_param);
    }
    case RDMA_USER_CM_CMD_REJECT:
      return reject(shared, id, command);
    case RDMA_USER_CM_CMD_DISCONNECT:
      return id.disconnect(shared);
    case RDMA_USER_CM_CMD_INIT_QP_ATTR:
      return init_qp_attr(id, command);
    case RDMA_USER_CM_CMD_SET_OPTION:
      return set_option(id, command);
    case RDMA_USER_CM_CMD_MIGRATE_ID:
      return migrate(channel, id, command);
    case RDMA_USER_CM_CMD_NOTIFY:  // that the peer's first message has come: an iWARP RNIC knows
      return 0;
    default:  // what the kernel does not have either
      return ENOSYS;
  }
}

int get_event(CmChannel& channel, const Command& command) {
  for (;;) {
    if (!EventQueue<std::shared_ptr<CmEvent>>::take_token(channel.events.descriptor()))
      return errno;
    const auto lock = engine().lock();
    const auto event = channel.events.pop();
    if (!event) continue;
    ++(*event)->id->events_reported;
    command.answer(command.as<rdma_ucm_get_event>().response, (*event)->shown);
    return 0;
  }
}

}  // namespace

int carry_out(CmChannel& channel, std::span<const std::byte> octets) {
  if (channel.events.inherited()) return ENODEV;  // the RNIC behind it is the parent's
  Command command;
  if (octets.size() < sizeof command.header) return EINVAL;
  std::memcpy(&command.header, octets.data(), sizeof command.header);
  command.body = octets.subspan(sizeof command.header);
  if (command.header.in != command.body.size()) return EINVAL;
  if (command.header.cmd == RDMA_USER_CM_CMD_GET_EVENT) return get_event(channel, command);
  return call([&](Engine& shared, Engine::Lock&) {
    if (command.header.cmd == RDMA_USER_CM_CMD_CREATE_ID) return create_id(channel, command);
    if (is_multicast(command)) return ENOSYS;
    CmId* id = find_id(number_in(command));
    return id == nullptr ? ENOENT : carry_out_on(shared, channel, *id, command);
  });
}

}  // namespace rnic::rdma_core
