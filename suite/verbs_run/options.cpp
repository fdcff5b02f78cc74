// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/verbs_run/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ranges>
#include <string_view>

#include "base/did_you_mean.hpp"
#include "base/version.hpp"
#include "reference_rnic/deviants/deviation.hpp"
#include "reference_rnic/lawful/lawful.hpp"

namespace suite::verbs_run {

namespace {

constexpr const char* examples = R"(
The program and its arguments follow the options: rnic-run [OPTIONS] PROGRAM [ARGUMENT...]

examples:
  rnic-run rping -s -C 10 -v
  rnic-run rping -c -a 127.0.0.1 -C 10 -v
  rnic-run --capture trace.pcapng rping -s -C 10
  rnic-run --deviate crc_unchecked ib_write_bw -R 127.0.0.1
  rnic-run --list

exit: that of the program; 2 usage; 126 the program cannot be started; 127 there is none of this name)";

void declare(CLI::App& app, Options& o) {
  app.add_flag("--list", o.list, "the devices, deviations and lawful variants that there are");
  app.add_option("--device", o.device, "name of the device that the program finds")
      ->capture_default_str();
  app.add_option("--deviate", o.deviations, "a fault that the RNIC of the program is to have")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--lawful", o.lawful, "a permission of the RFCs that it is to use")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_flag("!--no-crc", o.crc, "ask for no CRCs; they are used if the peer asks for them");
  app.add_flag("!--no-peer-to-peer", o.peer_to_peer,
               "as the initiator ask for the client-server model, in which the program that "
               "connects has to send first");
  app.add_option("--capture", o.capture,
                 "write what passes the interface meanwhile to this pcapng file (needs the right "
                 "to capture)")
      ->type_name("FILE");
  app.add_option("--interface", o.interface, "that is captured")->capture_default_str();
  app.add_flag("--rsocket", o.rsocket, "stream sockets of the program go over RDMA (librspreload)");
  app.prefix_command();  // what follows is the program's
  app.footer(examples);
  app.set_version_flag("--version", base::version_text("rnic-run"));
}

template <typename Known, typename Find>
std::string unknown_name(const std::vector<std::string>& wanted, const char* what, Known&& known,
                         Find&& find) {
  const auto unknown = std::ranges::find_if(wanted, [&](const auto& name) { return !find(name); });
  if (unknown == wanted.end()) return "";
  const auto names = known | std::views::transform([](const auto& each) { return each.name; });
  return std::string("there is no ") + what + " '" + *unknown + "'" +
         base::did_you_mean(*unknown, names) + "; rnic-run --list names them";
}

std::string fault_in(const Options& o) {
  if (auto fault = unknown_name(o.deviations, "deviation", rnic::deviants::deviations(),
                                rnic::deviants::find_deviation);
      !fault.empty())
    return fault;
  if (auto fault = unknown_name(o.lawful, "lawful variant", rnic::lawful::lawful_variants(),
                                rnic::lawful::find_lawful);
      !fault.empty())
    return fault;
  if (o.device.empty() || o.device.size() > 63) return "--device: a name of 1 to 63 characters";
  if (!o.program.empty() && o.program.front().starts_with('-'))
    return "there is no option " + o.program.front() + "; see --help";
  if (!o.list && o.program.empty()) return "which program? See --help";
  return "";
}

}  // namespace

std::expected<Options, Stop> parse_options(int count, const char* const* words) {
  CLI::App app(
      "Runs a program that uses libibverbs or librdmacm on the reference RNIC: iWARP over the\n"
      "host's TCP, without kernel module, hardware or privileges.",
      "rnic-run");
  Options options;
  declare(app, options);
  try {
    app.parse(count, words);
    options.program = app.remaining();
  } catch (const CLI::CallForHelp&) {
    return std::unexpected(Stop{0, app.help()});
  } catch (const CLI::CallForVersion& version) {
    return std::unexpected(Stop{0, std::string(version.what()) + "\n"});
  } catch (const CLI::ParseError& problem) {
    return std::unexpected(Stop{2, std::string(problem.what()) + "; see --help"});
  }
  if (auto fault = fault_in(options); !fault.empty())
    return std::unexpected(Stop{2, std::move(fault)});
  return options;
}

}  // namespace suite::verbs_run
