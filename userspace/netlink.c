// SPDX-License-Identifier: GPL-2.0-or-later
#include "netlink.h"

#include <errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cozk_netlink.h"

/* libnl has error numbers of its own; these are the ones that tell a user something. */
static int from_nl(int nl)
{
	switch (nl < 0 ? -nl : nl) {
	case NLE_OBJ_NOTFOUND:
		return -ENOENT;
	case NLE_PERM:
	case NLE_NOACCESS:
		return -EPERM;
	case NLE_NOMEM:
		return -ENOMEM;
	case NLE_AF_NOSUPPORT:
	case NLE_PROTO_MISMATCH:
		return -EPROTONOSUPPORT;
	case NLE_DUMP_INTR:
	case NLE_AGAIN:
		return -EAGAIN;
	default:
		return -EIO;
	}
}

static const struct nla_policy policy[COZK_ATTR_MAX + 1] = {
	[COZK_ATTR_SESSION] = { .type = NLA_U32 },     [COZK_ATTR_OWNER_PID] = { .type = NLA_U32 },
	[COZK_ATTR_OWNER_UID] = { .type = NLA_U32 },   [COZK_ATTR_AGE_NS] = { .type = NLA_U64 },
	[COZK_ATTR_THREADS] = { .type = NLA_U32 },     [COZK_ATTR_WINDOWS] = { .type = NLA_U64 },
	[COZK_ATTR_SAMPLES] = { .type = NLA_U64 },     [COZK_ATTR_PAUSED_NS] = { .type = NLA_U64 },
	[COZK_ATTR_COMM] = { .type = NLA_NUL_STRING },
};

static uint32_t get_u32(struct nlattr *attr)
{
	return attr ? nla_get_u32(attr) : 0;
}

static uint64_t get_u64(struct nlattr *attr)
{
	return attr ? nla_get_u64(attr) : 0;
}

struct dump {
	int (*fn)(const struct cozk_session_info *session, void *arg);
	void *arg;
	int rc; /* of the first fn that did not return 0 */
	bool done;
};

static int on_session(struct nl_msg *msg, void *arg)
{
	struct nlattr *attrs[COZK_ATTR_MAX + 1];
	struct cozk_session_info s = { 0 };
	struct dump *dump = arg;

	if (dump->rc)
		return NL_OK;
	if (genlmsg_parse(nlmsg_hdr(msg), 0, attrs, COZK_ATTR_MAX, policy) < 0 || !attrs[COZK_ATTR_SESSION]) {
		dump->rc = -EPROTO;
		return NL_OK;
	}
	s.number = get_u32(attrs[COZK_ATTR_SESSION]);
	s.owner_pid = get_u32(attrs[COZK_ATTR_OWNER_PID]);
	s.owner_uid = get_u32(attrs[COZK_ATTR_OWNER_UID]);
	s.threads = get_u32(attrs[COZK_ATTR_THREADS]);
	s.age_ns = get_u64(attrs[COZK_ATTR_AGE_NS]);
	s.windows = get_u64(attrs[COZK_ATTR_WINDOWS]);
	s.samples = get_u64(attrs[COZK_ATTR_SAMPLES]);
	s.paused_ns = get_u64(attrs[COZK_ATTR_PAUSED_NS]);
	if (attrs[COZK_ATTR_COMM])
		nla_strlcpy(s.comm, attrs[COZK_ATTR_COMM], sizeof(s.comm));
	dump->rc = dump->fn(&s, dump->arg);
	return NL_OK;
}

static int on_finish(struct nl_msg *msg, void *arg)
{
	struct dump *dump = arg;

	(void)msg;
	dump->done = true;
	return NL_STOP;
}

/* Opens a socket and finds the family. Returns its number, or libnl's error with *@err_where. */
static int connect_family(struct nl_sock *sock, const char **where)
{
	int nl = genl_connect(sock);

	*where = "cannot open a netlink socket";
	if (nl < 0)
		return nl;
	*where = "cannot ask for the module's netlink family";
	return genl_ctrl_resolve(sock, COZK_GENL_NAME);
}

static int dump_sessions(struct nl_sock *sock, int family, struct dump *dump)
{
	int nl;

	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, on_session, dump);
	nl_socket_modify_cb(sock, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, dump);
	nl = genl_send_simple(sock, family, COZK_CMD_SESSION_GET, COZK_GENL_VERSION, NLM_F_DUMP);
	while (nl >= 0 && !dump->done)
		nl = nl_recvmsgs_default(sock);
	return nl;
}

/* Why the family is not there. */
static int explain_no_family(char *err, size_t errlen)
{
	if (!access("/sys/module/cozk", F_OK)) {
		snprintf(err, errlen,
			 "the kernel module cozk is loaded, but does not answer in this network namespace (a "
			 "container?)");
		return -ENONET;
	}
	snprintf(err, errlen, "the kernel module cozk is not loaded (no netlink family '%s')", COZK_GENL_NAME);
	return -ENOENT;
}

int cozk_netlink_sessions(int (*fn)(const struct cozk_session_info *session, void *arg), void *arg, char *err,
			  size_t errlen)
{
	struct dump dump = { .fn = fn, .arg = arg };
	const char *where;
	struct nl_sock *sock = nl_socket_alloc();
	int nl, rc;

	if (!sock) {
		snprintf(err, errlen, "out of memory");
		return -ENOMEM;
	}
	nl = connect_family(sock, &where);
	if (nl >= 0) {
		where = "cannot list sessions";
		nl = dump_sessions(sock, nl, &dump);
	} else if (from_nl(nl) == -ENOENT) {
		rc = explain_no_family(err, errlen);
		goto out;
	}
	rc = dump.rc;
	if (nl < 0) {
		rc = from_nl(nl);
		snprintf(err, errlen, "%s: %s", where, nl_geterror(nl));
	} else if (rc == -EPROTO) {
		snprintf(err, errlen,
			 "the module's answer is not understood: module and program are of different versions");
	}
out:
	nl_socket_free(sock);
	return rc;
}
