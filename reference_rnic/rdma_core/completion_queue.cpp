// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Completion queues and channels: completions as ibv_wc, and events on descriptors.
#include <fcntl.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "reference_rnic/rdma_core/async_events.hpp"
#include "reference_rnic/rdma_core/objects.hpp"

namespace rnic::rdma_core {

namespace {

ibv_wc_status status_of(verbs::Status status) {
  switch (status) {
    case verbs::Status::success:
      return IBV_WC_SUCCESS;
    case verbs::Status::flushed:
      return IBV_WC_WR_FLUSH_ERR;
    case verbs::Status::local_length:
      return IBV_WC_LOC_LEN_ERR;
    case verbs::Status::local_protection:
      return IBV_WC_LOC_PROT_ERR;
    case verbs::Status::local_operation:
    case verbs::Status::invalidation:
      return IBV_WC_LOC_QP_OP_ERR;
    case verbs::Status::remote_access:
      return IBV_WC_REM_ACCESS_ERR;
    case verbs::Status::remote_operation:
      return IBV_WC_REM_OP_ERR;
    case verbs::Status::bad_response:
      return IBV_WC_BAD_RESP_ERR;
    case verbs::Status::bind:
      return IBV_WC_MW_BIND_ERR;
  }
  return IBV_WC_GENERAL_ERR;
}

void fill_receive(ibv_wc& wc, const verbs::Completion& completion) {
  wc.wr_id = completion.id;
  wc.opcode = IBV_WC_RECV;
  if (completion.invalidated) {
    wc.invalidated_rkey = *completion.invalidated;
    wc.wc_flags = IBV_WC_WITH_INV;
  }
  if (!completion.immediate) return;
  wc.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
  wc.wc_flags = IBV_WC_WITH_IMM;
  std::memcpy(&wc.imm_data, completion.immediate->data(), sizeof wc.imm_data);
}

/// False: the completion says nothing that the program has not been told.
bool fill_send(ibv_wc& wc, const verbs::Completion& completion, Qp& qp) {
  // A deviant RNIC may complete what was never posted.
  const PostedSend posted =
      qp.posted.empty() ? PostedSend{} : qp.posted[completion.id % qp.posted.size()];
  wc.wr_id = posted.wr_id;
  wc.opcode = posted.opcode;
  // A deviant RNIC may go on after a request that it refused.
  qp.first_unpolled = std::min(completion.id + 1, qp.next_send);
  if (posted.first_half) qp.first_half_failed = true;  // it completes only if it fails
  return !(posted.second_half && std::exchange(qp.first_half_failed, false));
}

/// False: nothing for the program.
bool fill(Engine& shared, ibv_wc& wc, const verbs::Completion& completion) {
  wc = {};
  wc.status = status_of(completion.status);
  wc.byte_len = completion.length;
  const auto found = shared.qp_by_handle.find(completion.queue_pair.value);
  if (found == shared.qp_by_handle.end()) return false;  // destroyed since
  wc.qp_num = found->second->plain()->qp_num;
  if (completion.operation != verbs::Operation::receive)
    return fill_send(wc, completion, *found->second);
  fill_receive(wc, completion);
  return true;
}

void announce(Cq& cq) {
  cq.armed = false;
  cq.prompt.set(false);
  if (cq.shown.channel == nullptr) return;
  Channel& channel = of(cq.shown.channel);
  channel.announced_by = std::this_thread::get_id();
  channel.events.push(&cq);
}

void raise(Engine& shared, verbs::CompletionQueueHandle handle) {
  const auto found = shared.cq_by_handle.find(handle.value);
  if (found == shared.cq_by_handle.end()) return;
  announce(*found->second);
}

int take(Engine& shared, Cq& cq, int count, ibv_wc* wc) {
  auto& batch = shared.taken;
  int filled = 0;
  while (filled < count) {
    const auto want = std::min(batch.size(), static_cast<std::size_t>(count - filled));
    const auto got = shared.rnic().poll(cq.queue, std::span(batch).first(want));
    if (!got) return filled > 0 ? filled : -1;
    for (std::size_t i = 0; i < *got; ++i)
      if (fill(shared, wc[filled], batch[i])) ++filled;
    if (*got < want) break;
  }
  for (; filled < count && !cq.flushed.empty(); ++filled) {
    wc[filled] = cq.flushed.front();
    cq.flushed.pop_front();
  }
  return filled;
}

// ---- the calls of an ibv_cq_ex ----

Cq& of(ibv_cq_ex* cq) { return *reinterpret_cast<Cq*>(cq); }

int next_poll(ibv_cq_ex* shown) {
  Cq& cq = of(shown);
  if (const int taken = poll_cq(cq.plain(), 1, &cq.current); taken != 1)
    return taken < 0 ? EINVAL : ENOENT;  // an error of the queue is no lack of completions
  shown->status = cq.current.status;
  shown->wr_id = cq.current.wr_id;
  return 0;
}

void offer_polling(ibv_cq_ex& cq) {
  cq.start_poll = [](ibv_cq_ex* shown, ibv_poll_cq_attr*) { return next_poll(shown); };
  cq.next_poll = next_poll;
  cq.end_poll = [](ibv_cq_ex*) {};
  cq.read_opcode = [](ibv_cq_ex* shown) { return of(shown).current.opcode; };
  cq.read_vendor_err = [](ibv_cq_ex* shown) { return of(shown).current.vendor_err; };
  cq.read_byte_len = [](ibv_cq_ex* shown) { return of(shown).current.byte_len; };
  cq.read_imm_data = [](ibv_cq_ex* shown) { return of(shown).current.imm_data; };
  cq.read_qp_num = [](ibv_cq_ex* shown) { return of(shown).current.qp_num; };
  cq.read_src_qp = [](ibv_cq_ex*) { return std::uint32_t{0}; };
  cq.read_wc_flags = [](ibv_cq_ex* shown) { return of(shown).current.wc_flags; };
  cq.read_slid = [](ibv_cq_ex*) { return std::uint32_t{0}; };
  cq.read_sl = [](ibv_cq_ex*) { return std::uint8_t{0}; };
  cq.read_dlid_path_bits = [](ibv_cq_ex*) { return std::uint8_t{0}; };
}

}  // namespace

ibv_cq_ex* create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel) {
  if (cqe < 1 || cqe > limits::completions) {
    errno = EINVAL;
    return nullptr;
  }
  Cq* made = make<Cq>([&](Engine& shared, Cq& cq) {
    const auto queue = shared.rnic().create_completion_queue(
        static_cast<std::uint32_t>(cqe),
        [&shared](verbs::CompletionQueueHandle handle) { raise(shared, handle); });
    if (!queue) return errno_of(queue.error());
    cq.queue = *queue;
    cq.shown.context = context;
    cq.shown.channel = channel;
    cq.shown.cq_context = cq_context;
    cq.shown.handle = shared.next_number++;
    cq.shown.cqe = cqe;
    prepare_events(cq.shown);
    offer_polling(cq.shown);
    shared.cq_by_handle[queue->value] = &cq;
    if (channel != nullptr) ++channel->refcnt;
    return 0;
  });
  return made == nullptr ? nullptr : &made->shown;
}

ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attributes) {
  constexpr std::uint64_t offered = IBV_WC_STANDARD_FLAGS;
  if ((attributes->wc_flags & ~offered) != 0 || attributes->comp_vector != 0) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  return create_cq(context, static_cast<int>(attributes->cqe), attributes->cq_context,
                   attributes->channel);
}

