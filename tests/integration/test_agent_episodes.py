# SPDX-License-Identifier: MIT
"""Faults of agents, servers, tokens and other tools, one row each: what reached the readers.

The truth changes during each fault. A row holds how often Probity said what was not true, how
late its probes ran, how long the catalog was wrong once the fault was over and Probity knew the
truth, and how many lines of log the episode cost (the change of status is not counted). The table
goes to episodes.txt in the build folder.
"""
import json
import os
import signal
import threading
import time
from pathlib import Path

from agent_bench import FULL, SLACK, SideBySide, Switch
from lab import TOLERANCE, run_probity, wait_for

READY = "web-1:ready"
OWN = {"id": "web-1", "register": {"name": "web", "port": 8080}}
NOTICE = 0.5 + 0.3  # s: a run each 500 ms notices the change, and is done
AGENT_LINES = 6     # of an episode, those of the agent and the service as a whole included
RETURN = 2.3        # s: an agent that answers again is tried within one and told within two

together = SideBySide(8)
table = []
table_lock = threading.Lock()


class Scene:
    """A daemon with one check that passes, which everybody knows."""

    def __init__(self, lab, consul, reader=None, **agent):
        self.lab, self.consul, self.reader = lab, consul, reader or consul
        self.target = Switch(lab)
        self.daemon = lab.probity({
            "consul": {"address": consul.url, **agent}, "service": OWN,
            "checks": [self.target.check(interval="500ms", timeout="400ms", ttl="30s")]},
            start=False)
        # Where daemons look for each other.
        self.daemon.runtime_dir = self.daemon.folder / "probity"
        self.daemon.start()
        self.daemon.wait_check(READY, 30, status="passing")
        self.wait("passing", 30)
        self.began = time.monotonic()
        self.flipped = None
        self.agent_remembers = False  # it shows its own last word again before it is told better
        self.watcher = self.reader.watch_check("web", READY)

    def now(self):
        try:
            return (self.reader.catalog_check("web", READY) or {}).get("Status")
        except (OSError, ValueError, TypeError):
            return None

    def wait(self, status, timeout):
        wait_for(lambda: self.now() == status, timeout, step=0.02,
                 what=lambda: f"{status}; it is {self.now()}; {self.daemon.log_text()[-2000:]}")

    def flip(self):
        """The truth changes: the target is down from now on, and Probity knows it soon."""
        self.target.status = 500
        self.flipped = time.monotonic()
        wait_for(lambda: self.daemon.check(READY)["result"] == "critical", 3 + SLACK)

    def wrong_words(self):
        """What was said against the truth; an old word that a reader finds again is none."""
        wrong, before = [], None
        for at, value in self.watcher.changes:
            if value == "down" or (value is None and self.agent_remembers):
                continue
            if value in ("passing", "warning") and value != before and \
                    at > self.flipped + NOTICE + SLACK:
                wrong.append(value)
            before = value
        return wrong

    def ended(self, name, bound):
        """The fault is over, and Probity knows the truth: the row."""
        end = time.monotonic()
        self.wait("critical", bound + 5)
        seconds = time.monotonic() - end
        time.sleep(1)  # for what would be said wrongly after it
        wrong = self.wrong_words()
        late = self.daemon.check(READY)["max_lateness"]
        said = [line for at, line in self.daemon.log_lines("", self.began)
                if "web-1:ready: critical" not in line]
        of_check = [line for line in said if READY in line]
        with table_lock:
            table.append((name, len(wrong), late, seconds, len(said)))
        assert not wrong, (self.watcher.changes, self.flipped)
        assert late < TOLERANCE, late
        assert seconds <= bound + SLACK, (seconds, self.daemon.log_text())
        assert len(of_check) <= 2 and len(said) <= AGENT_LINES, said


# The agent itself.

@together
def agent_killed_without_data(lab, consul):
    scene = Scene(lab, consul)
    consul.kill()
    scene.flip()
    consul.start()
    scene.ended("agent killed, state lost", RETURN)


@together
def agent_killed_with_data(lab):
    folder = lab.subfolder("data")
    consul = lab.consul(data_dir=folder)
    scene = Scene(lab, consul)
    scene.agent_remembers = True
    consul.kill()
    scene.flip()
    consul.start()
    scene.ended("agent killed, state kept", RETURN)


@together
def agent_reloaded_without_data(lab, consul):
    scene = Scene(lab, consul)
    consul.hup()
    scene.flip()
    scene.ended("SIGHUP of a dev agent", RETURN)


def _frozen(lab, consul, seconds, name):
    scene = Scene(lab, consul)
    consul.process.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    scene.flip()
    time.sleep(max(0, began + seconds - time.monotonic()))
    consul.process.send_signal(signal.SIGCONT)
    scene.ended(name, RETURN)


@together
def agent_frozen(lab, consul):
    _frozen(lab, consul, 7, "SIGSTOP of the agent, 7 s")


@together.full
def agent_frozen_for_long(lab, consul):
    _frozen(lab, consul, 36, "SIGSTOP of the agent, 36 s")


# Servers behind it.

@together
def server_frozen_behind_a_client(lab):
    server = lab.consul()
    client = lab.consul(join=server, node="n2")
    scene = Scene(lab, client, reader=server)
    server.process.send_signal(signal.SIGSTOP)
    time.sleep(0.2)
    scene.flip()
    time.sleep(3)
    server.process.send_signal(signal.SIGCONT)
    # What the client could not pass on it tries again by itself, within 15 s and some.
    scene.ended("server frozen behind a client", 25)


