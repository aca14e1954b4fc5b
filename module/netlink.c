// SPDX-License-Identifier: GPL-2.0-only
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/timekeeping.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include "../include/uapi/cozk_netlink.h"
#include "netlink.h"
#include "session.h"

static struct genl_family family;

static bool may_see(struct sk_buff *skb, const struct cozk_session *s)
{
	return uid_eq(NETLINK_CB(skb).sk->sk_uid, s->cred->uid) ||
	       netlink_capable(skb, CAP_SYS_PTRACE);
}

static pid_t pid_for_reader(pid_t pid)
{
	pid_t seen;

	rcu_read_lock();
	seen = pid_vnr(find_pid_ns(pid, &init_pid_ns));
	rcu_read_unlock();
	return seen;
}

static int put_session(struct sk_buff *msg, struct cozk_session *s)
{
	struct cozk_status status;

	cozk_session_status(s, &status);
	if (nla_put_u32(msg, COZK_ATTR_SESSION, s->number) ||
	    nla_put_u32(msg, COZK_ATTR_OWNER_PID, pid_for_reader(s->owner)) ||
	    nla_put_u32(msg, COZK_ATTR_OWNER_UID,
			from_kuid_munged(current_user_ns(), s->cred->uid)) ||
	    nla_put_u64_64bit(msg, COZK_ATTR_AGE_NS, ktime_get_ns() - s->born, COZK_ATTR_PAD) ||
	    nla_put_u32(msg, COZK_ATTR_THREADS, status.threads) ||
	    nla_put_u64_64bit(msg, COZK_ATTR_WINDOWS, status.windows, COZK_ATTR_PAD) ||
	    nla_put_u64_64bit(msg, COZK_ATTR_SAMPLES, status.samples, COZK_ATTR_PAD) ||
	    nla_put_u64_64bit(msg, COZK_ATTR_PAUSED_NS, status.paused_ns, COZK_ATTR_PAD) ||
	    nla_put_string(msg, COZK_ATTR_COMM, s->owner_comm))
		return -EMSGSIZE;
	return 0;
}

static int put_message(struct sk_buff *msg, struct cozk_session *s, u32 portid, u32 seq, int flags)
{
	void *header = genlmsg_put(msg, portid, seq, &family, flags, COZK_CMD_SESSION_GET);

	if (!header)
		return -EMSGSIZE;
	if (put_session(msg, s)) {
		genlmsg_cancel(msg, header);
		return -EMSGSIZE;
	}
	genlmsg_end(msg, header);
	return 0;
}

struct dump {
	struct sk_buff *msg;
	struct netlink_callback *cb;
};

/* cb->args[0] is the last session told, so that a dump goes on where it stopped. */
static int dump_one(struct cozk_session *s, void *data)
{
	struct dump *dump = data;
	struct netlink_callback *cb = dump->cb;
	int err;

	if (s->number <= cb->args[0] || !may_see(cb->skb, s))
		return 0;
	err = put_message(dump->msg, s, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			  NLM_F_MULTI);
	if (!err)
		cb->args[0] = s->number;
	return err;
}

static int session_dump(struct sk_buff *msg, struct netlink_callback *cb)
{
	struct dump dump = { msg, cb };

	cozk_session_for_each(dump_one, &dump);
	return msg->len;
}

struct get {
	struct genl_info *info;
	struct sk_buff *request;
	struct sk_buff *reply;
	u32 number;
};

static int get_one(struct cozk_session *s, void *data)
{
	struct get *get = data;
	int err;

	if (s->number != get->number || !may_see(get->request, s))
		return 0;
	err = put_message(get->reply, s, get->info->snd_portid, get->info->snd_seq, 0);
	return err ?: 1;
}