int resize_cq(ibv_cq* cq, int cqe) {
  if (cqe < 1) return EINVAL;
  return call([&](Engine& shared, Engine::Lock&) {
    const auto done =
        shared.rnic().resize_completion_queue(of(cq).queue, static_cast<std::uint32_t>(cqe));
    if (!done) return errno_of(done.error());
    cq->cqe = cqe;
    return 0;
  });
}

int destroy_cq(ibv_cq* cq) {
  Cq& ours = of(cq);
  const int result = call([&](Engine& shared, Engine::Lock&) {
    const auto done = shared.rnic().destroy_completion_queue(ours.queue);
    if (!done) return errno_of(done.error());
    shared.cq_by_handle.erase(ours.queue.get().value);
    ours.prompt.set(false);
    forget_events(cq->context, cq);
    if (cq->channel == nullptr) return 0;
    --cq->channel->refcnt;
    of(cq->channel)
        .events.remove([&](const Cq* event) { return event == &ours; }, [](const Cq*) {});
    return 0;
  });
  if (result != 0) return result;
  await_acknowledgements(*cq, [&] {
    return cq->comp_events_completed == ours.comp_events_reported &&
           cq->async_events_completed == ours.async_events_reported;
  });
  delete &ours;
  return 0;
}

int poll_cq(ibv_cq* cq, int count, ibv_wc* wc) {
  int taken = 0;
  call([&](Engine& shared, Engine::Lock&) {
    taken = take(shared, of(cq), count, wc);
    if (taken != 0) {
      shared.keep_polling();
      return 0;
    }
    // The look that follows arming is for completions that came before it. What is still in a socket
    // brings an event.
    if (std::exchange(of(cq).just_armed, false)) return 0;
    shared.poll();
    taken = take(shared, of(cq), count, wc);
    return 0;
  });
  return taken;
}

