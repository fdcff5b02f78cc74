// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A module of the lab's DUT that makes the kernel's RDMA connection manager answer nobody while it is
// loaded: who calls it waits uninterruptibly (state D) until the module is removed. For tests of what
// a run says of that.
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/wait.h>

static DECLARE_WAIT_QUEUE_HEAD(callers);
static atomic_t waiting = ATOMIC_INIT(0);
static bool over;

// Takes the place of ucma_write(), in the context of the caller.
static noinline ssize_t wait_for_removal(void) {
  atomic_inc(&waiting);
  wait_event(callers, READ_ONCE(over));
  atomic_dec(&waiting);
  return -EIO;
}

static int divert(struct kprobe* probe, struct pt_regs* regs) {
  regs->ip = (unsigned long)wait_for_removal;
  return 1;
}
NOKPROBE_SYMBOL(divert);

// A probe that has this handler is not optimised, and so may change where execution continues.
static void after(struct kprobe* probe, struct pt_regs* regs, unsigned long flags) {}
NOKPROBE_SYMBOL(after);

static struct kprobe entry = {
    .symbol_name = "ucma_write", .pre_handler = divert, .post_handler = after};

static int __init hang_init(void) { return register_kprobe(&entry); }

static void __exit hang_exit(void) {
  unregister_kprobe(&entry);  // nobody else comes
  WRITE_ONCE(over, true);
  wake_up_all(&callers);
  while (atomic_read(&waiting) > 0) schedule_timeout_uninterruptible(1);
  synchronize_rcu_tasks();  // the last of them has left this module's code
}

module_init(hang_init);
module_exit(hang_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("A connection manager that does not answer");
