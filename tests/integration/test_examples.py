# SPDX-License-Identifier: MIT
"""The examples against what they are for: a real nginx, cache and agent, well and ill."""
import re
import shutil
import signal
from pathlib import Path

from agent_bench import SideBySide
from lab import free_port, wait_for
from mail_servers import Memcached
from nginx import Nginx

EXAMPLES = Path(__file__).resolve().parents[2] / "config" / "examples"
SITE = """
    server {{
        listen 127.0.0.1:{port};
        location / {{ return 200 'hello\n'; }}
        location = /ready {{ return 200 '{{"status": "ok"}}\n'; }}
        location = /down {{ return 503; }}
    }}
"""

together = SideBySide(5)


def nginx(lab, ports):
    server = Nginx(lab.subfolder("n"), "".join(SITE.format(port=port) for port in ports), ports)
    lab.defer(server.stop)
    return server


def start(lab, name, ports, agent=None, faster=None):
    """A daemon on an example, with real ports in place of the usual ones."""
    source, folder = EXAMPLES / name, lab.subfolder("e")
    copy = folder / name
    if source.is_dir():
        shutil.copytree(source, copy)
    else:
        shutil.copy(source, copy)
    for path in [copy] if copy.is_file() else sorted(copy.glob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        for usual, port in ports.items():
            text = re.sub(rf"127\.0\.0\.1:{usual}\b", f"127.0.0.1:{port}", text)
        if agent and "consul:" in text:
            text = re.sub(r"^consul: \{address: \S+\}$", f"consul: {{address: {agent.url}}}", text,
                          flags=re.M)
        elif agent and copy.is_file():
            text += f"consul: {{address: {agent.url}}}\n"
        for slow, fast in (faster or {}).items():
            text = text.replace(slow, fast)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)
    daemon = lab.probity("", start=False)
    daemon.config = copy
    return daemon.start()


@together
def deep_readiness(lab, consul):
    """Frozen, the port still takes connections: one check knows; the shared one never counts."""
    port = free_port()
    server = nginx(lab, [port])
    start(lab, "deep-readiness.yaml", {8080: port}, consul)
    for name in ("ready", "listens", "disk"):
        consul.wait_status(f"web-1:{name}", "passing", timeout=8)
    consul.wait_status("web-1:search", "passing", timeout=20)
    assert "not counted: critical" in consul.check("web-1:search")["Output"]
    wait_for(lambda: len(consul.health("web", passing=True)) == 1, 5)
    server.signal(signal.SIGSTOP)
    consul.wait_status("web-1:ready", "critical", timeout=12)
    assert consul.health("web", passing=True) == []
    server.signal(signal.SIGCONT)
    consul.wait_status("web-1:ready", "passing", timeout=12)


@together
def migration_from_pgrep(lab, consul):
    """The old question does not notice; the new one does."""
    port = free_port()
    server = nginx(lab, [port])
    daemon = start(lab, "migrate-pgrep.yaml", {8080: port}, consul,
                   faster={"interval: 10s": "interval: 1s"})
    for name in ("ready", "alive"):
        consul.wait_status(f"web-1:{name}", "passing", timeout=8)
    server.signal(signal.SIGSTOP)
    consul.wait_status("web-1:ready", "critical", timeout=15)
    runs = daemon.check("web-1:alive")["runs"]
    wait_for(lambda: daemon.check("web-1:alive")["runs"] > runs, 5)
    assert daemon.check("web-1:alive")["result"] == "passing"
    server.signal(signal.SIGCONT)


@together
def a_node(lab, consul):
    start(lab, "node.yaml", {}, consul)
    for name in ("root-writable", "load"):
        consul.wait_status(f"probity:{name}", "passing", timeout=8)
        assert consul.check(f"probity:{name}")["ServiceID"] == ""


@together
def composed(lab, consul):
    """One cache is enough, the search is not needed, the service itself is."""
    caches = [Memcached(lab.subfolder("m")) for _ in range(2)]
    for cache in caches:
        lab.defer(cache.stop)
    port, search = free_port(), free_port()
    server = nginx(lab, [port])
    start(lab, "composed.yaml", {8080: port, 11211: caches[0].port, 11212: caches[1].port,
                                 9200: search}, consul, faster={"interval: 15s": "interval: 1s"})
    consul.wait_status("web-1:ready", "passing", timeout=15)
    wait_for(lambda: "not counted: search" in consul.check("web-1:ready")["Output"], 20)
    wait_for(lambda: "2 of 2 passing" in consul.check("web-1:caches")["Output"], 20)
    caches[0].stop()
    wait_for(lambda: "critical: cache-a" in consul.check("web-1:caches")["Output"], 25)
    assert consul.status("web-1:ready") == consul.status("web-1:caches") == "passing"
    server.signal(signal.SIGSTOP)
    consul.wait_status("web-1:ready", "critical", timeout=12)
    assert "critical: web" in consul.check("web-1:ready")["Output"]
    server.signal(signal.SIGCONT)
    consul.wait_status("web-1:ready", "passing", timeout=12)


@together
def standalone(lab):
    port = free_port()
    nginx(lab, [port])
    daemon = start(lab, "standalone.yaml", {8080: port})
    for name in ("web", "port", "uptime"):
        daemon.wait_check(name, 8, status="passing")


@together
def a_folder(lab, consul):
    port = free_port()
    nginx(lab, [port])
    cache = Memcached(lab.subfolder("m"))
    lab.defer(cache.stop)
    start(lab, "folder", {8080: port, 11211: cache.port}, consul)
    for ident in ("web-1:ready", "cache-1:stores", "probity:root-writable"):
        consul.wait_status(ident, "passing", timeout=8)
    wait_for(lambda: len(consul.health("cache", passing=True)) == 1, 5)
    cache.signal(signal.SIGSTOP)
    consul.wait_status("cache-1:stores", "critical", timeout=15)
    assert consul.health("cache", passing=True) == [] and consul.health("web", passing=True)
    cache.signal(signal.SIGCONT)


test = together.test()
