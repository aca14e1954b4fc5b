/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Progress points for cozk, with Coz's macro names.
 *
 *   COZ_PROGRESS               one unit of work is done; named "file:line"
 *   COZ_PROGRESS_NAMED(name)   the same; places that share a name share a count
 *   COZ_BEGIN(name)            something begins whose latency matters ...
 *   COZ_END(name)              ... and ends, perhaps in another thread
 *
 * Nothing has to be linked: a visit finds the library that `cozk run` has preloaded.  To link it
 * all the same, as a static program must, define COZK_LINKED and add -lcoz-lite.  Without cozk a
 * visit is one load and one branch.  With it, each thread counts in a page of its own, so threads
 * never wait for each other's cache lines.  Visits may come from signal handlers and leave errno
 * alone.
 *
 * `name` is read on the first visit of a place only.  A name of 256 bytes or more keeps its last
 * 255.  C and C++, gcc and clang.  In C, an inline function with a point must be static inline.
 */
#ifndef COZK_H
#define COZK_H

#ifdef COZ_H
#error "cozk.h replaces coz.h: include only one of them"
#endif
#define COZ_H /* a coz.h included later by somebody else's header adds nothing */

#include <errno.h>
#include <stddef.h>

#define COZ_COUNTER_TYPE_THROUGHPUT 1
#define COZ_COUNTER_TYPE_BEGIN 2
#define COZ_COUNTER_TYPE_END 3

/*
 * What follows is between this header and the library.  A change of these structs needs a new
 * name for _cozk_visit: header and library may come from different releases.
 */

/* One place in the code that has a point. */
struct cozk_site {
	const unsigned int *epoch; /* NULL before the first visit, or COZK_SITE_OFF_ */
	size_t *shared;		   /* counter for threads without a lane: atomic adds */
	size_t offset;		   /* of the counter in every private lane */
};

/* One thread: which private lane it writes.  A forked child must not go on with it. */
struct cozk_visitor {
	char *lane;
	unsigned int epoch;   /* the lane is this thread's while *site->epoch is this */
	unsigned int refused; /* the epoch in which the kernel had no lane for it */
};

typedef struct {
	size_t count;
	size_t backoff;
} coz_counter_t;

typedef coz_counter_t *(*coz_get_counter_t)(int type, const char *name);
typedef void (*cozk_visit_t)(struct cozk_site *site, struct cozk_visitor *visitor, int type,
			     const char *name);
typedef void (*cozk_function_t)(void);

#define COZK_SITE_OFF_ ((const unsigned int *)1)
#define COZK_NO_EPOCH_ (~0U)	/* no visitor ever has it: every visit takes the long way */
#define COZK_NEW_VISITOR_ (~1U) /* no site ever has it; 0 would match in a forked child */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * weakref, not weak: the program's own calls of these functions stay strong.  A position
 * independent program has them bound at load time; in others they are NULL, and dlsym finds
 * what was preloaded.  A strong reference makes the linker take what -lcoz-lite offers: it
 * would not search an archive for a weak one, and drop a shared library under --as-needed.
 */
#ifdef COZK_LINKED
void _cozk_visit(struct cozk_site *, struct cozk_visitor *, int, const char *);
#define cozk_weak_visit_ _cozk_visit
#else
static void cozk_weak_visit_(struct cozk_site *, struct cozk_visitor *, int, const char *)
	__attribute__((weakref("_cozk_visit")));
#endif
static coz_counter_t *cozk_weak_get_counter_(int, const char *)
	__attribute__((weakref("_coz_get_counter")));
static cozk_function_t cozk_weak_dlsym_(void *, const char *) __attribute__((weakref("dlsym")));

#ifdef __cplusplus
}
#endif

static __thread struct cozk_visitor cozk_visitor_
	__attribute__((unused)) = { NULL, COZK_NEW_VISITOR_, 0 };

