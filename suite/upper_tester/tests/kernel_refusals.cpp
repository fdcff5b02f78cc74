// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Runs in the siw guest: what /dev/rnic_kagent refuses, with which errno, and that nothing is left
// of it. Prints each refusal that differs; exit 0 if there is none.
#include <infiniband/verbs.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <type_traits>

#include "suite/upper_tester/kverbs/kernel_file.hpp"

namespace {

using suite::upper_tester::kverbs::KernelFile;

int failures = 0;

void expect(const char* what, int got, int wanted) {
  if (got == wanted) return;
  std::printf("%s: %s, not %s\n", what, std::strerror(got), std::strerror(wanted));
  ++failures;
}

struct Session {
  KernelFile file;
  std::uint32_t pd = 0, memory = 0, mr = 0, cq = 0, qp = 0;

  Session() {
    expect("open", file.open(), 0);
    rnic_kagent_open device{};
    device.version = RNIC_KAGENT_VERSION;
    expect("OPEN", file.call(RNIC_KAGENT_OPEN, device), 0);
    rnic_kagent_object made{};
    expect("ALLOC_PD", file.call(RNIC_KAGENT_ALLOC_PD, made), 0);
    pd = made.handle;
    rnic_kagent_memory pages{};
    pages.length = 8192;
    expect("ALLOC_MEMORY", file.call(RNIC_KAGENT_ALLOC_MEMORY, pages), 0);
    memory = pages.handle;
    rnic_kagent_mr region{};
    region.pd = pd;
    region.max_pages = 2;
    expect("ALLOC_MR", file.call(RNIC_KAGENT_ALLOC_MR, region), 0);
    mr = region.handle;
    rnic_kagent_cq queue{};
    queue.entries = 16;
    expect("CREATE_CQ", file.call(RNIC_KAGENT_CREATE_CQ, queue), 0);
    cq = queue.handle;
    rnic_kagent_qp pair{};
    pair.pd = pd;
    pair.cq = cq;
    pair.max_send_wr = pair.max_recv_wr = pair.max_send_sge = pair.max_recv_sge = 2;
    expect("CREATE_QP", file.call(RNIC_KAGENT_CREATE_QP, pair), 0);
    qp = pair.handle;
  }
  [[nodiscard]] int map(std::uint64_t offset, std::uint64_t length, std::uint64_t iova) const {
    rnic_kagent_map request{};
    request.mr = mr;
    request.memory = memory;
    request.offset = offset;
    request.length = length;
    request.set_iova = 1;
    request.iova = iova;
    return file.call(RNIC_KAGENT_MAP_MR, request);
  }
  [[nodiscard]] int receive_with_key(std::uint32_t key) const {
    rnic_kagent_recv request{};
    request.qp = qp;
    request.pieces = 1;
    request.piece[0].address = 0xffff888000000000;
    request.piece[0].length = 8;
    request.piece[0].lkey = key;
    return file.call(RNIC_KAGENT_POST_RECV, request);
  }
  [[nodiscard]] int receive_from_memory(std::uint64_t offset, std::uint32_t length) const {
    rnic_kagent_recv request{};
    request.qp = qp;
    request.pieces = 1;
    request.piece[0].address = offset;
    request.piece[0].length = length;
    request.piece[0].memory = memory;
    return file.call(RNIC_KAGENT_POST_RECV, request);
  }
  [[nodiscard]] int map_pages(std::uint32_t object, std::size_t length) const {
    void* start = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, file.descriptor(),
                         static_cast<off_t>(object) * ::sysconf(_SC_PAGESIZE));
    if (start == MAP_FAILED) return errno;
    ::munmap(start, length);
    return 0;
  }
};

void before_a_device_is_open() {
  KernelFile file;
  expect("open", file.open(), 0);
  rnic_kagent_object made{};
  expect("a request before OPEN", file.call(RNIC_KAGENT_ALLOC_PD, made), ENODEV);
  expect("an unknown request", file.call(_IOWR(RNIC_KAGENT_MAGIC, 99, int), made), ENOTTY);
  expect("a request of another size", file.call(_IOWR(RNIC_KAGENT_MAGIC, 3, int), made), ENOTTY);
  rnic_kagent_open device{};
  device.version = RNIC_KAGENT_VERSION + 1;
  expect("another version", file.call(RNIC_KAGENT_OPEN, device), EPROTO);
  expect("the version that is told", static_cast<int>(device.version), RNIC_KAGENT_VERSION);
  std::strcpy(device.device, "nosuch0");
  expect("a device that is not there", file.call(RNIC_KAGENT_OPEN, device), ENODEV);
  char octet = 0;
  errno = 0;
  expect("a read that is too short", ::read(file.descriptor(), &octet, 1) < 0 ? errno : 0, EINVAL);
}

