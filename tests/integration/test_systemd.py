# SPDX-License-Identifier: MIT
"""The instance beside its service, under a real systemd and with a real Consul agent.

One container for all tests, which follow one another as a day does: start, reload, restarts, a
hang, the end. Nobody who asks the catalog may see a flap on the way.
"""
import os
import re
import signal
import subprocess
import time

import pytest

from container import ConsulInside, Container, libraries, tree
from lab import PROBITY, SANITIZED, UnixConnection, consul_binary, holds, strict_json, wait_for

UNIT, CONFIG = "probity@web.service", "/etc/probity/web.yaml"
# Longer than a hang may last (WatchdogSec + RestartSec + the first run) by what a busy machine
# takes, so that one that is ended in time is no flap.
TTL = 30

UNITS = {
    "consul.service": """[Service]
ExecStart=consul agent -dev -node=n1 -bind=127.0.0.1 -log-level=warn -config-file=/etc/consul.hcl
""",
    "web.service": """[Service]
Type=exec
ExecStart=/bin/busybox httpd -f -p 127.0.0.1:8080 -h /srv
""",
}
CONSUL = """addresses { http = "127.0.0.1 unix:///run/consul.sock" }
ports { grpc = -1 }
"""
# What the sandbox must leave to scripts, and what it must take from them.
SANDBOX = """echo "oom $(cat /proc/self/oom_score_adj)"
touch /usr/trace 2>/dev/null && echo "wrote to /usr"
touch /var/tmp/trace && echo "wrote to /var"
mount -t tmpfs none /mnt 2>/dev/null && echo "mounted"
echo 1 2>/dev/null >/proc/sys/kernel/sysrq && echo "set sysrq"
/opt/plugins/id -u
exit 0
"""


def config(*more, **service):
    return {"service": {"id": "web-1", "unit": "web.service", **service},
            "defaults": {"interval": "1s", "ttl": f"{TTL}s"},
            "checks": [{"name": "ready", "http": "http://127.0.0.1:8080/"}, *more]}


def install(folder):
    """`cmake --install` below a folder, with the units of this test and a place for Consul."""
    subprocess.run(["cmake", "--install", os.environ["PROBITY_BUILD"], "--prefix", "/usr/local"],
                   env={**os.environ, "DESTDIR": str(folder)}, stdout=subprocess.DEVNULL,
                   check=True)
    local = folder / "usr/local"
    for name, text in UNITS.items():
        (local / "lib/systemd/system" / name).write_text(text)
    (local / "bin/consul").touch()
    return local


class Scene:
    def __init__(self, lab):
        root = tree()
        local = install(lab.subfolder("installed"))
        self.container = Container(lab, root, {
            "/usr/local": local, "/usr/local/bin/consul": consul_binary(),
            **libraries(PROBITY, root)})
        self.container.write("/etc/consul.hcl", CONSUL)
        self.container.write("/srv/index.html", "fine")
        self.container.write(CONFIG, config(), 0o600)
        if SANITIZED:  # which trace themselves and reserve the whole address space
            for unit in (UNIT, "probity.service"):
                self.container.write(f"/etc/systemd/system/{unit}.d/sanitized.conf",
                                     "[Service]\nEnvironment=ASAN_OPTIONS=detect_leaks=0\n")
        self.container.do("systemctl", "daemon-reload")
        self.container.do("systemctl", "start", "consul.service")
        self.consul = ConsulInside(self.container.path("/run/consul.sock"))
        wait_for(self._consul_leads, 20, step=0.1, what=self.container.journal)
        self.consul.register_service("web-1", "web", 8080)

    def _consul_leads(self):
        try:
            return any(check["Status"] == "passing" for check in self.consul.get(
                "/v1/health/node/n1"))
        except (OSError, ValueError):
            return False

    def status(self):
        connection = UnixConnection(self.container.path("/run/probity/web/control.sock"), 5)
        try:
            connection.request("GET", "/v1/status")
            return strict_json(connection.getresponse().read())
        finally:
            connection.close()

    def pid(self):
        return int(self.container.show(UNIT, "MainPID")[0])

    def catalog(self, name="ready"):
        return self.consul.catalog_check("web", f"web-1:{name}") or {}

    def wait_catalog(self, status, name="ready", timeout=10):
        return wait_for(lambda: self.catalog(name).get("Status") == status, timeout, step=0.05,
                        what=lambda: f"{status}; {self.catalog(name)}{self.container.journal()}")

    def said(self, name):
        """Lines of an output, by the agent: the catalog has it with the next change of status."""
        return wait_for(lambda: self.consul.check(f"web-1:{name}")["Output"], 5).split("\n")

    def signal(self, number):
        self.container.do("systemctl", "kill", "--kill-whom=main", f"--signal={number.name}", UNIT)

    def acknowledged(self, since):
        """Whether a daemon that is another than `since` has told the agent of a result."""
        if self.pid() in (0, since):
            return False
        try:
            check = self.status()["checks"][0]
        except (OSError, ValueError):
            return False
        return check["agent"]["acknowledged"] and check["agent"]["acknowledged_at"] is not None

    def wait_successor(self, pid, timeout):
        wait_for(lambda: self.acknowledged(pid), timeout, step=0.05, what=lambda: (
            f"another daemon than {pid} to be heard of; {self.container.journal()}"))