/* A profiler other than cozk, Coz itself say: count where it says, every visit the long way. */
static __attribute__((unused)) void cozk_site_open_foreign_(struct cozk_site *site, int type,
							    const char *name)
{
	static const unsigned int no_epoch = COZK_NO_EPOCH_;
	coz_get_counter_t get = cozk_weak_get_counter_;
	coz_counter_t *counter;

	if (!get && cozk_weak_dlsym_)
		get = (coz_get_counter_t)cozk_weak_dlsym_(NULL, "_coz_get_counter");
	counter = get ? get(type, name) : NULL;
	if (counter)
		__atomic_store_n(&site->shared, &counter->count, __ATOMIC_RELAXED);
	__atomic_store_n(&site->epoch, counter ? &no_epoch : COZK_SITE_OFF_, __ATOMIC_RELEASE);
}

/* First visits of a site or by a thread, and all visits by threads without a lane. */
static __attribute__((unused, noinline, cold)) void cozk_visit_slow_(struct cozk_site *site,
								     int type, const char *name)
{
	static cozk_visit_t visit;
	static int looked_up;
	int saved_errno = errno;

	if (!__atomic_load_n(&looked_up, __ATOMIC_ACQUIRE)) {
		cozk_visit_t found = &cozk_weak_visit_;

		if (!found && cozk_weak_dlsym_)
			found = (cozk_visit_t)cozk_weak_dlsym_(NULL, "_cozk_visit");
		__atomic_store_n(&visit, found, __ATOMIC_RELAXED);
		__atomic_store_n(&looked_up, 1, __ATOMIC_RELEASE);
	}
	if (visit) {
		visit(site, &cozk_visitor_, type, name);
	} else {
		if (!__atomic_load_n(&site->epoch, __ATOMIC_ACQUIRE))
			cozk_site_open_foreign_(site, type, name);
		if (__atomic_load_n(&site->epoch, __ATOMIC_ACQUIRE) != COZK_SITE_OFF_)
			__atomic_fetch_add(site->shared, 1, __ATOMIC_RELAXED);
	}
	errno = saved_errno;
}

/* Adds 1 to a counter that this thread alone writes and the kernel reads. */
static inline __attribute__((always_inline, unused)) void cozk_count_(size_t *counter)
{
#if defined(__x86_64__) && defined(__LP64__)
	/* One instruction, so that a visit in a signal handler cannot fall in between. */
	__asm__ volatile("incq %0" : "+m"(*counter) : : "cc");
#else
	__atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
#endif
}

/* The short way.  Returns 0 when the long way must be taken. */
static inline __attribute__((always_inline, unused)) int cozk_visit_fast_(struct cozk_site *site)
{
	const unsigned int *epoch = __atomic_load_n(&site->epoch, __ATOMIC_ACQUIRE);

	if (epoch == COZK_SITE_OFF_)
		return 1;
	if (!epoch || __atomic_load_n(epoch, __ATOMIC_RELAXED) != cozk_visitor_.epoch)
		return 0;
	cozk_count_((size_t *)(void *)(cozk_visitor_.lane + site->offset));
	return 1;
}

/* A block and not do-while, because Coz's macros may stand without a semicolon. */
#define COZ_INCREMENT_COUNTER(type, name)                                \
	{                                                                \
		static struct cozk_site cozk_site_;                      \
		if (__builtin_expect(!cozk_visit_fast_(&cozk_site_), 0)) \
			cozk_visit_slow_(&cozk_site_, (type), (name));   \
	}

#define COZK_STRING2_(x) #x
#define COZK_STRING_(x) COZK_STRING2_(x)

#define COZ_PROGRESS_NAMED(name) COZ_INCREMENT_COUNTER(COZ_COUNTER_TYPE_THROUGHPUT, name)
#define COZ_PROGRESS COZ_PROGRESS_NAMED(__FILE__ ":" COZK_STRING_(__LINE__))
#define COZ_BEGIN(name) COZ_INCREMENT_COUNTER(COZ_COUNTER_TYPE_BEGIN, name)
#define COZ_END(name) COZ_INCREMENT_COUNTER(COZ_COUNTER_TYPE_END, name)

/* Marks for hand-made locks.  The module sees every wait and wake-up, so they are empty. */
#define COZ_PRE_BLOCK ((void)0)
#define COZ_POST_BLOCK(skip_delays) ((void)(skip_delays))
#define COZ_CATCH_UP ((void)0)

#endif
