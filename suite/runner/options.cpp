// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/options.hpp"

#include <algorithm>
#include <array>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/command_line.hpp"
#include "base/shipped_file.hpp"
#include "base/version.hpp"
#include "base/zoned_address.hpp"
#include "suite/runner/awaited_agent.hpp"
#include "suite/runner/guest_options.hpp"
#include "suite/runner/report.hpp"

namespace suite::runner {

using jobs::ExitCode;

namespace {

constexpr const char* exit_codes =
    "exit: 0 no new failure, 1 new failure, 2 usage, 3 harness or IUT unreachable or interrupted,\n"
    "      4 a known issue no longer shows; if several apply, the first of 3, 1, 4\n";

constexpr const char* run_examples =
    "examples:\n"
    "  rnic-suite run                                          the reference RNIC, results in "
    "out/\n"
    "  rnic-suite run --iut siw-vm                             the Linux kernel's soft-iWARP in a "
    "guest\n"
    "  rnic-suite run --iut verbs:cxgb4_0 --host ssh:root@dut --address 192.0.2.7\n"
    "  rnic-suite run --iut verbs:reference                    our own verbs library\n"
    "  rnic-suite run --iut dat:reference                      our own DAT provider, at the API "
    "and on "
    "the wire\n"
    "  rnic-suite run --iut dat:siw-vm                         OpenFabrics' DAT provider over "
    "soft-iWARP\n"
    "  rnic-suite run --iut 'agent:ssh root@dut /opt/vendor/agent' --address 192.0.2.7\n"
    "  rnic-suite run --select 'ddp.*' --rule ddp.tagged.check-end-in-range --strict\n"
    "  rnic-suite run --rerun-failed                           what did not pass in the last run "
    "in out/\n"
    "The same command continues a run that was interrupted or killed. With --select, --rule or\n"
    "--rerun-failed, attempts are added to the run in the folder, if it is of the same suite, IUT\n"
    "and judgement and has these cases; the last attempt at a case counts. No run is ever "
    "overwritten.\n"
    "  rnic-suite run --deviation accepts_bad_crc              see the suite fail\n";

void add_iut_options(CLI::App& app, Options& o) {
  app.add_option("--iut", o.iut,
                 "implementation under test: reference, agent:reference, siw-vm, verbs:DEVICE, "
                 "verbs:reference (our own verbs library), kverbs:DEVICE and kverbs:siw-vm "
                 "(through the kernel's own verbs), kverbs:rxe-vm (the same over the kernel's "
                 "rdma_rxe, whose transport is RoCE; only connected with itself), dat:IA (a DAT "
                 "provider by its name in dat.conf), dat:reference (our own), "
                 "dat:siw-vm (OpenFabrics' over soft-iWARP; by itself only the cases of the DAT "
                 "API), kdat:DEVICE and kdat:siw-vm (kDAPL over the kernel's own verbs; the cases "
                 "of its API alone), dat:rxe-vm and kdat:rxe-vm (the same two over rdma_rxe), or "
                 "agent:ARGV (words of "
                 "any command that speaks docs/porting.md on its standard input and output; "
                 "`agent` alone: the one that the PIXIT names)")
      ->capture_default_str();
  app.add_option(
      "--host", o.host,
      "where the agent of verbs:, kverbs:, dat: or kdat: runs: ssh:[USER@]HOST, or argv:WORDS put "
      "before its command; tls:NAME@[ADDRESS:]PORT: it connects to us there (`rnic-agent "
      "--connect`), and its certificate is for NAME (also with --iut agent)");
  add_options_of_awaiting(app, o);
  app.add_option("--agent-path", o.agent_path,
                 "the path of rnic-agent on that host, if commands of --host do not find it");
  app.add_option("--address", o.addresses,
                 "the IUT's address (once per family), if it is not in the suite's own network; a "
                 "link-local one with this host's interface: fe80::2%eth1")
      ->allow_extra_args(false);
  app.add_option(
         "--tester-address", o.tester_addresses,
         "the tester's address (once per family), if it is not that of the route to the IUT")
      ->allow_extra_args(false);
  app.add_option("--capture-interface", o.capture_interface,
                 "interface to capture on, if it is not that of the route to the IUT");
  app.add_option("--pics", o.pics, "what the vendor claims (YAML; proforma in suite/iut/pics/)");
  app.add_option(
      "--pixit", o.pixit,
      "addresses, deadline scale, quiet window, scripts (YAML; proforma in suite/iut/pics/)");
}

void add_selection(CLI::App& app, Options& o) {
  app.add_option("--select", o.select,
                 "only cases whose id matches this shell pattern; may be repeated");
  app.add_option(
      "--rule", o.rules,
      "only cases that judge a rule whose id matches this shell pattern; may be repeated");
  app.add_option("--rfc", o.rfc, "only cases that judge a rule of this RFC, e.g. 5044");
  app.add_option("--section", o.sections,
                 "only those of this section of it and its subsections, e.g. 7.1; may be repeated")
      ->needs("--rfc");
  app.add_flag("--long", o.long_run, "also the cases that take a long time");
  app.add_option_function<std::string>(
      "--shard",
      [&o](const std::string& text) {
        const auto shard = Shard::parse(text);
        if (!shard) throw CLI::ValidationError("--shard", shard.error());
        o.shard = *shard;
      },
      "only every Nth of these cases, e.g. 2/4; `merge` makes one run of all shards");
}

void add_gate_options(CLI::App& app, Options& o) {
  app.add_option("--expectations", o.expectations,
                 "file of known issues (default: suite/expectations/IUT.yaml, if there)");
  app.add_option(
      "--baseline", o.baseline,
      "an earlier run (its folder or results.json): only what got worse since then fails");
  app.add_option("--edition", o.edition,
                 "an edition of the suite, e.g. 2026.1 (or a ledger of your own): what only later "
                 "editions judge does not fail");
  app.add_option("--junit", o.junit, "write JUnit XML to this file too");
}

void add_run_options(CLI::App& app, Options& o, bool& list, bool& no_capture, bool& coverage) {
  add_iut_options(app, o);
  add_selection(app, o);
  app.add_flag(
      "--rerun-failed", o.rerun_failed,
      "attempt again the cases that did not pass in the run in --out; the attempts are added to "
      "that run");
  app.add_flag("--strict", o.strict, "a SHOULD that is not kept fails");
  add_guest_options(app, o);
  add_gate_options(app, o);
  app.add_option("--deviation", o.deviations,
                 "make the reference break a rule in this way; may be repeated");
  app.add_option("--lawful", o.lawful,
                 "make the reference use this permission of the RFCs; may be repeated");
  app.add_option("--link", o.link,
                 "tcp, or memory: an in-memory link in simulated time (reference only)")
      ->capture_default_str();
  app.add_option("--out", o.out,
                 "output folder; if not given and out has another run: out.2, out.3, ...")
      ->capture_default_str()
      ->each([&o](const std::string&) { o.out_given = true; });
  app.add_flag("--fresh", o.fresh,
               "begin a new run, in a folder of its own (--out with a number, if there is one "
               "already)");
  app.add_option("--write-expectations", o.write_expectations,
                 "draft a file of known issues from the new failures; you add the reason to each "
                 "entry");
  app.add_option("--jobs", o.jobs, "cases at a time (default: depends on the IUT)")
      ->check(CLI::Range(1U, 256U));
  app.add_flag("--no-capture", no_capture,
               "do not capture; the pcap of each case is then the tester's own record");
  app.add_flag("--list", list, "list the cases and stop");
  app.add_flag("--coverage", coverage,
               "print how many rules of each RFC section are judged, and stop");
  app.footer(std::string(run_examples) + exit_codes);
}

// What is wrong with a list of addresses, at most one of each family.
std::optional<std::string> check_addresses(const char* option,
                                           const std::vector<std::string>& literals) {
  std::size_t ipv4 = 0;
  for (const std::string& literal : literals) {
    const auto address = base::ZonedAddress::parse(literal);
    if (!address) return fmt::format("{}: {}", option, address.error());
    if (address->address.family == base::Family::ipv4) ++ipv4;
  }
  if (ipv4 > 1 || literals.size() - ipv4 > 1)
    return fmt::format("{}: give one address of a family, not several", option);
  return std::nullopt;
}

std::optional<std::string> check_run(const Options& o) {
  if (auto fault = fault_of_awaiting(o)) return fault;
  if (o.out.empty()) return "--out: the folder needs a name";
  for (const auto& [option, list] :
       {std::pair{"--address", &o.addresses}, std::pair{"--tester-address", &o.tester_addresses}}) {
    if (auto fault = check_addresses(option, *list)) return fault;
  }
  if (o.link != "tcp" && o.link != "memory")
    return fmt::format("--link: '{}' is neither tcp nor memory", o.link);
  const bool in_process = o.choice.kind == IutChoice::Kind::reference;
  if (o.link == "memory" && !in_process) return "--link memory goes with --iut reference only";
  const bool ours = in_process || o.choice.own_agent();
  if (!o.deviations.empty() && !ours) {
    return "--deviation goes with the reference only";
  }
  if (!o.lawful.empty() && !ours) return "--lawful goes with the reference only";
  const bool runs =
      o.command == Command::run || o.command == Command::probe || o.command == Command::doctor;
  if (runs && !o.choice.in_lab() && o.addresses.empty()) {
    return fmt::format("--iut {} needs --address: the address at which the IUT listens{}", o.iut,
                       like_a_known_iut(o.iut));
  }
  if (runs && !o.choice.in_lab() && o.choice.agent.empty())
    return "--iut agent needs a --pixit that names the agent";
  if (o.choice.in_lab() && !o.addresses.empty())
    return fmt::format("--address does not go with --iut {}", o.iut);
  return fault_of_guest(o);
}

// Puts the path of the agent, and of its sibling for the DAT API, in place of their names.
void use_agent_path(const std::filesystem::path& agent, IutChoice& choice) {
  std::ranges::replace(choice.agent, std::string("rnic-agent"), agent.string());
  std::ranges::replace(choice.dat_cases, std::string("rnic-dat-cases"),
                       (agent.parent_path() / "rnic-dat-cases").string());
}

// Takes from the PIXIT what the command line does not say.
void apply(const iut::Pixit& pixit, Options& o) {
  const auto fill = [](std::vector<std::string>& list, const std::string& ipv4,
                       const std::string& ipv6) {
    if (!list.empty()) return;
    for (const std::string& address : {ipv4, ipv6}) {
      if (!address.empty()) list.push_back(address);
    }
  };
  if (o.choice.in_lab()) return;
  fill(o.addresses, pixit.ipv4, pixit.ipv6);
  fill(o.tester_addresses, pixit.tester_ipv4, pixit.tester_ipv6);
  if (o.capture_interface.empty()) o.capture_interface = pixit.capture_interface;
  if (o.choice.over_tls()) {
    o.choice.agent = command_that_awaits(o);
  } else if (!pixit.agent.empty()) {
    o.choice.agent = pixit.agent;
  } else if (!pixit.configure_script.empty() && (o.choice.kind == IutChoice::Kind::verbs ||
                                                 o.choice.kind == IutChoice::Kind::kverbs)) {
    o.choice.agent.insert(o.choice.agent.end(), {"--configure-script", pixit.configure_script});
  }
}

// Our own PICS of an IUT that we ship, if there is one.
std::filesystem::path own_pics(const IutChoice& choice) {
  const std::string name = choice.kind == IutChoice::Kind::siw_vm ? "siw" : choice.name();
  std::filesystem::path path = base::shipped_file("suite/iut/pics") / (name + ".yaml");
  return std::filesystem::exists(path) ? path : std::filesystem::path();
}

// Reads PICS and PIXIT; returns the faults, one per line, or nothing.
std::string read_claims(Options& o) {
  std::vector<std::string> faults;
  const std::filesystem::path pics_path = o.pics.empty() ? own_pics(o.choice) : o.pics;
  if (!pics_path.empty()) {
    auto pics = iut::load_pics(pics_path);
    if (pics) o.claims = std::move(*pics);
    if (!pics) faults = pics.error();
  }
  if (!o.pixit.empty()) {
    auto pixit = iut::load_pixit(o.pixit);
    if (pixit) o.access = std::move(*pixit);
    if (!pixit) faults.insert(faults.end(), pixit.error().begin(), pixit.error().end());
  }
  return fmt::format("{}", fmt::join(faults, "\n"));
}

// The first word is a command; without one it is `run`.
std::vector<std::string> with_command(std::vector<std::string> arguments) {
  constexpr std::array<std::string_view, 11> commands{"run",     "list",     "probe",   "doctor",
                                                      "explain", "coverage", "collect", "merge",
                                                      "diff",    "dispute",  "--help"};
  const bool given =
      !arguments.empty() && (std::ranges::find(commands, arguments.front()) != commands.end() ||
                             arguments.front() == "-h" || arguments.front() == "--version");
  if (!given) arguments.insert(arguments.begin(), "run");
  return arguments;
}

// The parser of all commands over one Options.
class CommandLine {
 public:
  CommandLine() {
    app_.require_subcommand(1);
    app_.set_version_flag("--version", version_);
    app_.footer(
        std::string("The default command is `run`; each has its own --help. Two more play random\n"
                    "sessions: `rnic-suite soak` and `rnic-suite replay`.\n") +
        exit_codes);
    add_run_options(command("run", "run cases against an implementation", Command::run), options_,
                    list_, no_capture_, coverage_);
    CLI::App& list = command("list", "list the cases", Command::list);
    add_selection(list, options_);
    list.add_flag("--json", options_.json, "with title, file and rules of each, as JSON");
    list.footer("example: rnic-suite list --rfc 5044 --section 7\n");
    CLI::App& probe =
        command("probe", "fill in a PICS from what an IUT reports and does", Command::probe);
    add_iut_options(probe, options_);
    probe.add_option("FILE", options_.subject, "PICS file to write (default: standard output)");
    probe.footer("example: rnic-suite probe --iut siw-vm siw.pics.yaml\n");
    CLI::App& doctor = command("doctor", "examine the hosts before a run and say what to correct",
                               Command::doctor);
    add_iut_options(doctor, options_);
    doctor.footer(
        "example: rnic-suite doctor --iut siw-vm\nexit: 0 a run can start, 2 usage, 3 it "
        "cannot\n");
    CLI::App& explain =
        command("explain", "say what a rule demands and what checks it, or what a case judges",
                Command::explain);
    explain
        .add_option("RULE|CASE", options_.subject,
                    "id of a rule, e.g. ddp.tagged.check-end-in-range, or of a case")
        ->required();
    CLI::App& coverage = command(
        "coverage", "print how many rules of each RFC section are judged, by level and kind",
        Command::coverage);
    coverage.add_flag("--rules", options_.every_rule,
                      "list every rule: how it is judged, and what was seen to fail it");
    coverage.add_option("--results", options_.results,
                        "what the run in this folder has evaluated, instead of the reference of "
                        "this build");
    coverage.add_flag(
        "--terminate", options_.terminate_matrix,
        "list the causes of Terminates with the case that provokes each, or why none can");
    CLI::App& collect =
        command("collect", "make the results.json of a run that was killed", Command::collect);
    collect.add_option("DIR", options_.subject, "its output folder")->required();
    CLI::App& merge = command(
        "merge", "make one run of the shards of it, with one report and one gate", Command::merge);
    merge.add_option("DIR", options_.runs, "the output folders of all shards")->required();
    merge.add_option("--out", options_.out, "the folder to write (default: out)");
    add_gate_options(merge, options_);
    merge.footer(std::string("example: rnic-suite merge --out out shard-1 shard-2 shard-3\n") +
                 exit_codes);
    CLI::App& diff =
        command("diff", "compare two runs, and print what changed as Markdown", Command::diff);
    diff.add_option("DIR", options_.runs, "the output folders of both runs, the earlier one first")
        ->required()
        ->expected(2);
    diff.footer(
        "example: rnic-suite diff base out\nexit: 0 nothing got worse, 1 a case fails newly or in "
        "another way, 2 usage,\n      3 results that cannot be read or are not complete\n");
    for (const ReportCommand& one : report_commands()) app_.add_subcommand(one.name, one.what);
    CLI::App& dispute = command(
        "dispute", "bundle the evidence of a verdict, for a dispute about it", Command::dispute);
    dispute
        .add_option("CASE|FINDING", options_.subject,
                    "a case of a run, or a finding (finding:RULE)")
        ->required();
    dispute.add_option("--results", options_.results, "the folder of the run (default: out)");
    dispute.add_option("--out", options_.out, "the folder to write (default: dispute-CASE)")
        ->each([this](const std::string&) { options_.out_given = true; });
  }

