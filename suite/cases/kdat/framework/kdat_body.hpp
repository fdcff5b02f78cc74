// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the body of a case of kDAPL is written in: the IA under test, its objects, a connected pair
// of endpoints, and expectations of UpCalls. A case does not free what it makes: the IA is closed
// with all that it has when the process ends.
#pragma once

#include <optional>
#include <string_view>

#include "suite/cases/dat/framework/dat_case.hpp"
#include "suite/cases/kdat/framework/consumer.hpp"

namespace suite::cases::dat {

/// A region in a piece of the module's memory.
struct Region {
  KernelMemory memory;
  Word lmr = 0;
  std::uint32_t lmr_context = 0, rmr_context = 0;
  Word base = 0;  ///< the first octet's address in segments

  [[nodiscard]] rnic_kdat_segment segment(std::size_t offset, std::size_t length) const;
};
/// Of host physical memory, by the context of the reserved LMR.
[[nodiscard]] rnic_kdat_segment physical_segment(const KernelMemory& memory, std::size_t offset,
                                                 std::size_t length, std::uint32_t context);

struct KernelSide {
  Word receives = 0, requests = 0, connection = 0;  ///< dispatchers, whose UpCalls report
  Word ep = 0;
};

struct KernelPair {
  Word pz = 0, arrivals = 0, psp = 0, qualifier = 0;
  KernelSide active{}, passive{};
};

class KdatBody : public DatBody {
 public:
  using DatBody::DatBody;

  [[nodiscard]] Consumer& kernel();
  [[nodiscard]] Result call(std::uint32_t number, std::initializer_list<Word> in,
                            const CallOptions& options = {}) {
    return kernel().call(number, in, options);
  }

  // -- objects; what cannot be made ends the case as inconclusive --
  [[nodiscard]] Word ia_handle();
  [[nodiscard]] Word async_evd();
  [[nodiscard]] Word pz();
  /// With UpCalls that report each event.
  [[nodiscard]] Word evd(Word flags, Word length = 32, Word policy = kdapl::single_instance,
                         Word kind = RNIC_KDAT_UPCALL_REPORTS);
  [[nodiscard]] Region region(Word pz, std::size_t pages = 1,
                              Word privileges = DAT_MEM_PRIV_ALL_FLAG,
                              Word va_type = DAT_VA_TYPE_VA);
  [[nodiscard]] KernelSide side(Word pz, Word depth = 16, Word srq = 0);
  /// A service point, whose requests come to `arrivals`.
  void listen(KernelPair& pair);
  /// The next request there.
  [[nodiscard]] KernelEvent next_request(const KernelPair& pair);
  Result start_connect(Word ep, Word qualifier, std::span<const std::byte> data = {},
                       Word timeout = DAT_TIMEOUT_INFINITE);
  [[nodiscard]] KernelPair connected(Word depth = 16, Word srq = 0);

  // -- posts --
  Result post(std::uint32_t number, Word ep, std::vector<rnic_kdat_segment> segments, Word cookie,
              Word flags = 0, std::uint32_t context = RNIC_KDAT_PROCESS);
  Result post_rdma(std::uint32_t number, Word ep, const rnic_kdat_segment& local, Word cookie,
                   const Region& remote, std::size_t offset, std::size_t length, Word flags = 0,
                   std::uint32_t context = RNIC_KDAT_PROCESS);

  // -- expectations --
  /// The next UpCall of this dispatcher brings an event of this kind.
  KernelEvent expect_upcall(Word evd, DAT_EVENT_NUMBER number, RuleRef rule = {});
  /// ... a completion of this cookie and status.
  KernelEvent expect_done(Word evd, Word cookie, DAT_DTO_COMPLETION_STATUS status = DAT_DTO_SUCCESS,
                          RuleRef rule = {});
  void expect_number(std::string_view what, Word got, Word wanted, RuleRef rule = {});
  void expect_octets(std::span<const std::byte> got, std::span<const std::byte> wanted,
                     RuleRef rule = {});
  /// What was sent as private data, which a transport may pad with zeros.
  void expect_private_data(std::span<const std::byte> got, std::span<const std::byte> sent,
                           RuleRef rule = {});
  /// That many octets, or fewer where the provider takes no more.
  [[nodiscard]] std::vector<std::byte> private_data(std::size_t length);
  void expect_ep_state(Word ep, DAT_EP_STATE state, RuleRef rule = {});
  /// Each pointer of a call that gives something out must be there.
  void expect_refused_without(std::uint32_t number, std::initializer_list<Word> in,
                              std::initializer_list<std::uint32_t> pointers, RuleRef rule = {});

 private:
  void open();

  std::optional<Consumer> kernel_;
  Word ia_ = 0, async_evd_ = 0;
};

}  // namespace suite::cases::dat

/// One case of kDAPL; the options are those of DAT_CASE.
#define KDAT_CASE(name, ...) RNIC_CASE(KdatBody, name, __VA_ARGS__)
/// The last line of a file: defines `kdat_<file>()`. Its cases are `kdat.<file>.<slug>`.
#define KDAT_CASES_OF_FILE(file) DAT_CASE_TABLE(kdat_##file, "kdat", #file)
