// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/results/document_file.hpp"

#include <system_error>

#include <fmt/format.h>

#include "base/record/json_file.hpp"
#include "suite/results/journal.hpp"
#include "suite/results/record_tables.hpp"

namespace suite::results {

namespace fs = std::filesystem;

namespace {

Result<Document> read_json(const fs::path& file) {
  return base::record::read_file<Document>(file, "the results of a run", {.refuse_unknown = false});
}

Result<Document> read_lines_of(const fs::path& file) {
  auto journal = read_journal(file);
  if (!journal) return std::unexpected(journal.error());
  return std::move(journal->document);
}

}  // namespace

Result<Document> read_document(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error))
    return path.extension() == ".ndjson" ? read_lines_of(path) : read_json(path);
  if (fs::exists(path / document_name, error)) return read_json(path / document_name);
  if (fs::exists(path / journal_name, error)) return read_lines_of(path / journal_name);
  return std::unexpected(fmt::format("{} holds no results of a run", path.string()));
}

}  // namespace suite::results
