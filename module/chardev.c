// SPDX-License-Identifier: GPL-2.0-only
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "chardev.h"
#include "client.h"
#include "control.h"
#include "ring.h"
#include "session.h"

static int control_open(struct inode *inode, struct file *file)
{
	struct cozk_session *s = cozk_session_create();

	if (IS_ERR(s))
		return PTR_ERR(s);
	file->private_data = s;
	return nonseekable_open(inode, file);
}

static int control_release(struct inode *inode, struct file *file)
{
	cozk_session_end(file->private_data);
	return 0;
}

static int control_mmap(struct file *file, struct vm_area_struct *vma)
{
	/* A mapping keeps the file, and so the session, alive: a forked child must not have it. */
	cozk_vma_dont_copy(vma);
	return cozk_ring_mmap(file->private_data, vma);
}

static __poll_t control_poll(struct file *file, struct poll_table_struct *wait)
{
	struct cozk_session *s = file->private_data;
	__poll_t mask = 0;

	poll_wait(file, &s->wait, wait);
	if (cozk_ring_pending(s))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (!READ_ONCE(s->threads_alive) && READ_ONCE(s->threads_seen))
		mask |= EPOLLHUP;
	return mask;
}

static long control_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct cozk_session *s = file->private_data;
	void __user *user = (void __user *)arg;
	long ret;

	/* These only look, and must not wait for a window. */
	switch (cmd) {
	case COZK_IOC_INFO:
		return cozk_control_info(s, user);
	case COZK_IOC_STATUS:
		return cozk_control_status(s, user);
	case COZK_IOC_POINTS:
		return cozk_control_points(s, user);
	}

	/* Not for these: whoever changes an experiment that is running has made a mistake. */
	if (READ_ONCE(s->busy) && (cmd == COZK_IOC_SAMPLING || cmd == COZK_IOC_SCOPE ||
				   cmd == COZK_IOC_TARGET || cmd == COZK_IOC_WINDOW))
		return -EBUSY;
	if (mutex_lock_interruptible(&s->control))
		return -ERESTARTSYS;
	switch (cmd) {
	case COZK_IOC_ADOPT:
		ret = cozk_control_adopt(s, user);
		break;
	case COZK_IOC_CLIENT:
		ret = cozk_control_client(s, user);
		break;
	case COZK_IOC_SAMPLING:
		ret = cozk_control_sampling(s, user);
		break;
	case COZK_IOC_SCOPE:
		ret = cozk_control_scope(s, user);
		break;
	case COZK_IOC_TARGET:
		ret = cozk_control_target(s, user);
		break;
	case COZK_IOC_WINDOW:
		ret = cozk_control_window(s, user);
		break;
	default:
		ret = -ENOTTY;
	}
	mutex_unlock(&s->control);
	return ret;
}

static const struct file_operations control_fops = {
	.owner = THIS_MODULE,
	.open = control_open,
	.release = control_release,
	.mmap = control_mmap,
	.poll = control_poll,
	.unlocked_ioctl = control_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "cozk",
	.fops = &control_fops,
	.mode = 0660,
};

int cozk_chardev_setup(void)
{
	return misc_register(&device);
}

void cozk_chardev_cleanup(void)
{
	misc_deregister(&device);
}
