// SPDX-License-Identifier: GPL-2.0-or-later
/* The netlink family: sessions listed, one asked for, windows told.  As root and as nobody. */
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <string.h>
#include <unistd.h>

#include "../../include/uapi/cozk_netlink.h"
#include "common.h"

struct seen {
	unsigned int sessions, windows;
	uint32_t number, pid, uid, threads;
	char comm[16];
	uint64_t window_id, due, hits, delta;
	uint32_t speedup, points;
};

static uint32_t u32(struct nlattr **a, int type)
{
	return a[type] ? nla_get_u32(a[type]) : 0;
}

static uint64_t u64(struct nlattr **a, int type)
{
	return a[type] ? nla_get_u64(a[type]) : 0;
}

static void see_window(struct seen *s, struct nlmsghdr *header, struct nlattr **a)
{
	struct nlattr *attr, *in[COZK_ATTR_MAX + 1];
	int left;

	s->windows++;
	s->number = u32(a, COZK_ATTR_SESSION);
	s->window_id = u64(a, COZK_ATTR_WINDOW_ID);
	s->speedup = u32(a, COZK_ATTR_SPEEDUP);
	s->due = u64(a, COZK_ATTR_DUE_NS);
	s->hits = u64(a, COZK_ATTR_HITS);
	nlmsg_for_each_attr(attr, header, GENL_HDRLEN, left)
	{
		if (nla_type(attr) != COZK_ATTR_POINT || nla_parse_nested(in, COZK_ATTR_MAX, attr, NULL))
			continue;
		s->points++;
		s->delta += u64(in, COZK_ATTR_POINT_DELTA);
	}
}

static int see(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *header = nlmsg_hdr(msg);
	struct genlmsghdr *genl = nlmsg_data(header);
	struct nlattr *a[COZK_ATTR_MAX + 1];
	struct seen *s = arg;

	if (genlmsg_parse(header, 0, a, COZK_ATTR_MAX, NULL))
		return NL_SKIP;
	if (genl->cmd == COZK_CMD_WINDOW) {
		see_window(s, header, a);
		return NL_OK;
	}
	s->sessions++;
	if (u32(a, COZK_ATTR_OWNER_PID) != (uint32_t)getpid())
		return NL_OK;
	s->number = u32(a, COZK_ATTR_SESSION);
	s->pid = u32(a, COZK_ATTR_OWNER_PID);
	s->uid = u32(a, COZK_ATTR_OWNER_UID);
	s->threads = u32(a, COZK_ATTR_THREADS);
	if (a[COZK_ATTR_COMM])
		strncpy(s->comm, nla_get_string(a[COZK_ATTR_COMM]), sizeof(s->comm) - 1);
	return NL_OK;
}

/* Asks for session @number, 0: all; a negative libnl error, or 0. */
static int get(struct nl_sock *sock, int family, uint32_t number, struct seen *s)
{
	struct nl_msg *msg = nlmsg_alloc();
	int err;

	memset(s, 0, sizeof(*s));
	genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, number ? 0 : NLM_F_DUMP, COZK_CMD_SESSION_GET,
		    COZK_GENL_VERSION);
	if (number)
		nla_put_u32(msg, COZK_ATTR_SESSION, number);
	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, see, s);
	err = nl_send_auto(sock, msg);
	nlmsg_free(msg);
	if (err < 0)
		return err;
	err = nl_recvmsgs_default(sock);
	/* A single answer is followed by an acknowledgement. */
	if (!err && number)
		err = nl_recvmsgs_default(sock);
	return err < 0 ? err : 0;
}

static int idle(void *unused)
{
	(void)unused;
	pause();
	return 0;
}

static void list(struct nl_sock *sock, int family)
{
	struct seen s;
	int fd = session_open();
	struct child c = child_make(idle, NULL);
	uint32_t number;

	if (session_adopt(fd, c.pid))
		bail("cannot adopt");
	ok(!get(sock, family, 0, &s), "a dump succeeds");
	ok(s.pid == (uint32_t)getpid() && s.uid == geteuid() && s.number, "it has our session, with its owner");
	ok(s.threads == 1 && !strcmp(s.comm, "netlink"), "its threads and command");
	if (geteuid())
		ok(s.sessions == 1, "and nobody else's");
	else
		ok(s.sessions >= 2, "and everybody else's");
	number = s.number;
	ok(!get(sock, family, number, &s) && s.number == number && s.sessions == 1, "one can be asked for");
	ok(get(sock, family, number + 1000, &s) == -NLE_OBJ_NOTFOUND, "one that is not there: ENOENT");
	close(fd);
	ok(get(sock, family, number, &s) == -NLE_OBJ_NOTFOUND, "nor is one that has ended");
	child_kill(&c);
}

static void windows(struct nl_sock *sock, int group)
{
	struct seen s = { 0 };
	struct cozk_window w;
	int fd = session_open();
	int client = session_client(fd);
	struct child c = child_make(idle, NULL);

	if (point(client, COZK_POINT_THROUGHPUT, "p") || session_adopt(fd, c.pid))
		bail("cannot set up");
	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, see, &s);
	nl_socket_disable_seq_check(sock);
	ok(!nl_socket_add_membership(sock, group), "the group can be joined");
	if (window(fd, 20 * MS, 40, &w))
		bail("WINDOW failed");
	ok(!nl_recvmsgs_default(sock) && s.windows == 1, "a window is told");
	ok(s.window_id == w.id && s.speedup == 400000 && s.hits == w.hits && s.due == w.due_end_ns - w.due_start_ns &&
		   s.number,
	   "as it was");
	ok(s.points == 1 && s.delta == 0, "with its points");
	child_kill(&c);
	close(client);
	close(fd);
}

int main(void)
{
	struct nl_sock *sock = nl_socket_alloc();
	int family, group;

	if (!sock || genl_connect(sock))
		bail("no netlink");
	family = genl_ctrl_resolve(sock, COZK_GENL_NAME);
	ok(family > 0, "the family is there");
	group = genl_ctrl_resolve_grp(sock, COZK_GENL_NAME, COZK_GENL_GROUP_WINDOWS);
	ok(group > 0, "and its group");
	if (family > 0)
		list(sock, family);
	if (!geteuid())
		windows(sock, group);
	else
		ok(nl_socket_add_membership(sock, group) < 0, "the group is for CAP_NET_ADMIN");
	nl_socket_free(sock);
	return done();
}
