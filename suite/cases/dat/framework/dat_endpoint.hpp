// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Short forms of the calls on endpoints, endpoints in each state that calls alone can reach, and
// threads that wait on event dispatchers.
#pragma once

#include <array>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "suite/cases/dat/framework/dat_body.hpp"

namespace suite::cases::dat {

[[nodiscard]] DAT_DTO_COOKIE cookie(DAT_UINT64 id);
/// The values of an enumeration of flags, which C lets a consumer add up.
template <typename Flags>
[[nodiscard]] constexpr Flags flags_of(unsigned value) {
  return static_cast<Flags>(value);
}
[[nodiscard]] std::vector<std::byte> octets_of(std::string_view text);

/// An IA that does not state that it has zero-based regions need not make any.
inline void need_zero_based(DatBody& body) {
  if (body.ia().attributes().zb_supported == DAT_FALSE)
    body.stop(Verdict::not_applicable, "the IA does not state zb_supported");
}

// ---------------------------------------------------------------- posts

using Segments = std::vector<DAT_LMR_TRIPLET>;

/// The arguments of a post other than its segments.
struct PostOptions {
  DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG;
  /// Instead of the number of segments.
  std::optional<DAT_COUNT> count{};
};
[[nodiscard]] PostOptions with_flags(unsigned flags);

DAT_RETURN post_send(DAT_EP_HANDLE ep, Segments segments, DAT_UINT64 id, PostOptions options = {});
DAT_RETURN post_recv(DAT_EP_HANDLE ep, Segments segments, DAT_UINT64 id, PostOptions options = {});
DAT_RETURN post_write(DAT_EP_HANDLE ep, Segments segments, DAT_RMR_TRIPLET to, DAT_UINT64 id,
                      PostOptions options = {});
DAT_RETURN post_read(DAT_EP_HANDLE ep, Segments segments, DAT_RMR_TRIPLET from, DAT_UINT64 id,
                     PostOptions options = {});
/// These two are called through the provider's table: the handle must not be null.
DAT_RETURN post_read_to_rmr(DAT_EP_HANDLE ep, const DAT_RMR_TRIPLET* to,
                            const DAT_RMR_TRIPLET* from, DAT_UINT64 id, PostOptions options = {});
DAT_RETURN post_send_with_invalidate(DAT_EP_HANDLE ep, Segments segments, DAT_UINT64 id,
                                     DAT_RMR_CONTEXT context, PostOptions options = {});

/// A window of this endpoint only, which its peer may invalidate: bound over the whole region, with
/// its completion taken.
struct Window {
  Rmr rmr;
  DAT_RMR_CONTEXT context = 0;
  [[nodiscard]] DAT_RMR_TRIPLET triplet(const Lmr& over, std::size_t length) const;
};
[[nodiscard]] Window bind_window(const Pz& pz, const Side& side, const Lmr& lmr,
                                 DAT_MEM_PRIV_FLAGS privileges = DAT_MEM_PRIV_ALL_FLAG);

// ---------------------------------------------------------------- connections

struct ConnectOptions {
  DAT_TIMEOUT timeout = DAT_TIMEOUT_INFINITE;
  std::vector<std::byte> data{};
  DAT_QOS qos = DAT_QOS_BEST_EFFORT;
  DAT_CONNECT_FLAGS flags = DAT_CONNECT_DEFAULT_FLAG;
};
DAT_RETURN start_connect(const Ia& ia, DAT_EP_HANDLE ep, DAT_CONN_QUAL qualifier,
                         const ConnectOptions& options = {});
DAT_RETURN common_connect(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address,
                          const ConnectOptions& options = {});
DAT_RETURN dup_connect(DAT_EP_HANDLE ep, DAT_EP_HANDLE model, const ConnectOptions& options = {});

/// A service point with its dispatcher.
struct Listener {
  explicit Listener(const Ia& ia, DAT_PSP_FLAGS flags = DAT_PSP_CONSUMER_FLAG);
  /// The next request; anything else is inconclusive.
  [[nodiscard]] DAT_CR_HANDLE next() const;

  Evd requests;
  Psp psp;
  DAT_CONN_QUAL qualifier = 0;
};

/// Disconnects a pair and takes the events of both sides.
void end_connection(const Pair& pair);

// ---------------------------------------------------------------- states

/// The states that calls on the two ends can reach and keep. COMPLETION_PENDING and
/// DISCONNECT_PENDING end by themselves.
enum class Phase : std::uint8_t {
  unconfigured,
  unconnected,
  reserved,
  passive,
  tentative,
  active,
  connected,
  disconnected,
};
/// Those that the fewest providers survive come last: a crash or a hang ends the whole case.
inline constexpr std::array all_phases{Phase::unconfigured, Phase::unconnected,  Phase::active,
                                       Phase::connected,    Phase::disconnected, Phase::reserved,
                                       Phase::tentative,    Phase::passive};
[[nodiscard]] std::string phase_text(Phase phase);

/// An endpoint in one of these states, with all that keeps it there.
class EndpointInState {
 public:
  EndpointInState(const Ia& ia, Phase phase);
  EndpointInState(const EndpointInState&) = delete;
  EndpointInState& operator=(const EndpointInState&) = delete;
  ~EndpointInState();

  [[nodiscard]] DAT_EP_HANDLE get() const { return handle_; }
  /// The case has freed it.
  void forget();
  [[nodiscard]] const Pz& pz() const { return pz_; }
  [[nodiscard]] const Side& own() const { return own_; }
  [[nodiscard]] const Listener& listener() const { return *listener_; }

 private:
  void enter(Phase phase);
  void unconfigured();
  void reserve();
  void request_from_peer();
  void tentative();
  void connect();

  const Ia& ia_;
  Pz pz_;
  std::optional<Listener> listener_;
  Side own_, peer_;
  Evd requests_;
  /// After the endpoint that it reserves, so that it is freed first.
  Rsp rsp_;
  DAT_CONN_QUAL reserved_at_ = 0;
  DAT_CR_HANDLE cr_ = DAT_HANDLE_NULL;
  DAT_EP_HANDLE handle_ = DAT_HANDLE_NULL;
};

// ---------------------------------------------------------------- events and waiters

/// Posts a software event whose pointer is this number.
DAT_RETURN post_software(const Evd& evd, std::uintptr_t number);
/// The number in a software event.
[[nodiscard]] std::uintptr_t number_of(const DAT_EVENT& event);

/// The result of a wait.
struct Waited {
  DAT_RETURN code = DAT_SUCCESS;
  DAT_EVENT event{};
  DAT_COUNT more = 0;
};
[[nodiscard]] Waited wait_on(const Evd& evd, DAT_TIMEOUT timeout, DAT_COUNT threshold = 1);

/// A thread that waits on a dispatcher. It is blocked in the wait when the constructor returns, as
/// the rejection of a dequeue shows; `dequeued` says what that dequeue returned.
class Waiter {
 public:
  explicit Waiter(const Evd& evd, DAT_COUNT threshold = 1,
                  DAT_TIMEOUT timeout = DAT_TIMEOUT_INFINITE);
  [[nodiscard]] Waited result() { return future_.get(); }
  [[nodiscard]] bool is_back() const;
  DAT_RETURN dequeued = DAT_SUCCESS;

 private:
  std::future<Waited> future_;
};

}  // namespace suite::cases::dat