static int session_get(struct sk_buff *skb, struct genl_info *info)
{
	struct get get = { info, skb };
	int found;

	if (!info->attrs[COZK_ATTR_SESSION])
		return -EINVAL;
	get.number = nla_get_u32(info->attrs[COZK_ATTR_SESSION]);
	get.reply = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!get.reply)
		return -ENOMEM;
	found = cozk_session_for_each(get_one, &get);
	if (found == 1)
		return genlmsg_reply(get.reply, info);
	nlmsg_free(get.reply);
	return found ?: -ENOENT;
}

static const struct nla_policy policy[COZK_ATTR_MAX + 1] = {
	[COZK_ATTR_SESSION] = { .type = NLA_U32 },
};

static const struct genl_ops ops[] = {
	{
		.cmd = COZK_CMD_SESSION_GET,
		.doit = session_get,
		.dumpit = session_dump,
	},
};

static const struct genl_multicast_group groups[] = {
	/* Windows of everybody: more than ps tells. */
	{ .name = COZK_GENL_GROUP_WINDOWS, .flags = GENL_MCAST_CAP_NET_ADMIN },
};

static struct genl_family family = {
	.name = COZK_GENL_NAME,
	.version = COZK_GENL_VERSION,
	.maxattr = COZK_ATTR_MAX,
	.policy = policy,
	.ops = ops,
	.n_ops = ARRAY_SIZE(ops),
	.resv_start_op = COZK_CMD_WINDOW + 1,
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
	.module = THIS_MODULE,
};

static int put_count(struct sk_buff *msg, const struct cozk_count *count)
{
	struct nlattr *nest = nla_nest_start(msg, COZK_ATTR_POINT);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(msg, COZK_ATTR_POINT_INDEX, count->point) ||
	    nla_put_u32(msg, COZK_ATTR_POINT_TYPE, count->type) ||
	    nla_put_u64_64bit(msg, COZK_ATTR_POINT_DELTA, count->end - count->start,
			      COZK_ATTR_PAD)) {
		nla_nest_cancel(msg, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, nest);
	return 0;
}

static int put_window(struct sk_buff *msg, struct cozk_session *s, const struct cozk_window *w,
		      const struct cozk_count *counts)
{
	u32 i;

	if (nla_put_u32(msg, COZK_ATTR_SESSION, s->number) ||
	    nla_put_u64_64bit(msg, COZK_ATTR_WINDOW_ID, w->id, COZK_ATTR_PAD) ||
	    nla_put_u32(msg, COZK_ATTR_SPEEDUP, w->speedup) ||
	    nla_put_u64_64bit(msg, COZK_ATTR_START_NS, w->start_ns, COZK_ATTR_PAD) ||
	    nla_put_u64_64bit(msg, COZK_ATTR_END_NS, w->end_ns, COZK_ATTR_PAD) ||
	    nla_put_u64_64bit(msg, COZK_ATTR_DUE_NS, w->due_end_ns - w->due_start_ns,
			      COZK_ATTR_PAD) ||
	    nla_put_u64_64bit(msg, COZK_ATTR_HITS, w->hits, COZK_ATTR_PAD))
		return -EMSGSIZE;
	for (i = 0; i < w->counts_len; i++)
		if (put_count(msg, &counts[i]))
			return -EMSGSIZE;
	return 0;
}

void cozk_netlink_window(struct cozk_session *s, const struct cozk_window *w,
			 const struct cozk_count *counts)
{
	/* 36 bytes a point, and the window's own attributes. */
	struct sk_buff *msg = genlmsg_new(256 + w->counts_len * 48, GFP_KERNEL);
	void *header;

	if (!msg)
		return;
	header = genlmsg_put(msg, 0, 0, &family, 0, COZK_CMD_WINDOW);
	if (!header || put_window(msg, s, w, counts)) {
		nlmsg_free(msg);
		return;
	}
	genlmsg_end(msg, header);
	/* -ESRCH: nobody listens. */
	genlmsg_multicast(&family, msg, 0, 0, GFP_KERNEL);
}

int cozk_netlink_setup(void)
{
	return genl_register_family(&family);
}

void cozk_netlink_cleanup(void)
{
	genl_unregister_family(&family);
}
