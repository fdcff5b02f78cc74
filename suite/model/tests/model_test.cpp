// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/model/model.hpp"

#include <boost/test/unit_test.hpp>

using namespace suite;
using namespace suite::model;

BOOST_AUTO_TEST_CASE(a_completion_is_admitted_once_its_octets_are_seen) {
  constexpr iut::Handle endpoint = 1;
  Model model;
  model.add_stream({.endpoint = endpoint, .depths = {}, .responder = false});
  iut::PostWork post;
  post.endpoint = endpoint;
  post.work = 1;
  post.operation = iut::operation::write;
  post.remote_stag = 7;
  model.command(post, {});
  iut::CompletionEvent done;
  done.endpoint = endpoint;
  done.work = 1;
  done.operation = iut::operation::write;
  done.status = "success";
  BOOST_TEST(!model.admits(done));
  const SeenMessage write{
      .opcode = rnic::wire::Opcode::rdma_write, .tagged = true, .stag = 7, .payload = {}};
  BOOST_TEST(!model.saw(0, write, "the Write"));
  BOOST_TEST(model.admits(done));
  BOOST_TEST(!model.saw(done, "its completion"));
  BOOST_TEST(!model.admits(done));
}

BOOST_AUTO_TEST_CASE(a_terminate_with_the_code_of_an_error_is_judged_by_the_rules_of_that_error) {
  Model model;
  model.add_stream({.depths = {}, .rtr = rnic::wire::Opcode::rdma_write});
  rnic::wire::TaggedHeader header;
  header.rdmap = rnic::wire::RdmapControl::make(rnic::wire::Opcode::rdma_write, 0);
  const auto octets = rnic::wire::octets_of(header);
  SentSegment version_zero;
  version_zero.ulpdu.assign(octets.begin(), octets.end());
  model.sent(0, version_zero);
  SeenMessage terminate{.opcode = rnic::wire::Opcode::terminate, .payload = {}};
  terminate.cause = rnic::wire::TerminateCause{2, 0, 5};
  const auto finding = model.saw(0, terminate, "2/0/05");
  BOOST_REQUIRE(finding.has_value());
  BOOST_TEST(finding->rules.front().id == "rdmap.error.version-validated");
}
