// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/doctor_and_probe.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "base/shipped_file.hpp"
#include "base/standard_streams.hpp"
#include "suite/doctor/doctor.hpp"
#include "suite/iut/pics/pics.hpp"
#include "suite/lab/siw_guest.hpp"
#include "suite/runner/iut_host.hpp"
#include "suite/runner/output_file.hpp"
#include "suite/runner/test_bed.hpp"
#include "suite/runner/test_network.hpp"

namespace suite::runner {

using jobs::ExitCode;

namespace {

doctor::Request request_for(const Options& options) {
  doctor::Request request;
  request.files_fault = base::shipped_files_fault();
  request.lab_command = base::typed_command("suite/lab/rnic-lab");
  const IutChoice& choice = options.choice;
  if (choice.in_guest()) {
    request.iut = doctor::Request::Iut::siw_vm;
    request.guest_cache = lab::default_guest_paths().cache;
  } else if (!choice.in_lab()) {
    const bool verbs = choice.kind == IutChoice::Kind::verbs ||
                       choice.kind == IutChoice::Kind::kverbs ||
                       choice.kind == IutChoice::Kind::kdat;
    const bool here = verbs && options.host.empty();
    request.iut = here ? doctor::Request::Iut::device : doctor::Request::Iut::remote;
    // The IA of a DAT provider is no RDMA device.
    if (verbs) request.device = choice.device;
    request.agent = choice.agent;
    // Shorter than the doctor's own patience, so that it is told why none has come.
    if (choice.over_tls()) request.agent.insert(request.agent.end(), {"--wait", "6"});
    if (!options.agent_path.empty()) request.dut_agent = options.agent_path;
    request.addresses = options.addresses;
    request.capture_interface = options.capture_interface;
  }
  return request;
}

// What no API reports: whether the IUT by itself starts connections as RFC 6581 says. A case whose
// setup claims so finds out on the wire. Who does so supports an RTR indication as responder
// (RFC 6581 9.2, MUST).
void ask_wire(const SuiteParts& parts, cases::Environment& environment, iut::Pics& pics) {
  constexpr const char* asking =
      "mpa.enhanced_initiator.enhanced_request_has_its_revision_and_data";
  const std::string startup = iut::capability::enhanced_startup;
  const auto offered = pics.capabilities.find(startup);
  if (offered != pics.capabilities.end() && offered->second == iut::Claim::supported) return;
  environment.pics[startup] = true;
  const cases::CaseOutcome outcome = parts.execute(*parts.find(asking), environment);
  if (outcome.verdict == cases::Verdict::pass || outcome.verdict == cases::Verdict::fail) {
    pics.capabilities[startup] = pics.capabilities[iut::capability::peer_to_peer] =
        iut::Claim::supported;
  } else if (outcome.verdict == cases::Verdict::not_applicable) {
    pics.capabilities[startup] = iut::Claim::unsupported;
  } else {
    pics.capabilities.erase(startup);
    base::say(stderr, "rnic-suite: it is not known whether the IUT has {}: {}\n", startup,
              outcome.reason);
  }
}

ExitCode fail(const std::string& why) {
  std::string line = why;  // an agent's last words may be several
  std::ranges::replace(line, '\n', ' ');
  base::say(stderr, "rnic-suite: {}\n", line);
  return ExitCode::harness;
}

}  // namespace

ExitCode run_doctor(const Options& options) {
  const auto dut = other_host_of(options.choice);
  const auto findings =
      doctor::examine(request_for(options), doctor::HostSystem(), dut ? &*dut : nullptr);
  base::say(stdout, doctor::report_text(findings, ::isatty(STDOUT_FILENO) != 0 &&
                                                      std::getenv("NO_COLOR") == nullptr));
  return doctor::worst(findings) == doctor::Severity::failure ? ExitCode::harness : ExitCode::good;
}

ExitCode probe(const SuiteParts& parts, const Options& options) {
  if (!options.subject.empty()) {
    if (const auto fault = output_file_fault(options.subject)) return fail(*fault);
  }
  const auto network =
      make_network(options, [](const std::string& line) { base::say(stderr, "{}\n", line); });
  if (!network) return fail(network.error());
  auto test_bed = make_test_bed((*network)->setup(0), parts);
  if (!test_bed) return fail(test_bed.error());
  if (const auto alive = (*test_bed)->revive(); !alive) return fail(alive.error());
  iut::Pics claims = iut::probe((*test_bed)->environment().iut.hello());
  ask_wire(parts, (*test_bed)->environment(), claims);
  const std::string text = iut::to_yaml(claims);
  if (options.subject.empty()) {
    base::say(stdout, text);
    return ExitCode::good;
  }
  if (const auto written = write_output_file(options.subject, text); !written)
    return fail(written.error());
  return ExitCode::good;
}

}  // namespace suite::runner
