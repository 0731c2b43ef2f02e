// SPDX-License-Identifier: MIT
/* Consul's hysteresis, which the agent does not apply to TTL checks. */
#include "runner/threshold.h"

static unsigned int count_up(unsigned int count, unsigned int most)
{
	return count < most ? count + 1 : most;
}

static void decide(struct threshold_state *state, enum probe_status status)
{
	state->decided = true;
	state->has_status = true;
	state->status = status;
}

static enum threshold_effect apply_success(
	const struct threshold_conf *conf, struct threshold_state *state, enum probe_status result)
{
	state->failures = 0;
	state->successes = count_up(state->successes, conf->success_before_passing);
	if (state->successes < conf->success_before_passing)
		return state->decided && state->status == result ? THRESHOLD_STANDS
								 : THRESHOLD_UNCONFIRMED;
	decide(state, result);
	return THRESHOLD_STANDS;
}

static enum threshold_effect apply_failure(
	const struct threshold_conf *conf, struct threshold_state *state)
{
	bool was_critical = state->has_status && state->status == PROBE_CRITICAL;

	state->successes = 0;
	state->failures = count_up(state->failures, conf->failures_before_critical);
	/* A failure never improves what was said: critical stays, also through a lone success. */
	if (was_critical || state->failures >= conf->failures_before_critical) {
		decide(state, PROBE_CRITICAL);
		return THRESHOLD_STANDS;
	}
	if (state->failures >= conf->failures_before_warning)
		decide(state, PROBE_WARNING);
	return THRESHOLD_UNCONFIRMED;
}

enum threshold_effect threshold_apply(const struct threshold_conf *conf,
	struct threshold_state *state, enum probe_status result, bool local)
{
	bool first_local = local && !state->local_row;

	state->local_row = local;
	if (first_local)
		return THRESHOLD_IGNORED;
	return result == PROBE_CRITICAL ? apply_failure(conf, state)
					: apply_success(conf, state, result);
}

bool threshold_same(const struct threshold_state *a, const struct threshold_state *b)
{
	return a->decided == b->decided && a->has_status == b->has_status &&
		a->status == b->status && a->successes == b->successes &&
		a->failures == b->failures && a->local_row == b->local_row;
}