int req_notify_cq(ibv_cq* cq, int solicited_only) {
  return call([&](Engine& shared, Engine::Lock&) {
    const auto done = shared.rnic().arm(
        of(cq).queue, solicited_only != 0 ? verbs::Arm::solicited : verbs::Arm::next);
    if (!done) return errno_of(done.error());
    of(cq).just_armed = !std::exchange(of(cq).armed, true) && cq->channel != nullptr;
    of(cq).prompt.set(cq->channel != nullptr && !of(cq->channel).awaited_by_call);
    return 0;
  });
}

void complete(Cq& cq, const ibv_wc& wc) {
  cq.flushed.push_back(wc);
  if (cq.armed)
    announce(cq);  // the RNIC may do so once more: programs know events that bring nothing
}

// ---- channels ----

ibv_comp_channel* create_comp_channel(ibv_context* context) {
  return make<Channel>([&](Engine&, Channel& channel) {
    channel.context = context;
    channel.fd = channel.events.descriptor();
    channel.refcnt = 0;
    return 0;
  });
}

int destroy_comp_channel(ibv_comp_channel* channel) {
  if (channel->refcnt != 0) return EBUSY;
  delete &of(channel);
  return 0;
}

namespace {

/// Whether a call that a signal handler interrupts is to fail. That depends on the handler, and which
/// one it was is not known.
bool handlers_interrupt() {
  for (int number = 1; number <= SIGRTMAX; ++number) {
    struct sigaction now{};
    if (sigaction(number, nullptr, &now) != 0 || (now.sa_flags & SA_RESTART) != 0) continue;
    if (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN) return true;
  }
  return false;
}

/// The next event of a channel, for which the call drives the loop; or an errno. EAGAIN: another
/// thread drives.
std::expected<Cq*, int> await_event(Engine& shared, Engine::Lock& lock, Channel& channel,
                                    const access::NoCancellation& whole) {
  EventQueue<Cq*>::Call waiting(channel.events);
  for (;;) {
    const auto how =
        shared.drive_until(lock, waiting.wakeup(), whole, [&] { return waiting.came(); });
    if (!how) return std::unexpected(EAGAIN);
    if (*how == Engine::Waited::done) return waiting.take();
    if (handlers_interrupt()) return std::unexpected(EINTR);
  }
}

/// While it lives the lock is free, and another thread drives if this one has to wait.
class Reading {
 public:
  Reading(Engine& shared, Engine::Lock& lock, bool waits) : lock_(lock), prompt_(shared) {
    prompt_.set(waits);
    lock_.unlock();
  }
  ~Reading() { lock_.lock(); }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

 private:
  Engine::Lock& lock_;
  access::PromptProgress prompt_;
};

/// Takes the token of an event from the descriptor: 0, or the errno.
int read_token(Engine& shared, Engine::Lock& lock, Channel& channel, bool waits,
               const access::NoCancellation& whole) {
  const Reading reading(shared, lock, waits);
  const access::NoCancellation::Exception here(&whole);
  return EventQueue<Cq*>::take_token(channel.fd) ? 0 : errno;
}

/// The next event, awaited as the mode of the descriptor says; or an errno.
std::expected<Cq*, int> next_event(Engine& shared, Engine::Lock& lock, Channel& channel,
                                   const access::NoCancellation& whole) {
  for (;;) {
    // An event that this thread has caused itself does not show how the program waits.
    const bool own = !channel.events.empty() && channel.announced_by == std::this_thread::get_id();
    const bool blocks = own || (fcntl(channel.fd, F_GETFL) & O_NONBLOCK) == 0;
    const bool waits = blocks && channel.events.empty();
    if (!own) channel.awaited_by_call = waits;
    if (waits && !channel.events.has_call()) {
      const auto event = await_event(shared, lock, channel, whole);
      if (event || event.error() != EAGAIN) return event;
    }
    if (const int error = read_token(shared, lock, channel, waits, whole); error != 0)
      return std::unexpected(error);
    if (const auto event = channel.events.pop()) return *event;
  }
}

}  // namespace

int get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  if (of(channel).events.inherited()) {
    errno = ENODEV;
    return -1;
  }
  const access::NoCancellation whole;
  Engine& shared = engine();
  Engine::Lock lock = shared.lock();
  const auto event = next_event(shared, lock, of(channel), whole);
  shared.nudge();
  if (!event) {
    errno = event.error();
    return -1;
  }
  ++(*event)->comp_events_reported;
  *cq = (*event)->plain();
  *cq_context = (*cq)->cq_context;
  return 0;
}

}  // namespace rnic::rdma_core
