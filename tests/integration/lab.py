# SPDX-License-Identifier: MIT
"""The bench on which integration tests set up the built binary and its surroundings.

The fixture `lab` (conftest.py) is a Lab; what it starts ends with the test. Everything that a
test needs can be imported from here.
"""
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from fake_agent import FakeAgent, Update
from http_server import CUT, RESET, SILENCE, HttpServer, Reply, Request, strict_json
from processes import (alive, children, cpu_seconds, descendants, descriptors, end_process,
                       end_strays, environment, holds, memory_kib, settled, state, start_process,
                       threads, wait_for, zombies)
from real_consul import RealConsul, Watcher, consul_binary, dns_srv, free_block

__all__ = [
    "CUT", "FakeAgent", "HttpServer", "Lab", "PROBITY", "Probity", "RESET", "RealConsul",
    "Recorder", "Reply", "Request", "SANITIZED", "SILENCE", "TOLERANCE", "UnixConnection",
    "Update", "Watcher", "alive",
    "children", "consul_binary", "cpu_seconds", "descendants", "descriptors", "dns_srv",
    "end_process", "end_strays", "environment", "free_block", "free_port", "holds", "memory_kib",
    "run_probity", "settled", "state", "start_process", "strict_json", "threads", "wait_for", "zombies",
]

PROBITY = os.environ.get("PROBITY", "probity")
SOCKET_PATH_MAX = 107  # bytes of sun_path without its NUL
CRASH = re.compile(r"ERROR: \w+Sanitizer|runtime error:|Assertion .* failed")


def _sanitized():
    """Whether the binary holds the sanitizers: memory and CPU figures mean little then."""
    try:
        return b"__asan_init" in Path(PROBITY).read_bytes()
    except OSError:
        return False


SANITIZED = _sanitized()
# s that a moment may be late on a busy machine; the sanitizers take their own time besides.
TOLERANCE = 1.5 if SANITIZED else 0.3


