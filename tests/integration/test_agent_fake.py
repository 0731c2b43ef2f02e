# SPDX-License-Identifier: MIT
"""Calls to the agent, byte by byte and one by one, against an agent that answers as told."""
import os
import time

from agent_bench import SLACK, SideBySide, Switch, config, gaps, says
from lab import CUT, RESET, Reply, free_port, strict_json, wait_for

together = SideBySide(7)


@together
def update_is_exactly_what_the_agent_wants(lab, agent):
    lab.probity(config(agent, says("warning", 'a "b" \\ c')))
    update = agent.wait_update("web-1:ready", "warning")
    request = [r for r in agent.calls("PUT", "/v1/agent/check/update/") if r.at == update.at][0]
    assert request.line == "PUT /v1/agent/check/update/web-1:ready HTTP/1.1"
    assert [name for name, _ in request.headers] == [
        "Host", "User-Agent", "Accept", "Content-Type", "Content-Length"]
    assert request.header("Host") == f"127.0.0.1:{agent.port}"
    assert request.header("Content-Type") == "application/json"
    assert request.header("User-Agent").startswith("probity/")
    assert request.body == b'{"Status":"warning","Output":"a \\"b\\" \\\\ c"}'
    assert agent.problems == []


@together
def first_decision_is_registered_and_updated_at_once(lab, agent):
    lab.probity(config(agent, says("critical", "down")))
    update = agent.wait_update("web-1:ready")
    assert update.status == "critical"
    (_, body), = agent.registrations("web-1:ready", after=0)[-1:]
    assert body["ServiceID"] == "web-1" and body["TTL"] == "3s" and body["Name"] == "ready"
    assert body["Notes"].startswith("[probity:") and body["Notes"].endswith("]")
    assert agent.problems == []


@together
def heartbeats_keep_their_own_pace(lab, agent):
    # A long interval does not stretch them; each run at a short one does not add any.
    lab.probity(config(agent, says("passing", "a", "slow", interval="1m", timeout="5s"),
                       says("passing", "b", "fast", interval="200ms")))
    agent.wait_update("web-1:slow")
    time.sleep(4.2)
    for name in ("slow", "fast"):
        updates = agent.updates(f"web-1:{name}")
        assert all(update.status == "passing" for update in updates)
        assert 4 <= len(updates) <= 7, updates
        assert all(0.7 < gap < 1 + SLACK for gap in gaps(updates)[1:]), gaps(updates)


@together
def ids_are_encoded_once(lab, agent):
    lab.probity(config(agent, says("passing", "ok", id="svc /a/b#1?é")))
    update = agent.wait_update("svc /a/b#1?é")
    request = [r for r in agent.calls("PUT", "/v1/agent/check/update/") if r.at == update.at][0]
    assert request.target == "/v1/agent/check/update/svc%20%2Fa%2Fb%231%3F%C3%A9"


@together
def unreachable_at_start_is_said_once_and_delivered_later(lab, agent):
    agent.close()
    daemon = lab.probity(config(agent, says("critical", "down")))
    daemon.wait_check("web-1:ready", status="critical")
    time.sleep(2.5)
    daemon.logged(1, "cannot be used")
    daemon.logged(1, "Connection refused")
    agent.open()
    opened = time.monotonic()
    update = agent.wait_update("web-1:ready", "critical", after=opened)
    assert update.at - opened < 1.1 + SLACK
    daemon.logged(1, "answers again")


@together
def token_is_sent_and_rotated(lab, agent):
    token = lab.folder / "token"
    token.write_text("S3CRET-old\n")
    good = "S3CRET-old"

    def hook(request):
        if request.header("X-Consul-Token") == good:
            return None
        return Reply(403, f"ACL not found: {request.header('X-Consul-Token')}")
    agent.hook = hook
    daemon = lab.probity(config(agent, says("passing", "ok"), token_file=str(token)),
                         arguments=["--log-level", "debug"])
    agent.wait_update("web-1:ready")
    good = "S3CRET-new"
    daemon.wait_log("refuses")
    time.sleep(3.5)  # into the growing delays: the next try is 4 s away
    new = lab.folder / "token.new"
    new.write_text("S3CRET-new")
    rotated = time.monotonic()
    os.rename(new, token)
    update = agent.wait_update("web-1:ready", after=rotated)
    assert update.at - rotated < 1 + SLACK
    # The agent syncs with the token of the registration: that is renewed first.
    assert agent.registrations("web-1:ready", after=rotated)
    daemon.logged(1, "refuses: 403")
    assert "S3CRET" not in daemon.log_text()
    assert "S3CRET" not in str(daemon.status())


