# SPDX-License-Identifier: MIT
"""When runs begin, how they are counted, and what a starved machine does to them."""
import os
import resource
import signal
import sys
import time

import pytest

from agent_bench import SideBySide
from lab import SANITIZED, TOLERANCE, Reply, cpu_seconds, descriptors, run_probity, settled, wait_for

together = SideBySide(4)  # tests that mostly wait
ROOT = os.geteuid() == 0
STRANGER = 61234  # a user id that nothing else on the machine runs as

# sh SEQUENCE FILE: the n-th run passes where the n-th letter is P, fails where it is F; the last
# letter repeats. The file counts the runs.
SEQUENCE = """
n=$(wc -c < "$2") && printf x >> "$2"
[ "$n" -lt ${#1} ] || n=$((${#1} - 1))
rest=$1
while [ "$n" -gt 0 ]; do rest=${rest#?}; n=$((n - 1)); done
case $rest in
P*) echo fine ;;
*) echo broken; exit 2 ;;
esac
"""


def sequence(lab, letters):
    script = lab.script(SEQUENCE)
    counter = f"{script}.count"
    with open(counter, "wb"):
        return [script, letters, counter]


def config(agent, checks, **defaults):
    return {"consul": {"address": agent.url}, "service": {"id": "web-1"},
            "defaults": defaults, "checks": checks}


def ident(check):
    return f"web-1:{check}"


def statuses_by_run(daemon, names, runs, timeout):
    """name -> [claimed status after run 1, 2, ...], None while undecided; read off the status."""
    seen = {name: {} for name in names}

    def all_there():
        for check in daemon.status()["checks"]:
            if check["name"] in seen and check["runs"] > 0:
                claimed = check["status"] if check["decided"] else None
                seen[check["name"]][check["runs"]] = claimed
        return all(max(rows, default=0) >= runs for rows in seen.values())
    wait_for(all_there, timeout, 0.01, what=lambda: f"{runs} runs; seen {seen}")
    return {name: [rows.get(run, "missed") for run in range(1, runs + 1)]
            for name, rows in seen.items()}


def changes(updates):
    """The statuses of accepted updates, each only when it differs from the one before."""
    found = []
    for update in updates:
        if not found or found[-1] != update.status:
            found.append(update.status)
    return found


@together
def thresholds_count_anew_after_each_opposite_result(lab, agent):
    letters = "PPFFPFFPFFFPFPPFFP"
    wanted = "-PPPPPPPPPCCCCPPPP"
    words = {"-": None, "P": "passing", "C": "critical"}
    daemon = lab.probity(config(
        agent, [
            {"name": "both", "script": sequence(lab, letters), "failures_before_critical": 3,
             "success_before_passing": 2},
            {"name": "third", "script": sequence(lab, "PF"), "failures_before_critical": 3},
            {"name": "first", "script": sequence(lab, "PF"), "failures_before_critical": 1},
        ], interval="300ms", ttl="3s"))
    got = statuses_by_run(daemon, ["both", "third", "first"], len(letters), 10)
    assert got["both"] == [words[letter] for letter in wanted]
    assert got["third"][:4] == ["passing"] * 3 + ["critical"]
    assert got["first"][:3] == ["passing", "critical", "critical"]
    time.sleep(0.2)
    assert changes(agent.updates(ident("both"))) == ["passing", "critical", "passing"]
    assert changes(agent.updates(ident("third"))) == ["passing", "critical"]
    assert agent.problems == []


@together
def unconfirmed_failure_is_in_the_output_of_the_old_status(lab, agent):
    lab.probity(config(
        agent, [{"name": "slow", "script": sequence(lab, "PF"), "failures_before_critical": 30}],
        interval="300ms", ttl="3s"))
    update = wait_for(lambda: [u for u in agent.updates(ident("slow")) if "broken" in u.output],
                      5, what=lambda: agent.updates())[0]
    assert update.status == "passing"


