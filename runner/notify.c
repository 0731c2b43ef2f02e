// SPDX-License-Identifier: MIT
/* Datagrams to the service manager that never block, and the words of its status line. */
#include "runner/notify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "config/arena.h"
#include "probes/output.h"

/* Bytes of the status line: more is no longer a line to read. */
#define WORDS_MOST 1024

/* The statuses that there are: "10 passing, 1 warning, 1 undecided". free(). */
static char *counts(const struct notify_facts *facts)
{
	char *text = xstrdup("");

	for (size_t i = 0; i <= PROBE_CRITICAL + 1; i++) {
		bool last = i > PROBE_CRITICAL;
		size_t count = last ? facts->undecided : facts->by_status[i];
		char *longer;

		if (count == 0)
			continue;
		longer = xprintf("%s%s%zu %s", text, *text == '\0' ? "" : ", ", count,
			last ? "undecided" : status_name((enum probe_status)i));
		free(text);
		text = longer;
	}
	return text;
}

/* The agent's part: "agent unreachable: Connection refused". free(). */
static char *agent_words(const struct notify_facts *facts)
{
	if (facts->agent_off)
		return xstrdup("no agent");
	if (facts->agent_reachable)
		return xstrdup("agent reachable");
	return xprintf("agent unreachable%s%s", facts->agent_problem == NULL ? "" : ": ",
		facts->agent_problem == NULL ? "" : facts->agent_problem);
}

static char *append(char *take_text, const char *label, const char *value)
{
	char *longer;

	if (value == NULL)
		return take_text;
	longer = xprintf("%s; %s: %s", take_text, label, value);
	free(take_text);
	return longer;
}

static char *append_more(char *take_text, size_t count)
{
	char *longer = xprintf("%s (and %zu more)", take_text, count);

	free(take_text);
	return longer;
}

char *notify_words(const struct notify_facts *facts)
{
	char *statuses = counts(facts);
	char *agent = agent_words(facts);
	char *raw, *line;

	raw = xprintf("%zu check%s: %s; %s", facts->checks, facts->checks == 1 ? "" : "s", statuses,
		agent);
	free(statuses);
	free(agent);
	raw = append(raw, "left out", facts->left_out);
	if (facts->left_out_more > 0)
		raw = append_more(raw, facts->left_out_more);
	raw = append(raw, "not reloaded", facts->reload_error);
	/* A line that is not UTF-8 is not shown, and a second one would be another message. */
	line = output_clean_line(raw, strlen(raw), WORDS_MOST);
	free(raw);
	return line;
}

static int set_address(struct notify *notify, const char *path)
{
	struct sockaddr_un *address = &notify->address;
	size_t length = strlen(path);

	if (*path != '/' && *path != '@')
		return -EAFNOSUPPORT; /* a vsock address is for virtual machines */
	if (length >= sizeof(address->sun_path))
		return -ENAMETOOLONG;
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(address->sun_path, path, length);
	notify->address_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
	if (*path == '@')
		address->sun_path[0] = '\0';
	else
		notify->address_length++; /* the NUL belongs to a path: unix(7) */
	return 0;
}

int notify_open(struct notify *notify)
{
	const char *path = getenv("NOTIFY_SOCKET");
	uint64_t microseconds = 0;
	int result;

	*notify = (struct notify){.fd = -1};
	if (path == NULL)
		return 0;
	result = set_address(notify, path);
	if (result < 0)
		return result;
	notify->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (notify->fd < 0)
		return -errno;
	/* It is for another process where $WATCHDOG_PID says so. */
	if (sd_watchdog_enabled(0, &microseconds) > 0)
		notify->watchdog = (double)microseconds / 1e6;
	return 0;
}

void notify_close(struct notify *notify)
{
	if (notify->fd >= 0)
		(void)close(notify->fd);
	notify->fd = -1;
}

bool notify_send(const struct notify *notify, const char *text)
{
	size_t length = strlen(text);

	if (notify->fd < 0)
		return true;
	/* With the path each time: a service manager that was executed anew has another socket. */
	return sendto(notify->fd, text, length, MSG_NOSIGNAL,
		       (const struct sockaddr *)&notify->address,
		       notify->address_length) == (ssize_t)length;
}
