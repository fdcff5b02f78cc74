// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/upper_tester/waiting_work.hpp"

#include <cerrno>
#include <utility>

#include "suite/upper_tester/common_replies.hpp"

namespace suite::upper_tester {

namespace {

bool is_bind(const iut::PostWork& command) {
  return command.operation == iut::operation::bind_window;
}

iut::CompletionEvent completion(const iut::PostWork& command, const char* status) {
  iut::CompletionEvent reported;
  reported.endpoint = command.endpoint;
  reported.work = command.work;
  reported.operation = command.operation;
  reported.status = status;
  return reported;
}

}  // namespace

void WaitingWork::post(const std::function<iut::Reply(const iut::PostWork&)>& run,
                       const Sink& emit) {
  for (const One& each : std::exchange(list_, {})) {
    iut::Reply reply = run(each.command);
    reply.command = each.number;
    if (is_bind(each.command))
      emit(reply);
    else if (reply.outcome != iut::Outcome::ok)
      emit(completion(each.command, "local_operation"));
  }
}

void WaitingWork::give_up(const Sink& emit) {
  for (const One& each : std::exchange(list_, {})) {
    if (!is_bind(each.command)) {
      emit(completion(each.command, "flushed"));
      continue;
    }
    iut::Reply reply = refused("the connection did not come up", ENOTCONN);
    reply.command = each.number;
    emit(reply);
  }
}

}  // namespace suite::upper_tester
