// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// rnic-agent: the upper tester's program on the host of the implementation under test.
#include <arpa/inet.h>
#include <fcntl.h>
#include <getopt.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/version.hpp"
#ifdef RNIC_AGENT_TLS
#include "suite/iut/tls/join_token.hpp"
#include "suite/upper_tester/dial_out.hpp"
#endif
#include "suite/upper_tester/resume.hpp"
#include "suite/upper_tester/script.hpp"
#include "suite/upper_tester/start_driver.hpp"
#include "suite/upper_tester/watchdog.hpp"

namespace {

using namespace suite::upper_tester;
namespace iut = suite::iut;

constexpr const char* help_text = R"(usage: rnic-agent --driver DRIVER [options]

Drives the API of an RNIC for the conformance suite: reads commands as lines of JSON from standard
input, writes replies and events as lines of JSON to standard output, and ends, releasing all it
made, when its input ends. The words are described in docs/porting.md.

  --driver DRIVER           which API to drive: verbs, kverbs (the kernel's own verbs, through the
                            module rnic_kagent), dat (through libdat2), kdat (kDAPL, through the
                            module rnic_kdat_agent), or reference
  --device NAME             (verbs, kverbs, kdat) the device, as `rdma link` shows it (default: the
                            only iWARP device; kdat has none)
  --ia NAME                 (dat) the provider's name in dat.conf, see DAT_OVERRIDE
  --sockets                 (dat) connects and accepts with TCP sockets of its own, and hands them to
                            the provider (iWARP extension of DAT, sections 3.1.1 and 3.1.4). The
                            first idle endpoint takes what is accepted
  --any-transport           (kverbs) the device need not speak iWARP; one that does not can be
                            connected with itself alone
  --address ADDRESS         the device's own address, for listening and connecting; may be given once
                            per family (default: any address; of the reference driver: loopback;
                            an IA of DAT knows its own)
  --configure-script PATH   program that sets MPA revision, CRC, Markers and RTR, which no verbs call
                            can; called as `PATH revision=2 crc=on markers=off peer_to_peer=on
                            rtr=write,read` with the device closed, and once as `PATH capabilities`
                            to print the configure.* words it can do, one a line. Exit status 0 is
                            done, 2 is not supported, anything else failed.
  --claim WORD              a capability that the API cannot report, e.g. zero_based; may be repeated
  --deviation NAME          (reference) breaks one rule on purpose; may be repeated
  --lawful NAME             (reference) uses a permission of the RFCs; may be repeated
  --startup-timeout SECONDS (reference) how long it waits for the peer's MPA frame, 1 to 86400
                            (default: 3)
  --connect HOST:PORT       connects to the tester over TLS and serves it there, in place of standard
                            input and output, an agent each time it wants one, until this program is
                            ended: for a host that nothing may connect to
  --peer NAME               (connect) the DNS name that the tester's certificate must have
  --certificate FILE        (connect) this host's certificate, in PEM
  --key FILE                (connect) its key, in PEM, which nobody else may read
  --ca FILE                 (connect) certificate of the authority that has signed the tester's, in
                            PEM
  --join FILE               in place of the last five, and of --address: serves the organiser of an
                            event, as the token says that `rnic-plugfest token` has made
  --help                    this text
  --version                 release and commit

Exit status: 0 the input ended, 1 the client said something that is no command, 2 wrong usage,
3 the driver cannot start, or a certificate is wrong, 4 the input ended while a call of the API did
not return.

Examples:
  rnic-agent --driver verbs --device siw0 --address 10.77.0.2
  DAT_OVERRIDE=./dat.conf rnic-agent --driver dat --ia rnic0
  DAT_OVERRIDE=./dat.conf rnic-agent --driver dat --ia rnic0 --sockets
  ssh root@dut rnic-agent --driver verbs --device cxgb4_0 --configure-script /root/configure
  ssh root@dut rnic-agent --driver kverbs --device cxgb4_0 --address 192.0.2.7
  rnic-agent --driver verbs --device cxgb4_0 --address 192.0.2.7 --connect 192.0.2.1:7470
             --peer tester --certificate dut.pem --key dut.key --ca ca.pem
  rnic-agent --driver verbs --device cxgb4_0 --join acme.token
  echo '{"number":1,"type":"reset"}' | rnic-agent --driver reference
)";

