// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// DAT objects that a case makes and that free themselves, and a connected pair of endpoints.
//
// Each holds its handle and nothing else: a case that frees one itself calls release(). An object
// that cannot be made ends the case as inconclusive, since the case does not judge that.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "suite/cases/dat/framework/dat_headers.hpp"

namespace suite::cases::dat {

/// The provider under test.
struct DatTarget {
  /// Name in dat.conf.
  std::string ia;
  /// Literal address of the IA; empty: the one that the IA reports.
  std::string address;
  double deadline_scale = 1;
};

/// A handle that its destructor frees. Moved from or released, it holds DAT_HANDLE_NULL.
template <typename Handle, DAT_RETURN (*Free)(Handle)>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle handle) : handle_(handle) {}
  Owned(Owned&& other) noexcept : handle_(other.release()) {}
  Owned& operator=(Owned&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = other.release();
    }
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { reset(); }
  [[nodiscard]] Handle get() const { return handle_; }
  Handle release() { return std::exchange(handle_, DAT_HANDLE_NULL); }
  void reset() {
    if (handle_ != DAT_HANDLE_NULL) (void)Free(release());
  }

 private:
  Handle handle_ = DAT_HANDLE_NULL;
};

/// Disconnects abruptly, then frees.
DAT_RETURN end_endpoint(DAT_EP_HANDLE ep);

using Pz = Owned<DAT_PZ_HANDLE, dat_pz_free>;
using Evd = Owned<DAT_EVD_HANDLE, dat_evd_free>;
using Cno = Owned<DAT_CNO_HANDLE, dat_cno_free>;
using Ep = Owned<DAT_EP_HANDLE, end_endpoint>;
using Psp = Owned<DAT_PSP_HANDLE, dat_psp_free>;
using Rsp = Owned<DAT_RSP_HANDLE, dat_rsp_free>;
using Srq = Owned<DAT_SRQ_HANDLE, dat_srq_free>;
using Rmr = Owned<DAT_RMR_HANDLE, dat_rmr_free>;

/// Registered memory of its own.
class Lmr {
 public:
  Lmr() = default;
  Lmr(const class Ia& ia, DAT_PZ_HANDLE pz, std::size_t length,
      DAT_MEM_PRIV_FLAGS privileges = DAT_MEM_PRIV_ALL_FLAG, std::byte fill = std::byte{0xA5},
      DAT_VA_TYPE va_type = DAT_VA_TYPE_VA);
  [[nodiscard]] DAT_LMR_HANDLE get() const { return handle_.get(); }
  DAT_LMR_HANDLE release() { return handle_.release(); }
  [[nodiscard]] std::vector<std::byte>& octets() { return *memory_; }
  [[nodiscard]] const std::vector<std::byte>& octets() const { return *memory_; }
  /// The whole of it, or a part.
  [[nodiscard]] DAT_LMR_TRIPLET triplet(std::size_t offset = 0) const;
  [[nodiscard]] DAT_LMR_TRIPLET triplet(std::size_t offset, std::size_t length) const;
  /// The same for use by a peer.
  [[nodiscard]] DAT_RMR_TRIPLET remote(std::size_t offset = 0) const;
  [[nodiscard]] DAT_RMR_TRIPLET remote(std::size_t offset, std::size_t length) const;

 private:
  std::unique_ptr<std::vector<std::byte>> memory_;
  Owned<DAT_LMR_HANDLE, dat_lmr_free> handle_;
  DAT_LMR_CONTEXT lmr_context_ = 0;
  DAT_RMR_CONTEXT rmr_context_ = 0;
  DAT_VADDR address_ = 0;
};

/// An open IA with its asynchronous event dispatcher.
class Ia {
 public:
  explicit Ia(const DatTarget& target);
  Ia(const Ia&) = delete;
  Ia& operator=(const Ia&) = delete;
  /// Closes it abruptly, with everything in it.
  ~Ia();

  [[nodiscard]] DAT_IA_HANDLE get() const { return handle_; }
  DAT_IA_HANDLE release() { return std::exchange(handle_, DAT_HANDLE_NULL); }
  [[nodiscard]] DAT_EVD_HANDLE async_evd() const { return async_evd_; }
  [[nodiscard]] const DAT_IA_ATTR& attributes() const { return *attributes_; }
  /// The address of this IA, for connects. Never null.
  [[nodiscard]] DAT_IA_ADDRESS_PTR address() const {
    return reinterpret_cast<DAT_IA_ADDRESS_PTR>(const_cast<sockaddr_storage*>(&address_));
  }

  [[nodiscard]] Pz pz() const;
  [[nodiscard]] Evd evd(DAT_EVD_FLAGS flags, DAT_COUNT length = 32,
                        DAT_CNO_HANDLE cno = DAT_HANDLE_NULL) const;
  [[nodiscard]] Cno cno() const;
  /// A service point at a Connection Qualifier that the provider chooses.
  [[nodiscard]] std::pair<Psp, DAT_CONN_QUAL> psp(
      const Evd& evd, DAT_PSP_FLAGS flags = DAT_PSP_CONSUMER_FLAG) const;

 private:
  DAT_IA_HANDLE handle_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async_evd_ = DAT_HANDLE_NULL;
  std::unique_ptr<DAT_IA_ATTR> attributes_;
  sockaddr_storage address_{};
};

/// The RMR contexts of eight regions, registered one after the other, as one word.
[[nodiscard]] std::string drawn_contexts(const Ia& ia);

/// A Connection Qualifier without a listener, as far as one can know: one that neither a provider
/// nor another process of a case is likely to choose.
[[nodiscard]] DAT_CONN_QUAL free_qualifier(const Ia& ia);
/// TCP, in the family of the IA's address, for a common service point.
[[nodiscard]] DAT_COMM tcp_communicator(const Ia& ia);

/// An endpoint with dispatchers of its own: receives, requests, connection events.
struct Side {
  Evd receives, requests, connection;
  Ep ep;
};

struct PairOptions {
  std::vector<std::byte> request_data{}, accept_data{};
  const DAT_EP_ATTR* attributes = nullptr;
};

/// Two endpoints of one IA, connected: `active` requested the connection, `passive` accepted it.
struct Pair {
  Pz pz;
  /// Of connections.
  Evd requests;
  Psp psp;
  Side active, passive;
};

[[nodiscard]] Side make_side(const Ia& ia, const Pz& pz, const DAT_EP_ATTR* attributes = nullptr);
[[nodiscard]] Pair connect_pair(const Ia& ia, const PairOptions& options);
/// The next event of this dispatcher; the process's deadline bounds the wait.
[[nodiscard]] DAT_EVENT next_event(const Evd& evd);
/// The next asynchronous event of the IA, if it is there.
[[nodiscard]] DAT_RETURN async_event(const Ia& ia, DAT_EVENT& event);
/// The same, which may come a little later than what causes it; the process's deadline bounds the wait.
[[nodiscard]] DAT_RETURN awaited_async_event(const Ia& ia, DAT_EVENT& event);

}  // namespace suite::cases::dat
