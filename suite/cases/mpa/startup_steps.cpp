// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/mpa/startup_steps.hpp"

#include <algorithm>

namespace suite::cases::startup {

namespace {

constexpr int small_depth = 4;
constexpr std::size_t modest_private_data = 128;  ///< what any API should take
constexpr std::size_t most_private_data = 508;    ///< beside enhanced data

void fill_depths(const Body& on, iut::ConnectParameters& parameters) {
  const auto usual = [&](const char* name) {
    return static_cast<int>(within_limit(on.iut.limits(), name, small_depth));
  };
  if (!parameters.ird) parameters.ird = usual("max_ird");
  if (!parameters.ord) parameters.ord = usual("max_ord");
}

ReceivedFrame need_frame(Body& on, const char* what) {
  const Arrival arrival = on.peer.raw().next(on.context().deadline);
  on.iut.poll();
  const auto* frame = arrival.as<ReceivedFrame>();
  if (frame == nullptr)
    on.stop(Verdict::inconclusive, fmt::format("{} instead of {}", arrival.text(), what));
  return *frame;
}

bool is_rtr(const Message& message) { return message.read_request() || message.payload.empty(); }

}  // namespace

void send_request(Body& on, const StartupFrame& request, const Cut& cut) {
  on.peer.connect();
  on.peer.raw().send(request, cut);
}

iut::ConnectRequestEvent asked(Body& on) {
  const auto event = on.iut.take<iut::ConnectRequestEvent>(on.context().deadline);
  if (!event) on.stop(Verdict::inconclusive, "the IUT's API shows no connection request");
  return *event;
}

void accept(Body& on, const iut::ConnectRequestEvent& request, iut::ConnectParameters parameters) {
  fill_depths(on, parameters);
  on.iut.accept(request.request, on.iut.endpoint(), parameters);
}

void ask(Body& on, const StartupFrame& request, const iut::ConnectParameters& parameters) {
  send_request(on, request);
  accept(on, asked(on), parameters);
}

ReceivedFrame reply_to(Body& on, const StartupFrame& request,
                       const iut::ConnectParameters& parameters) {
  ask(on, request, parameters);
  return need_frame(on, "an MPA Reply");
}

Words with_depths_of(Words words, std::uint16_t ird, std::uint16_t ord) {
  words.ird = ird;
  words.ord = ord;
  return words;
}

bool any_rtr_flag(const Words& words) {
  return words.rtr_send || words.rtr_write || words.rtr_read;
}

StartupFrame enhanced_request(const Words& words) { return mpa_request().with_enhanced(words); }

Expected reply_words(const std::string& condition, const std::function<bool(const Words&)>& holds) {
  return mpa_frame(condition, [holds](const wire::MpaFrame& frame) {
    const auto words = frame.enhanced();
    return words && holds(*words);
  });
}

ReceivedFrame request_of(Body& on, iut::ConnectParameters parameters) {
  fill_depths(on, parameters);
  on.let_iut_connect(parameters);
  return need_frame(on, "an MPA Request");
}

StartupFrame accepting(const Body& on, const ReceivedFrame& request) {
  return mpa_reply_to(request.frame()).with_crc(on.the_case().configuration.crc);
}

ReceivedFrame enhanced_request_of(Body& on, int ird, int ord) {
  const ReceivedFrame request = request_of(on, with_depths(ird, ord));
  if (!words_of(request)) on.stop(Verdict::not_applicable, "the IUT sends no enhanced Request");
  return request;
}

StartupFrame accepting_with(const Body& on, const ReceivedFrame& request,
                            const std::function<void(Words&)>& change) {
  const StartupFrame reply = accepting(on, request);
  Words words = *reply.enhanced;
  change(words);
  return reply.with_enhanced(words);
}

Expected any_rtr_indication() {
  return {"an RTR indication",
          [](const Arrival& arrival) { return arrival.as<Message>() != nullptr; }};
}

void answer_rtr(Body& on, const Message& rtr) {
  if (const auto read = rtr.read_request())
    on.peer.send(read_response(read->sink_stag, read->sink_offset, {}));
}

void expect_connection_ends(Body& test, RuleRef rule) {
  Peer& from = test.peer.raw();
  Arrival arrival = from.next(test.context().loop.now() + test.environment().quiet_window);
  if (arrival.as<Nothing>() != nullptr)
    from.half_close();
  else
    from.put_back(std::move(arrival));
  test.expect(from, torn_down(), rule);
}

void expect_to_speak(Body& on, RuleRef rule) {
  const Octets words = octets("first words");
  static_cast<void>(on.iut.post_send(words));
  const auto sent = message(Opcode::send, words);
  const Expected rtr{"an RTR indication", [](const Arrival& arrival) {
                       const auto* message = arrival.as<Message>();
                       return message != nullptr && is_rtr(*message);
                     }};
  const Arrival arrival = on.expect(on.peer.raw(), sent | rtr, rule);
  const Message& first = *arrival.as<Message>();
  if (!is_rtr(first)) return;
  if (const auto read = first.read_request())
    on.peer.send(read_response(read->sink_stag, read->sink_offset, {}));
  on.expect(on.peer.raw(), sent, rule);
}

iut::ConnectParameters with_private_data(const Octets& data) { return {.private_data = data}; }

iut::ConnectParameters with_depths(int ird, int ord) { return {{}, ird, ord}; }

std::size_t private_data_limit(Body& on) {
  const auto& limits = on.environment().iut.hello().limits;
  const auto found = limits.find("max_private_data");
  if (found == limits.end() || found->second < 0) return modest_private_data;
  return std::min(most_private_data, static_cast<std::size_t>(found->second));
}

std::optional<Words> words_of(const ReceivedFrame& frame) { return frame.frame().enhanced(); }

void let_responder_send(Body& on) {
  const Region target = on.iut.register_memory(1, access::remote_write);
  on.peer.send(rdma_write(target.stag, target.base, {}));
}

std::vector<ReadRequestFields> reads_coming(Body& on) {
  std::vector<ReadRequestFields> reads;
  while (true) {
    const auto until = on.context().loop.now() + on.environment().quiet_window;
    const Arrival arrival = on.peer.raw().next(until);
    const auto* message = arrival.as<Message>();
    if (message == nullptr) return reads;
    if (const auto read = message->read_request()) reads.push_back(*read);
  }
}

void expect_one_read_at_a_time(Body& on) {
  std::vector<Work> works;
  for (int i = 0; i < 3; ++i) works.push_back(on.iut.post_read(8, 0x1234, 0));
  for (const Work& work : works) {
    // An Initiator's own message comes first (RFC 5044 section 7.1.2), so it is taken before asking.
    const ReadRequestFields read = *on.expect_message(Opcode::read_request).read_request();
    const std::size_t more = reads_coming(on).size();
    on.expect_that(more == 0, "one Read Request at a time", fmt::format("{}", more + 1));
    on.peer.send(read_response(read.sink_stag, read.sink_offset, payload(8)));
    on.expect(work, completes());
  }
}

void expect_reads_served(Body& on, std::uint16_t ird) {
  constexpr std::uint16_t most = 64;
  Region readable = on.iut.register_memory(most, access::remote_read);
  on.iut.write_memory(readable, payload(most));
  const auto count = std::min(ird, most);
  std::vector<Outgoing> reads;
  for (std::uint32_t i = 0; i < count; ++i)
    reads.push_back(read_request({.sink_stag = 0x1234,
                                  .sink_offset = i,
                                  .length = 1,
                                  .source_stag = readable.stag,
                                  .source_offset = readable.base + i}));
  on.peer.send_together(reads);
  for (std::uint32_t i = 0; i < count; ++i)
    on.expect(on.peer, tagged_message(Opcode::read_response, 0x1234, i, {readable.contents[i]}));
}

bool try_to_send(Body& on, const Octets& data) {
  Region source = on.iut.register_memory(data.size());
  on.iut.write_memory(source, data);
  iut::PostWork work;
  work.operation = operation::send;
  work.pieces = {{source.handle, 0, static_cast<std::uint32_t>(data.size())}};
  return on.iut.try_post(work).taken();
}

}  // namespace suite::cases::startup
