// SPDX-License-Identifier: MIT
/* What replies mean: the one good one of each step, and all others. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_bench.h"
#include "probes/redis_judge.h"

struct row {
	struct redis_conf redis;
};

static struct bench bench;
static struct measures measures;

static int open_bench(void **state)
{
	(void)state;
	bench_open(&bench);
	return 0;
}

static int close_bench(void **state)
{
	(void)state;
	measures_clear(&measures);
	bench_close(&bench);
	return 0;
}

/* "role: master" and the like, as one map. */
static const struct redis_conf *conf_of(const char *keys)
{
	static const struct conf_variant variant = {.name = "redis",
		.fields = redis_fields,
		.size = sizeof(struct redis_conf),
		.check = redis_check};
	struct redis_conf *conf = arena_alloc(bench.load.arena, sizeof(*conf));
	char *text = arena_printf(bench.load.arena, "{address: 'h:1', %s}\n", keys);
	const struct conf_node *tree =
		node_parse(bench.load.arena, "t", text, strlen(text), bench.load.diag);

	assert_non_null(tree);
	if (!variant_load(&bench.load, &variant, tree, conf))
		fail_msg("%s: %s", keys, bench_problems(&bench));
	return conf;
}

static const struct redis_step *step_of(const struct redis_conf *conf, enum redis_step_kind kind)
{
	for (size_t i = 0; i < conf->step_count; i++) {
		if (conf->steps[i].kind == kind)
			return &conf->steps[i];
	}
	fail_msg("no step %d", (int)kind);
	return NULL;
}

/* The verdict as "status reason text". */
static void expect(
	const char *keys, enum redis_step_kind kind, const char *bytes, const char *wanted)
{
	const struct redis_conf *conf = conf_of(keys);
	struct redis_reader *reader = redis_reader_create();
	struct redis_reply *reply = NULL;
	struct redis_verdict verdict;
	char text[512];

	redis_reader_feed(reader, bytes, strlen(bytes));
	assert_int_equal(redis_reader_next(reader, &reply), REDIS_READ_REPLY);
	measures_clear(&measures);
	verdict = redis_judge(conf, step_of(conf, kind), reply, &measures, NULL);
	(void)snprintf(text, sizeof(text), "%s %s|%s", status_name(verdict.status),
		verdict.status == PROBE_PASSING ? "" : reason_text(verdict.reason),
		verdict.text == NULL ? "" : verdict.text);
	assert_string_equal(text, wanted);
	free(verdict.text);
	redis_reply_destroy(reply);
	redis_reader_destroy(reader);
}

/* A bulk string of this text. */
static const char *bulk(const char *text)
{
	return arena_printf(bench.load.arena, "$%zu\r\n%s\r\n", strlen(text), text);
}

static void logins(void **state)
{
	static const char keys[] = "password: x, db: 2";

	(void)state;
	expect(keys, REDIS_AUTH, "+OK\r\n", "passing |");
	expect(keys, REDIS_AUTH, "+PONG\r\n", "critical protocol error|AUTH: the reply is not OK");
	expect(keys, REDIS_AUTH, "$2\r\nOK\r\n",
		"critical protocol error|AUTH: the reply is not OK");
	expect(keys, REDIS_AUTH, "-WRONGPASS no\r\n", "critical cannot log in|AUTH: WRONGPASS no");
	expect(keys, REDIS_AUTH, "-ERR unknown command 'AUTH', with args beginning with: 'x' \r\n",
		"critical cannot log in|AUTH: ERR unknown command 'AUTH'");
	expect(keys, REDIS_SELECT, "-ERR DB index is out of range\r\n",
		"critical refused by the server|SELECT: ERR DB index is out of range");
}

