# SPDX-License-Identifier: MIT
"""A real Consul agent in development mode on free loopback ports, and views on what it says."""
import http.client
import json
import os
import random
import signal
import socket
import struct
import subprocess
import threading
import time
import urllib.parse
import uuid
from pathlib import Path

from processes import end_process, start_process, wait_for

HERE = Path(__file__).resolve().parent


def free_block(count):
    """The first of `count` neighbouring loopback ports, free for TCP and UDP."""
    while True:
        first = random.randrange(20000, 32000 - count)
        sockets = []
        try:
            for port in range(first, first + count):
                for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                    sockets.append(socket.socket(socket.AF_INET, kind))
                    sockets[-1].bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
        finally:
            for each in sockets:
                each.close()


def consul_binary():
    """$CONSUL, the one in PATH, or the one that tests/consul.sh fetches."""
    return subprocess.run([str(HERE.parent / "consul.sh")], stdout=subprocess.PIPE, text=True,
                          check=True).stdout.strip()


class RealConsul:
    """Started and ready when the constructor returns. Keeps its ports over a restart.

    data_dir: a folder in which services and checks survive a restart; None for memory only.
    config: text of a further configuration file (HCL).
    acl: rights are refused unless a token gives them; the calls below use the master token.
    join: another RealConsul, whose client this one is, as agents beside services are.
    servers: this one is a real server, one of so many; they join the first.
    """

    def __init__(self, scratch, data_dir=None, config=None, node="n1", acl=False, join=None,
                 servers=0):
        self.join, self.servers = join, servers
        if join is not None or servers:
            data_dir = data_dir or Path(scratch) / "data"
        self.scratch, self.data_dir, self.node = Path(scratch), data_dir, node
        self.config = None
        self.token = None
        if acl:
            self.token = str(uuid.uuid4())
            config = f'''{config or ""}
                acl {{
                  enabled = true
                  default_policy = "deny"
                  tokens {{ master = "{self.token}"  agent = "{self.token}" }}
                }}'''
        if config is not None:
            self.config = self.scratch / "consul.hcl"
            self.config.write_text(config)
        self.process = None
        self.watchers = []
        for attempt in range(3):  # another test may take a port between look and use
            self.port = free_block(4)
            try:
                # One of several servers is ready when the others are there.
                self.start(ready=self.servers <= 1)
                return
            except AssertionError:
                if attempt == 2 or self.process.poll() is None:
                    raise

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def dns_port(self):
        return self.port + 1

    @property
    def log(self):
        return (self.scratch / "consul.log").read_text(errors="replace")

    # Life.

    def start(self, ready=True):
        role = ["-dev"] if self.join is None and not self.servers else []
        if self.servers:
            role += ["-server", f"-bootstrap-expect={self.servers}"]
        if self.join is not None:
            role += [f"-retry-join=127.0.0.1:{self.join.port + 2}", "-retry-interval=1s"]
        command = [consul_binary(), "agent", *role, f"-node={self.node}", "-bind=127.0.0.1",
                   "-client=127.0.0.1", f"-http-port={self.port}", f"-dns-port={self.dns_port}",
                   f"-serf-lan-port={self.port + 2}", "-serf-wan-port=-1",
                   f"-server-port={self.port + 3}", "-grpc-port=-1"]
        if self.data_dir is not None:
            command.append(f"-data-dir={self.data_dir}")
        if self.config is not None:
            command.append(f"-config-file={self.config}")
        with open(self.scratch / "consul.log", "ab") as log:
            self.process = start_process(command, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log)
        if ready:
            wait_for(self._ready, 15, what="a Consul agent")

    def _ready(self):
        if self.process.poll() is not None:
            raise AssertionError(f"consul ended: {self.log[-2000:]}")
        try:
            checks = self.get(f"/v1/health/node/{self.node}")
        except (OSError, http.client.HTTPException, ValueError):
            return False
        return any(c["CheckID"] == "serfHealth" and c["Status"] == "passing" for c in checks)

    def kill(self):
        end_process(self.process, signal.SIGKILL)

    def restart(self, down=0):
        """Killed and back; without a data_dir its state is lost. Returns when it is ready."""
        self.kill()
        time.sleep(down)
        self.start()

    def hup(self):
        self.process.send_signal(signal.SIGHUP)

    def stop(self):
        for watcher in self.watchers:
            watcher.stop()
        self.kill()

    # Calls.

    def call(self, method, path, body=None, timeout=10, token=None):
        """(status, headers, bytes)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            data = None if body is None else json.dumps(body)
            token = token or self.token
            headers = {"X-Consul-Token": token} if token else {}
            connection.request(method, path, data, headers)
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def get(self, path):
        return json.loads(self.call("GET", path)[2])

    def put(self, path, body=None):
        status, _, data = self.call("PUT", path, body)
        if status != 200:
            raise AssertionError(f"PUT {path}: {status} {data!r}")
        return data

    def issue_token(self, rules):
        """(secret, accessor) of a new token with these rights."""
        policy = {"Name": f"p-{uuid.uuid4()}", "Rules": rules}

        def created():
            # Right after the start it answers that it is in "legacy mode".
            status, _, data = self.call("PUT", "/v1/acl/policy", policy)
            return json.loads(data) if status == 200 else None
        wait_for(created, 5, what="the ACL system")
        token = json.loads(self.put("/v1/acl/token", {"Policies": [{"Name": policy["Name"]}]}))
        return token["SecretID"], token["AccessorID"]

    def revoke_token(self, accessor):
        status, _, data = self.call("DELETE", f"/v1/acl/token/{accessor}")
        assert status == 200, data

    def register_service(self, ident, name=None, port=0, **more):
        self.put("/v1/agent/service/register",
                 {"ID": ident, "Name": name or ident, "Port": port, **more})

    def services(self):
        return self.get("/v1/agent/services")

    def checks(self):
        return self.get("/v1/agent/checks")

    def check(self, ident):
        """The agent's own view of one check, None where it has none."""
        return self.checks().get(ident)

    def status(self, ident):
        return (self.check(ident) or {}).get("Status")

    def health(self, service, passing=False):
        """/v1/health/service: what a reader of the catalog gets."""
        return self.get(f"/v1/health/service/{service}" + ("?passing=true" if passing else ""))

    def catalog_check(self, service, ident):
        for check in self.get(f"/v1/health/checks/{service}"):
            if check["CheckID"] == ident:
                return check
        return None

    def leader(self):
        """host:port of the leader; "" while there is none, or nobody answers."""
        try:
            return self.get("/v1/status/leader")
        except (OSError, ValueError, http.client.HTTPException):
            return ""

    def wait_status(self, ident, status, timeout=5):
        return wait_for(lambda: self.status(ident) == status, timeout,
                        what=lambda: f"{ident} {status}; the agent says {self.checks()}")

    def dns_srv(self, service, timeout=2):
        """[(port, target)] of NAME.service.consul; [] when the name does not exist."""
        return dns_srv(self.dns_port, f"{service}.service.consul", timeout)

    def watch_check(self, service, ident):
        """Watches the catalog by blocking queries; see Watcher. service None: a node check."""
        path = (f"/v1/health/checks/{service}" if service is not None
                else f"/v1/health/node/{self.node}")

        def pick(checks):
            for check in checks:
                if check["CheckID"] == ident:
                    return check["Status"]
            return None
        return self._watch(path, pick)

    def watch_passing(self, service):
        """Watches how many instances ?passing readers get."""
        return self._watch(f"/v1/health/service/{service}?passing=true", len)

    def _watch(self, path, pick):
        watcher = Watcher(self, path, pick)
        self.watchers.append(watcher)
        return watcher


