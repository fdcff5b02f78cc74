// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Binds that an IUT should refuse.
#pragma once

#include "suite/cases/framework/conformance_case.hpp"

namespace suite::cases {

/// Binds a window for Reads of the peer to this piece, and has the peer read an octet of it. Not to
/// bind it is as good as not to answer: what is judged is whether the octet comes.
inline void expect_not_opened(Body& body, const iut::Piece& piece, std::uint64_t octet,
                              RuleRef rule) {
  const iut::Handle window = body.iut.new_handle();
  const iut::Reply allocated = body.iut.call(iut::AllocateWindow{window, 0}, "allocate a window");
  iut::PostWork bind;
  bind.operation = iut::operation::bind_window;
  bind.pieces = {piece};
  bind.window = window;
  bind.window_access = {.remote_read = true};
  const Attempt bound = body.iut.try_post(bind);
  const std::uint32_t stag = bound.reply.stag.value_or(allocated.stag.value_or(0));
  std::string came = "the bind is refused";
  bool opened = false;
  if (bound.taken()) {
    body.watch();
    body.peer.send(read_of(stag, octet, 1));
    const Arrival answer = body.peer.ready().next(body.context().deadline);
    opened = answer.message(Opcode::read_response) != nullptr;
    came = answer.text();
  }
  body.expect_that(!opened, "the bind or the peer's Read refused", came, rule);
}

}  // namespace suite::cases
