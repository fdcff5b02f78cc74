// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissectors/wireshark/columns.hpp"

#include "dissectors/wireshark/tree.hpp"
#include "reference_rnic/wire/notation.hpp"

namespace dissectors::wireshark {

namespace {

// More do not fit in a line.
constexpr std::size_t listed = 8;

analyzer::Bytes octets_of(const Canvas& canvas, const KeptOctets& kept) {
  if (!kept.in_frame) return kept.copy;
  return Sketch(nullptr, canvas.frame, static_cast<int>(kept.offset), static_cast<int>(kept.length))
      .bytes();
}

class Line {
 public:
  void add(const std::string& text) {
    if (++count_ > listed) return;
    text_ += (text_.empty() ? "" : "; ") + text;
  }
  [[nodiscard]] std::string text() const {
    return count_ > listed ? text_ + "; and " + std::to_string(count_ - listed) + " more" : text_;
  }

 private:
  std::string text_;
  std::size_t count_ = 0;
};

std::string described(const Canvas& canvas, const FrameFacts& facts) {
  const Events& events = *facts.events;
  Line line;
  for (const MpaFrameFact& fact : events.mpa_frames)
    line.add(summary_of(octets_of(canvas, fact.octets), fact));
  for (const FpduFact& fact : facts.fpdus)
    line.add(analyzer::describe_ulpdu(octets_of(canvas, fact.ulpdu), fact.ulpdu_length));
  std::string text = line.text();
  Line broken;
  for (const Finding& finding : events.findings) broken.add(std::string(finding.rule));
  if (!events.findings.empty()) text += " [breaks " + broken.text() + "]";
  return text;
}

}  // namespace

void show_columns(const Canvas& canvas, const FrameFacts& facts) {
  const Events& events = *facts.events;
  column_info* columns = canvas.packet->cinfo;
  if (columns == nullptr || !col_get_writable(columns, COL_INFO)) return;
  if (events.mpa_frames.empty() && facts.fpdus.empty()) {
    for (const Finding& finding : events.findings)
      col_append_fstr(columns, COL_INFO, " [breaks %s]", std::string(finding.rule).c_str());
    return;
  }
  col_set_str(columns, COL_PROTOCOL, "iWARP");
  col_add_str(columns, COL_INFO, described(canvas, facts).c_str());
}

}  // namespace dissectors::wireshark
