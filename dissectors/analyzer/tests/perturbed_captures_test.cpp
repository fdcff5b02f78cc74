// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A property: whatever a capture loses, repeats, cuts, damages or brings in another order, the analyzer
// is certain of nothing that the whole capture does not show.
//
//   dissectors_perturbed_captures_test -- 10000          so many seeds for each capture of the corpus
//   dissectors_perturbed_captures_test -- 1 SEED FOLDER  this one; captures that fail go to FOLDER
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "dissectors/analyzer/analyzer.hpp"
#include "dissectors/analyzer/tests/perturbation.hpp"
#include "dissectors/capture/capture_reader.hpp"
#include "dissectors/capture/pcap_file.hpp"

namespace dissectors::analyzer::tests {

namespace {

using capture::Frame;

Capture read(const std::filesystem::path& file) {
  auto reader = capture::CaptureReader::open(file.string());
  BOOST_REQUIRE_MESSAGE(reader, file);
  Capture read{reader->link(), {}};
  while (const auto frame = reader->next())
    read.frames.push_back({.time = frame->time,
                           .original_length = frame->original_length,
                           .octets = {frame->octets.begin(), frame->octets.end()}});
  return read;
}

/// Rule and sender of each certain finding, with one of its texts: offsets change where the beginning
/// is lost, and what breaks one rule after another segment may break another rule by itself.
struct CertainFindings final : Sink {
  void finding(const Connection& connection, const Finding& found) override {
    if (found.certainty != Certainty::certain) return;
    const auto from = found.place.direction;
    const std::string ends =
        connection.sender(from).text() + " > " + connection.sender(opposite(from)).text() + " ";
    texts.insert(ends + found.actual);
    all.emplace(ends + std::string(found.rule.id), ends + found.actual);
    for (const rules::RuleId rule : found.also)
      all.emplace(ends + std::string(rule.id), ends + found.actual);
  }
  /// What is not in `other`, line by line.
  [[nodiscard]] std::string beyond(const CertainFindings& other) const {
    std::string lines;
    for (const auto& [rule, text] : all)
      if (!other.all.contains(rule) && !other.texts.contains(text))
        lines += rule + ": " + text + "\n";
    return lines;
  }
  std::map<std::string, std::string> all;
  std::set<std::string> texts;
};

CertainFindings judge(const Capture& capture) {
  CertainFindings sink;
  Analyzer analyzer({}, sink);
  std::uint32_t number = 0;
  for (const Frame& frame : capture.frames) {
    ++number;
    if (const auto segment = capture::parse_segment(capture.link, frame.octets))
      analyzer.segment(*segment, number, frame.time);
  }
  analyzer.finish();
  return sink;
}

std::vector<std::filesystem::path> corpus() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"samples", "siw"})
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(CORPUS) / folder))
      if (entry.path().extension() == ".gz") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

struct Seeds {
  std::vector<std::uint64_t> all;
  std::filesystem::path folder;  ///< for captures that fail; empty: they are not kept
};

/// Without arguments: a few that are always the same, and one that is not.
Seeds seeds_asked_for() {
  const auto& suite = boost::unit_test::framework::master_test_suite();
  const std::uint64_t count = suite.argc > 1 ? std::stoull(suite.argv[1]) : 200;
  const std::uint64_t first = suite.argc > 2 ? std::stoull(suite.argv[2]) : 1;
  Seeds seeds;
  for (std::uint64_t seed = first; seed < first + count; ++seed) seeds.all.push_back(seed);
  if (suite.argc > 3) seeds.folder = suite.argv[3];
  if (suite.argc > 1) return seeds;
  seeds.all.push_back(std::random_device()());
  std::cout << "fresh seed " << seeds.all.back() << "; again: -- 1 " << seeds.all.back() << "\n";
  return seeds;
}

void keep(const Capture& capture, const std::filesystem::path& file) {
  const auto octets = capture::pcap_file(capture.link, capture.frames);
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(octets.data()), std::ssize(octets));
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_certain_stays_within_what_the_whole_capture_shows) {
  const auto files = corpus();
  BOOST_TEST(files.size() > 30U);
  const Seeds seeds = seeds_asked_for();
  std::size_t certain = 0;
  for (const auto& file : files) {
    const Capture whole = read(file);
    const CertainFindings expected = judge(whole);
    for (const std::uint64_t seed : seeds.all) {
      Perturbation perturbation(seed);
      const Capture perturbed = perturbation.of(whole);
      const CertainFindings found = judge(perturbed);
      certain += found.all.size();
      const std::string beyond = found.beyond(expected);
      BOOST_TEST(beyond.empty(), file.filename()
                                     << ", seed " << seed << " (" << perturbation.steps() << "):\n"
                                     << beyond);
      if (!beyond.empty() && !seeds.folder.empty())
        keep(perturbed,
             seeds.folder / (file.stem().stem().string() + "." + std::to_string(seed) + ".pcap"));
    }
  }
  BOOST_TEST(certain > 0U);
}

}  // namespace dissectors::analyzer::tests