  std::expected<Options, Stop> parse(std::vector<std::string> arguments) {
    arguments = with_command(std::move(arguments));
    std::ranges::reverse(arguments);  // as CLI11 wants them
    try {
      app_.parse(std::move(arguments));
    } catch (const CLI::CallForHelp&) {
      return std::unexpected(Stop{ExitCode::good, help()});
    } catch (const CLI::CallForVersion& version) {
      return std::unexpected(Stop{ExitCode::good, std::string(version.what()) + "\n"});
    } catch (const CLI::ParseError& problem) {
      return std::unexpected(Stop{ExitCode::usage, base::refusal_of(app_, problem)});
    }
    return finish();
  }

 private:
  CLI::App& command(const std::string& name, const std::string& text, Command value) {
    CLI::App* sub = app_.add_subcommand(name, text);
    sub->set_version_flag("--version", version_);
    sub->callback([this, value] { options_.command = value; });
    return *sub;
  }
  std::string help() const {
    const auto chosen = app_.get_subcommands();
    return chosen.empty() ? app_.help() : chosen.front()->help("rnic-suite");
  }
  static std::unexpected<Stop> wrong(std::string text) {
    std::ranges::replace(text, '\n', ' ');
    return std::unexpected(Stop{ExitCode::usage, text + "; see --help"});
  }
  std::expected<Options, Stop> finish() {
    options_.capture = !no_capture_;
    if (list_) options_.command = Command::list;
    if (coverage_) options_.command = Command::coverage;
    if (!options_.out.has_filename()) options_.out = options_.out.parent_path();  // `out/`
    auto choice = parse_iut(options_.iut, options_.host);
    if (!choice) return wrong(choice.error());
    options_.choice = std::move(*choice);
    if (!options_.agent_path.empty() && (options_.host.empty() || options_.choice.over_tls()))
      return wrong("--agent-path goes with --host ssh: or argv:");
    if (!options_.agent_path.empty()) use_agent_path(options_.agent_path, options_.choice);
    if (std::string faults = read_claims(options_); !faults.empty())
      return std::unexpected(Stop{ExitCode::usage, std::move(faults)});
    apply(options_.access, options_);
    // A run of its own judges the wire of soft-iWARP.
    if (options_.choice.kind == IutChoice::Kind::dat && options_.choice.lab_guest &&
        options_.select.empty() && options_.rules.empty() && !options_.rfc)
      options_.select = {"dat.*"};
    if (const auto fault = check_run(options_)) return wrong(*fault);
    return options_;
  }

