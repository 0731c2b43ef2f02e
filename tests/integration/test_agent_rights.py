# SPDX-License-Identifier: MIT
"""A real agent that gives rights to tokens, and what the catalog says when it has other words."""
import time

from agent_bench import SLACK, SideBySide, Switch, config, says
from lab import run_probity, wait_for

READY = "web-1:ready"
SERVICE = 'service "web" { policy = "write" }\n'
NODE = 'node "n1" { policy = "read" }\n'

together = SideBySide(7)


def with_token(lab, consul, rules):
    """(file with a new token, its accessor)"""
    secret, accessor = consul.issue_token(rules)
    path = lab.subfolder("t") / "token"
    path.write_text(secret)
    return path, accessor


def replace_token(consul, path, rules):
    secret, _ = consul.issue_token(rules)
    new = path.with_suffix(".new")
    new.write_text(secret)
    new.rename(path)


def wait_catalog(consul, status, timeout=5):
    wait_for(lambda: (consul.catalog_check("web", READY) or {}).get("Status") == status, timeout,
             what=lambda: f"{status} in the catalog; it is {consul.catalog_check('web', READY)}")


@together
def right_to_write_the_service_is_enough(lab):
    consul = lab.consul(acl=True)
    token, _ = with_token(lab, consul, SERVICE)
    switch = Switch(lab)
    daemon = lab.probity(config(consul, switch.check(), token_file=str(token), read_back="1s",
                                service={"id": "web-1", "register": {"name": "web"}}))
    consul.wait_status(READY, "passing")
    switch.status = 500
    consul.wait_status(READY, "critical")
    wait_catalog(consul, "critical")
    # Without a right to read the node it is blind there, and says so.
    daemon.wait_log("consul: the catalog is not read back: the token may not read the node n1")
    time.sleep(1.5)
    daemon.logged(1, "not read back")
    assert daemon.status()["agent"]["read_back"] == "the token may not read the node n1"
    table = run_probity("status", "--runtime-dir", daemon.runtime_dir).stdout
    assert "the catalog is not read back: the token may not read the node n1" in table
    daemon.logged(0, "does not have|refuses")


@together
def missing_right_is_named_and_its_coming_noticed(lab):
    consul = lab.consul(acl=True)
    token, _ = with_token(lab, consul, 'service "other" { policy = "write" }\n')
    consul.register_service("web-1", "web", 8080)
    daemon = lab.probity(config(consul, says("critical", "no"), token_file=str(token)))
    daemon.wait_log("403 Permission denied")
    time.sleep(2)
    assert consul.check(READY) is None
    replace_token(consul, token, SERVICE + NODE)
    replaced = time.monotonic()
    consul.wait_status(READY, "critical")
    assert time.monotonic() - replaced < 2 + SLACK
    assert len(daemon.log_lines("403")) <= 2
    secret = token.read_text()
    assert secret not in daemon.log_text() and secret not in str(daemon.status())


@together
def new_token_is_taken_at_a_hangup(lab):
    """And every check is registered with it: the agent syncs by the token of the registration."""
    consul = lab.consul(acl=True)
    token, accessor = with_token(lab, consul, SERVICE + NODE)
    consul.register_service("web-1", "web", 8080)
    switch = Switch(lab)
    daemon = lab.probity(config(consul, switch.check(ttl="60s"), token_file=str(token)))
    consul.wait_status(READY, "passing")
    wait_catalog(consul, "passing")
    replace_token(consul, token, SERVICE + NODE)
    daemon.reload()
    daemon.wait_log("the token has changed")
    consul.revoke_token(accessor)
    time.sleep(0.5)
    switch.status = 500
    wait_catalog(consul, "critical")


@together.full
def catalog_that_a_revoked_token_froze_is_named_and_thawed(lab):
    """The agent keeps what a token may do for 30 s, and the catalog is looked at each second."""
    consul = lab.consul(acl=True)
    token, _ = with_token(lab, consul, SERVICE + NODE)
    consul.register_service("web-1", "web", 8080)
    switch = Switch(lab)
    daemon = lab.probity(config(consul, switch.check(ttl="60s"), token_file=str(token),
                                read_back="1s"))
    consul.wait_status(READY, "passing")
    wait_for(lambda: daemon.check(READY)["agent"]["acknowledged"], 3, what="the claim")
    # Somebody registers it with a token of their own, which is revoked then.
    other, accessor = consul.issue_token(SERVICE)
    body = {"ID": READY, "Name": "ready", "TTL": "60s", "ServiceID": "web-1",
            "Notes": consul.check(READY)["Notes"]}
    assert consul.call("PUT", "/v1/agent/check/register", body, token=other)[0] == 200
    consul.revoke_token(accessor)
    time.sleep(35)
    switch.status = 500
    consul.wait_status(READY, "critical")
    daemon.wait_log("the catalog stays passing, though the agent was told critical", timeout=8)
    wait_catalog(consul, "critical")
    daemon.wait_log("the catalog has what the agent was told again", timeout=10)
    daemon.logged(1, "stays passing")


@together
def another_writer_is_named_and_shown(lab, consul):
    daemon = lab.probity(config(consul, says("passing", "ok", ttl="60s"), read_back="1s"))
    consul.wait_status(READY, "passing")
    wait_for(lambda: daemon.check(READY)["agent"]["acknowledged"], 3, what="the claim")
    time.sleep(0.6)
    words = ("critical", "warning")
    for turn in range(8):
        consul.put(f"/v1/agent/check/update/{READY}", {"Status": words[turn % 2], "Output": "x"})
        time.sleep(0.6)
    daemon.wait_log(f"{READY}: another writer: the catalog says (critical|warning), which was not "
                    "sent; the agent was told passing")
    assert "another writer" in daemon.check(READY)["agent"]["problem"]
    table = run_probity("status", "--runtime-dir", daemon.runtime_dir).stdout
    assert "another writer" in table
    daemon.logged(1, "another writer")


@together
def maintenance_mode_over_us_is_named_and_shown(lab, consul):
    daemon = lab.probity(config(consul, says("passing", "ok"), read_back="1s"))
    consul.wait_status(READY, "passing")
    consul.put("/v1/agent/service/maintenance/web-1?enable=true&reason=kernel")
    daemon.wait_log("service web-1 is in maintenance mode: kernel", timeout=6)
    assert daemon.check(READY)["agent"]["problem"] == "service web-1 is in maintenance mode: kernel"
    consul.put("/v1/agent/service/maintenance/web-1?enable=false")
    daemon.wait_log("service web-1 is not in maintenance mode any more", timeout=8)
    assert daemon.check(READY)["agent"]["problem"] is None
    assert consul.status(READY) == "passing"


test_together = together.test()