static void pings(void **state)
{
	(void)state;
	expect("ip: v4", REDIS_COMMAND, "+PONG\r\n", "passing |PONG");
	expect("command: [Ping]", REDIS_COMMAND, "+PONG\r\n", "passing |PONG");
	expect("ip: v4", REDIS_COMMAND, "+PONG!\r\n",
		"critical assertion failed|PING: the reply is not PONG");
	expect("ip: v4", REDIS_COMMAND, "+pong\r\n",
		"critical assertion failed|PING: the reply is not PONG");
	expect("ip: v4", REDIS_COMMAND, "$4\r\nPONG\r\n",
		"critical assertion failed|PING: the reply is not PONG");
	expect("ip: v4", REDIS_COMMAND, "$-1\r\n",
		"critical assertion failed|PING: the reply is not PONG");
	expect("ip: v4", REDIS_COMMAND, "*1\r\n+PONG\r\n",
		"critical assertion failed|PING: the reply is not PONG");
	expect("ip: v4", REDIS_COMMAND, "-LOADING x\r\n",
		"critical refused by the server|PING: LOADING x");
	expect("ip: v4", REDIS_COMMAND, "*2\r\n+PONG\r\n-MASTERDOWN x\r\n",
		"critical refused by the server|PING: MASTERDOWN x");
}

static void replies_as_text(void **state)
{
	static const char keys[] = "command: [get, x], expect: '^yes$', reject: '^no'";

	(void)state;
	expect(keys, REDIS_COMMAND, "$3\r\nyes\r\n", "passing |GET as expected");
	expect(keys, REDIS_COMMAND, "*2\r\n$1\r\na\r\n+yes\r\n", "passing |GET as expected");
	expect(keys, REDIS_COMMAND, "*2\r\n+yes\r\n$2\r\nno\r\n",
		"critical assertion failed|GET: the reply matches what is rejected, '^no'");
	expect(keys, REDIS_COMMAND, "$0\r\n\r\n",
		"critical assertion failed|GET: the reply does not match '^yes$'");
	expect(keys, REDIS_COMMAND, "$-1\r\n", "critical assertion failed|GET: the reply is nil");
	expect("command: [get, x], expect: '^'", REDIS_COMMAND, "$-1\r\n",
		"critical assertion failed|GET: the reply is nil");
	expect("command: [get, x], reject: a", REDIS_COMMAND, "$-1\r\n",
		"critical assertion failed|GET: the reply is nil");
	expect("command: [llen, x], expect: '^3$'", REDIS_COMMAND, ":3\r\n",
		"passing |LLEN as expected");
	/* An engine that gives up has not said yes. */
	expect("command: [get, x], expect: '^(a+)+$'", REDIS_COMMAND,
		bulk("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"),
		"critical cannot decide|GET: the pattern takes too much effort on this text");
	expect("command: [get, x], reject: '^(a+)+$'", REDIS_COMMAND,
		bulk("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"),
		"critical cannot decide|GET: the pattern takes too much effort on this text");
}

static void replies_as_numbers(void **state)
{
	static const char keys[] = "command: [x], value: {warning: 5, critical: 8}";

	(void)state;
	expect(keys, REDIS_COMMAND, ":5\r\n", "passing |X as expected");
	assert_int_equal(measures.count, 1);
	assert_string_equal(measures.items[0].name, "X");
	expect(keys, REDIS_COMMAND, ":6\r\n",
		"warning assertion failed|X = 6 is outside warning 5");
	expect(keys, REDIS_COMMAND, "$3\r\n8.5\r\n",
		"critical assertion failed|X = 8.5 is outside critical 8");
	expect(keys, REDIS_COMMAND, "+-1\r\n",
		"critical assertion failed|X = -1 is outside critical 8");
	for (size_t i = 0; i < 8; i++) {
		static const char *const others[] = {"$0\r\n\r\n", "+nan\r\n", "+inf\r\n",
			"+0x5\r\n", "+5 \r\n", "+1e999\r\n", "*1\r\n:5\r\n", "+5s\r\n"};

		expect(keys, REDIS_COMMAND, others[i],
			"critical assertion failed|X: the reply is no number");
	}
}

