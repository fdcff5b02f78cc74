// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/lint/options.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/glob.hpp"
#include "base/version.hpp"
#include "rules/catalogue.hpp"

namespace dissectors::lint {

namespace {

constexpr const char* footer =
    "examples:\n"
    "  rnic-lint trace.pcapng                     judge a capture\n"
    "  rnic-lint --write-violations out.pcapng trace.pcap.gz\n"
    "                                             ... and show it in any Wireshark "
    "(frame.comment)\n"
    "  ssh root@dut tcpdump -i eth1 -s 0 -w - tcp | rnic-lint -\n"
    "  rnic-lint -i eth1 --follow                 decode while it happens, until Ctrl-C\n"
    "  rnic-lint --json --rule 'ddp.*' --rule 'rdmap.terminate*' trace.pcap | jq .\n"
    "  rnic-lint --connection 3 --follow trace.pcap\n"
    "  rnic-lint --split connections/ trace.pcap  a pcap of each iWARP connection\n"
    "  rnic-lint --port 5445 trace.pcap           treat connections with this port as iWARP\n"
    "exit: 0 no violation, 1 violations, 2 usage, 3 the capture cannot be read or a file cannot "
    "be\n"
    "      written, 4 there is no iWARP in it; a torn capture is judged up to the tear. With "
    "--rule,\n"
    "      --level or --connection only the violations that are shown count.\n";

void declare(CLI::App& app, Options& o) {
  app.add_option(
      "FILE", o.input,
      "capture to judge: pcap or pcapng, also packed by gzip, zstd or xz; - for standard "
      "input");
  app.add_option("-i,--interface", o.interface, "capture this interface live, until Ctrl-C");
  app.add_flag("--json", o.json, "JSON lines instead of text (docs/reading-traces.md)");
  app.add_flag("--sarif", o.sarif, "one SARIF 2.1.0 document instead of text")->excludes("--json");
  app.add_flag("--summary", o.summary, "connections and totals only")->excludes("--sarif");
  app.add_flag("--follow", o.follow, "also what each end sent, decoded, one line each")
      ->excludes("--sarif")
      ->excludes("--summary");
  app.add_option("--rule", o.rules,
                 "only rules whose id matches this shell pattern; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--level", o.level,
                 "only violations of rules of this level or a stronger one: must, should, may")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, rules::Level>{{"must", rules::Level::must},
                                              {"should", rules::Level::should},
                                              {"may", rules::Level::may}}))
      ->option_text("LEVEL");
  app.add_option("--connection", o.connection, "only the connection with this number")
      ->check(CLI::PositiveNumber);
  app.add_option("--split", o.split, "write a pcap of each iWARP connection into this folder");
  app.add_option("--write-violations", o.violations,
                 "write all frames to this pcapng, violations as frame comments");
  app.add_option("--port", o.ports,
                 "decode as: treat connections with this port as iWARP; may be repeated")
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 65535));
  app.add_option(
         "--jobs", o.jobs,
         "number of parallel analyzers (default: one for each core, and one for small files)")
      ->check(CLI::Range(1U, 256U));
  app.set_version_flag("--version", base::version_text("rnic-lint"));
  app.footer(footer);
}

bool same_file(const std::string& one, const std::string& other) {
  std::error_code error;
  return std::filesystem::equivalent(one, other, error);
}

bool names_a_rule(const std::string& pattern) {
  return std::ranges::any_of(rules::all(), [&pattern](const rules::Rule& rule) {
    return base::matches_glob(pattern, std::string(rule.id));
  });
}

// What CLI11 cannot check; empty if there is no fault.
std::string fault_of(const Options& o) {
  if (o.input.empty() == o.interface.empty())
    return "name one capture: a FILE, - for standard input, or -i INTERFACE";
  for (const std::string& pattern : o.rules)
    if (!names_a_rule(pattern))
      return fmt::format("--rule {}: no rule of the catalogue matches; quote patterns", pattern);
  if (!o.violations.empty() && !o.input.empty() && same_file(o.input, o.violations))
    return "--write-violations: that is the capture itself; name another file";
  return {};
}

std::unexpected<Stop> wrong(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return std::unexpected(Stop{ExitCode::usage, text + "; see --help"});
}

}  // namespace

std::expected<Options, Stop> parse_options(int count, const char* const* words) {
  CLI::App app(
      "Judges captured iWARP traffic: MPA, DDP and RDMAP, rule by rule, with RFC section and "
      "frame.",
      "rnic-lint");
  Options options;
  declare(app, options);
  try {
    app.parse(count, words);
  } catch (const CLI::CallForHelp&) {
    return std::unexpected(Stop{ExitCode::clean, app.help()});
  } catch (const CLI::CallForVersion& version) {
    return std::unexpected(Stop{ExitCode::clean, std::string(version.what()) + "\n"});
  } catch (const CLI::ParseError& problem) {
    return wrong(problem.what());
  }
  if (std::string fault = fault_of(options); !fault.empty()) return wrong(std::move(fault));
  return options;
}

}  // namespace dissectors::lint
