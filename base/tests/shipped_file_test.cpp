// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "base/shipped_file.hpp"

#include <unistd.h>

#include <fstream>

#include <boost/test/unit_test.hpp>

namespace fs = std::filesystem;

namespace {

// A source tree, a build folder of it and a prefix, all empty but for what a test makes.
struct TreesFixture {
  fs::path root = fs::temp_directory_path() / ("shipped_file_test." + std::to_string(::getpid()));
  base::ShippedPlaces places{.sources = root / "sources",
                             .build = root / "build",
                             .program = root / "prefix/bin/rnic-suite"};
  TreesFixture() { fs::create_directories(root); }
  ~TreesFixture() { fs::remove_all(root); }
  void make_folder(const char* path) const { fs::create_directories(root / path); }
  void make_file(const char* path) const {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << "\n";
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_file_is_found_in_the_sources_of_this_build) {
  BOOST_TEST(fs::exists(base::shipped_file("suite/expectations/siw-vm.yaml")));
  BOOST_TEST(!base::shipped_files_fault());
}

BOOST_FIXTURE_TEST_CASE(a_program_in_a_build_folder_knows_its_sources, TreesFixture) {
  make_file("build/suite/runner/rnic-suite");
  std::ofstream(root / "build/source_folder.txt") << (root / "sources").string() << "\n";
  const auto found = base::places_around(root / "build/suite/runner/rnic-suite");
  BOOST_TEST(found.sources == root / "sources");
  BOOST_TEST(found.build == root / "build");
  const auto elsewhere = base::places_around(root / "prefix/bin/rnic-suite");
  BOOST_TEST(elsewhere.sources == "");
  BOOST_TEST(elsewhere.build == "");
  BOOST_TEST(base::shipped_file("a", elsewhere) == root / "prefix/share/rnic-suite/a");
}

BOOST_FIXTURE_TEST_CASE(a_program_that_is_not_installed_uses_its_source_tree, TreesFixture) {
  make_folder("sources/suite/expectations");
  BOOST_TEST(base::shipped_file("a/b.yaml", places) == root / "sources/a/b.yaml");
  BOOST_TEST(base::built_file("a/b.json", places) == root / "build/a/b.json");
  BOOST_TEST(base::built_program("a/rnic-agent", places) == root / "build/a/rnic-agent");
  BOOST_TEST(!base::shipped_files_fault(places));
}

BOOST_FIXTURE_TEST_CASE(an_installed_program_uses_its_own_prefix, TreesFixture) {
  make_folder("sources/suite/expectations");
  make_folder("prefix/share/rnic-suite/suite/expectations");
  make_file("prefix/lib/rnic-suite/librnic_dat.so");
  BOOST_TEST(base::shipped_file("a/b.yaml", places) == root / "prefix/share/rnic-suite/a/b.yaml");
  BOOST_TEST(base::built_file("a/b.json", places) == root / "prefix/share/rnic-suite/a/b.json");
  BOOST_TEST(base::built_program("a/rnic-agent", places) == root / "prefix/bin/rnic-agent");
  BOOST_TEST(base::built_program("a/librnic_dat.so", places) ==
             root / "prefix/lib/rnic-suite/librnic_dat.so");
  BOOST_TEST(!base::shipped_files_fault(places));
}

BOOST_FIXTURE_TEST_CASE(without_either_the_fault_names_both, TreesFixture) {
  const auto fault = base::shipped_files_fault(places);
  BOOST_REQUIRE(fault);
  BOOST_TEST(fault->contains((root / "prefix/share/rnic-suite").string()));
  BOOST_TEST(fault->contains((root / "sources").string()));
}

BOOST_FIXTURE_TEST_CASE(an_installation_without_known_issues_is_faulty, TreesFixture) {
  make_folder("prefix/share/rnic-suite/rules");
  BOOST_TEST(base::shipped_files_fault(places).has_value());
}

BOOST_FIXTURE_TEST_CASE(a_command_is_named_as_it_can_be_typed, TreesFixture) {
  make_folder("sources");
  make_file("links/rnic-lab");
  const auto typed = [&](const char* path, const std::string& started_as) {
    return base::typed_command(path, started_as, places);
  };
  BOOST_TEST(typed("suite/lab/rnic-lab", "rnic-suite") == "rnic-lab");
  const std::string beside = (root / "links/rnic-suite").string();
  BOOST_TEST(typed("suite/lab/rnic-lab", beside) == root / "links/rnic-lab");
  BOOST_TEST(typed("suite/lab/rnic-lab", "bin/rnic-suite") == root / "build/suite/lab/rnic-lab");
}
