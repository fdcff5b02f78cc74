// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Shows how reference_rnic/wire reads octets, one JSON object per line, field by field: one side of
// the comparison with the second decoder. No program stores or reads these lines but that test, so
// they have no record tables.
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/hex.hpp"
#include "reference_rnic/wire/fpdu.hpp"
#include "reference_rnic/wire/mpa_frame.hpp"
#include "reference_rnic/wire/rdmap.hpp"
#include "reference_rnic/wire/terminate.hpp"

using namespace rnic::wire;
using Json = nlohmann::json;

namespace {

Json error(const char* what) { return {{"error", what}}; }

Json fields(const ReadRequestHeader& header) {
  return {{"sink_stag", header.sink_stag.value()},
          {"sink_to", header.sink_offset.value()},
          {"size", header.length.value()},
          {"source_stag", header.source_stag.value()},
          {"source_to", header.source_offset.value()}};
}

Json fields(const AtomicRequestHeader& header) {
  return {{"reserved", header.operation.value() >> 4},
          {"atomic_opcode", header.operation.value() & 0xF},
          {"request_id", header.request_id.value()},
          {"remote_stag", header.remote_stag.value()},
          {"remote_to", header.remote_offset.value()},
          {"data", header.add_or_swap_data.value()},
          {"mask", header.add_or_swap_mask.value()},
          {"compare_data", header.compare_data.value()},
          {"compare_mask", header.compare_mask.value()}};
}

Json fields(const AtomicResponseHeader& header) {
  return {{"request_id", header.original_request_id.value()},
          {"original_value", header.original_data.value()}};
}

Json fields(const be64& immediate) { return {{"immediate", immediate.value()}}; }

template <typename Header>
Json whole(Bytes octets) {
  Reader in(octets);
  const auto header = in.read<Header>();
  if (in.truncated()) return error("truncated");
  Json found = fields(header);
  found["beyond"] = base::to_hex(in.rest());
  return found;
}

Json ddp_fields(const Segment& segment) {
  const DdpControl ddp = segment.ddp();
  const RdmapControl rdmap = segment.rdmap();
  Json found{{"tagged", ddp.tagged()},
             {"last", ddp.last()},
             {"ddp_reserved", (ddp.octet & DdpControl::reserved_mask) >> 2},
             {"ddp_version", ddp.version()},
             {"rdmap_version", rdmap.version()},
             {"rdmap_reserved", (rdmap.octet & RdmapControl::reserved_mask) >> 4},
             {"opcode", static_cast<unsigned>(rdmap.opcode())}};
  if (segment.tagged) {
    found["stag"] = segment.tagged_header.stag.value();
    found["to"] = segment.tagged_header.tagged_offset.value();
  } else {
    found["invalidate_stag"] = segment.untagged_header.ulp_word.value();
    found["qn"] = segment.untagged_header.queue_number.value();
    found["msn"] = segment.untagged_header.message_sequence_number.value();
    found["mo"] = segment.untagged_header.message_offset.value();
  }
  return found;
}

Json terminate_line(Bytes octets) {
  const auto parsed = parse_terminate(octets);
  if (!parsed)
    return error(parsed.error() == TerminateError::truncated ? "truncated" : "trailing_octets");
  Json found{{"layer", parsed->cause.layer},
             {"type", parsed->cause.type},
             {"code", parsed->cause.code},
             {"m", parsed->m},
             {"d", parsed->d},
             {"r", parsed->r},
             {"reserved", parsed->reserved}};
  if (parsed->segment_length) found["segment_length"] = *parsed->segment_length;
  if (parsed->d) {
    const auto copied = parse_segment(parsed->ddp_header);
    found["ddp_header"] = copied ? ddp_fields(*copied) : error("truncated");
  }
  if (parsed->r) found["rdma_header"] = whole<ReadRequestHeader>(parsed->rdmap_header);
  return found;
}

Json header_line(Opcode opcode, Bytes payload) {
  switch (opcode) {
    case Opcode::read_request:
      return whole<ReadRequestHeader>(payload);
    case Opcode::terminate:
      return terminate_line(payload);
    case Opcode::immediate:
    case Opcode::immediate_solicited:
      return whole<be64>(payload);
    case Opcode::atomic_request:
      return whole<AtomicRequestHeader>(payload);
    case Opcode::atomic_response:
      return whole<AtomicResponseHeader>(payload);
    default:
      return nullptr;
  }
}

Json segment_line(Bytes ulpdu) {
  const auto parsed = parse_segment(ulpdu);
  if (!parsed) return error("truncated");
  Json found = ddp_fields(*parsed);
  found["payload"] = base::to_hex(parsed->payload);
  const bool starts = !parsed->tagged && parsed->untagged_header.message_offset.value() == 0;
  if (Json header = starts ? header_line(parsed->rdmap().opcode(), parsed->payload) : nullptr;
      !header.is_null())
    found["header"] = std::move(header);
  return found;
}

Json mpa_frame_line(Bytes octets) {
  auto kind = MpaFrameKind::request;
  auto parsed = parse_mpa_frame(kind, octets);
  if (!parsed && parsed.error() == MpaFrameError::wrong_key) {
    kind = MpaFrameKind::reply;
    parsed = parse_mpa_frame(kind, octets);
  }
  if (!parsed) {
    if (parsed.error() == MpaFrameError::wrong_key) return error("wrong_key");
    return error(parsed.error() == MpaFrameError::incomplete ? "incomplete"
                                                             : "private_data_too_long");
  }
  const MpaFrame& frame = parsed->frame;
  Json found{{"key", kind == MpaFrameKind::request ? "request" : "reply"},
             {"markers", frame.flags.markers()},
             {"crc", frame.flags.crc()},
             {"rejected", frame.flags.reject()},
             {"enhanced", frame.flags.enhanced()},
             {"reserved", frame.flags.octet & MpaFlags::reserved_mask},
             {"revision", frame.revision},
             {"pd_length", frame.private_data.size()},
             {"private_data", base::to_hex(frame.private_data)},
             {"beyond", base::to_hex(octets.subspan(parsed->consumed))}};
  if (const auto words = frame.enhanced())
    found["negotiation"] = {
        {"peer_to_peer", words->peer_to_peer}, {"rtr_send", words->rtr_send}, {"ird", words->ird},
        {"rtr_write", words->rtr_write},       {"rtr_read", words->rtr_read}, {"ord", words->ord}};
  return found;
}

/// Where the Markers of an FPDU are and what each contains, as the walk finds them.
Json markers_of(Bytes wire, std::uint64_t position, std::size_t size) {
  Json found = Json::array();
  std::uint64_t at = position;
  MarkerWalk walk(position);
  for (std::size_t left = size; left > 0;) {
    if (walk.at_marker()) {
      const auto marker = Reader(wire.subspan(at - position)).read<Marker>();
      found.push_back({{"at", at},
                       {"reserved", marker.reserved.value()},
                       {"fpduptr", marker.fpdu_pointer.value()},
                       {"right", (marker.fpdu_pointer.value() & 0xFFFC) ==
                                     walk.marker().fpdu_pointer.value()}});
      walk.pass_marker();
      at += marker_size;
      continue;
    }
    const std::size_t passed = walk.pass(left);
    at += passed;
    left -= passed;
  }
  return found;
}

Json fpdu_line(Bytes wire, const FpduOptions& options, std::span<std::byte> scratch) {
  const bool leading = options.markers && marker_at(options.position);
  const std::uint64_t start = options.position + (leading ? marker_size : 0);
  Json line{{"item", "fpdu"},
            {"at", start},
            {"markers", Json::array()},
            {"crc", base::to_hex(wire.last(fpdu_crc_size))}};
  FpduOptions lenient = options;
  lenient.crc = false;
  const auto unchecked = parse_fpdu(wire, lenient, scratch);
  const auto checked = parse_fpdu(wire, options, scratch);
  if (!checked) {
    line["error"] = checked.error() == FpduError::bad_crc ? "bad_crc" : "bad_marker";
    return line;
  }
  line["length"] = checked->ulpdu.size();
  if (options.markers)
    line["markers"] = markers_of(wire, options.position, fpdu_size(checked->ulpdu.size()));
  line["pad_is_zero"] = unchecked && unchecked->pad_is_zero && checked->pad_is_zero;
  line["segment"] = segment_line(checked->ulpdu);
  return line;
}

void print(const Json& line) { fmt::print("{}\n", line.dump()); }

void print_stream(Bytes octets, FpduOptions options) {
  std::vector<std::byte> scratch(fpdu_size(max_ulpdu));
  while (!octets.empty()) {
    const auto size = fpdu_wire_size(octets, options);
    if (!size || *size > octets.size())
      return print({{"item", "incomplete"}, {"at", options.position}, {"octets", octets.size()}});
    print(fpdu_line(octets.first(*size), options, scratch));
    octets = octets.subspan(*size);
    options.position += *size;
  }
}

constexpr const char* usage =
    "usage: wire_lines stream|segment|terminate|mpa_frame [--at N] [--markers] [--crc] FILE\n"
    "example: wire_lines stream --markers --crc octets.bin\n"
    "exit: 0 all read, 2 usage or unreadable file\n";

struct Asked {
  std::string kind, file;
  FpduOptions options{.crc = false, .markers = false, .position = 0};
};

bool understand(std::span<char*> words, Asked& asked) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--markers") {
      asked.options.markers = true;
    } else if (word == "--crc") {
      asked.options.crc = true;
    } else if (word == "--at" && i + 1 < words.size()) {
      const std::string_view number = words[++i];
      if (std::from_chars(number.begin(), number.end(), asked.options.position).ptr != number.end())
        return false;
    } else {
      (asked.kind.empty() ? asked.kind : asked.file) = word;
    }
  }
  return !asked.file.empty();
}

}  // namespace

int main(int argc, char** argv) {
  Asked asked;
  if (!understand(std::span(argv, static_cast<std::size_t>(argc)).subspan(1), asked)) {
    fmt::print(stderr, "{}", usage);
    return 2;
  }
  std::ifstream in(asked.file, std::ios::binary);
  if (!in) {
    fmt::print(stderr, "wire_lines: cannot read {}\n", asked.file);
    return 2;
  }
  const std::vector<char> content{std::istreambuf_iterator<char>(in), {}};
  const Bytes octets = std::as_bytes(std::span(content));
  if (asked.kind == "stream")
    print_stream(octets, asked.options);
  else if (asked.kind == "segment")
    print(segment_line(octets));
  else if (asked.kind == "terminate")
    print(terminate_line(octets));
  else if (asked.kind == "mpa_frame")
    print(mpa_frame_line(octets));
  else
    return fmt::print(stderr, "{}", usage), 2;
  return 0;
}
