# SPDX-License-Identifier: MIT
"""An agent that forgets, refuses, hangs or is away: what is sent, how often, and what is said."""
import itertools
import time

from agent_bench import SLACK, SideBySide, Switch, config, gaps, most_within
from lab import SILENCE, Reply, descriptors

READY = "web-1:ready"

together = SideBySide(6)


@together
def unknown_check_in_every_wording(lab, agent):
    """The agent says in changing words that it does not know the check, and lists it all the same."""
    answers = itertools.cycle([Reply(404, 'Unknown check ID "x"'), Reply(500, 'Unknown check "x"'),
                               Reply(500, 'CheckID "x" does not have associated TTL')])
    switch = Switch(lab)
    daemon = lab.probity(config(agent, switch.check(interval="500ms", timeout="400ms")))
    agent.wait_update(READY, "passing")
    agent.hook = lambda request: next(answers) if "/check/update/" in request.path else None
    broken = time.monotonic()
    time.sleep(1.5)
    switch.status = 500
    time.sleep(3.5)
    agent.hook = None
    recovered = time.monotonic()
    update = agent.wait_update(READY, after=recovered)
    assert update.status == "critical" and update.at - recovered < 2.3
    during = [u.at for u in agent.updates(READY, after=broken) if u.at < recovered]
    assert len(during) >= 3 and most_within(during, 0.95) <= 3
    daemon.logged(2, "^[^:]*: ?consul|consul:", after=broken)
    assert agent.problems == []


@together
def lost_check_is_registered_again_with_the_current_status(lab, agent):
    switch = Switch(lab)
    daemon = lab.probity(config(agent, switch.check(), switch.check("other")))
    agent.wait_update(READY, "passing")
    agent.wait_update("web-1:other", "passing")
    switch.status = 500
    agent.wait_update(READY, "critical")
    agent.wait_update("web-1:other", "critical")
    with agent.changed:
        agent.checks.clear()
    lost = time.monotonic()
    for ident in (READY, "web-1:other"):
        assert agent.wait_update(ident, "critical", after=lost).at - lost < 1 + SLACK
        (_, body), = agent.registrations(ident, after=lost)
        assert body["Status"] == "critical"
    daemon.wait_log("has all checks again")
    daemon.logged(1, "does not have this check")
    assert agent.problems == []


@together
def closed_port_loses_no_change(lab, agent):
    switch = Switch(lab)
    daemon = lab.probity(config(agent, switch.check()))
    agent.wait_update(READY, "passing")
    agent.close()
    time.sleep(1)
    switch.status = 500
    daemon.wait_check(READY, status="critical")
    time.sleep(2.2)
    agent.open()
    opened = time.monotonic()
    update = agent.wait_update(READY, after=opened)
    assert update.status == "critical" and update.at - opened < 1.1 + SLACK
    time.sleep(2.3)
    beats = agent.updates(READY, after=opened)
    assert all(u.status == "critical" for u in beats)
    assert all(0.7 < gap < 1 + SLACK for gap in gaps(beats)), gaps(beats)


@together
def flips_behind_a_closed_port_are_not_replayed(lab, agent):
    switch = Switch(lab)
    daemon = lab.probity(config(agent, switch.check(interval="300ms", timeout="250ms")))
    agent.wait_update(READY, "passing")
    agent.close()
    for status, wanted in ((500, "critical"), (200, "passing"), (500, "critical"),
                           (200, "passing")):
        switch.status = status
        daemon.wait_check(READY, status=wanted)
    agent.open()
    opened = time.monotonic()
    agent.wait_update(READY, after=opened)
    time.sleep(0.6)
    assert [u.status for u in agent.updates(READY, after=opened)] == ["passing"]


@together
def silent_agent_is_left_alone_and_caught_up_with(lab, agent):
    """It takes requests and never answers; probes keep their rhythm, and nothing piles up."""
    switch = Switch(lab)
    count = 50
    checks = [switch.check(f"c{i}") for i in range(count)]
    silent = False

    def hook(request):
        return SILENCE if silent and request.method == "PUT" else None
    agent.hook = hook
    daemon = lab.probity(config(agent, *checks, timeout="1s"))
    for i in range(count):
        agent.wait_update(f"web-1:c{i}", "passing")
    before = descriptors(daemon.pid)
    silent = True
    begin = time.monotonic()
    time.sleep(1.2)
    switch.status = 500
    most = 0
    while time.monotonic() < begin + 6:
        most = max(most, agent.open_requests)
        time.sleep(0.05)
    assert 1 <= most <= 4
    # Each was given up after its second.
    ends = [r for r in agent.calls("PUT", after=begin) if r.at < begin + 4]
    assert ends and all(r.answered is SILENCE for r in ends)
    hits = [r.at for r in switch.server.requests if r.at > begin and r.path == "/c7"]
    assert all(abs(later - earlier - 1) < SLACK for earlier, later in zip(hits, hits[1:])), hits
    assert abs(descriptors(daemon.pid) - before) <= 5
    silent = False
    agent.drop()
    recovered = time.monotonic()
    for i in range(count):
        agent.wait_update(f"web-1:c{i}", "critical", after=recovered)
    time.sleep(0.5)
    for i in range(count):
        updates = agent.updates(f"web-1:c{i}", after=recovered)
        assert all(u.status == "critical" for u in updates)
        assert most_within([u.at for u in updates], 1) <= 2, updates
    daemon.logged(1, "cannot be used")


@together
def one_check_that_the_agent_fails_on_does_not_hold_up_the_others(lab, agent):
    switch = Switch(lab)
    agent.hook = lambda request: (Reply(500, "disk full")
                                  if request.path.endswith("/update/web-1:bad") else None)
    lab.probity(config(agent, switch.check("bad"), switch.check("good"), switch.check("fine")))
    for name in ("good", "fine"):
        agent.wait_update(f"web-1:{name}", "passing")
    time.sleep(1)
    switch.status = 500
    switched = time.monotonic()
    for name in ("good", "fine"):
        assert agent.wait_update(f"web-1:{name}", "critical", timeout=6).at - switched < 4.5


test_together = together.test()
