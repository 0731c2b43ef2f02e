// SPDX-License-Identifier: MIT
/* Checks that are made of others: who is made of whom, and what follows from a result. */
#include "runner/check_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runner/compose.h"

void check_unlink(struct check *check)
{
	free(check->links);
	free(check->users);
	check->links = NULL;
	check->users = NULL;
	check->link_count = check->user_count = 0;
}

double check_fresh_until(const struct check *check)
{
	double fresh_until = HUGE_VAL;

	if (check->conf->composed == NULL) {
		if (check->stale)
			return HUGE_VAL;
		return check->held ? 0 : check->ended_at + settings_fresh_for(check->conf);
	}
	for (size_t i = 0; i < check->link_count; i++) {
		const struct check *member = check->links[i].member;

		if (member->output != NULL)
			fresh_until = fmin(fresh_until, check_fresh_until(member));
	}
	return fresh_until;
}

/* What is known of a member, before any cap. */
static struct compose_member member_of(const struct check_link *link)
{
	const struct check *check = link->member;
	enum probe_status own_cap = (enum probe_status)check->conf->max_status;

	return (struct compose_member){
		.name = check->conf->name,
		.known = check->state.decided && check->output != NULL,
		.status = check->stale ? PROBE_CRITICAL : check->state.status,
		.cap = link->cap < own_cap ? link->cap : own_cap,
		.line = check->output == NULL ? "" : check->output,
	};
}

/* The text of the only member, or a line that sums up and one for each member. */
static char *text_of(struct check *check, const struct compose_member *members)
{
	const struct compose_conf *conf = check->conf->composed;
	enum probe_status cap = (enum probe_status)check->conf->max_status;
	struct output output = {0};
	char *details, *text;

	if (conf->name == NULL) {
		details = compose_details(members, check->link_count);
		output_append(&output, details, strlen(details));
		free(details);
	} else {
		const char *said = check->links->member->output;

		output_append(&output, said, strlen(said));
	}
	text = verdict_text(&check->last, &check->state, cap, &output);
	output_clear(&output);
	return text;
}

/* The result of a composed check is as old as the oldest that it is made of. */
static void note_age(struct check *check)
{
	check->ended_at = HUGE_VAL;
	for (size_t i = 0; i < check->link_count; i++) {
		const struct check *member = check->links[i].member;

		if (member->ended_at > 0)
			check->ended_at = fmin(check->ended_at, member->ended_at);
	}
	if (!isfinite(check->ended_at))
		check->ended_at = 0;
}

static void take_status(
	struct check *check, const struct compose_member *members, enum probe_status status)
{
	const struct compose_conf *conf = check->conf->composed;
	const struct threshold_state before = check->state;
	enum probe_status cap = (enum probe_status)check->conf->max_status;

	verdict_finish(&check->last);
	check->last.result = status;
	check->last.line = conf->name != NULL
		? xstrdup("")
		: compose_line(members, check->link_count, conf->wanted);
	check->state =
		(struct threshold_state){.decided = true, .has_status = true, .status = status};
	if (!threshold_same(&before, &check->state))
		check->world->dirty(check->world->owner);
	free(check->last_line);
	check->last_line = xstrdup(conf->name != NULL ? members->line : check->last.line);
	check->last_line[strcspn(check->last_line, "\n")] = '\0';
	check_claim_text(check, verdict_status(&check->state, cap), text_of(check, members));
}

static void update(struct check *check)
{
	struct compose_member *members = xcalloc(check->link_count, sizeof(*members));
	enum probe_status status;

	for (size_t i = 0; i < check->link_count; i++)
		members[i] = member_of(&check->links[i]);
	note_age(check);
	if (!check->stopped &&
		compose_judge(members, check->link_count, check->conf->composed->wanted, &status))
		take_status(check, members, status);
	free(members);
	check_tell_users(check);
}

void check_tell_users(const struct check *check)
{
	for (size_t i = 0; i < check->user_count; i++)
		update(check->users[i]);
}

static int compare_confs(const void *a, const void *b)
{
	const struct check_conf *left = check_conf_of(*(const struct check *const *)a);
	const struct check_conf *right = check_conf_of(*(const struct check *const *)b);

	return left < right ? -1 : left > right;
}

static int find_conf(const void *conf, const void *entry)
{
	const struct check_conf *other = check_conf_of(*(const struct check *const *)entry);

	return (const struct check_conf *)conf < other ? -1
						       : (const struct check_conf *)conf > other;
}

static void add_user(struct check *member, struct check *user)
{
	member->users = xrealloc(member->users, member->user_count + 1, sizeof(*member->users));
	member->users[member->user_count++] = user;
}

static void link_one(struct check *check, struct check *const *sorted, size_t count)
{
	const struct compose_conf *conf = check->conf->composed;

	check->links = xcalloc(conf->count, sizeof(*check->links));
	for (size_t i = 0; i < conf->count; i++) {
		struct check **found =
			bsearch(conf->members[i].is, sorted, count, sizeof(*sorted), find_conf);

		/* The settings hold every probe that one of their checks is made of. */
		if (found == NULL)
			abort();
		check->links[check->link_count++] = (struct check_link){
			.member = *found,
			.cap = (enum probe_status)conf->members[i].max_status,
		};
		add_user(*found, check);
	}
}

void check_link_all(struct check *const *checks, size_t count)
{
	struct check **sorted = xcalloc(count + 1, sizeof(*sorted));

	for (size_t i = 0; i < count; i++) {
		check_unlink(checks[i]);
		sorted[i] = checks[i];
	}
	qsort(sorted, count, sizeof(*sorted), compare_confs);
	for (size_t i = 0; i < count; i++) {
		if (checks[i]->conf->composed != NULL)
			link_one(checks[i], sorted, count);
	}
	/* Members may have gone, come, or got another cap. */
	for (size_t i = 0; i < count; i++) {
		if (checks[i]->conf->composed != NULL)
			update(checks[i]);
	}
	free(sorted);
}
