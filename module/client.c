// SPDX-License-Identifier: GPL-2.0-only
#include <linux/anon_inodes.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "client.h"
#include "compat.h"
#include "control.h"
#include "progress.h"
#include "session.h"
#include "thread.h"

static long point(struct cozk_session *s, void __user *user)
{
	struct cozk_point *point = memdup_user(user, sizeof(*point));
	long err;

	if (IS_ERR(point))
		return PTR_ERR(point);
	err = point->index || point->total ? -EINVAL : cozk_progress_point(s->progress, point);
	if (!err && copy_to_user(user, point, sizeof(*point)))
		err = -EFAULT;
	kfree(point);
	return err;
}

static long lane(struct cozk_session *s, void __user *user)
{
	struct cozk_lane lane = {};
	struct cozk_thread *t;
	int ret = -ESRCH;

	rcu_read_lock();
	t = cozk_thread_find(current);
	if (t && t->session == s)
		ret = cozk_progress_lane(s->progress, t);
	rcu_read_unlock();
	if (ret < 0)
		return ret;
	lane.lane = ret;
	return copy_to_user(user, &lane, sizeof(lane)) ? -EFAULT : 0;
}

static long client_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct cozk_session *s = file->private_data;
	void __user *user = (void __user *)arg;

	if (cozk_session_ended(s))
		return -ENODEV;
	switch (cmd) {
	case COZK_IOC_INFO:
		return cozk_control_info(s, user);
	case COZK_IOC_POINT:
		return point(s, user);
	case COZK_IOC_LANE:
		return lane(s, user);
	default:
		return -ENOTTY;
	}
}

static int client_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct cozk_session *s = file->private_data;

	if (cozk_session_ended(s))
		return -ENODEV;
	return cozk_progress_mmap(s->progress, vma);
}

static int client_release(struct inode *inode, struct file *file)
{
	cozk_session_put(file->private_data);
	return 0;
}

static const struct file_operations client_fops = {
	.owner = THIS_MODULE,
	.release = client_release,
	.mmap = client_mmap,
	.unlocked_ioctl = client_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

int cozk_client_fd(struct cozk_session *s, bool cloexec)
{
	int fd;

	cozk_session_get(s);
	fd = anon_inode_getfd("[cozk]", &client_fops, s, O_RDWR | (cloexec ? O_CLOEXEC : 0));
	if (fd < 0)
		cozk_session_put(s);
	return fd;
}

void cozk_vma_dont_copy(struct vm_area_struct *vma)
{
	cozk_vm_flags_set(vma, VM_DONTCOPY);
}
