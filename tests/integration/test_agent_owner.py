# SPDX-License-Identifier: MIT
"""Whose a check is: two daemons on one host, and checks that others have put on a real agent."""
import json
import re
import time

from agent_bench import SLACK, SideBySide, Switch, config, says
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
    # What the first may have registered is another's to the second.
    place(lab.probity(config(agent, says("passing", "ok", take_over=True)), start=False),
          tree / "b").start()
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


@together
def service_of_another_that_goes_and_comes_is_never_passing(lab, consul):
    """Its heartbeats are 20 s apart: only the call that waits for the service tells of it."""
    daemon = lab.probity(config(consul, says("critical", "no", ttl="60s", interval="30s",
                                             timeout="5s")))
    consul.wait_status(READY, "critical")
    wait_for(lambda: daemon.check(READY)["agent"]["acknowledged"], 3, what="the claim")
    time.sleep(0.5)
    consul.put("/v1/agent/service/deregister/web-1")
    daemon.wait_log("unknown service web-1: waiting", timeout=2)
    consul.register_service("web-1", "web", 8080)
    registered = time.monotonic()
    consul.wait_status(READY, "critical", timeout=3)
    assert time.monotonic() - registered < 1.5 + SLACK
    daemon.logged(1, "unknown service")


@together
def checks_that_another_tool_replaces_are_back_at_once(lab, consul):
    lab.probity(config(consul, says("critical", "no", ttl="60s", interval="30s", timeout="5s")))
    consul.wait_status(READY, "critical")
    time.sleep(1.5)
    consul.put("/v1/agent/service/register?replace-existing-checks=true",
               {"ID": "web-1", "Name": "web", "Port": 9090})
    consul.wait_status(READY, "critical", timeout=3)
    wait_for(lambda: consul.health("web", passing=True) == [], 2, what="the catalog")


@together
def service_of_ours_that_another_tool_registers_is_put_right_at_once(lab):
    consul = lab.consul()
    lab.probity(config(consul, says("critical", "no", ttl="60s", interval="30s", timeout="5s"),
                       service={"id": "web-1", "register": {"name": "web", "port": 8080}}))
    consul.wait_status(READY, "critical")
    time.sleep(2.5)
    watcher = consul.watch_passing("web")
    consul.put("/v1/agent/service/register?replace-existing-checks=true",
               {"ID": "web-1", "Name": "web", "Port": 9090})
    consul.wait_status(READY, "critical", timeout=3)
    wait_for(lambda: consul.services()["web-1"]["Port"] == 8080, 3, what="the port")
    consul.put("/v1/agent/service/deregister/web-1")
    consul.wait_status(READY, "critical", timeout=3)
    wait_for(lambda: watcher.values[-1] == 0, 2, what="the catalog")
    # Without a check it was passing: for a moment only.
    ones = [at for at, value in watcher.changes if value == 1]
    assert len(ones) <= 1


@together.full
def reaped_service_comes_back_once_it_is_well(lab):
    """A minute, then up to 30 s until the agent looks."""
    consul = lab.consul()
    switch = Switch(lab, status=500)
    daemon = lab.probity(config(consul, switch.check(), says("passing", "ok", "other"), service={
        "id": "web-1", "register": {"name": "web", "deregister_critical_service_after": "1m",
                                    "revive": True}}))
    consul.wait_status(READY, "critical")
    daemon.wait_log("removed by the agent: a check was critical for 1m", timeout=100)
    time.sleep(3)
    assert consul.services() == {}
    switch.status = 200
    consul.wait_status(READY, "passing", timeout=5)
    assert consul.status("web-1:other") == "passing"
    daemon.wait_log("service web-1 is registered again")
    daemon.logged(1, "removed by the agent")


test_together = together.test()
