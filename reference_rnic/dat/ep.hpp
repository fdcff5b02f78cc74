// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An Endpoint: its configuration, its state, its queue pair, and the events that it makes.
//
// The queue pair lives from the start of a connection to the reset of the Endpoint, so that all of
// the configuration can change before. Receives that are posted earlier wait here.
#pragma once

#include <optional>
#include <vector>

#include "base/fifo.hpp"
#include "reference_rnic/dat/borrowed_socket.hpp"
#include "reference_rnic/dat/ep_state.hpp"
#include "reference_rnic/dat/error_mapping.hpp"
#include "reference_rnic/dat/lmr.hpp"
#include "reference_rnic/dat/posted.hpp"
#include "reference_rnic/dat/srq.hpp"

namespace rnic::dat {

class Ep final : public Object {
 public:
  static constexpr Kind its_kind = Kind::ep;
  static constexpr DAT_RETURN_SUBTYPE subtype = DAT_INVALID_HANDLE_EP;

  Ep(Ia* the_ia, const DAT_EP_ATTR& the_attr) : Object(its_kind, the_ia), attr(the_attr) {}
  ~Ep() override;

  [[nodiscard]] bool configured() const { return pz && connect_evd; }
  [[nodiscard]] DAT_EP_STATE shown() const { return shown_state(state, configured()); }
  /// DAT_SUCCESS if `input` is admitted now.
  [[nodiscard]] DAT_RETURN admits(EpInput input) const;
  void move(EpInput input);
  /// Which EVDs get completions; they may be selective.
  void set_recv_evd(Evd* evd);
  void set_request_evd(Evd* evd);

  // -- connecting (ep_connect.cpp) --
  /// What a side asks of a connection.
  struct Request {
    std::span<const std::byte> private_data{};
    base::Address remote{};
    DAT_TIMEOUT timeout = DAT_TIMEOUT_INFINITE;
    std::optional<int> socket{};  ///< the consumer's, connected to the remote address
  };
  [[nodiscard]] DAT_RETURN connect(const Request& request);
  [[nodiscard]] DAT_RETURN accept(const Cr& cr, std::span<const std::byte> private_data);
  [[nodiscard]] DAT_RETURN disconnect(bool abrupt);
  void rejected();  ///< the request that it was to accept
  void reset();
  void happened(const access::ConnectionEstablished& event);
  void happened(const access::ConnectionRejected& event);
  void happened(const access::ConnectionFailed& event);
  void happened(const access::ConnectionEnded& event);
  void faulted(const verbs::AsyncEvent& event);
  [[nodiscard]] std::expected<void, verbs::Error> open_pair();
  void close_pair();
  [[nodiscard]] access::ConnectParameters parameters(std::span<const std::byte> private_data) const;

  // -- DTOs (ep_post.cpp) --
  [[nodiscard]] DAT_RETURN post_receive(verbs::ReceiveRequest request, const Posted& posted);
  /// A work request of a DTO, and the region that was made only for it.
  struct Part {
    verbs::SendRequest request;
    verbs::RegionHandle sink{};
  };
  /// The work requests that make up one DTO; the last of them carries its completion.
  [[nodiscard]] DAT_RETURN post(std::span<const Part> parts, const Posted& posted);
  [[nodiscard]] DAT_RETURN post(const Part& part, const Posted& posted) {
    return post(std::span(&part, 1), posted);
  }
  [[nodiscard]] DAT_RETURN post_read(const verbs::Pieces& sinks, const DAT_RMR_TRIPLET& source,
                                     const Posted& posted);
  void completed(const verbs::Completion& completion);
  [[nodiscard]] DAT_COUNT buffers_held() const;
  void check_watermarks();
  void set_watermarks(DAT_COUNT soft, DAT_COUNT hard);

  Use<Pz> pz;
  Use<Evd> recv_evd, request_evd, connect_evd;
  Use<Srq> srq;
  DAT_EP_ATTR attr;
  DAT_EP_STATE state = DAT_EP_STATE_UNCONNECTED;
  DAT_COMM comm{};
  base::Address local{}, remote{};  ///< as far as known
  base::Address target{};           ///< where connect() went, for a duplicate
  SocketAddress local_storage, remote_storage;
  DAT_COUNT receives = 0, requests = 0;  ///< outstanding
  DAT_COUNT soft_watermark = DAT_WATERMARK_INFINITE, hard_watermark = DAT_WATERMARK_INFINITE;
  std::uint16_t read_credits = 0;  ///< RDMA Reads that the connection may have outstanding
  verbs::QueuePairHandle pair{};
  std::shared_ptr<BorrowedSocket>
      borrowed;  ///< of the socket under the connection, if the consumer lent it

 private:
  void post_connection_event(DAT_EVENT_NUMBER number, std::vector<std::byte> data = {});
  void end_attempt(DAT_EVENT_NUMBER number, std::vector<std::byte> data = {});
  [[nodiscard]] std::expected<Part, DAT_RETURN> read_into(const verbs::Piece& sink);
  void give_back(std::span<const Part> parts) const;
  void release_held();
  [[nodiscard]] std::expected<access::ConnectionId, access::Failure> start(const Request& request);
  void show(const verbs::Completion& completion, const Posted& posted);
  [[nodiscard]] Notice notice_of(const verbs::Completion& completion, const Posted& posted) const;
  void watch(Evd* evd, DAT_COMPLETION_FLAGS flags, int change) const;

  PostedTable posted_, posted_receives_;
  base::Fifo<verbs::ReceiveRequest> preposted_;
  std::vector<verbs::Completion> held_;  ///< until the consumer knows of the connection
  std::vector<std::byte> private_data_;  ///< of the latest connection event that had some
  EndCause cause_;
  bool limited_ = false;  ///< the consumer gave a timeout
  bool soft_reported_ = false;
};

/// An Endpoint that the provider makes, for a request on a PSP with DAT_PSP_PROVIDER_FLAG.
[[nodiscard]] Ep& provider_ep(Ia& ia);

}  // namespace rnic::dat
