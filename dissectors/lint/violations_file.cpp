// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "dissectors/lint/violations_file.hpp"

#include <utility>

#include <fmt/format.h>

#include "dissectors/capture/pcapng_writer.hpp"
#include "dissectors/lint/plain_text.hpp"
#include "dissectors/lint/wording.hpp"

namespace dissectors::lint {

std::expected<ViolationsFile, std::string> ViolationsFile::create(const std::string& path) {
  auto file = OutputFile::open(path);
  if (!file) return std::unexpected(file.error());
  return ViolationsFile(std::move(*file));
}

void ViolationsFile::learn(const Record& record) {
  const auto* violation = std::get_if<Violation>(&record.what);
  if (violation == nullptr) return;
  Comments& comments = comments_[frame_of(record, violation->finding.place)];
  if (comments.texts.size() >= comments_of_frame || count_ >= comments_of_all) {
    ++comments.more;
    return;
  }
  ++count_;
  comments.texts.push_back(plain(describe_violation(*violation)));
}

void ViolationsFile::begin(capture::LinkType link, const std::string& capture_name) {
  file_.write(capture::pcapng_header(
      link, "rnic-lint",
      plain(fmt::format("The frames of {}; violations of the iWARP RFCs are in frame comments. "
                        "Display filter: frame.comment",
                        capture_name))));
}

void ViolationsFile::frame(std::uint32_t number, const capture::FrameView& frame) {
  std::vector<std::string> texts;
  if (const auto found = comments_.find(number); found != comments_.end()) {
    texts = std::move(found->second.texts);
    if (found->second.more > 0)
      texts.push_back(fmt::format("and {} more violations", found->second.more));
  }
  std::vector<std::byte> block;
  capture::append_pcapng_frame(block, frame, texts);
  file_.write(block);
}

std::expected<void, std::string> ViolationsFile::finish() { return file_.close(); }

}  // namespace dissectors::lint
