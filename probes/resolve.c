// SPDX-License-Identifier: MIT
/* Lookups that are joined while in flight and kept for their TTL. */
#include "probes/resolve.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "config/arena.h"
#include "probes/clock.h"
#include "probes/notice.h"
#include "probes/resolve_channel.h"
#include "probes/resolve_conf.h"
#include "probes/resolve_found.h"

#define LOOK_AGAIN 1.0 /* s between two looks whether resolv.conf changed */

/* s the other family is waited for once one has an answer: RFC 8305, section 3. */
#define FAMILY_DELAY 0.05

struct resolve_query {
	struct lookup *lookup;
	struct resolve_query *next; /* of the same lookup */
	ev_prepare told; /* never started: carries the event that leads to done */
	void (*done)(void *owner, const struct resolve_answer *answer);
	void *owner;
};

/* A name being looked up, or an answer kept. Lives while it is listed, asked or waited for. */
struct lookup {
	char *host;
	int family;
	bool listed; /* in the tree: new queries join it */
	bool over; /* the answer stands */
	unsigned int asked; /* parts still with c-ares, and done callbacks running */
	struct resolve_query *waiting;
	struct found parts[2]; /* IPv6 and IPv4, or the hosts file and nothing */
	struct found answer;
	ev_timer timer; /* until the other family is given up; then until the answer is too old */
};

/* One question to c-ares, which answers each once. */
struct part {
	struct lookup *lookup;
	size_t index;
};

static struct {
	struct ev_loop *loop;
	void *tree; /* of struct lookup, by tsearch() */
	struct resolve_channel *channel;
	struct resolve_how how;
	char *servers; /* how.servers, owned */
	struct stat seen; /* resolv.conf when the channel was made */
	double looked; /* monotonic, at resolv.conf */
	bool finishing;
} resolver = {.how = {.timeout = 0.3, .tries = 3}};

static int compare(const void *a, const void *b)
{
	const struct lookup *one = a, *other = b;

	return one->family != other->family ? one->family - other->family
					    : strcasecmp(one->host, other->host);
}

static void unlist(struct lookup *lookup)
{
	if (lookup->listed)
		(void)tdelete(lookup, &resolver.tree, compare);
	lookup->listed = false;
}

static void free_parts(struct lookup *lookup)
{
	for (size_t i = 0; i < 2; i++) {
		free(lookup->parts[i].addresses);
		lookup->parts[i] = (struct found){0};
	}
}

static void release(struct lookup *lookup)
{
	if (lookup->listed || lookup->asked > 0 || lookup->waiting != NULL)
		return;
	ev_timer_stop(resolver.loop, &lookup->timer);
	free_parts(lookup);
	free(lookup->answer.addresses);
	free(lookup->host);
	free(lookup);
}

static void drop_query(struct resolve_query *query)
{
	struct resolve_query **link = &query->lookup->waiting;

	while (*link != query)
		link = &(*link)->next;
	*link = query->next;
	ev_clear_pending(resolver.loop, &query->told);
	free(query);
}

static void on_told(struct ev_loop *loop, ev_prepare *watcher, int events)
{
	struct resolve_query *query = watcher->data;
	struct lookup *lookup = query->lookup;
	struct resolve_answer answer = {
		.addresses = lookup->answer.addresses,
		.count = lookup->answer.count,
		.error = found_error(lookup->answer.status),
	};
	void (*done)(void *owner, const struct resolve_answer *told) = query->done;
	void *owner = query->owner;

	(void)loop;
	(void)events;
	lookup->asked++;
	drop_query(query);
	done(owner, &answer);
	lookup->asked--;
	release(lookup);
}

/* The answer stands: everyone is told, and it is kept for its TTL. */
static void conclude(struct lookup *lookup)
{
	lookup->over = true;
	found_join(&lookup->parts[0], &lookup->parts[1], &lookup->answer);
	free_parts(lookup);
	for (struct resolve_query *query = lookup->waiting; query != NULL; query = query->next)
		ev_feed_event(resolver.loop, &query->told, EV_CUSTOM);
	if (lookup->answer.count > 0 && lookup->answer.ttl > 0) {
		lookup->timer.repeat = lookup->answer.ttl;
		ev_timer_again(resolver.loop, &lookup->timer);
	} else {
		ev_timer_stop(resolver.loop, &lookup->timer);
		unlist(lookup);
	}
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct lookup *lookup = timer->data;

	(void)events;
	ev_timer_stop(loop, timer);
	if (lookup->over)
		unlist(lookup);
	else
		conclude(lookup);
	release(lookup);
}

/* A part has its answer. Only remembers and feeds events: c-ares is still at work. */
static void on_part(void *data, int status, int timeouts, struct ares_addrinfo *answer)
{
	struct part *part = data;
	struct lookup *lookup = part->lookup;
	struct found *found = &lookup->parts[part->index];

	(void)timeouts;
	lookup->asked--;
	found->status = status;
	if (status == ARES_SUCCESS) {
		if (!lookup->over) /* else too late for this answer */
			found_keep(found, answer);
		ares_freeaddrinfo(answer);
	}
	free(part);
	if (lookup->over || resolver.finishing) {
		release(lookup);
	} else if (lookup->asked == 0) {
		conclude(lookup);
		release(lookup);
	} else if (found->count > 0) {
		lookup->timer.repeat = FAMILY_DELAY;
		ev_timer_again(resolver.loop, &lookup->timer);
	}
}

static struct part *part_create(struct lookup *lookup, size_t index)
{
	struct part *part = xcalloc(1, sizeof(*part));

	part->lookup = lookup;
	part->index = index;
	return part;
}

