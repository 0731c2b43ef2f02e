# SPDX-License-Identifier: MIT
"""What readers of a real Consul agent get: catalog, passing-only view, DNS."""
import signal
import time

from agent_bench import SLACK, SideBySide, Switch, config, says
from lab import wait_for

READY = "web-1:ready"
OWN = {"id": "web-1", "register": {"name": "web", "port": 8080}}

together = SideBySide(5)


def views(consul):
    """(statuses in the catalog by check id, instances for ?passing readers, SRV answers)."""
    entries = consul.health("web")
    statuses = {c["CheckID"]: c["Status"] for entry in entries for c in entry["Checks"]
                if c["ServiceID"]}
    return statuses, len(consul.health("web", passing=True)), len(consul.dns_srv("web"))


def wait_views(consul, status, passing, srv, timeout=4):
    wait_for(lambda: views(consul) == ({READY: status}, passing, srv), timeout,
             what=lambda: f"{status} {passing} {srv}; it is {views(consul)}")


@together
def every_status_reaches_every_reader(lab, consul):
    flag = lab.folder / "flag"
    flag.write_text("0")
    script = {"name": "ready", "script": ["/bin/sh", "-c", f"read -r code < {flag}; exit $code"],
              "interval": "300ms", "ttl": "3s"}
    lab.probity(config(consul, script))
    # Warning stays in the default DNS answer and leaves every passing-only reader's pool.
    for code, status, passing, srv in ((0, "passing", 1, 1), (1, "warning", 0, 1),
                                       (2, "critical", 0, 0), (0, "passing", 1, 1)):
        new = lab.folder / "new"
        new.write_text(f"{code}\n")
        new.rename(flag)
        wait_views(consul, status, passing, srv)


@together
def output_arrives_whole_or_as_head_and_tail(lab, consul):
    """In the catalog too: a change of status carries it there at once."""
    exact = "x" * 4000 + "y" * 90 + "ende"
    (lab.folder / "exact").write_text(exact)

    def second(name, command):
        """Critical once, then passing: the catalog takes output at once with a change only."""
        mark = lab.folder / f"{name}.ran"
        return {"name": name, "interval": "500ms", "ttl": "3s", "script": [
            "/bin/sh", "-c", f"[ -e {mark} ] || {{ : > {mark}; exit 2; }}; {command}"]}
    lab.probity(config(
        consul, second("whole", f"cat {lab.folder / 'exact'}"),
        second("long", "echo first; head -c 9000 /dev/zero | tr '\\0' m; echo; echo last")))

    def output(name):
        check = consul.catalog_check("web", f"web-1:{name}") or {}
        return check.get("Output") if check.get("Status") == "passing" else None
    assert wait_for(lambda: output("whole"), 5, what="the whole output") == exact
    cut = wait_for(lambda: output("long"), 5, what="the long output")
    assert cut.startswith("first\nmmm") and cut.rstrip("\n").endswith("mmm\nlast")
    assert "bytes left out" in cut and len(cut.encode()) <= 4096
    assert "captured" not in cut  # the agent had nothing to cut
    for name, text in (("whole", exact), ("long", cut)):
        assert consul.check(f"web-1:{name}")["Output"] == text


def _lose_state(lab, consul, loss):
    """The agent forgets everything; the service and its checks are back as they were."""
    good, bad = Switch(lab), Switch(lab, status=500)
    daemon = lab.probity(config(consul, good.check(), bad.check("bad"), good.check("node", node=True),
                                service=OWN))
    for ident, status in ((READY, "passing"), ("web-1:bad", "critical"),
                          ("probity:node", "passing")):
        consul.wait_status(ident, status)
        daemon.wait_check(ident, status=status)
    watchers = {ident: consul.watch_check(service, ident)
                for ident, service in ((READY, "web"), ("web-1:bad", "web"),
                                       ("probity:node", None))}
    passing = consul.watch_passing("web")
    if loss == "kill":
        consul.kill()
        time.sleep(0.7)
        consul.start(ready=False)
        wait_for(lambda: _answers(consul), 10, what="the agent")
    else:
        consul.hup()
    back = time.monotonic()
    found, _ = daemon.wait_log("has all checks again", timeout=6, after=back)
    if loss == "kill":
        assert found - back < 2
    for ident, status in ((READY, "passing"), ("web-1:bad", "critical"),
                          ("probity:node", "passing")):
        assert consul.status(ident) == status
    time.sleep(0.5)
    assert set(watchers[READY].values) <= {"passing", "down", None}
    assert set(watchers["web-1:bad"].values) <= {"critical", "down", None}
    assert set(watchers["probity:node"].values) <= {"passing", "down", None}
    # The service has a failing check: at no moment may a reader find it passing.
    assert set(passing.values) <= {0, "down"}
    assert consul.status(READY) == "passing" and consul.status("web-1:bad") == "critical"


