// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The subject of most runs, and the parts of their list that have files of their own.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference_rnic/deviants/tests/scenarios.hpp"
#include "reference_rnic/deviants/tests/transcript.hpp"
#include "reference_rnic/stream/tests/bad_messages.hpp"
#include "reference_rnic/stream/tests/raw_peer.hpp"

namespace rnic::deviants::test {

inline constexpr std::string_view empty_write = "c1 40 00000000 0000000000000000";

/// A responder in full operation, fed with FPDUs, and some time to look at it afterwards.
template <typename Body>
Scenario operational(std::string name, Body body, bool crc = false, bool markers = false) {
  return {std::move(name), [=](const Decide& decide) {
            stream::Config config = stream::test::plain_config(stream::Role::responder, crc);
            config.markers = markers;
            config.ird = config.ord = 2;
            config.emss = 136;
            stream::test::Subject subject(config, decide());
            stream::test::furnish(subject.memory);
            for (std::uint64_t id = 1; id <= 4; ++id) subject.memory.post_receive(id, 32);
            subject.feed(stream::test::request(crc ? "40 01 0000" : "00 01 0000"));
            subject.stream.accept(2, 2, {}, subject.now);
            (void)subject.output();
            body(subject);
            (void)subject.output();
            return transcript(subject);
          }};
}

inline stream::Work work_of(std::uint64_t id, stream::WorkKind kind) {
  stream::Work work;
  work.id = id;
  work.kind = kind;
  work.remote_stag = 0x1001;
  work.remote_offset = 0x10000;
  return work;
}

// startup_scenarios.cpp
void add_startup_frames(std::vector<Scenario>& list);
void add_startup_oddities(std::vector<Scenario>& list);
void add_split_frames(std::vector<Scenario>& list);
void add_terms_of_startup(std::vector<Scenario>& list);
// transfer_scenarios.cpp
void add_pairs(std::vector<Scenario>& list);

}  // namespace rnic::deviants::test
