// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The IUT that a command line names, by --iut and --host, and how it is reached.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "suite/iut/tls/endpoint.hpp"

namespace suite::runner {

/// Another host, as `--host` names it: one of the three members.
struct OtherHost {
  std::string ssh;                              ///< [USER@]HOST
  std::vector<std::string> prefix;              ///< words put before a command that runs there
  std::optional<iut::tls::AwaitedAgent> tls{};  ///< its agent connects to us; it runs nothing else
};

/// Which IUT: what `--iut` and `--host` say.
struct IutChoice {
  enum class Kind : std::uint8_t { reference, agent, siw_vm, verbs, kverbs, dat, kdat };
  Kind kind = Kind::reference;
  std::string device;  ///< verbs, kverbs, kdat; of dat the IA's name in dat.conf
  /// Argv of the agent's process; empty: in process, or in the guest
  std::vector<std::string> agent;
  std::vector<std::string> dat_cases;  ///< dat, kdat: argv of rnic-dat-cases, where the agent is
  std::optional<OtherHost> host;  ///< verbs, kverbs, dat, kdat: where the agent is, if not here
  /// agent:reference, dat:reference, verbs:reference: our own, in the lab's namespace
  bool local_reference = false;
  /// It is the reference, whose deviations and lawful variants can be chosen, as an agent's process.
  [[nodiscard]] bool own_agent() const { return local_reference && kind != Kind::dat; }
  /// dat:siw-vm, kverbs:siw-vm, kdat:siw-vm: OpenFabrics' provider, the kernel's own verbs, or
  /// kDAPL over these, over the guest's soft-iWARP
  bool lab_guest = false;
  /// dat:rxe-vm, kdat:rxe-vm, kverbs:rxe-vm: the guest's device is rdma_rxe, of InfiniBand's transport
  /// over UDP
  bool over_roce = false;
  [[nodiscard]] bool in_guest() const { return kind == Kind::siw_vm || lab_guest; }
  /// One whose API has cases of its own, which rnic-dat-cases makes.
  [[nodiscard]] bool is_dat() const { return kind == Kind::dat || kind == Kind::kdat; }
  /// Whether it runs in the lab's own network; otherwise it is a host of its own.
  [[nodiscard]] bool in_lab() const {
    return kind == Kind::reference || local_reference || in_guest();
  }
  /// Whether its agent connects to us over TLS.
  [[nodiscard]] bool over_tls() const { return host && host->tls; }
  /// The word that results and expectations use.
  [[nodiscard]] std::string name() const;
};

/// ` (did you mean 'siw-vm'?)` if this is like a whole name, or its kind like one that there
/// is (`verb:cxgb4_0`), else nothing.
[[nodiscard]] std::string like_a_known_iut(std::string_view iut);
/// The IUT of `--iut IUT --host HOST`, or one line that says what is wrong with them.
[[nodiscard]] std::expected<IutChoice, std::string> parse_iut(const std::string& iut,
                                                              const std::string& host);

}  // namespace suite::runner
