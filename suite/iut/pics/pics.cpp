// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/iut/pics/pics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/strict_yaml.hpp"

namespace suite::iut {
namespace {

constexpr std::array items{
    PicsItem{capability::send_invalidate, false, "RFC 5040, 4.7",
             "Can its consumer send with Invalidate?"},
    PicsItem{capability::remote_invalidate, true, "RFC 5040, 5.3",
             "Does a Send with Invalidate from the peer invalidate the STag?"},
    PicsItem{capability::local_invalidate, false, "",
             "Can its consumer invalidate an STag by a work request?"},
    PicsItem{capability::read_invalidate, false, "",
             "Can its consumer have the sink's STag invalidated when an RDMA Read is done?"},
    PicsItem{capability::solicited, false, "RFC 5040, 4.6",
             "Can its consumer send with Solicited Event?"},
    PicsItem{capability::memory_windows, false, "", "Can its consumer bind memory windows?"},
    PicsItem{capability::stream_windows, false, "RFC 5041, 8.2",
             "Is a bound window open only to the stream that bound it?"},
    PicsItem{capability::zero_based, false, "",
             "Can a region be registered so that its Tagged Offsets begin at 0?"},
    PicsItem{capability::chosen_base, false, "",
             "Can its consumer choose the Tagged Offset at which a region begins?"},
    PicsItem{capability::process_rights, false, "RFC 5041, 8.3.2",
             "Can the agent register memory that its process may not write, or not access?"},
    PicsItem{capability::shared_receive_queue, false, "", "Can endpoints share a receive queue?"},
    PicsItem{capability::shared_queue_resize, false, "",
             "Can a shared receive queue be given another depth?"},
    PicsItem{capability::completion_overflow, false, "",
             "Can a completion queue of it be made to overflow?"},
    PicsItem{capability::endpoint_abort, false, "",
             "Can its consumer put an endpoint in the error state, connected or not?"},
    PicsItem{capability::endpoint_reset, false, "",
             "Can an endpoint whose connection has ended be connected again?"},
    PicsItem{capability::atomics, false, "RFC 7306, 5",
             "Are Atomic Operations supported, as requester and as responder?"},
    PicsItem{capability::immediate, false, "RFC 7306, 6",
             "Is Immediate Data supported, both sent and received?"},
    PicsItem{capability::enhanced_startup, false, "RFC 6581, 5",
             "Is enhanced MPA startup (revision 2) supported?"},
    PicsItem{capability::peer_to_peer, false, "RFC 6581, 9.2",
             "Is the peer-to-peer model with RTR indications supported?"},
    PicsItem{capability::ipv6, false, "", "Does it work over IPv6?"},
    PicsItem{capability::completion_events, false, "",
             "Do completions say whether the message was solicited?"},
    PicsItem{capability::completion_queues, false, "", "Can endpoints share a completion queue?"},
    PicsItem{capability::chains, false, "", "Does one call post several requests?"},
    PicsItem{capability::inline_data, false, "",
             "Can the octets of a request be taken when it is posted?"},
    PicsItem{capability::endpoint_access, false, "",
             "Can its consumer say what the peer may do through an endpoint?"},
    PicsItem{capability::endpoint_attributes, false, "",
             "Does its API report the depths and the access rights of an endpoint?"},
    PicsItem{capability::signal_all, false, "",
             "Can its consumer have each request complete, signaled or not?"},
    PicsItem{capability::armed_once, false, "",
             "Can its consumer arm a completion queue for one wakeup alone?"},
    PicsItem{capability::backlog, false, "",
             "Can its consumer say how many connection requests may wait?"},
    PicsItem{capability::event_objects, false, "",
             "Do asynchronous events name the endpoint or queue that they are about?"},
    PicsItem{capability::wildcard_listen, false, "",
             "Can its consumer listen on all addresses of the host at once?"},
    PicsItem{capability::fast_registration, false, "",
             "Can its consumer register memory by a work request?"},
    PicsItem{capability::loopback, false, "", "Can it connect with itself, at its own address?"},
    PicsItem{capability::configure_revision_1, false, "",
             "Can the agent make it start connections with MPA revision 1?"},
    PicsItem{capability::configure_crc, false, "", "Can the agent make it ask for CRC or not?"},
    PicsItem{capability::configure_markers, false, "",
             "Can the agent make it ask for Markers or not?"},
    PicsItem{capability::configure_rtr, false, "",
             "Can the agent choose its RTR indications and the peer-to-peer model?"},
};

constexpr std::array limits{
    LimitItem{"max_ird", "RDMA Reads and Atomics of the peer it takes at once on a connection"},
    LimitItem{"max_ord", "RDMA Reads and Atomics it issues at once on a connection"},
    LimitItem{"max_private_data", "octets of private data its consumer can give"},
    LimitItem{"max_pieces", "pieces of a work request"},
    LimitItem{"max_read_pieces", "pieces of an RDMA Read's sink"},
    LimitItem{"max_send_depth", "work requests in a send queue"},
    LimitItem{"max_receive_depth", "work requests in a receive queue"},
    LimitItem{"max_shared_depth", "work requests in a shared receive queue"},
    LimitItem{"max_shared_pieces", "pieces of a receive in a shared receive queue"},
    LimitItem{"max_endpoints", "endpoints at once"},
    LimitItem{"max_regions", "regions at once"},
    LimitItem{"max_region", "octets of a region"},
    LimitItem{"max_pages", "pages of a region that a work request registers"},
    LimitItem{"page_size", "octets of such a page"},
    LimitItem{"max_inline", "octets of inline data of a request"},
    LimitItem{"max_message", "octets of a message"},
};

const PicsItem* find_item(std::string_view key) {
  const auto* found = std::ranges::find(items, key, &PicsItem::name);
  return found == items.end() ? nullptr : found;
}

}  // namespace

bool is_capability(std::string_view name) { return find_item(name) != nullptr; }

namespace {

bool is_limit(std::string_view key) {
  return std::ranges::find(limits, key, &LimitItem::name) != limits.end();
}

void read_capability(base::StrictYaml& yaml, const std::string& key, const YAML::Node& value,
                     Pics& pics) {
  const PicsItem* item = find_item(key);
  if (item == nullptr) return yaml.fault(value, fmt::format("capability \"{}\" is unknown", key));
  const std::string said = value.IsScalar() ? value.Scalar() : std::string();
  if (said == "true") {
    pics.capabilities[key] = Claim::supported;
  } else if (said == "false" && item->must) {
    yaml.fault(value, fmt::format("{} is a MUST ({}) and cannot be denied; if it lacks it, write "
                                  "\"missing\": the case of "
                                  "that rule fails, and cases that need it are not applicable",
                                  key, item->reference));
  } else if (said == "false") {
    pics.capabilities[key] = Claim::unsupported;
  } else if (said == "missing" && item->must) {
    pics.capabilities[key] = Claim::missing;
  } else {
    yaml.fault(value, fmt::format("{} must be true or {}", key, item->must ? "missing" : "false"));
  }
}

void read_limit(base::StrictYaml& yaml, const std::string& key, const YAML::Node& value,
                Pics& pics) {
  if (!is_limit(key)) return yaml.fault(value, fmt::format("limit \"{}\" is unknown", key));
  if (const auto number = yaml.integer(value, key, 0, std::numeric_limits<std::int64_t>::max()))
    pics.limits[key] = *number;
}

void read_top(base::StrictYaml& yaml, const std::string& key, const YAML::Node& value, Pics& pics,
              bool& versioned) {
  const auto take_text = [&](std::string& into) {
    if (auto said = yaml.text(value, key)) into = std::move(*said);
  };
  if (key == "pics") {
    versioned = yaml.integer(value, "pics (the version of this format)", 1, 1).has_value();
  } else if (key == "implementation") {
    take_text(pics.implementation);
  } else if (key == "vendor") {
    take_text(pics.vendor);
  } else if (key == "version") {
    take_text(pics.version);
  } else if (key == "contact") {
    take_text(pics.contact);
  } else if (key == "capabilities") {
    yaml.each(value, key, [&](const std::string& name, const YAML::Node& claim) {
      read_capability(yaml, name, claim, pics);
    });
  } else if (key == "limits") {
    yaml.each(value, key, [&](const std::string& name, const YAML::Node& limit) {
      read_limit(yaml, name, limit, pics);
    });
  } else {
    yaml.fault(value, fmt::format("\"{}\" is unknown", key));
  }
}

const char* claim_text(Claim claim) {
  switch (claim) {
    case Claim::supported:
      return "true";
    case Claim::unsupported:
      return "false";
    case Claim::missing:
      return "missing";
  }
  return "";
}

/// A double-quoted YAML scalar on one line.
std::string quoted(const std::string& text) {
  YAML::Emitter out;
  out << YAML::DoubleQuoted << text;
  return out.c_str();
}

}  // namespace

std::span<const PicsItem> pics_items() { return items; }
std::span<const LimitItem> pics_limits() { return limits; }

std::map<std::string, bool> Pics::usable() const {
  std::map<std::string, bool> all;
  for (const auto& [key, claim] : capabilities) all[key] = claim == Claim::supported;
  return all;
}

std::expected<Pics, base::Faults> parse_pics(const std::string& text, const std::string& name) {
  base::StrictYaml yaml(name);
  Pics pics;
  bool versioned = false;
  if (const auto top = yaml.parse(text)) {
    yaml.each(*top, "the file", [&](const std::string& key, const YAML::Node& value) {
      read_top(yaml, key, value, pics, versioned);
    });
    if (yaml.faults().empty() && !versioned) yaml.fault("\"pics: 1\" is missing");
    if (yaml.faults().empty() && pics.implementation.empty())
      yaml.fault("\"implementation\" is missing: say what is described");
  }
  if (!yaml.faults().empty()) return std::unexpected(yaml.faults());
  return pics;
}

std::expected<Pics, base::Faults> load_pics(const std::filesystem::path& file) {
  const auto text = base::read_text(file);
  if (!text) return std::unexpected(text.error());
  return parse_pics(*text, file.string());
}

Pics probe(const Hello& hello) {
  Pics pics;
  pics.implementation = hello.implementation.empty() ? hello.driver : hello.implementation;
  pics.version = hello.driver_version;
  for (const PicsItem& item : items) {
    const bool said = std::ranges::find(hello.capabilities, item.name) != hello.capabilities.end();
    if (said)
      pics.capabilities.emplace(item.name, Claim::supported);
    else if (!item.must && !item.name.starts_with("configure."))
      pics.capabilities.emplace(item.name, Claim::unsupported);
  }
  for (const auto& [key, value] : hello.limits)
    if (is_limit(key)) pics.limits[key] = value;
  return pics;
}

std::string to_yaml(const Pics& pics) {
  std::string text =
      "# SPDX-License-Identifier: GPL-2.0-or-later OR MIT\n"
      "# yaml-language-server: $schema=pics.schema.json\n"
      "# PICS: what this implementation is claimed to do. Each capability is true or false. A MUST "
      "of an RFC cannot be denied:\n"
      "# it is true or, where it is known to be lacking, missing. What is left out follows from "
      "what the agent says.\n"
      "pics: 1\n";
  text += fmt::format("implementation: {}\n", quoted(pics.implementation));
  for (const auto& [key, value] :
       {std::pair("vendor", &pics.vendor), {"version", &pics.version}, {"contact", &pics.contact}})
    if (!value->empty()) text += fmt::format("{}: {}\n", key, quoted(*value));
  text += "\ncapabilities:\n";
  for (const PicsItem& item : items) {
    const std::string_view reference = item.reference.empty() ? "suite" : item.reference;
    text += fmt::format("  # {} [{}{}]\n", item.question, reference, item.must ? ", MUST" : "");
    const auto claim = pics.capabilities.find(std::string(item.name));
    if (claim == pics.capabilities.end())
      text += fmt::format("  # {}:\n", item.name);
    else
      text += fmt::format("  {}: {}\n", item.name, claim_text(claim->second));
  }
  text += pics.limits.empty() ? "\n# limits:\n" : "\nlimits:\n";
  for (const LimitItem& item : limits) {
    const auto value = pics.limits.find(std::string(item.name));
    if (value == pics.limits.end())
      text += fmt::format("  # {}:  # {}\n", item.name, item.meaning);
    else
      text += fmt::format("  {}: {}  # {}\n", item.name, value->second, item.meaning);
  }
  return text;
}

std::string pics_proforma() {
  Pics pics;
  pics.implementation = "name the implementation here";
  pics.vendor = "its maker";
  pics.version = "of hardware, firmware and driver";
  pics.contact = "whom to tell of findings";
  return to_yaml(pics);
}

}  // namespace suite::iut