@pytest.fixture(scope="module")
def scene(module_lab):
    if os.geteuid() != 0:
        pytest.skip("only root may boot a container")
    return Scene(module_lab)


@pytest.fixture
def no_flap(scene):
    """Whatever happens in the test, readers of the catalog see nothing but passing."""
    watcher = scene.consul.watch_check("web", "web-1:ready")
    yield watcher
    time.sleep(0.2)
    watcher.stop()
    assert watcher.values == ["passing"], (watcher.changes, scene.container.journal(UNIT))


def test_it_is_ready_before_its_service_starts(scene):
    container = scene.container
    container.do("systemctl", "enable", UNIT)
    container.do("systemctl", "start", "web.service")
    container.wait_active(UNIT)
    ready, status = container.show(UNIT, "ActiveEnterTimestampMonotonic", "StatusText")
    started, = container.show("web.service", "ExecMainStartTimestampMonotonic")
    assert 0 < int(ready) <= int(started)
    scene.wait_catalog("passing")
    wait_for(lambda: container.show(UNIT, "StatusText") ==
             ["1 check: 1 passing; agent reachable"], 5, what=lambda: status)
    # It is written a second after what it says.
    wait_for(container.path("/run/probity/web/state.json").exists, 5, what="the state file")


def test_a_reload_with_a_mistake_fails_and_changes_nothing(scene, no_flap):
    container = scene.container
    container.write(CONFIG, "checks:\n  - name: ready\n    htp: http://127.0.0.1/\n", 0o600)
    done = container.run("systemctl", "reload", UNIT)
    assert done.returncode != 0
    # journald takes what was written when it gets to it.
    wait_for(lambda: "web.yaml:3:5: error: unknown key 'htp'" in container.journal(UNIT), 5,
             what=lambda: container.journal(UNIT))
    assert container.show(UNIT, "ActiveState", "NRestarts") == ["active", "0"]
    assert scene.status()["reloads"] == 0
    assert [check["name"] for check in scene.status()["checks"]] == ["ready"]


def test_a_reload_takes_a_good_configuration(scene, no_flap):
    container = scene.container
    pid = scene.pid()
    # A setuid program, as plugins are.
    container.do("mkdir", "-p", "/opt/plugins")
    container.do("cp", "/usr/bin/id", "/opt/plugins/id")
    container.do("chmod", "4755", "/opt/plugins/id")
    container.write(CONFIG, config({"name": "sandbox", "script": {
        "shell": SANDBOX, "no_new_privs": False, "user": "root"}}, {
            "name": "setuid", "script": {"command": ["/opt/plugins/id", "-u"], "user": "nobody",
                                         "no_new_privs": False}}), 0o600)
    container.do("systemctl", "reload", UNIT)
    for name in ("sandbox", "setuid"):
        scene.wait_catalog("passing", name)
    assert scene.pid() == pid
    assert scene.said("sandbox") == ["oom 0", "wrote to /var", "0"]
    assert scene.said("setuid") == ["0"]
    wait_for(lambda: container.show(UNIT, "ActiveState", "StatusText") ==
             ["active", "3 checks: 3 passing; agent reachable"], 5,
             what=lambda: container.show(UNIT, "ActiveState", "StatusText"))
    container.write(CONFIG, config(), 0o600)
    container.do("systemctl", "reload", UNIT)
    wait_for(lambda: scene.catalog("sandbox") == {}, 5, what="a check to go")


def test_a_restart_is_no_flap(scene, no_flap):
    pid = scene.pid()
    scene.container.do("systemctl", "restart", UNIT)
    scene.wait_successor(pid, 10)
    assert "stopped with" not in scene.catalog()["Output"]


def test_stopped_alone_it_leaves_the_claim(scene, no_flap):
    pid = scene.pid()
    scene.container.do("systemctl", "stop", UNIT)
    assert scene.container.show("web.service", "ActiveState") == ["active"]
    assert scene.catalog()["Status"] == "passing"
    scene.container.do("systemctl", "start", UNIT)
    scene.wait_successor(pid, 10)


