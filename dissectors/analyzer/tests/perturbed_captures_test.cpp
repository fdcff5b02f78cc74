// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A property: whatever a capture loses, repeats, cuts, damages or brings in another order, the analyzer
// is certain of nothing that the whole capture does not show.
//
//   dissectors_perturbed_captures_test -- 10000     with so many seeds for each capture of the corpus
#define BOOST_TEST_MODULE perturbed_captures
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "dissectors/analyzer/analyzer.hpp"
#include "dissectors/capture/capture_reader.hpp"

namespace dissectors::analyzer::tests {

namespace {

using capture::Frame;

struct Capture {
  capture::LinkType link{};
  std::vector<Frame> frames;
};

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

/// One capture made worse in a way that its seed names.
class Perturbation {
 public:
  explicit Perturbation(std::uint64_t seed) : chance_(seed) {}

  Capture of(Capture capture) {
    if (one_in(3)) lose(capture, std::vector{0.005, 0.02, 0.1}[below(3)]);
    if (one_in(3)) repeat(capture);
    if (one_in(3)) merge_taps(capture);
    if (one_in(4)) exchange(capture);
    if (one_in(4)) capture.frames.erase(capture.frames.begin(), at(capture, below(30)));
    if (one_in(6))
      capture.frames.erase(at(capture, capture.frames.size() - below(30)), capture.frames.end());
    // A frame that the capture cut does not show that it was damaged.
    if (one_in(3))
      damage(capture);
    else if (one_in(5))
      cut(capture, 54 + below(1500));
    return capture;
  }

 private:
  static constexpr std::uint64_t microsecond = 1000;

  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(chance_);
  }
  bool one_in(std::size_t times) { return below(times) == 0; }
  bool by(double probability) { return std::bernoulli_distribution(probability)(chance_); }
  static std::vector<Frame>::iterator at(Capture& capture, std::size_t index) {
    return capture.frames.begin() +
           static_cast<std::ptrdiff_t>(std::min(index, capture.frames.size()));
  }

  void lose(Capture& capture, double probability) {
    std::erase_if(capture.frames, [&](const Frame&) { return by(probability); });
  }
  void repeat(Capture& capture) {
    for (std::size_t index = 0; index < capture.frames.size(); ++index)
      if (by(0.03)) {
        const Frame again = capture.frames[index];
        capture.frames.insert(at(capture, index + 1 + below(20)), again);
      }
  }
  /// Damaged on its way, and sent once more. Of a direction whose first segment has a wrong checksum
  /// it is not known whether its host leaves checksums to its adapter.
  void damage(Capture& capture) {
    std::set<capture::Flow> begun;
    for (std::size_t index = 0; index < capture.frames.size(); ++index) {
      const auto segment = capture::parse_segment(capture.link, capture.frames[index].octets);
      if (!segment || begun.insert(segment->flow).second || segment->payload.empty() || !by(0.02) ||
          capture::check_checksum(*segment) != capture::Checksum::right)
        continue;
      const Frame whole = capture.frames[index];
      auto& octets = capture.frames[index].octets;
      const auto begin = static_cast<std::size_t>(segment->payload.data() - octets.data());
      octets[begin + below(segment->payload.size())] ^= static_cast<std::byte>(1U << below(8));
      capture.frames.insert(at(capture, index + 1 + below(10)), whole);
    }
  }
  /// Of two taps one is late, by less than the analyzer waits.
  void merge_taps(Capture& capture) {
    const std::uint64_t late = (1 + below(2000)) * microsecond;
    const bool first = one_in(2);
    for (Frame& frame : capture.frames) {
      const auto segment = capture::parse_segment(capture.link, frame.octets);
      if (segment && (segment->flow.from < segment->flow.to) == first) frame.time += late;
    }
    std::ranges::stable_sort(capture.frames, {}, &Frame::time);
  }
  void exchange(Capture& capture) {
    for (std::size_t index = 1; index < capture.frames.size(); ++index)
      if (by(0.05)) std::swap(capture.frames[index - 1], capture.frames[index]);
  }
  static void cut(Capture& capture, std::size_t snapshot) {
    for (Frame& frame : capture.frames)
      if (frame.octets.size() > snapshot) frame.octets.resize(snapshot);
  }

  std::mt19937_64 chance_;
};

std::vector<std::filesystem::path> corpus() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"samples", "siw"})
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(CORPUS) / folder))
      if (entry.path().extension() == ".gz") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

std::uint64_t seeds_asked_for() {
  const auto& suite = boost::unit_test::framework::master_test_suite();
  return suite.argc > 1 ? std::stoull(suite.argv[1]) : 15;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_certain_stays_within_what_the_whole_capture_shows) {
  const auto files = corpus();
  BOOST_TEST(files.size() > 30U);
  std::size_t certain = 0;
  for (const auto& file : files) {
    const Capture whole = read(file);
    const CertainFindings expected = judge(whole);
    for (std::uint64_t seed = 1; seed <= seeds_asked_for(); ++seed) {
      const CertainFindings found = judge(Perturbation(seed).of(whole));
      certain += found.all.size();
      const std::string beyond = found.beyond(expected);
      BOOST_TEST(beyond.empty(), file.filename() << ", seed " << seed << ":\n" << beyond);
    }
  }
  BOOST_TEST(certain > 0U);
}

}  // namespace dissectors::analyzer::tests
