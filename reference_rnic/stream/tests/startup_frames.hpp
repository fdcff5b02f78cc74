// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Startup frames typed by hand (RFC 5044 Figure 8, RFC 6581 sections 6 and 9), and how a stream
// must take each of them.
#pragma once

#include <boost/test/unit_test.hpp>
#include <optional>
#include <string>
#include <vector>

#include "reference_rnic/stream/tests/raw_peer.hpp"

namespace rnic::stream::test {

/// IRD 8, ORD 4, all RTR kinds, CRC and no Markers wanted.
inline Config enhanced_config(Role role) {
  Config config;
  config.role = role;
  config.ird = 8;
  config.ord = 4;
  return config;
}

struct RequestRow {
  const char* name;
  std::string request;
  std::string reply;  ///< empty: the connection is closed without one
};

/// For a responder of enhanced_config() whose consumer accepts with IRD 8, ORD 4.
inline const std::vector<RequestRow>& request_rows() {
  static const std::vector<RequestRow> table{
      {"revision 1", request("00 01 0000"), reply("40 01 0000")},
      {"revision 1 with markers, CRC", request("c0 01 0000"), reply("40 01 0000")},
      {"revision 1, all reserved bits and R", request("3f 01 0000"), reply("40 01 0000")},
      {"revision 1, private data", request("00 01 0003 616263"), reply("40 01 0000")},
      {"revision 2, plain", request("40 02 0000"), reply("40 02 0000")},
      {"revision 2, S, client-server", request("50 02 0004 0003 0002"),
       reply("50 02 0004 0008 0003")},
      {"IRD above our ORD", request("50 02 0004 0009 0009"), reply("50 02 0004 0008 0004")},
      {"IRD 0", request("50 02 0004 0000 0000"), reply("50 02 0004 0008 0000")},
      {"IRD and ORD not negotiated", request("50 02 0004 3fff 3fff"),
       reply("50 02 0004 3fff 3fff")},
      {"largest negotiable", request("50 02 0004 3ffe 3ffe"), reply("50 02 0004 0008 0004")},
      {"peer-to-peer, all kinds", request("50 02 0004 c003 c002"), reply("50 02 0004 c008 c003")},
      {"peer-to-peer, Send only", request("50 02 0004 c003 0002"), reply("50 02 0004 c008 0003")},
      {"peer-to-peer, Write only", request("50 02 0004 8003 8002"), reply("50 02 0004 8008 8003")},
      {"peer-to-peer, Read only", request("50 02 0004 8003 4002"), reply("50 02 0004 8008 4003")},
      {"peer-to-peer without a kind", request("50 02 0004 8003 0002"),
       reply("50 02 0004 c008 c003")},
      {"flags B, C, D without A", request("50 02 0004 4003 c002"), reply("50 02 0004 0008 0003")},
      {"reserved bits of revision 2", request("5f 02 0004 0003 0002"),
       reply("50 02 0004 0008 0003")},
      {"private data behind the words", request("50 02 0006 0003 0002 ffff"),
       reply("50 02 0004 0008 0003")},
      {"revision 0", request("40 00 0000"), ""},
      {"revision 3", request("40 03 0000"), ""},
      {"revision 255", request("40 ff 0000"), ""},
      {"S with no private data", request("50 02 0000"), ""},
      {"S with three octets", request("50 02 0003 000300"), ""},
      {"PD_Length 513", request("40 01 0201"), ""},
      {"PD_Length 65535", request("40 01 ffff"), ""},
      {"a Reply", reply("40 01 0000"), ""},
      {"one bit of the key", "4d50412049442052657120 4672616d64 40 01 0000", ""},
      {"HTTP", "474554202f", ""},
      {"an octet behind the frame", request("40 01 0000 00"), ""},
  };
  return table;
}

struct ReplyRow {
  const char* name;
  bool peer_to_peer;
  std::string reply;
  std::string next;  ///< what the Initiator sends upon it: an RTR or a Terminate, as ULPDU
  bool established;
  std::optional<StartupFault> fault;
};

/// For an initiator of enhanced_config().
inline const std::vector<ReplyRow>& reply_rows() {
  static const std::vector<ReplyRow> table{
      {"accepted", false, reply("50 02 0004 0004 0008"), "", true, std::nullopt},
      {"accepted, small IRD", false, reply("50 02 0004 0001 0000"), "", true, std::nullopt},
      {"accepted, without C", false, reply("10 02 0004 0004 0008"), "", true, std::nullopt},
      {"nothing negotiated", false, reply("50 02 0004 3fff 3fff"), "", true, std::nullopt},
      {"ORD above our IRD", false, reply("50 02 0004 0004 0009"),
       "41 47 00000000 00000002 00000001 00000000 2006 0000", false,
       StartupFault::insufficient_ird},
      {"RTR Send", true, reply("50 02 0004 c004 0008"), "41 43 00000000 00000000 00000001 00000000",
       true, std::nullopt},
      {"RTR Write", true, reply("50 02 0004 8004 8008"), "c1 40 00000000 0000000000000000", true,
       std::nullopt},
      {"RTR Read", true, reply("50 02 0004 8004 4008"),
       "41 41 00000000 00000001 00000001 00000000 00000000 0000000000000000 00000000 00000000 "
       "0000000000000000",
       true, std::nullopt},
      {"no RTR kind", true, reply("50 02 0004 8004 0008"),
       "41 47 00000000 00000002 00000001 00000000 2007 0000", false, StartupFault::no_matching_rtr},
      {"flag A lost", true, reply("50 02 0004 0004 0008"), "", true, std::nullopt},
      {"flags without A", true, reply("50 02 0004 4004 c008"), "", true, std::nullopt},
      {"plain reply", false, reply("40 02 0000"), "", false, StartupFault::invalid_frame},
      {"revision 1", false, reply("50 01 0004 0004 0008"), "", false, StartupFault::invalid_frame},
      {"revision 3", false, reply("50 03 0004 0004 0008"), "", false, StartupFault::invalid_frame},
      {"words missing", false, reply("50 02 0002 0004"), "", false, StartupFault::invalid_frame},
      {"PD_Length 513", false, reply("50 02 0201"), "", false, StartupFault::invalid_frame},
      {"a Request", false, request("50 02 0004 0004 0008"), "", false, StartupFault::invalid_frame},
  };
  return table;
}

/// A responder in the peer-to-peer model that takes the kinds asked for.
inline void start_peer_to_peer(Subject& subject, std::string_view words) {
  subject.feed(request("10 02 0004" + std::string(words)));
  subject.stream.accept(4, 4, {}, subject.now);
  (void)subject.output();
  BOOST_TEST(subject.find<Established>() == nullptr);
}

}  // namespace rnic::stream::test