@together
def state_lost_in_a_crash_comes_back_without_a_wrong_word(lab, consul):
    _lose_state(lab, consul, "kill")


@together
def state_lost_in_a_reload_comes_back_without_a_wrong_word(lab, consul):
    _lose_state(lab, consul, "reload")


def _answers(consul):
    try:
        return consul.call("GET", "/v1/agent/checks", timeout=1)[0] == 200
    except OSError:
        return False


@together
def restart_changes_nothing_in_the_catalog(lab, consul):
    good, bad = Switch(lab), Switch(lab, status=500)
    daemon = lab.probity(config(consul, good.check(ttl="10s"), bad.check("bad", ttl="10s",
                                                                       failures_before_critical=2)))
    consul.wait_status(READY, "passing")
    consul.wait_status("web-1:bad", "critical")
    daemon.wait_check("web-1:bad", status="critical")
    time.sleep(1.2)  # the state file is written a little later
    watchers = [consul.watch_check("web", READY), consul.watch_check("web", "web-1:bad")]
    daemon.restart()
    daemon.wait_check(READY, status="passing")
    wait_for(lambda: daemon.check(READY)["agent"]["acknowledged"], 5, what="the first claim")
    time.sleep(2)
    assert [watcher.values for watcher in watchers] == [["passing"], ["critical"]]


@together
def killed_daemon_leaves_critical_by_ttl(lab, consul):
    daemon = lab.probity(config(consul, says("passing", "ok")))
    wait_views(consul, "passing", 1, 1)
    daemon.kill()
    killed = time.monotonic()
    consul.wait_status(READY, "critical", timeout=6)
    assert 1.5 < time.monotonic() - killed < 3 + SLACK
    assert consul.check(READY)["Output"].startswith("TTL expired")
    wait_views(consul, "critical", 0, 0)


@together
def service_that_another_tool_registers_later(lab):
    consul = lab.consul()
    daemon = lab.probity(config(consul, says("passing", "ok"), says("critical", "no", "other")))
    daemon.wait_log("unknown service web-1")
    consul.register_service("web-1", "web", 8080)
    registered = time.monotonic()
    consul.wait_status(READY, "passing")
    consul.wait_status("web-1:other", "critical")
    assert time.monotonic() - registered < 1.5 + SLACK


@together
def own_service_is_never_passing_without_proof(lab):
    consul = lab.consul()
    watcher = consul.watch_passing("web")
    switch = Switch(lab)
    lab.probity(config(consul, switch.check(), switch.check("slow", success_before_passing=3),
                       service=OWN))
    consul.wait_status("web-1:slow", "passing", timeout=8)
    consul.wait_status(READY, "passing")
    passed = time.monotonic()
    wait_for(lambda: watcher.values[-1] == 1, 3, what="a passing instance")
    ones = [at for at, value in watcher.changes if value == 1]
    hits = sorted(r.at for r in switch.server.requests if r.path == "/slow")
    assert len(ones) == 1 and ones[0] >= hits[2] and ones[0] < passed + 3
    service = consul.services()["web-1"]
    assert service["Port"] == 8080 and service["Service"] == "web"


@together
def what_left_the_file_is_deregistered_and_no_more(lab, consul):
    consul.put("/v1/agent/check/register", {"ID": "foreign", "Name": "foreign", "TTL": "60s",
                                            "ServiceID": "web-1", "Status": "passing"})
    consul.put("/v1/agent/check/register", {"ID": "stranger", "Name": "stranger", "TTL": "60s",
                                            "Notes": "[probity:elsewhere]", "Status": "passing"})
    daemon = lab.probity(config(consul, says("passing", "ok"), says("passing", "ok", "old"),
                                says("passing", "ok", "disk", node=True)))
    for ident in (READY, "web-1:old", "probity:disk"):
        consul.wait_status(ident, "passing")
    daemon.reload(config(consul, says("passing", "ok")))
    wait_for(lambda: set(consul.checks()) == {READY, "foreign", "stranger"}, 4,
             what=lambda: f"the rest; there are {set(consul.checks())}")
    daemon.wait_log("web-1:old: deregistered")
    assert not daemon.log_lines("counts as passing")
    assert consul.status("foreign") == consul.status("stranger") == "passing"


@together
def removing_the_last_check_is_said_loudly(lab, consul):
    daemon = lab.probity(config(consul, says("passing", "ok"), says("passing", "ok", "x", node=True)))
    consul.wait_status(READY, "passing")
    daemon.reload(config(consul, says("passing", "ok", "x", node=True)))
    daemon.wait_log("service web-1 has no check any more and counts as passing")
    assert consul.check(READY) is None


