// SPDX-License-Identifier: GPL-2.0-or-later
// Every field that a display filter can name. If Wireshark's own dissectors have a field for the
// same thing, ours has its name and type, so that filters written for them still work.
#pragma once

#include <epan/packet.h>

namespace dissectors::wireshark {

/// Numbers that Wireshark gives the fields when they are registered.
struct Fields {
  int connection = -1;
  int role = -1;
  int revision = -1;
  int crc_in_use = -1;
  int markers_in_use = -1;
  int markers_back = -1;
  int enhanced = -1;
  int peer_to_peer = -1;
  int rejected = -1;
  int request_ird = -1;
  int request_ord = -1;
  int reply_ird = -1;
  int reply_ord = -1;
  int violation = -1;
  int violation_rule = -1;
  int violation_also = -1;
  int violation_level = -1;
  int violation_rfc = -1;
  int violation_section = -1;
  int violation_text = -1;
  int violation_quote = -1;
  int violation_actual = -1;
  int violation_admissible = -1;
  int violation_frame = -1;
  int violation_first_frame = -1;
  int violation_likely = -1;
  int note = -1;
  int note_kind = -1;
  int note_frame = -1;
  int mpa_request = -1;
  int mpa_reply = -1;
  int key_request = -1;
  int key_reply = -1;
  int marker_flag = -1;
  int crc_flag = -1;
  int reject_flag = -1;
  int enhanced_flag = -1;
  int mpa_reserved = -1;
  int mpa_reserved_old = -1;
  int mpa_revision = -1;
  int pd_length = -1;
  int private_data = -1;
  int flag_a = -1;
  int flag_b = -1;
  int mpa_ird = -1;
  int flag_c = -1;
  int flag_d = -1;
  int mpa_ord = -1;
  int fpdu = -1;
  int ulpdu_length = -1;
  int ulpdu = -1;
  int pad = -1;
  int crc = -1;
  int crc_expected = -1;
  int crc_status = -1;
  int markers = -1;
  int marker_reserved = -1;
  int marker_pointer = -1;
  int marker_expected = -1;
  int marker_offset = -1;
  int fpdu_offset = -1;
  int fpdu_octets = -1;
  int fpdu_first_frame = -1;
  int fpdu_aligned = -1;
  int fpdu_ends = -1;
  int fpdu_whole = -1;
  int fpdu_likely = -1;
  int ddp = -1;
  int ddp_control = -1;
  int tagged_flag = -1;
  int last_flag = -1;
  int ddp_reserved = -1;
  int ddp_version = -1;
  int tagged = -1;
  int untagged = -1;
  int stag = -1;
  int tagged_offset = -1;
  int queue_number = -1;
  int msn = -1;
  int mo = -1;
  int payload = -1;
  int payload_octets = -1;
  int rdmap = -1;
  int rdmap_control = -1;
  int rdmap_version = -1;
  int rdmap_reserved = -1;
  int opcode = -1;
  int rdmap_reserved_word = -1;
  int invalidate_stag = -1;
  int read_request = -1;
  int sink_stag = -1;
  int sink_offset = -1;
  int read_size = -1;
  int source_stag = -1;
  int source_offset = -1;
  int atomic_request = -1;
  int atomic_response = -1;
  int atomic_reserved = -1;
  int atomic_opcode = -1;
  int atomic_id = -1;
  int atomic_stag = -1;
  int atomic_offset = -1;
  int add_data = -1;
  int add_mask = -1;
  int swap_data = -1;
  int swap_mask = -1;
  int compare_data = -1;
  int compare_mask = -1;
  int original_id = -1;
  int original_data = -1;
  int immediate = -1;
  int terminate = -1;
  int terminate_cause = -1;
  int terminate_layer = -1;
  int terminate_type = -1;
  int terminate_code = -1;
  int terminate_m = -1;
  int terminate_d = -1;
  int terminate_r = -1;
  int terminate_reserved = -1;
  int terminate_length = -1;
  int terminate_ddp = -1;
  int terminate_rdmap = -1;
  int ddp_for_ulp = -1;
  int terminate_control = -1;
  int type_rdma = -1;
  int type_ddp = -1;
  int type_llp = -1;
  int code_rdma = -1;
  int code_ddp_tagged = -1;
  int code_ddp_untagged = -1;
  int code_llp = -1;
  int header_control = -1;
  int blames = -1;
  int blamed_in = -1;
  int send_fragments = -1;
  int send_fragment = -1;
  int send_overlap = -1;
  int send_conflict = -1;
  int send_several_tails = -1;
  int send_too_long = -1;
  int send_error = -1;
  int send_count = -1;
  int send_joined_in = -1;
  int send_length = -1;
  int send_data = -1;
  int crc_check = -1;
  int reserved_not_zero = -1;
  int revision_not_one = -1;
  int reject_by_initiator = -1;
  int bad_length = -1;
  int summary = -1;
  int message = -1;
  int message_first = -1;
  int message_octets = -1;
  int joined = -1;
  int joined_segments = -1;
  int joined_frame = -1;
  int joined_in = -1;
  int request_in = -1;
  int response_in = -1;
  int response_time = -1;
};

/// And to what can be folded in the tree.
struct Trees {
  int frame = -1, connection = -1, violation = -1, mpa_frame = -1, fpdu = -1, markers = -1,
      joined = -1;
  int ddp = -1, rdmap = -1, header = -1;
};

/// Wireshark's interface needs places that live as long as the program.
extern Fields fields;
extern Trees trees;

void register_fields(int protocol);

}  // namespace dissectors::wireshark