@together
def refused_bytes_are_not_repeated_at_once(lab, agent):
    agent.hook = lambda request: (Reply(400, "Request decode failed")
                                  if "/check/update/" in request.path else None)
    daemon = lab.probity(config(agent, says("passing", "ok")))
    agent.wait_update("web-1:ready", accepted=False)
    time.sleep(4)
    assert len(agent.updates("web-1:ready")) == 3  # at 0, 1 and 3 s
    daemon.logged(1, "refuses: 400")
    agent.hook = None
    agent.wait_update("web-1:ready", timeout=6)


@together
def redirects_are_never_followed(lab, agent):
    other = lab.server()
    agent.hook = lambda request: (Reply(307, "", {"Location": f"{other.url}{request.target}"})
                                  if "/check/update/" in request.path else None)
    daemon = lab.probity(config(agent, says("passing", "ok")))
    agent.wait_update("web-1:ready", accepted=False)
    daemon.wait_log("redirect")
    assert other.connections == 0


@together
def cut_and_unreadable_answers_are_no_acknowledgement(lab, agent):
    """After each of them the state is sent until it is confirmed, and nothing crashes."""
    answers = [CUT, RESET, Reply(0, raw=b"220 mail ESMTP\r\n", close=True),
               Reply(0, raw=b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf", close=True)]
    pending = list(answers)

    def hook(request):
        if "/check/update/" not in request.path or not pending:
            return None
        agent.apply(request)
        return pending.pop(0)
    agent.hook = hook
    daemon = lab.probity(config(agent, says("critical", "down", ttl="30s")))
    update = agent.wait_update("web-1:ready", timeout=8)
    assert not pending
    daemon.wait_check("web-1:ready")
    deadline = time.monotonic() + 5
    while not daemon.check("web-1:ready")["agent"]["acknowledged"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    # The first 200 after abandoned calls counts only once it was repeated, a second later.
    good = [u for u in agent.updates("web-1:ready") if u.at >= update.at]
    assert len(good) == 2 and 1 - 0.1 < good[1].at - good[0].at < 1 + SLACK, good
    daemon.logged(1, "cannot be used")


@together
def unreadable_lists_close_the_gate(lab, agent):
    agent.hook = lambda request: Reply(200, "{]") if request.method == "GET" else None
    daemon = lab.probity(config(agent, says("passing", "ok")))
    daemon.wait_log("unreadable answer")
    assert agent.updates() == []
    agent.hook = None
    agent.wait_update("web-1:ready")


@together
def unix_socket(lab):
    agent = lab.fake_agent(unix=str(lab.folder / "agent.sock"))
    agent.add_service("web-1", "web", 8080)
    lab.probity(config(agent, says("passing", "ok")))
    agent.wait_update("web-1:ready")
    assert agent.problems == []


@together
def service_of_another_is_waited_for(lab):
    agent = lab.fake_agent()
    daemon = lab.probity(config(agent, says("passing", "ok"), says("warning", "hm", "other")))
    daemon.wait_log("unknown service web-1: waiting for it to be registered")
    time.sleep(2.2)
    daemon.logged(1, "unknown service")
    assert 2 <= len(agent.calls("GET", "/v1/agent/service/web-1")) <= 5
    assert agent.registrations() == []
    agent.add_service("web-1", "web")
    added = time.monotonic()
    for name, status in (("ready", "passing"), ("other", "warning")):
        assert agent.wait_update(f"web-1:{name}", status).at - added < 1 + SLACK
    assert agent.problems == []


@together
def own_service_is_registered_with_all_its_checks(lab):
    agent = lab.fake_agent()
    switch = Switch(lab)
    service = {"id": "web-1", "register": {"name": "web", "port": 8080, "tags": ["v2"],
                                           "meta": {"zone": "a"}}}
    lab.probity(config(agent, switch.check(), says("critical", "x", "slow", success_before_passing=2,
                                                   failures_before_critical=3,
                                                   failures_before_warning=3),
                       service=service))
    agent.wait_update("web-1:ready", "passing")
    first = [r.json for r in agent.calls("PUT", "/v1/agent/service/register")]
    assert len(first) == 1
    assert first[0]["Name"] == "web" and first[0]["Port"] == 8080 and first[0]["Tags"] == ["v2"]
    # Never passing without proof: what is not decided starts critical, or is not there yet.
    statuses = {c["CheckID"]: c["Status"] for c in first[0]["Checks"]}
    assert statuses["web-1:slow"] == "critical" and set(statuses) == {"web-1:ready", "web-1:slow"}
    assert agent.registrations() == []
    agent.wait_update("web-1:slow", "critical")
    assert agent.problems == []


@together
def own_service_that_differs_is_corrected_without_its_checks(lab, agent):
    service = {"id": "web-1", "register": {"name": "web", "port": 9090}}
    lab.probity(config(agent, says("passing", "ok"), service=service))
    agent.wait_update("web-1:ready", "passing")
    wait_for(lambda: agent.services["web-1"]["Port"] == 9090, 2, what="the new port")
    calls = [r.json for r in agent.calls("PUT", "/v1/agent/service/register")]
    assert len(calls) == 1 and "Checks" not in calls[0]
    assert agent.status("web-1:ready") == "passing"


@together
def stopping_delivers_bad_news_only(lab, agent):
    switch = Switch(lab)
    daemon = lab.probity(config(agent, switch.check(), says("passing", "ok", "fine")))
    agent.wait_update("web-1:ready", "passing")
    agent.wait_update("web-1:fine", "passing")
    agent.close()
    switch.status = 500
    daemon.wait_check("web-1:ready", status="critical")
    agent.open()
    opened = time.monotonic()
    assert daemon.stop() == 0
    assert time.monotonic() - opened < 2 + SLACK
    assert [u.status for u in agent.updates("web-1:ready", after=opened)][:1] == ["critical"]
    assert agent.status("web-1:ready") == "critical"


@together
def stopping_says_critical_where_asked_to(lab, agent):
    daemon = lab.probity(config(agent, says("passing", "ok"),
                                service={"id": "web-1", "on_stop": "critical"}))
    agent.wait_update("web-1:ready", "passing")
    assert daemon.stop() == 0
    assert agent.updates("web-1:ready")[-1].status == "critical"


@together
def stopping_leaves_claims_alone_where_systemd_cannot_be_asked(lab, agent):
    daemon = lab.probity(config(agent, says("passing", "ok"),
                                service={"id": "web-1", "unit": "web.service"}),
                         env={"DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={lab.folder}/none"})
    agent.wait_update("web-1:ready", "passing")
    begin = time.monotonic()
    assert daemon.stop() == 0
    assert agent.updates("web-1:ready", after=begin) == []
    daemon.logged(1, "cannot be asked: the system bus: No such file or directory")


@together
def stopping_deregisters_where_asked_to(lab, agent):
    daemon = lab.probity(config(
        agent, says("passing", "ok"), says("critical", "down", name="other"),
        service={"id": "web-2", "register": {"name": "web"}, "on_stop": "deregister"}))
    agent.wait_update("web-2:ready", "passing")
    agent.wait_update("web-2:other", "critical")
    begin = time.monotonic()
    assert daemon.stop() == 0
    assert "web-2" not in agent.services and "web-2:ready" not in agent.checks
    # They go with their service, and nothing is said of them on the way.
    assert agent.updates("web-2:ready", after=begin) == []
    assert agent.updates("web-2:other", after=begin) == []


@together
def stopping_leaves_passing_claims_alone(lab, agent):
    daemon = lab.probity(config(agent, says("passing", "ok")))
    agent.wait_update("web-1:ready", "passing")
    begin = time.monotonic()
    assert daemon.stop() == 0
    assert agent.updates("web-1:ready", after=begin) == []
    assert agent.calls("PUT", "/v1/agent/check/deregister", begin) == []


@together
def standalone_calls_nobody(lab):
    daemon = lab.probity({"consul": "off", "checks": [says("passing", "ok", node=True)]})
    row = daemon.wait_check("probity:ready", status="passing")
    assert row["agent"]["registered"] is False
    assert daemon.status()["agent"]["off"] is True


@together
def reload_to_another_agent_delivers_there(lab, agent):
    other = lab.fake_agent()
    other.add_service("web-1", "web")
    daemon = lab.probity(config(agent, says("passing", "ok")))
    agent.wait_update("web-1:ready", "passing")
    daemon.reload(config(other, says("passing", "ok")))
    other.wait_update("web-1:ready", "passing")
    time.sleep(0.3)
    moved = time.monotonic()
    time.sleep(1.3)
    assert agent.updates(after=moved) == []


@together
def json_on_the_wire_is_strict(lab, agent):
    raw = "printf 'temp \\344\\260C \\377 ok \"q\" \\\\ \\033[1m\\ttab'; exit 1"
    lab.probity(config(agent, {"name": "ready", "script": ["/bin/sh", "-c", raw],
                               "interval": "1s", "ttl": "3s"}))
    update = agent.wait_update("web-1:ready", "warning")
    assert update.output.rstrip("\n") == 'temp \ufffdC \ufffd ok "q" \\ [1m\ttab'
    assert all(strict_json(r.body) for r in agent.calls("PUT") if r.body)
    assert agent.problems == []


@together
def unused_port_is_named(lab):
    port = free_port()
    daemon = lab.probity({"consul": f"http://127.0.0.1:{port}", "service": {"id": "web-1"},
                          "checks": [says("passing", "ok")]})
    _, line = daemon.wait_log("cannot be used")
    assert f"127.0.0.1:{port}" in line
    view = daemon.status()["agent"]
    assert view["reachable"] is False and "refused" in view["problem"].lower()


test_together = together.test()
