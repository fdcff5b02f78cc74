// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissectors/wireshark/file_analysis.hpp"

namespace dissectors::wireshark {

FileAnalysis::FileAnalysis(const std::set<std::uint16_t>& ports) : ports_(ports) { start(); }

void FileAnalysis::start() {
  store_.forget_numbers();
  analyzer_ = std::make_unique<analyzer::Analyzer>(analyzer::Options{}, store_);
  for (const std::uint16_t port : ports_) analyzer_->treat_as_iwarp(port);
}

const FrameFacts* FileAnalysis::take(capture::LinkType link, base::Bytes frame,
                                     std::uint32_t number, std::uint64_t time) {
  const auto segment = capture::parse_segment(link, frame);
  if (!segment) return nullptr;
  if (!analyzer_) start();
  store_.begin(number, frame);
  analyzer_->segment(*segment, number, time);
  store_.belongs(segment->flow);
  return &store_.latest();
}

const FrameFacts* FileAnalysis::facts(std::uint32_t number, base::Bytes frame) {
  store_.settle();
  return store_.facts(number, frame);
}

void FileAnalysis::conclude() {
  if (!analyzer_) return;
  store_.settle();
  analyzer_->finish();
  store_.settle();
  analyzer_.reset();
}

void FileAnalysis::treat_as_iwarp(std::uint16_t port) {
  if (ports_.insert(port).second && analyzer_) analyzer_->treat_as_iwarp(port);
}

}  // namespace dissectors::wireshark
