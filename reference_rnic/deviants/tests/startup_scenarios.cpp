// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Runs of MPA startup (RFC 5044 section 7.1, RFC 6581).
#include "reference_rnic/deviants/tests/operational.hpp"
#include "reference_rnic/stream/startup.hpp"
#include "reference_rnic/stream/tests/startup_frames.hpp"

namespace rnic::deviants::test {

using namespace stream;        // NOLINT(google-build-using-namespace): the subject's words
using namespace stream::test;  // NOLINT(google-build-using-namespace)

void add_startup_frames(std::vector<Scenario>& list) {
  for (const RequestRow& row : request_rows())
    list.push_back({std::string("request ") + row.name, [&row](const Decide& decide) {
                      Subject subject(enhanced_config(Role::responder), decide());
                      subject.feed(row.request);
                      subject.stream.accept(8, 4, {}, subject.now);
                      (void)subject.output();
                      return transcript(subject);
                    }});
  for (const ReplyRow& row : reply_rows())
    list.push_back({std::string("reply ") + row.name, [&row](const Decide& decide) {
                      Config config = enhanced_config(Role::initiator);
                      config.peer_to_peer = row.peer_to_peer;
                      Subject subject(config, decide());
                      (void)subject.output();
                      subject.feed(row.reply);
                      (void)subject.output();
                      return transcript(subject);
                    }});
}

void add_startup_oddities(std::vector<Scenario>& list) {
  list.push_back({"startup timer", [](const Decide& decide) {
                    Subject subject(plain_config(Role::responder), decide());
                    return transcript(subject);
                  }});
  list.push_back({"RTR of another kind", [](const Decide& decide) {
                    Config config = enhanced_config(Role::responder);
                    config.crc = false;
                    Subject subject(config, decide());
                    subject.memory.post_receive(1, 8);
                    subject.feed(request("10 02 0004 c004 0004"));
                    subject.stream.accept(4, 4, {}, subject.now);
                    (void)subject.output();
                    subject.feed(fpdu("41 43 00000000 00000000 00000001 00000000 aa"));
                    (void)subject.output();
                    return transcript(subject);
                  }});
  list.push_back({"Terminate in place of an RTR", [](const Decide& decide) {
                    Config config = enhanced_config(Role::responder);
                    config.crc = false;
                    Subject subject(config, decide());
                    subject.feed(request("10 02 0004 c004 0004"));
                    subject.stream.accept(4, 4, {}, subject.now);
                    (void)subject.output();
                    subject.feed(fpdu("41 47 00000000 00000002 00000001 00000000 00000000"));
                    (void)subject.output();
                    return transcript(subject);
                  }});
  list.push_back({"octets after the reply", [](const Decide& decide) {
                    Subject subject(enhanced_config(Role::initiator), decide());
                    subject.memory.post_receive(1, 8);
                    (void)subject.output();
                    auto input = octets(reply("50 02 0004 0004 0004"));
                    const auto message =
                        fpdu("41 43 00000000 00000000 00000001 00000000 aabb", true);
                    input.insert(input.end(), message.begin(), message.end());
                    subject.feed(input);
                    return transcript(subject);
                  }});
}

void add_split_frames(std::vector<Scenario>& list) {
  list.push_back({"request octet by octet", [](const Decide& decide) {
                    Subject subject(plain_config(Role::responder), decide());
                    for (const std::byte octet : octets(request("00 01 0000")))
                      subject.feed(wire::Bytes(&octet, 1));
                    return transcript(subject);
                  }});
  list.push_back({"request cut short", [](const Decide& decide) {
                    Subject subject(plain_config(Role::responder), decide());
                    subject.feed(request("00 01 0004 6162"));
                    return transcript(subject);
                  }});
  list.push_back({"plain request of revision 2 with private data", [](const Decide& decide) {
                    Subject subject(enhanced_config(Role::responder), decide());
                    subject.feed(request("00 02 0006 616263646566"));
                    return transcript(subject);
                  }});
  list.push_back(operational(
      "first FPDU with a bad CRC",
      [](Subject& subject) {
        auto bad = fpdu(empty_write, true);
        bad.back() ^= std::byte{1};
        subject.feed(bad);
      },
      true));
  list.push_back({"private data of 300 octets", [](const Decide& decide) {
                    Subject subject(plain_config(Role::responder), decide());
                    auto input = octets(request("00 01 012c"));
                    input.resize(input.size() + 300, std::byte{7});
                    subject.feed(input);
                    return transcript(subject);
                  }});
}

void add_terms_of_startup(std::vector<Scenario>& list) {
  list.push_back({"reply cut short", [](const Decide& decide) {
                    Subject subject(enhanced_config(Role::initiator), decide());
                    (void)subject.output();
                    subject.feed(reply("50 02 0010 0004"));
                    subject.stream.peer_closed(subject.now);
                    return transcript(subject);
                  }});
  list.push_back({"initiator that leaves at once", [](const Decide& decide) {
                    Subject subject(enhanced_config(Role::initiator), decide());
                    (void)subject.output();
                    subject.feed(reply("50 02 0004 0004 0004"));
                    subject.stream.disconnect(subject.now);
                    (void)subject.output();
                    return transcript(subject);
                  }});
  list.push_back({"reply with more RTR kinds than offered", [](const Decide& decide) {
                    Config config = enhanced_config(Role::initiator);
                    config.peer_to_peer = true;
                    config.rtr = {false, true, false};
                    Subject subject(config, decide());
                    (void)subject.output();
                    subject.feed(reply("50 02 0004 c004 c004"));
                    (void)subject.output();
                    return transcript(subject);
                  }});
  list.push_back({"Read as RTR of an initiator without ORD", [](const Decide& decide) {
                    Config config = enhanced_config(Role::responder);
                    config.crc = false;
                    Subject subject(config, decide());
                    subject.feed(request("10 02 0004 8004 4000"));
                    subject.stream.accept(4, 4, {}, subject.now);
                    (void)subject.output();
                    subject.feed(
                        fpdu("41 41 00000000 00000001 00000001 00000000 00000000"
                             "0000000000000000 00000000 00000000 0000000000000000"));
                    (void)subject.output();
                    return transcript(subject);
                  }});
  list.push_back({"Reads right after the RTR", [](const Decide& decide) {
                    Config config = enhanced_config(Role::initiator);
                    config.peer_to_peer = true;
                    Subject subject(config, decide());
                    (void)subject.output();
                    subject.feed(reply("50 02 0004 c004 c004"));
                    (void)subject.output();
                    for (const char* msn : {"00000001", "00000002"})
                      subject.feed(fpdu(std::string("41 41 00000000 00000001") + msn +
                                            "00000000 00000000 0000000000000000"
                                            "00000000 00000000 0000000000000000",
                                        true));
                    (void)subject.output();
                    return transcript(subject);
                  }});
  list.push_back({"enhanced request to revision 1", [](const Decide& decide) {
                    Subject subject(plain_config(Role::responder), decide());
                    subject.feed(request("10 02 0004 0003 0002"));
                    subject.stream.accept(1, 1, {}, subject.now);
                    (void)subject.output();
                    return transcript(subject);
                  }});
  list.push_back({"bad CRC where only the peer asked for CRCs", [](const Decide& decide) {
                    Subject subject(plain_config(Role::responder), decide());
                    subject.feed(request("40 01 0000"));
                    subject.stream.accept(1, 1, {}, subject.now);
                    (void)subject.output();
                    auto bad = fpdu(empty_write, true);
                    bad.back() ^= std::byte{1};
                    subject.feed(bad);
                    return transcript(subject);
                  }});
}

}  // namespace rnic::deviants::test
