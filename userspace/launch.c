// SPDX-License-Identifier: GPL-2.0-or-later
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where the client fd goes in the program: out of the way of fds it may count on, below the usual limit of 1024. */
enum { CLIENT_FD_HIGH = 1000 };

static void set_preload(const char *library)
{
	const char *old = getenv("LD_PRELOAD");
	char *value;

	if (asprintf(&value, "%s%s%s", library, old && *old ? ":" : "", old ? old : "") < 0)
		return;
	setenv("LD_PRELOAD", value, 1);
	free(value);
}

static void set_client_fd(int fd)
{
	int high = fcntl(fd, F_DUPFD, CLIENT_FD_HIGH);
	char number[16];

	/* A low limit of open files: any number is better than none. */
	if (high < 0)
		high = fcntl(fd, F_DUPFD, 3);
	if (high < 0)
		return;
	snprintf(number, sizeof(number), "%d", high);
	setenv("COZK_CLIENT_FD", number, 1);
}

static void default_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
}

/* Everything that changes the child happens before it waits: after that only execve. */
static _Noreturn void child_main(const struct cozk_launch *launch, int go, int failed)
{
	char byte;
	int error;

	default_signals();
	if (launch->client_fd >= 0)
		set_client_fd(launch->client_fd);
	if (launch->preload)
		set_preload(launch->preload);
	/* End of file without the byte: cozk is gone. */
	if (read(go, &byte, 1) != 1)
		_exit(125);
	execvp(launch->argv[0], launch->argv);
	error = errno;
	if (write(failed, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

int cozk_launch_hold(const struct cozk_launch *launch, struct cozk_child *ret)
{
	int go[2], failed[2];
	int error;

	if (pipe2(go, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(failed, O_CLOEXEC) < 0) {
		error = -errno;
		close(go[0]);
		close(go[1]);
		return error;
	}
	*ret = (struct cozk_child){ .go = go[1], .failed = failed[0] };
	ret->pid = fork();
	if (ret->pid == 0) {
		close(go[1]);
		child_main(launch, go[0], failed[1]);
	}
	error = ret->pid < 0 ? -errno : 0;
	close(go[0]);
	close(failed[1]);
	if (error) {
		close(go[1]);
		close(failed[0]);
	}
	return error;
}

int cozk_launch_go(struct cozk_child *child)
{
	int error = 0;
	ssize_t got;

	if (write(child->go, "g", 1) != 1)
		error = EPIPE;
	close(child->go);
	do {
		got = read(child->failed, &error, sizeof(error));
	} while (got < 0 && errno == EINTR);
	close(child->failed);
	if (got != sizeof(error))
		return 0;
	waitpid(child->pid, &child->status, 0);
	child->reaped = true;
	return -error;
}

bool cozk_launch_reap(struct cozk_child *child)
{
	if (!child->reaped && waitpid(child->pid, &child->status, WNOHANG) == child->pid)
		child->reaped = true;
	return child->reaped;
}

int cozk_launch_exit_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

const char *cozk_launch_status_text(int wait_status, char *buf, size_t len)
{
	if (WIFSIGNALED(wait_status))
		snprintf(buf, len, "signal %d (%s)", WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
	else
		snprintf(buf, len, "exit %d", WEXITSTATUS(wait_status));
	return buf;
}
