// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Any octets as a capture file: unpacked, read, analyzed and reported on.
#include <cstdint>
#include <cstdlib>

#include "dissectors/capture/capture_reader.hpp"
#include "dissectors/lint/report.hpp"
#include "dissectors/lint/sharding.hpp"
#include "reference_rnic/wire/tests/fuzz.hpp"

using namespace dissectors;
using rnic::wire::test::require;

namespace {

// The report so far: it must have only printable ASCII and line ends.
class Output {
 public:
  Output() : file_(::open_memstream(&text_, &size_)) {}
  ~Output() {
    std::fclose(file_);
    for (std::size_t i = 0; i < size_; ++i)
      require((text_[i] >= ' ' && text_[i] <= '~') || text_[i] == '\n', "output is harmless");
    std::free(text_);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  [[nodiscard]] std::FILE* file() const { return file_; }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* file_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = rnic::wire::test::fuzz_input(data, size);
  auto reader = capture::CaptureReader::read_from(
      capture::unpacked(capture::octets_in_memory(input)), "the input");
  if (!reader) {
    require(reader.error().find('\n') == std::string::npos, "an error is one line");
    return 0;
  }
  const Output text, json;
  const auto for_people = lint::text_report(text.file(), {});
  const auto for_programs = lint::json_report(json.file(), false);
  lint::ShardingOptions options;
  options.collector.messages = true;
  std::uint32_t last = 0;
  lint::Sharding sharding(reader->link(), options, [&](lint::Record&& record) {
    require(record.frame >= last, "records come in the order of frames");
    last = record.frame;
    for_people->record(record);
    for_programs->record(record);
  });
  // A little input may unpack to very much.
  while (reader->frames() < 10'000) {
    const auto frame = reader->next();
    if (!frame) break;
    sharding.frame(*frame);
  }
  auto totals = sharding.finish();
  require(totals.frames.frames == reader->frames(), "every frame is counted");
  require(totals.iwarp_connections <= totals.connections, "of connections some are iWARP");
  totals.tear = reader->tear();
  require(!totals.tear || totals.tear->frames == reader->frames(), "a tear is after all frames");
  for_people->finish(totals);
  for_programs->finish(totals);
  return 0;
}
