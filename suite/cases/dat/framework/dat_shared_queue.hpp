// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A shared receive queue with memory for its receives, and a connection one end of which takes its
// receives from it.
#pragma once

#include <utility>
#include <vector>

#include "suite/cases/dat/framework/dat_requests.hpp"

namespace suite::cases::dat {

/// A shared receive queue of eight entries, of two segments each.
struct Queue {
  explicit Queue(DatBody& body, DAT_SRQ_ATTR attributes = {.max_recv_dtos = 8,
                                                           .max_recv_iov = 2,
                                                           .low_watermark = DAT_SRQ_LW_DEFAULT})
      : pz(body.ia().pz()), memory(body.ia(), pz.get(), 1024), attr(attributes) {
    DAT_SRQ_HANDLE handle = DAT_HANDLE_NULL;
    const DAT_RETURN got = CALL(dat_srq_create, body.ia().get(), pz.get(), &attr, &handle);
    body.expect(got, succeeds);
    srq = Srq(handle);
  }
  DAT_RETURN post(DAT_UINT64 cookie, std::vector<DAT_LMR_TRIPLET> segments) {
    return post(cookie, static_cast<DAT_COUNT>(segments.size()), segments.data());
  }
  DAT_RETURN post(DAT_UINT64 cookie) {
    return post(cookie, {memory.triplet(cookie % 16 * 64, 64)});
  }
  DAT_RETURN post(DAT_UINT64 cookie, DAT_COUNT count, DAT_LMR_TRIPLET* segments) {
    DAT_DTO_COOKIE id{};
    id.as_64 = cookie;
    return CALL(dat_srq_post_recv, srq.get(), count, segments, id);
  }
  DAT_SRQ_PARAM query(DatBody& body) {
    DAT_SRQ_PARAM param{};
    body.expect(CALL(dat_srq_query, srq.get(), DAT_SRQ_FIELD_ALL, &param), succeeds);
    return param;
  }

  Pz pz;
  Lmr memory;
  DAT_SRQ_ATTR attr;
  Srq srq;
};

[[nodiscard]] inline Srq only(Queue queue) { return std::move(queue.srq); }

/// An endpoint that takes its receives from the queue, connected with one that has its own.
struct Users {
  struct Receiving {
    bool dispatched = true;  ///< there is a dispatcher of receives
    DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG;
  };
  Users(DatBody& body, const Queue& queue) : Users(body, queue, Receiving{}) {}
  Users(DatBody& body, const Queue& queue, const Receiving& receiving)
      : requests(body.ia().evd(DAT_EVD_CR_FLAG)), sender(make_side(body.ia(), queue.pz)) {
    if (receiving.dispatched) receiver.receives = body.ia().evd(DAT_EVD_DTO_FLAG);
    receiver.requests = body.ia().evd(DAT_EVD_DTO_FLAG);
    receiver.connection = body.ia().evd(DAT_EVD_CONNECTION_FLAG);
    DAT_EP_PARAM usual{};  // attributes there must be: those of an ordinary endpoint
    body.need(CALL(dat_ep_query, sender.ep.get(), DAT_EP_FIELD_ALL, &usual), "no EP query");
    usual.ep_attr.recv_completion_flags = receiving.flags;
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    body.need(CALL(dat_ep_create_with_srq, body.ia().get(), queue.pz.get(), receiver.receives.get(),
                   receiver.requests.get(), receiver.connection.get(), queue.srq.get(),
                   &usual.ep_attr, &ep),
              "no EP with SRQ");
    receiver.ep = Ep(ep);
  }
  void connect(DatBody& body) {
    const auto [psp, qualifier] = body.ia().psp(requests);
    body.need(ask(body.ia(), sender.ep, qualifier), "no connect");
    const auto request = next_event(requests).event_data.cr_arrival_event_data;
    body.need(CALL(dat_cr_accept, request.cr_handle, receiver.ep.get(), 0, nullptr), "no accept");
    for (const Side* side : {&sender, &receiver})
      if (next_event(side->connection).event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
        body.stop(Verdict::inconclusive, "no connection");
  }
  void send(DatBody& body, DAT_LMR_TRIPLET from,
            DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG) {
    body.need(CALL(dat_ep_post_send, sender.ep.get(), from.segment_length == 0 ? 0 : 1, &from,
                   DAT_DTO_COOKIE{}, flags),
              "no Send");
  }
  Evd requests;
  Side sender, receiver;
};

}  // namespace suite::cases::dat
