# SPDX-License-Identifier: MIT
"""Real Redis servers on loopback: masters, replicas, Sentinels, a cluster, each in its own folder."""
import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess

from lab import free_port
from mail_servers import find, give
from processes import end_process, start_process, wait_for

USER = "redis"  # whom Debian's package makes


class RedisError(Exception):
    """An error reply."""


def _reply(stream):
    line = stream.readline().rstrip(b"\r\n")
    kind, rest = line[:1], line[1:]
    if kind == b"-":
        raise RedisError(rest.decode())
    if kind == b"+":
        return rest.decode()
    if kind == b":":
        return int(rest)
    if kind == b"$":
        if rest == b"-1":
            return None
        data = stream.read(int(rest) + 2)[:-2]
        return data.decode()
    if kind == b"*":
        return [_reply(stream) for _ in range(int(rest))]
    raise AssertionError(f"no reply: {line!r}")


def request(*words):
    parts = [str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)


class Redis:
    """One server. options: words of its command line behind the usual ones; files stay over a
    restart. login: what AUTH wants, for ask(); pair: a certificate, where TLS is all it speaks.
    """

    def __init__(self, folder, *options, login=(), pair=None, authority=None,
                 sentinel=None):
        self.folder = folder
        self.login = login
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.socket = folder / "redis.sock"
        self.log_file = folder / "log"
        self.options = list(options)
        self.process = None
        self.user = USER if os.geteuid() == 0 else None
        port = self.port
        if pair:
            port = 0
            certificate, key, ca = (shutil.copy(path, folder) for path in (*pair, authority.file))
            self.options += ["--tls-port", self.port, "--tls-cert-file", certificate,
                             "--tls-key-file", key, "--tls-ca-cert-file", ca,
                             "--tls-auth-clients", "optional"]
        config = folder / "redis.conf"
        config.write_text(sentinel or "")
        self.command = [find("redis-server"), config, "--port", port, "--bind", "127.0.0.1",
                        "--dir", folder, "--unixsocket", self.socket, "--unixsocketperm", "777"]
        self.command += ["--sentinel"] if sentinel else ["--save", ""]
        folder.chmod(0o755)
        give(folder, USER)
        self.start()

    def start(self, *more, ready=True):
        with self.log_file.open("ab") as log:
            self.process = start_process(
                [str(word) for word in [*self.command, *self.options, *more]],
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, cwd=self.folder,
                user=self.user)
        wait_for(lambda: self._is_up(ready), 20, what=lambda: f"redis-server: {self.log}")
        return self

    def _is_up(self, ready):
        if self.process.poll() is not None:
            raise AssertionError(f"redis-server ended: {self.log}")
        try:
            return self.ask("PING") == "PONG"
        except RedisError as error:
            return not ready or "LOADING" not in str(error)
        except OSError:
            return False

    @property
    def log(self):
        return self.log_file.read_text(errors="replace")

    def ask(self, *words, timeout=5):
        """The reply to one command, over the unix socket; RedisError for an error."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(timeout)
            connection.connect(str(self.socket))
            with connection.makefile("rb") as stream:
                if self.login:
                    connection.sendall(request("AUTH", *self.login))
                    _reply(stream)
                connection.sendall(request(*words))
                return _reply(stream)

    @contextlib.contextmanager
    def hold(self):
        """A connection that stays."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.socket))
            connection.sendall(request("PING"))
            connection.recv(100)
            yield

    def info(self, section):
        lines = self.ask("INFO", section).splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def clients(self):
        """Those that are connected, but for ask(), replicas, masters and Sentinels."""
        return [line for line in self.ask("CLIENT", "LIST").splitlines()
                if not re.search(" cmd=client| flags=[SM]| name=sentinel", line)]

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        """Data that is not saved is lost."""
        end_process(self.process, signal.SIGKILL)


def sentinel_config(name, master, quorum):
    return (f"sentinel monitor {name} 127.0.0.1 {master.port} {quorum}\n"
            f"sentinel down-after-milliseconds {name} 300\n")


class Cluster:
    """Three masters with all slots."""

    SLOTS = 16384

    def __init__(self, lab):
        self.nodes = []
        for _ in range(3):
            node = Redis(lab.subfolder("rc"), "--cluster-enabled", "yes", "--cluster-port",
                         free_port(), "--cluster-node-timeout", "1000",
                         "--cluster-require-full-coverage", "yes")
            lab.defer(node.stop)
            self.nodes.append(node)
        for number, node in enumerate(self.nodes):
            first, last = (self.SLOTS * n // 3 for n in (number, number + 1))
            node.ask("CLUSTER", "ADDSLOTSRANGE", first, last - 1)
            bus = node.options[node.options.index("--cluster-port") + 1]
            for other in self.nodes[:number]:
                other.ask("CLUSTER", "MEET", "127.0.0.1", node.port, bus)
        wait_for(lambda: all("cluster_state:ok" in node.ask("CLUSTER", "INFO")
                             for node in self.nodes), 20, what="the cluster")
