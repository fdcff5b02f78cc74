// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/results/run_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/record/json_writer.hpp"

namespace suite::results {

namespace fs = std::filesystem;

namespace {

std::unexpected<Problem> cannot(std::string_view what, const fs::path& path, int code) {
  return std::unexpected(
      fmt::format("cannot {} {}: {}", what, path.string(), std::generic_category().message(code)));
}

std::unexpected<Problem> in_use(const fs::path& path) {
  return std::unexpected(fmt::format("another run is writing to {}", path.string()));
}

bool is_locked_by_another(int fd) {
  return ::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace

RunFolder::RunFolder(fs::path path, fs::path topmost)
    : path_(std::move(path)), created_(std::move(topmost)) {}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : path_(std::move(other.path_)),
      created_(std::exchange(other.created_, {})),
      lock_(std::move(other.lock_)),
      journal_(std::move(other.journal_)) {}

RunFolder::~RunFolder() {
  // rmdir fails, as it should, once something is in the folder.
  for (fs::path folder = path_; !created_.empty() && ::rmdir(folder.c_str()) == 0;
       folder = folder.parent_path()) {
    if (folder == created_) break;
  }
}

Result<RunFolder> RunFolder::open(const fs::path& given) {
  const fs::path path = fs::absolute(given).lexically_normal();
  fs::path topmost;
  std::error_code error;
  for (fs::path above = path; !fs::exists(above, error); above = above.parent_path())
    topmost = above;
  RunFolder folder(path, topmost);
  fs::create_directories(path, error);
  if (error) return cannot("create folder", path, error.value());
  folder.lock_ = base::FileDescriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.lock_) return cannot("open folder", path, errno);
  if (is_locked_by_another(folder.lock_.get())) return in_use(path);
  if (::access(path.c_str(), W_OK | X_OK) != 0) return cannot("write into folder", path, errno);
  return folder;
}

Result<void> RunFolder::begin(const Json& line) {
  if (holds_a_run(path_)) {
    return std::unexpected(
        fmt::format("{} holds a run already, and no evidence is deleted", path_.string()));
  }
  const fs::path temporary = path_ / (std::string(journal_name) + ".new");
  constexpr mode_t mode = 0666;
  base::FileDescriptor file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (!file) return cannot("create", temporary, errno);
  if (is_locked_by_another(file.get())) return in_use(path_);
  journal_ = base::LineFile(std::move(file), 0);
  const auto appended = append(line);
  Result<void> written = appended ? sync() : std::unexpected(appended.error());
  std::error_code error;
  if (written) {
    fs::create_directory(path_ / "pcap", error);
    if (!error) fs::rename(temporary, journal(), error);
    if (error) written = cannot("write into folder", path_, error.value());
  }
  if (!written) ::unlink(temporary.c_str());
  return written;
}

Result<void> RunFolder::go_on(std::uint64_t whole) {
  base::FileDescriptor file(::open(journal().c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) return cannot("open", journal(), errno);
  if (is_locked_by_another(file.get())) return in_use(path_);
  journal_ = base::LineFile(std::move(file), whole);
  if (const int fault = journal_.begin(); fault != 0) return cannot("write", journal(), fault);
  std::error_code error;
  fs::create_directory(path_ / "pcap", error);
  if (error) return cannot("create folder", path_ / "pcap", error.value());
  fs::remove(path_ / document_name, error);  // made of the journal, and again at the end
  return {};
}

Result<LinePlace> RunFolder::append(const Json& line) {
  const std::uint64_t at = journal_.size();
  const int fault = journal_.append(base::record::one_line(line));
  if (fault != 0) return cannot("write", journal(), fault);
  return LinePlace{at, journal_.size() - at - 1};
}

Result<void> RunFolder::sync() {
  const int fault = journal_.sync();
  return fault == 0 ? Result<void>() : cannot("write", journal(), fault);
}

Result<void> RunFolder::write_document(const Json& document) const {
  const fs::path file = path_ / document_name;
  const int fault = base::replace_file(file, base::record::one_line(document) + "\n");
  return fault == 0 ? Result<void>() : cannot("write", file, fault);
}

Result<void> RunFolder::write_document(
    const Json& document, const std::string& list,
    const std::function<Result<std::optional<Json>>()>& next) const {
  const fs::path file = path_ / document_name;
  base::Replacement made(file);
  const char* before = "{";
  for (const auto& [name, value] : document.items()) {
    made.append(before + base::record::one_line(name) + ':');
    before = ",";
    if (name != list) {
      made.append(base::record::one_line(value));
      continue;
    }
    for (const char* gap = "["; true; gap = ",") {
      const auto element = next();
      if (!element) return std::unexpected(element.error());
      if (!*element) {
        made.append(*gap == '[' ? "[]" : "]");
        break;
      }
      made.append(gap + base::record::one_line(**element));
    }
  }
  made.append("}\n");
  const int fault = made.commit();
  return fault == 0 ? Result<void>() : cannot("write", file, fault);
}

bool holds_a_run(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / journal_name, error) || fs::exists(folder / document_name, error);
}

bool is_in_use(const fs::path& folder) {
  const base::FileDescriptor lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return lock && is_locked_by_another(lock.get());
}

Result<Json> read_line(std::istream& journal, const LinePlace& place) {
  std::string text(place.length, '\0');
  journal.seekg(static_cast<std::streamoff>(place.at));
  journal.read(text.data(), static_cast<std::streamsize>(text.size()));
  Json json = journal ? Json::parse(text, nullptr, false) : Json();
  if (!json.is_object())
    return std::unexpected(fmt::format("the journal cannot be read again at octet {}", place.at));
  return json;
}

Result<std::uint64_t> read_lines(
    const fs::path& path,
    const std::function<std::optional<std::string>(const Json&, const LinePlace&)>& take) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return cannot("read", path, errno);
  std::optional<Problem> torn;  // of a line after which no whole one has come so far
  std::uint64_t read = 0, whole = 0;
  std::string text;
  for (std::size_t number = 1; std::getline(file, text); ++number) {
    if (file.eof()) break;  // no newline at its end: torn when the run was killed
    const LinePlace place{read, text.size()};
    read += text.size() + 1;
    const Json json = Json::parse(text, nullptr, false);
    const auto fault =
        json.is_object() ? take(json, place) : std::optional<std::string>(no_journal_line);
    if (!fault && torn) return std::unexpected(*torn);
    if (!fault) whole = read;
    if (fault && !torn) torn = fmt::format("{}:{}: {}", path.string(), number, *fault);
  }
  if (whole == 0)
    return std::unexpected(torn.value_or(fmt::format("{} holds no run", path.string())));
  return whole;
}

}  // namespace suite::results
