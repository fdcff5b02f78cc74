// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Deviations of the course of MPA startup: its timers, its end, what is sent and reported when (RFC
// 5044 section 7.1.2).
#include <algorithm>
#include <vector>

#include "reference_rnic/deviants/stream_tables.hpp"
#include "reference_rnic/stream/startup.hpp"
#include "reference_rnic/wire/fpdu.hpp"

namespace rnic::deviants {
namespace {

using namespace stream;  // NOLINT(google-build-using-namespace): the words of what deviates

bool rejected(const StartupEnding& ending) { return !ending.fault; }

struct BadRequestAnsweredByReject : Decisions {
  void startup_ends(const StartupEnding& ending, StartupEnd& end) override {
    if (ending.fault != StartupFault::invalid_frame || ending.state != State::awaiting_request)
      return;
    end.reply.emplace();
    end.reply->kind = wire::MpaFrameKind::reply;
    end.reply->flags.octet = wire::MpaFlags::r;
  }
};

struct BadReplyAnsweredByTerminate : Decisions {
  void startup_ends(const StartupEnding& ending, StartupEnd& end) override {
    if (ending.fault != StartupFault::invalid_frame || ending.state != State::awaiting_reply)
      return;
    end.terminate =
        Fault{wire::cause::mpa_invalid_frame, "malformed Reply", std::nullopt, std::nullopt};
  }
};

struct TerminateAfterReject : Decisions {
  void startup_ends(const StartupEnding& ending, StartupEnd& end) override {
    if (rejected(ending)) end.terminate = Fault{cause(), "rejected", std::nullopt, std::nullopt};
  }
  [[nodiscard]] virtual wire::TerminateCause cause() const {
    return wire::cause::mpa_insufficient_ird;
  }
};

struct RejectTerminateWrongCode : TerminateAfterReject {
  [[nodiscard]] wire::TerminateCause cause() const override { return wire::cause::mpa_no_rtr; }
};

struct ResetsAfterReject : Decisions {
  void startup_ends(const StartupEnding& ending, StartupEnd& end) override {
    if (rejected(ending)) end.reset = true;
  }
};

/// The FPDU of an RDMA Write without payload, without Markers.
std::vector<std::byte> empty_write() {
  wire::TaggedHeader header;
  header.rdmap = wire::RdmapControl::make(wire::Opcode::rdma_write);
  std::vector<std::byte> fpdu(wire::fpdu_size(sizeof header));
  wire::Writer writer(fpdu);
  writer.write(wire::be16(sizeof header));
  writer.write(header);
  const auto crc = wire::crc32c_trailer(wire::Bytes(fpdu).first(fpdu.size() - wire::fpdu_crc_size));
  std::ranges::copy(crc, fpdu.end() - crc.size());
  return fpdu;
}

struct FpduBeforeReply : Decisions {
  void startup_octets_leave(const StartupFrame& frame, std::vector<std::byte>& octets) override {
    if (frame.kind != wire::MpaFrameKind::request) return;
    const std::vector<std::byte> fpdu = empty_write();
    octets.insert(octets.end(), fpdu.begin(), fpdu.end());
  }
};

struct RequestSentTwice : Decisions {
  void startup_octets_leave(const StartupFrame& frame, std::vector<std::byte>& octets) override {
    if (frame.kind != wire::MpaFrameKind::request) return;
    const std::vector<std::byte> once = octets;
    octets.insert(octets.end(), once.begin(), once.end());
  }
};

struct ResponderSendsFirst : Decisions {
  void first_fpdu_awaited(bool& awaited) override { awaited = false; }
};

struct OctetsBehindRequestIgnored : Decisions {
  void octets_after_request(wire::Bytes, bool& acceptable) override { acceptable = true; }
};

struct StartupNeverTimesOut : Decisions {
  void startup_deadline(const StartupWait&, std::optional<TimePoint>& deadline) override {
    deadline.reset();
  }
};

struct EmptyConnectionKept : Decisions {
  void startup_deadline(const StartupWait& wait, std::optional<TimePoint>& deadline) override {
    if (wait.state != State::awaiting_request) return;
    if (!wait.frame_begun)
      deadline.reset();
    else if (!deadline)
      deadline = wait.now + wait.limit;
  }
};

struct StartupTimerLeftRunning : Decisions {
  void startup_deadline(const StartupWait& wait, std::optional<TimePoint>& deadline) override {
    if (!deadline) deadline = wait.now + wait.limit;
  }
};

struct EstablishedTwiceOverPieces : Decisions {
  void startup_parsed(wire::MpaFrameKind kind, wire::Bytes, ParsedStartup& parsed) override {
    if (kind == wire::MpaFrameKind::reply && !parsed) in_pieces_ = true;
  }
  void startup_reported(std::vector<Event>& events) override {
    if (in_pieces_ && !events.empty() && std::holds_alternative<Established>(events.front()))
      events.push_back(Event(events.front()));
  }

 private:
  bool in_pieces_ = false;
};

struct ZeroDepthRequestUnanswered : Decisions {
  void startup_reported(std::vector<Event>& events) override {
    std::erase_if(events, [](const Event& event) {
      const auto* request = std::get_if<ConnectRequest>(&event);
      return request != nullptr && request->enhanced &&
             (request->enhanced->ird == 0 || request->enhanced->ord == 0);
    });
  }
};

struct FirstFpduWaitsForTheNext : Decisions {
  void fpdu_arrived(const ArrivedFpdu& arrived, FpduOutcome& outcome) override {
    if (taken_ || arrived.config.role != Role::responder || outcome.ulpdus.empty()) return;
    if (arrived.octets.size() > arrived.wire_size)
      taken_ = true;
    else
      outcome = {};
  }
  bool taken_ = false;
};

constexpr StreamRow rows[] = {
    stream_row<FirstFpduWaitsForTheNext>(Deviation::first_fpdu_waits_for_the_next),
    stream_row<BadRequestAnsweredByReject>(Deviation::bad_request_answered_by_reject),
    stream_row<BadReplyAnsweredByTerminate>(Deviation::bad_reply_answered_by_terminate),
    stream_row<TerminateAfterReject>(Deviation::terminate_after_reject),
    stream_row<RejectTerminateWrongCode>(Deviation::reject_terminate_wrong_code),
    stream_row<ResetsAfterReject>(Deviation::resets_after_reject),
    stream_row<FpduBeforeReply>(Deviation::fpdu_before_reply),
    stream_row<RequestSentTwice>(Deviation::request_sent_twice),
    stream_row<ResponderSendsFirst>(Deviation::responder_sends_first),
    stream_row<OctetsBehindRequestIgnored>(Deviation::octets_behind_request_ignored),
    stream_row<StartupNeverTimesOut>(Deviation::startup_never_times_out),
    stream_row<EmptyConnectionKept>(Deviation::empty_connection_kept),
    stream_row<StartupTimerLeftRunning>(Deviation::startup_timer_left_running),
    stream_row<EstablishedTwiceOverPieces>(Deviation::established_twice_over_pieces),
    stream_row<ZeroDepthRequestUnanswered>(Deviation::zero_depth_request_unanswered),
};

}  // namespace

std::span<const StreamRow> startup_deviants() { return rows; }

}  // namespace rnic::deviants
