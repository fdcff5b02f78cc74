// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The functions that libdat2 looks up in the library, dat_provider_init and dat_provider_fini, and
// the table of calls that they register.
#include <ifaddrs.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <list>
#include <sstream>

#include "reference_rnic/dat/calls.hpp"
#include "reference_rnic/dat/registry.hpp"

namespace rnic::dat {

namespace {

/// libdat2 opens an IA by its name alone; the function pointer shows which of two lines of that name
/// is meant.
template <bool thread_safe>
DAT_RETURN open_ia(const DAT_NAME_PTR name, DAT_COUNT async_length, DAT_EVD_HANDLE* async_evd,
                   DAT_IA_HANDLE* ia) {
  return calls::ia_open(name, thread_safe, async_length, async_evd, ia);
}

DAT_PROVIDER make_table(bool thread_safe) {
  using namespace calls;
  return {.device_name = nullptr,
          .extension = nullptr,
          .ia_open_func = thread_safe ? open_ia<true> : open_ia<false>,
          .ia_query_func = ia_query,
          .ia_close_func = ia_close,
          .set_consumer_context_func = set_consumer_context,
          .get_consumer_context_func = get_consumer_context,
          .get_handle_type_func = get_handle_type,
          .cno_create_func = cno_create,
          .cno_modify_agent_func = cno_modify_agent,
          .cno_query_func = cno_query,
          .cno_free_func = cno_free,
          .cno_wait_func = cno_wait,
          .cr_query_func = cr_query,
          .cr_accept_func = cr_accept,
          .cr_reject_func = cr_reject,
          .cr_handoff_func = cr_handoff,
          .evd_create_func = evd_create,
          .evd_query_func = evd_query,
          .evd_modify_cno_func = evd_modify_cno,
          .evd_enable_func = evd_enable,
          .evd_disable_func = evd_disable,
          .evd_wait_func = evd_wait,
          .evd_resize_func = evd_resize,
          .evd_post_se_func = evd_post_se,
          .evd_dequeue_func = evd_dequeue,
          .evd_free_func = evd_free,
          .ep_create_func = ep_create,
          .ep_query_func = ep_query,
          .ep_modify_func = ep_modify,
          .ep_connect_func = ep_connect,
          .ep_dup_connect_func = ep_dup_connect,
          .ep_disconnect_func = ep_disconnect,
          .ep_post_send_func = ep_post_send,
          .ep_post_recv_func = ep_post_recv,
          .ep_post_rdma_read_func = ep_post_rdma_read,
          .ep_post_rdma_write_func = ep_post_rdma_write,
          .ep_get_status_func = ep_get_status,
          .ep_free_func = ep_free,
          .lmr_create_func = lmr_create,
          .lmr_query_func = lmr_query,
          .lmr_free_func = lmr_free,
          .rmr_create_func = rmr_create,
          .rmr_query_func = rmr_query,
          .rmr_bind_func = rmr_bind,
          .rmr_free_func = rmr_free,
          .psp_create_func = psp_create,
          .psp_query_func = psp_query,
          .psp_free_func = psp_free,
          .rsp_create_func = rsp_create,
          .rsp_query_func = rsp_query,
          .rsp_free_func = rsp_free,
          .pz_create_func = pz_create,
          .pz_query_func = pz_query,
          .pz_free_func = pz_free,
          .psp_create_any_func = psp_create_any,
          .ep_reset_func = ep_reset,
          .evd_set_unwaitable_func = evd_set_unwaitable,
          .evd_clear_unwaitable_func = evd_clear_unwaitable,
          .lmr_sync_rdma_read_func = lmr_sync_rdma_read,
          .lmr_sync_rdma_write_func = lmr_sync_rdma_write,
          .ep_create_with_srq_func = ep_create_with_srq,
          .ep_recv_query_func = ep_recv_query,
          .ep_set_watermark_func = ep_set_watermark,
          .srq_create_func = srq_create,
          .srq_free_func = srq_free,
          .srq_post_recv_func = srq_post_recv,
          .srq_query_func = srq_query,
          .srq_resize_func = srq_resize,
          .srq_set_lw_func = srq_set_lw,
          .csp_create_func = csp_create,
          .csp_query_func = csp_query,
          .csp_free_func = csp_free,
          .ep_common_connect_func = ep_common_connect,
          .rmr_create_for_ep_func = rmr_create_for_ep,
          .ep_post_send_with_invalidate_func = ep_post_send_with_invalidate,
          .ep_post_rdma_read_to_rmr_func = ep_post_rdma_read_to_rmr,
          .cno_fd_create_func = cno_fd_create,
          .cno_trigger_func = cno_trigger,
          .ia_ha_related_func = ia_ha_related,
          .handle_extendedop_func = extension_op};
}

struct Entry {
  Registration registration;
  bool current = true;  ///< libdat2 has not called dat_provider_fini for it
};

/// Entries remain after libdat2 has stopped using them: handles of closed IAs still refer to their
/// table.
std::list<Entry>& entries() {
  static auto& all = *new std::list<Entry>;  // NOLINT: as long-lived as the engine
  return all;
}

bool is_for(const Registration& registration, const DAT_PROVIDER_INFO& info) {
  return std::string_view(registration.info.ia_name) == info.ia_name &&
         registration.info.is_thread_safe == info.is_thread_safe;
}

void complain(const DAT_PROVIDER_INFO& info, const std::string& why) {
  std::fprintf(stderr, "librnic_dat: IA %s is left out: %s\n", info.ia_name, why.c_str());
}

std::expected<base::Address, std::string> address_of(const std::string& interface) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return std::unexpected("the interfaces cannot be listed");
  std::expected<base::Address, std::string> found =
      std::unexpected("interface " + interface + " has no address; name one in ia_params");
  for (const ifaddrs* item = all; item != nullptr && !found; item = item->ifa_next) {
    if (interface != item->ifa_name || item->ifa_addr == nullptr) continue;
    if (const auto address = read_address(item->ifa_addr)) found = *address;
  }
  freeifaddrs(all);
  return found;
}

void add(const DAT_PROVIDER_INFO& info, std::string_view ia_params) {
  if (info.dapl_version_major != 2 || info.dapl_version_minor != 0)
    return complain(info, "this provider speaks DAT 2.0 only (u2.0 in dat.conf)");
  auto place = read_params(ia_params);
  if (!place) return complain(info, place.error());
  Entry& entry = entries().emplace_back();
  Registration& registration = entry.registration;
  registration.info = info;
  registration.interface = std::move(place->interface);
  registration.address = place->address;
  registration.table = make_table(info.is_thread_safe == DAT_TRUE);
  registration.table.device_name = registration.info.ia_name;
  if (dat_registry_add_provider(&registration.table, &registration.info) != DAT_SUCCESS)
    entries().pop_back();
}

}  // namespace

