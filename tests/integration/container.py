# SPDX-License-Identifier: MIT
"""A real systemd as process 1 of a container: systemd-nspawn on the tree of systemd_tree.sh."""
import json
import os
import signal
import subprocess
from pathlib import Path

from lab import UnixConnection
from processes import children, end_process, start_process, wait_for
from real_consul import RealConsul

HERE = Path(__file__).resolve().parent


def tree():
    """The path of the tree; it is made where it is not there yet."""
    done = subprocess.run([str(HERE.parent / "systemd_tree.sh")], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def libraries(binary, root):
    """What the binary is linked with and a tree lacks: {path inside: path here}."""
    found = {}
    lines = subprocess.run(["ldd", binary], capture_output=True, text=True, check=True).stdout
    for line in lines.splitlines():
        words = line.split()
        if "=>" in words:
            here = Path(words[2])
            inside = here.parent.resolve() / here.name
            if not (root / inside.relative_to("/")).exists():
                found[str(inside)] = str(here.resolve())
    return found


class Cgroup:
    """A control group for one container: beside others each has its own, with its own systemd."""

    def __init__(self):
        self.folders = []
        mine = dict(line.rstrip("\n").split(":", 2)[1:]
                    for line in open("/proc/self/cgroup", encoding="utf-8"))
        for line in open("/proc/self/mounts", encoding="utf-8"):
            _, point, kind, options, *_ = line.split()
            key = "" if kind == "cgroup2" else "name=systemd"
            if kind == "cgroup2" or (kind == "cgroup" and "name=systemd" in options.split(",")):
                top = Path(point + mine.get(key, "/"))
                if not top.exists():  # a container that sees another part of it than it is in
                    top = Path(point)
                folder = top / f"probity-test-{os.getpid()}"
                folder.mkdir()
                self.folders.append(folder)

    def enter(self):
        """For the child, before it executes."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text("0", encoding="ascii")

    def _is_removed(self):
        try:
            for top in self.folders:
                for folder, _, _ in os.walk(top, topdown=False):
                    os.rmdir(folder)
        except OSError:  # a process that was killed counts until it is reaped
            return False
        return True

    def remove(self):
        wait_for(self._is_removed, 5, what=f"{self.folders} to be empty")


class Container:
    """Booted when the constructor returns. binds: {path inside: path here}, read-only."""

    def __init__(self, lab, root, binds):
        self.log = lab.folder / "nspawn.log"
        self.cgroup = Cgroup()
        lab.defer(self.cgroup.remove)
        command = ["systemd-nspawn", "--quiet", "--boot", "--register=no", "--keep-unit",
                   "--volatile=overlay", "--private-network", "--link-journal=no",
                   "--resolv-conf=off", "--timezone=off", "--console=pipe", f"--machine=probity-{os.getpid()}",
                   f"--directory={root}"]
        command += [f"--bind-ro={here}:{inside}" for inside, here in binds.items()]
        with open(self.log, "wb") as log:
            # The tree is only read, so others may use it; the lock would be ours alone.
            self.process = start_process(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                         preexec_fn=self.cgroup.enter,
                                         env={**os.environ, "SYSTEMD_NSPAWN_LOCK": "0"})
        self.leader = None
        lab.defer(self.end)
        wait_for(self._runs, 60, step=0.1, what=self._said)

    def _said(self):
        return f"systemd-nspawn to boot; it said: {self.log.read_text(errors='replace')[-3000:]}"

    def _runs(self):
        """Whether it has booted. Its first process is not the first child: one goes before it."""
        assert self.process.poll() is None, self._said()
        for child in children(self.process.pid):
            self.leader = child
            if self.run("systemctl", "is-system-running").stdout.strip() in ("running", "degraded"):
                return True
        return False

    def end(self):
        if self.leader is not None:
            os.kill(self.leader, signal.SIGKILL)  # takes all of its processes along
        end_process(self.process)

    def run(self, *command, timeout=60):
        return subprocess.run(["nsenter", f"--target={self.leader}", "--all", "--", *command],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=timeout, check=False)

    def do(self, *command):
        """What a command that must succeed prints."""
        done = self.run(*command)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}{self.journal()}"
        return done.stdout

    def journal(self, unit=None, lines=60):
        units = () if unit is None else (f"--unit={unit}",)
        return self.run("journalctl", "--no-pager", "--output=short-monotonic",
                        f"--lines={lines}", *units).stdout

    def path(self, inside):
        """A path inside as one here."""
        return Path(f"/proc/{self.leader}/root{inside}")

    def write(self, inside, text, mode=0o644):
        path = self.path(inside)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
        path.chmod(mode)

    def show(self, unit, *properties):
        """The values of properties of a unit."""
        lines = self.do("systemctl", "show", unit, *(f"--property={p}" for p in properties))
        found = dict(line.split("=", 1) for line in lines.splitlines())
        return [found[name] for name in properties]

    def wait_active(self, unit, state="active", timeout=15):
        return wait_for(lambda: self.show(unit, "ActiveState") == [state], timeout, step=0.1,
                        what=lambda: f"{unit} {state}; {self.journal()}")


class ConsulInside(RealConsul):
    """The agent of a container, by its socket: only what one asks it, since its life is a unit's."""

    def __init__(self, path):  # pylint: disable=super-init-not-called
        self.path, self.node, self.watchers = path, "n1", []

    def call(self, method, path, body=None, timeout=10, token=None):
        connection = UnixConnection(self.path, timeout)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()
