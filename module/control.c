// SPDX-License-Identifier: GPL-2.0-only
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "client.h"
#include "control.h"
#include "pmu.h"
#include "progress.h"
#include "ring.h"
#include "sample.h"
#include "session.h"
#include "target.h"
#include "thread.h"
#include "window.h"

long cozk_control_info(struct cozk_session *s, void __user *user)
{
	struct cozk_info info = {
		.abi_version = COZK_ABI_VERSION,
		.max_threads = COZK_MAX_THREADS,
		.features = COZK_FEATURE_PERF_EVENT | (s->kernel_ip ? COZK_FEATURE_KERNEL_IP : 0),
		.ring_records = s->ring_records,
		.nr_rings = nr_cpu_ids,
		.ring_stride = s->ring_stride,
		.max_pause_ns = COZK_MAX_PAUSE_NS,
		.version = COZK_VERSION,
	};

	return copy_to_user(user, &info, sizeof(info)) ? -EFAULT : 0;
}

long cozk_control_status(struct cozk_session *s, void __user *user)
{
	struct cozk_status status;

	cozk_session_status(s, &status);
	return copy_to_user(user, &status, sizeof(status)) ? -EFAULT : 0;
}

long cozk_control_points(struct cozk_session *s, void __user *user)
{
	struct cozk_points points;
	int count;

	if (copy_from_user(&points, user, sizeof(points)))
		return -EFAULT;
	if (points.count)
		return -EINVAL;
	count = cozk_progress_list(s->progress, u64_to_user_ptr(points.points), points.max);
	if (count < 0)
		return count;
	points.count = count;
	return copy_to_user(user, &points, sizeof(points)) ? -EFAULT : 0;
}

long cozk_control_adopt(struct cozk_session *s, void __user *user)
{
	struct cozk_adopt adopt;

	if (copy_from_user(&adopt, user, sizeof(adopt)))
		return -EFAULT;
	if (adopt.reserved)
		return -EINVAL;
	return cozk_thread_adopt(s, adopt.pid);
}

long cozk_control_client(struct cozk_session *s, void __user *user)
{
	struct cozk_client client;

	if (copy_from_user(&client, user, sizeof(client)))
		return -EFAULT;
	if (client.reserved || client.flags & ~COZK_CLIENT_CLOEXEC)
		return -EINVAL;
	return cozk_client_fd(s, client.flags & COZK_CLIENT_CLOEXEC);
}

/* Of what the caller gives only what selects the event: nothing here checks the rest of it. */
static int copy_attr(struct perf_event_attr *attr, const struct cozk_sampling *sampling)
{
	void __user *from = u64_to_user_ptr(sampling->event_attr);
	struct perf_event_attr given = {};
	u32 size;
	int err;

	if (!sampling->event_period)
		return -EINVAL;
	if (get_user(size, &((struct perf_event_attr __user *)from)->size))
		return -EFAULT;
	if (size < PERF_ATTR_SIZE_VER0 || size > PAGE_SIZE)
		return -EINVAL;
	err = copy_struct_from_user(&given, sizeof(given), from, size);
	if (err)
		return err;
	*attr = (struct perf_event_attr){
		.type = given.type,
		.size = sizeof(*attr),
		.config = given.config,
		.config1 = given.config1,
		.config2 = given.config2,
		.precise_ip = given.precise_ip,
		.exclude_user = given.exclude_user,
		.exclude_kernel = given.exclude_kernel,
		.exclude_hv = given.exclude_hv,
		.exclude_idle = 1,
		.pinned = 1,
		.sample_period = sampling->event_period,
	};
	return 0;
}

static int start_event(struct cozk_session *s, const struct cozk_sampling *sampling)
{
	struct perf_event_attr attr;
	int err = copy_attr(&attr, sampling);

	if (err)
		return err;
	/* A counter that follows CPUs sees everybody. */
	if (!perfmon_capable())
		return -EACCES;
	return cozk_pmu_start(s, &attr);
}

long cozk_control_sampling(struct cozk_session *s, void __user *user)
{
	struct cozk_sampling sampling;
	int err = 0;

	if (copy_from_user(&sampling, user, sizeof(sampling)))
		return -EFAULT;
	if (sampling.reserved || sampling.flags & ~COZK_SAMPLING_EVENT)
		return -EINVAL;
	if (sampling.period_ns &&
	    (sampling.period_ns < COZK_MIN_PERIOD_NS || sampling.period_ns > COZK_MAX_PERIOD_NS))
		return -EINVAL;
	cozk_pmu_stop(s);
	if (sampling.flags & COZK_SAMPLING_EVENT)
		err = start_event(s, &sampling);
	if (!err)
		WRITE_ONCE(s->period_ns, sampling.period_ns);
	cozk_sample_restart(s);
	return err;
}

