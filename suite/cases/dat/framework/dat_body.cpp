// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/dat/framework/dat_body.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "suite/cases/dat/framework/dat_case.hpp"

namespace suite::cases::dat {

namespace {

bool is_missing(DAT_RETURN got) {
  return DAT_GET_TYPE(got) == DAT_NOT_IMPLEMENTED || DAT_GET_TYPE(got) == DAT_MODEL_NOT_SUPPORTED;
}

bool holds(const std::vector<DAT_RETURN_TYPE>& types, DAT_RETURN got) {
  // A failure that lacks its class bit is still recognised by its type; the text says so.
  return std::ranges::any_of(types, [got](DAT_RETURN_TYPE type) {
    return DAT_GET_TYPE(got) == static_cast<DAT_RETURN>(type);
  });
}

}  // namespace

DatBody::DatBody(DatContext& context) : Judging(context.one.row.rules, made_), context_(context) {}

Ia& DatBody::ia() {
  if (!ia_) ia_ = std::make_unique<Ia>(context_.target);
  return *ia_;
}

Pair DatBody::connected(const PairOptions& options) { return connect_pair(ia(), options); }

void DatBody::expect(DAT_RETURN got, const Returns& wanted, RuleRef rule) {
  std::vector<std::string> admissible;
  for (const DAT_RETURN_TYPE type : wanted.types)
    admissible.push_back(type_text(static_cast<DAT_RETURN>(type)));
  const std::string call = call_that_returned(got);
  const std::string actual = call.empty() ? return_text(got) : call + ": " + return_text(got);
  if (holds(wanted.types, got)) return record(rule, admissible, actual, Judgement::pass);
  if (holds(wanted.tolerated, got)) return record(rule, admissible, actual, Judgement::advisory);
  if (is_missing(got))
    stop(Verdict::not_applicable, "the provider does not have the call: " + actual);
  record(rule, admissible, actual, Judgement::fail);
}

DAT_EVENT DatBody::expect_event(const Evd& evd, DAT_EVENT_NUMBER number, RuleRef rule) {
  const DAT_EVENT event = next_event(evd);
  record(rule, {event_text(number)}, event_text(event.event_number),
         event.event_number == number ? Judgement::pass : Judgement::fail);
  return event;
}

DAT_DTO_COMPLETION_EVENT_DATA DatBody::expect_completion(const Evd& evd, DAT_UINT64 cookie,
                                                         DAT_DTO_COMPLETION_STATUS status,
                                                         RuleRef rule) {
  const auto data =
      expect_event(evd, DAT_DTO_COMPLETION_EVENT, rule).event_data.dto_completion_event_data;
  const auto text = [](DAT_UINT64 id, DAT_DTO_COMPLETION_STATUS how) {
    return fmt::format("completion {}: {}", id, status_text(how));
  };
  record(rule, {text(cookie, status)}, text(data.user_cookie.as_64, data.status),
         data.user_cookie.as_64 == cookie && data.status == status ? Judgement::pass
                                                                   : Judgement::fail);
  return data;
}

void DatBody::expect_no_event(const Evd& evd, RuleRef rule) {
  DAT_EVENT event{};
  const DAT_RETURN got = CALL(dat_evd_dequeue, evd.get(), &event);
  const bool empty = DAT_GET_TYPE(got) == DAT_QUEUE_EMPTY;
  record(rule, {"no event"}, empty ? "no event" : event_text(event.event_number),
         empty ? Judgement::pass : Judgement::fail);
}

void DatBody::expect_state(const Ep& ep, DAT_EP_STATE state, RuleRef rule) {
  DAT_EP_STATE got{};
  DAT_BOOLEAN receives_idle{}, requests_idle{};
  need(CALL(dat_ep_get_status, ep.get(), &got, &receives_idle, &requests_idle), "no EP status");
  record(rule, {state_text(state)}, state_text(got),
         got == state ? Judgement::pass : Judgement::fail);
}

void DatBody::row(const std::string& name, const std::function<void()>& body) {
  context_.report.step("row: " + name);
  Ruling ruling = rule_on_row(name, body);
  context_.report.row_ended(
      {name, ruling.verdict, std::move(ruling.reason), std::move(ruling.lack)});
}

void DatBody::need(DAT_RETURN got, std::string_view what) const {
  static_cast<void>(call_that_returned(got));  // so that it is not taken for another call
  if (got != DAT_SUCCESS)
    stop(Verdict::inconclusive, fmt::format("{}: {}", what, return_text(got)));
}

}  // namespace suite::cases::dat
