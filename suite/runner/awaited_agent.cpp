// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/awaited_agent.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/shipped_file.hpp"

namespace suite::runner {

void add_options_of_awaiting(CLI::App& app, Options& options) {
  app.add_option("--certificate", options.certificate,
                 "this host's certificate (PEM), for --host tls:");
  app.add_option("--key", options.key, "its key (PEM), which nobody else may read");
  app.add_option("--ca", options.authority,
                 "certificate of the authority that has signed the agent's (PEM)");
}

std::array<std::pair<const char*, const std::filesystem::path*>, 3> files_of_awaiting(
    const Options& options) {
  return {{{"--certificate", &options.certificate},
           {"--key", &options.key},
           {"--ca", &options.authority}}};
}

std::optional<std::string> fault_of_awaiting(const Options& options) {
  const bool awaits = options.choice.over_tls();
  for (const auto& [option, file] : files_of_awaiting(options)) {
    if (awaits && file->empty()) return fmt::format("--host tls: needs {}", option);
    if (!awaits && !file->empty()) return fmt::format("{} goes with --host tls:", option);
  }
  if (!awaits) return std::nullopt;
  if (!options.access.configure_script.empty())
    return "the PIXIT's configure_script does not go with --host tls:, where the agent's own "
           "command line has it";
  if (!options.access.agent.empty()) return "the PIXIT's agent does not go with --host tls:";
  return std::nullopt;
}

std::vector<std::string> command_that_awaits(const Options& options) {
  const iut::tls::AwaitedAgent& awaited = *options.choice.host->tls;
  std::vector<std::string> argv{base::built_program("suite/iut/rnic-await-agent").string(),
                                "--listen", awaited.listen, "--peer", awaited.name};
  for (const auto& [option, file] : files_of_awaiting(options))
    argv.insert(argv.end(), {option, file->string()});
  return argv;
}

std::optional<std::string> fault_of_awaited(const Options& options, const iut::Hello& hello) {
  const IutChoice& choice = options.choice;
  const bool any = !choice.over_tls() || choice.kind == IutChoice::Kind::agent;
  if (any || choice.name() == hello.driver) return std::nullopt;
  return fmt::format(
      "--iut {}: the agent that has connected has the driver '{}': start it with --driver {} "
      "--device {}",
      options.iut, hello.driver, choice.name(), choice.device);
}

}  // namespace suite::runner
