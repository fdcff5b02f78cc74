// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The resource tree: children are released before their parents, and each is released once.
#include <boost/test/unit_test.hpp>
#include <string>

#include "reference_rnic/access/resource_tree.hpp"

using rnic::access::Resource;
using rnic::access::ResourceTree;

namespace {
struct Log {
  std::string text;
  std::function<void()> entry(char name) {
    return [this, name] { text += name; };
  }
};
}  // namespace

BOOST_AUTO_TEST_SUITE(resource_tree)

BOOST_AUTO_TEST_CASE(everything_that_rests_on_it_goes_first_and_the_rest_stays) {
  Log log;
  ResourceTree tree;
  const Resource domain = tree.add(log.entry('d'));
  const Resource queue = tree.add(log.entry('q'));
  const Resource pair = tree.add(log.entry('p'), {domain, queue});
  const Resource region = tree.add(log.entry('r'), {domain});
  const Resource other = tree.add(log.entry('o'));
  BOOST_TEST(tree.has_children(domain));
  BOOST_TEST(tree.release(domain));
  BOOST_TEST(log.text == "rpd");
  BOOST_TEST(!tree.contains(pair));
  BOOST_TEST(!tree.contains(region));
  BOOST_TEST(!tree.has_children(queue));
  BOOST_TEST(!tree.release(domain));
  tree.release_all();
  BOOST_TEST(log.text == "rpdoq");
  BOOST_TEST(!tree.contains(other));
}

BOOST_AUTO_TEST_CASE(what_was_forgotten_is_not_released) {
  Log log;
  {
    ResourceTree tree;
    const Resource domain = tree.add(log.entry('d'));
    const Resource region = tree.add(log.entry('r'), {domain});
    tree.forget(region);
    tree.forget(region);
    BOOST_TEST(!tree.has_children(domain));
  }
  BOOST_TEST(log.text == "d");
}

BOOST_AUTO_TEST_CASE(parents_that_are_gone_or_younger_are_passed_over) {
  Log log;
  ResourceTree tree;
  const Resource gone = tree.add(log.entry('g'));
  tree.release(gone);
  const Resource first = tree.add(log.entry('1'), {gone, Resource::none});
  const Resource second = tree.add(log.entry('2'), {first});
  tree.rest_on(first, second);  // would be a cycle
  tree.release(first);
  BOOST_TEST(log.text == "g21");
}

BOOST_AUTO_TEST_CASE(a_release_may_take_others_along) {
  Log log;
  ResourceTree tree;
  Resource last{};
  const Resource first = tree.add(log.entry('1'));
  const Resource second = tree.add(
      [&] {
        tree.release(last);
        log.text += '2';
      },
      {first});
  last = tree.add(log.entry('3'), {second});
  tree.release_all();
  BOOST_TEST(log.text == "321");
}

BOOST_AUTO_TEST_SUITE_END()