constexpr int longest_timeout = 86'400;  ///< seconds

enum ExitStatus { ended = 0, bad_client = 1, wrong_usage = 2, cannot_start = 3 };

struct Options {
  std::string driver_name;
  std::string configure_script;
  DriverOptions driver;
  const char* startup_timeout = nullptr;  ///< as given
  bool device = false, ia = false;        ///< which of the two options named it
  std::string connect, peer, certificate, key, authority, join;
  bool on_streams = false;  ///< an agent that another one has started for its tester
  int resume = -1;
};

int complain(ExitStatus status, const std::string& what) {
  std::fprintf(stderr, "rnic-agent: %s\n", what.c_str());
  return status;
}

bool is_capability(const std::string& word) {
  namespace known = iut::capability;
  for (const char* each :
       {known::configure_revision_1, known::configure_crc, known::configure_markers,
        known::configure_rtr, known::send_invalidate, known::remote_invalidate,
        known::local_invalidate, known::read_invalidate, known::solicited, known::memory_windows,
        known::zero_based, known::fast_registration, known::shared_receive_queue, known::atomics,
        known::immediate, known::peer_to_peer, known::ipv6, known::enhanced_startup,
        known::completion_events})
    if (word == each) return true;
  return false;
}

std::string fault_of_addresses(const Options& options) {
  for (const std::string& literal : options.driver.addresses) {
    unsigned char octets[sizeof(in6_addr)];
    if (::inet_pton(AF_INET, literal.c_str(), octets) != 1 &&
        ::inet_pton(AF_INET6, literal.c_str(), octets) != 1)
      return "--address: '" + literal +
             "' is no IPv4 or IPv6 literal; give the device's own address";
  }
  return {};
}

std::string fault_of_tester(const Options& options) {
  const auto files = {std::pair{"--peer", &options.peer},
                      {"--certificate", &options.certificate},
                      {"--key", &options.key},
                      {"--ca", &options.authority}};
  for (const auto& [option, value] : files)
    if (!value->empty() && !options.join.empty())
      return std::string(option) + ": the token of --join says it";
  if (!options.join.empty() && !options.connect.empty())
    return "--connect: the token of --join says it";
  for (const auto& [option, value] : files)
    if (value->empty() != options.connect.empty())
      return std::string(option) +
             (value->empty() ? " is missing: --connect needs it" : " goes with --connect");
  return {};
}

/// What is wrong with options that are well formed, in one line; empty if nothing is.
std::string fault_of(const Options& options) {
  if (std::string fault = fault_of_tester(options); !fault.empty()) return fault;
  const std::string& name = options.driver_name;
  const bool drives_device = name == "verbs" || name == "kverbs" || name == "kdat";
  if (!drives_device && name != "dat" && name != "reference")
    return "--driver: there is no driver '" + name +
           "'; give verbs, kverbs, dat, kdat or reference";
  if (options.ia != (name == "dat"))
    return options.ia ? "--ia goes with --driver dat" : "--driver dat needs --ia: which provider?";
  if (options.driver.sockets && name != "dat") return "--sockets goes with --driver dat";
  if (options.driver.any_transport && name != "kverbs")
    return "--any-transport goes with --driver kverbs";
  if (!drives_device && options.device) return "--device goes with --driver verbs, kverbs or kdat";
  if (name == "reference" && !options.driver.claims.empty())
    return "--claim goes with --driver verbs, kverbs, dat or kdat";
  for (const std::string& word : options.driver.claims)
    if (!is_capability(word))
      return "--claim: there is no capability '" + word + "'; docs/porting.md lists them";
  if (name != "reference" && !options.driver.deviations.empty())
    return "--deviation goes with --driver reference";
  if (name != "reference" && !options.driver.lawful.empty())
    return "--lawful goes with --driver reference";
  if (options.startup_timeout == nullptr) return fault_of_addresses(options);
  if (name != "reference") return "--startup-timeout goes with --driver reference";
  if (options.driver.startup_timeout < 1 || options.driver.startup_timeout > longest_timeout ||
      options.startup_timeout != std::to_string(options.driver.startup_timeout))
    return std::string("--startup-timeout: '") + options.startup_timeout +
           "' is no number of seconds from 1 to 86400";
  return fault_of_addresses(options);
}

