// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Permissions of DDP segments and RDMAP messages: what is accepted, and in which order messages are
// sent (RFC 5041 section 7.1, RFC 5040 sections 4.1 and 5.5, RFC 7306).
#include "reference_rnic/lawful/table.hpp"

namespace rnic::lawful {
namespace {

using stream::Choice;
using stream::Decisions;
using stream::FenceState;
using stream::Incoming;

struct HeldWithoutBuffer : Decisions {
  void held_without_buffer(const Choice<bool>&, bool& held) override { held = true; }
};

struct TakesVersionZero : Decisions {
  void checks(const Incoming&, const Choice<bool>& choice, bool& made) override {
    if (choice.by.id == "rdmap.header.version-zero-admissible") made = false;
  }
};

struct ResponsesUncompared : Decisions {
  void checks(const Incoming&, const Choice<bool>& choice, bool& made) override {
    if (choice.by.id == "rdmap.read.response-validated-by-sink") made = false;
  }
};

struct WithoutExtensions : Decisions {
  void has_extensions(const Choice<bool>&, bool& supported) override { supported = false; }
};

struct WorkHeldBehindResponses : Decisions {
  void fence(const FenceState&, const Choice<bool>& choice, bool& waits) override {
    if (permits(choice, true)) waits = true;
  }
};

struct ResponsesFirst : Decisions {
  void responses_first(const Choice<bool>&, bool& first) override { first = true; }
};

struct PostedWorkFirst : Decisions {
  void responses_first(const Choice<bool>&, bool& first) override { first = false; }
};

struct PendingWorkNotSent : Decisions {
  void sends_before_close(const Choice<bool>&, bool& sends) override { sends = false; }
};

constexpr Row<Decisions> rows[] = {
    row<Decisions, HeldWithoutBuffer>(Lawful::held_without_buffer),
    row<Decisions, TakesVersionZero>(Lawful::takes_version_zero),
    row<Decisions, ResponsesUncompared>(Lawful::responses_uncompared),
    row<Decisions, WithoutExtensions>(Lawful::without_extensions),
    row<Decisions, WorkHeldBehindResponses>(Lawful::work_held_behind_responses),
    row<Decisions, ResponsesFirst>(Lawful::responses_first),
    row<Decisions, PostedWorkFirst>(Lawful::posted_work_first),
    row<Decisions, PendingWorkNotSent>(Lawful::pending_work_not_sent),
};

}  // namespace

std::span<const Row<stream::Decisions>> message_variants() { return rows; }

}  // namespace rnic::lawful
