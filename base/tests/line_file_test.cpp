// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Files of lines that survive a kill.
#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/line_file.hpp"

namespace fs = std::filesystem;

namespace {

struct Scratch {
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "line_file_test.XXXXXX").string();
    BOOST_REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    folder = pattern;
    file = folder / "lines";
  }
  ~Scratch() { fs::remove_all(folder); }

  base::FileDescriptor open() const {
    return base::FileDescriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  }
  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(file).rdbuf();
    return all.str();
  }

  fs::path folder, file;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(line_file, Scratch)

BOOST_AUTO_TEST_CASE(a_torn_line_is_cut_off_and_others_follow) {
  std::ofstream(file) << "one\ntw";
  base::LineFile lines(open(), 4);
  BOOST_TEST(lines.begin() == 0);
  BOOST_TEST(lines.append("two") == 0);
  BOOST_TEST(lines.append("three") == 0);
  BOOST_TEST(lines.sync() == 0);
  BOOST_TEST(text() == "one\ntwo\nthree\n");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_written_is_a_fault) {
  const base::FileDescriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  BOOST_TEST(base::write_all(full.get(), "x") == ENOSPC);
  base::LineFile nowhere;
  BOOST_TEST(nowhere.append("x") == EBADF);
}

BOOST_AUTO_TEST_CASE(a_file_is_replaced_whole_or_not_at_all) {
  BOOST_TEST(base::replace_file(file, "first") == 0);
  BOOST_TEST(base::replace_file(file, "second") == 0);
  BOOST_TEST(text() == "second");
  BOOST_TEST(base::replace_file(folder / "none" / "lines", "x") == ENOENT);
  {
    base::Replacement unfinished(file);
    unfinished.append("third");
  }
  BOOST_TEST(text() == "second");
  base::Replacement pieces(file);
  const std::string piece(700'000, 'x');
  for (int at = 0; at < 3; ++at) pieces.append(piece);
  BOOST_TEST(text() == "second");
  BOOST_TEST(pieces.commit() == 0);
  BOOST_TEST((text() == piece + piece + piece));
  BOOST_TEST(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 1);
}

BOOST_AUTO_TEST_SUITE_END()
