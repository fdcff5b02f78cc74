// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// dat_lmr_create of memory that the consumer has no right to (RFC 5041 section 8.3.2).
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "suite/cases/dat/framework/dat_handle_cases.hpp"

namespace suite::cases::dat {

namespace {

constexpr off_t page = 4096;
constexpr auto open_to_reads =
    static_cast<DAT_MEM_PRIV_FLAGS>(DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG);

/// Memory that is shared with a file of `length` octets. What is beyond the end of the file
/// nobody can access. A process that has opened the file for reading cannot give itself the right
/// to write.
class Mapping {
 public:
  Mapping(off_t length, int protection, std::size_t size = page) : size_(size) {
    const int file = ::memfd_create("mapped", MFD_CLOEXEC);
    if (file < 0) return;
    const std::string path = "/proc/self/fd/" + std::to_string(file);
    const int again =
        ::open(path.c_str(), ((protection & PROT_WRITE) != 0 ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (again >= 0 && ::ftruncate(file, length) == 0)
      memory_ = ::mmap(nullptr, size, protection, MAP_SHARED, again, 0);
    if (again >= 0) ::close(again);
    ::close(file);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (memory_ != MAP_FAILED) ::munmap(memory_, size_);
  }
  [[nodiscard]] void* get() const { return memory_; }

 private:
  std::size_t size_;
  void* memory_ = MAP_FAILED;
};

}  // namespace

DAT_CASE(memory_that_the_consumer_may_not_access_is_refused, calls(dat_lmr_create),
         rules("ddp.security.prm-checks-buffer-rights")) {
  struct Ask {
    const char* name;
    off_t length;  ///< of the file that is mapped
    DAT_MEM_PRIV_FLAGS privileges;
    std::size_t size = page;
    std::size_t offset = 0;  ///< of the region in the memory that is mapped
    [[nodiscard]] std::size_t mapped() const { return (offset + size + page - 1) / page * page; }
  };
  const Pz pz = ia().pz();
  // No text states the return for it.
  const auto returned = [&](void* memory, const Ask& ask) {
    DAT_REGION_DESCRIPTION description{};
    description.for_va = static_cast<std::byte*>(memory) + ask.offset;
    DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
    DAT_LMR_CONTEXT local = 0;
    DAT_RMR_CONTEXT remote = 0;
    DAT_VLEN size = 0;
    DAT_VADDR address = 0;
    const DAT_RETURN code =
        CALL(dat_lmr_create, ia().get(), DAT_MEM_TYPE_VIRTUAL, description, ask.size, pz.get(),
             ask.privileges, DAT_VA_TYPE_VA, &lmr, &local, &remote, &size, &address);
    if (code == DAT_SUCCESS) (void)dat_lmr_free(lmr);
    return code;
  };
  for (const Ask& ask :
       {Ask{"read-only memory, for Writes", page, DAT_MEM_PRIV_ALL_FLAG},
        Ask{"no memory, for Reads", 0, open_to_reads},
        Ask{"no memory, for Writes", 0, DAT_MEM_PRIV_ALL_FLAG},
        Ask{"a page, and no memory behind it", page, open_to_reads, 2 * page},
        Ask{"the end of a page, and no memory behind it", page, open_to_reads, 16, page - 8}})
    row(ask.name, [&] {
      const auto all = static_cast<off_t>(ask.mapped());
      const Mapping usual(all, PROT_READ | PROT_WRITE, ask.mapped());
      const Mapping made(ask.length, PROT_READ, ask.mapped());
      if (usual.get() == MAP_FAILED || made.get() == MAP_FAILED)
        stop(Verdict::inconclusive, "no memory");
      need(returned(usual.get(), ask), "no LMR of memory that it may access");
      const DAT_RETURN got = returned(made.get(), ask);
      expect_that(got != DAT_SUCCESS, "an error", return_text(got));
    });
  // What a process has closed to itself it can open again (docs/disputes.md D67).
  row("its own memory without access, for Reads", [&] {
    const Mapping own(page, PROT_READ | PROT_WRITE);
    if (own.get() == MAP_FAILED || ::mprotect(own.get(), page, PROT_NONE) != 0)
      stop(Verdict::inconclusive, "the host does not take the right away");
    const DAT_RETURN got = returned(own.get(), {"", page, open_to_reads});
    advise_that(got != DAT_SUCCESS, "an error", return_text(got));
  });
}

DAT_CASES_OF_PART(lmr, rights)

}  // namespace suite::cases::dat