/// Fills `options`; -1 to go on, else the exit status.
int parse_arguments(int argc, char** argv, Options& options) {
  enum Id {
    driver = 1,
    device,
    ia,
    sockets,
    any_transport,
    address,
    script,
    claim,
    deviation,
    lawful,
    startup,
    connect,
    peer,
    certificate,
    key,
    authority,
    join,
    streams,
    resume,
    help,
    version
  };
  static const option table[] = {
      {"driver", required_argument, nullptr, driver},
      {"device", required_argument, nullptr, device},
      {"ia", required_argument, nullptr, ia},
      {"sockets", no_argument, nullptr, sockets},
      {"any-transport", no_argument, nullptr, any_transport},
      {"address", required_argument, nullptr, address},
      {"configure-script", required_argument, nullptr, script},
      {"claim", required_argument, nullptr, claim},
      {"deviation", required_argument, nullptr, deviation},
      {"lawful", required_argument, nullptr, lawful},
      {"startup-timeout", required_argument, nullptr, startup},
      {"connect", required_argument, nullptr, connect},
      {"peer", required_argument, nullptr, peer},
      {"certificate", required_argument, nullptr, certificate},
      {"key", required_argument, nullptr, key},
      {"ca", required_argument, nullptr, authority},
      {"join", required_argument, nullptr, join},
      {"on-streams", no_argument, nullptr, streams},
      {"resume", required_argument, nullptr, resume},
      {"help", no_argument, nullptr, help},
      {"version", no_argument, nullptr, version},
      {nullptr, 0, nullptr, 0},
  };
  int id = 0;
  while ((id = getopt_long(argc, argv, ":", table, nullptr)) != -1) {
    switch (id) {
      case driver:
        options.driver_name = optarg;
        break;
      case device:
      case ia:
        options.driver.device = optarg;
        (id == ia ? options.ia : options.device) = true;
        break;
      case sockets:
        options.driver.sockets = true;
        break;
      case any_transport:
        options.driver.any_transport = true;
        break;
      case address:
        options.driver.addresses.emplace_back(optarg);
        break;
      case script:
        options.configure_script = optarg;
        break;
      case claim:
        options.driver.claims.emplace_back(optarg);
        break;
      case deviation:
        options.driver.deviations.emplace_back(optarg);
        break;
      case lawful:
        options.driver.lawful.emplace_back(optarg);
        break;
      case startup:
        options.startup_timeout = optarg;
        options.driver.startup_timeout = std::atoi(optarg);
        break;
      case connect:
        options.connect = optarg;
        break;
      case peer:
        options.peer = optarg;
        break;
      case certificate:
        options.certificate = optarg;
        break;
      case key:
        options.key = optarg;
        break;
      case authority:
        options.authority = optarg;
        break;
      case join:
        options.join = optarg;
        break;
      case streams:
        options.on_streams = true;
        break;
      case resume:
        options.resume = std::atoi(optarg);
        break;
      case help:
        std::fputs(help_text, stdout);
        return ended;
      case version:
        std::puts(base::version_text("rnic-agent").c_str());
        return ended;
      case ':':
        return complain(wrong_usage,
                        std::string(argv[optind - 1]) + " needs a value; see rnic-agent --help");
      default:
        return complain(wrong_usage, std::string("unknown option ") + argv[optind - 1] +
                                         "; see rnic-agent --help");
    }
  }
  if (optind < argc)
    return complain(wrong_usage,
                    std::string("unexpected argument ") + argv[optind] + "; see rnic-agent --help");
  if (options.driver_name.empty())
    return complain(wrong_usage, "say which --driver: verbs, kverbs, dat, kdat or reference");
  const std::string fault = fault_of(options);
  return fault.empty() ? -1 : complain(wrong_usage, fault);
}

