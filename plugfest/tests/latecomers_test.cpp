// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Who comes to an event while it is played.
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "plugfest/latecomers.hpp"

namespace plugfest {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "latecomers_test.XXXXXX").string();
    BOOST_REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path = pattern;
    fs::create_directory(path / "joined");
    write("event.yaml",
          "event: e\nscenarios: [x]\njoin: joined\nparticipants:\n" + entry("a") + entry("b"));
  }
  ~Folder() { fs::remove_all(path); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
  }
  static std::string entry(const std::string& name) {
    return "  - {name: " + name + ", agent: {reference: }}\n";
  }
  [[nodiscard]] std::expected<Event, Faults> read() const {
    static constexpr std::string_view names[] = {"x"};
    return load_event(path / "event.yaml", {.trust = false, .scenarios = names});
  }
  [[nodiscard]] Latecomers latecomers() {
    return {path / "event.yaml", read().value(), [this] { return ++readings, read(); },
            [this](const std::string& line) { told.push_back(line); }};
  }

  fs::path path;
  int readings = 0;
  std::vector<std::string> told;
};

BOOST_AUTO_TEST_SUITE(late)

BOOST_AUTO_TEST_CASE(nobody_comes) {
  Folder folder;
  auto late = folder.latecomers();
  for (int question = 0; question < 3; ++question) BOOST_TEST(!late.have_come());
  BOOST_TEST(folder.readings == 1);  // what has not changed is not read again
  BOOST_TEST(folder.told.empty());
}

BOOST_AUTO_TEST_CASE(one_comes_and_then_another) {
  Folder folder;
  auto late = folder.latecomers();
  BOOST_TEST(!late.have_come());
  folder.write("joined/c.yaml", "{name: c, agent: {reference: }}");
  BOOST_TEST(late.have_come());
  BOOST_TEST(late.have_come());  // until it is taken
  BOOST_TEST(late.take().participants.size() == 3);
  BOOST_TEST(!late.have_come());
  folder.write("joined/d.yaml", "{name: d, agent: {reference: }}");
  BOOST_TEST(late.have_come());
  BOOST_TEST(late.take().participants.back().name == "d");
}

BOOST_AUTO_TEST_CASE(the_event_file_itself_may_have_one_more) {
  Folder folder;
  auto late = folder.latecomers();
  std::ofstream(folder.path / "event.yaml", std::ios::app) << Folder::entry("c");
  BOOST_TEST(late.have_come());
  BOOST_TEST(late.take().participants.size() == 3);
}

BOOST_AUTO_TEST_CASE(a_file_with_a_fault_is_told_once_and_taken_when_it_is_mended) {
  Folder folder;
  auto late = folder.latecomers();
  folder.write("joined/c.yaml", "{name: 'c c', agent: {reference: }}");
  for (int question = 0; question < 3; ++question) BOOST_TEST(!late.have_come());
  BOOST_REQUIRE(folder.told.size() == 1);
  BOOST_TEST(folder.told.front().find("c.yaml:1: name must be made of") != std::string::npos);
  folder.write("joined/c.yaml", "{name: cc, agent: {reference: }}");
  BOOST_TEST(late.have_come());
  BOOST_TEST(folder.told.size() == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace plugfest
