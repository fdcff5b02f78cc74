// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Replies of failure, with a line that says what was wrong.
#include "suite/upper_tester/reference/replies.hpp"

#include <cerrno>
#include <utility>

#include "suite/upper_tester/reference/translation.hpp"

namespace suite::upper_tester::reference {

iut::Reply failed(int code, std::string why) {
  iut::Reply reply;
  reply.outcome = iut::Outcome::failed;
  reply.code = code;
  reply.error = std::move(why);
  return reply;
}

iut::Reply failed(rnic::verbs::Error error, const std::string& what) {
  return failed(code_of(error), what + ": " + rnic::verbs::name(error));
}

iut::Reply bad_handle(const std::string& kind, iut::Handle handle) {
  return failed(EBADF, kind + " handle " + std::to_string(handle) + " is 0, taken or unknown");
}

}  // namespace suite::upper_tester::reference
