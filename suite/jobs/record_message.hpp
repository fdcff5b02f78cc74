// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A record as a message between a run and its workers: JSON by its table, with its octets attached,
// since many octets would be slow as text.
#pragma once

#include <optional>

#include "base/record/json_reader.hpp"
#include "base/record/json_writer.hpp"
#include "suite/jobs/message.hpp"

namespace suite::jobs {

template <typename Record>
[[nodiscard]] Message to_message(const Record& record) {
  Message message;
  message.line = base::record::one_line(
      base::record::to_json(record, {.internal = true, .attachment = &message.attachment}));
  return message;
}

/// Nothing: it is not such a record.
template <typename Record>
[[nodiscard]] std::optional<Record> from_message(const Message& message) {
  const auto json = base::record::Json::parse(message.line, nullptr, false);
  Record record;
  if (json.is_discarded() ||
      base::record::from_json(json, record, {.internal = true, .attachment = &message.attachment}))
    return std::nullopt;
  return record;
}

}  // namespace suite::jobs