void of_handles(const Session& session) {
  rnic_kagent_open again{};
  again.version = RNIC_KAGENT_VERSION;
  expect("a second OPEN", session.file.call(RNIC_KAGENT_OPEN, again), EBUSY);
  expect("a handle of nothing", session.file.destroy(4711), ENOENT);
  expect("a domain with a region", session.file.destroy(session.pd), EBUSY);
  expect("a queue with a queue pair", session.file.destroy(session.cq), EBUSY);
  rnic_kagent_object drained{};
  drained.handle = session.cq;
  expect("a handle of another kind", session.file.call(RNIC_KAGENT_DRAIN_QP, drained), ENOENT);
  expect("a mapping of a domain", session.map_pages(session.pd, 4096), ENOENT);
  expect("a mapping that is too long", session.map_pages(session.memory, 3 * 4096), EINVAL);
  expect("a mapping", session.map_pages(session.memory, 2 * 4096), 0);
}

void of_memory(const Session& session) {
  expect("a region beyond its memory", session.map(4096, 4097, 4096), ERANGE);
  expect("an empty region", session.map(0, 0, 0), ERANGE);
  expect("a range that wraps around", session.map(~std::uint64_t{0}, 2, 0), ERANGE);
  expect("another offset in the page", session.map(16, 100, 17), EINVAL);
  expect("a region", session.map(16, 100, 4096 * 7 + 16), 0);
  expect("memory with a region", session.file.destroy(session.memory), EBUSY);
  expect("the key of all memory", session.receive_with_key(0), EACCES);
  expect("local_dma_lkey within a page", session.receive_from_memory(100, 8), 0);
  expect("local_dma_lkey across pages", session.receive_from_memory(4090, 8), ERANGE);
  expect("local_dma_lkey beyond the memory", session.receive_from_memory(8190, 8), ERANGE);
}

void of_work(const Session& session) {
  rnic_kagent_send send{};
  send.qp = session.qp;
  send.opcode = 77;
  expect("an unknown opcode", session.file.call(RNIC_KAGENT_POST_SEND, send), EOPNOTSUPP);
  send.opcode = RNIC_KAGENT_WR_SEND;
  send.pieces = RNIC_KAGENT_MAX_PIECES + 1;
  expect("too many pieces", session.file.call(RNIC_KAGENT_POST_SEND, send), EINVAL);
  send.pieces = 0;
  send.opcode = RNIC_KAGENT_WR_REG_MR;
  send.mr = session.cq;
  expect("a registration of no region", session.file.call(RNIC_KAGENT_POST_SEND, send), ENOENT);
  rnic_kagent_qp_attr attributes{};
  attributes.qp = session.qp;
  attributes.state = IBV_QPS_SQD;
  expect("a state of no use", session.file.call(RNIC_KAGENT_MODIFY_QP, attributes), EINVAL);
  rnic_kagent_cq queue{};
  expect("a queue of no entries", session.file.call(RNIC_KAGENT_CREATE_CQ, queue), EINVAL);
  queue.entries = 1;
  queue.poll = RNIC_KAGENT_POLL_NEVER + 1;
  expect("an unknown way to poll", session.file.call(RNIC_KAGENT_CREATE_CQ, queue), EINVAL);
  rnic_kagent_process_cq process{};
  process.cq = session.cq;
  expect("polling in another's place", session.file.call(RNIC_KAGENT_PROCESS_CQ, process), EINVAL);
}

template <class Chain>
void of_lists(const Session& session, const char* what, unsigned long request) {
  const auto chain = std::make_unique<Chain>();
  if constexpr (std::is_same_v<Chain, rnic_kagent_send_chain>)
    for (rnic_kagent_send& each : chain->request) each.opcode = RNIC_KAGENT_WR_SEND;
  expect(what, session.file.call(request, *chain), EINVAL);  // an empty one
  chain->count = RNIC_KAGENT_MAX_CHAIN + 1;
  expect(what, session.file.call(request, *chain), EINVAL);
  chain->count = 2;
  chain->request[0].qp = session.qp;
  expect(what, session.file.call(request, *chain), EINVAL);  // of two queue pairs
  chain->request[0].qp = session.cq;
  expect(what, session.file.call(request, *chain), ENOENT);
  chain->request[0].qp = chain->request[1].qp = session.qp;
  chain->request[1].pieces = RNIC_KAGENT_MAX_PIECES + 1;
  chain->posted = 7;
  expect(what, session.file.call(request, *chain), EINVAL);
  expect(what, static_cast<int>(chain->posted), 0);
}

}  // namespace

int main() {
  before_a_device_is_open();
  const Session session;
  of_handles(session);
  of_memory(session);
  of_work(session);
  of_lists<rnic_kagent_send_chain>(session, "a list of sends", RNIC_KAGENT_POST_SEND_CHAIN);
  of_lists<rnic_kagent_recv_chain>(session, "a list of receives", RNIC_KAGENT_POST_RECV_CHAIN);
  return failures == 0 ? 0 : 1;
}