static void on_hosts(void *data, int status, int timeouts, struct ares_addrinfo *answer)
{
	struct lookup *lookup = data;

	(void)timeouts;
	if (status != ARES_SUCCESS)
		return;
	found_keep(&lookup->parts[0], answer);
	ares_freeaddrinfo(answer);
}

static void forget_one(void *listed)
{
	struct lookup *lookup = listed;

	lookup->listed = false;
	release(lookup);
}

/* Drops kept answers, and lets nobody join what is in flight. */
static void forget(void)
{
	tdestroy(resolver.tree, forget_one);
	resolver.tree = NULL;
}

/* A channel for how things are now: a new one where resolv.conf has changed. */
static struct resolve_channel *channel_now(void)
{
	double now = clock_monotonic();
	struct stat is = {0};
	bool same;

	if (resolver.channel != NULL && now - resolver.looked < LOOK_AGAIN)
		return resolver.channel;
	resolver.looked = now;
	/* Where it is missing c-ares asks 127.0.0.1, as the manual page of resolv.conf says. */
	(void)stat(resolve_conf_file, &is);
	same = is.st_ino == resolver.seen.st_ino && is.st_size == resolver.seen.st_size &&
		is.st_mtim.tv_sec == resolver.seen.st_mtim.tv_sec &&
		is.st_mtim.tv_nsec == resolver.seen.st_mtim.tv_nsec;
	if (resolver.channel != NULL && same)
		return resolver.channel;
	channel_retire(resolver.channel);
	forget();
	resolver.seen = is;
	resolver.how.resolv_conf = resolve_conf_file;
	resolver.channel = channel_create(resolver.loop, &resolver.how);
	if (resolver.channel == NULL)
		notice("cannot start the resolver; no name can be looked up");
	return resolver.channel;
}

/* Hosts file first, else both families at the name servers. */
static void ask(struct lookup *lookup, struct resolve_channel *channel)
{
	bool both = lookup->family == AF_UNSPEC;

	if (channel != NULL)
		channel_hosts(channel, lookup->host, lookup->family, on_hosts, lookup);
	if (lookup->parts[0].count == 0 && found_is_localhost(lookup->host))
		found_loopback(&lookup->parts[0], lookup->family);
	if (lookup->parts[0].count == 0 && channel == NULL)
		lookup->parts[0].status = ARES_ENOTINITIALIZED;
	if (lookup->parts[0].count > 0 || channel == NULL) {
		/* Read again each time: it costs less than to watch it. */
		lookup->parts[0].ttl = 0;
		conclude(lookup);
		return;
	}
	/* Counted before the first is asked: it may be answered at once. */
	lookup->asked = both ? 2 : 1;
	if (both)
		channel_lookup(channel, lookup->host, AF_INET6, on_part, part_create(lookup, 0));
	channel_lookup(channel, lookup->host, both ? AF_INET : lookup->family, on_part,
		part_create(lookup, 1));
}

static struct lookup *lookup_create(const char *host, int family)
{
	struct lookup *lookup = xcalloc(1, sizeof(*lookup));

	lookup->host = xstrdup(host);
	lookup->family = family;
	ev_init(&lookup->timer, on_timer);
	/* After answers that came in the same pass of the loop. */
	ev_set_priority(&lookup->timer, EV_MINPRI);
	lookup->timer.data = lookup;
	return lookup;
}

struct resolve_query *resolve_start(struct ev_loop *loop, const char *host, int family,
	void (*done)(void *owner, const struct resolve_answer *answer), void *owner)
{
	struct resolve_query *query = xcalloc(1, sizeof(*query));
	struct resolve_channel *channel;
	struct lookup key = {.host = (char *)host, .family = family};
	struct lookup *const *known;

	resolver.loop = loop;
	channel = channel_now();
	known = tfind(&key, &resolver.tree, compare);
	query->lookup = known != NULL ? *known : lookup_create(host, family);
	query->done = done;
	query->owner = owner;
	ev_init(&query->told, on_told);
	query->told.data = query;
	query->next = query->lookup->waiting;
	query->lookup->waiting = query;
	if (known == NULL) {
		if (tsearch(query->lookup, &resolver.tree, compare) == NULL)
			abort(); /* only for want of memory */
		query->lookup->listed = true;
		ask(query->lookup, channel);
	} else if (query->lookup->over) {
		ev_feed_event(loop, &query->told, EV_CUSTOM);
	}
	return query;
}

void resolve_cancel(struct resolve_query *query)
{
	struct lookup *lookup;

	if (query == NULL)
		return;
	lookup = query->lookup;
	drop_query(query);
	release(lookup);
}

size_t resolve_servers_now(struct ev_loop *loop, struct sockaddr_storage *ret_servers, size_t most)
{
	struct resolve_channel *channel;

	resolver.loop = loop;
	channel = channel_now();
	return channel == NULL ? 0 : channel_servers(channel, ret_servers, most);
}

void resolve_setup(struct ev_loop *loop, const struct resolve_conf *conf)
{
	resolver.loop = loop;
	channel_retire(resolver.channel);
	resolver.channel = NULL;
	forget();
	free(resolver.servers);
	resolver.servers = resolve_servers(&conf->servers);
	resolver.how.servers = resolver.servers;
	resolver.how.timeout = conf->timeout;
	resolver.how.tries = conf->tries;
}

void resolve_finish(void)
{
	resolver.finishing = true;
	channel_destroy_all();
	resolver.finishing = false;
	resolver.channel = NULL;
	forget();
	free(resolver.servers);
	resolver.servers = NULL;
	resolver.how.servers = NULL;
}
