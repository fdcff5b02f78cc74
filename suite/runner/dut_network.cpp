// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/runner/dut_network.hpp"

#include <sys/epoll.h>

#include <chrono>

#include <fmt/format.h>

#include "base/time_text.hpp"
#include "suite/iut/agent_client.hpp"
#include "suite/lab/kernel_log.hpp"
#include "suite/runner/host_facts.hpp"

namespace suite::runner {

namespace {

constexpr std::chrono::seconds longest_start{15};  // of a connection to a host that is busy
constexpr std::chrono::seconds first_words{3};     // of a command that may have nothing to print

std::string time_of_day() {
  return base::time_text(std::chrono::system_clock::now()).substr(11, 8) + " UTC";
}

}  // namespace

DutNetwork::DutNetwork(WorkerSetup setup, results::LabRecord record, Access access, Tell tell)
    : setup_(std::move(setup)),
      record_(std::move(record)),
      access_(std::move(access)),
      tell_(std::move(tell)) {}

DutNetwork::~DutNetwork() {
  if (loop_ == nullptr) return;
  if (patience_) {
    loop_->cancel(*patience_);
    loop_->unwatch(kernel_log_->descriptor());
  }
  if (reset_) loop_->unwatch(reset_->exited());
}

void DutNetwork::bring_up(base::EpollLoop& loop, BroughtUp done) {
  if (!access_.kernel_log) {
    note("the log of the IUT's kernel is not followed");
    loop.defer([done = std::move(done)] { done({}); });
    return;
  }
  loop_ = &loop;
  brought_up_ = std::move(done);
  kernel_log_.emplace(*access_.kernel_log, fmt::format("run {:08x}", random_number() >> 32),
                      access_.log_file);
  const auto patience = access_.kernel_log->prints_it ? first_words : longest_start;
  patience_ = loop.schedule(loop.now() + patience, [this] { log_is_settled(); });
  loop.defer([this] { await_log(); });
}

void DutNetwork::await_log() {
  if (!patience_) return;
  static_cast<void>(kernel_log_->complaint());
  if (kernel_log_->heard() || kernel_log_->failure()) return log_is_settled();
  loop_->watch(kernel_log_->descriptor(), EPOLLIN, [this](std::uint32_t) {
    loop_->unwatch(kernel_log_->descriptor());
    await_log();
  });
}

void DutNetwork::log_is_settled() {
  loop_->cancel(*patience_);
  patience_.reset();
  if (kernel_log_->descriptor() >= 0) loop_->unwatch(kernel_log_->descriptor());
  if (kernel_log_->follows()) {
    note("the log of the IUT's kernel is followed");
    follows_ = true;
  } else {
    const std::string why = fmt::format("the log of the IUT's kernel cannot be followed: {}",
                                        kernel_log_->failure().value_or("it prints nothing"));
    note(why);
    tell_(why + "; complaints of that kernel will not be seen");
    kernel_log_.reset();
  }
  const BroughtUp done = std::move(brought_up_);
  brought_up_ = nullptr;
  done({});
}

std::string DutNetwork::kernel_complaints() {
  if (!kernel_log_) return {};
  std::string complaint = kernel_log_->complaint();
  if (lab::tells_of_crash(complaint))
    tell_("the kernel of the IUT's host has crashed: " + complaint.substr(0, complaint.find('\n')));
  const auto failure = kernel_log_->failure();
  // A command that is started again may fail again: it follows when something has come.
  const bool follows = (follows_ ? kernel_log_->follows() : kernel_log_->heard()) && !failure;
  if (follows_ && failure) note(fmt::format("not from {} on: {}", time_of_day(), *failure));
  if (follows && !follows_) note(fmt::format("again from {} on", time_of_day()));
  follows_ = follows;
  return complaint;
}

bool DutNetwork::reset(base::EpollLoop& loop) {
  if (access_.reset_command.empty() || reset_) return false;
  base::ProcessSetup setup;
  setup.group = base::ProcessSetup::Group::session;
  setup.fresh_signals = true;
  std::string error;
  const std::string command = shell_text(access_.reset_command);
  auto started = base::Process::start(access_.reset_command, setup, error);
  if (!started) {
    tell_(fmt::format("the IUT's host cannot be reset: {}", error));
    note(fmt::format("reset of the IUT's host at {}: {}", time_of_day(), error));
    return false;
  }
  tell_(fmt::format("resetting the IUT's host: `{}`", command));
  loop_ = &loop;
  reset_.emplace(std::move(*started));
  loop.watch(reset_->exited(), EPOLLIN, [this, begun = time_of_day()](std::uint32_t) {
    loop_->unwatch(reset_->exited());
    const std::string how = text(reset_->wait());
    reset_.reset();
    note(fmt::format("reset of the IUT's host at {}: {}", begun, how));
    tell_(fmt::format("the reset of the IUT's host ended: {}", how));
  });
  return true;
}

void DutNetwork::note(const std::string& text) {
  record_.note += (record_.note.empty() ? "" : "; ") + text;
}

std::optional<lab::HostKernelLog::Reach> kernel_log_of(const Options& options) {
  using Reach = lab::HostKernelLog::Reach;
  if (!options.access.kernel_log.empty()) return Reach{options.access.kernel_log, true};
  const IutChoice& choice = options.choice;
  if (choice.over_tls()) return std::nullopt;
  if (choice.host && !choice.host->ssh.empty()) return Reach{iut::through_ssh(choice.host->ssh)};
  std::vector<std::string> words;
  if (choice.host) words = choice.host->prefix;
  const bool elsewhere = choice.kind == IutChoice::Kind::agent || !options.access.agent.empty();
  if (!choice.host && elsewhere) return std::nullopt;
  words.insert(words.end(), {"sh", "-c"});
  return Reach{std::move(words)};
}

}  // namespace suite::runner
