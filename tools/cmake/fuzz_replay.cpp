// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Runs a fuzz target over the files of its corpus, and over every truncation of them, without
// libFuzzer.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

const char* const usage =
    "usage: NAME_replay FOLDER\n"
    "Feeds each file of FOLDER, and each shorter piece of its beginning, to the fuzz target.\n"
    "A broken property ends the program with a signal after its name was printed.\n"
    "example: build/dev/reference_rnic/wire/tests/fuzz_fpdu_replay "
    "reference_rnic/wire/tests/corpus/fpdu\n"
    "exit: 0 all held, 1 no file to replay or one that cannot be read, 2 usage\n";

/// Truncations of large files cost their square; these suffice to reach every header.
constexpr std::size_t longest_truncation = 2048;

bool replay(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> content{std::istreambuf_iterator<char>(file), {}};
  if (file.bad() || !file.is_open()) {
    std::fprintf(stderr, "cannot read %s: check its permissions\n", path.c_str());
    return false;
  }
  const auto feed = [&content](std::size_t size) {
    // A block of its own for each size, so that a sanitizer sees a read past its end.
    const std::vector<std::uint8_t> input(content.begin(),
                                          content.begin() + static_cast<std::ptrdiff_t>(size));
    LLVMFuzzerTestOneInput(input.data(), input.size());
  };
  for (std::size_t size = 0; size < content.size() && size <= longest_truncation; ++size)
    feed(size);
  feed(content.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    std::fputs(usage, stdout);
    return 0;
  }
  if (argc != 2) {
    std::fputs(usage, stderr);
    return 2;
  }
  std::error_code error;
  std::size_t replayed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1], error)) {
    if (!entry.is_regular_file()) continue;
    std::fprintf(stderr, "%s\n", entry.path().filename().c_str());
    if (!replay(entry.path())) return 1;
    ++replayed;
  }
  if (replayed == 0) {
    std::fprintf(stderr, "no file to replay in %s%s%s\n", argv[1], error ? ": " : "",
                 error ? error.message().c_str() : "");
    return 1;
  }
  return 0;
}