std::expected<Place, std::string> read_params(std::string_view ia_params) {
  std::istringstream words{std::string(ia_params)};
  Place place;
  std::string word;
  bool has_address = false;
  while (words >> word) {
    if (const auto address = base::Address::parse(word)) {
      place.address = *address;
      has_address = true;
    } else if (place.interface.empty() && !has_address) {
      place.interface = word;
    } else {
      return std::unexpected("ia_params \"" + std::string(ia_params) + "\": '" + word +
                             "' is not an address; write \"INTERFACE ADDRESS\"");
    }
  }
  if (has_address) return place;
  if (place.interface.empty())
    return std::unexpected(
        "ia_params is empty; write \"INTERFACE ADDRESS\", e.g. \"lo 127.0.0.1\"");
  const auto found = address_of(place.interface);
  if (!found) return std::unexpected(found.error());
  place.address = found->with_port(0);
  return place;
}

const Registration* find_registration(std::string_view name, bool thread_safe) {
  for (const Entry& entry : entries())
    if (entry.current && name == entry.registration.info.ia_name &&
        (entry.registration.info.is_thread_safe == DAT_TRUE) == thread_safe)
      return &entry.registration;
  return nullptr;
}

const Registration* find_registration(std::string_view name) {
  const Registration* safe = find_registration(name, true);
  return safe != nullptr ? safe : find_registration(name, false);
}

}  // namespace rnic::dat

extern "C" {

[[gnu::visibility("default")]] void dat_provider_init(const DAT_PROVIDER_INFO* info,
                                                      const char* ia_params) {
  const auto lock = rnic::dat::engine().lock();
  rnic::dat::add(*info, ia_params == nullptr ? "" : ia_params);
}

[[gnu::visibility("default")]] void dat_provider_fini(const DAT_PROVIDER_INFO* info) {
  const auto lock = rnic::dat::engine().lock();
  for (rnic::dat::Entry& entry : rnic::dat::entries()) {
    if (!entry.current || !rnic::dat::is_for(entry.registration, *info)) continue;
    entry.current = false;
    dat_registry_remove_provider(&entry.registration.table, &entry.registration.info);
  }
}

}  // extern "C"