def free_port():
    """A loopback TCP port that nobody listens on (connects are refused)."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run_probity(*arguments, env=None, timeout=20, stdin=subprocess.DEVNULL, **more):
    """Runs a command of the binary to its end; a CompletedProcess with text."""
    return subprocess.run([PROBITY, *map(str, arguments)], stdin=stdin, capture_output=True,
                          text=True, timeout=timeout, check=False,
                          env=None if env is None else {**os.environ, **env}, **more)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))


class Probity:
    """One daemon. config: YAML text, or anything that JSON can say (JSON is YAML)."""

    def __init__(self, folder, config, arguments=(), env=None, **popen):
        self.folder = Path(folder)
        self.config = self.folder / "probity.yaml"
        self.runtime_dir = self.folder / "run"
        self.runtime_dir.mkdir(exist_ok=True)
        self.arguments, self.env, self.popen = list(arguments), env, popen
        self.process = None
        self.log = []  # (monotonic time, line of stderr)
        self.expected_codes = {0}
        self.reader = None
        self.write(config)

    def write(self, config):
        """Replaces the configuration, as an editor would; reload() makes it count."""
        text = config if isinstance(config, str) else json.dumps(config, indent=1,
                                                                 ensure_ascii=False)
        new = self.config.with_suffix(".new")
        new.write_text(text, encoding="utf-8")
        new.chmod(0o600)
        new.rename(self.config)

    # Life.

    def start(self, ready=True):
        env = {key: value for key, value in os.environ.items()
               if not key.startswith(("CONSUL", "NOTIFY_SOCKET"))}
        env.update(self.env or {})
        self.popen.setdefault("stdin", subprocess.DEVNULL)
        self.started_at = time.monotonic()
        self.process = start_process(
            [PROBITY, "run", "-c", str(self.config), "--runtime-dir", str(self.runtime_dir),
             *self.arguments], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            **self.popen)
        self.reader = threading.Thread(target=self._read, args=(self.process.stderr,),
                                       daemon=True)
        self.reader.start()
        if ready:
            wait_for(self._ready, 30, what=lambda: f"the daemon; log:\n{self.log_text()}")
        return self

    def _ready(self):
        if self.process.poll() is not None:
            self.reader.join(1)
            raise AssertionError(
                f"probity ended with {self.process.returncode}:\n{self.log_text()}")
        try:
            return self.status() is not None
        except (OSError, http.client.HTTPException):
            return False

    def _read(self, stream):
        with stream:
            for line in stream:
                self.log.append((time.monotonic(), line.decode("utf-8", "replace").rstrip("\n")))

    @property
    def pid(self):
        return self.process.pid

    @property
    def running(self):
        return self.process is not None and self.process.poll() is None

    def signal(self, number):
        self.process.send_signal(number)

    def reload(self, config=None):
        if config is not None:
            self.write(config)
        self.signal(signal.SIGHUP)

    def stop(self, timeout=15 if SANITIZED else 5):
        """SIGTERM; returns the exit code once it is gone (the leak check takes its time)."""
        if self.process is None:
            return None
        code = end_process(self.process, signal.SIGTERM, timeout)
        self.reader.join(2)
        return code

    def kill(self):
        self.expected_codes.add(-signal.SIGKILL)
        end_process(self.process, signal.SIGKILL)
        self.reader.join(2)

    def restart(self):
        self.stop()
        return self.start()

    def finish(self):
        """Teardown: stopped, and neither crashed nor complained of by a sanitizer."""
        if self.process is None:
            return
        code = self.stop()
        if CRASH.search(self.log_text()) or code not in self.expected_codes:
            raise AssertionError(f"probity ended with {code}:\n{self.log_text()[-6000:]}")

    # What it says.

    def log_text(self):
        return "\n".join(line for _, line in list(self.log))

    def log_lines(self, pattern, after=0):
        """(time, line) of each line that the regular expression finds."""
        return [(at, line) for at, line in list(self.log)
                if at >= after and re.search(pattern, line)]

    def logged(self, count, pattern, after=0, timeout=5):
        """Asserts that so many lines match. What the agent has seen may be logged a moment later."""
        def found():
            return len(self.log_lines(pattern, after))
        wait_for(lambda: found() >= count, timeout,
                 what=lambda: f"{count} log lines /{pattern}/; log:\n{self.log_text()}")
        assert found() == count, self.log_text()

    def wait_log(self, pattern, timeout=5, after=0):
        return wait_for(lambda: self.log_lines(pattern, after), timeout,
                        what=lambda: f"a log line /{pattern}/; log:\n{self.log_text()}")[0]

    def status(self, timeout=5):
        """GET /v1/status of the control socket."""
        connection = UnixConnection(self.runtime_dir / "control.sock", timeout)
        try:
            connection.request("GET", "/v1/status")
            response = connection.getresponse()
            data = response.read()
            if response.status != 200:
                raise AssertionError(f"status answered {response.status} {data!r}")
            return strict_json(data)
        finally:
            connection.close()

    def check(self, ident):
        """The row of one check in status(), by id or by name."""
        for check in self.status()["checks"]:
            if ident in (check["id"], check["name"]):
                return check
        raise AssertionError(f"no check {ident}")

    def wait_check(self, ident, timeout=5, **wanted):
        """Waits until all the given keys of the check have the given values."""
        return wait_for(lambda: self._has(ident, wanted), timeout,
                        what=lambda: f"{ident} {wanted}; it is {self.check(ident)}")

    def _has(self, ident, wanted):
        check = self.check(ident)
        return check if all(check.get(key) == value for key, value in wanted.items()) else None

    def probe(self, *arguments, timeout=30):
        """`probity probe --json`: (exit code, parsed output)."""
        done = run_probity("probe", "-c", self.config, "--json", *arguments, timeout=timeout)
        try:
            return done.returncode, strict_json(done.stdout.encode())
        except ValueError:
            raise AssertionError(f"{done.returncode}: {done.stdout!r} {done.stderr!r}") from None


class Recorder:
    """A script that logs when it starts (in 10 ms steps) and then runs `then` (shell text).

    command is what `script:` wants; starts() are on time.monotonic()'s clock.
    """

    def __init__(self, folder, name="recorder", then="exit 0"):
        self.path = Path(folder) / f"{name}.log"
        self.path.touch()
        self.path.chmod(0o666)
        self.script = Path(folder) / name
        self.script.write_text(
            "#!/bin/sh\n"
            f"read -r up idle < /proc/uptime; echo \"start $up $$\" >> {self.path}\n"
            f"{then}\n")
        self.script.chmod(0o755)
        self.command = [str(self.script)]

    def end_mark(self):
        """Shell text that logs the moment it is reached, for `then`; read by ends()."""
        return f"read -r up idle < /proc/uptime; echo \"end $up $$\" >> {self.path}"

    def then(self, text):
        lines = self.script.read_text().split("\n")
        new = self.script.with_suffix(".new")
        new.write_text("\n".join([*lines[:2], text, ""]))
        new.chmod(0o755)
        new.rename(self.script)

    def _times(self, word):
        offset = time.monotonic() - float(Path("/proc/uptime").read_text().split()[0])
        rows = (line.split() for line in self.path.read_text().splitlines())
        return [float(row[1]) + offset for row in rows if len(row) == 3 and row[0] == word]

    def starts(self):
        return self._times("start")

    def ends(self):
        return self._times("end")

    def pids(self):
        rows = (line.split() for line in self.path.read_text().splitlines())
        return [int(row[2]) for row in rows if len(row) == 3 and row[0] == "start"]


def _private_base():
    """A folder in which only root (or we) can write on the whole path, as scripts need."""
    build = os.environ.get("PROBITY_BUILD")
    for candidate in (build and Path(build) / "lab", Path("/var/lib"), Path.home()):
        if not candidate or len(str(candidate)) > SOCKET_PATH_MAX - 40:
            continue
        try:
            candidate.mkdir(exist_ok=True)
        except OSError:
            continue
        walk = [candidate.resolve(), *candidate.resolve().parents]
        if os.access(candidate, os.W_OK) and all(
                part.stat().st_uid in (0, os.getuid()) and not part.stat().st_mode & 0o022
                for part in walk):
            return candidate
    return Path(tempfile.gettempdir())


class Lab:
    """Starts things for a test and ends them in reverse order.

    strays: ends what the test's processes left behind, too; not where tests run side by side.
    """

    def __init__(self, strays=True):
        self.strays = strays
        self.folder = Path(tempfile.mkdtemp(prefix="probity-lab-", dir=_private_base()))
        self.folder.chmod(0o755)  # scripts run as nobody must get in
        self._ends = []
        self._number = 0

    def subfolder(self, name):
        self._number += 1
        folder = self.folder / f"{name}{self._number}"
        folder.mkdir()
        folder.chmod(0o755)
        return folder

    def defer(self, call):
        """call() at the end of the test, before what was started earlier ends."""
        self._ends.append(call)

    def probity(self, config, arguments=(), env=None, start=True, **popen):
        daemon = Probity(self.subfolder("p"), config, arguments, env, **popen)
        self.defer(daemon.finish)
        return daemon.start() if start else daemon

    def fake_agent(self, **options):
        agent = FakeAgent(**options)
        self.defer(agent.stop)
        return agent

    def server(self, hook=None, **options):
        server = HttpServer(hook, **options)
        self.defer(server.stop)
        return server

    def consul(self, **options):
        consul = RealConsul(self.subfolder("c"), **options)
        self.defer(consul.stop)
        return consul

    def recorder(self, name="recorder", then="exit 0"):
        return Recorder(self.subfolder("r"), name, then)

    def script(self, text, name="script", mode=0o755):
        """Writes an executable file, `#!/bin/sh` first where text has no #! of its own."""
        path = self.subfolder("s") / name
        data = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(data if data.startswith(b"#!") else b"#!/bin/sh\n" + data)
        path.chmod(mode)
        return str(path)

    def spawn(self, command, **popen):
        process = start_process(command, **popen)
        self.defer(lambda: end_process(process, signal.SIGKILL))
        return process

    def end(self):
        errors = []
        while self._ends:
            try:
                self._ends.pop()()
            except Exception as error:  # pylint: disable=broad-except
                errors.append(error)
        if self.strays:
            end_strays()
        shutil.rmtree(self.folder, ignore_errors=True)
        if errors:
            raise errors[0]
