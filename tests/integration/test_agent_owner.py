# SPDX-License-Identifier: MIT
"""Whose a check is: two daemons on one host, and checks that others have put on a real agent."""
import json
import re
import time

from agent_bench import SideBySide, Switch, config, says
from lab import run_probity, wait_for

READY = "web-1:ready"

together = SideBySide(6)


def place(daemon, path):
    """The daemon is to run in this runtime directory."""
    path.mkdir(parents=True, exist_ok=True)
    daemon.runtime_dir = path
    return daemon


@together
def second_daemon_is_told_who_holds_its_ids(lab, agent):
    tree = lab.folder / "probity"  # as systemd makes it for the host daemon and for instances
    host = place(lab.probity(config(agent, says("passing", "ok")), start=False), tree).start()
    agent.wait_update(READY)
    other = place(lab.probity(config(agent, says("critical", "no"), says("passing", "ok", "mine")),
                              start=False), tree / "web")
    refused = run_probity("run", "-c", other.config, "--runtime-dir", other.runtime_dir)
    assert refused.returncode == 2
    assert re.search(rf"^{re.escape(str(other.config))}:\d+:\d+: error: check id '{READY}' is held "
                     rf"by another probity that runs, pid {host.pid} with the configuration "
                     rf"{re.escape(str(host.config))};", refused.stderr, re.M), refused.stderr
    # A reload is refused in the same way, and one that lets go makes room.
    other.write(config(agent, says("passing", "ok", "mine")))
    other.start()
    other.reload(config(agent, says("critical", "no")))
    other.wait_log(f"'{READY}' is held by another probity")
    other.wait_log("the configuration from before stays in force")
    host.reload(config(agent, says("passing", "ok", "else")))
    host.wait_log(f"{READY}: deregistered")
    before = time.monotonic()
    other.reload()
    agent.wait_update(READY, "critical", after=before)


@together
def file_of_a_folder_with_an_id_of_another_is_left_out(lab, agent):
    tree = lab.folder / "probity"
    place(lab.probity(config(agent, says("passing", "ok")), start=False), tree / "web").start()
    agent.wait_update(READY)
    host = place(lab.probity(config(agent, says("passing", "ok")), start=False), tree)
    host.config = lab.subfolder("conf")
    for name, check in (("a", says("passing", "ok", "mine")), ("b", says("critical", "no"))):
        path = host.config / f"{name}.yaml"
        path.write_text(json.dumps({**({"consul": agent.url} if name == "a" else {}),
                                    "service": {"id": "web-1"}, "checks": [check]}))
        path.chmod(0o600)
    host.start()
    agent.wait_update("web-1:mine")
    host.wait_log("left out")
    host.wait_log(f"'{READY}' is held by another probity")
    assert agent.updates(READY)[-1].status == "passing"


@together
def killed_daemon_holds_nothing(lab, agent):
    tree = lab.folder / "probity"
    first = place(lab.probity(config(agent, says("passing", "ok")), start=False), tree).start()
    first.kill()
    place(lab.probity(config(agent, says("passing", "ok")), start=False), tree / "b").start()
    agent.wait_update(READY)


@together
def check_of_another_type_is_taken_over_whole(lab, consul):
    """Its monitor ends: registered over it, both would write the status in turn."""
    switch = Switch(lab, status=500)
    consul.put("/v1/agent/check/register", {"ID": READY, "Name": "theirs", "Interval": "1s",
                                            "HTTP": f"{switch.server.url}/theirs",
                                            "ServiceID": "web-1"})
    wait_for(lambda: switch.server.requests, 3, what="their monitor")
    daemon = lab.probity(config(consul, says("passing", "ok", take_over=True)))
    consul.wait_status(READY, "passing")
    assert consul.check(READY)["Type"] == "ttl"
    taken = time.monotonic()
    time.sleep(2.5)
    assert [r for r in switch.server.requests if r.at > taken + 0.2] == []
    assert consul.status(READY) == "passing"
    daemon.logged(1, "taken over")


@together
def check_of_another_owner_is_taken_over_without_a_gap(lab, consul):
    consul.put("/v1/agent/check/register", {"ID": READY, "Name": "theirs", "TTL": "60s",
                                            "Notes": "[probity:elsewhere]", "ServiceID": "web-1",
                                            "Status": "warning"})
    watcher = consul.watch_check("web", READY)
    daemon = lab.probity(config(consul, says("critical", "no", take_over=True)))
    consul.wait_status(READY, "critical")
    assert consul.check(READY)["Notes"].endswith(f"[probity:{daemon.config}]")
    time.sleep(0.3)
    assert watcher.values == ["warning", "critical"]
    daemon.logged(1, "taken over")


test_together = together.test()
