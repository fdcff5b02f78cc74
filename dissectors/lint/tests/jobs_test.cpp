// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The report is the same, octet by octet, however many jobs there are: of the corpus, of hostile captures, and where
// connections are idle for too long or are too many.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "dissectors/analyzer/tests/perturbation.hpp"
#include "dissectors/capture/capture_reader.hpp"
#include "dissectors/lint/report.hpp"
#include "dissectors/lint/sharding.hpp"
#include "dissectors/lint/tests/traffic.hpp"

using namespace dissectors;
using namespace dissectors::lint;
using analyzer::tests::Capture;
using analyzer::tests::Perturbation;

namespace {

constexpr std::uint64_t second = 1'000'000'000;

/// What is printed, as text and as JSON.
class Printed {
 public:
  Printed() : file_(::open_memstream(&text_, &size_)) {}
  Printed(const Printed&) = delete;
  Printed& operator=(const Printed&) = delete;
  ~Printed() {
    std::fclose(file_);
    std::free(text_);
  }
  [[nodiscard]] std::FILE* file() const { return file_; }
  [[nodiscard]] std::string text() const {
    std::fflush(file_);
    return {text_, size_};
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* file_;
};

std::string report(const Capture& capture, unsigned jobs, const analyzer::Options& limits) {
  const Printed printed;
  const auto text = text_report(printed.file(), {}), json = json_report(printed.file(), false);
  ShardingOptions options;
  options.jobs = jobs;
  options.analyzer = limits;
  options.collector.messages = true;
  Sharding sharding(capture.link, options, [&](Record&& record) {
    text->record(record);
    json->record(record);
  });
  for (const capture::Frame& frame : capture.frames) sharding.frame(lint::tests::view(frame));
  const Totals totals = sharding.finish();
  text->finish(totals);
  json->finish(totals);
  return printed.text();
}

/// The report of one job, which those of two and three are compared with.
std::string same_report(const Capture& capture, const std::string& what,
                        const analyzer::Options& limits = {}) {
  std::string one = report(capture, 1, limits);
  for (const unsigned jobs : {2U, 3U})
    BOOST_TEST((report(capture, jobs, limits) == one), what << " with " << jobs << " jobs");
  return one;
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() != ".json") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

/// Its frames as far as they can be read.
Capture read(const std::filesystem::path& file) {
  constexpr std::size_t most = 10'000;  // a little file may unpack to very much
  Capture read{capture::LinkType::ethernet, {}};
  auto reader = capture::CaptureReader::open(file.string());
  if (!reader) return read;
  read.link = reader->link();
  while (read.frames.size() < most) {
    const auto frame = reader->next();
    if (!frame) break;
    read.frames.push_back({.time = frame->time,
                           .original_length = frame->original_length,
                           .octets = {frame->octets.begin(), frame->octets.end()}});
  }
  return read;
}

/// Connections of which each is idle now and then; `step` is the time from one frame to the next.
template <typename Step>
Capture idle_connections(std::uint16_t connections, int frames, const Step& step) {
  capture::Synthesizer maker;
  std::mt19937 chance(1);
  std::uint64_t now = 1000 * second;
  for (int i = 0; i < frames; ++i) {
    const auto flow = lint::tests::flow(static_cast<std::uint16_t>(1000 + chance() % connections));
    now = step(now, chance);
    if (chance() % 4 == 0)
      maker.opened(flow, now);
    else
      maker.data(chance() % 2 == 0 ? flow : flow.reversed(), now,
                 lint::tests::text("MPA ID Req Frame"));
  }
  return {capture::LinkType::ethernet, maker.frames()};
}

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t times = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++times;
  return times;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(jobs)

BOOST_AUTO_TEST_CASE(captures_of_the_corpus) {
  for (const char* folder : {CORPUS "/samples", CORPUS "/siw", HOSTILE})
    for (const auto& file : files_in(folder)) same_report(read(file), file.string());
}

BOOST_AUTO_TEST_CASE(perturbed_captures) {
  std::uint64_t seed = 1;
  for (const auto& file : files_in(CORPUS "/samples")) {
    Capture capture = Perturbation(seed).of(read(file));
    std::mt19937_64 chance(seed++);
    for (capture::Frame& frame : capture.frames)  // times that no clock has
      if (chance() % 50 == 0) frame.time = chance();
    same_report(capture, file.string() + " perturbed");
  }
}

BOOST_AUTO_TEST_CASE(connections_that_are_idle_for_too_long) {
  const auto report = same_report(idle_connections(200, 4000,
                                                   [](std::uint64_t now, std::mt19937& chance) {
                                                     return now + chance() % (8 * second);
                                                   }),
                                  "idle");
  BOOST_TEST(count(report, "idle for too long") > 500U);
}

BOOST_AUTO_TEST_CASE(an_idle_connection_is_closed_though_no_other_of_its_shard_has_frames) {
  capture::Synthesizer maker;
  maker.data(lint::tests::flow(1000), second, lint::tests::text("MPA"));
  for (std::uint64_t minute = 0; minute < 20; ++minute)
    maker.data(lint::tests::flow(1001), (1 + 60 * minute) * second, lint::tests::text("MPA"));
  const auto report = same_report({capture::LinkType::ethernet, maker.frames()}, "alone");
  BOOST_TEST(count(report, "idle for too long") == 2U);  // as text and as JSON
}

BOOST_AUTO_TEST_CASE(times_that_jump_to_and_fro) {
  same_report(idle_connections(200, 4000,
                               [](std::uint64_t now, std::mt19937& chance) {
                                 const std::uint64_t jump = chance() % (2000 * second);
                                 return chance() % 2 == 0 || now < jump ? now + jump : now - jump;
                               }),
              "to and fro");
}

BOOST_AUTO_TEST_CASE(too_many_connections) {
  analyzer::Options limits;
  limits.connections = 640;
  const auto report = same_report(
      idle_connections(5000, 20'000,
                       [](std::uint64_t now, std::mt19937&) { return now + second / 1000; }),
      "many", limits);
  BOOST_TEST(count(report, "no room for more connections") > 1000U);
}

BOOST_AUTO_TEST_SUITE_END()
