// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/lower_tester/expected.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace suite::lower_tester {

Judgement Expected::judge(const Arrival& arrival) const {
  const auto found = std::ranges::find_if(
      alternatives_, [&](const Alternative& alternative) { return alternative.matches(arrival); });
  return found == alternatives_.end() ? Judgement::fail : found->judgement;
}

std::vector<std::string> Expected::admissible() const {
  std::vector<std::string> list;
  list.reserve(alternatives_.size());
  for (const Alternative& alternative : alternatives_)
    list.push_back(alternative.judgement == Judgement::pass
                       ? alternative.text
                       : fmt::format("{} ({})", alternative.text, name(alternative.judgement)));
  return list;
}

bool Expected::accepts_silence() const { return judge({{}, Nothing{}}) != Judgement::fail; }

Expected Expected::judged(Judgement judgement) const {
  Expected copy = *this;
  for (Alternative& alternative : copy.alternatives_) alternative.judgement = judgement;
  return copy;
}

Expected message(wire::Opcode opcode) {
  return {wire::name(opcode),
          [opcode](const Arrival& arrival) { return arrival.message(opcode) != nullptr; }};
}

Expected message(wire::Opcode opcode, Octets payload) {
  const std::string condition = fmt::format("these {} octets", payload.size());
  return message(opcode, condition,
                 [payload = std::move(payload)](const Message& m) { return m.payload == payload; });
}

Expected message(wire::Opcode opcode, std::string condition,
                 std::function<bool(const Message&)> holds) {
  return {fmt::format("{} with {}", wire::name(opcode), condition),
          [opcode, holds = std::move(holds)](const Arrival& arrival) {
            const Message* message = arrival.message(opcode);
            return message != nullptr && holds(*message);
          }};
}

Expected tagged_message(wire::Opcode opcode, std::uint32_t stag, std::uint64_t offset,
                        Octets payload) {
  const std::string condition =
      fmt::format("stag={:#010x} to={:#x} and these {} octets", stag, offset, payload.size());
  return message(opcode, condition, [=, payload = std::move(payload)](const Message& m) {
    return m.tagged && m.stag() == stag && m.tagged_offset() == offset && m.payload == payload;
  });
}

Expected mpa_frame() {
  return {"a startup frame",
          [](const Arrival& arrival) { return arrival.as<ReceivedFrame>() != nullptr; }};
}

Expected mpa_frame(std::string condition, std::function<bool(const wire::MpaFrame&)> holds) {
  return {fmt::format("a startup frame with {}", condition),
          [holds = std::move(holds)](const Arrival& arrival) {
            const auto* received = arrival.as<ReceivedFrame>();
            return received != nullptr && holds(received->frame());
          }};
}

Expected accepting_reply() {
  return mpa_frame("R clear", [](const wire::MpaFrame& frame) { return !frame.flags.reject(); });
}
Expected rejecting_reply() {
  return mpa_frame("R set", [](const wire::MpaFrame& frame) { return frame.flags.reject(); });
}

Expected terminate(wire::TerminateCause cause) { return terminate({cause}); }

Expected terminate(std::initializer_list<wire::TerminateCause> causes) {
  return only_terminate(causes) | advisory(torn_down());
}

Expected only_terminate(std::initializer_list<wire::TerminateCause> causes) {
  std::string text;
  for (const wire::TerminateCause cause : causes)
    text += fmt::format("{}{}", text.empty() ? "Terminate with " : " or ", wire::describe(cause));
  return {text, [list = std::vector(causes)](const Arrival& arrival) {
            const auto terminate = arrival.terminate();
            return terminate && std::ranges::find(list, terminate->cause) != list.end();
          }};
}

Expected any_terminate() {
  return {"a Terminate", [](const Arrival& arrival) {
            return arrival.message(wire::Opcode::terminate) != nullptr;
          }};
}

Expected fin() {
  return {"FIN", [](const Arrival& arrival) {
            const auto* closed = arrival.as<PeerClosed>();
            return closed != nullptr && !closed->mid_fpdu;
          }};
}
Expected connection_reset() {
  return {"reset", [](const Arrival& arrival) { return arrival.as<Broken>() != nullptr; }};
}
Expected torn_down() {
  return {"the connection torn down", [](const Arrival& arrival) { return arrival.is_end(); }};
}
Expected silence() {
  return {"nothing", [](const Arrival& arrival) { return arrival.as<Nothing>() != nullptr; }};
}

}  // namespace suite::lower_tester
