// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A program of ours as its user meets it: words in, lines and an exit status out, on pipes or on a
// terminal. Nothing here sleeps: a test waits for lines, files and ends, each with a deadline.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file_descriptor.hpp"
#include "base/process.hpp"

namespace suite::runner::tests {

using Words = std::vector<std::string>;

/// What takes longer hangs, however busy the machine.
constexpr std::chrono::seconds usual_time_limit{300};

/// A folder of the test's own, removed with it.
struct Scratch {
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const { return path / name; }
  /// All that is in it, as sorted relative names.
  [[nodiscard]] Words names() const;
  std::filesystem::path path;
};

std::string text_of(const std::filesystem::path& file);
void write(const std::filesystem::path& file, const std::string& text);
/// Writes a shell script that can be run.
void write_script(const std::filesystem::path& file, const std::string& body);
Words lines_of(const std::string& text);

struct Finished {
  int status = 0;  ///< the exit status, or minus the signal
  std::string out, err;
};

class Program {
 public:
  struct Setting {
    std::map<std::string, std::string> environment{};  ///< on top of our own
    std::string input{};                               ///< what it reads, then the end
    bool terminal = false;         ///< both outputs are its own terminal, returned as `err`
    int out_to = -1, err_to = -1;  ///< descriptors for outputs that are not returned
    std::string folder{};          ///< where it starts
  };
  explicit Program(const Words& words) : Program(words, Setting()) {}
  Program(const Words& words, const Setting& setting);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Waits until what it says on standard error holds these words; fails the test if it ends
  /// before, or at the deadline.
  void wait_for(const std::string& words);
  /// Waits until the file is there.
  void wait_for_file(const std::filesystem::path& file);
  /// Fails the test if it ends within that time.
  void goes_on_for(std::chrono::milliseconds time);
  /// Stops reading: its pipes have no reader any more; its terminal, if it has one, hangs up.
  void stop_reading();
  void signal(int number) const;
  /// As Ctrl-C does: to all processes of its group.
  void signal_group(int number) const;
  /// Waits for its end.
  Finished finish();
  /// From here on a wait may take this long in place of the usual limit.
  void allow(std::chrono::seconds time) { time_limit_ = time; }

 private:
  void pump_until(const std::function<bool()>& done, const std::string& what, int also = -1);

  std::chrono::seconds time_limit_ = usual_time_limit;

  std::optional<base::Process> process_;  ///< its end is that of its group
  base::FileDescriptor out_, err_;
  Finished said_;
};

/// A descriptor of a file, closed with it.
base::FileDescriptor opened(const std::filesystem::path& file, int flags);

/// Runs it to its end.
Finished run(const Words& words, const Program::Setting& setting = {});

/// Takes over all orphans of the programs that are started from now on, so that those are seen.
void adopt_orphans();
/// Whether no process that a program started still exists, not even as a zombie.
bool nobody_left();
/// The same, for what ends by itself when a program was killed.
bool everybody_leaves();

}  // namespace suite::runner::tests