@pytest.mark.parametrize("value", ["0", "-1", "010", "1.5"])
def test_threshold_that_is_no_count_is_refused(lab, agent, value):
    daemon = lab.probity(
        f"consul: {{address: '{agent.url}'}}\nservice: {{id: web-1}}\nchecks:\n"
        f"  - name: a\n    failures_before_critical: {value}\n    script: [/bin/true]\n",
        start=False)
    done = run_probity("validate", "-c", daemon.config)
    assert done.returncode == 2
    assert "probity.yaml:5:31: error: " in done.stdout + done.stderr
    assert "failures_before_critical" in done.stdout + done.stderr


@together
def runs_never_overlap_and_missed_ticks_are_skipped(lab, agent):
    recorder = lab.recorder(then="")
    recorder.then(f"sleep 1.3; {recorder.end_mark()}; exit 0")
    daemon = lab.probity(config(
        agent, [{"name": "slow", "script": recorder.command, "interval": "500ms",
                 "timeout": "5s", "ttl": "3s"}]))
    wait_for(lambda: len(recorder.ends()) >= 4, 12, what=recorder.starts)
    starts, ends = recorder.starts(), recorder.ends()
    for end, start in zip(ends, starts[1:]):
        assert start >= end - 0.02  # two readings of a clock of 10 ms
        assert start - end <= 0.5 + TOLERANCE
    check = daemon.check("slow")
    assert check["skipped_ticks"] >= 4
    daemon.logged(1, "web-1:slow: .*skipped")
    assert {update.status for update in agent.updates()} == {"passing"}


@together
def result_of_a_run_that_was_too_late_is_dropped(lab, agent):
    recorder = lab.recorder(then="trap '' TERM; sleep 1.6; echo fine; exit 0")
    lab.probity(config(
        agent, [{"name": "late", "script": recorder.command, "interval": "4s", "timeout": "1s",
                 "ttl": "3s"}]))
    update = agent.wait_update(ident("late"), timeout=4)
    start = recorder.starts()[0]
    assert update.status == "critical"
    assert "timed out after 1s" in update.output
    assert 0.95 <= update.at - start <= 1 + TOLERANCE
    time.sleep(1.2)
    assert {u.status for u in agent.updates()} == {"critical"}


test_side_by_side = together.test()


def test_stopped_process_catches_up_nothing_and_judges_what_ended_meanwhile(lab, agent):
    recorders = [lab.recorder(f"r{n}", then="sleep 0.5; exit 0") for n in range(8)]
    daemon = lab.probity(config(
        agent, [{"name": f"c{n}", "script": recorder.command}
                for n, recorder in enumerate(recorders)],
        interval="1s", timeout="1s", ttl="60s"))
    wait_for(lambda: all(len(r.starts()) >= 2 for r in recorders), 5)
    before = time.monotonic()
    daemon.signal(signal.SIGSTOP)
    time.sleep(3.5)
    after = time.monotonic()
    daemon.signal(signal.SIGCONT)
    time.sleep(1.5)
    for recorder in recorders:
        starts = recorder.starts()
        assert [start for start in starts if before + 0.1 < start < after - 0.1] == []
        assert 1 <= len([s for s in starts if after - 0.1 <= s <= after + 1.3]) <= 2
    status = daemon.status()
    assert status["stalls"] >= 1
    assert sum(check["timeouts"] for check in status["checks"]) == 0
    assert [update for update in agent.updates() if update.status != "passing"] == []
    daemon.logged(1, "stood still")


def limit_processes(lab, pid, count):
    """Sets the soft limit of a daemon of STRANGER; -1 lifts it. Its own user may, root may not be."""
    lab.spawn([sys.executable, "-c",
               "import resource, sys\n"
               "pid, count = map(int, sys.argv[1:])\n"
               "_, hard = resource.prlimit(pid, resource.RLIMIT_NPROC)\n"
               "soft = hard if count < 0 else count\n"
               "resource.prlimit(pid, resource.RLIMIT_NPROC, (soft, hard))\n",
               str(pid), str(count)],
              user=STRANGER, group=STRANGER, extra_groups=[]).wait()


