// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The reader of an event file: event_file.cpp has the file, event_participants.cpp its participants.
#pragma once

#include <chrono>
#include <cstddef>
#include <expected>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/strict_yaml.hpp"
#include "plugfest/event_file.hpp"

namespace plugfest {

inline constexpr std::size_t longest_event_file = std::size_t{1} << 20;

class EventReader {
 public:
  EventReader(const std::string& name, const EventFileOptions& options)
      : yaml_(name), options_(options) {}

  std::expected<Event, Faults> read(const std::string& text);
  Faults faults_of_one_more(const Event& event, const std::string& text);

 private:
  using Node = YAML::Node;
  using Take = std::function<void(const Node&)>;
  using Keys = std::map<std::string_view, Take>;

  void mapping(const Node& node, std::string_view what, const Keys& keys,
               std::initializer_list<std::string_view> required = {});
  void items(const Node& node, std::string_view what, const Take& take);
  void text(const Node& node, std::string_view key, std::string& into);
  void word(const Node& node, std::string_view key, std::string_view besides, std::string& into);
  void count(const Node& node, std::string_view key, int low, int high, int& into);
  void seconds(const Node& node, std::string_view key, std::chrono::seconds& into);
  void flag(const Node& node, std::string_view key, bool& into);
  std::vector<std::string> texts(const Node& node, std::string_view what);

  void participant(const Node& node);
  void judge_names(const Node& node, const Participant& one, const Participant& other);
  void join(const Node& node);
  void join_as(const std::filesystem::path& file);
  void one_more(const std::string& text);
  void agent(const Node& node, Participant& into);
  void reference(const Node& node, Participant& into);
  void ssh(const Node& node, Participant& into);
  void tls(const Node& node, Participant& into);
  void argv(const Node& node, Participant& into);
  void guest(const Node& node, Participant& into);
  void pics(const Node& node, Participant& into);
  void scenarios(const Node& node);
  void pairs(const Node& node);
  void pair(const Node& node);
  std::optional<std::size_t> participant_named(const Node& node);
  void exceptions(const Node& node);
  void expectation(const Node& node);
  void harm(const Node& node, std::string& reason);
  void judge_reason(const Node& entry, const std::vector<std::string>& observed = {});
  void need_addresses();
  void tls_files(const Node& node);
  void captures(const Node& node);
  void capture(const Node& node);
  void judge_tls();
  void judge_guests();

  base::StrictYaml yaml_;
  const EventFileOptions& options_;
  Event event_;
  std::vector<YAML::Node> places_;  ///< of the participants
};

}  // namespace plugfest
