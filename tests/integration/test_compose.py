# SPDX-License-Identifier: MIT
"""Checks that are made of shared probes: one run for all, and one status out of several."""
import json
import time

from agent_bench import SideBySide, Switch
from lab import TOLERANCE, run_probity, wait_for

together = SideBySide(6)


def shared(name, switch, **more):
    return {"name": name, "http": f"{switch.server.url}/{name}", "interval": "500ms", **more}


def composed(agent, probes, *checks, **top):
    return {"consul": {"address": agent.url}, "service": {"id": "web-1"}, "probes": probes,
            "checks": [{"ttl": "3s", **check} for check in checks], **top}


def output(agent, check="web-1:ready"):
    return agent.updates(check)[-1].output


@together
def one_run_serves_ten_services(lab, consul):
    """A host with ten services opens one session to what they share, and all learn of it."""
    database = Switch(lab)
    folder = lab.subfolder("d") / "conf.d"
    folder.mkdir(mode=0o755)
    files = {"0": {"consul": consul.url, "probes": [shared("db", database)]}}
    for number in range(10):
        consul.register_service(f"s-{number}", "s", 0)
        files[f"s{number}"] = {"service": {"id": f"s-{number}"},
                               "checks": [{"name": "db", "probe": "db"}]}
    for stem, content in files.items():
        path = folder / f"{stem}.yaml"
        path.write_text(json.dumps(content), encoding="utf-8")
        path.chmod(0o600)
    daemon = lab.probity("", start=False)
    daemon.config = folder
    daemon.start()
    wait_for(lambda: len(consul.health("s", passing=True)) == 10, 10)
    before, began = len(database.server.requests), time.monotonic()
    time.sleep(2)
    runs, seconds = len(database.server.requests) - before, time.monotonic() - began
    assert 1 <= runs <= seconds / 0.5 + 2, runs
    database.status = 503
    wait_for(lambda: not consul.health("s", passing=True), 5 + TOLERANCE)
    assert consul.check("s-3:db")["Output"] == consul.check("s-7:db")["Output"]
    assert "503" in consul.check("s-3:db")["Output"]
    assert consul.check("db") is None
    database.status = 200
    wait_for(lambda: len(consul.health("s", passing=True)) == 10, 5 + TOLERANCE)


@together
def all_of_them_have_to_pass(lab, agent):
    one, two, optional = Switch(lab), Switch(lab), Switch(lab, status=500)
    daemon = lab.probity(composed(
        agent, [shared("one", one), shared("two", two), shared("search", optional)],
        {"name": "ready", "all": ["one", "two", {"probe": "search", "max_status": "passing"}]}))
    agent.wait_update("web-1:ready", "passing")
    wait_for(lambda: output(agent).startswith(
        "2 of 3 passing, all wanted; not counted: search\nsearch: not counted: critical: "), 12)
    two.status = 503
    agent.wait_update("web-1:ready", "critical")
    wait_for(lambda: "two: critical" in output(agent), 12)
    lines = output(agent).split("\n")
    assert lines[0] == "1 of 3 passing, all wanted; critical: two; not counted: search"
    assert lines[1].startswith("two: critical: ") and "503" in lines[1]
    # Once for the check, once for what it is made of: with the reason.
    daemon.logged(1, r"web-1:ready: critical: 1 of 3 passing, all wanted; critical: two")
    daemon.logged(1, r"/probes/two: critical: .*503")
    two.status = 429
    agent.wait_update("web-1:ready", "warning")
    two.status = 200
    agent.wait_update("web-1:ready", "passing", after=agent.updates("web-1:ready")[-1].at)


@together
def any_is_enough_and_a_quorum_is_counted(lab, agent):
    switches = [Switch(lab) for _ in range(3)]
    names = ["a", "b", "c"]
    lab.probity(composed(agent, [shared(n, s) for n, s in zip(names, switches)],
                         {"name": "ready", "any": names},
                         {"name": "quorum", "at_least": {"n": 2, "of": names}}))
    agent.wait_update("web-1:quorum", "passing")
    switches[0].status = 500
    wait_for(lambda: output(agent, "web-1:quorum").startswith(
        "2 of 3 passing, 2 wanted; critical: a\n"), 12)
    assert agent.status("web-1:quorum") == agent.status("web-1:ready") == "passing"
    switches[1].status = 500
    agent.wait_update("web-1:quorum", "critical")
    assert agent.status("web-1:ready") == "passing"
    switches[2].status = 500
    agent.wait_update("web-1:ready", "critical")
    switches[0].status = 200
    agent.wait_update("web-1:ready", "passing", after=agent.updates("web-1:ready")[-1].at)
    assert agent.status("web-1:quorum") == "critical"


@together
def members_nest(lab, agent):
    left, right, other = Switch(lab), Switch(lab, status=500), Switch(lab)
    lab.probity(composed(
        agent, [shared("left", left), shared("right", right), shared("other", other),
                {"name": "either", "any": ["left", "right"]}],
        {"name": "ready", "all": ["either", "other"]}))
    agent.wait_update("web-1:ready", "passing")
    left.status = 500
    agent.wait_update("web-1:ready", "critical")
    assert "either: critical: 0 of 2 passing, 1 wanted; critical: left, right" in output(agent)


