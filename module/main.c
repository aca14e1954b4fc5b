// SPDX-License-Identifier: GPL-2.0-only
/* What the module is made of, in the order it is set up; taken down in the reverse. */
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "chardev.h"
#include "hooks.h"
#include "netlink.h"
#include "pause.h"
#include "sample.h"
#include "thread.h"

static int __init cozk_init(void)
{
	int err;

	err = cozk_thread_setup();
	if (err)
		goto fail;
	err = cozk_sample_setup();
	if (err)
		goto fail_sample;
	cozk_pause_setup();
	err = cozk_hooks_setup();
	if (err)
		goto fail_sample;
	err = cozk_netlink_setup();
	if (err)
		goto fail_sample;
	err = cozk_chardev_setup();
	if (err)
		goto fail_chardev;
	return 0;

fail_chardev:
	cozk_netlink_cleanup();
fail_sample:
	cozk_thread_cleanup();
fail:
	return err;
}

static void __exit cozk_exit(void)
{
	cozk_chardev_cleanup();
	cozk_netlink_cleanup();
	cozk_pause_cleanup();
	cozk_thread_cleanup();
	/* A pause may have put its record and not have returned from our text yet. */
	synchronize_rcu_tasks();
	rcu_barrier();
}

module_init(cozk_init);
module_exit(cozk_exit);

MODULE_DESCRIPTION("Causal profiler: samples and delays threads with per-thread virtual time");
MODULE_VERSION(COZK_VERSION);
MODULE_LICENSE("GPL");
