// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/kdat/framework/kdat_body.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "suite/cases/dat/framework/dat_endpoint.hpp"

namespace suite::cases::dat {

rnic_kdat_segment Region::segment(std::size_t offset, std::size_t length) const {
  return {.address = base + offset,
          .length = static_cast<std::uint32_t>(length),
          .context = lmr_context,
          .memory = 0,
          .reserved = 0};
}

rnic_kdat_segment physical_segment(const KernelMemory& memory, std::size_t offset,
                                   std::size_t length, std::uint32_t context) {
  return {.address = offset,
          .length = static_cast<std::uint32_t>(length),
          .context = context,
          .memory = static_cast<std::uint32_t>(memory.handle),
          .reserved = 0};
}

Consumer& KdatBody::kernel() {
  if (!kernel_) kernel_.emplace();
  return *kernel_;
}

void KdatBody::open() {
  if (ia_ != 0) return;
  const auto name = octets_of(target().ia);
  const Result opened = call(RNIC_KDAT_IA_OPEN, {8, 2, 0, 1}, with_data(name));
  need(opened, "the IA " + target().ia);
  ia_ = opened.out(0);
  async_evd_ = opened.out(1);
}

Word KdatBody::ia_handle() {
  open();
  return ia_;
}

Word KdatBody::async_evd() {
  open();
  return async_evd_;
}

Word KdatBody::pz() {
  const Result made = call(RNIC_KDAT_PZ_CREATE, {ia_handle()});
  need(made, "no PZ");
  return made.out(0);
}

Word KdatBody::evd(Word flags, Word length, Word policy, Word kind) {
  const Result made = call(RNIC_KDAT_EVD_KCREATE, {ia_handle(), length, policy, flags, kind, 0});
  need(made, "no EVD");
  return made.out(0);
}

Region KdatBody::region(Word pz, std::size_t pages, Word privileges, Word va_type) {
  Region made;
  made.memory = kernel().memory(pages);
  const Result result =
      call(RNIC_KDAT_LMR_KCREATE, {ia_handle(), DAT_MEM_TYPE_VIRTUAL, made.memory.octets.size(), pz,
                                   privileges, va_type, 0, made.memory.handle, 0, 0});
  need(result, "no LMR");
  made.lmr = result.out(0);
  made.lmr_context = static_cast<std::uint32_t>(result.out(1));
  made.rmr_context = static_cast<std::uint32_t>(result.out(2));
  made.base = result.out(4);
  return made;
}

KernelSide KdatBody::side(Word pz, Word depth, Word srq) {
  KernelSide made{.receives = evd(DAT_EVD_DTO_FLAG, 64),
                  .requests = evd(DAT_EVD_DTO_FLAG, 64),
                  .connection = evd(DAT_EVD_CONNECTION_FLAG, 8)};
  const Result result = call(
      srq == 0 ? RNIC_KDAT_EP_CREATE : RNIC_KDAT_EP_CREATE_WITH_SRQ,
      {ia_handle(), pz, made.receives, made.requests, made.connection, 1, depth, depth, 4, 4, srq});
  need(result, "no EP");
  made.ep = result.out(0);
  return made;
}

void KdatBody::listen(KernelPair& pair) {
  pair.arrivals = evd(DAT_EVD_CR_FLAG, 8);
  const Result made =
      call(RNIC_KDAT_PSP_CREATE_ANY, {ia_handle(), 0, pair.arrivals, DAT_PSP_CONSUMER_FLAG});
  need(made, "no PSP");
  pair.psp = made.out(0);
  pair.qualifier = made.out(1);
}

KernelEvent KdatBody::next_request(const KernelPair& pair) {
  const Upcall arrived = kernel().next_upcall(pair.arrivals);
  if (arrived.event.number != DAT_CONNECTION_REQUEST_EVENT)
    stop(Verdict::inconclusive, "no connection request arrived");
  return arrived.event;
}

Result KdatBody::start_connect(Word ep, Word qualifier, std::span<const std::byte> data,
                               Word timeout) {
  return call(RNIC_KDAT_EP_CONNECT,
              {ep, 0, ia_handle(), qualifier, timeout, data.size(), DAT_QOS_BEST_EFFORT,
               DAT_CONNECT_DEFAULT_FLAG},
              with_data(data));
}

KernelPair KdatBody::connected(Word depth, Word srq) {
  KernelPair pair{.pz = pz()};
  listen(pair);
  pair.active = side(pair.pz, depth);
  pair.passive = side(pair.pz, depth, srq);
  need(start_connect(pair.active.ep, pair.qualifier), "no connect");
  const KernelEvent request = next_request(pair);
  need(call(RNIC_KDAT_CR_ACCEPT, {request.cr, pair.passive.ep, 0}), "no accept");
  for (const Word evd : {pair.active.connection, pair.passive.connection})
    if (kernel().next_upcall(evd).event.number != DAT_CONNECTION_EVENT_ESTABLISHED)
      stop(Verdict::inconclusive, "no connection was established");
  return pair;
}

Result KdatBody::post(std::uint32_t number, Word ep, std::vector<rnic_kdat_segment> segments,
                      Word cookie, Word flags, std::uint32_t context) {
  const Word count = segments.size();
  return call(number, {ep, count, cookie, flags},
              {.context = context, .segments = std::move(segments)});
}

Result KdatBody::post_rdma(std::uint32_t number, Word ep, const rnic_kdat_segment& local,
                           Word cookie, const Region& remote, std::size_t offset,
                           std::size_t length, Word flags, std::uint32_t context) {
  return call(number, {ep, 1, cookie, flags, remote.base + offset, length, remote.rmr_context},
              {.context = context, .segments = {local}});
}

// ---------------------------------------------------------------- expectations

KernelEvent KdatBody::expect_upcall(Word evd, DAT_EVENT_NUMBER number, RuleRef rule) {
  const Upcall upcall = kernel().next_upcall(evd);
  const std::string got = upcall.has_event != 0
                              ? event_text(static_cast<DAT_EVENT_NUMBER>(upcall.event.number))
                              : "a notification";
  expect_that(upcall.has_event != 0 && upcall.event.number == static_cast<std::uint32_t>(number),
              event_text(number), got, rule);
  return upcall.event;
}

KernelEvent KdatBody::expect_done(Word evd, Word cookie, DAT_DTO_COMPLETION_STATUS status,
                                  RuleRef rule) {
  const KernelEvent event = expect_upcall(evd, DAT_DTO_COMPLETION_EVENT, rule);
  const auto text = [](Word id, Word how) {
    return fmt::format("completion {}: {}", id,
                       status_text(static_cast<DAT_DTO_COMPLETION_STATUS>(how)));
  };
  const std::string wanted = text(cookie, static_cast<Word>(status));
  const std::string got = text(event.cookie, event.status);
  expect_that(wanted == got, wanted, got, rule);
  return event;
}

void KdatBody::expect_number(std::string_view what, Word got, Word wanted, RuleRef rule) {
  expect_that(got == wanted, fmt::format("{} {:#x}", what, wanted),
              fmt::format("{} {:#x}", what, got), rule);
}

void KdatBody::expect_octets(std::span<const std::byte> got, std::span<const std::byte> wanted,
                             RuleRef rule) {
  const auto [left, right] = std::ranges::mismatch(got, wanted);
  const bool same = got.size() == wanted.size() && left == got.end();
  expect_that(
      same, fmt::format("the {} octets", wanted.size()),
      same ? "the same"
           : fmt::format("{} octets, of which octet {} differs", got.size(), left - got.begin()),
      rule);
}

void KdatBody::expect_private_data(std::span<const std::byte> got, std::span<const std::byte> sent,
                                   RuleRef rule) {
  const auto is_zero = [](std::byte octet) { return octet == std::byte{0}; };
  const bool padded =
      got.size() > sent.size() && std::ranges::all_of(got.subspan(sent.size()), is_zero);
  expect_octets(padded ? got.first(sent.size()) : got, sent, rule);
}

std::vector<std::byte> KdatBody::private_data(std::size_t length) {
  const Result got = call(RNIC_KDAT_IA_QUERY, {ia_handle(), 1, 1});
  need(got, "no query");
  std::vector<std::byte> data(
      std::min<std::size_t>(length, got.out(RNIC_KDAT_IA_MAX_PRIVATE_DATA)));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7 + 1);
  return data;
}

void KdatBody::expect_ep_state(Word ep, DAT_EP_STATE state, RuleRef rule) {
  const Result got = call(RNIC_KDAT_EP_GET_STATUS, {ep});
  need(got, "no EP status");
  const auto actual = static_cast<DAT_EP_STATE>(got.out(0));
  expect_that(actual == state, state_text(state), state_text(actual), rule);
}

void KdatBody::expect_refused_without(std::uint32_t number, std::initializer_list<Word> in,
                                      std::initializer_list<std::uint32_t> pointers, RuleRef rule) {
  for (const std::uint32_t pointer : pointers)
    expect(call(number, in, with_null(pointer)), returns(DAT_INVALID_PARAMETER), rule);
}

}  // namespace suite::cases::dat
