// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "base/out_of_memory.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

namespace base {

namespace {

constexpr int exit_status = 3;
std::terminate_handler usual = nullptr;

// Nothing here needs memory.
void end_in_one_line() {
  std::array<char, 32> text{": out of memory\n"};
  const std::array<iovec, 2> line{
      iovec{.iov_base = program_invocation_short_name,
            .iov_len = std::strlen(program_invocation_short_name)},
      iovec{.iov_base = text.data(), .iov_len = std::strlen(text.data())}};
  [[maybe_unused]] const ssize_t written = ::writev(STDERR_FILENO, line.data(), line.size());
  ::_exit(exit_status);
}

// An exception that finds no memory for itself ends the program without one.
bool is_without_memory() {
  constexpr std::size_t of_an_exception = 1024;
  void* volatile probe = std::malloc(of_an_exception);
  std::free(probe);
  return probe == nullptr;
}

[[noreturn]] void end() {
  try {
    if (std::current_exception()) throw;
    if (is_without_memory()) end_in_one_line();
  } catch (const std::bad_alloc&) {
    end_in_one_line();
  } catch (...) {  // any other exception ends it as before
  }
  usual();
  std::abort();
}

// A sanitizer's runtime may not be there yet.
[[gnu::no_sanitize("address", "thread", "undefined")]] void watch() {
  usual = std::set_terminate(end);
}
// Before the objects of any file are made, or of any library, which takes memory too.
[[gnu::section(".preinit_array"), gnu::used]] void (*const first)() = watch;

}  // namespace

std::string words_of(const std::exception& fault) {
  return dynamic_cast<const std::bad_alloc*>(&fault) != nullptr ? "out of memory" : fault.what();
}

}  // namespace base
