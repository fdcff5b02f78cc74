// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Files of known issues that include others.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "suite/expectations/expectations_file.hpp"

namespace {

using suite::expectations::Known;
using suite::expectations::load;

const std::string entries = R"(entries:
  - case: ddp.a.b
    verdict: fail
    observed: "closed without a Terminate*"
    rule: ddp.tagged.base-or-bounds
    iut: siw-vm
    versions: kernel >= 6.1, kernel < 6.13
    reason: RFC 5041 7.1 demands 1/1/01
    date: 2026-01-31
)";

const Known known{
    .is_case = [](const std::string& id) { return id == "ddp.a.b" || id == "ddp.a.c"; },
    .is_rule = [](const std::string& id) { return id == "ddp.tagged.base-or-bounds"; },
    .current_id = {}};

struct Folder {
  Folder() { std::filesystem::create_directory(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  auto load_with(const std::string& text, const std::string& other = entries) const {
    std::ofstream(path / "siw.yaml") << other;
    std::ofstream(path / "own.yaml") << text;
    return load(path / "own.yaml", known);
  }
  std::string fault_of(const std::string& text, const std::string& other = entries) const {
    const auto loaded = load_with(text, other);
    return loaded ? "none" : loaded.error().front();
  }
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("include_test." + std::to_string(::getpid()));
};

const std::string include = "includes:\n  - file: siw.yaml\n    iut: kverbs-siw-vm\n";

}  // namespace

BOOST_AUTO_TEST_CASE(what_an_included_file_lists_holds_for_the_iut_that_is_named) {
  const Folder folder;
  const auto loaded = folder.load_with("entries: []\n" + include);
  BOOST_REQUIRE(loaded);
  BOOST_REQUIRE(loaded->entries.size() == 1U);
  BOOST_TEST(loaded->entries.front().iut == "kverbs-siw-vm");
  BOOST_TEST(loaded->entries.front().place.ends_with("siw.yaml:2"));
  BOOST_TEST(!loaded->is_private);
  const auto none = folder.load_with("entries: []\n" + include + "    except: [ddp.a.b]\n");
  BOOST_REQUIRE(none);
  BOOST_TEST(none->entries.empty());
}

BOOST_AUTO_TEST_CASE(what_includes_a_private_file_is_private) {
  const auto loaded = Folder().load_with("entries: []\n" + include, entries + "private: true\n");
  BOOST_REQUIRE(loaded);
  BOOST_TEST(loaded->is_private);
}

BOOST_AUTO_TEST_CASE(faults_of_an_include_are_told) {
  const Folder folder;
  const auto tells = [&](const std::string& text, const std::string& fault,
                         const std::string& other = entries) {
    const std::string said = folder.fault_of(text, other);
    BOOST_TEST(said.find(fault) != std::string::npos, said);
  };
  tells("entries: []\n" + include + "    except: [ddp.a.c]\n",
        ":5: siw.yaml lists nothing of case 'ddp.a.c'");
  tells(entries + include, "siw.yaml lists case 'ddp.a.b' too, which has an entry at ");
  tells("entries: []\nincludes:\n  - file: siw.yaml\n", ":3: `iut` is missing");
  tells("entries: []\nincludes:\n  - file: nowhere.yaml\n    iut: x\n",
        "nowhere.yaml: No such file");
  tells("entries: []\n" + include, "a file that is included includes none itself",
        "entries: []\n" + include);
}
