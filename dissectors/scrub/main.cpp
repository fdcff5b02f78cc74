// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// rnic-scrub: takes payload and addresses out of a capture, before it is shown to others.
#include <cstdint>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/out_of_memory.hpp"
#include "base/standard_streams.hpp"
#include "base/version.hpp"
#include "dissectors/lint/output_file.hpp"
#include "dissectors/scrub/scrub.hpp"

namespace {

constexpr int usage = 2, failed = 3;

constexpr const char* footer =
    "Zeros take the place of the payload of Sends, RDMA Writes and Read Responses, of the ULP's\n"
    "private data, and of every octet that is no part of iWARP. IP addresses become those for\n"
    "documentation, MAC addresses follow from them; TCP ports, sequence numbers and times stay.\n"
    "Frames without TCP are empty. STags, tagged offsets, Terminates and the operands of Atomics\n"
    "stay, since rules are judged by them. Checksums and CRCs that were right are right; one that\n"
    "was wrong is wrong. The result is judged again, and written only if the findings are the "
    "same.\n"
    "examples:\n"
    "  rnic-scrub trace.pcapng shown.pcap\n"
    "  rnic-scrub --port 5445 trace.pcap.gz shown.pcap\n"
    "exit: 0 written, 2 usage, 3 the capture cannot be read, or nothing could be written\n";

int complain(int code, const std::string& why) {
  base::say(stderr, "rnic-scrub: {}\n", why);
  return code;
}

int write(const std::string& name, const dissectors::scrub::Scrubbed& scrubbed) {
  auto file = dissectors::lint::OutputFile::open(name);
  if (!file) return complain(failed, file.error());
  file->write(scrubbed.file);
  if (const auto closed = file->close(); !closed) return complain(failed, closed.error());
  base::say(stdout,
            "{}: {} frames, {} with TCP, {} connections, {} addresses; the judge finds the same "
            "{} violations\n",
            name, scrubbed.frames, scrubbed.segments, scrubbed.connections, scrubbed.addresses,
            scrubbed.findings);
  return 0;
}

int scrub(int argc, char** argv) {
  CLI::App app("Takes payload and addresses out of a capture, so that it can be shown to others.",
               "rnic-scrub");
  std::string capture, target;
  std::vector<std::uint16_t> ports;
  app.add_option("CAPTURE", capture, "pcap or pcapng, also packed by gzip, zstd or xz")->required();
  app.add_option("TO", target, "the pcap to write; one that is there already is kept")->required();
  app.add_option("--port", ports,
                 "decode as: treat connections with this port as iWARP; may be repeated")
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 65535));
  app.set_version_flag("--version", base::version_text("rnic-scrub"));
  app.footer(footer);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    base::say(stdout, "{}", app.help());
    return 0;
  } catch (const CLI::CallForVersion& version) {
    base::say(stdout, "{}\n", version.what());
    return 0;
  } catch (const CLI::ParseError& problem) {
    return complain(usage, std::string(problem.what()) + "; see --help");
  }
  if (capture == "-") return complain(usage, "standard input cannot be read twice; give a file");
  std::error_code error;
  if (std::filesystem::exists(target, error))
    return complain(usage, target + " already exists; name another file");
  const auto scrubbed = dissectors::scrub::scrub(capture, ports);
  return scrubbed ? write(target, *scrubbed) : complain(failed, scrubbed.error());
}

}  // namespace

int main(int argc, char** argv) {
  base::keep_standard_streams();
  try {
    return scrub(argc, argv);
  } catch (const std::exception& problem) {
    return complain(failed, base::words_of(problem));
  }
}
