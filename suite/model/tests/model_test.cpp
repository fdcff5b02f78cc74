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
