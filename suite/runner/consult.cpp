// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/consult.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/shipped_file.hpp"
#include "base/standard_streams.hpp"
#include "suite/doctor/doctor.hpp"
#include "suite/iut/pics/pics.hpp"
#include "suite/lab/guest.hpp"
#include "suite/runner/bench.hpp"
#include "suite/runner/output_file.hpp"
#include "suite/runner/site.hpp"

namespace suite::runner {

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
    const bool here = choice.kind == IutChoice::Kind::verbs && options.host.empty();
    request.iut = here ? doctor::Request::Iut::device : doctor::Request::Iut::remote;
    request.device = choice.device;
    request.agent = choice.agent;
    request.addresses = options.addresses;
    request.capture_interface = options.capture_interface;
  }
  return request;
}

ExitCode fail(const std::string& why) {
  std::string line = why;  // an agent's last words may be several
  std::ranges::replace(line, '\n', ' ');
  base::say(stderr, "rnic-suite: {}\n", line);
  return ExitCode::harness;
}

}  // namespace

ExitCode consult_doctor(const Options& options) {
  const auto findings = doctor::examine(request_for(options), doctor::HostSystem());
  base::say(stdout, doctor::report_text(findings, ::isatty(STDOUT_FILENO) != 0 &&
                                                      std::getenv("NO_COLOR") == nullptr));
  return doctor::worst(findings) == doctor::Severity::failure ? ExitCode::harness : ExitCode::good;
}

ExitCode probe(const SuiteParts& parts, const Options& options) {
  if (!options.subject.empty()) {
    if (const auto fault = output_file_fault(options.subject)) return fail(*fault);
  }
  const auto site =
      make_site(options, [](const std::string& line) { base::say(stderr, "{}\n", line); });
  if (!site) return fail(site.error());
  auto bench = make_bench((*site)->setup(0), parts);
  if (!bench) return fail(bench.error());
  if (const auto alive = (*bench)->revive(); !alive) return fail(alive.error());
  const std::string text = iut::to_yaml(iut::probe((*bench)->environment().iut.hello()));
  if (options.subject.empty()) {
    base::say(stdout, text);
    return ExitCode::good;
  }
  if (const auto written = write_output_file(options.subject, text); !written)
    return fail(written.error());
  return ExitCode::good;
}

}  // namespace suite::runner
