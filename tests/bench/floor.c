// SPDX-License-Identifier: MIT
/* The least that libcurl on libev needs for a fresh HTTP probe: no rules, no text, no agent. */
#include <curl/curl.h>
#include <ev.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

struct prober {
	struct ev_loop *loop;
	CURLM *multi;
	ev_timer timer;
};

struct check {
	struct prober *prober;
	CURL *easy;
	ev_timer tick;
	char url[256];
	int busy;
};

struct watch {
	struct prober *prober;
	ev_io io;
};

static unsigned long passed, failed, skipped;

static size_t on_body(char *data, size_t size, size_t count, void *user)
{
	(void)data;
	(void)user;
	return size * count;
}

static void finish_transfers(struct prober *prober)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(prober->multi, &left)) != NULL) {
		CURL *easy = message->easy_handle;
		struct check *check = NULL;
		long status = 0;

		if (message->msg != CURLMSG_DONE)
			continue;
		(void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&check);
		(void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
		if (message->data.result == CURLE_OK && status == 200)
			passed++;
		else
			failed++;
		(void)curl_multi_remove_handle(prober->multi, easy);
		check->busy = 0;
	}
}

static void act(struct prober *prober, curl_socket_t fd, int what)
{
	int running;

	(void)curl_multi_socket_action(prober->multi, fd, what, &running);
	finish_transfers(prober);
}

static void on_io(struct ev_loop *loop, ev_io *io, int events)
{
	struct watch *watch = io->data;

	(void)loop;
	act(watch->prober, io->fd,
		(events & EV_READ ? CURL_CSELECT_IN : 0) |
			(events & EV_WRITE ? CURL_CSELECT_OUT : 0));
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *socket_user)
{
	struct prober *prober = user;
	struct watch *watch = socket_user;

	(void)easy;
	if (watch != NULL)
		ev_io_stop(prober->loop, &watch->io);
	if (what == CURL_POLL_REMOVE) {
		free(watch);
		return 0;
	}
	if (watch == NULL) {
		watch = calloc(1, sizeof(*watch));
		if (watch == NULL)
			return -1;
		watch->prober = prober;
		watch->io.data = watch;
		ev_init(&watch->io, on_io);
		(void)curl_multi_assign(prober->multi, fd, watch);
	}
	ev_io_set(&watch->io, fd,
		(what & CURL_POLL_IN ? EV_READ : 0) | (what & CURL_POLL_OUT ? EV_WRITE : 0));
	ev_io_start(prober->loop, &watch->io);
	return 0;
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	act(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timeout(CURLM *multi, long milliseconds, void *user)
{
	struct prober *prober = user;

	(void)multi;
	ev_timer_stop(prober->loop, &prober->timer);
	if (milliseconds >= 0) {
		ev_timer_set(&prober->timer, (double)milliseconds / 1000.0, 0);
		ev_timer_start(prober->loop, &prober->timer);
	}
	return 0;
}

static void on_tick(struct ev_loop *loop, ev_timer *tick, int events)
{
	struct check *check = tick->data;

	(void)loop;
	(void)events;
	if (check->busy) {
		skipped++;
		return;
	}
	check->busy = 1;
	(void)curl_multi_add_handle(check->prober->multi, check->easy);
}

static void on_term(struct ev_loop *loop, ev_signal *watcher, int events)
{
	(void)watcher;
	(void)events;
	ev_break(loop, EVBREAK_ALL);
}

static void prepare(struct check *check, const char *base, unsigned int number)
{
	CURL *easy = check->easy = curl_easy_init();

	(void)snprintf(check->url, sizeof(check->url), "%s/%u", base, number);
	(void)curl_easy_setopt(easy, CURLOPT_URL, check->url);
	(void)curl_easy_setopt(easy, CURLOPT_PRIVATE, check);
	(void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	(void)curl_easy_setopt(easy, CURLOPT_PROXY, "");
	(void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	(void)curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
	(void)curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
	(void)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 1000L);
}

int main(int argc, char **argv)
{
	struct prober prober = {.loop = ev_default_loop(0)};
	struct check *checks;
	ev_signal term;
	unsigned int count;
	double interval;

	if (argc != 4) {
		(void)fputs("usage: bench_floor COUNT INTERVAL BASE-URL\n", stderr);
		return 2;
	}
	count = (unsigned int)strtoul(argv[1], NULL, 10);
	interval = strtod(argv[2], NULL);
	checks = calloc(count, sizeof(*checks));
	if (checks == NULL || curl_global_init(CURL_GLOBAL_ALL) != CURLE_OK)
		return 1;
	prober.multi = curl_multi_init();
	prober.timer.data = &prober;
	ev_init(&prober.timer, on_timer);
	(void)curl_multi_setopt(prober.multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	(void)curl_multi_setopt(prober.multi, CURLMOPT_SOCKETDATA, &prober);
	(void)curl_multi_setopt(prober.multi, CURLMOPT_TIMERFUNCTION, on_timeout);
	(void)curl_multi_setopt(prober.multi, CURLMOPT_TIMERDATA, &prober);
	for (unsigned int i = 0; i < count; i++) {
		checks[i].prober = &prober;
		prepare(&checks[i], argv[3], i);
		checks[i].tick.data = &checks[i];
		ev_timer_init(&checks[i].tick, on_tick, interval * i / count, interval);
		ev_timer_start(prober.loop, &checks[i].tick);
	}
	ev_signal_init(&term, on_term, SIGTERM);
	ev_signal_start(prober.loop, &term);
	ev_run(prober.loop, 0);
	(void)printf("passed %lu failed %lu skipped %lu\n", passed, failed, skipped);
	return failed > 0;
}