@pytest.mark.skipif(not ROOT, reason="needs to start the daemon as another user")
def test_no_process_left_for_scripts_hurts_nobody_else(lab, agent):
    server = lab.server()
    scripts = [{"name": f"s{n}", "script": ["/bin/true"]} for n in range(10)]
    pages = [{"name": f"h{n}", "http": f"{server.url}/{n}"} for n in range(5)]
    daemon = lab.probity(config(agent, scripts + pages, interval="1s", ttl="3s"), start=False,
                         user=STRANGER, group=STRANGER, extra_groups=[])
    for path in (daemon.folder, daemon.config, daemon.runtime_dir):
        os.chown(path, STRANGER, STRANGER)
    daemon.start()
    wait_for(lambda: all(agent.status(ident(c["name"])) == "passing" for c in scripts + pages), 5)
    files = settled(lambda: descriptors(daemon.pid), 0.1)

    starved = time.monotonic()
    limit_processes(lab, daemon.pid, 1)
    wait_for(lambda: all(agent.status(ident(c["name"])) == "critical" for c in scripts), 5,
             what=lambda: daemon.status()["checks"][0])
    time.sleep(1.5)
    runs = {c["id"]: c["runs"] for c in daemon.status()["checks"]}
    time.sleep(2)
    for check in daemon.status()["checks"]:
        assert check["runs"] - runs[check["id"]] <= 3
    assert abs(descriptors(daemon.pid) - files) <= 5
    for update in agent.updates(after=starved):
        if update.status == "critical":
            assert "cannot start" in update.output
            assert "Resource temporarily unavailable" in update.output
            assert update.check.startswith("web-1:s")
    fault_lines = daemon.log_lines("Resource temporarily unavailable", after=starved)
    assert len(fault_lines) <= 2 + len(scripts)

    limit_processes(lab, daemon.pid, -1)
    healed = time.monotonic()
    wait_for(lambda: all(agent.status(ident(c["name"])) == "passing" for c in scripts), 5)
    assert time.monotonic() - healed <= 1 + TOLERANCE
    gaps = [later - earlier for page in pages
            for times in [[r.at for r in server.requests if r.target == f"/{page['name'][1:]}"]]
            for earlier, later in zip(times[1:], times[2:])]
    assert max(gaps) <= 1 + TOLERANCE


def limit_files(count, hard=None):
    def apply():
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard or count))
    return apply


def test_too_few_descriptors_are_a_local_failure_and_cost_no_update(lab, agent):
    delay = [0.5]
    server = lab.server(lambda request: Reply(body="ok", delay=delay[0], close=True))
    checks = [{"name": f"c{n}", "http": f"{server.url}/{n}"} for n in range(60)]
    daemon = lab.probity(config(agent, checks, interval="1s", ttl="3s"),
                         preexec_fn=limit_files(40))
    cpu, begin = cpu_seconds(daemon.pid), time.monotonic()
    wait_for(lambda: len({u.check for u in agent.updates(accepted=True)}) == len(checks), 6,
             what=lambda: f"an update of each; {len({u.check for u in agent.updates()})} have")
    wait_for(lambda: [u for u in agent.updates() if "too many open files" in u.output.lower()],
             6, what="a run without a descriptor")
    for update in agent.updates():
        if "too many open files" in update.output.lower() and update.status == "critical":
            assert "local" in update.output
    spent = (cpu_seconds(daemon.pid) - cpu) / (time.monotonic() - begin)
    assert SANITIZED or spent < 0.2
    assert daemon.status()["agent"]["failures"] == 0
    delay[0] = 0
    wait_for(lambda: all(agent.status(ident(c["name"])) == "passing" for c in checks), 3.5,
             what=lambda: {c["name"]: agent.status(ident(c["name"])) for c in checks})


def test_soft_limit_is_raised_for_us_and_not_for_scripts(lab, agent):
    script = lab.script("echo soft $(ulimit -Sn)\n")
    daemon = lab.probity(config(agent, [{"name": "limit", "script": [script]}]),
                         preexec_fn=limit_files(100, 1000))
    assert "soft 100" in agent.wait_update(ident("limit")).output
    assert resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE) == (1000, 1000)
