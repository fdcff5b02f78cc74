// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/leak_search.hpp"

#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace suite::runner {

namespace {

/// Emulated, with KASAN, on a host that is busy.
constexpr std::chrono::minutes longest_search{10};

std::string whole(int fd) {
  std::string text;
  std::array<char, 4096> chunk{};
  for (ssize_t count = 0;
       (count = ::pread(fd, chunk.data(), chunk.size(), static_cast<off_t>(text.size()))) > 0;)
    text.append(chunk.data(), static_cast<std::size_t>(count));
  return text;
}

}  // namespace

LeakSearch::~LeakSearch() { forget(); }

void LeakSearch::start(base::EpollLoop& loop, const std::vector<std::string>& command, Done done) {
  printed_ = base::FileDescriptor(::memfd_create("leaks", MFD_CLOEXEC));
  base::ProcessSetup setup;
  setup.output = printed_.get();
  std::string error;
  auto started = base::Process::start(command, setup, error);
  if (!started) {
    loop.defer([done = std::move(done), error] { done(std::unexpected(error)); });
    return;
  }
  loop_ = &loop;
  done_ = std::move(done);
  process_.emplace(std::move(*started));
  loop.watch(process_->exited(), EPOLLIN, [this](std::uint32_t) { ended(); });
  patience_ = loop.schedule(loop.now() + longest_search, [this] {
    patience_.reset();
    process_->kill();  // of which ended() hears
  });
}

void LeakSearch::ended() {
  const base::ExitStatus how = process_->wait();
  const Done done = std::move(done_);
  TestNetwork::Leaks found = whole(printed_.get());
  if (how.signal != 0 || how.code != 0)
    found = std::unexpected(fmt::format("the look for leaks ended: {}", text(how)));
  forget();
  done(found);
}

void LeakSearch::forget() {
  if (loop_ == nullptr) return;
  if (patience_) loop_->cancel(*patience_);
  loop_->unwatch(process_->exited());
  patience_.reset();
  process_.reset();
  loop_ = nullptr;
}

}  // namespace suite::runner
