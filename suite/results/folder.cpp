// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/results/folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace suite::results {

namespace fs = std::filesystem;

namespace {

constexpr const char* journal_name = "results.ndjson";
constexpr const char* document_name = "results.json";

std::unexpected<Problem> cannot(std::string_view what, const fs::path& path, int code) {
  return std::unexpected(
      fmt::format("cannot {} {}: {}", what, path.string(), std::generic_category().message(code)));
}

int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

// Writes the file whole or not at all: under another name, synced, then renamed.
Result<void> write_file(const fs::path& path, std::string_view text) {
  const fs::path temporary = path.string() + ".new";
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return cannot("create", temporary, errno);
  int code = write_all(fd, text);
  if (code == 0 && ::fsync(fd) != 0) code = errno;
  ::close(fd);
  if (code == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) code = errno;
  if (code == 0) return {};
  ::unlink(temporary.c_str());
  return cannot("write", path, code);
}

Result<void> write_document(const fs::path& folder, const Document& document) {
  return write_file(folder / document_name, one_line(document) + "\n");
}

// Removes what an earlier run of ours left. A folder without a journal was never ours: nothing in
// it is touched.
void clear_earlier_run(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / journal_name, ignored)) return;
  for (const char* name : {document_name, "report.html", "summary.md", "junit.xml"})
    fs::remove(folder / name, ignored);
  for (const auto& entry : fs::directory_iterator(folder / "pcap", ignored)) {
    if (entry.path().extension() == ".pcap") fs::remove(entry.path(), ignored);
  }
}

}  // namespace

Folder::Folder(fs::path path, fs::path topmost)
    : path_(std::move(path)), created_(std::move(topmost)) {}

Folder::Folder(Folder&& other) noexcept
    : path_(std::move(other.path_)),
      created_(std::exchange(other.created_, {})),
      lock_(std::exchange(other.lock_, -1)),
      journal_(std::exchange(other.journal_, -1)),
      good_(other.good_) {}

Folder::~Folder() {
  if (journal_ >= 0) ::close(journal_);
  if (lock_ >= 0) ::close(lock_);
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
  folder.lock_ = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder.lock_ < 0) return cannot("open folder", path, errno);
  if (::flock(folder.lock_, LOCK_EX | LOCK_NB) != 0) {
    return std::unexpected(
        fmt::format("another run is writing to {}: give a different --out", path.string()));
  }
  if (::access(path.c_str(), W_OK | X_OK) != 0) return cannot("write into folder", path, errno);
  return folder;
}

Result<void> Folder::begin(const RunRecord& run) {
  const fs::path temporary = path_ / (std::string(journal_name) + ".new");
  journal_ = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (journal_ < 0) return cannot("create", temporary, errno);
  Result<void> written = append(Json{{"run", run}});
  if (written) written = sync();
  std::error_code error;
  if (written) {
    clear_earlier_run(path_);
    fs::create_directory(path_ / "pcap", error);
    if (!error) fs::rename(temporary, path_ / journal_name, error);
    if (error) written = cannot("write into folder", path_, error.value());
  }
  if (!written) ::unlink(temporary.c_str());
  return written;
}

Result<void> Folder::append(const Json& line) {
  const std::string text = one_line(line) + "\n";
  if (const int code = write_all(journal_, text); code != 0) {
    if (::ftruncate(journal_, static_cast<off_t>(good_)) == 0)
      ::lseek(journal_, static_cast<off_t>(good_), SEEK_SET);
    return cannot("write", path_ / journal_name, code);
  }
  good_ += text.size();
  return {};
}

Result<void> Folder::add(const CaseRecord& record) { return append(Json{{"case", record}}); }
Result<void> Folder::update(const RunRecord& run) { return append(Json{{"run", run}}); }

Result<void> Folder::sync() {
  if (::fdatasync(journal_) != 0 && errno != EINVAL && errno != EROFS)
    return cannot("write", path_ / journal_name, errno);
  return {};
}

