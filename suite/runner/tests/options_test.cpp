// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The command line: what is understood, what is refused with which words, and how it is given back.
#include <boost/test/unit_test.hpp>

#include "suite/runner/options.hpp"

using namespace suite::runner;
using Words = std::vector<std::string>;

namespace {

Options good(const Words& words) {
  auto options = parse_options(words);
  BOOST_REQUIRE_MESSAGE(options, (options ? "" : options.error().text));
  return *options;
}

// How a program is started through ssh.
Words ssh_to(const std::string& host, const Words& program) {
  Words words{"ssh", "-T",
              "-o",  "BatchMode=yes",
              "-o",  "ConnectTimeout=10",
              "-o",  "ServerAliveInterval=5",
              "-o",  "ServerAliveCountMax=3",
              "--",  host};
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

std::string refusal(const Words& words) {
  const auto options = parse_options(words);
  if (options) return "accepted";
  BOOST_TEST(static_cast<int>(options.error().code) == 2);
  BOOST_TEST(options.error().text.find('\n') == std::string::npos);
  return options.error().text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(without_a_command_it_is_run) {
  BOOST_TEST((good({}).command == Command::run));
  BOOST_TEST(good({}).iut == "reference");
  BOOST_TEST((good({"--strict"}).command == Command::run));
  BOOST_TEST((good({"--list"}).command == Command::list));
  BOOST_TEST((good({"run", "--coverage"}).command == Command::coverage));
  BOOST_TEST(!good({"coverage"}).every_rule);
  BOOST_TEST(good({"coverage", "--rules"}).every_rule);
  BOOST_TEST((good({"list", "--select", "a*"}).command == Command::list));
  BOOST_TEST(good({"explain", "ddp.tagged.base-or-bounds"}).subject == "ddp.tagged.base-or-bounds");
}

BOOST_AUTO_TEST_CASE(repeated_options_add_up) {
  const Options options =
      good({"--select", "a", "--rule", "r", "--select", "b", "--deviation", "d", "--jobs", "3"});
  BOOST_TEST(options.select == (Words{"a", "b"}), boost::test_tools::per_element());
  BOOST_TEST(options.rules == (Words{"r"}), boost::test_tools::per_element());
  BOOST_TEST(options.jobs == 3U);
}

BOOST_AUTO_TEST_CASE(implementations_under_test) {
  BOOST_TEST(good({"--iut", "siw-vm"}).choice.name() == "siw-vm");
  const Options local = good({"--iut", "agent:reference"});
  BOOST_TEST(local.choice.name() == "reference");
  BOOST_TEST(local.choice.local_reference);
  const Options verbs =
      good({"--iut", "verbs:cxgb4_0", "--host", "ssh:root@dut", "--address", "192.0.2.7"});
  BOOST_TEST(verbs.choice.agent ==
                 (ssh_to("root@dut", {"rnic-agent", "--driver", "verbs", "--device", "cxgb4_0"})),
             boost::test_tools::per_element());
  const Options in_kernel = good({"--iut", "kverbs:siw-vm"});
  BOOST_TEST(in_kernel.choice.name() == "kverbs-siw-vm");
  BOOST_TEST(in_kernel.choice.in_guest());
  BOOST_TEST(in_kernel.select.empty());
  const Options in_kdat = good({"--iut", "kdat:siw-vm"});
  BOOST_TEST(in_kdat.choice.name() == "kdat-siw-vm");
  BOOST_TEST(in_kdat.choice.in_guest());
  BOOST_TEST(in_kdat.choice.is_dat());
  for (const auto& [iut, name, device] : {std::tuple{"dat:rxe-vm", "dat-rxe-vm", "ofa-v2-rxe"},
                                          std::tuple{"kdat:rxe-vm", "kdat-rxe-vm", "rxe0"},
                                          std::tuple{"kverbs:rxe-vm", "kverbs-rxe-vm", "rxe0"}}) {
    const Options over_roce = good({"--iut", iut, "--series", "6.12"});
    BOOST_TEST(over_roce.choice.name() == name);
    BOOST_TEST(over_roce.choice.device == device);
    BOOST_TEST(over_roce.choice.in_guest());
    BOOST_TEST(over_roce.series == "6.12");
  }
  const Options kdat_device = good({"--iut", "kdat:cxgb4_0", "--address", "192.0.2.7"});
  BOOST_TEST(kdat_device.choice.name() == "kdat");
  BOOST_TEST(kdat_device.choice.dat_cases == Words{"rnic-dat-cases"},
             boost::test_tools::per_element());
  BOOST_TEST(
      kdat_device.choice.agent == (Words{"rnic-agent", "--driver", "kdat", "--device", "cxgb4_0"}),
      boost::test_tools::per_element());
  const Options kernel_device = good({"--iut", "kverbs:cxgb4_0", "--address", "192.0.2.7"});
  BOOST_TEST(kernel_device.choice.agent ==
                 (Words{"rnic-agent", "--driver", "kverbs", "--device", "cxgb4_0"}),
             boost::test_tools::per_element());
  BOOST_TEST(!kernel_device.choice.in_lab());
  BOOST_TEST(
      good({"--iut", "verbs:a", "--address", "fe80::7%eth1"}).addresses == Words{"fe80::7%eth1"},
      boost::test_tools::per_element());
  const Options elsewhere = good({"--iut", "dat:ofa0", "--host", "argv:nice", "--address",
                                  "192.0.2.7", "--agent-path", "/opt/x/rnic-agent"});
  const Words agent_there{"nice", "/opt/x/rnic-agent", "--driver", "dat", "--ia", "ofa0"};
  BOOST_TEST(elsewhere.choice.agent == agent_there, boost::test_tools::per_element());
  BOOST_TEST(elsewhere.choice.dat_cases.back() == "/opt/x/rnic-dat-cases");
  BOOST_TEST(refusal({"--iut", "verbs:a", "--address", "192.0.2.7", "--agent-path", "/opt/a"})
                 .find("--agent-path goes with --host") != std::string::npos);
  const Options guest = good({"--iut", "dat:siw-vm"});
  BOOST_TEST(guest.choice.name() == "dat-siw-vm");
  BOOST_TEST(guest.choice.in_guest());
  BOOST_TEST(guest.choice.in_lab());
  BOOST_TEST(guest.select == Words{"dat.*"}, boost::test_tools::per_element());
  BOOST_TEST(good({"--iut", "dat:siw-vm", "--select", "ddp.*"}).select == Words{"ddp.*"},
             boost::test_tools::per_element());
  BOOST_TEST(good({"--iut", "dat:siw-vm", "--rule", "dat.pz-free.success"}).select.empty());
  BOOST_TEST(!good({"--iut", "dat:reference"}).choice.in_guest());
  const Options provider =
      good({"--iut", "dat:ofa0", "--host", "ssh:dut", "--address", "192.0.2.7"});
  const Words remote = ssh_to("dut", {});
  Words agent = remote, cases = remote;
  agent.insert(agent.end(), {"rnic-agent", "--driver", "dat", "--ia", "ofa0"});
  cases.emplace_back("rnic-dat-cases");
  BOOST_TEST(provider.choice.agent == agent, boost::test_tools::per_element());
  BOOST_TEST(provider.choice.dat_cases == cases, boost::test_tools::per_element());
  BOOST_TEST(provider.choice.name() == "dat");
  const Options own = good({"--iut", "dat:reference"});
  BOOST_TEST(own.choice.name() == "dat-reference");
  BOOST_TEST(own.choice.in_lab());
  const Options library = good({"--iut", "verbs:reference", "--deviation", "accepts_bad_crc"});
  BOOST_TEST(library.choice.name() == "verbs-reference");
  BOOST_TEST(library.choice.in_lab());
  BOOST_TEST(refusal({"--iut", "verbs:reference", "--host", "ssh:dut"}).find("--host goes with") !=
             std::string::npos);
  const Options vendor = good({"--iut", "agent:ssh dut /opt/agent -x", "--address", "192.0.2.7"});
  BOOST_TEST(vendor.choice.agent == (Words{"ssh", "dut", "/opt/agent", "-x"}),
             boost::test_tools::per_element());
  BOOST_TEST(!vendor.choice.in_lab());
}

BOOST_AUTO_TEST_CASE(agents_that_connect_to_us) {
  const auto with = [](const Words& more) {
    Words words{"--address", "192.0.2.7", "--certificate", "t.pem", "--key", "t.key"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const Words iut{"--iut", "verbs:siw0", "--host", "tls:dut@192.0.2.1:7470", "--ca", "ca.pem"};
  const Options verbs = good(with(iut));
  BOOST_TEST(verbs.choice.name() == "verbs");
  BOOST_TEST(verbs.choice.over_tls());
  BOOST_TEST(verbs.choice.agent.front().ends_with("rnic-await-agent"));
  const Words expected{"--listen", "192.0.2.1:7470", "--peer", "dut",  "--certificate",
                       "t.pem",    "--key",          "t.key",  "--ca", "ca.pem"};
  BOOST_TEST(Words(verbs.choice.agent.begin() + 1, verbs.choice.agent.end()) == expected,
             boost::test_tools::per_element());
  const Words again = judging_arguments(verbs);
  BOOST_TEST((std::ranges::find(again, "--ca") != again.end()));
  BOOST_TEST(good(with({"--iut", "agent", "--host", "tls:a.b@[fd00::1]:1", "--ca", "c"}))
                 .choice.host->tls->listen == "[fd00::1]:1");

  const auto refuses = [&](const Words& more, const std::string& text) {
    const std::string said = refusal(with(more));
    BOOST_TEST(said.find(text) != std::string::npos, said);
  };
  refuses({"--iut", "agent", "--host", "tls:dut@7470"}, "--host tls: needs --ca");
  refuses({"--iut", "verbs:a"}, "--certificate goes with --host tls:");
  refuses({"--iut", "dat:a", "--host", "tls:dut@7470", "--ca", "c"}, "cases of the DAT API");
  refuses({"--iut", "siw-vm", "--host", "tls:dut@7470", "--ca", "c"}, "--host goes with");
  refuses({"--iut", "verbs:a", "--host", "tls:dut@7470", "--ca", "c", "--agent-path", "/x"},
          "--agent-path goes with --host ssh:");
  for (const char* wrong : {"tls:7470", "tls:dut@", "tls:dut@0", "tls:dut@65536", "tls:dut@host:",
                            "tls:a b@1", "tls:-x@1", "tls:*.dut@1", "tls:dut@fd00::1:7470"})
    refuses({"--iut", "verbs:a", "--host", wrong, "--ca", "c"}, "is none of ssh:");
}

BOOST_AUTO_TEST_CASE(kernels_of_the_guest) {
  const Options built = good({"--iut", "siw-vm", "--kernel", "bzImage", "--modules", "installed"});
  BOOST_TEST(built.kernel_image == "bzImage");
  const Words again = judging_arguments(built);
  const Words last{"--kernel", "bzImage", "--modules", "installed"};
  BOOST_REQUIRE(again.size() >= last.size());
  BOOST_TEST(Words(again.end() - 4, again.end()) == last, boost::test_tools::per_element());
  const auto refuses = [](const Words& words, const std::string& text) {
    const std::string said = refusal(words);
    BOOST_TEST(said.find(text) != std::string::npos, said);
  };
  refuses({"--iut", "siw-vm", "--kernel", "b"}, "--kernel requires --modules");
  refuses({"--iut", "siw-vm", "--modules", "d"}, "--modules requires --kernel");
  refuses({"--iut", "siw-vm", "--kernel", "b", "--modules", "d", "--kernel-source", "s"},
          "excludes");
  refuses({"--kernel", "b", "--modules", "d"}, "--kernel does not go with --iut reference");
  refuses({"--kernel-source", "s"}, "--kernel-source does not go with --iut reference");
  refuses({"--iut", "siw-vm", "--kernel-drivers"}, "--kernel-drivers requires --kernel-source");
  const Options with_drivers =
      good({"--iut", "siw-vm", "--kernel-source", "linux", "--kernel-drivers"});
  BOOST_TEST(with_drivers.kernel_drivers);
  BOOST_TEST(judging_arguments(with_drivers).back() == "--kernel-drivers");
}

BOOST_AUTO_TEST_CASE(what_was_probably_meant_is_said) {
  const auto suggests = [](const Words& words, const std::string& word) {
    return refusal(words).find("(did you mean '" + word + "'?)") != std::string::npos;
  };
  BOOST_TEST(suggests({"--iut", "siw_vm"}, "siw-vm"));
  BOOST_TEST(suggests({"--iut", "referense"}, "reference"));
  BOOST_TEST(suggests({"run", "--selct", "a"}, "--select"));
  BOOST_TEST(suggests({"--rerun-faild"}, "--rerun-failed"));
  BOOST_TEST(suggests({"colect", "out"}, "collect"));
  BOOST_TEST(!suggests({"--frobnicate"}, ""));
}

// With a slash at its end it is the same folder, and gets the same numbers.
BOOST_AUTO_TEST_CASE(a_folder_is_named_with_or_without_a_slash) {
  BOOST_TEST(good({"--out", "there/"}).out == "there");
  BOOST_TEST(good({"--out", "/tmp/a/b"}).out == "/tmp/a/b");
  BOOST_TEST(refusal({"--out", ""}).find("the folder needs a name") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_said_in_one_line) {
  BOOST_TEST(refusal({"--iut", "chelsio"}).find("'chelsio' is none of") != std::string::npos);
  BOOST_TEST(refusal({"--iut", "dat:siw"}).find("needs --address") != std::string::npos);
  for (const char* iut : {"verbs:mlx5_0", "chelsio:cxgb4_0", "verbs:-x"})
    BOOST_TEST(refusal({"--iut", iut}).find("did you mean") == std::string::npos, iut);
  for (const auto& [typed, meant] :
       {std::pair{"dat:refrence", "dat:reference"}, std::pair{"simvm", "siw-vm"},
        std::pair{"dat:siwvm", "dat:siw-vm"}, std::pair{"verb:cxgb4_0", "verbs:cxgb4_0"},
        std::pair{"kdta:ofa0", "kdat:ofa0"}})
    BOOST_TEST(refusal({"--iut", typed}).find(fmt::format("did you mean '{}'?", meant)) !=
               std::string::npos);
  BOOST_TEST(refusal({"--iut", "dat:reference", "--address", "192.0.2.7"})
                 .find("--address does not go with") != std::string::npos);
  BOOST_TEST(refusal({"--iut", "dat:reference", "--deviation", "accepts_bad_crc"})
                 .find("--deviation goes with") != std::string::npos);
  BOOST_TEST(refusal({"--iut", "agent:"}).find("is none of") != std::string::npos);
  BOOST_TEST(
      refusal({"--iut", "verbs:a;reboot", "--address", "192.0.2.7"}).find("is no device name") !=
      std::string::npos);
  BOOST_TEST(refusal({"--iut", "verbs:-x", "--address", "192.0.2.7"}).find("is no device name") !=
             std::string::npos);
  BOOST_TEST(
      refusal({"--iut", "verbs:a", "--host", "ssh:-oProxyCommand=x", "--address", "192.0.2.7"})
          .find("is no ssh target") != std::string::npos);
  BOOST_TEST(refusal({"--iut", "verbs:a", "--host", "dut", "--address", "192.0.2.7"})
                 .find("is none of ssh:") != std::string::npos);
  BOOST_TEST(refusal({"--host", "ssh:dut"}).find("--host goes with") != std::string::npos);
  BOOST_TEST(refusal({"--iut", "verbs:a"}).find("needs --address") != std::string::npos);
  BOOST_TEST(refusal({"--address", "192.0.2.7"}).find("--address does not go with") !=
             std::string::npos);
  BOOST_TEST(refusal({"--iut", "siw-vm", "--deviation", "x"}).find("--deviation goes with") !=
             std::string::npos);
  BOOST_TEST(refusal({"--link", "carrier-pigeon"}).find("neither tcp nor memory") !=
             std::string::npos);
  BOOST_TEST(refusal({"--iut", "siw-vm", "--link", "memory"}).find("--link memory goes with") !=
             std::string::npos);
  BOOST_TEST(refusal({"--jobs", "0"}).find("--jobs") != std::string::npos);
  BOOST_TEST(refusal({"--jobs", "many"}).find("--jobs") != std::string::npos);
  BOOST_TEST(refusal({"--frobnicate"}).find("--frobnicate") != std::string::npos);
  BOOST_TEST(refusal({"explain"}).find("RULE") != std::string::npos);
  BOOST_TEST(refusal({"--select"}).find("--select") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(help_is_for_standard_output_and_documents_the_exit_codes) {
  for (const Words& words : {Words{"--help"}, Words{"run", "--help"}, Words{"-h"}}) {
    const auto stop = parse_options(words);
    BOOST_REQUIRE(!stop);
    BOOST_TEST(static_cast<int>(stop.error().code) == 0);
    BOOST_TEST(stop.error().text.find(
                   "4 a known issue no longer shows; if several apply, the first of 3, 1, 4") !=
               std::string::npos);
  }
  BOOST_TEST(parse_options({"run", "--help"}).error().text.find("examples:") != std::string::npos);
  BOOST_TEST(static_cast<int>(parse_options({"--version"}).error().code) == 0);
  BOOST_TEST(parse_options({"run", "--version"}).error().text ==
             parse_options({"--version"}).error().text);
}

BOOST_AUTO_TEST_CASE(the_judging_options_come_back_as_a_shell_command) {
  const Options options = good({"--iut", "agent:ssh dut 'x", "--address", "192.0.2.7", "--strict",
                                "--select", "a*", "--out", "o"});
  BOOST_TEST(shell_text(judging_arguments(options)) ==
             R"(--iut 'agent:ssh dut '\''x' --address 192.0.2.7 --strict)");
  const Options again = good({"--iut", "agent:ssh dut 'x", "--address", "192.0.2.7", "--strict"});
  BOOST_TEST(judging_arguments(again) == judging_arguments(options),
             boost::test_tools::per_element());
  BOOST_TEST(judging_arguments(good({})).empty());
  BOOST_TEST(shell_text({"a b", "", "$x", "plain-1.2:3"}) == "'a b' '' '$x' plain-1.2:3");
}