  const std::string version_ = base::version_text("rnic-suite");
  CLI::App app_{
      "Conformance suite for iWARP RNICs: judges an implementation of MPA, DDP and RDMAP on the "
      "wire.",
      "rnic-suite"};
  Options options_;
  bool list_ = false, no_capture_ = false, coverage_ = false;
};

}  // namespace

std::expected<Options, Stop> parse_options(const std::vector<std::string>& arguments) {
  return CommandLine().parse(arguments);
}

// ---------------------------------------------------------------- options as words

std::vector<std::string> judging_arguments(const Options& o) {
  std::vector<std::string> list;
  const auto add = [&](const char* name, const std::string& value) {
    list.emplace_back(name);
    list.push_back(value);
  };
  if (o.iut != "reference") add("--iut", o.iut);
  if (!o.host.empty()) add("--host", o.host);
  if (!o.agent_path.empty()) add("--agent-path", o.agent_path);
  for (const auto& [option, file] : files_of_awaiting(o))
    if (!file->empty()) add(option, file->string());
  for (const auto& address : o.addresses) add("--address", address);
  for (const auto& address : o.tester_addresses) add("--tester-address", address);
  if (!o.capture_interface.empty()) add("--capture-interface", o.capture_interface);
  for (const auto& deviation : o.deviations) add("--deviation", deviation);
  for (const auto& lawful : o.lawful) add("--lawful", lawful);
  if (o.link != "tcp") add("--link", o.link);
  if (!o.pics.empty()) add("--pics", o.pics.string());
  if (!o.pixit.empty()) add("--pixit", o.pixit.string());
  if (!o.expectations.empty()) add("--expectations", o.expectations.string());
  if (!o.baseline.empty()) add("--baseline", o.baseline.string());
  if (!o.edition.empty()) add("--edition", o.edition);
  if (o.strict) list.emplace_back("--strict");
  const auto of_guest = arguments_of_guest(o);
  list.insert(list.end(), of_guest.begin(), of_guest.end());
  return list;
}

nlohmann::ordered_json options_record(const Options& o) {
  return {{"iut", o.iut},
          {"host", o.host},
          {"select", o.select},
          {"rules", o.rules},
          {"rfc", o.rfc ? nlohmann::ordered_json(*o.rfc) : nlohmann::ordered_json()},
          {"sections", o.sections},
          {"rerun_failed", o.rerun_failed},
          {"long", o.long_run},
          {"shard", o.shard.text()},
          {"baseline", o.baseline.string()},
          {"edition", o.edition},
          {"strict", o.strict},
          {"slab_checks", o.slab_checks},
          {"series", o.series},
          {"kernel_source", o.kernel_source.string()},
          {"kernel_checks", o.kernel_checks},
          {"kernel_drivers", o.kernel_drivers},
          {"kernel", o.kernel_image.string()},
          {"modules", o.kernel_modules.string()},
          {"jobs", o.jobs},
          {"link", o.link},
          {"deviations", o.deviations},
          {"lawful", o.lawful},
          {"capture", o.capture},
          {"pics", o.pics.string()},
          {"pixit", o.pixit.string()},
          {"addresses", o.addresses},
          {"tester_addresses", o.tester_addresses},
          {"tester_spare", o.access.tester_spare},
          {"agent", o.choice.agent},
          {"claims", o.claims.usable()},
          {"deadline_scale", o.access.deadline_scale},
          {"quiet_window_ms", o.access.quiet_window.count()},
          {"configure_script", o.access.configure_script},
          {"kernel_log", o.access.kernel_log},
          {"reset_command", o.access.reset_command}};
}

std::string shell_text(const std::vector<std::string>& list) {
  const auto quoted = [](const std::string& word) {
    const bool plain = !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
      return std::isalnum(c) != 0 || std::string_view("-_./:@=,+").contains(static_cast<char>(c));
    });
    if (plain) return word;
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
  };
  return fmt::format("{}", fmt::join(list | std::views::transform(quoted), " "));
}

}  // namespace suite::runner