/// A vendor's library must not print or read among our lines:
/// 1 becomes stderr, 0 nothing.
Handover make_private() {
  Handover own;
  own.input = ::fcntl(0, F_DUPFD_CLOEXEC, 3);
  own.output = ::fcntl(1, F_DUPFD_CLOEXEC, 3);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (own.input >= 0 && nothing >= 0) ::dup2(nothing, 0);
  ::dup2(2, 1);
  if (nothing >= 0) ::close(nothing);
  return own;
}

Started start(const Options& options, [[maybe_unused]] Sink sink) {
#ifdef RNIC_AGENT_VERBS
  if (options.driver_name == "verbs") return start_verbs(options.driver, std::move(sink));
  if (options.driver_name == "kverbs") return start_kverbs(options.driver, std::move(sink));
#endif
#ifdef RNIC_AGENT_DAT
  if (options.driver_name == "dat") return start_dat(options.driver, std::move(sink));
  if (options.driver_name == "kdat") return start_kdat(options.driver, std::move(sink));
#endif
#ifdef RNIC_AGENT_REFERENCE
  if (options.driver_name == "reference") return start_reference(options.driver, std::move(sink));
#endif
  return {nullptr, nullptr,
          "driver " + options.driver_name +
              " was left out of this build: install libibverbs-dev and librdmacm-dev (dat, "
              "kdat: libdapl-dev), build again"};
}

/// Asks the script what it can configure. The error is one line.
std::string ask_capabilities(Options& options) {
  const ScriptResult result = run_script(options.configure_script, {"capabilities"}, -1);
  if (!result.ran || result.exit_status != 0)
    return "configure script " + options.configure_script +
           " does not answer `capabilities`: " + result.text;
  std::string word;
  for (const char each : result.text + '\n') {
    if (each != '\n') {
      word += each;
      continue;
    }
    if (word.compare(0, 10, "configure.") == 0)
      options.driver.configure_capabilities.push_back(word);
    word.clear();
  }
  return {};
}

/// Runs the configure script, before any device is opened.
iut::Reply reconfigure(const Options& options, const Handover& handover, bool& client_gone) {
  const ScriptResult result =
      run_script(options.configure_script, handover.reconfiguration.arguments, handover.input);
  client_gone = result.abandoned;
  iut::Reply reply;
  reply.command = handover.reconfiguration.number;
  if (result.ran && result.exit_status == 0) return reply;
  reply.outcome = result.exit_status == 2 ? iut::Outcome::unsupported : iut::Outcome::failed;
  reply.code = result.exit_status;
  reply.error = "configure script: ";
  if (result.signal != 0) reply.error += "ended by signal " + std::to_string(result.signal) + ": ";
  reply.error += result.text;
  while (!reply.error.empty() && reply.error.back() == '\n') reply.error.pop_back();
  return reply;
}

