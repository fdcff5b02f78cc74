// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "reference_rnic/deviants/tests/scenarios.hpp"

#include <functional>
#include <string>

#include "reference_rnic/deviants/stream_decisions.hpp"
#include "reference_rnic/deviants/tests/operational.hpp"
#include "reference_rnic/deviants/tests/transcript.hpp"
#include "reference_rnic/stream/tests/bad_messages.hpp"
#include "reference_rnic/stream/tests/raw_peer.hpp"
#include "reference_rnic/stream/tests/startup_frames.hpp"

namespace rnic::deviants::test {

using namespace stream;        // NOLINT(google-build-using-namespace): the subject's words
using namespace stream::test;  // NOLINT(google-build-using-namespace)

namespace {

void add_bad_messages(std::vector<Scenario>& list) {
  for (const BadMessage& bad : bad_messages())
    list.push_back({std::string("bad message ") + bad.name, [&bad](const Decide& decide) {
                      Subject subject(plain_config(Role::responder), decide());
                      furnish(subject.memory);
                      for (std::size_t i = 0; i < bad.receive_buffers; ++i)
                        subject.memory.post_receive(i + 1, 32);
                      subject.establish_as_responder();
                      for (const std::string_view ulpdu : bad.ulpdus) subject.feed(fpdu(ulpdu));
                      (void)subject.output();
                      subject.feed(fpdu("c1 40 00000101 0000000000001030 cccc"));
                      (void)subject.output();
                      return transcript(subject);
                    }});
}

void add_framing(std::vector<Scenario>& list) {
  list.push_back(operational(
      "bad CRC",
      [](Subject& subject) {
        subject.feed(fpdu(empty_write, true));
        auto bad = fpdu("c1 40 00000101 0000000000001000 aabb", true);
        bad.back() ^= std::byte{1};
        subject.feed(bad);
        (void)subject.output();
        subject.feed(fpdu("41 43 00000000 00000000 00000001 00000000 aa", true));
      },
      true));
  list.push_back(operational("CRC field of any content", [](Subject& subject) {
    auto odd = fpdu(empty_write);
    odd.back() = std::byte{0x77};
    subject.feed(odd);
  }));
  list.push_back(operational(
      "pad of any content",
      [](Subject& subject) {
        std::vector<std::byte> odd = octets("000f c1 40 00000101 0000000000001000 aa 112233");
        const auto crc = wire::crc32c_trailer(odd);
        odd.insert(odd.end(), crc.begin(), crc.end());
        subject.feed(odd);
      },
      true));
  list.push_back(operational(
      "bad Marker",
      [](Subject& subject) {
        const auto content = octets(empty_write);
        const wire::Bytes piece(content);
        std::vector<std::byte> first(64);
        wire::Writer writer(first);
        wire::test::format_fpdu(writer, std::span(&piece, 1), {false, true, 0});
        first.resize(writer.size());
        subject.feed(first);
        std::vector<std::byte> second = octets("01f8 c1 40 00000101 0000000000001000");
        second.resize(600);
        subject.feed(second);
      },
      false, true));
}

std::vector<std::byte> joined(std::vector<std::byte> first, const std::vector<std::byte>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::vector<std::byte> two_octet_send(int msn) {
  return fpdu("41 43 00000000 00000000 0000000" + std::to_string(msn) + " 00000000 aabb", true);
}

/// A Write of `size` octets to a region made for it, at this position of the stream.
std::vector<std::byte> marked_write(Subject& subject, std::size_t size, bool crc,
                                    std::uint64_t position) {
  if (position == 0) subject.memory.add_region(0x606, 0x8000, 2000, every_access);
  auto content = octets("c1 40 00000606 0000000000008000");
  content.resize(content.size() + size, std::byte{0x5A});
  const wire::Bytes piece(content);
  std::vector<std::byte> result(content.size() + 64);
  wire::Writer writer(result);
  wire::test::format_fpdu(writer, std::span(&piece, 1), {crc, true, position});
  result.resize(writer.size());
  return result;
}

void add_reads_of_fpdus(std::vector<Scenario>& list) {
  const auto add = [&](std::string name, const std::function<void(Subject&)>& body) {
    list.push_back(operational(std::move(name), body, true));
  };
  add("FPDUs octet by octet", [](Subject& subject) {
    for (const std::byte octet : joined(two_octet_send(1), two_octet_send(2)))
      subject.feed(wire::Bytes(&octet, 1));
  });
  add("FPDU without its CRC field", [](Subject& subject) {
    const auto message = two_octet_send(1);
    subject.feed(wire::Bytes(message).first(message.size() - 4));
  });
  add("two FPDUs at once",
      [](Subject& subject) { subject.feed(joined(two_octet_send(1), two_octet_send(2))); });
  add("good FPDU in one read with a bad one", [](Subject& subject) {
    auto bad = two_octet_send(1);
    bad.back() ^= std::byte{1};
    subject.feed(joined(bad, two_octet_send(1)));
  });
  add("read that begins like an FPDU", [](Subject& subject) {
    subject.feed(octets("0100 c1 40 00000101"));
    subject.feed(two_octet_send(1));
  });
  const auto add_marked = [&](std::string name, bool crc,
                              const std::function<void(Subject&)>& body) {
    list.push_back(operational(std::move(name), body, crc, true));
  };
  add_marked("reserved bit of a Marker changed on the way", true, [](Subject& subject) {
    auto write = marked_write(subject, 8, true, 0);
    write.front() ^= std::byte{0x80};
    subject.feed(write);
  });
  add_marked("Marker between FPDUs", false, [](Subject& subject) {
    subject.feed(marked_write(subject, 488, false, 0));
    subject.feed(marked_write(subject, 8, false, 512));
  });
  add_marked("later Marker wrong", false, [](Subject& subject) {
    auto write = marked_write(subject, 1000, false, 0);
    write[1027] ^= std::byte{8};
    subject.feed(write);
  });
}

void add_messages(std::vector<Scenario>& list) {
  list.push_back(operational("good and odd messages", [](Subject& subject) {
    subject.feed(fpdu(empty_write));
    subject.feed(fpdu("fd 70 00000101 0000000000001000 aa"));
    subject.feed(fpdu("41 43 00000101 00000000 00000001 00000000 aabb"));
    subject.feed(fpdu("01 43 00000000 00000000 00000002 00000000 aabb"));
    subject.feed(fpdu("41 45 00000000 00000000 00000002 00000002 cc"));
    subject.feed(fpdu("41 43 00000000 00000000 00000003 00000000"));
    subject.feed(
        fpdu("41 41 00000000 00000001 00000001 00000000"
             "00000777 0000000000002000 00000000 00000999 0000000000001000"));
    (void)subject.output();
    subject.feed(
        fpdu("41 4a 00000000 00000001 00000002 00000000 12345670 00000001 00000101 0000000000001000"
             "0000000000000001 0000000000000000 0000000000000000 ffffffffffffffff"));
  }));
  list.push_back(operational("empty Send with Solicited Event", [](Subject& subject) {
    subject.feed(fpdu("41 45 00000000 00000000 00000001 00000000"));
  }));
  list.push_back(operational("two Reads at once", [](Subject& subject) {
    for (const char* msn : {"00000001", "00000002"})
      subject.feed(fpdu("41 41 00000000 00000001" + std::string(msn) +
                        "00000000 00000777 0000000000002000 00000004"
                        "00000101 000000000000100" +
                        msn[7]));
  }));
  list.push_back(operational("Terminate received", [](Subject& subject) {
    subject.feed(fpdu("41 47 00000000 00000002 00000001 00000000 1100 0000"));
  }));
}

void add_sending(std::vector<Scenario>& list) {
  list.push_back(operational("silence before the first FPDU", [](Subject& subject) {
    subject.stream.post(work_of(1, WorkKind::send), subject.now);
  }));
  list.push_back(operational("Read Responses to the wrong places", [](Subject& subject) {
    subject.feed(fpdu(empty_write));
    Work read = work_of(1, WorkKind::read);
    read.sink_stag = 0x101;
    read.sink_offset = 0x1000;
    read.length = 8;
    subject.stream.post(read, subject.now);
    (void)subject.output();
    subject.feed(fpdu("81 42 00000101 0000000000001000 aabb"));
    subject.feed(fpdu("c1 42 00000101 0000000000001010 aabbccdd"));
  }));
  list.push_back(operational("Atomic Response with another identifier", [](Subject& subject) {
    subject.feed(fpdu(empty_write));
    subject.stream.post(work_of(1, WorkKind::atomic), subject.now);
    (void)subject.output();
    subject.feed(fpdu("41 4b 00000000 00000003 00000001 00000000 77777777 0000000000000000"));
  }));
}

void add_reads(std::vector<Scenario>& list) {
  list.push_back(operational("Read that fails half-way", [](Subject& subject) {
    subject.memory.add_region(0x606, 0x8000, 400, every_access);
    subject.feed(
        fpdu("41 41 00000000 00000001 00000001 00000000"
             "00000777 0000000000002000 00000190 00000606 0000000000008000"));
    std::vector<wire::Bytes> taken;
    subject.stream.gather(taken, 200);
    std::size_t count = 0;
    for (const wire::Bytes piece : taken) count += piece.size();
    subject.stream.transmitted(count, subject.now);
    subject.memory.remove_region(0x606);
  }));
  list.push_back(operational("local error", [](Subject& subject) {
    subject.feed(fpdu(empty_write));
    Work read = work_of(1, WorkKind::read);
    read.length = 1;
    subject.stream.post(read, subject.now);
    subject.stream.post(work_of(2, WorkKind::send), subject.now);
  }));
  list.push_back(operational("Read answered, then a Send", [](Subject& subject) {
    subject.feed(fpdu(empty_write));
    Work read = work_of(1, WorkKind::read);
    read.sink_stag = 0x101;
    read.sink_offset = 0x1000;
    read.length = 4;
    for (std::uint64_t id = 1; id <= 3; ++id) {
      read.id = id;
      subject.stream.post(read, subject.now);
    }
    subject.stream.post(work_of(4, WorkKind::send), subject.now);
    (void)subject.output();
    subject.feed(fpdu("81 42 00000101 0000000000001000 aabb"));
    subject.collect();
    subject.feed(fpdu("c1 42 00000101 0000000000001002 ccdd"));
  }));
}

/// An Atomic Request for the memory that furnish() makes: MSN, operation and offset as given.
std::string atomic_ulpdu(std::string_view controls, std::string_view ulp_word_and_queue,
                         std::string_view msn, std::string_view operation,
                         std::string_view offset) {
  return std::string(controls) + std::string(ulp_word_and_queue) + std::string(msn) + "00000000" +
         std::string(operation) + "00000001 00000101" + std::string(offset) +
         "0000000000000001 0000000000000000 0000000000000000 0000000000000000";
}
std::string atomic_ulpdu(std::string_view msn, std::string_view operation = "00000000",
                         std::string_view offset = "0000000000001000") {
  return atomic_ulpdu("41 4a", "00000000 00000001", msn, operation, offset);
}

void add_atomics(std::vector<Scenario>& list) {
  const auto one = [&list](std::string name, std::string ulpdu) {
    list.push_back(
        operational(std::move(name), [ulpdu](Subject& subject) { subject.feed(fpdu(ulpdu)); }));
  };
  list.push_back(operational("Atomic, Write and Atomic", [](Subject& subject) {
    subject.feed(fpdu(atomic_ulpdu("00000001")));
    (void)subject.output();
    subject.feed(fpdu("c1 40 00000101 0000000000001000 0102030405060708"));
    subject.feed(fpdu(atomic_ulpdu("00000002")));
  }));
  list.push_back(operational("two Atomics at once", [](Subject& subject) {
    subject.feed(fpdu(atomic_ulpdu("00000001")));
    subject.feed(fpdu(atomic_ulpdu("00000002")));
  }));
  list.push_back(operational("Atomic and Read at once", [](Subject& subject) {
    subject.feed(fpdu(atomic_ulpdu("00000001")));
    subject.feed(
        fpdu("41 41 00000000 00000001 00000002 00000000"
             "00000777 0000000000002000 00000004 00000101 0000000000001000"));
  }));
  one("unaligned CmpSwap", atomic_ulpdu("00000001", "00000002", "0000000000001004"));
  one("Atomic of DDP version 2",
      atomic_ulpdu("42 4a", "00000000 00000001", "00000001", "00000000", "0000000000001000"));
  one("Atomic of RDMAP version 2",
      atomic_ulpdu("41 8a", "00000000 00000001", "00000001", "00000000", "0000000000001000"));
  one("Atomic on queue 0",
      atomic_ulpdu("41 4a", "00000000 00000000", "00000001", "00000000", "0000000000001000"));
  one("Atomic with an Invalidate STag",
      atomic_ulpdu("41 4a", "00000101 00000001", "00000001", "00000000", "0000000000001000"));
  one("first segment of an Atomic",
      "01 4a 00000000 00000001 00000001 00000000"
      "00000000 00000001 00000101 0000000000001000 0000000000000001 0000000000000000");
  one("Immediate Data of DDP version 2",
      "42 48 00000000 00000000 00000001 00000000 0102030405060708");
  one("Immediate Data of RDMAP version 2",
      "41 88 00000000 00000000 00000001 00000000 0102030405060708");
  one("Immediate Data on queue 1", "41 48 00000000 00000001 00000001 00000000 0102030405060708");
  one("Immediate Data with an Invalidate STag",
      "41 48 00000101 00000000 00000001 00000000 0102030405060708");
  list.push_back(operational("Atomic for an odd offset", [](Subject& subject) {
    subject.feed(fpdu(empty_write));
    Work atomic = work_of(1, WorkKind::atomic);
    atomic.remote_offset = 0x1003;
    subject.stream.post(atomic, subject.now);
  }));
  list.push_back(operational("Read answered after a Send", [](Subject& subject) {
    subject.feed(fpdu(empty_write));
    Work read = work_of(1, WorkKind::read);
    read.sink_stag = 0x101;
    read.sink_offset = 0x1000;
    read.length = 4;
    subject.stream.post(read, subject.now);
    subject.stream.post(work_of(2, WorkKind::send), subject.now);
    (void)subject.output();
    subject.feed(fpdu("c1 42 00000101 0000000000001000 aabbccdd"));
  }));
}

void add_endings(std::vector<Scenario>& list) {
  list.push_back(operational("FIN within an FPDU", [](Subject& subject) {
    const auto message = fpdu("41 43 00000000 00000000 00000001 00000000 aabb");
    subject.feed(wire::Bytes(message).first(10));
    subject.stream.peer_closed(subject.now);
  }));
  list.push_back(operational("half-closed peer", [](Subject& subject) {
    subject.feed(fpdu(empty_write));
    subject.stream.peer_closed(subject.now);
    subject.stream.post(work_of(1, WorkKind::send), subject.now);
    (void)subject.output();
    subject.stream.disconnect(subject.now);
  }));
  list.push_back(operational("orderly close", [](Subject& subject) {
    subject.feed(fpdu(empty_write));
    subject.stream.post(work_of(1, WorkKind::send), subject.now);
    subject.stream.disconnect(subject.now);
    subject.stream.post(work_of(2, WorkKind::send), subject.now);
    (void)subject.output();
    subject.stream.close_done(subject.now);
    subject.feed(fpdu("41 43 00000000 00000000 00000001 00000000 aabb"));
  }));
  list.push_back(operational("orderly close, not done", [](Subject& subject) {
    subject.feed(fpdu(empty_write));
    subject.stream.disconnect(subject.now);
  }));
  list.push_back(operational("loss", [](Subject& subject) {
    subject.feed(fpdu(empty_write));
    Work read = work_of(1, WorkKind::read);
    read.sink_stag = 0x101;
    read.sink_offset = 0x1000;
    read.length = 4;
    subject.stream.post(read, subject.now);
    (void)subject.output();
    subject.stream.lost(subject.now);
  }));
}

/// Where several answers are lawful and the usual runs leave no room for another one.
void add_choices(std::vector<Scenario>& list) {
  list.push_back({"reply with every RTR kind", [](const Decide& decide) {
                    Config config = enhanced_config(Role::initiator);
                    config.peer_to_peer = true;
                    Subject subject(config, decide());
                    (void)subject.output();
                    subject.feed(reply("50 02 0004 c004 c004"));
                    (void)subject.output();
                    return transcript(subject);
                  }});
  list.push_back(operational(
      "FPDU of more than a jumbo frame",
      [](Subject& subject) {
        std::string send = "41 43 00000000 00000000 00000005 00000000";
        for (int i = 0; i < 10'000; ++i) send += " 5a";
        subject.memory.post_receive(5, 20'000);
        for (const char* msn : {"00000001", "00000002", "00000003", "00000004"})
          subject.feed(fpdu(std::string("41 43 00000000 00000000 ") + msn + " 00000000", true));
        subject.feed(fpdu(send, true));
      },
      true));
  list.push_back(operational(
      "Read Request of another version",
      [](Subject& subject) {
        subject.feed(
            fpdu("41 81 00000000 00000001 00000001 00000000"
                 "00000909 0000000000000000 00000004 00000101 0000000000001000",
                 true));
      },
      true));
  list.push_back(operational("error while messages wait for the LLP", [](Subject& subject) {
    subject.feed(fpdu(empty_write));
    static const auto message = pattern(4);
    for (std::uint64_t id = 1; id <= 2; ++id) {
      Work work = work_of(id, WorkKind::send);
      work.gather = {wire::Bytes(message)};
      subject.stream.post(std::move(work), subject.now);
    }
    std::vector<wire::Bytes> not_taken;
    subject.stream.gather(not_taken, 1024, nullptr);
    subject.feed(fpdu("41 43 00000000 00000009 00000001 00000000 aabb"));
  }));
  list.push_back(operational("Responses and posted work at one time", [](Subject& subject) {
    subject.feed(
        fpdu("41 41 00000000 00000001 00000001 00000000"
             "00000909 0000000000000000 00000004 00000101 0000000000001000"));
    static const auto message = pattern(4);
    for (std::uint64_t id = 1; id <= 2; ++id) {
      Work work = work_of(id, WorkKind::send);
      work.gather = {wire::Bytes(message)};
      subject.stream.post(std::move(work), subject.now);
    }
    (void)subject.output();
  }));
}

}  // namespace

std::vector<Scenario> scenarios() {
  std::vector<Scenario> list;
  add_pairs(list);
  add_bad_messages(list);
  add_startup_frames(list);
  add_framing(list);
  add_messages(list);
  add_sending(list);
  add_reads(list);
  add_atomics(list);
  add_endings(list);
  add_startup_oddities(list);
  add_split_frames(list);
  add_reads_of_fpdus(list);
  add_terms_of_startup(list);
  add_choices(list);
  return list;
}

}  // namespace rnic::deviants::test
