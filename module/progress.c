// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "progress.h"
#include "session.h"
#include "thread.h"

struct point {
	u32 type;
	char name[COZK_POINT_NAME_MAX];
};

struct cozk_progress {
	void *counters;		   /* COZK_COUNTERS_SIZE bytes that the program maps */
	struct mutex points_mutex; /* points are only added */
	u32 count;		   /* release: the point is there before it is counted */
	struct point points[COZK_MAX_POINTS];

	raw_spinlock_t lanes_lock; /* innermost; taken with interrupts off */
	DECLARE_BITMAP(lanes, COZK_MAX_LANES);
	u32 lanes_used; /* the highest lane ever given + 1 */
};

struct cozk_progress *cozk_progress_create(void)
{
	struct cozk_progress *p = kvzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);

	if (!p)
		return NULL;
	p->counters = vmalloc_user(COZK_COUNTERS_SIZE);
	if (!p->counters) {
		kvfree(p);
		return NULL;
	}
	mutex_init(&p->points_mutex);
	raw_spin_lock_init(&p->lanes_lock);
	return p;
}

void cozk_progress_destroy(struct cozk_progress *p)
{
	if (!p)
		return;
	vfree(p->counters);
	kvfree(p);
}

int cozk_progress_mmap(struct cozk_progress *p, struct vm_area_struct *vma)
{
	if (vma->vm_pgoff || vma->vm_end - vma->vm_start != COZK_COUNTERS_SIZE)
		return -EINVAL;
	return remap_vmalloc_range(vma, p->counters, 0);
}

static u64 read_counter(const struct cozk_progress *p, size_t offset)
{
	return READ_ONCE(*(u64 *)(p->counters + offset));
}

static u64 total(const struct cozk_progress *p, u32 point)
{
	u64 sum = read_counter(p, point * COZK_SHARED_STRIDE);
	u32 lanes = READ_ONCE(p->lanes_used);
	u32 lane;

	for (lane = 0; lane < lanes; lane++)
		sum += read_counter(p, COZK_SHARED_SIZE + lane * COZK_LANE_SIZE +
					       point * COZK_PRIVATE_STRIDE);
	return sum;
}

u32 cozk_progress_count(struct cozk_progress *p)
{
	return smp_load_acquire(&p->count);
}

u32 cozk_progress_type(struct cozk_progress *p, u32 index)
{
	return p->points[index].type;
}

void cozk_progress_read(struct cozk_progress *p, u64 *totals, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		totals[i] = total(p, i);
}

static int find_or_make(struct cozk_progress *p, const struct cozk_point *point)
{
	u32 i;

	for (i = 0; i < p->count; i++)
		if (p->points[i].type == point->type && !strcmp(p->points[i].name, point->name))
			return i;
	if (i == COZK_MAX_POINTS)
		return -ENOSPC;
	p->points[i].type = point->type;
	strscpy(p->points[i].name, point->name, sizeof(p->points[i].name));
	smp_store_release(&p->count, i + 1);
	return i;
}

int cozk_progress_point(struct cozk_progress *p, struct cozk_point *point)
{
	int index;

	if (point->type < COZK_POINT_THROUGHPUT || point->type > COZK_POINT_END ||
	    !point->name[0] || strnlen(point->name, sizeof(point->name)) == sizeof(point->name))
		return -EINVAL;
	mutex_lock(&p->points_mutex);
	index = find_or_make(p, point);
	mutex_unlock(&p->points_mutex);
	if (index < 0)
		return index;
	point->index = index;
	point->total = total(p, index);
	return 0;
}

static int copy_point(struct cozk_progress *p, struct cozk_point __user *to, u32 index)
{
	struct cozk_point *point = kzalloc(sizeof(*point), GFP_KERNEL);
	int err = 0;

	if (!point)
		return -ENOMEM;
	point->type = p->points[index].type;
	point->index = index;
	point->total = total(p, index);
	strscpy(point->name, p->points[index].name, sizeof(point->name));
	if (copy_to_user(to, point, sizeof(*point)))
		err = -EFAULT;
	kfree(point);
	return err;
}

int cozk_progress_list(struct cozk_progress *p, struct cozk_point __user *to, u32 max)
{
	u32 count = cozk_progress_count(p);
	u32 i;
	int err;

	for (i = 0; i < min(count, max); i++) {
		err = copy_point(p, to + i, i);
		if (err)
			return err;
	}
	return count;
}

int cozk_progress_lane(struct cozk_progress *p, struct cozk_thread *t)
{
	unsigned long flags;
	int lane;

	raw_spin_lock_irqsave(&p->lanes_lock, flags);
	lane = t->lane;
	if (lane < 0) {
		lane = find_first_zero_bit(p->lanes, COZK_MAX_LANES);
		if (lane < COZK_MAX_LANES) {
			__set_bit(lane, p->lanes);
			p->lanes_used = max_t(u32, p->lanes_used, lane + 1);
			t->lane = lane;
		} else {
			lane = -ENOSPC;
		}
	}
	raw_spin_unlock_irqrestore(&p->lanes_lock, flags);
	return lane;
}

void cozk_progress_free_lane(struct cozk_thread *t)
{
	struct cozk_progress *p = t->session->progress;
	unsigned long flags;

	raw_spin_lock_irqsave(&p->lanes_lock, flags);
	if (t->lane >= 0)
		__clear_bit(t->lane, p->lanes);
	t->lane = -1;
	raw_spin_unlock_irqrestore(&p->lanes_lock, flags);
}
