// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/results/folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include "base/record/json_writer.hpp"
#include "suite/results/record_tables.hpp"

namespace suite::results {

namespace fs = std::filesystem;

namespace {

std::unexpected<Problem> cannot(std::string_view what, const fs::path& path, int code) {
  return std::unexpected(
      fmt::format("cannot {} {}: {}", what, path.string(), std::generic_category().message(code)));
}

Result<void> write_document(const fs::path& folder, const Document& document) {
  const fs::path file = folder / document_name;
  const int fault =
      base::replace_file(file, base::record::one_line(base::record::to_json(document)) + "\n");
  return fault == 0 ? Result<void>() : cannot("write", file, fault);
}

}  // namespace

Folder::Folder(fs::path path, fs::path topmost)
    : path_(std::move(path)), created_(std::move(topmost)) {}

Folder::Folder(Folder&& other) noexcept
    : path_(std::move(other.path_)),
      created_(std::exchange(other.created_, {})),
      lock_(std::move(other.lock_)),
      journal_(std::move(other.journal_)) {}

Folder::~Folder() {
  // rmdir fails, as it should, once something is in the folder.
  for (fs::path folder = path_; !created_.empty() && ::rmdir(folder.c_str()) == 0;
       folder = folder.parent_path()) {
    if (folder == created_) break;
  }
}

Result<Folder> Folder::open(const fs::path& given) {
  const fs::path path = fs::absolute(given).lexically_normal();
  fs::path topmost;
  std::error_code error;
  for (fs::path above = path; !fs::exists(above, error); above = above.parent_path())
    topmost = above;
  Folder folder(path, topmost);
  fs::create_directories(path, error);
  if (error) return cannot("create folder", path, error.value());
  folder.lock_ = base::FileDescriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.lock_) return cannot("open folder", path, errno);
  if (::flock(folder.lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    return std::unexpected(fmt::format("another run is writing to {}", path.string()));
  }
  if (::access(path.c_str(), W_OK | X_OK) != 0) return cannot("write into folder", path, errno);
  return folder;
}

Result<void> Folder::begin(const RunRecord& run) {
  if (holds_a_run(path_)) {
    return std::unexpected(
        fmt::format("{} holds a run already, and no evidence is deleted", path_.string()));
  }
  const fs::path temporary = path_ / (std::string(journal_name) + ".new");
  base::FileDescriptor file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) return cannot("create", temporary, errno);
  journal_ = base::LineFile(std::move(file), 0);
  Result<void> written = append({.run = run, .attempt = {}, .end = {}});
  if (written) written = sync();
  std::error_code error;
  if (written) {
    fs::create_directory(path_ / "pcap", error);
    if (!error) fs::rename(temporary, path_ / journal_name, error);
    if (error) written = cannot("write into folder", path_, error.value());
  }
  if (!written) ::unlink(temporary.c_str());
  return written;
}

Result<void> Folder::go_on(const Journal& earlier, const RunRecord& run) {
  const fs::path path = path_ / journal_name;
  base::FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) return cannot("open", path, errno);
  journal_ = base::LineFile(std::move(file), earlier.whole);
  if (const int fault = journal_.begin(); fault != 0) return cannot("write", path, fault);
  std::error_code error;
  fs::create_directory(path_ / "pcap", error);
  if (error) return cannot("create folder", path_ / "pcap", error.value());
  fs::remove(path_ / document_name, error);  // made of the journal, and again at the end
  if (const auto written = append({.run = run, .attempt = {}, .end = {}}); !written) return written;
  return sync();
}

Result<void> Folder::append(const JournalLine& line) {
  const int fault = journal_.append(base::record::one_line(base::record::to_json(line)));
  return fault == 0 ? Result<void>() : cannot("write", path_ / journal_name, fault);
}

Result<void> Folder::add(const CaseRecord& record) {
  return append({.run = {}, .attempt = record, .end = {}});
}

Result<void> Folder::sync() {
  const int fault = journal_.sync();
  return fault == 0 ? Result<void>() : cannot("write", path_ / journal_name, fault);
}

Result<void> Folder::end(const Document& document) {
  auto ended = append(
      {.run = {},
       .attempt = {},
       .end = JournalLine::End{document.run, document.summary.stale_entries, document.findings}});
  if (ended) ended = sync();
  if (ended) ended = write_document(path_, document);
  return ended;
}

std::string Folder::pcap_name(const std::string& id, std::uint32_t attempt) {
  return fmt::format("pcap/{}.{}.pcap", id, attempt);
}

Result<Document> Folder::so_far() const {
  auto journal = read_journal(path_ / journal_name);
  if (!journal) return std::unexpected(journal.error());
  return std::move(journal->document);
}

Result<Document> collect(const fs::path& folder) {
  if (std::error_code error; !fs::is_directory(folder, error))
    return cannot("open folder", folder, ENOENT);
  const auto open_folder = Folder::open(folder);
  if (!open_folder) return std::unexpected(open_folder.error());
  auto document = open_folder->so_far();
  if (!document) return document;
  if (const auto written = write_document(folder, *document); !written)
    return std::unexpected(written.error());
  return document;
}

}  // namespace suite::results