@together
def renamed_check_leaves_no_gap(lab, consul):
    """The old id stands until the new one is acknowledged: without any check it is passing."""
    daemon = lab.probity(config(consul, says("critical", "no", "old")))
    consul.wait_status("web-1:old", "critical")
    watcher = consul.watch_passing("web")
    daemon.reload(config(consul, says("critical", "no", "new")))
    consul.wait_status("web-1:new", "critical")
    wait_for(lambda: consul.check("web-1:old") is None, 4, what="the old id gone")
    assert watcher.values == [0]


@together
def changed_notes_and_ttl_keep_the_status(lab, consul):
    daemon = lab.probity(config(consul, says("warning", "hm")))
    consul.wait_status(READY, "warning")
    wait_for(lambda: (consul.catalog_check("web", READY) or {}).get("Status") == "warning", 3,
             what="the catalog")
    watcher = consul.watch_check("web", READY)
    daemon.reload(config(consul, says("warning", "hm", notes="see the wiki", ttl="30s")))
    wait_for(lambda: consul.check(READY)["Notes"].startswith("see the wiki [probity:"), 4,
             what=lambda: f"new notes; it is {consul.check(READY)}")
    time.sleep(0.3)
    assert watcher.values == ["warning"]


@together
def check_of_another_under_our_id_is_left_alone(lab, consul):
    consul.put("/v1/agent/check/register", {"ID": READY, "Name": "theirs", "TTL": "60s",
                                            "ServiceID": "web-1", "Status": "warning"})
    daemon = lab.probity(config(consul, says("passing", "ok"), says("passing", "ok", "fine")))
    consul.wait_status("web-1:fine", "passing")
    time.sleep(1)
    assert consul.check(READY)["Name"] == "theirs" and consul.status(READY) == "warning"
    daemon.logged(1, "not ours")


@together
def strange_ids_work_on_a_real_agent(lab, consul):
    odd = 'svc /a/b#1?é "q" %2F+'
    daemon = lab.probity(config(consul, says("passing", "ok", id=odd), says("passing", "ok")))
    consul.wait_status(odd, "passing")
    consul.wait_status(READY, "passing")
    daemon.reload(config(consul, says("passing", "ok")))
    wait_for(lambda: consul.check(odd) is None, 4, what="it is gone")


@together
def a_service_of_ours_goes_with_us_where_asked_to(lab, consul):
    consul.register_service("web-2", "other", 8081)
    service = {"id": "api-1", "register": {"name": "api", "port": 8082}}
    daemon = lab.probity(config(consul, says("passing", "ok"),
                                service={**service, "on_stop": "deregister"}))
    consul.wait_status("api-1:ready", "passing")
    assert daemon.stop() == 0
    assert "api-1" not in consul.services() and consul.check("api-1:ready") is None
    assert consul.health("api") == []
    assert "web-2" in consul.services(), "what is another's stays"
    daemon.logged(1, "service api-1 deregistered")


@together
def server_that_freezes_behind_a_client(lab):
    """All calls to the agent hang with it; probes go on, and the newest word is the one that counts."""
    server = lab.consul(node="s1")
    consul = lab.consul(node="n2", join=server)
    consul.register_service("web-1", "web", 8080)
    switch = Switch(lab)
    daemon = lab.probity(config(consul, switch.check(ttl="60s"), timeout="1s"))
    wait_for(lambda: (server.catalog_check("web", READY) or {}).get("Status") == "passing", 8,
             what="the catalog")
    server.process.send_signal(signal.SIGSTOP)
    frozen = time.monotonic()
    switch.status = 500
    daemon.wait_check(READY, status="critical")
    time.sleep(2.5)
    switch.status = 429
    daemon.wait_check(READY, status="warning")
    time.sleep(1)
    server.process.send_signal(signal.SIGCONT)
    thawed = time.monotonic()
    wait_for(lambda: (server.catalog_check("web", READY) or {}).get("Status") == "warning", 8,
             what=lambda: f"the truth; it is {server.catalog_check('web', READY)}")
    wait_for(lambda: daemon.check(READY)["agent"]["acknowledged"], 6, what="the claim")
    assert server.catalog_check("web", READY)["Status"] == "warning"
    hits = [r.at for r in switch.server.requests if frozen < r.at < thawed]
    assert all(abs(later - earlier - 1) < SLACK for earlier, later in zip(hits, hits[1:])), hits
    daemon.logged(1, "cannot be used")


test_together = together.test()
