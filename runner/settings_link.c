// SPDX-License-Identifier: MIT
/* What composed checks are made of: names of shared probes, found in all files. */
#include <math.h>
#include <string.h>

#include "runner/settings_parts.h"

struct linking {
	struct settings *settings;
	struct settings_part *parts;
	size_t count;
	struct conf_diag *diag;
};

__attribute__((format(printf, 4, 5))) static void complain(struct linking *linking,
	struct settings_part *part, struct conf_mark mark, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = xvprintf(format, arguments);
	va_end(arguments);
	diag_add(linking->diag, mark, CONF_ERROR, "%s", text);
	free(text);
	part->good = false;
}

static struct check_conf *find_probe(const struct linking *linking, const char *name)
{
	for (size_t i = 0; i < linking->count; i++) {
		size_t count;
		struct check_conf *probes = settings_part_probes(&linking->parts[i], &count);

		for (size_t j = 0; j < count; j++) {
			if (strcmp(probes[j].name, name) == 0)
				return &probes[j];
		}
	}
	return NULL;
}

/* Of two probes of one name the later one is wrong. */
static void find_equal_names(struct linking *linking)
{
	for (size_t i = 0; i < linking->count; i++) {
		struct settings_part *part = &linking->parts[i];
		size_t count;
		const struct check_conf *probes = settings_part_probes(part, &count);

		for (size_t j = 0; j < count; j++) {
			const struct check_conf *first = find_probe(linking, probes[j].name);

			if (first != NULL && first != &probes[j])
				complain(linking, part, probes[j].mark,
					"probe '%s' is in %s:%u already; names are one in all "
					"files",
					field_shown(probes[j].name), first->mark.file,
					first->mark.line);
		}
	}
}

static bool link_members(
	struct linking *linking, struct settings_part *part, const struct compose_conf *compose)
{
	for (size_t i = 0; compose != NULL && i < compose->count; i++) {
		struct member_conf *member = &compose->members[i];

		member->is = find_probe(linking, member->probe);
		if (member->is != NULL)
			continue;
		complain(linking, part, member->mark,
			"there is no probe '%s'; it would stand under 'probes' of this or another "
			"file that is good",
			field_shown(member->probe));
		return false;
	}
	return true;
}

/* True if all that a good file names is there; else the file is bad from now on. */
static bool link_part(struct linking *linking, struct settings_part *part)
{
	size_t count;
	const struct check_conf *probes = settings_part_probes(part, &count);
	bool fine = true;

	for (size_t i = 0; i < count; i++)
		fine = link_members(linking, part, probes[i].composed) && fine;
	for (size_t i = 0; i < part->check_count; i++)
		fine = link_members(linking, part, part->checks[i]->composed) && fine;
	return fine;
}

/*
 * A probe may be made of others, so that "one of these, and that" can be said, but not of
 * those that are made of others themselves: so nothing leads in a circle, and the work after
 * a result grows with the references in the file, not with the paths through them.
 */
static void refuse_depth(struct linking *linking, struct settings_part *part)
{
	size_t count;
	const struct check_conf *probes = settings_part_probes(part, &count);

	for (size_t i = 0; i < count; i++) {
		const struct compose_conf *compose = probes[i].composed;

		for (size_t j = 0; compose != NULL && j < compose->count; j++) {
			if (compose->members[j].is->composed != NULL)
				complain(linking, part, compose->members[j].mark,
					"'%s' is made of other probes itself; only a check can be "
					"made of it",
					field_shown(compose->members[j].probe));
		}
	}
}

void settings_link_parts(struct settings *settings, struct settings_part *parts, size_t count,
	struct conf_diag *diag)
{
	struct linking linking = {
		.settings = settings, .parts = parts, .count = count, .diag = diag};
	bool again = true;

	find_equal_names(&linking);
	/* A file that turns out bad takes its probes with it. */
	while (again) {
		again = false;
		for (size_t i = 0; i < count; i++) {
			if (parts[i].good && !link_part(&linking, &parts[i]))
				again = true;
		}
		for (size_t i = 0; i < count && !again; i++) {
			if (!parts[i].good)
				continue;
			refuse_depth(&linking, &parts[i]);
			again = !parts[i].good;
		}
	}
}

static void use(const struct compose_conf *compose, double ttl)
{
	for (size_t i = 0; compose != NULL && i < compose->count; i++) {
		/* Nothing of the settings is in use yet. */
		struct check_conf *probe = (struct check_conf *)compose->members[i].is;

		if (probe->used && probe->ttl <= ttl)
			continue;
		probe->ttl = probe->used ? fmin(probe->ttl, ttl) : ttl;
		probe->used = true;
		use(probe->composed, ttl);
	}
}

static void point_to_joined(struct settings *settings, const struct compose_conf *compose)
{
	for (size_t i = 0; compose != NULL && i < compose->count; i++) {
		struct member_conf *member = &compose->members[i];

		for (size_t j = 0; j < settings->probe_count; j++) {
			if (strcmp(settings->probes[j].name, member->probe) == 0)
				member->is = &settings->probes[j];
		}
	}
}

static void join_probes(struct linking *linking, const struct settings_part *part)
{
	struct settings *settings = linking->settings;
	size_t count;
	const struct check_conf *probes = settings_part_probes(part, &count);

	for (size_t i = 0; i < count; i++) {
		if (probes[i].used)
			settings->probes[settings->probe_count++] = probes[i];
		else
			diag_add(linking->diag, probes[i].mark, CONF_WARNING,
				"probe '%s' is used by no check, so it does not run",
				field_shown(probes[i].name));
	}
}

void settings_link_probes(struct settings *settings, const struct settings_part *parts,
	size_t count, struct conf_diag *diag)
{
	struct linking linking = {.settings = settings, .diag = diag};
	size_t total = 0;

	for (size_t i = 0; i < count; i++) {
		size_t more;

		(void)settings_part_probes(&parts[i], &more);
		total += more;
	}
	settings->probes = arena_alloc(settings->arena, (total + 1) * sizeof(*settings->probes));
	for (size_t i = 0; i < settings->check_count; i++)
		use(settings->checks[i].composed, settings->checks[i].ttl);
	for (size_t i = 0; i < count; i++)
		join_probes(&linking, &parts[i]);
	for (size_t i = 0; i < settings->probe_count; i++)
		point_to_joined(settings, settings->probes[i].composed);
	for (size_t i = 0; i < settings->check_count; i++)
		point_to_joined(settings, settings->checks[i].composed);
}