def test_one_that_is_killed_comes_back_without_a_flap(scene, no_flap):
    pid = scene.pid()
    state = scene.container.path("/run/probity/web/state.json")
    wait_for(state.exists, 5, what="the state file")
    scene.signal(signal.SIGKILL)
    wait_for(lambda: scene.container.show(UNIT, "SubState") == ["auto-restart"], 5, step=0.01)
    assert state.exists(), "the next one would begin anew"
    scene.wait_successor(pid, 15)
    assert scene.container.show(UNIT, "NRestarts") == ["1"]


def test_one_that_hangs_is_ended_by_the_watchdog_without_a_flap(scene, no_flap):
    pid, begin = scene.pid(), time.monotonic()
    scene.signal(signal.SIGSTOP)
    scene.wait_successor(pid, TTL)
    assert time.monotonic() - begin < TTL - 5, "a TTL of so little would have run out"
    wait_for(lambda: re.search(r"Watchdog timeout \(limit 10s\)", scene.container.journal(UNIT)),
             5, what=lambda: scene.container.journal(UNIT))
    assert scene.container.show(UNIT, "NRestarts") == ["2"]


def test_it_outlives_its_service_and_says_that_it_has_stopped(scene):
    container = scene.container
    assert scene.catalog()["Status"] == "passing"
    container.do("systemctl", "stop", "web.service")
    container.wait_active("web.service", "inactive")
    container.wait_active(UNIT, "inactive")
    stopped, = container.show("web.service", "InactiveEnterTimestampMonotonic")
    ended, = container.show(UNIT, "ExecMainExitTimestampMonotonic")
    stopping, = container.show(UNIT, "ActiveExitTimestampMonotonic")
    assert int(stopped) <= int(stopping) <= int(ended)
    assert int(ended) - int(stopping) < 2.5e6, "the end took longer than its limit"
    check = scene.catalog()
    assert (check["Status"], check["Output"]) == ("critical", "stopped with web.service")
    assert container.show(UNIT, "Result") == ["success"]


def test_a_bad_configuration_holds_up_nobody_and_heals(scene):
    container = scene.container
    container.write(CONFIG, "checks: {}", 0o600)
    container.do("systemctl", "start", "web.service")
    assert container.show("web.service", "ActiveState") == ["active"]
    assert scene.catalog()["Status"] == "critical"
    # However often: systemd itself would give up after 5 starts in 10 s.
    wait_for(lambda: int(container.show(UNIT, "NRestarts")[0]) >= 6, 20, step=0.1,
             what=container.journal)
    container.write(CONFIG, config(), 0o600)
    container.wait_active(UNIT)
    scene.wait_catalog("passing")


def test_a_service_that_is_restarted_is_said_to_be_down_meanwhile(scene):
    container = scene.container
    watcher = scene.consul.watch_check("web", "web-1:ready")
    container.do("systemctl", "restart", "web.service")
    container.wait_active(UNIT)
    scene.wait_catalog("passing")
    holds(lambda: scene.catalog()["Status"] == "passing", 1)
    watcher.stop()
    assert watcher.values == ["passing", "critical", "passing"]


def test_the_host_daemon_runs_beside_instances_and_leaves_out_a_bad_file(scene):
    container, folder = scene.container, "/etc/probity/conf.d"

    def says(pattern):
        def told():
            return container.show("probity", "StatusText")[0]
        wait_for(lambda: re.fullmatch(pattern, told()), 5, step=0.05,
                 what=lambda: f"{pattern}; {told()}")
    container.write(f"{folder}/disk.yaml", {
        "checks": [{"name": "disk", "node": True, "script": ["/bin/true"], "interval": "1s"}]},
        0o600)
    container.write(f"{folder}/other.yaml", "checks: {}", 0o600)
    container.do("systemctl", "start", "probity")
    says("1 check: 1 passing; agent reachable; left out: "
         f"{folder}/other.yaml:1:9: checks must be a list.*")
    assert "probity:disk" in container.do("probity", "status")
    assert container.run("systemctl", "reload", "probity").returncode != 0
    container.path(f"{folder}/other.yaml").unlink()
    container.do("systemctl", "reload", "probity")
    says("1 check: 1 passing; agent reachable")
    container.do("systemctl", "stop", "probity")
    assert container.show("probity", "Result", "ActiveState") == ["success", "inactive"]
    # The instances' folders lie in its own.
    assert scene.status()["checks"]
