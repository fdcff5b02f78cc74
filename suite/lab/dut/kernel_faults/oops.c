// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A module of the lab's DUT for which the kernel reports a BUG when it is loaded: the loading process
// ends, and the kernel continues. For tests of what a run says of that.
#include <linux/bug.h>
#include <linux/module.h>

static int __init oops_init(void) { BUG(); }

module_init(oops_init);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("A BUG on command");