@together
def thresholds_are_those_of_the_members(lab, agent):
    flaky = Switch(lab)
    lab.probity(composed(
        agent, [shared("flaky", flaky, failures_before_critical=3, retry_interval="200ms")],
        {"name": "ready", "all": ["flaky"]}, {"name": "same", "probe": "flaky"}))
    agent.wait_update("web-1:ready", "passing")
    agent.wait_update("web-1:same", "passing")
    before = len(flaky.server.requests)
    flaky.status = 500
    agent.wait_update("web-1:ready", "critical")
    agent.wait_update("web-1:same", "critical")
    assert len(flaky.server.requests) - before >= 3
    # Nothing but the status changed: no third status came in between.
    assert {update.status for update in agent.updates("web-1:ready")} == {"passing", "critical"}


@together
def nothing_is_claimed_before_all_is_known(lab, agent):
    quick, slow = Switch(lab), lab.server(lambda request: time.sleep(1.2) or None)
    lab.probity(composed(
        agent, [shared("quick", quick),
                {"name": "slow", "http": slow.url, "interval": "5s", "timeout": "4s"}],
        {"name": "ready", "all": ["quick", "slow"]}, {"name": "any", "any": ["quick", "slow"]}))
    began = agent.wait_update("web-1:any", "passing").at
    assert "no result yet: slow" in output(agent, "web-1:any")
    decided = agent.wait_update("web-1:ready", "passing")
    assert decided.at - began >= 0.5
    assert all(update.status == "passing" for update in agent.updates("web-1:ready"))


@together
def a_reload_changes_members(lab, agent):
    one, two = Switch(lab), Switch(lab, status=500)
    probes = [shared("one", one), shared("two", two)]
    daemon = lab.probity(composed(agent, probes, {"name": "ready", "all": ["one", "two"]}))
    agent.wait_update("web-1:ready", "critical")
    # What failed is no member any more: known at once, from the result that is there.
    daemon.reload(composed(agent, probes[:1], {"name": "ready", "all": ["one"]}))
    agent.wait_update("web-1:ready", "passing")
    # A probe that is another one under the same name has to decide anew.
    one.server.requests.clear()
    daemon.reload(composed(agent, [shared("one", two)], {"name": "ready", "all": ["one"]}))
    agent.wait_update("web-1:ready", "critical")
    assert [probe["name"] for probe in daemon.status()["probes"]] == ["one"]
    # A bad reference changes nothing.
    daemon.reload(composed(agent, [], {"name": "ready", "all": ["one"]}))
    daemon.wait_log(r"there is no probe 'one'")
    assert daemon.status()["probes"]


@together
def a_restart_does_not_flap(lab, agent):
    one, two = Switch(lab), Switch(lab)
    daemon = lab.probity(composed(agent, [shared("one", one), shared("two", two)],
                                  {"name": "ready", "all": ["one", "two"]}))
    agent.wait_update("web-1:ready", "passing")
    stopped = time.monotonic()
    daemon.restart()
    agent.wait_update("web-1:ready", "passing", after=stopped)
    assert not [update for update in agent.updates("web-1:ready", after=stopped)
                if update.status != "passing"]


@together
def what_is_claimed_is_as_old_as_its_oldest_part(lab, agent):
    quick, rare = Switch(lab), Switch(lab)
    daemon = lab.probity(composed(
        agent, [shared("quick", quick), shared("rare", rare, interval="1h", timeout="1s")],
        {"name": "ready", "all": ["quick", "rare"]}))
    agent.wait_update("web-1:ready", "passing")
    time.sleep(1.2)
    check = daemon.check("ready")
    assert check["age"] >= 1 and check["members"] == ["quick", "rare"]
    assert check["interval"] is None and check["next_run_in"] is None
    ages = {probe["name"]: probe["age"] for probe in daemon.status()["probes"]}
    assert ages["quick"] < 1 + TOLERANCE


def commands(lab, agent):
    """What people see of it: probity probe and probity status."""
    one, two = Switch(lab), Switch(lab, status=500)
    daemon = lab.probity(composed(
        agent, [shared("one", one), shared("two", two)], {"name": "ready", "any": ["one", "two"]},
        {"name": "both", "all": ["one", "two"]}))
    code, rows = daemon.probe("ready")
    assert code == 0 and [row["name"] for row in rows] == ["one", "two", "ready"]
    assert rows[2]["output"].startswith("1 of 2 passing, 1 wanted; critical: two\ntwo: critical: ")
    assert daemon.probe()[0] == 2
    code, rows = daemon.probe("two")
    assert code == 2 and len(rows) == 1
    done = run_probity("probe", "-c", daemon.config, "rady")
    assert done.returncode == 2 and "did you mean 'ready'?" in done.stderr
    agent.wait_update("web-1:both", "critical")
    agent.wait_update("web-1:ready", "passing")
    shown = run_probity("status", "--runtime-dir", daemon.runtime_dir)
    assert shown.returncode == 1
    words = [line.split()[:2] for line in shown.stdout.splitlines()]
    assert ["passing", "web-1:ready"] in words and ["critical", "/probes/two"] in words


together(commands)
test = together.test()
