// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/dat/framework/dat_objects.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "suite/cases/dat/framework/dat_body.hpp"

namespace suite::cases::dat {

namespace {

constexpr DAT_COUNT usual_queue = 32;

void need(DAT_RETURN got, const char* what) {
  static_cast<void>(call_that_returned(got));
  if (got != DAT_SUCCESS)
    throw CaseStop{Verdict::inconclusive, fmt::format("{}: {}", what, return_text(got))};
}

sockaddr_storage parse_address(const std::string& literal) {
  sockaddr_storage storage{};
  auto* ipv4 = reinterpret_cast<sockaddr_in*>(&storage);
  auto* ipv6 = reinterpret_cast<sockaddr_in6*>(&storage);
  if (::inet_pton(AF_INET, literal.c_str(), &ipv4->sin_addr) == 1) {
    ipv4->sin_family = AF_INET;
  } else if (::inet_pton(AF_INET6, literal.c_str(), &ipv6->sin6_addr) == 1) {
    ipv6->sin6_family = AF_INET6;
  } else {
    throw CaseStop{Verdict::error, "no address: " + literal};
  }
  return storage;
}

sockaddr_storage copy_address(DAT_IA_ADDRESS_PTR address) {
  sockaddr_storage storage{};
  const auto* generic = reinterpret_cast<const sockaddr*>(address);
  if (generic == nullptr)
    throw CaseStop{Verdict::inconclusive, "the IA states no address of its own"};
  std::memcpy(&storage, generic,
              generic->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
  return storage;
}

DAT_PVOID writable(const std::vector<std::byte>& octets) {
  return octets.empty() ? nullptr : const_cast<std::byte*>(octets.data());
}

}  // namespace

DAT_RETURN end_endpoint(DAT_EP_HANDLE ep) {
  (void)dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG);
  return dat_ep_free(ep);
}

// ---------------------------------------------------------------- IA

Ia::Ia(const DatTarget& target) : attributes_(std::make_unique<DAT_IA_ATTR>()) {
  std::string name = target.ia;
  need(CALL(dat_ia_openv, name.data(), usual_queue, &async_evd_, &handle_, DAT_VERSION_MAJOR,
            DAT_VERSION_MINOR, DAT_FALSE),
       "the IA cannot be opened");
  need(CALL(dat_ia_query, handle_, nullptr, DAT_IA_ALL, attributes_.get(), 0, nullptr),
       "the IA cannot be queried");
  address_ = target.address.empty() ? copy_address(attributes_->ia_address_ptr)
                                    : parse_address(target.address);
}

Ia::~Ia() {
  if (handle_ != DAT_HANDLE_NULL) (void)CALL(dat_ia_close, handle_, DAT_CLOSE_ABRUPT_FLAG);
}

Pz Ia::pz() const {
  DAT_PZ_HANDLE handle = DAT_HANDLE_NULL;
  need(CALL(dat_pz_create, handle_, &handle), "no PZ");
  return Pz(handle);
}

Evd Ia::evd(DAT_EVD_FLAGS flags, DAT_COUNT length, DAT_CNO_HANDLE cno) const {
  DAT_EVD_HANDLE handle = DAT_HANDLE_NULL;
  need(CALL(dat_evd_create, handle_, length, cno, flags, &handle), "no EVD");
  return Evd(handle);
}

Cno Ia::cno() const {
  DAT_CNO_HANDLE handle = DAT_HANDLE_NULL;
  need(CALL(dat_cno_create, handle_, DAT_OS_WAIT_PROXY_AGENT_NULL, &handle), "no CNO");
  return Cno(handle);
}

std::pair<Psp, DAT_CONN_QUAL> Ia::psp(const Evd& evd, DAT_PSP_FLAGS flags) const {
  DAT_PSP_HANDLE handle = DAT_HANDLE_NULL;
  DAT_CONN_QUAL qualifier = 0;
  need(CALL(dat_psp_create_any, handle_, &qualifier, evd.get(), flags, &handle), "no PSP");
  return {Psp(handle), qualifier};
}

DAT_COMM tcp_communicator(const Ia& ia) {
  DAT_COMM comm{};
  comm.domain = reinterpret_cast<const sockaddr*>(ia.address())->sa_family;
  comm.type = SOCK_STREAM;
  comm.protocol = IPPROTO_TCP;
  return comm;
}

// Providers choose the lowest free one, or a port that the host assigns: between the two, each
// process has its own range.
DAT_CONN_QUAL free_qualifier(const Ia& ia) {
  constexpr DAT_CONN_QUAL lowest = 20'000, share = 16, shares = 750;
  static std::atomic<DAT_CONN_QUAL> count = 0;
  const Evd requests = ia.evd(DAT_EVD_CR_FLAG);
  for (DAT_CONN_QUAL tried = 0; tried < share; ++tried) {
    const DAT_CONN_QUAL qualifier =
        lowest + static_cast<DAT_CONN_QUAL>(::getpid()) % shares * share + count++ % share;
    DAT_PSP_HANDLE handle = DAT_HANDLE_NULL;
    if (CALL(dat_psp_create, ia.get(), qualifier, requests.get(), DAT_PSP_CONSUMER_FLAG, &handle) !=
        DAT_SUCCESS)
      continue;
    const Psp psp(handle);
    return qualifier;
  }
  return ia.psp(requests).second;
}

// ---------------------------------------------------------------- memory

Lmr::Lmr(const Ia& ia, DAT_PZ_HANDLE pz, std::size_t length, DAT_MEM_PRIV_FLAGS privileges,
         std::byte fill, DAT_VA_TYPE va_type)
    : memory_(std::make_unique<std::vector<std::byte>>(length, fill)) {
  DAT_REGION_DESCRIPTION description{};
  description.for_va = memory_->data();
  DAT_LMR_HANDLE handle = DAT_HANDLE_NULL;
  DAT_VLEN registered = 0;
  need(CALL(dat_lmr_create, ia.get(), DAT_MEM_TYPE_VIRTUAL, description, length, pz, privileges,
            va_type, &handle, &lmr_context_, &rmr_context_, &registered, &address_),
       "no LMR");
  handle_ = Owned<DAT_LMR_HANDLE, dat_lmr_free>(handle);
  address_ = va_type == DAT_VA_TYPE_ZB ? 0 : reinterpret_cast<DAT_VADDR>(memory_->data());
}

DAT_LMR_TRIPLET Lmr::triplet(std::size_t offset) const {
  return triplet(offset, memory_->size() - offset);
}
DAT_LMR_TRIPLET Lmr::triplet(std::size_t offset, std::size_t length) const {
  DAT_LMR_TRIPLET triplet{};
  triplet.virtual_address = address_ + offset;
  triplet.segment_length = static_cast<DAT_SEG_LENGTH>(length);
  triplet.lmr_context = lmr_context_;
  return triplet;
}
DAT_RMR_TRIPLET Lmr::remote(std::size_t offset) const {
  return remote(offset, memory_->size() - offset);
}
DAT_RMR_TRIPLET Lmr::remote(std::size_t offset, std::size_t length) const {
  DAT_RMR_TRIPLET triplet{};
  triplet.virtual_address = address_ + offset;
  triplet.segment_length = static_cast<DAT_SEG_LENGTH>(length);
  triplet.rmr_context = rmr_context_;
  return triplet;
}

std::string drawn_contexts(const Ia& ia) {
  const Pz pz = ia.pz();
  std::vector<Lmr> regions;
  std::vector<DAT_RMR_CONTEXT> contexts;
  for (int i = 0; i < 8; ++i)
    contexts.push_back(regions.emplace_back(ia, pz.get(), 64).remote().rmr_context);
  return fmt::format("{}", fmt::join(contexts, "-"));
}

// ---------------------------------------------------------------- connections

DAT_EVENT next_event(const Evd& evd) {
  DAT_EVENT event{};
  DAT_COUNT more = 0;
  need(CALL(dat_evd_wait, evd.get(), DAT_TIMEOUT_INFINITE, 1, &event, &more), "no event");
  return event;
}

DAT_RETURN async_event(const Ia& ia, DAT_EVENT& event) {
  return CALL(dat_evd_dequeue, ia.async_evd(), &event);
}

DAT_RETURN awaited_async_event(const Ia& ia, DAT_EVENT& event) {
  DAT_COUNT more = 0;
  return CALL(dat_evd_wait, ia.async_evd(), DAT_TIMEOUT_INFINITE, 1, &event, &more);
}

Side make_side(const Ia& ia, const Pz& pz, const DAT_EP_ATTR* attributes) {
  Side side{
      .receives = ia.evd(DAT_EVD_DTO_FLAG),
      .requests = ia.evd(static_cast<DAT_EVD_FLAGS>(DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG)),
      .connection = ia.evd(DAT_EVD_CONNECTION_FLAG),
      .ep = {}};
  DAT_EP_HANDLE handle = DAT_HANDLE_NULL;
  need(CALL(dat_ep_create, ia.get(), pz.get(), side.receives.get(), side.requests.get(),
            side.connection.get(), attributes, &handle),
       "no EP");
  side.ep = Ep(handle);
  return side;
}

Pair connect_pair(const Ia& ia, const PairOptions& options) {
  Pair pair{
      .pz = ia.pz(), .requests = ia.evd(DAT_EVD_CR_FLAG), .psp = {}, .active = {}, .passive = {}};
  pair.active = make_side(ia, pair.pz, options.attributes);
  pair.passive = make_side(ia, pair.pz, options.attributes);
  auto [psp, qualifier] = ia.psp(pair.requests);
  pair.psp = std::move(psp);
  need(CALL(dat_ep_connect, pair.active.ep.get(), ia.address(), qualifier, DAT_TIMEOUT_INFINITE,
            static_cast<DAT_COUNT>(options.request_data.size()), writable(options.request_data),
            DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
       "no connect");
  const DAT_EVENT request = next_event(pair.requests);
  if (request.event_number != DAT_CONNECTION_REQUEST_EVENT)
    throw CaseStop{Verdict::inconclusive,
                   event_text(request.event_number) + " instead of a connection request"};
  need(
      CALL(dat_cr_accept, request.event_data.cr_arrival_event_data.cr_handle, pair.passive.ep.get(),
           static_cast<DAT_COUNT>(options.accept_data.size()), writable(options.accept_data)),
      "no accept");
  for (const Side* side : {&pair.active, &pair.passive}) {
    const DAT_EVENT event = next_event(side->connection);
    if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
      throw CaseStop{Verdict::inconclusive,
                     event_text(event.event_number) + " instead of a connection"};
  }
  return pair;
}

}  // namespace suite::cases::dat