@together.full
def no_leader(lab):
    """As the packages come, an election takes 6 to 10 s, in which each call hangs."""
    server = lab.consul(servers=1)
    scene = Scene(lab, server)
    server.kill()
    server.start(ready=False)
    scene.flip()
    wait_for(server.leader, 20, step=0.05, what="a leader")
    scene.ended("no leader", 10)


@together.full
def leader_of_three_killed(lab):
    fast = "performance { raft_multiplier = 1 }"
    servers = [lab.consul(servers=3, config=fast, node="s1")]
    servers += [lab.consul(servers=3, config=fast, node=f"s{n}", join=servers[0]) for n in (2, 3)]
    wait_for(servers[0].leader, 20, what="a leader")
    address = servers[0].leader()
    leader = next(one for one in servers if address.endswith(f":{one.port + 3}"))
    others = [one for one in servers if one is not leader]
    client = lab.consul(node="c1", join=others[0])
    scene = Scene(lab, client, reader=others[1])
    leader.kill()
    scene.flip()
    wait_for(lambda: others[0].leader() not in ("", address), 20, step=0.05, what="a leader")
    # What the client could not pass on it tries again by itself, within 15 s and some.
    scene.ended("leader of three killed", 25)


# Tokens.

RIGHTS = 'service "web" { policy = "write" } node "n1" { policy = "read" }'


def _token(lab, secret):
    path = lab.subfolder("t") / "token"
    path.write_text(secret)
    path.chmod(0o600)
    return path


@together
def token_rotated(lab):
    consul = lab.consul(acl=True)
    old, accessor = consul.issue_token(RIGHTS)
    path = _token(lab, old)
    scene = Scene(lab, consul, token_file=str(path))
    new, _ = consul.issue_token(RIGHTS)
    path.write_text(new)
    consul.revoke_token(accessor)
    scene.flip()
    scene.ended("token rotated", RETURN)


@together
def right_missing(lab):
    consul = lab.consul(acl=True)
    poor, _ = consul.issue_token('node "n1" { policy = "read" }')
    good, _ = consul.issue_token(RIGHTS)
    path = _token(lab, good)
    scene = Scene(lab, consul, token_file=str(path))
    path.write_text(poor)
    scene.flip()
    time.sleep(2)
    path.write_text(good)
    scene.ended("right missing, then given", RETURN)


@together.full
def token_deleted(lab):
    """The agent believes a deleted token for up to 30 s; then it refuses."""
    consul = lab.consul(acl=True)
    old, accessor = consul.issue_token(RIGHTS)
    path = _token(lab, old)
    scene = Scene(lab, consul, token_file=str(path))
    consul.revoke_token(accessor)
    time.sleep(35)
    scene.flip()
    time.sleep(2)
    path.write_text(consul.issue_token(RIGHTS)[0])
    scene.ended("token deleted, then another", RETURN)


# Other tools.

def _register(consul, query=""):
    consul.put(f"/v1/agent/service/register{query}", {"ID": "web-1", "Name": "web", "Port": 8080})


@together
def service_registered_again(lab, consul):
    scene = Scene(lab, consul)
    _register(consul)
    scene.flip()
    scene.ended("service registered again by another tool", RETURN)


@together
def service_registered_again_without_our_checks(lab, consul):
    scene = Scene(lab, consul)
    _register(consul, "?replace-existing-checks=true")
    scene.flip()
    scene.ended("the same with replace-existing-checks", RETURN)


@together
def service_deregistered(lab, consul):
    scene = Scene(lab, consul)
    consul.put("/v1/agent/service/deregister/web-1")
    scene.flip()
    scene.ended("service deregistered", RETURN)


@together
def check_deregistered(lab, consul):
    scene = Scene(lab, consul)
    consul.put(f"/v1/agent/check/deregister/{READY}")
    scene.flip()
    scene.ended("check deregistered", RETURN)


@together
def clash_of_type(lab, consul):
    scene = Scene(lab, consul)
    consul.put(f"/v1/agent/check/deregister/{READY}")
    consul.put("/v1/agent/check/register", {
        "ID": READY, "Name": "ready", "ServiceID": "web-1", "Status": "critical",
        "TCP": f"127.0.0.1:{consul.port}", "Interval": "60s"})
    scene.flip()
    time.sleep(2)
    consul.put(f"/v1/agent/check/deregister/{READY}")
    # A strange check is looked at after 1, 2, 4 ... s, and the other tool's word was critical.
    scene.ended("clash of type, then gone", RETURN + 4)


@together
def second_probity(lab, consul):
    scene = Scene(lab, consul)
    other = lab.subfolder("o") / "other.yaml"
    other.write_text(json.dumps(json.loads(scene.daemon.config.read_text())))
    other.chmod(0o600)
    beside = scene.daemon.runtime_dir / "other"
    done = run_probity("run", "-c", other, "--runtime-dir", beside)
    assert done.returncode != 0 and READY in done.stderr, done.stderr
    scene.flip()
    scene.ended("second Probity", RETURN)


@together
def catalog_edited(lab, consul):
    scene = Scene(lab, consul)
    consul.put("/v1/catalog/deregister", {"Node": "n1", "CheckID": READY})
    scene.flip()
    scene.ended("catalog edited behind the agent", RETURN)


test_rows = together.test()


def test_table_of_episodes():
    """Runs last: writes what the rows above have measured."""
    lines = [f"{'episode':44}{'wrong':>6}{'late':>8}{'to truth':>10}{'lines':>7}"]
    lines += [f"{name:44}{wrong:>6}{late:>7.3f}s{seconds:>9.2f}s{said:>7}"
              for name, wrong, late, seconds, said in sorted(table)]
    Path(os.environ["PROBITY_BUILD"], "episodes.txt").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    assert len(table) == (18 if FULL else 14)