class Watcher:
    """Records (monotonic time, value) at each change; the value is "down" without an agent."""

    def __init__(self, consul, path, pick):
        self.consul, self.path, self.pick = consul, path, pick
        self.changes = []
        self.stopped = False
        self.first = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()
        self.first.wait(5)

    @property
    def values(self):
        return [value for _, value in self.changes]

    def stop(self):
        self.stopped = True

    def _run(self):
        index = 0
        joiner = "&" if "?" in self.path else "?"
        while not self.stopped:
            try:
                status, headers, data = self.consul.call(
                    "GET", f"{self.path}{joiner}index={index}&wait=2s")
                if status != 200:
                    raise OSError(f"{status}")
                index = int(headers["X-Consul-Index"])
                value = self.pick(json.loads(data))
            except (OSError, http.client.HTTPException, ValueError):
                index, value = 0, "down"
                time.sleep(0.01)
            if not self.changes or self.changes[-1][1] != value:
                self.changes.append((time.monotonic(), value))
            self.first.set()


def dns_srv(port, name, timeout=2):
    query = struct.pack(">HHHHHH", os.getpid() & 0xffff, 0x0100, 1, 0, 0, 0)
    for label in name.split("."):
        query += bytes([len(label)]) + label.encode()
    query += b"\0" + struct.pack(">HH", 33, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.settimeout(timeout)
        udp.sendto(query, ("127.0.0.1", port))
        answer = udp.recv(65535)
    count = struct.unpack(">H", answer[6:8])[0]
    place = len(query)
    found = []
    for _ in range(count):
        _, place = _dns_name(answer, place)
        kind, _, _, length = struct.unpack(">HHIH", answer[place:place + 10])
        place += 10
        if kind == 33:
            found.append((struct.unpack(">H", answer[place + 4:place + 6])[0],
                          _dns_name(answer, place + 6)[0]))
        place += length
    return found


def _dns_name(data, place):
    labels, after = [], None
    while data[place] != 0:
        if data[place] >= 0xc0:
            after = after or place + 2
            place = struct.unpack(">H", data[place:place + 2])[0] & 0x3fff
            continue
        labels.append(data[place + 1:place + 1 + data[place]].decode())
        place += 1 + data[place]
    return ".".join(labels), after or place + 1


def quote(ident):
    return urllib.parse.quote(ident, safe="")
