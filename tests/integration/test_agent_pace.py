# SPDX-License-Identifier: MIT
"""How much is said, and when: agents that ask for patience, outputs that must not differ."""
import socket
import time

from agent_bench import SLACK, SideBySide, Switch, config
from lab import SILENCE, Reply, free_port, wait_for

READY = "web-1:ready"

together = SideBySide(3)


@together
def agent_that_asks_for_patience_gets_it(lab, agent):
    switch = Switch(lab)
    daemon = lab.probity(config(agent, switch.check(), switch.check("other")))
    agent.wait_update(READY, "passing")
    agent.wait_update("web-1:other", "passing")
    busy = []

    def hook(request):
        if "/check/update/" not in request.path or busy:
            return None
        busy.append(request.at)
        return Reply(429, "rate limit", {"Retry-After": "3"})
    agent.hook = hook
    switch.status = 500
    wait_for(lambda: busy, 4, what="a call")
    time.sleep(2.5)
    assert agent.calls(after=busy[0] + 0.3) == []
    for ident in (READY, "web-1:other"):
        update = agent.wait_update(ident, "critical", after=busy[0])
        assert 2.9 < update.at - busy[0] < 3.5 + SLACK
    daemon.logged(1, "cannot be used: 429")


@together
def equal_results_are_equal_bytes(lab, agent):
    """Each differing output would be a write to the catalog that wakes all its readers."""
    delays = iter(range(10000))
    dates = lab.server(lambda request: SILENCE if request.path == "/silent" else Reply(
        200, "fine", {"Date": str(time.time())}, delay=(1 + next(delays) % 5) / 50))
    listener = socket.create_server(("127.0.0.1", 0))
    lab.defer(listener.close)
    pace = {"interval": "300ms", "timeout": "200ms", "ttl": "3s"}
    refused = free_port()
    checks = {
        "http": {"http": f"{dates.url}/fine", "max_latency": {"note": "1ms"}},
        "silent": {"http": f"{dates.url}/silent"},
        "connected": {"tcp": f"127.0.0.1:{listener.getsockname()[1]}"},
        "refused": {"tcp": f"127.0.0.1:{refused}"},
        "refused-http": {"http": f"http://127.0.0.1:{refused}/"},
        "slow": {"script": ["/bin/sleep", "5"]},
        "killed": {"script": ["/bin/sh", "-c", "kill -9 $$"]},
    }
    daemon = lab.probity(config(agent, *[{"name": name, **check, **pace}
                                         for name, check in checks.items()]))
    seen = {name: set() for name in checks}

    def ten_runs():
        rows = {row["name"]: row for row in daemon.status()["checks"]}
        for name, row in rows.items():
            if row["decided"]:
                seen[name].add(row["output"])
        return all(row["runs"] >= 11 for row in rows.values())
    wait_for(ten_runs, 20, what=lambda: f"ten runs; {daemon.status()['checks']}")
    for name in checks:
        outputs = seen[name] | {u.output for u in agent.updates(f"web-1:{name}")}
        assert len(outputs) == 1, (name, outputs)
        # They are still sent: the TTL has to be kept.
        assert len(agent.updates(f"web-1:{name}")) >= 3, name


test_together = together.test()