static struct cozk_ranges *copy_ranges(u64 from, u32 count)
{
	struct cozk_ranges *ranges;

	if (count > COZK_MAX_RANGES)
		return ERR_PTR(-E2BIG);
	ranges = kvmalloc(struct_size(ranges, ranges, count), GFP_KERNEL_ACCOUNT);
	if (!ranges)
		return ERR_PTR(-ENOMEM);
	ranges->count = count;
	if (copy_from_user(ranges->ranges, u64_to_user_ptr(from),
			   flex_array_size(ranges, ranges, count))) {
		kvfree(ranges);
		return ERR_PTR(-EFAULT);
	}
	if (!cozk_ranges_valid(ranges->ranges, count)) {
		kvfree(ranges);
		return ERR_PTR(-EINVAL);
	}
	return ranges;
}

static void free_ranges(struct cozk_ranges *ranges)
{
	if (ranges)
		kvfree_rcu(ranges, rcu);
}

static bool all_of_space(const struct cozk_ranges *ranges, u32 space)
{
	return !ranges->count || (ranges->ranges[0].space == space &&
				  ranges->ranges[ranges->count - 1].space == space);
}

long cozk_control_scope(struct cozk_session *s, void __user *user)
{
	struct cozk_ranges *ranges, *old;
	struct cozk_set_scope scope;

	if (copy_from_user(&scope, user, sizeof(scope)))
		return -EFAULT;
	/* Spaces are numbered by the module; a made-up one would only take memory. */
	if (!scope.space || scope.space > atomic_read(&s->next_space))
		return -EINVAL;
	ranges = copy_ranges(scope.ranges, scope.count);
	if (IS_ERR(ranges))
		return PTR_ERR(ranges);
	if (!all_of_space(ranges, scope.space)) {
		kvfree(ranges);
		return -EINVAL;
	}
	old = xa_store(&s->scopes, scope.space, ranges, GFP_KERNEL_ACCOUNT);
	if (xa_is_err(old)) {
		kvfree(ranges);
		return xa_err(old);
	}
	free_ranges(old);
	return 0;
}

long cozk_control_target(struct cozk_session *s, void __user *user)
{
	struct cozk_ranges *ranges, *old;
	struct cozk_set_target target;

	if (copy_from_user(&target, user, sizeof(target)))
		return -EFAULT;
	if (target.reserved)
		return -EINVAL;
	ranges = copy_ranges(target.ranges, target.count);
	if (IS_ERR(ranges))
		return PTR_ERR(ranges);
	old = rcu_replace_pointer(s->target, ranges, lockdep_is_held(&s->control));
	free_ranges(old);
	return 0;
}

static bool window_valid(const struct cozk_window *w)
{
	return w->speedup <= COZK_SPEEDUP_ONE && !w->flags &&
	       w->duration_ns <= COZK_MAX_WINDOW_NS &&
	       (!w->period_ns ||
		(w->period_ns >= COZK_MIN_PERIOD_NS && w->period_ns <= COZK_MAX_PERIOD_NS)) &&
	       !w->reserved[0] && !w->reserved[1];
}

/* Nothing but the input fields survives from user space. */
static void clear_output(struct cozk_window *w)
{
	*w = (struct cozk_window){
		.duration_ns = w->duration_ns,
		.period_ns = w->period_ns,
		.speedup = w->speedup,
		.counts = w->counts,
		.counts_max = w->counts_max,
	};
}

long cozk_control_window(struct cozk_session *s, void __user *user)
{
	struct cozk_count *counts;
	struct cozk_window w;
	long err;

	if (copy_from_user(&w, user, sizeof(w)))
		return -EFAULT;
	if (!window_valid(&w))
		return -EINVAL;
	clear_output(&w);
	counts = kcalloc(COZK_MAX_POINTS, sizeof(*counts), GFP_KERNEL);
	if (!counts)
		return -ENOMEM;
	err = cozk_window_run(s, &w, counts);
	if (!err &&
	    (copy_to_user(u64_to_user_ptr(w.counts), counts, w.counts_len * sizeof(*counts)) ||
	     copy_to_user(user, &w, sizeof(w))))
		err = -EFAULT;
	kfree(counts);
	return err;
}
