// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "plugfest/engine.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/epoll_loop.hpp"
#include "plugfest/cell_process.hpp"
#include "plugfest/scheduler.hpp"

namespace plugfest {

namespace {

using base::EpollLoop;
using base::TimePoint;
using nlohmann::json;
using Done = std::expected<void, std::string>;

/// How often an interruption is looked for, and whether who was away is back.
constexpr std::chrono::milliseconds glance{100};

std::vector<Job> jobs_of(const std::vector<Cell>& cells) {
  std::vector<Job> jobs;
  for (const Cell& cell : cells) jobs.push_back({cell.initiator, cell.responder, cell.length});
  return jobs;
}

class LocalEngine {
 public:
  LocalEngine(std::vector<Cell> cells, Journal& journal, const CellWork& work,
              const EngineOptions& options, Progress* progress)
      : cells_(std::move(cells)),
        journal_(journal),
        work_(work),
        options_(options),
        progress_(progress),
        scheduler_(options.capacity, options.slots, jobs_of(cells_)),
        places_(options.slots) {}

  std::expected<bool, std::string> run();

 private:
  struct Place {
    std::size_t cell = 0;
    TimePoint begun;
    std::optional<CellProcess> process;
    base::TimerId deadline{};
    std::chrono::milliseconds allowed{};
    bool too_late = false;
  };
  Done start_what_may();
  void look_who_is_away();
  Done start(std::size_t cell, std::size_t slot);
  void words(std::size_t slot);
  json conclude(Place& place);
  void fail(std::string why) {
    if (failure_.empty()) failure_ = std::move(why);
  }

  std::vector<Cell> cells_;
  Journal& journal_;
  const CellWork& work_;
  const EngineOptions& options_;
  Progress* progress_;
  Scheduler scheduler_;
  EpollLoop loop_;
  std::vector<Place> places_;
  bool somebody_is_away_ = false;
  std::string failure_;
};

void LocalEngine::look_who_is_away() {
  somebody_is_away_ = false;
  for (std::size_t host = 0; host < scheduler_.hosts(); ++host) {
    // What has befallen a host in a cell is seen when that has ended.
    const bool away = scheduler_.has_waiting(host) && scheduler_.idle(host) && options_.away(host);
    scheduler_.set_away(host, away);
    somebody_is_away_ |= away;
  }
}

Done LocalEngine::start_what_may() {
  look_who_is_away();
  while (const auto cell = scheduler_.next()) {
    const auto free = std::ranges::find_if(
        places_, [](const Place& place) { return !place.process.has_value(); });
    if (auto done = start(*cell, static_cast<std::size_t>(free - places_.begin())); !done)
      return done;
  }
  return {};
}

Done LocalEngine::start(std::size_t cell, std::size_t slot) {
  Place& place = places_[slot];
  const int attempt = journal_.attempts(cells_[cell].id) + 1;
  auto process = CellProcess::start([&, this] {
    journal_.let_go();
    return work_(cells_[cell], slot, attempt).dump(-1, ' ', false, json::error_handler_t::replace);
  });
  if (!process) return std::unexpected(process.error());
  place.cell = cell;
  place.begun = loop_.now();
  place.too_late = false;
  place.process.emplace(std::move(*process));
  place.allowed = options_.deadline + options_.extra(cells_[cell]);
  place.deadline = loop_.schedule(loop_.now() + place.allowed, [this, slot] {
    // It may have ended while this process was busy with another cell: its words wait to be read.
    if (places_[slot].process->take()) return;
    places_[slot].too_late = true;
    places_[slot].process->kill();
  });
  loop_.watch(place.process->fd(), EPOLLIN, [this, slot](std::uint32_t) { words(slot); });
  return {};
}

json LocalEngine::conclude(Place& place) {
  const double seconds = std::chrono::duration<double>(loop_.now() - place.begun).count();
  const auto error = [seconds](const std::string& reason) {
    return json{
        {"verdict", "error"}, {"fault", "unknown"}, {"reason", reason}, {"seconds", seconds}};
  };
  const auto text = place.process->result();
  if (place.too_late)
    return error(fmt::format("the cell hung: no result within {} ms", place.allowed.count()));
  if (!text) return error(text.error());
  json record = json::parse(*text, nullptr, false);
  return record.is_object() ? record : error("the cell's process said nothing that can be read");
}

void LocalEngine::words(std::size_t slot) {
  Place& place = places_[slot];
  if (!place.process->take()) return;
  loop_.unwatch(place.process->fd());
  if (!place.too_late) loop_.cancel(place.deadline);
  json record = conclude(place);
  place.process.reset();
  const Cell& cell = cells_[place.cell];
  record["id"] = cell.id;
  record["initiator"] = cell.initiator_name;
  record["responder"] = cell.responder_name;
  record["scenario"] = cell.scenario;
  record["repeat"] = cell.repeat;
  record["attempt"] = journal_.attempts(cell.id) + 1;
  options_.after(cell, record);
  const std::string verdict = record.value("verdict", "error"), reason = record.value("reason", "");
  const double seconds = record.value("seconds", 0.0);
  if (auto added = journal_.add(std::move(record)); !added) return fail(added.error());
  scheduler_.finished(place.cell);
  if (progress_ != nullptr)
    progress_->ended(cell.id, verdict_named(verdict).value_or(Verdict::error), reason, seconds,
                     cell.length, scheduler_.bound());
  if (!options_.interrupted())
    if (auto started = start_what_may(); !started) fail(started.error());
}

std::expected<bool, std::string> LocalEngine::run() {
  if (auto started = start_what_may(); !started) return std::unexpected(started.error());
  const auto over = [this] {
    return !failure_.empty() || options_.interrupted() ||
           (scheduler_.running() == 0 && !somebody_is_away_);
  };
  while (!loop_.run_until(loop_.now() + glance, over))
    if (somebody_is_away_)
      if (auto started = start_what_may(); !started) fail(started.error());
  if (!failure_.empty()) return std::unexpected(failure_);
  for (Place& place : places_)
    if (place.process) loop_.unwatch(place.process->fd());
  return scheduler_.waiting() == 0 && scheduler_.running() == 0;
}

}  // namespace

std::vector<Cell> still_to_play(const std::vector<Cell>& cells, const Journal& journal,
                                const EngineOptions& options) {
  std::vector<Cell> left;
  std::ranges::copy_if(cells, std::back_inserter(left), [&](const Cell& cell) {
    return !journal.has(cell.id) || options.again(cell);
  });
  return left;
}

std::expected<bool, std::string> run_cells(const std::vector<Cell>& cells, Journal& journal,
                                           const CellWork& work, const EngineOptions& options,
                                           Progress* progress) {
  return LocalEngine(still_to_play(cells, journal, options), journal, work, options, progress)
      .run();
}

}  // namespace plugfest