Result<Document> Folder::end(const RunRecord& run, const std::vector<std::string>& stale_entries) {
  const auto appended = append(Json{{"end", {{"run", run}, {"stale_entries", stale_entries}}}});
  if (!appended) return std::unexpected(appended.error());
  if (const auto synced = sync(); !synced) return std::unexpected(synced.error());
  auto document = read_journal(path_ / journal_name);
  if (!document) return document;
  if (const auto written = write_document(path_, *document); !written)
    return std::unexpected(written.error());
  return document;
}

std::string Folder::pcap_name(const std::string& id, std::uint32_t attempt) {
  return fmt::format("pcap/{}.{}.pcap", id, attempt);
}

// ---------------------------------------------------------------- reading

namespace {

// What the lines of a journal add up to.
struct Gathered {
  Document document;
  std::vector<std::string> stale_entries;
  bool begun = false, ended = false;

  void take(const Json& line) {
    if (line.contains("run")) {
      line.at("run").get_to(document.run);
      begun = true;
    } else if (line.contains("case")) {
      line.at("case").get_to(document.cases.emplace_back());
    } else {
      line.at("end").at("run").get_to(document.run);
      line.at("end").at("stale_entries").get_to(stale_entries);
      ended = true;
    }
  }
};

// A document that is torn or no run's; the journal it was made of may still be whole.
Problem damaged(const fs::path& document) {
  const fs::path folder = document.parent_path();
  std::error_code error;
  return fmt::format("{} is damaged{}", document.string(),
                     fs::exists(folder / journal_name, error)
                         ? fmt::format(" (`rnic-suite collect {}` makes it anew)", folder.string())
                         : "");
}

Result<Json> parse_file(const fs::path& path) {
  std::ifstream file(path);
  if (!file) return cannot("read", path, errno);
  Json json = Json::parse(file, nullptr, false);
  if (json.is_discarded()) return std::unexpected(damaged(path));
  return json;
}

Result<Document> read_document(const fs::path& folder) {
  const auto json = parse_file(folder / document_name);
  if (!json) return std::unexpected(json.error());
  try {
    return json->get<Document>();
  } catch (const std::exception&) {
    return std::unexpected(damaged(folder / document_name));
  }
}

}  // namespace

Result<Document> read_journal(const fs::path& journal) {
  std::ifstream file(journal);
  if (!file) return cannot("read", journal, errno);
  Gathered gathered;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (file.eof()) break;  // no newline at its end: torn when the run was killed
    try {
      gathered.take(Json::parse(line));
    } catch (const Json::exception&) {  // its words are for programmers
      return std::unexpected(
          fmt::format("{}:{}: this line is not what a run writes", journal.string(), number));
    } catch (const std::exception& problem) {
      return std::unexpected(fmt::format("{}:{}: {}", journal.string(), number, problem.what()));
    }
  }
  if (!gathered.begun) return std::unexpected(fmt::format("{} holds no run", journal.string()));
  Document& document = gathered.document;
  if (!gathered.ended) {
    document.run.ending = Ending::killed;
    document.run.ending_reason = "the run was killed; what it had judged was collected afterwards";
  }
  document.summary = summarise(document.cases);
  document.summary.stale_entries = gathered.stale_entries;
  return std::move(document);
}

Result<Document> read(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder / document_name, error)) return read_document(folder);
  if (fs::exists(folder / journal_name, error)) return read_journal(folder / journal_name);
  return std::unexpected(fmt::format("{} holds no results of a run", folder.string()));
}

Result<Document> collect(const fs::path& folder) {
  if (std::error_code error; !fs::is_directory(folder, error))
    return cannot("open folder", folder, ENOENT);
  const auto open_folder = Folder::open(folder);
  if (!open_folder) return std::unexpected(open_folder.error());
  auto document = read_journal(folder / journal_name);
  if (!document) return document;
  if (const auto written = write_document(folder, *document); !written)
    return std::unexpected(written.error());
  return document;
}

}  // namespace suite::results
