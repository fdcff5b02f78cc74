// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// For each check of the Terminate Message a conversation that it alone complains of.
#include "dissectors/analyzer/terminate_rules.hpp"
#include "dissectors/analyzer/tests/bad_conversation.hpp"

namespace dissectors::analyzer::tests {

namespace {

const Octets a_send = ulpdu(Untagged{.payload = octets(9)});
const Octets a_write = ulpdu(Tagged{.payload = octets(9)});
const Octets a_read = read_request(1);

/// Zeros in place of a header (docs/disputes.md D101).
const Octets no_request(sizeof(wire::ReadRequestHeader));

/// All that the other end has sent so far.
constexpr std::uint64_t everything = 1 << 20;

/// The responder's Terminate about the initiator's message, `change`d.
void blamed(Conversation& it, const Octets& sent, wire::TerminateCause cause, auto change) {
  sends(it, {sent});
  wire::Terminate contents = blame(cause, sent);
  change(contents);
  it.send(responder, terminate(contents));
}

/// The same, with the octets after the DDP header changed.
void blamed_octets(Conversation& it, const Octets& sent, wire::TerminateCause cause, auto change) {
  sends(it, {sent});
  it.knowing(everything);
  Octets octets_of_it = terminate(blame(cause, sent));
  change(octets_of_it);
  it.send(responder, octets_of_it);
}

/// A Terminate of a Read that was served in part, its offsets and size as given.
void read_cut_short(Conversation& it, const Read& rest) {
  const Octets request = read_request(1, {.length = 300});
  sends(it, {request});
  it.send(responder, response_part(0x2000, 100, false));
  wire::Terminate contents = blame(wire::cause::rdmap_invalid_stag, request);
  const Octets header_left = payload_of(header(rest));
  contents.rdmap_header = header_left;
  it.send(responder, terminate(contents));
}

constexpr auto nothing = [](wire::Terminate&) {};
/// The DDP segment length follows the untagged header and the four octets of control.
constexpr std::size_t behind_control = wire::untagged_header_size + 4;

/// The ULPDU of a Terminate whose control the bit-fields of a little-endian host laid out.
Octets in_host_order(Octets ulpdu) {
  constexpr std::size_t control = wire::untagged_header_size;
  const auto first = std::to_integer<unsigned>(ulpdu[control]);
  const auto bits = std::to_integer<unsigned>(ulpdu[control + 2]);
  ulpdu[control] = static_cast<std::byte>(first << 4U | first >> 4U);
  ulpdu[control + 2] =
      static_cast<std::byte>((bits >> 7U & 1U) | (bits >> 5U & 2U) | (bits >> 3U & 4U));
  return ulpdu;
}

const std::vector<Bad> terminates{
    {"rdmap.terminate.control-values-defined",
     [](Conversation& it) {
       sends(it, {a_send});
       Octets sent = terminate(blame(wire::cause::ddp_untagged_invalid_queue, a_send));
       sent[wire::untagged_header_size] = std::byte{0x21};  // EType, then Layer
       it.send(responder, sent);
     }},
    {"rdmap.terminate.header-format",
     [](Conversation& it) {
       sends(it, {a_read});
       it.send(responder, in_host_order(terminate(blame(wire::cause::rdmap_to_wrap, a_read))));
     }},
    {"rdmap.terminate.header-format",
     [](Conversation& it) {
       sends(it, {ulpdu(Untagged{.opcode = Opcode::terminate, .queue = 2, .payload = Octets(3)})});
     }},
    {"rdmap.terminate.carries-no-payload",
     [](Conversation& it) {
       blamed_octets(it, a_send, wire::cause::ddp_untagged_no_buffer,
                     [](Octets& all) { all = extended(all, 5); });
     }},
    {"rdmap.terminate.m-bit-per-figure",
     [](Conversation& it) {
       blamed(it, a_send, wire::cause::ddp_untagged_no_buffer, [](auto& that) { that.m = false; });
     }},
    {"rdmap.terminate.d-bit-per-figure",
     [](Conversation& it) {
       sends(it, {a_send});
       wire::Terminate contents = blame(wire::cause::rdmap_operation_unspecified, a_send);
       contents.d = contents.m = false;
       contents.segment_length = 0;
       it.send(responder, terminate(contents));
     }},
    {"rdmap.terminate.d-bit-per-figure",
     [](Conversation& it) {
       blamed(it, a_send, wire::cause::ddp_untagged_no_buffer, [](auto& that) {
         that.d = false;
         that.ddp_header = {};
       });
     }},
    {"rdmap.terminate.r-bit-per-figure",
     [](Conversation& it) {
       blamed(it, a_read, wire::cause::rdmap_unexpected_opcode, [](auto& that) { that.r = false; });
     }},
    {"rdmap.terminate.r-bit-per-figure",
     [](Conversation& it) {
       blamed(it, a_send, wire::cause::rdmap_operation_unspecified, [](auto& that) {
         that.r = true;
         that.rdmap_header = no_request;
       });
     }},
    {"rdmap.terminate.segment-length-present-with-d",
     [](Conversation& it) {
       blamed(it, a_send, wire::cause::ddp_untagged_no_buffer,
              [](auto& that) { that.segment_length.reset(); });
     }},
    {"rdmap.terminate.ddp-header-present-with-d",
     [](Conversation& it) {
       blamed(it, a_send, wire::cause::ddp_untagged_no_buffer,
              [](auto& that) { that.ddp_header = {}; });
     }},
    {"rdmap.terminate.ddp-header-size",
     [](Conversation& it) {
       blamed(it, a_send, wire::cause::ddp_untagged_no_buffer,
              [](auto& that) { that.ddp_header = that.ddp_header.first(14); });
     }},
    {"rdmap.terminate.rdma-header-present-with-r",
     [](Conversation& it) {
       blamed(it, a_read, wire::cause::rdmap_to_wrap, [](auto& that) { that.rdmap_header = {}; });
     }},
    {"rdmap.terminate.rdma-header-size",
     [](Conversation& it) {
       blamed(it, a_read, wire::cause::rdmap_to_wrap,
              [](auto& that) { that.rdmap_header = that.rdmap_header.first(24); });
     }},
    {"rdmap.terminate.reserved-zero",
     [](Conversation& it) {
       blamed(it, a_send, wire::cause::ddp_untagged_no_buffer,
              [](auto& that) { that.reserved = 1; });
     }},
    {"rdmap.terminate.control-values-defined",
     [](Conversation& it) { blamed(it, a_read, {0, 1, 0x7E}, nothing); }},
    {"rdmap.terminate.control-values-defined",
     [](Conversation& it) { sends(it, {terminate(because({2, 0, 0x7E}))}); }},
    {"ddp.terminate.error-numbers-used",
     [](Conversation& it) { blamed(it, a_write, {1, 1, 0x7E}, nothing); }},
    {"ddp.terminate.error-numbers-used",
     [](Conversation& it) { blamed(it, a_write, wire::cause::ddp_untagged_no_buffer, nothing); }},
    {"ddp.terminate.error-numbers-used",
     [](Conversation& it) { blamed(it, a_send, wire::cause::ddp_tagged_invalid_stag, nothing); }},
    {"ddp.terminate.local-catastrophic",
     [](Conversation& it) { sends(it, {terminate(because({1, 0, 1}))}); }},
    {"rdmap.terminate.protection-error-causes",
     [](Conversation& it) { blamed(it, a_write, wire::cause::rdmap_invalid_stag, nothing); }},
    {"rdmap.terminate.code-invalid-version",
     [](Conversation& it) { blamed(it, a_send, wire::cause::rdmap_invalid_version, nothing); }},
    {"rdmap.terminate.code-invalid-version",
     [](Conversation& it) {
       blamed(it, flipped(a_send, 1, 0xC0), wire::cause::rdmap_unexpected_opcode, nothing);
       std::erase_if(it.findings, [](const Finding& finding) {
         return finding.rule.id == "rdmap.header.version-one";
       });
     }},
    {"rdmap.terminate.code-unexpected-opcode",
     [](Conversation& it) {
       blamed(it, ulpdu(Untagged{.queue = 1}), wire::cause::rdmap_invalid_version, nothing);
       std::erase_if(it.findings, [](const Finding& finding) {
         return finding.rule.id == "rdmap.send.queue-zero";
       });
     }},
    {"rdmap.terminate.code-cannot-invalidate-protection",
     [](Conversation& it) {
       blamed(it, a_send, wire::cause::rdmap_protection_cannot_invalidate, nothing);
     }},
    {"rdmap.terminate.code-cannot-invalidate-operation",
     [](Conversation& it) {
       blamed(it, a_send, wire::cause::rdmap_operation_cannot_invalidate, nothing);
     }},
    {"rdmap.terminate.local-catastrophic-no-ddp-header",
     [](Conversation& it) { blamed(it, a_send, wire::cause::rdmap_local_catastrophic, nothing); }},
    {"rdmap.terminate.local-catastrophic-no-headers",
     [](Conversation& it) {
       blamed(it, a_send, wire::cause::rdmap_local_catastrophic, [](auto& that) {
         that.d = false;
         that.ddp_header = {};
       });
     }},
    {"rdmap.terminate.local-catastrophic-no-headers",
     [](Conversation& it) {
       blamed(it, a_send, wire::cause::rdmap_local_catastrophic, [](auto& that) {
         that.ddp_header = wire::Bytes(no_request).first(wire::untagged_header_size);
       });
     }},
    {"rdmap.terminate.protection-error-ddp-header",
     [](Conversation& it) {
       sends(it, {a_read});
       it.send(responder, terminate(because(wire::cause::rdmap_invalid_stag)));
     }},
    {"rdmap.terminate.operation-error-ddp-header",
     [](Conversation& it) {
       sends(it, {a_read});
       it.send(responder, terminate(because(wire::cause::rdmap_unexpected_opcode)));
     }},
    {"rdmap.terminate.ddp-error-ddp-header",
     [](Conversation& it) {
       sends(it, {a_write});
       it.send(responder, terminate(because(wire::cause::ddp_tagged_to_wrap)));
     }},
    {"rdmap.terminate.llp-error-no-headers",
     [](Conversation& it) { blamed(it, a_send, wire::cause::mpa_crc, nothing); }},
    {"rdmap.terminate.protection-error-rdma-header",
     [](Conversation& it) {
       blamed(it, a_read, wire::cause::rdmap_invalid_stag, [](auto& that) {
         that.r = false;
         that.rdmap_header = {};
       });
     }},
    {"rdmap.terminate.operation-error-no-rdma-header",
     [](Conversation& it) {
       sends(it, {a_send});
       wire::Terminate contents = because(wire::cause::rdmap_operation_unspecified);
       contents.r = true;
       const Octets read_header = payload_of(header(Read{}));
       contents.rdmap_header = read_header;
       it.send(responder, terminate(contents));
     }},
    {"rdmap.terminate.ddp-error-no-rdma-header",
     [](Conversation& it) {
       blamed(it, a_read, wire::cause::ddp_untagged_no_buffer, [](auto& that) {
         that.r = true;
         that.rdmap_header = wire::Bytes(a_read).subspan(wire::untagged_header_size);
       });
     }},
    {"rdmap.terminate.ddp-error-no-rdma-header",
     [](Conversation& it) {
       blamed(it, a_read, wire::cause::ddp_untagged_no_buffer, [](auto& that) {
         that.r = true;
         that.rdmap_header = no_request;
       });
     }},
    {"rdmap.terminate.rdma-header-only-for-reads",
     [](Conversation& it) {
       blamed(it, a_send, wire::cause::rdmap_operation_unspecified, [](auto& that) {
         that.r = true;
         that.rdmap_header = wire::Bytes(a_read).subspan(wire::untagged_header_size);
       });
     }},
    {"rdmap.terminate.ddp-header-copied",
     [](Conversation& it) {
       blamed_octets(it, a_send, wire::cause::ddp_untagged_no_buffer,
                     [](Octets& all) { all = flipped(all, behind_control + 2 + 13, 0x04); });
     }},
    {"rdmap.terminate.segment-length-value",
     [](Conversation& it) {
       blamed(it, a_send, wire::cause::ddp_untagged_no_buffer,
              [](auto& that) { that.segment_length = 9; });
     }},
    {"rdmap.terminate.segment-length-value",
     [](Conversation& it) {
       blamed(it, a_read, wire::cause::rdmap_invalid_stag,
              [](auto& that) { that.segment_length = 29; });
     }},
    {"rdmap.terminate.read-header-original",
     [](Conversation& it) {
       sends(it, {a_read});
       wire::Terminate contents = blame(wire::cause::rdmap_invalid_stag, a_read);
       const Octets other = payload_of(header(Read{.source = 0x601}));
       contents.rdmap_header = other;
       it.send(responder, terminate(contents));
     }},
    {"rdmap.terminate.read-header-keeps-stags",
     [](Conversation& it) {
       read_cut_short(it, {.sink_to = 0x2064, .length = 200, .source = 0x601, .source_to = 0x3064});
     }},
    {"rdmap.terminate.read-header-advances-offsets",
     [](Conversation& it) { read_cut_short(it, {.length = 300}); }},
    {"rdmap.terminate.read-header-size-remaining",
     [](Conversation& it) {
       read_cut_short(it, {.sink_to = 0x2064, .length = 300, .source_to = 0x3064});
     }},
    {"rdmap.terminate.graceful-llp-teardown",
     [](Conversation& it) {
       sends(it, {terminate(because(wire::cause::rdmap_local_catastrophic))});
       it.reset(initiator);
     }},
};

constexpr rules::RuleId terminate_rules[]{
#define ANALYZER_CHECK(name, ...) __VA_ARGS__,
#include "dissectors/analyzer/terminate_rules.def"
#undef ANALYZER_CHECK
};

}  // namespace

BOOST_AUTO_TEST_SUITE(bad)

BOOST_AUTO_TEST_CASE(terminate_checks) { judge(terminates, terminate_rules); }

BOOST_AUTO_TEST_CASE(a_fault_of_layout_hides_no_other) {
  const auto found = [](auto change) {
    Conversation it;
    sends(it, {a_send});
    it.knowing(everything);
    wire::Terminate contents = blame(wire::cause::ddp_untagged_no_buffer, a_send);
    change(contents);
    it.send(responder, in_host_order(terminate(contents)));
    it.finish();
    std::set<std::string_view> rules;
    for (const Finding& finding : it.findings) rules.insert(finding.rule.id);
    return rules;
  };
  using Rules = std::set<std::string_view>;
  constexpr std::string_view layout = "rdmap.terminate.header-format";
  BOOST_TEST((found([](auto&) {}) == Rules{layout}));
  BOOST_TEST((found([](auto& that) { that.segment_length = 0; }) ==
              Rules{layout, "rdmap.terminate.segment-length-value"}));
  Octets other = a_send;
  other.back() = std::byte{0x77};
  other[5] = std::byte{9};
  BOOST_TEST((found([&](auto& that) {
                that.ddp_header = wire::Bytes(other).first(that.ddp_header.size());
              }) == Rules{layout, "rdmap.terminate.ddp-header-copied"}));
  BOOST_TEST((found([](auto& that) { that.cause = wire::cause::rdmap_invalid_version; }) ==
              Rules{layout, "rdmap.terminate.code-invalid-version"}));
}

BOOST_AUTO_TEST_CASE(each_order_of_a_host_is_named) {
  using Control = std::span<std::byte, 4>;
  const auto said = [](void (*change)(Control)) {
    Conversation it;
    sends(it, {a_send});
    Octets sent = terminate(blame(wire::cause::ddp_untagged_no_buffer, a_send));
    change(Control(sent.data() + wire::untagged_header_size, 4));
    it.send(responder, sent);
    it.finish();
    BOOST_REQUIRE(it.findings.size() == 1U);
    BOOST_TEST(it.findings.front().rule.id == "rdmap.terminate.header-format");
    BOOST_TEST(it.findings.front().actual.contains("; read so: DDP untagged buffer error"));
    return it.findings.front().actual;
  };
  BOOST_TEST(
      said([](Control it) { it[2] = std::byte{3}; }).contains("M, D and R in the bit order"));
  BOOST_TEST(said([](Control it) { std::ranges::reverse(it); }).contains("the octets of its Term"));
  BOOST_TEST(said([](Control it) { std::swap(it[2], it[3]); }).contains("the two octets of M, D"));
}

BOOST_AUTO_TEST_CASE(a_segment_that_was_not_seen_may_be_blamed) {
  const auto is_found = [](bool whole, std::optional<std::uint64_t> received) {
    Conversation it;
    sends(it, {a_write});
    if (!whole) it.end_within_fpdu(initiator);
    it.knowing(received);
    it.send(responder, terminate(blame(wire::cause::ddp_untagged_no_buffer, a_send)));
    it.finish();
    return std::ranges::any_of(it.findings, [](const Finding& finding) {
      return finding.rule.id == "rdmap.terminate.ddp-header-copied";
    });
  };
  BOOST_TEST(is_found(true, everything));
  BOOST_TEST(!is_found(false, everything));
  // Merged taps may bring what the other end has sent only afterwards.
  BOOST_TEST(!is_found(true, std::nullopt));
}

BOOST_AUTO_TEST_CASE(an_earlier_write_to_the_same_place_may_be_blamed) {
  const auto is_found = [](int writes_between) {
    Conversation it;
    sends(it, {a_write});
    for (int i = 0; i < writes_between; ++i) it.send(initiator, a_write);
    it.knowing(everything);
    wire::Terminate contents = blame(wire::cause::ddp_tagged_invalid_stag, a_write);
    contents.segment_length = 14;
    it.send(responder, terminate(contents));
    it.finish();
    return std::ranges::any_of(it.findings, [](const Finding& finding) {
      return finding.rule.id == "rdmap.terminate.segment-length-value";
    });
  };
  BOOST_TEST(is_found(0));
  // As many as are not all remembered.
  BOOST_TEST(!is_found(100));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace dissectors::analyzer::tests