static void roles(void **state)
{
	const char *master = bulk("# Replication\r\nrole:master\r\nconnected_slaves:0\r\n");
	const char *replica = bulk("role:slave\r\nmaster_host:::1\r\nmaster_port:7\r\n");

	(void)state;
	expect("role: master", REDIS_REPLICATION, master, "passing |master");
	expect("role: replica", REDIS_REPLICATION, replica, "passing |replica of [::1]:7");
	expect("role: master", REDIS_REPLICATION, replica,
		"critical assertion failed|role is replica (of [::1]:7), not master");
	expect("role: replica", REDIS_REPLICATION, master,
		"critical assertion failed|role is master, not replica");
	expect("role: master", REDIS_REPLICATION, bulk("role:slaver\r\n"),
		"critical protocol error|INFO replication: role is slaver");
	expect("role: master", REDIS_REPLICATION, bulk("xrole:master\r\nrole\r\n"),
		"critical protocol error|INFO replication: the reply has no role; is this a "
		"Sentinel?");
	expect("role: master", REDIS_REPLICATION, "+role:master\r\n",
		"critical protocol error|INFO replication: the reply has no role; is this a "
		"Sentinel?");
	expect("role: master", REDIS_REPLICATION, bulk("role:master"), "passing |master");
}

static const char *replica_with(const char *rest)
{
	return bulk(arena_printf(
		bench.load.arena, "role:slave\r\nmaster_host:h\r\nmaster_port:7\r\n%s", rest));
}

static void lags(void **state)
{
	static const char keys[] = "max_lag: {note: 2s, warning: 5s, critical: 1m}";

	(void)state;
	expect(keys, REDIS_REPLICATION, bulk("role:master\r\n"), "passing |master");
	expect(keys, REDIS_REPLICATION,
		replica_with("master_link_status:up\r\nmaster_last_io_seconds_ago:2\r\n"),
		"passing |replica of h:7");
	assert_int_equal(measures.count, 1);
	expect(keys, REDIS_REPLICATION,
		replica_with("master_link_status:up\r\nmaster_last_io_seconds_ago:3\r\n"),
		"passing |replica of h:7, last exchange with it more than 2s ago");
	expect(keys, REDIS_REPLICATION,
		replica_with("master_link_status:up\r\nmaster_last_io_seconds_ago:60\r\n"),
		"warning assertion failed|replica of h:7, last exchange with it more than 5s ago");
	expect(keys, REDIS_REPLICATION,
		replica_with("master_link_status:up\r\nmaster_last_io_seconds_ago:61\r\n"),
		"critical assertion failed|replica of h:7, last exchange with it more than 1m ago");
	expect(keys, REDIS_REPLICATION,
		replica_with("master_link_status:down\r\nmaster_last_io_seconds_ago:-1\r\n"),
		"critical assertion failed|replica without a link to its master h:7");
	expect(keys, REDIS_REPLICATION,
		replica_with("master_link_status:down\r\nmaster_sync_in_progress:1\r\n"),
		"critical assertion failed|replica without a link to its master h:7, "
		"synchronising");
	expect(keys, REDIS_REPLICATION, replica_with(""),
		"critical assertion failed|replica without a link to its master h:7");
	expect(keys, REDIS_REPLICATION,
		replica_with("master_link_status:up\r\nmaster_last_io_seconds_ago:-1\r\n"),
		"critical protocol error|INFO replication: the reply has no "
		"master_last_io_seconds_ago");
	expect(keys, REDIS_REPLICATION,
		replica_with("master_link_status:up\r\nmaster_last_io_seconds_ago:9999999999\r\n"),
		"critical protocol error|INFO replication: the reply has no "
		"master_last_io_seconds_ago");
}

