// SPDX-License-Identifier: GPL-2.0-only
#include <linux/ptrace.h>
#include <linux/uaccess.h>
#include <linux/xarray.h>

#include "callchain.h"
#include "session.h"
#include "target.h"
#include "thread.h"

/* How far up the stack a return address is looked for, and how many frames are followed. */
enum { SCAN_WORDS = 64, MAX_FRAMES = 32 };

static const struct cozk_ranges *scope_of(struct cozk_session *s, const struct cozk_thread *t)
{
	const struct cozk_ranges *scope = xa_load(&s->scopes, t->space);

	if (!scope && t->origin)
		scope = xa_load(&s->scopes, t->origin);
	return scope;
}

static bool in_scope(const struct cozk_ranges *scope, u64 ip)
{
	/* A scope is of one space: the range table's own number is the key. */
	return scope->count &&
	       cozk_ranges_contain(scope->ranges, scope->count, scope->ranges[0].space, ip);
}

static bool read_user(void *to, u64 from, size_t size)
{
	return !copy_from_user_nofault(to, (const void __user *)(unsigned long)from, size);
}

#ifdef CONFIG_X86_64
/* Does a call instruction end right before @ip?  Keeps stale words from passing as callers. */
static bool after_call(u64 ip)
{
	static const u8 indirect[] = { 2, 3, 4, 6, 7 }; /* lengths of call r/m */
	u8 code[7];
	int i;

	if (!read_user(code, ip - sizeof(code), sizeof(code)))
		return false;
	if (code[2] == 0xe8)
		return true;
	for (i = 0; i < ARRAY_SIZE(indirect); i++) {
		const u8 *insn = code + sizeof(code) - indirect[i];

		if (insn[0] == 0xff && (insn[1] & 0x38) == 0x10)
			return true;
	}
	return false;
}

/*
 * Libraries are built without frame pointers, so for the first step out of one the frame pointer
 * is of no use: it still is the caller's own, and following it skips the caller.  The first word
 * on the stack that lies in scope behind a call instruction is the caller in all but odd cases.
 */
static u64 scan_stack(const struct cozk_ranges *scope, u64 sp)
{
	u64 words[SCAN_WORDS];
	int i, n = SCAN_WORDS;

	/* Near the stack's end less is mapped. */
	while (n && !read_user(words, sp, n * sizeof(*words)))
		n /= 2;
	for (i = 0; i < n; i++)
		if (in_scope(scope, words[i]) && after_call(words[i]))
			return words[i];
	return 0;
}
#else
/* arm64 keeps frame pointers by its ABI, and the link register has the first caller. */
static u64 scan_stack(const struct cozk_ranges *scope, u64 sp)
{
	return 0;
}
#endif

static u64 first_caller(struct pt_regs *user)
{
#ifdef CONFIG_ARM64
	return user->regs[30];
#else
	return 0;
#endif
}

static u64 walk_frames(const struct cozk_ranges *scope, struct pt_regs *user)
{
	u64 fp = frame_pointer(user);
	u64 frame[2]; /* caller's frame pointer, return address */
	int i;

	for (i = 0; i < MAX_FRAMES; i++) {
		if (!fp || fp % sizeof(u64) || !read_user(frame, fp, sizeof(frame)))
			break;
		if (in_scope(scope, frame[1]))
			return frame[1];
		/* Stacks grow down: a chain that does not go up is not one. */
		if (frame[0] <= fp)
			break;
		fp = frame[0];
	}
	return 0;
}

u64 cozk_callchain_find(struct cozk_session *s, const struct cozk_thread *t, struct pt_regs *user,
			u16 *flags)
{
	const struct cozk_ranges *scope = scope_of(s, t);
	u64 ip = instruction_pointer(user);
	u64 caller;

	if (!scope || in_scope(scope, ip)) {
		*flags |= COZK_SAMPLE_SCOPED;
		return ip;
	}
	caller = first_caller(user);
	if (!caller || !in_scope(scope, caller))
		caller = scan_stack(scope, user_stack_pointer(user));
	if (!caller)
		caller = walk_frames(scope, user);
	if (!caller)
		return ip;
	*flags |= COZK_SAMPLE_SCOPED | COZK_SAMPLE_CALLER;
	/* The call, not what comes after it, which may be another line. */
	return caller - 1;
}
