// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/dat/framework/dat_call.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <cstring>
#include <deque>
#include <mutex>
#include <string_view>

namespace suite::cases::dat {

namespace {

// Read by the signal handlers. The call of the case's own thread is kept separately: it is the one
// that hangs when the deadline passes, whichever thread gets the signal.
thread_local const char* current_call = nullptr;
const char* volatile main_call = nullptr;
volatile std::sig_atomic_t report_fd = -1;
bool is_main() { return ::gettid() == ::getpid(); }

constexpr std::size_t deepest = 48;

// A line of JSON, built without allocation: what does not fit is left out.
class Line {
 public:
  void raw(std::string_view text) {
    const std::size_t taken = std::min(text.size(), text_.size() - used_);
    std::memcpy(text_.data() + used_, text.data(), taken);
    used_ += taken;
  }
  void quoted(const char* text) {
    raw("\"");
    for (; text != nullptr && *text != '\0'; ++text)
      raw(*text >= ' ' && *text <= '~' && *text != '"' && *text != '\\' ? std::string_view(text, 1)
                                                                        : "?");
    raw("\"");
  }
  void number(int value) {
    const std::array<char, 2> digits{static_cast<char>('0' + value / 10 % 10),
                                     static_cast<char>('0' + value % 10)};
    raw({digits.data() + (value < 10 ? 1 : 0), value < 10 ? 1U : 2U});
  }
  void send() {
    raw("\n");
    [[maybe_unused]] const ssize_t told = ::write(report_fd, text_.data(), used_);
  }

 private:
  std::array<char, 16384> text_{};
  std::size_t used_ = 0;
};

void* instruction_of(const void* context) {
#if defined(__x86_64__)
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  return reinterpret_cast<void*>(registers[REG_RIP]);  // NOLINT(performance-no-int-to-ptr)
#elif defined(__aarch64__)
  return reinterpret_cast<void*>(static_cast<const ucontext_t*>(context)->uc_mcontext.pc);
#else
  static_cast<void>(context);
  return nullptr;
#endif
}

// dladdr and backtrace may take locks that the crashed thread holds; then the deadline's signal
// ends the process.
void describe_frames(Line& line) {
  std::array<void*, deepest> frames{};
  const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  line.raw(",\"backtrace\":[");
  bool first = true;
  for (int i = 0; i < count; ++i) {
    Dl_info info{};
    if (::dladdr(frames[static_cast<std::size_t>(i)], &info) == 0) continue;
    if (!first) line.raw(",");
    first = false;
    line.quoted(info.dli_sname != nullptr ? info.dli_sname : info.dli_fname);
  }
  line.raw("]");
}

void tell_crash(int signal, const void* context, bool with_frames) {
  Line line;
  line.raw("\n{\"died\":{\"signal\":");
  line.number(signal);
  line.raw(",\"call\":");
  line.quoted(current_call);
  Dl_info info{};
  line.raw(",\"place\":");
  const char* place = ::dladdr(instruction_of(context), &info) != 0 ? info.dli_fname : "";
  line.quoted(place);
  line.raw(",\"in_libdat2\":");
  line.raw(std::strstr(place, "/libdat2.") != nullptr ? "true" : "false");
  if (with_frames) describe_frames(line);
  line.raw("}}");
  line.send();
}

// The frames of an overwritten stack may lead anywhere: what is known without them is written
// first.
extern "C" void crashed(int signal, siginfo_t*, void* context) {
  ::signal(signal, SIG_DFL);
  tell_crash(signal, context, false);
  tell_crash(signal, context, true);
  ::raise(signal);
}

extern "C" void hung(int) {
  Line line;
  line.raw("\n{\"hung\":{\"call\":");
  line.quoted(main_call);
  if (is_main()) describe_frames(line);
  line.raw("}}");
  line.send();
  ::_exit(0);
}

void handle(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action{};
  action.sa_sigaction = handler;
  action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND | SA_SIGINFO);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

namespace {

struct Return {
  const char* call;
  DAT_RETURN code;
};

/// Returns that no expectation has asked for, of all threads; old ones are discarded.
class Returns {
 public:
  void keep(const Return& one) {
    const std::scoped_lock lock(mutex_);
    kept_.push_back(one);
    if (kept_.size() > most) kept_.pop_front();
  }
  const char* take(DAT_RETURN code) {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find(kept_.rbegin(), kept_.rend(), code, &Return::code);
    if (found == kept_.rend()) return "";
    const char* call = found->call;
    kept_.erase(std::next(found).base());
    return call;
  }

 private:
  static constexpr std::size_t most = 64;
  std::mutex mutex_;
  std::deque<Return> kept_;
};

Returns& returns_kept() {
  static Returns all;
  return all;
}

}  // namespace

void keep_return(const char* call, DAT_RETURN code) { returns_kept().keep({call, code}); }

std::string call_that_returned(DAT_RETURN code) {
  std::string name = returns_kept().take(code);
  std::ranges::transform(name, name.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));  // some are reached through macros,
  });
  constexpr std::string_view member = "_func";  // some as members of the provider's table
  if (name.ends_with(member)) {
    name.resize(name.size() - member.size());
    if (name != "ia_ha_related") name.insert(0, "dat_");
  }
  return name.starts_with("dat_") || name == "ia_ha_related" ? name : std::string();
}

InCall::InCall(const char* call) : before_(current_call) {
  current_call = call;
  if (is_main()) main_call = call;
}
InCall::~InCall() {
  current_call = before_;
  if (is_main()) main_call = before_;
}

void report_endings(int fd, std::chrono::milliseconds deadline) {
  report_fd = fd;
  static std::array<std::byte, std::size_t{64} * 1024> stack;  // a crash may be a stack used up
  stack_t alternative{};
  alternative.ss_sp = stack.data();
  alternative.ss_size = stack.size();
  ::sigaltstack(&alternative, nullptr);
  std::array<void*, 1> first{};
  ::backtrace(first.data(), 1);  // loads what it needs now, and not inside a handler
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) handle(signal, crashed);
  std::signal(SIGALRM, hung);
  const itimerval timer{
      .it_interval = {},
      .it_value = {.tv_sec = deadline.count() / 1000, .tv_usec = deadline.count() % 1000 * 1000}};
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace suite::cases::dat