static void clusters(void **state)
{
	static const char keys[] = "cluster: ok";

	(void)state;
	expect(keys, REDIS_CLUSTER, bulk("cluster_enabled:1\r\ncluster_state:ok\r\n"),
		"passing |cluster ok");
	expect(keys, REDIS_CLUSTER, bulk("cluster_state:fail\r\n"),
		"critical assertion failed|cluster_state is fail, not ok");
	expect(keys, REDIS_CLUSTER, bulk("cluster_state:\r\n"),
		"critical assertion failed|cluster_state is , not ok");
	expect(keys, REDIS_CLUSTER, bulk("x"),
		"critical protocol error|CLUSTER INFO: the reply has no cluster_state");
	expect(keys, REDIS_CLUSTER, "$-1\r\n",
		"critical protocol error|CLUSTER INFO: the reply has no cluster_state");
}

static const char *watched(const char *flags)
{
	return arena_printf(bench.load.arena,
		"*7\r\n$2\r\nip\r\n$1\r\nh\r\n$4\r\nport\r\n$1\r\n7\r\n$5\r\nflags\r\n%s$"
		"3\r\nodd\r\n",
		bulk(flags));
}

static void sentinels(void **state)
{
	static const char keys[] = "sentinel: m";

	(void)state;
	expect(keys, REDIS_SENTINEL, watched("master"), "passing |master m is h:7");
	expect(keys, REDIS_SENTINEL, watched("master,failover_in_progress"),
		"passing |master m is h:7");
	expect(keys, REDIS_SENTINEL, watched("s_down,master"),
		"critical assertion failed|master m at h:7 is not reachable: s_down,master");
	expect(keys, REDIS_SENTINEL, watched("master,o_down"),
		"critical assertion failed|master m at h:7 is not reachable: master,o_down");
	expect(keys, REDIS_SENTINEL, watched("master,disconnected"),
		"critical assertion failed|master m at h:7 is not reachable: master,disconnected");
	expect(keys, REDIS_SENTINEL, watched(""),
		"critical protocol error|SENTINEL MASTER: flags are ");
	expect(keys, REDIS_SENTINEL, "*2\r\n$5\r\nflags\r\n$6\r\nmaster\r\n",
		"critical protocol error|SENTINEL MASTER: the reply has no flags, ip and port");
	expect(keys, REDIS_QUORUM, "+OK 3 usable Sentinels\r\n", "passing |quorum reachable");
	expect(keys, REDIS_QUORUM, "-NOQUORUM 1\r\n",
		"critical refused by the server|SENTINEL CKQUORUM: NOQUORUM 1");
	expect(keys, REDIS_QUORUM, ":1\r\n",
		"critical protocol error|SENTINEL CKQUORUM: the reply does not begin with OK");
}

static void sessions_follow_from_the_keys(void **state)
{
	static const struct {
		const char *keys, *session;
	} rows[] = {
		{"ip: any", "PING"},
		{"user: u, password: p, db: 3", "AUTH u,SELECT 3,PING"},
		{"password: p, max_lag: 5s, command: [a, b], expect: x",
			"AUTH,INFO replication,a b"},
		{"cluster: ok", "CLUSTER INFO,PING"},
		{"sentinel: m", "SENTINEL MASTER m,SENTINEL CKQUORUM m,PING"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct redis_conf *conf = conf_of(rows[i].keys);
		char text[256] = "";

		for (size_t n = 0; n < conf->step_count; n++) {
			for (size_t word = 0; word < conf->steps[n].argc; word++)
				(void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
					"%s%s",
					word > 0        ? " "
						: n > 0 ? ","
							: "",
					conf->steps[n].argv[word]);
		}
		assert_string_equal(text, rows[i].session);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(logins),
		cmocka_unit_test(pings),
		cmocka_unit_test(replies_as_text),
		cmocka_unit_test(replies_as_numbers),
		cmocka_unit_test(roles),
		cmocka_unit_test(lags),
		cmocka_unit_test(clusters),
		cmocka_unit_test(sentinels),
		cmocka_unit_test(sessions_follow_from_the_keys),
	};

	return cmocka_run_group_tests(tests, open_bench, close_bench);
}