/// Serves the client until it is gone; executes itself again at each Configure.
int talk(const Options& options, const Handover& own, const iut::Reply* configured, char** argv) {
  AgentSession session(own.input, own.output, !options.configure_script.empty());
  const Watchdog watchdog(own.input, session.turns());
  Started started = start(options, session.sink());
  if (started.driver == nullptr) {
    if (configured != nullptr) {
      iut::Reply reply = *configured;
      reply.outcome = iut::Outcome::failed;
      reply.error = "after the configure script: " + started.error;
      session.output().add(reply);
      if (!session.output().flush()) return complain(cannot_start, "nobody reads the replies");
    }
    return complain(started.wrong_usage ? wrong_usage : cannot_start, started.error);
  }
  session.begin(*started.driver, configured == nullptr);
  if (configured != nullptr) session.output().add(*configured);
  session.resume_with(own.unhandled);
  started.talk(session);

  const AgentSession::State state = session.state();
  Handover handover = own;
  handover.unhandled = session.unhandled();
  handover.reconfiguration = session.reconfiguration();
  started.driver.reset();
  if (state == AgentSession::State::bad_client)
    return complain(bad_client, "not a command: " + session.complaint());
  if (state != AgentSession::State::reconfiguring) return ended;
  return complain(cannot_start, "cannot start afresh: " + become_fresh(handover, argv));
}

#ifdef RNIC_AGENT_TLS
/// Serves this tester; each of its agents is this program again, with its standard streams.
std::string serve(const iut::tls::Endpoint& tester, const iut::tls::Identity& identity,
                  const std::vector<std::string>& more, char** argv) {
  std::vector<std::string> agent{"/proc/self/exe"};
  for (char** each = argv + 1; *each != nullptr; ++each) agent.emplace_back(*each);
  agent.insert(agent.end(), more.begin(), more.end());
  agent.emplace_back("--on-streams");
  return serve_tester(tester, identity, agent);
}

/// Serves the organiser that a token names.
int join_event(const Options& options, char** argv) {
  std::string error;
  const auto token = iut::tls::load_join_token(options.join, error);
  if (!token) return complain(wrong_usage, "--join: " + error);
  const iut::tls::Identity identity{options.join, options.join, options.join, token->peer};
  std::vector<std::string> more;
  if (options.driver.addresses.empty() && options.driver_name != "dat")
    more = {"--address", token->address};
  return complain(cannot_start,
                  serve(*iut::tls::parse_endpoint(token->connect), identity, more, argv));
}

/// Serves the tester that --connect names.
int connect_to_tester(const Options& options, char** argv) {
  const auto tester = iut::tls::parse_endpoint(options.connect);
  if (!tester || tester->host.empty())
    return complain(wrong_usage, "--connect: '" + options.connect + "' is not HOST:PORT");
  if (!iut::tls::is_dns_name(options.peer))
    return complain(wrong_usage, "--peer: '" + options.peer + "' is no DNS name");
  const iut::tls::Identity identity{options.certificate, options.key, options.authority,
                                    options.peer};
  return complain(cannot_start, serve(*tester, identity, {}, argv));
}
#else
int join_event(const Options&, char**) {
  return complain(cannot_start,
                  "--join was left out of this build: install libssl-dev, build again");
}
int connect_to_tester(const Options&, char**) {
  return complain(cannot_start,
                  "--connect was left out of this build: install libssl-dev, build again");
}
#endif

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (const int status = parse_arguments(argc, argv, options); status >= 0) return status;
  std::signal(SIGPIPE, SIG_IGN);
  if (!options.join.empty() && !options.on_streams) return join_event(options, argv);
  if (!options.connect.empty() && !options.on_streams) return connect_to_tester(options, argv);

  Handover own;
  if (options.resume >= 0) {
    const auto handover = take_handover(options.resume);
    if (!handover) return complain(wrong_usage, "--resume is only for the agent's own use");
    own = *handover;
  } else {
    own = make_private();
  }
  if (own.input < 0 || own.output < 0)
    return complain(wrong_usage, "standard input and output must be open");

  iut::Reply reply;
  bool client_gone = false;
  if (options.resume >= 0) reply = reconfigure(options, own, client_gone);
  if (client_gone) return ended;
  if (!options.configure_script.empty())
    if (const std::string error = ask_capabilities(options); !error.empty())
      return complain(cannot_start, error);
  return talk(options, own, options.resume >= 0 ? &reply : nullptr, argv);
}
